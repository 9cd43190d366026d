import { inspect } from 'node:util'
import type { Field } from '../../types/field.js'
import type { CrudOptions } from '../../types/options.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { CrudConfigError, combineConfigErrors } from '../common/errors.js'
import { createUnknownNameError, listValid } from '../config/suggest.js'
import { Operations, type OperationTable } from '../operations.js'

/** Returns the enabled operations, from a number or a list of names. @throws CrudConfigError for other values */
export function resolveOperations(
  model: string,
  { operations: given = Operations.All }: CrudOptions,
  table: OperationTable,
  canUpsert: boolean,
): ReadonlySet<OperationName> {
  const names = Object.keys(table) as OperationName[]
  const possible = names.filter((name) => canUpsert || name !== 'upsert')
  if (typeof given === 'number') {
    const known = names.reduce((sum, name) => sum | table[name].flag, 0)
    if (!Number.isInteger(given) || given < 1 || (given & ~known) !== 0) {
      const numbers = names
        .filter((name) => table[name].with === undefined)
        .map((name) => `${name} ${table[name].flag}`)
      const message = `${model}: operations must be a combination of Operations, not ${given}.${listValid(numbers)}`
      throw new CrudConfigError('INVALID_OPTION', message)
    }
    return new Set(possible.filter((name) => (given & table[name].flag) !== 0))
  }
  if (given.length === 0)
    throw new CrudConfigError('INVALID_OPTION', `${model}: operations is empty.${listValid(names)}`)
  const byName = new Map(names.map((name) => [name.toLowerCase(), name]))
  const findName = (each: unknown): OperationName | undefined =>
    typeof each === 'string' ? byName.get(each.toLowerCase()) : undefined
  const unknown = given
    .filter((each) => findName(each) === undefined)
    .map((each) => createUnknownOperationError(model, each, names))
  const [first, ...others] = unknown
  if (first !== undefined) throw combineConfigErrors([first, ...others])
  const named = new Set(given.map(findName))
  if (named.has('upsert') && !canUpsert) {
    const message = `${model}: the operation upsert needs a key that clients choose, or a unique index over fields that can be filtered.`
    throw new CrudConfigError('INVALID_OPTION', message)
  }
  return new Set(possible.filter((name) => named.has(name) || named.has(table[name].with ?? name)))
}

/**
 * Operations without a route on a singleton. They are dropped without an error, because combinations such as `All`
 * include them.
 */
const COLLECTION_OPERATIONS: ReadonlySet<OperationName> = new Set(['getList', 'upsert'])

/** Checks that a singleton has only operations of one record. @throws CrudConfigError for other operations */
export function assertSingletonOperations(
  model: string,
  operations: ReadonlySet<OperationName>,
  table: OperationTable,
): void {
  const excess = [...operations].filter(
    (name) => !COLLECTION_OPERATIONS.has(name) && !isSingleRecordOperation(name, table),
  )
  if (excess.length === 0) return
  const message = `${model}: a singleton is a single record and does not support these operations: ${excess.join(', ')}.`
  throw new CrudConfigError('INVALID_OPTION', message)
}

/** Whether an operation concerns one record. */
export function isSingleRecordOperation(name: OperationName, table: OperationTable): boolean {
  return name === 'create' || table[name].path.startsWith('/:id')
}

/**
 * Whether an upsert can identify records: by a key that clients choose, or by a unique index over filterable fields.
 */
export function isUpsertable(uniques: Resource['uniques'], keys: readonly Field[]): boolean {
  return uniques.some((fields) => fields.every((field) => keys.includes(field) || field.filterable))
}

/** The names of combinations. A combination is a number, so a list of names cannot contain one. */
const COMBINATIONS = [
  'Read',
  'Write',
  'Bulk',
  'All',
  'AllWithBulk',
] as const satisfies readonly (keyof typeof Operations)[]

/** Alternative words for operations, for hints in errors. */
const ALIASES: ReadonlyMap<string, readonly OperationName[]> = new Map([
  ['list', ['getList']],
  ['index', ['getList']],
  ['get', ['getById', 'getList']],
  ['patch', ['update']],
  ['put', ['replace']],
  ['remove', ['delete']],
])

function createUnknownOperationError(model: string, given: unknown, names: readonly OperationName[]): CrudConfigError {
  const word = typeof given === 'string' ? given : inspect(given)
  const sum = COMBINATIONS.find((each) => each.toLowerCase() === word.toLowerCase())
  if (sum === undefined) {
    const suggested = (ALIASES.get(word.toLowerCase()) ?? []).filter((name) => names.includes(name))
    return createUnknownNameError('UNKNOWN_OPERATION', `${model}: the operation`, word, names, suggested)
  }
  const message = `${model}: "${word}" is the name of several operations. Set operations: Operations.${sum}, or list the operations one by one.${listValid(names)}`
  return new CrudConfigError('UNKNOWN_OPERATION', message)
}
