// Foreign keys of a table as the model declares them, and the referenced columns.

import type { Model, ModelStatic, Transaction } from 'sequelize'
import type { ForeignKey } from '../../types/failures.js'
import { queryGeneratorOf, sequelizeOf } from './internals.js'
import { runReadQuery } from './run.js'
import { quote } from './sql.js'

/** Returns the foreign keys that the model declares. */
export function declaredForeignKeysOf(model: ModelStatic<Model>): readonly ForeignKey[] {
  return Object.entries(model.getAttributes()).flatMap(([name, { field = name, references }]) => {
    if (references === undefined) return []
    const { model: target, key } = typeof references === 'object' ? references : { model: references, key: 'id' }
    const table: unknown = typeof target === 'function' ? (target as ModelStatic<Model>).getTableName() : target
    if (table === undefined || key === undefined) return []
    return [{ columns: [field], targets: [key], table: queryGeneratorOf(sequelizeOf(model)).quoteTable(table) }]
  })
}

/**
 * Counts the values that exist in the referenced columns of a foreign key. Each value is a list of escaped column
 * values.
 */
export async function countReferencedValues(
  model: ModelStatic<Model>,
  { targets, table }: ForeignKey,
  values: readonly (readonly string[])[],
  transaction: Transaction | undefined,
): Promise<number> {
  const names = targets.map((target) => quote(model, target))
  // Row values replace OR, because SQLite limits the depth of OR.
  const rows = values.map((each) => (each.length === 1 ? each[0] : `(${each.join(', ')})`))
  const row = names.length === 1 ? names[0] : `(${names.join(', ')})`
  const list = names.length === 1 ? rows.join(', ') : `VALUES ${rows.join(', ')}`
  const sql = `SELECT COUNT(*) AS _ FROM ${table} WHERE ${row} IN (${list})`
  const [counted] = await runReadQuery(sequelizeOf(model), { sql, transaction, writes: true })
  return Number(counted?._)
}
