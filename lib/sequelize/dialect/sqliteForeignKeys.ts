import type { Model, ModelStatic, Transaction } from 'sequelize'
import type { ForeignKey } from '../../../types/failures.js'
import { sequelizeOf } from '../internals.js'
import { type RawRow, runReadQuery } from '../run.js'
import { escapeValue, quote, quoteTable } from '../sql.js'

/** Reads the foreign keys of the model's table from SQLite's catalogue. */
export async function readForeignKeys(
  model: ModelStatic<Model>,
  transaction: Transaction | undefined,
): Promise<readonly ForeignKey[]> {
  const name = escapeValue(model, quoteTable(model).slice(1, -1))
  const rows = await queryCatalogue(
    model,
    `SELECT * FROM pragma_foreign_key_list(${name}) ORDER BY id, seq`,
    transaction,
  )
  const ids = [...new Set(rows.map(({ id }) => id))]
  return Promise.all(
    ids.map(async (id) => {
      const parts = rows.filter((row) => row.id === id)
      const table = String(parts[0]?.table)
      const named = parts.flatMap(({ to }) => (to === null || to === undefined ? [] : [String(to)]))
      // Without column names, the foreign key refers to the primary key.
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
  return (await queryCatalogue(model, sql, transaction)).map(({ name }) => String(name))
}

function queryCatalogue(
  model: ModelStatic<Model>,
  sql: string,
  transaction: Transaction | undefined,
): Promise<readonly RawRow[]> {
  return runReadQuery(sequelizeOf(model), { sql, transaction, writes: true })
}
