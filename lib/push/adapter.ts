import type { Namespace } from '../../types/push.js'
import type { Admission, Asking } from './admission.js'
import { restoring } from './recovery.js'

type Adapter = Namespace['adapter']

/** What adapters of more than one server publish by; those of one have none. */
interface Publishing {
  doPublish?: (message: unknown) => Promise<unknown>
}

/** Milliseconds after which what waits to be published counts as stuck. */
const PATIENCE = 5000

type Admit = (asking: Asking) => Promise<Admission>

/**
 * Watches a namespace's adapter, which swallows its failures, and holds sessions back that may not go on. Hosts may set
 * another adapter at any time.
 */
export function watch(namespace: Namespace, admit: Admit, report: (error: unknown) => void): void {
  let { adapter } = namespace
  watchOne(adapter, admit, report)
  Object.defineProperty(namespace, 'adapter', {
    configurable: true,
    enumerable: true,
    get: () => adapter,
    set: (next: Adapter) => {
      if (next !== adapter) watchOne(next, admit, report)
      adapter = next
    },
  })
}

function watchOne(adapter: Adapter, admit: Admit, report: (error: unknown) => void): void {
  adapter.restoreSession = restoring(adapter.restoreSession.bind(adapter), admit)
  const publishing = adapter as Adapter & Publishing
  const { doPublish } = publishing
  if (doPublish === undefined) return
  const pulse = new Pulse(() => report(new Error('push: the Socket.IO adapter has not published anything for a while')))
  publishing.doPublish = (message) => {
    const published = doPublish.call(adapter, message)
    pulse.begin()
    published.catch(report).finally(() => pulse.end())
    return published
  }
}

/** Tells once when some things are under way and none of them comes to an end. */
class Pulse {
  readonly #stuck: () => void
  #open = 0
  #ended = 0
  #timer: NodeJS.Timeout | null = null

  constructor(stuck: () => void) {
    this.#stuck = stuck
  }

  begin(): void {
    this.#open += 1
    if (this.#timer === null) this.#listen(false)
  }

  end(): void {
    this.#open -= 1
    this.#ended += 1
  }

  #listen(isTold: boolean): void {
    const before = this.#ended
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (this.#open === 0) return
      const isStuck = this.#ended === before
      if (isStuck && !isTold) this.#stuck()
      this.#listen(isStuck)
    }, PATIENCE).unref()
  }
}
