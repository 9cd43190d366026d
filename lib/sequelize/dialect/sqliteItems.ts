import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { ItemsTable, TableFacts } from '../../../types/itemsTable.js'
import { escapeValue, quote, quoteTable } from '../sql.js'

const START = '(VALUES ('
const END = ')) AS _items'

/** The model's table as a text. */
function nameOf(model: ModelStatic<Model>): string {
  return escapeValue(model, quoteTable(model).slice(1, -1))
}

/** A table, trigger or view of the connection alone, which goes before the stored one, or looks at what is written to it. */
function temporary(name: string): string {
  return `EXISTS (SELECT 1 FROM sqlite_temp_master WHERE name = ${name} COLLATE NOCASE OR tbl_name = ${name} COLLATE NOCASE)`
}

/** A row for each column of the table; none where it has triggers, is none of the main file's or is no table. */
function facts(model: ModelStatic<Model>): string {
  const name = nameOf(model)
  const stored = (type: string, and: string): string =>
    `EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = '${type}' AND ${and})`
  const isTable = stored('table', `name = ${name} COLLATE NOCASE AND sql LIKE 'CREATE TABLE%'`)
  const hasTriggers = stored('trigger', `tbl_name = ${name} COLLATE NOCASE`)
  // The key of a table that has no index of its own for it is the number of the row.
  const isNumber = `NOT EXISTS (SELECT 1 FROM pragma_index_list(${name}, 'main') WHERE origin = 'pk')`
  return (
    `SELECT _column.name, _column.type, _column.pk, _schema.schema_version AS version, ${isNumber} AS counts ` +
    `FROM pragma_table_info(${name}, 'main') AS _column, pragma_schema_version AS _schema ` +
    `WHERE ${isTable} AND NOT ${hasTriggers} AND NOT ${temporary(name)}`
  )
}

function read(rows: Parameters<ItemsTable['joint']['read']>[0]): TableFacts | null {
  const [first] = rows
  if (first === undefined) return null
  const types = new Map(rows.map(({ name, type }) => [String(name).toUpperCase(), String(type).toUpperCase()]))
  return {
    version: Number(first.version),
    counts: Number(first.counts) === 1 && rows.filter(({ pk }) => Number(pk) > 0).length === 1,
    keeps: ({ column, valueType }) => keeps(types.get(column.toUpperCase()), valueType.type),
  }
}

/** Whether a column that is declared so keeps values of a type as they are: in others a text of digits is a number, or a number a text. */
function keeps(declared: string | undefined, type: Field['valueType']['type']): boolean {
  if (declared === undefined) return false
  const isInteger = declared.includes('INT')
  if (type === 'integer' || type === 'bigint') return isInteger
  const isText = !isInteger && /CHAR|CLOB|TEXT/.test(declared)
  // No UUID is a number to the column, whatever that is declared as.
  return isText || (type === 'uuid' && declared === 'UUID')
}

/** Below the highest number of a row by more than are made at once: above it SQLite draws numbers. */
const HIGHEST = '9223372036854775000'

/** Tables of values, which an UPDATE is joined with or an INSERT takes its rows from. */
export const sqliteItems: ItemsTable = {
  start: START,
  end: END,
  column: (index) => `_items.column${index + 1}`,
  joint: {
    facts,
    read,
    holds: (model, place, counted) => {
      const isSame = `(SELECT schema_version FROM pragma_schema_version) = ${place} AND NOT ${temporary(nameOf(model))}`
      if (counted === null) return isSame
      const key = quote(model, counted.column)
      return `${isSame} AND NOT EXISTS (SELECT 1 FROM ${quoteTable(model)} WHERE ${key} > ${HIGHEST})`
    },
    insert: (sql, condition) =>
      sql
        .replace(/^INSERT\s+INTO/, 'INSERT OR ABORT INTO')
        .replace(/ VALUES \(/, ' SELECT * FROM (VALUES (')
        .replace(/\)( RETURNING )/, `)) WHERE ${condition}$1`),
    update: (sql) => sql.replace(/^UPDATE/, 'UPDATE OR ABORT'),
    items: (condition) => ({ start: `(SELECT * FROM ${START}`, end: `)) WHERE ${condition}) AS _items` }),
  },
}
