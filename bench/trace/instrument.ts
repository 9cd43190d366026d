// Instruments the functions of `lib` when their modules are loaded. An instrumented function first calls `enter`.

import modules from 'node:module'
import { fileURLToPath } from 'node:url'
import ts from 'typescript5'
import { add, enter } from './entries.js'

const ROOT = new URL('../../', import.meta.url).href
/** Name of the global function that instrumented code calls. No other global may have this name. */
const NAME = '__enterTracedFunction'

/** Instruments every module of `lib` that is loaded later. */
export function register(): void {
  if (modules.registerHooks === undefined) throw new Error('bench:trace needs Node 22.15 or later')
  Object.defineProperty(globalThis, NAME, { value: enter })
  modules.registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      if (!url.startsWith(`${ROOT}lib/`)) return loaded
      return { ...loaded, source: instrument(String(loaded.source), fileURLToPath(url)) }
    },
  })
}

interface Insertion {
  readonly at: number
  readonly text: string
}

/** Rewrites compiled code. Each function first calls the global function with its own number. */
function instrument(text: string, path: string): string {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.JS)
  const file = path.slice(fileURLToPath(ROOT).length)
  const insertions: Insertion[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1
      insertions.push(...insertionsOf(node.body as ts.Node, add({ file, name: nameOf(node, source), line })))
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return insertions
    .toSorted((one, other) => other.at - one.at)
    .reduce((changed, { at, text: added }) => changed.slice(0, at) + added + changed.slice(at), text)
}

function insertionsOf(body: ts.Node, number: number): readonly Insertion[] {
  const start = body.getStart()
  if (ts.isBlock(body)) return [{ at: start + 1, text: `${NAME}(${number});` }]
  return [
    { at: start, text: `(${NAME}(${number}),` },
    { at: body.getEnd(), text: ')' },
  ]
}

function nameOf(node: ts.Node, source: ts.SourceFile): string {
  const { name } = node as { readonly name?: ts.Node }
  if (name !== undefined) return name.getText(source)
  const { parent } = node
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name.getText(source) : ''
}
