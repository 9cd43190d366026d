import type { Action } from '../../types/action.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { entriesOf, type Operation, type PathMethod } from '../operations.js'
import { TAKES_QUERY } from '../parse/queried.js'

/** A path below the resource's own path, with its enabled operations. */
export interface Path {
  readonly path: string
  readonly operations: readonly (readonly [name: OperationName, row: Operation])[]
  /** Action at the path, if any. */
  readonly action?: Action
  readonly methods: readonly PathMethod[]
  /** Methods of a later path: for these methods, the last word is the key of a record. */
  readonly passed: readonly PathMethod[]
}

/** Paths of a resource. Fixed paths come before the key path, because a key can equal their last word. */
export function pathsOf(resource: Resource): readonly Path[] {
  const { keys, key, operations } = resource
  const rows = entriesOf(resource.table).filter(([name]) => operations.has(name))
  const names = [...new Set(rows.map(([, { path }]) => path))]
  const ofKey = (path: string): boolean => path.startsWith('/:')
  const at = (path: string): Path['operations'] => rows.filter(([, row]) => row.path === path)
  const record = methodsOf(at('/:id'))
  // If keys are text, the last word of a fixed path can also be a record's key.
  const isText = keys.length === 1 && key.valueType.type === 'string'
  const passedBy = (path: string, methods: readonly PathMethod[]): readonly PathMethod[] =>
    isText && /^\/[^:/]+$/.test(path) ? record.filter((each) => !methods.includes(each)) : []
  const pathOf = (path: string): Path => {
    const methods = methodsOf(at(path))
    return { path, operations: at(path), methods, passed: passedBy(path, methods) }
  }
  const actions = [...resource.actions.values()].map((action): Path => {
    const { path, method } = action
    return { path, operations: [], action, methods: [method], passed: passedBy(path, [method]) }
  })
  return [
    ...names.filter((path) => !ofKey(path)).map(pathOf),
    ...actions.filter(({ path }) => !ofKey(path)),
    ...names.filter(ofKey).map(pathOf),
    ...actions.filter(({ path }) => ofKey(path)),
  ]
}

function methodsOf(operations: Path['operations']): readonly PathMethod[] {
  const methods = operations.map(([, { method }]) => method)
  return [...new Set([...methods, ...(operations.some(([, { queried }]) => queried) ? QUERY : [])])]
}

const QUERY: readonly PathMethod[] = TAKES_QUERY ? ['query'] : []
