// The foreign keys of a table, as the database or the model declares them.

import type { Model, ModelStatic, Transaction } from 'sequelize'
import { generator, sequelizeOf } from './internals.js'
import { queryRows, type RawRow } from './run.js'
import { escapeValue, quote, quoteTable } from './sql.js'

export interface ForeignKey {
  /** Its columns, and those that they point at, in the same order. */
  readonly columns: readonly string[]
  readonly targets: readonly string[]
  /** The table that it points into, quoted. */
  readonly table: string
}

/** Those that SQLite has of the model's table. */
export async function storedForeignKeys(
  model: ModelStatic<Model>,
  transaction: Transaction | undefined,
): Promise<readonly ForeignKey[]> {
  const name = escapeValue(model, quoteTable(model).slice(1, -1))
  const rows = await read(model, `SELECT * FROM pragma_foreign_key_list(${name}) ORDER BY id, seq`, transaction)
  const ids = [...new Set(rows.map(({ id }) => id))]
  return Promise.all(
    ids.map(async (id) => {
      const parts = rows.filter((row) => row.id === id)
      const table = String(parts[0]?.table)
      const named = parts.flatMap(({ to }) => (to === null || to === undefined ? [] : [String(to)]))
      // Without names it is the primary key that is meant.
      const targets = named.length > 0 ? named : await primaryKeyOf(model, table, transaction)
      return { columns: parts.map(({ from }) => String(from)), targets, table: quote(model, table) }
    }),
  )
}

async function primaryKeyOf(
  model: ModelStatic<Model>,
  table: string,
  transaction: Transaction | undefined,
): Promise<readonly string[]> {
  const sql = `SELECT name FROM pragma_table_info(${escapeValue(model, table)}) WHERE pk > 0 ORDER BY pk`
  return (await read(model, sql, transaction)).map(({ name }) => String(name))
}

/** Those that the model declares. */
export function declaredForeignKeys(model: ModelStatic<Model>): readonly ForeignKey[] {
  return Object.entries(model.getAttributes()).flatMap(([name, { field = name, references }]) => {
    if (references === undefined) return []
    const { model: target, key } = typeof references === 'object' ? references : { model: references, key: 'id' }
    const table: unknown = typeof target === 'function' ? (target as ModelStatic<Model>).getTableName() : target
    if (table === undefined || key === undefined) return []
    return [{ columns: [field], targets: [key], table: generator(sequelizeOf(model)).quoteTable(table) }]
  })
}

/** How many of the values a foreign key finds, each given as those of its columns, escaped. */
export async function countPointedAt(
  model: ModelStatic<Model>,
  { targets, table }: ForeignKey,
  values: readonly (readonly string[])[],
  transaction: Transaction | undefined,
): Promise<number> {
  const names = targets.map((target) => quote(model, target))
  // Not by OR, which SQLite nests.
  const rows = values.map((each) => (each.length === 1 ? each[0] : `(${each.join(', ')})`))
  const row = names.length === 1 ? names[0] : `(${names.join(', ')})`
  const list = names.length === 1 ? rows.join(', ') : `VALUES ${rows.join(', ')}`
  const sql = `SELECT COUNT(*) AS _ FROM ${table} WHERE ${row} IN (${list})`
  const [counted] = await read(model, sql, transaction)
  return Number(counted?._)
}

function read(
  model: ModelStatic<Model>,
  sql: string,
  transaction: Transaction | undefined,
): Promise<readonly RawRow[]> {
  return queryRows(sequelizeOf(model), { sql, bind: null, transaction, writes: true })
}
