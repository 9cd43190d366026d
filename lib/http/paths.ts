import type { OperationName, Resource } from '../../types/resource.js'
import { entriesOf, type Operation, type PathMethod } from '../operations.js'
import { TAKES_QUERY } from '../parse/queried.js'

/** A path below the resource's own, with the operations that are on there. */
export interface Path {
  readonly path: string
  readonly operations: readonly (readonly [name: OperationName, row: Operation])[]
  readonly methods: readonly PathMethod[]
  /** The methods that a later path answers, to which its last word is a record's key. */
  readonly passed: readonly PathMethod[]
}

/** Fixed paths come before the key, which could be their word. */
export function pathsOf(resource: Resource): readonly Path[] {
  const { keys, key, operations } = resource
  const rows = entriesOf(resource.table).filter(([name]) => operations.has(name))
  const names = [...new Set(rows.map(([, { path }]) => path))]
  const ofKey = (path: string): boolean => path.startsWith('/:')
  const at = (path: string): Path['operations'] => rows.filter(([, row]) => row.path === path)
  const record = methodsOf(at('/:id'))
  return [...names.filter((path) => !ofKey(path)), ...names.filter(ofKey)].map((path) => {
    const methods = methodsOf(at(path))
    // The last word of a fixed path is a record's key as well, where keys are text.
    const couldBeKey = keys.length === 1 && key.valueType.type === 'string' && /^\/[^:/]+$/.test(path)
    const passed = couldBeKey ? record.filter((each) => !methods.includes(each)) : []
    return { path, operations: at(path), methods, passed }
  })
}

function methodsOf(operations: Path['operations']): readonly PathMethod[] {
  const methods = operations.map(([, { method }]) => method)
  return [...new Set([...methods, ...(operations.some(([, { queried }]) => queried) ? QUERY : [])])]
}

const QUERY: readonly PathMethod[] = TAKES_QUERY ? ['query'] : []
