import type { Action } from '../../types/action.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { isPossibleKey } from '../compile/key.js'
import { type Operation, operationEntries, type PathMethod } from '../operations.js'
import { SUPPORTS_QUERY } from '../parse/queryMethod.js'

/** A path below the resource's own path, with its enabled operations. */
export interface Path {
  readonly path: string
  readonly operations: readonly (readonly [name: OperationName, row: Operation])[]
  /** The action at the path, if any. */
  readonly action?: Action
  readonly methods: readonly PathMethod[]
  /**
   * Methods that the key path `/:id` has and this path lacks. Requests with these methods go on to the key path: if
   * `bulk` can be a key, `/bulk` can also be the path of a record.
   */
  readonly laterMethods: readonly PathMethod[]
}

/** Returns the paths of a resource. Fixed paths such as `/bulk` come before the key path, which also matches them. */
export function pathsOf(resource: Resource): readonly Path[] {
  const { keys, operations } = resource
  const rows = operationEntries(resource.operationTable).filter(([name]) => operations.has(name))
  const names = [...new Set(rows.map(([, { path }]) => path))]
  const isKeyPath = (path: string): boolean => path.startsWith('/:')
  const operationsAt = (path: string): Path['operations'] => rows.filter(([, row]) => row.path === path)
  const record = findMethods(operationsAt('/:id'))
  const findLaterMethods = (path: string, methods: readonly PathMethod[]): readonly PathMethod[] =>
    /^\/[^:/]+$/.test(path) && isPossibleKey(keys, path.slice(1))
      ? record.filter((each) => !methods.includes(each))
      : []
  const createPath = (path: string): Path => {
    const methods = findMethods(operationsAt(path))
    return { path, operations: operationsAt(path), methods, laterMethods: findLaterMethods(path, methods) }
  }
  const actions = [...resource.actions.values()].map((action): Path => {
    const { path, method } = action
    return { path, operations: [], action, methods: [method], laterMethods: findLaterMethods(path, [method]) }
  })
  return [
    ...names.filter((path) => !isKeyPath(path)).map(createPath),
    ...actions.filter(({ path }) => !isKeyPath(path)),
    ...names.filter(isKeyPath).map(createPath),
    ...actions.filter(({ path }) => isKeyPath(path)),
  ]
}

function findMethods(operations: Path['operations']): readonly PathMethod[] {
  const methods = operations.map(([, { method }]) => method)
  return [...new Set([...methods, ...(operations.some(([, { queried }]) => queried) ? QUERY_METHODS : [])])]
}

const QUERY_METHODS: readonly PathMethod[] = SUPPORTS_QUERY ? ['query'] : []
