// Learns the database's order of text by requests.

import { jsonOf } from './kinds.js'
import type { TextOrder } from './oracle.js'
import { type Client, keyIn } from './requests.js'
import type { Column, Table } from './schema.js'
import { keyOf, textColumns, valueIn, type World } from './world.js'

/**
 * Finds the rank of each text in every column, from two sorted lists. Texts are equal for the database if their rows
 * change places when the direction of the second sort key changes.
 * @throws Error if the two lists are inconsistent
 */
export async function learnTextOrder(world: World, client: Client): Promise<TextOrder> {
  const ranks = new Map<Column, ReadonlyMap<string, number>>()
  for (const [table, column] of textColumns()) {
    const up = await sorted(client, table, `${column.name},id`)
    const down = await sorted(client, table, `${column.name},-id`)
    ranks.set(column, rankTexts(world, table, column, classesOf(up, down)))
  }
  return (column, text) => {
    const rank = ranks.get(column)?.get(text)
    if (rank === undefined) throw new RangeError(`${JSON.stringify(text)} is not stored in ${column.name}`)
    return rank
  }
}

/** Keys of all records in the order of a sort, including deleted records. */
async function sorted(client: Client, table: Table, sort: string): Promise<readonly unknown[]> {
  const deleted = table.softDelete ? { includeDeleted: 'true' } : {}
  const { body } = await client.request(table, { sort, select: 'id', pageSize: '1000', ...deleted })
  return body.items.map(keyIn)
}

/** Groups keys whose order differs between the two lists. */
function classesOf(up: readonly unknown[], down: readonly unknown[]): unknown[][] {
  const places = new Map(up.map((key, index) => [key, index]))
  const classes: unknown[][] = []
  for (let start = 0; start < up.length; ) {
    const end = (places.get(down[start]) ?? start) + 1
    const run = up.slice(start, end)
    if (run.toReversed().join() !== down.slice(start, end).join()) throw new Error(`two orders: ${run}`)
    classes.push(run)
    start = end
  }
  return classes
}

function rankTexts(
  world: World,
  table: Table,
  column: Column,
  classes: readonly (readonly unknown[])[],
): ReadonlyMap<string, number> {
  const byKey = new Map(world.all(table.name).map((row) => [jsonOf(table.key, keyOf(row)), row]))
  const ranks = new Map<string, number>()
  for (const [rank, keys] of classes.entries()) {
    for (const key of keys) {
      const row = byKey.get(typeof key === 'string' || typeof key === 'number' ? key : '')
      const value = row === undefined ? null : valueIn(row, column)
      if (row === undefined) throw new Error(`${table.name} has no row ${key}`)
      if (value === null) continue
      const text = String(value)
      if ((ranks.get(text) ?? rank) !== rank) throw new Error(`${JSON.stringify(text)} has two places`)
      ranks.set(text, rank)
    }
  }
  return ranks
}
