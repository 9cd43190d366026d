// Table properties from the catalogue of each database.

import type { Model, ModelStatic } from 'sequelize'
import type { TableCatalogue, TableTraits } from '../../../types/table.js'
import { escapeValue, quoteTable } from '../sql.js'

type Rows = Parameters<TableCatalogue['read']>[0]

function reader(traitsOf: (first: Rows[number]) => Omit<TableTraits, 'hasDefault'>): TableCatalogue['read'] {
  return (rows) => {
    const [first] = rows
    if (first === undefined) return null
    const defaults = new Set(
      rows.filter(({ has_default }) => Number(has_default) === 1).map(({ name }) => String(name)),
    )
    return Object.freeze({ ...traitsOf(first), hasDefault: (column: string) => defaults.has(column) })
  }
}

/** Returns the table name as a text literal, without identifier quotes. */
function nameOf(model: ModelStatic<Model>): string {
  return escapeValue(model, quoteTable(model).slice(1, -1))
}

export const sqliteTables: TableCatalogue = {
  canSkipRows: true,
  write: (model) => {
    const name = nameOf(model)
    const schema =
      'SELECT type, name, tbl_name, sql FROM sqlite_master UNION ALL SELECT type, name, tbl_name, sql FROM sqlite_temp_master'
    const exists = (and: string): string =>
      `EXISTS (SELECT 1 FROM (${schema}) WHERE tbl_name = ${name} COLLATE NOCASE AND ${and})`
    const raises = exists("type = 'trigger' AND sql LIKE '%RAISE%' AND (sql LIKE '%IGNORE%' OR sql LIKE '%FAIL%')")
    const ignores = exists("type = 'table' AND sql LIKE '%CONFLICT%'")
    return (
      `SELECT name, dflt_value IS NOT NULL AS has_default, ${exists("type = 'view'")} AS is_view, ` +
      `${raises} OR ${ignores} AS writes_less FROM pragma_table_info(${name})`
    )
  },
  read: reader(({ is_view, writes_less }) => {
    const isView = Number(is_view) === 1
    // The database does not count rows that INSTEAD OF triggers of a view write.
    return {
      canSkipWrites: isView || Number(writes_less) === 1,
      canSkipLocks: false,
      countsInserted: !isView,
      countsFound: !isView,
      storesZero: false,
      unsafeEngine: null,
    }
  }),
}

/** Bits of `tgtype`: FOR EACH ROW, BEFORE, INSTEAD OF. */
const ROW = 1
const BEFORE_OR_INSTEAD = 66

export const postgresTables: TableCatalogue = {
  canSkipRows: true,
  write: (model) => {
    const table = `to_regclass(${escapeValue(model, quoteTable(model))})`
    return (
      // Triggers of partitions and inheriting tables can skip rows as well.
      `WITH RECURSIVE _tables AS (SELECT ${table}::oid AS oid ` +
      'UNION SELECT _child.inhrelid FROM pg_inherits AS _child JOIN _tables ON _child.inhparent = _tables.oid), ' +
      "_traits AS (SELECT bool_or(_class.relkind NOT IN ('r', 'p') OR _class.relrowsecurity OR _class.relhasrules OR EXISTS (" +
      'SELECT 1 FROM pg_trigger AS _trigger WHERE _trigger.tgrelid = _class.oid AND NOT _trigger.tgisinternal ' +
      `AND (_trigger.tgtype & ${ROW}) = ${ROW} AND (_trigger.tgtype & ${BEFORE_OR_INSTEAD}) <> 0)) AS writes_less, ` +
      "bool_or(_class.relkind NOT IN ('r', 'p') OR _class.relrowsecurity) AS locks_less " +
      'FROM pg_class AS _class JOIN _tables ON _class.oid = _tables.oid) ' +
      "SELECT _column.attname AS name, (_column.atthasdef OR _column.attidentity <> '' OR _type.typdefault IS NOT NULL)::int AS has_default, " +
      '_traits.writes_less::int AS writes_less, _traits.locks_less::int AS locks_less FROM _traits, pg_attribute AS _column ' +
      'JOIN pg_type AS _type ON _type.oid = _column.atttypid ' +
      `WHERE _column.attrelid = ${table} AND _column.attnum > 0 AND NOT _column.attisdropped`
    )
  },
  read: reader(({ writes_less, locks_less }) => ({
    canSkipWrites: Number(writes_less) === 1,
    canSkipLocks: Number(locks_less) === 1,
    countsInserted: true,
    countsFound: true,
    storesZero: false,
    unsafeEngine: null,
  })),
}

export const mysqlTables: TableCatalogue = {
  // On MySQL and MariaDB, triggers cannot skip rows without an error.
  canSkipRows: false,
  write: (model) =>
    // MariaDB reports the text NULL for a column without a default.
    'SELECT _column.COLUMN_NAME AS name, ' +
    "((_column.COLUMN_DEFAULT IS NOT NULL AND _column.COLUMN_DEFAULT <> 'NULL') OR _column.EXTRA LIKE '%DEFAULT_GENERATED%') AS has_default, " +
    "CASE WHEN _engine.TRANSACTIONS = 'NO' THEN _table.ENGINE END AS engine, " +
    "VERSION() AS version, @@sql_mode LIKE '%NO_AUTO_VALUE_ON_ZERO%' AS stores_zero " +
    'FROM information_schema.TABLES AS _table ' +
    'JOIN information_schema.COLUMNS AS _column ON _column.TABLE_SCHEMA = _table.TABLE_SCHEMA AND _column.TABLE_NAME = _table.TABLE_NAME ' +
    'LEFT JOIN information_schema.ENGINES AS _engine ON _engine.ENGINE = _table.ENGINE ' +
    `WHERE _table.TABLE_SCHEMA = DATABASE() AND _table.TABLE_NAME = ${nameOf(model)}`,
  // An UPDATE reports the number of changed rows instead of found rows.
  read: reader(({ engine, stores_zero }) => ({
    canSkipWrites: false,
    canSkipLocks: false,
    countsInserted: true,
    countsFound: false,
    storesZero: Number(stores_zero) === 1,
    unsafeEngine: engine === null || engine === undefined ? null : String(engine),
  })),
}
