import { createRequire } from 'node:module'
import { type DataProvider, type LiveProvider, Refine } from '@refinedev/core'
import { createElement, type ReactElement } from 'react'

/** Members of jsdom that this file uses. The types of jsdom would declare the DOM for every test. */
interface Dom {
  readonly window: { readonly document: { readonly body: unknown }; readonly close: () => void }
}

/** An empty page. React's renderer needs a page when it is loaded. */
const { JSDOM } = createRequire(import.meta.url)('jsdom')
const dom: Dom = new JSDOM('<!doctype html><body></body>', { url: 'http://localhost/' })
for (const name of ['window', 'document', 'localStorage', 'sessionStorage', 'location', 'history', 'navigator'])
  Object.defineProperty(globalThis, name, {
    value: name === 'window' ? dom.window : Reflect.get(dom.window, name),
    configurable: true,
    writable: true,
  })

const { createRoot } = await import('react-dom/client')

export interface RenderedHooks<Result> {
  /** Latest result of the hooks. */
  readonly now: () => Result
  /** Resolves with the first result that meets the condition. */
  readonly when: (isSo: (result: Result) => boolean) => Promise<Result>
  readonly end: () => void
}

/** Renders a component inside Refine. The component only calls hooks. */
export function renderHooks<Result>(
  providers: { readonly dataProvider: DataProvider; readonly liveProvider: LiveProvider },
  hooks: () => Result,
): RenderedHooks<Result> {
  let last: { readonly result: Result } | null = null
  const waiting = new Set<() => void>()

  function Caller(): null {
    last = { result: hooks() }
    for (const look of [...waiting]) look()
    return null
  }

  const root = createRoot(dom.window.document.body as never)
  const names = ['players', 'notes', 'codes']
  root.render(
    createElement(
      Refine,
      {
        ...providers,
        resources: names.map((name) => ({ name })),
        options: {
          disableTelemetry: true,
          liveMode: 'auto',
          reactQuery: { clientConfig: { defaultOptions: { queries: { retry: false } } } },
        },
      },
      createElement(Caller) as ReactElement,
    ),
  )

  return {
    now: () => {
      if (last === null) throw new RangeError('nothing is rendered yet')
      return last.result
    },
    when: (isSo) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(collectResult)
          reject(new Error(`it never came about: ${JSON.stringify(last?.result, null, 1)?.slice(0, 2000)}`))
        }, 10_000)
        function collectResult(): void {
          if (last === null || !isSo(last.result)) return
          clearTimeout(timer)
          waiting.delete(collectResult)
          resolve(last.result)
        }
        waiting.add(collectResult)
        collectResult()
      }),
    end: () => root.unmount(),
  }
}
