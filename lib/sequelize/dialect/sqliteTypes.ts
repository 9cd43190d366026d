import type { ColumnTypes } from '../../../types/columnTypes.js'
import {
  type ConvertColumn,
  convertForAll,
  convertForComparison,
  createConverter,
  fullTableName,
} from './conversions.js'

type Affinity = 'number' | 'text' | 'none'

/** Returns the affinity of a column by its type name. The affinity determines how compared values are converted. */
function affinityOf(type: string): Affinity {
  const name = type.toUpperCase()
  if (name.includes('INT')) return 'number'
  if (/CHAR|CLOB|TEXT/.test(name)) return 'text'
  return name === '' || name.includes('BLOB') ? 'none' : 'number'
}

/**
 * Creates a conversion for comparisons with numbers. SQLite never treats a number as equal to a text, and every text is
 * greater than every number.
 */
function number(compare: (column: string) => string): ConvertColumn {
  return (type) => (affinityOf(type) === 'number' ? null : convertForComparison(compare))
}

const exact = number((column) => `CAST(${column} AS NUMERIC)`)
/** Dates are texts, which no affinity changes. */
const convertNothing: ConvertColumn = () => null

const convertColumn = createConverter({
  string: (type) => (affinityOf(type) === 'text' ? null : convertForAll((column) => `CAST(${column} AS TEXT)`)),
  integer: exact,
  bigint: exact,
  decimal: exact,
  float: number((column) => `CAST(${column} AS REAL)`),
  boolean: (type) =>
    affinityOf(type) === 'number'
      ? null
      : convertForAll(
          (column) => `CASE WHEN ${column} IS NOT NULL THEN lower(CAST(${column} AS TEXT)) IN ('true', 't', '1') END`,
        ),
  datetime: convertNothing,
  date: convertNothing,
  time: convertNothing,
  uuid: convertNothing,
  enum: convertNothing,
})

/** Column types of SQLite. Computed columns of a view have no type. */
export const sqliteTypes: ColumnTypes = Object.freeze<ColumnTypes>({
  select: (tables, textSql) => {
    const rows = tables.map((name, place) => `(${place}, ${textSql(fullTableName(name))})`)
    return [
      `WITH _t(place, name) AS (VALUES ${rows.join(', ')})`,
      'SELECT _t.place, _c.name AS name, _c.type AS type FROM _t, pragma_table_xinfo(_t.name) AS _c',
    ].join(' ')
  },
  isSpellingPreserved: () => true,
  convert: convertColumn,
})
