import type { Field, FieldType } from '../../../types/field.js'
import type { LinkChange } from '../../../types/work.js'
import { toPlainValue } from '../../common/plainValue.js'
import { runReadQuery } from '../../sequelize/run.js'
import { escapeValue, quote } from '../../sequelize/sql.js'
import { writeColumn, writeTable } from '../childSelect.js'
import type { StatementContext } from '../store.js'
import type { TableContext } from '../tableContext.js'

/** Types whose values a database may consider equal although their texts differ. */
const SPELLING_TYPES: ReadonlySet<FieldType> = new Set(['string', 'uuid'])

/** Returns a text that identifies a stored value, independent of the table that the value comes from. */
export function storedValueText({ decode, valueType: { type } }: Field, value: unknown): string {
  // `decode` changes the spelling of a UUID, but databases compare the stored spelling.
  return JSON.stringify(type === 'uuid' && typeof value === 'string' ? value : decode(value)) ?? ''
}

/**
 * Maps values of a join model's foreign key to the keys of the referenced records, as texts. The database joins both
 * tables, because its collation may equate different texts.
 */
export async function readTargetTexts(
  { sequelize, transaction, model }: StatementContext,
  { joinModelResource, key, target, resource }: LinkChange,
  values: readonly unknown[],
): Promise<ReadonlyMap<string, string>> {
  if (values.length === 0 || !SPELLING_TYPES.has(key.valueType.type)) return new Map()
  const link: TableContext = { model: joinModelResource.model, alias: '_l', canJoin: false }
  const record: TableContext = { model: resource.model, alias: '_t', canJoin: false }
  const [own, other] = [writeColumn(link, key.name), writeColumn(record, target.name)]
  const list = values.map((value) => escapeValue(model, toPlainValue(key, value))).join(', ')
  const sql = [
    `SELECT DISTINCT ${own} AS ${quote(model, 'own')}, ${other} AS ${quote(model, 'other')}`,
    `FROM ${writeTable(link)} INNER JOIN ${writeTable(record)} ON ${own} = ${other} WHERE ${own} IN (${list})`,
  ].join(' ')
  const rows = await runReadQuery(sequelize, { sql, transaction, writes: true })
  return new Map(rows.map((row) => [storedValueText(key, row.own), storedValueText(target, row.other)]))
}
