// Checks comparisons of a text column with any text. The text divides the rows into smaller, equal, larger, and null.
// The position of the text depends on the database, but must be consistent with the database's own order.

import fc, { type Arbitrary } from 'fast-check'
import type { Operator } from '../../../types/query.js'
import { exactOperand } from './operands.js'
import { keysOf, type Oracle } from './oracle.js'
import { printFilter } from './print.js'
import { randomOf } from './random.js'
import { assertSame, type Client, keyIn } from './requests.js'
import type { Column, Table } from './schema.js'
import { storedValues } from './values.js'
import { textColumns, valueIn, type World } from './world.js'

export interface Partition {
  readonly table: Table
  readonly column: Column
  readonly text: string
  readonly ignoreCase: boolean
  readonly style: number
}

export function partitions(): Arbitrary<Partition> {
  return fc.constantFrom(...textColumns()).chain(([table, column]) =>
    fc.record({
      table: fc.constant(table),
      column: fc.constant(column),
      text: storedValues(column).map(String),
      ignoreCase: fc.boolean(),
      style: fc.nat(),
    }),
  )
}

/**
 * Compares texts with a given text by each order operator.
 * @throws Difference if an operator and its negation together do not return all rows with text, in sort order
 */
export async function checkPartition(client: Client, world: World, oracle: Oracle, given: Partition): Promise<void> {
  const { table, column, text, ignoreCase, style } = given
  const having = world.rows(table.name).filter((row) => valueIn(row, column) !== null)
  const whole = keysOf(oracle.sorted(table, having, [{ relations: [], column, descending: false }]), table)
  const random = randomOf(style)
  const part = async (operator: Operator): Promise<{ request: string; keys: unknown[] }> => {
    const operands = [exactOperand(text)]
    const filter = printFilter({ kind: 'compare', relations: [], column, operator, operands, ignoreCase }, random)
    const { request, body } = await client.request(table, { filter, sort: column.name, select: 'id', pageSize: '1000' })
    return { request, keys: body.items.map(keyIn) }
  }
  const [before, upTo, from, behind] = await Promise.all([part('lt'), part('lte'), part('gte'), part('gt')])
  // The order of texts with `/i` may differ from the sort, so only the set of keys is compared.
  const ordered = (keys: unknown[]): unknown[] => (ignoreCase ? whole.filter((key) => keys.includes(key)) : keys)
  assertSame('the complement of >=', from.request, ordered([...before.keys, ...from.keys]), whole)
  assertSame('the complement of <=', upTo.request, ordered([...upTo.keys, ...behind.keys]), whole)
  assertSame('a text in two parts', before.request, before.keys.length + from.keys.length, whole.length)
  assertSame('a text in two parts', behind.request, behind.keys.length + upTo.keys.length, whole.length)
  const equal = keysOf(
    having.filter((row) => valueIn(row, column) === text),
    table,
  )
  const strict = [...before.keys, ...behind.keys]
  assertSame(
    'the text itself before or behind it',
    before.request,
    equal.filter((key) => strict.includes(key)),
    [],
  )
}
