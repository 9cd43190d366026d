// Generates a world: related rows of several tables, in memory. Every database gets equal rows.

import fc, { type Arbitrary } from 'fast-check'
import { below, type Random, randomOf } from './random.js'
import {
  type Column,
  LINKS,
  type Relation,
  TABLES,
  TAGGED,
  type Table,
  type TableName,
  tableNamed,
  type Value,
} from './schema.js'
import { storedValues } from './values.js'

export interface Row {
  /** Values by column name, including the key and foreign keys. */
  readonly values: Map<string, Value | null>
  readonly deleted: boolean
  /** Records behind each relation, without deleted records. */
  readonly related: Map<string, Row[]>
}

/** Tables and rows for which conditions are generated. */
export interface Tables {
  readonly table: (name: TableName) => Table
  /** All rows in creation order, including deleted rows. */
  readonly all: (name: TableName) => readonly Row[]
  /** Rows that requests can find. */
  readonly rows: (name: TableName) => readonly Row[]
}

export interface World extends Tables {
  /** Whether column names are the attribute names in snake case. */
  readonly underscored: boolean
  /** Keys of items and tags that are linked. */
  readonly tagged: readonly (readonly [item: Value, tag: Value])[]
}

export function valueIn(row: Row, { name }: Pick<Column, 'name'>): Value | null {
  return row.values.get(name) ?? null
}

export function keyOf(row: Row): Value {
  const key = valueIn(row, { name: 'id' })
  if (key === null) throw new TypeError('a row without a key')
  return key
}

/** The records behind a relation. */
export function relatedTo(row: Row, { name }: Relation): readonly Row[] {
  return row.related.get(name) ?? []
}

/** The record of a to-one relation, or null. */
export function relatedRecord(row: Row, relation: Relation): Row | null {
  return relatedTo(row, relation)[0] ?? null
}

export function worldOf(seed: number): World {
  const random = randomOf(seed)
  const byTable = new Map<TableName, Row[]>()
  for (const table of TABLES) byTable.set(table.name, rowsOf(table, random, byTable))
  const all = (name: TableName): readonly Row[] => byTable.get(name) ?? []
  const tagged = linkTags(all, random)
  return {
    underscored: below(random, 2) === 0,
    table: tableNamed,
    all,
    rows: (name) => all(name).filter(({ deleted }) => !deleted),
    tagged,
  }
}

const FIRST_BIG_KEY = 2n ** 53n - 3n

/** Key of the n-th row of a table. Keys ascend. Some tables have keys that are not JSON numbers. */
function keyAt({ name }: Table, index: number): Value {
  const digits = String(index + 1).padStart(4, '0')
  // Keys beyond the precision of a double.
  if (name === 'Region') return FIRST_BIG_KEY + BigInt(index)
  if (name === 'Tag') return `0000${digits}-0000-4000-8000-00000000${digits}`
  if (name === 'Mark') return `mark ${digits}`
  return BigInt(index + 1)
}

function rowsOf(table: Table, random: Random, before: ReadonlyMap<TableName, readonly Row[]>): Row[] {
  const foreign = LINKS.filter(({ from }) => from === table.name)
  const own = table.columns.slice(1, table.columns.length - foreign.length)
  const records: Record<string, Arbitrary<Value | null>> = {}
  for (const column of own) {
    records[column.name] = column.nullable
      ? fc.option(storedValues(column), { nil: null, freq: 5 })
      : storedValues(column)
  }
  const samples = fc.sample(fc.record(records), { seed: below(random, 2 ** 31), numRuns: table.size })
  const rows: Row[] = []
  for (const [index, sample] of samples.entries()) {
    const values = new Map<string, Value | null>([['id', keyAt(table, index)]])
    for (const { name } of own) values.set(name, sample[name] ?? null)
    const row: Row = { values, deleted: table.softDelete && below(random, 8) === 0, related: new Map() }
    rows.push(row)
    for (const { to, key, required, unique } of foreign) {
      // A relation of a table to itself leads to an earlier row, or to the row itself.
      const targets = to === table.name ? rows : (before.get(to) ?? [])
      const at = unique ? index * 2 : below(random, targets.length)
      const target = required || below(random, 5) > 0 ? targets[at] : undefined
      values.set(key, target === undefined ? null : keyOf(target))
    }
  }
  return rows
}

function linkTags(all: World['all'], random: Random): World['tagged'] {
  const relate = (row: Row, name: string, other: Row): void => {
    if (other.deleted) return
    row.related.set(name, [...(row.related.get(name) ?? []), other])
  }
  for (const { from, as, to, back, key } of LINKS) {
    const targets = new Map(all(to).map((row) => [keyOf(row), row]))
    for (const row of all(from)) {
      const target = targets.get(row.values.get(key) ?? false)
      if (target === undefined) continue
      relate(row, as, target)
      relate(target, back, row)
    }
  }
  const tagged: (readonly [Value, Value])[] = []
  for (const item of all(TAGGED.from)) {
    for (const tag of all(TAGGED.to)) {
      if (below(random, 12) > 0) continue
      relate(item, TAGGED.as, tag)
      relate(tag, TAGGED.back, item)
      tagged.push([keyOf(item), keyOf(tag)])
    }
  }
  return tagged
}

/** All text columns. The order of texts depends on the database. */
export function textColumns(): (readonly [table: Table, column: Column])[] {
  return TABLES.flatMap((table) =>
    table.columns.filter(({ kind }) => kind === 'text').map((column): [Table, Column] => [table, column]),
  )
}

/** Distinct values of a column in the visible rows of a table. */
export function valuesIn(world: Tables, name: TableName, column: Column): Value[] {
  const values = world.rows(name).map((row) => valueIn(row, column))
  return [...new Set(values.filter((value) => value !== null))]
}
