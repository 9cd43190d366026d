import type { Field, FieldType } from '../../../types/field.js'
import type { LinkedBranch } from '../../../types/work.js'
import { plainOf } from '../../common/plain.js'
import { queryRows } from '../../sequelize/run.js'
import { escapeValue, quote } from '../../sequelize/sql.js'
import { columnIn, tableAs } from '../elements.js'
import type { Scope } from '../scope.js'
import type { Store } from '../store.js'

/** Types for which a database may consider two texts equal. */
const SPELLED: ReadonlySet<FieldType> = new Set(['string', 'uuid'])

/** Text that identifies a stored value, independent of the table that it was read from. */
export function nameOf({ decode, valueType: { type } }: Field, value: unknown): string {
  // JSON has one spelling for a UUID, but databases compare the stored spelling.
  return JSON.stringify(type === 'uuid' && typeof value === 'string' ? value : decode(value)) ?? ''
}

/**
 * Maps values of a join model's foreign key to the keys of the referenced records, as texts. The database joins them,
 * because its collation may match different texts.
 */
export async function targetNames(
  { sequelize, transaction, model }: Store,
  { between, key, target, resource }: LinkedBranch,
  values: readonly unknown[],
): Promise<ReadonlyMap<string, string>> {
  if (values.length === 0 || !SPELLED.has(key.valueType.type)) return new Map()
  const link: Scope = { model: between.model, alias: '_l', joins: false }
  const record: Scope = { model: resource.model, alias: '_t', joins: false }
  const [own, other] = [columnIn(link, key.name), columnIn(record, target.name)]
  const list = values.map((value) => escapeValue(model, plainOf(key, value))).join(', ')
  const sql = [
    `SELECT DISTINCT ${own} AS ${quote(model, 'own')}, ${other} AS ${quote(model, 'other')}`,
    `FROM ${tableAs(link)} INNER JOIN ${tableAs(record)} ON ${own} = ${other} WHERE ${own} IN (${list})`,
  ].join(' ')
  const rows = await queryRows(sequelize, { sql, transaction, writes: true })
  return new Map(rows.map((row) => [nameOf(key, row.own), nameOf(target, row.other)]))
}
