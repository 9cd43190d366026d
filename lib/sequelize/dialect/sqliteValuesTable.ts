import type { Model, ModelStatic } from 'sequelize'
import type { ValuesTable } from '../../../types/valuesTable.js'
import { escapeValue, quoteTable } from '../sql.js'

function columns(model: ModelStatic<Model>): string {
  const name = escapeValue(model, quoteTable(model).slice(1, -1))
  const stored = (type: string, and: string): string =>
    `EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = '${type}' AND ${and})`
  const isTable = stored('table', `name = ${name} COLLATE NOCASE AND sql LIKE 'CREATE TABLE%'`)
  const hasTriggers = stored('trigger', `tbl_name = ${name} COLLATE NOCASE`)
  // A temporary table or view of this name hides the stored table. A temporary trigger may run on writes to the table.
  const isTemporary = `EXISTS (SELECT 1 FROM sqlite_temp_master WHERE name = ${name} COLLATE NOCASE OR tbl_name = ${name} COLLATE NOCASE)`
  return `SELECT name, type FROM pragma_table_info(${name}, 'main') WHERE ${isTable} AND NOT ${hasTriggers} AND NOT ${isTemporary}`
}

/** Whether a column stores values without conversion. Other columns convert texts of digits to numbers, or numbers to texts. */
const canStoreUnchanged: ValuesTable['isExact'] = (rows, { column, valueType: { type } }) => {
  const own = rows.find(({ name }) => String(name).toUpperCase() === column.toUpperCase())
  if (own === undefined) return false
  const declared = String(own.type).toUpperCase()
  const isInteger = declared.includes('INT')
  if (type === 'integer' || type === 'bigint') return isInteger
  const isText = !isInteger && /CHAR|CLOB|TEXT/.test(declared)
  // A column that is declared as UUID has numeric affinity, but no UUID looks like a number.
  return isText || (type === 'uuid' && declared === 'UUID')
}

/** SQLite's table of values, which an UPDATE of several rows joins. */
export const sqliteValuesTable: ValuesTable = {
  start: '(VALUES (',
  end: () => ')) AS _items',
  column: (index) => `_items.column${index + 1}`,
  columns,
  isExact: canStoreUnchanged,
  // Values have types of their own, which no column changes before they are stored.
  cast: () => '',
}
