import type { CrudOptions } from '../../types/options.js'
import type { OperationName } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { unknownName, valid } from '../config/suggest.js'
import { Operations, type OperationTable } from '../operations.js'

/** Pass: the operations that a number or a list of names enables. @throws CrudConfigError for what is neither */
export function operationsOf(
  model: string,
  { operations: given = Operations.All }: CrudOptions,
  table: OperationTable,
): ReadonlySet<OperationName> {
  const names = Object.keys(table) as OperationName[]
  if (typeof given === 'number') {
    const known = names.reduce((sum, name) => sum | table[name].flag, 0)
    if (!Number.isInteger(given) || given < 1 || (given & ~known) !== 0) {
      const numbers = names
        .filter((name) => table[name].with === undefined)
        .map((name) => `${name} ${table[name].flag}`)
      const message = `${model}: operations must be a sum of Operations, not ${given}.${valid(numbers)}`
      throw new CrudConfigError('INVALID_OPTION', message)
    }
    return new Set(names.filter((name) => (given & table[name].flag) !== 0))
  }
  if (given.length === 0) throw new CrudConfigError('INVALID_OPTION', `${model}: operations names none.${valid(names)}`)
  const byName = new Map(names.map((name) => [name.toLowerCase(), name]))
  const named = new Set(
    given.map((each: unknown) => {
      const name = typeof each === 'string' ? byName.get(each.toLowerCase()) : undefined
      if (name !== undefined) return name
      throw unknownName('UNKNOWN_OPERATION', `${model}: the operation`, String(each), byName.values())
    }),
  )
  return new Set(names.filter((name) => named.has(name) || named.has(table[name].with ?? name)))
}
