import type { Field, FieldType } from '../../../types/field.js'
import type { LinkedBranch } from '../../../types/work.js'
import { plainOf } from '../../common/plain.js'
import { queryRows } from '../../sequelize/run.js'
import { escapeValue, quote } from '../../sequelize/sql.js'
import { columnIn, tableAs } from '../elements.js'
import type { Scope } from '../scope.js'
import type { Store } from '../store.js'

/** Types of which the database may take two texts for one value. */
const SPELLED: ReadonlySet<FieldType> = new Set(['string', 'uuid'])

/** What a stored value is known by, whichever of two tables it was read from. */
export function nameOf({ decode, valueType: { type } }: Field, value: unknown): string {
  // As JSON, UUIDs have one spelling; stored, they are joined in the one that they have.
  return JSON.stringify(type === 'uuid' && typeof value === 'string' ? value : decode(value)) ?? ''
}

/**
 * The keys of the records that rows of a join table refer to, for values of its foreign key: both by their names. The database
 * joins them, so that a text refers to a key which its collation takes for equal.
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
