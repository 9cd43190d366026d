import type { Model, ModelStatic, Transaction } from 'sequelize'
import { sequelizeOf } from '../internals.js'
import { queryRows } from '../run.js'
import { escapeValue, quoteTable } from '../sql.js'

/** Whether SQLite has triggers on the model's table, those of the connection alone among them. */
export async function storedTriggers(model: ModelStatic<Model>, transaction: Transaction): Promise<boolean> {
  const table = escapeValue(model, quoteTable(model).slice(1, -1))
  const of = (schema: string): string =>
    `SELECT 1 AS _ FROM ${schema} WHERE type = 'trigger' AND tbl_name = ${table} COLLATE NOCASE`
  const sql = `${of('sqlite_master')} UNION ALL ${of('sqlite_temp_master')} LIMIT 1`
  return (await queryRows(sequelizeOf(model), { sql, bind: null, transaction, writes: true })).length > 0
}
