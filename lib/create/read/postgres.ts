import type { Column, Default, Schema } from '../schema.js'
import { groupBy, type Query, type Row, readTextColumn, toText, toTexts } from './query.js'

/** Tables of the current schema, without tables of extensions and without partitions. */
const TABLES = `SELECT c.oid, c.relname AS name, obj_description(c.oid, 'pg_class') AS comment FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')
  ORDER BY c.relname`

/**
 * Columns with their types. The type of a domain is its base type. The values of an array of an enumeration are the
 * values of the enumeration.
 */
const COLUMNS = `SELECT a.attrelid AS oid, a.attname AS name, a.attnotnull AS required, a.attidentity AS identity, a.attgenerated AS generated,
    CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END AS type,
    pg_get_expr(d.adbin, d.adrelid) AS initial, col_description(a.attrelid, a.attnum) AS comment,
    (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e
      WHERE e.enumtypid IN (a.atttypid, t.typbasetype, t.typelem)) AS values
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE c.relnamespace = current_schema()::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attrelid, a.attnum`

const INDEXES = `SELECT i.indrelid AS oid, i.indisprimary AS is_primary,
    (SELECT json_agg(a.attname ORDER BY k.place) FROM unnest(i.indkey::int2[]) WITH ORDINALITY k (number, place)
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number WHERE k.place <= i.indnkeyatts) AS columns
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
  WHERE c.relnamespace = current_schema()::regnamespace AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL
  ORDER BY i.indexrelid`

const columnNamesSql = (numbers: string, table: string): string =>
  `(SELECT json_agg(a.attname ORDER BY k.place) FROM unnest(${numbers}) WITH ORDINALITY k (number, place)
      JOIN pg_attribute a ON a.attrelid = ${table} AND a.attnum = k.number)`

const CONSTRAINTS = `SELECT o.conrelid AS oid, o.contype AS kind, pg_get_expr(o.conbin, o.conrelid) AS "check",
    ${columnNamesSql('o.conkey', 'o.conrelid')} AS columns, ${columnNamesSql('o.confkey', 'o.confrelid')} AS targets,
    CASE WHEN f.relnamespace = c.relnamespace THEN f.relname END AS target
  FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid LEFT JOIN pg_class f ON f.oid = o.confrelid
  WHERE c.relnamespace = current_schema()::regnamespace AND o.contype IN ('c', 'f') AND o.conparentid = 0
  ORDER BY o.oid`

export async function readPostgres(query: Query): Promise<Schema> {
  const tables = await query(TABLES)
  const columns = groupBy(await query(COLUMNS), 'oid')
  const indexes = groupBy(await query(INDEXES), 'oid')
  const constraints = groupBy(await query(CONSTRAINTS), 'oid')
  return {
    tables: tables.map((row) => {
      const oid = readTextColumn(row, 'oid')
      const own = constraints.get(oid) ?? []
      const unique = indexes.get(oid) ?? []
      return {
        name: readTextColumn(row, 'name'),
        comment: toText(row.comment),
        columns: (columns.get(oid) ?? []).map(readColumn),
        primaryKey: toTexts(unique.find(({ is_primary }) => is_primary === true)?.columns),
        uniques: unique.filter(({ is_primary }) => is_primary !== true).map((index) => toTexts(index.columns)),
        foreignKeys: own
          .filter(({ kind }) => kind === 'f')
          .map((key) => ({ columns: toTexts(key.columns), table: toText(key.target), targets: toTexts(key.targets) })),
        checks: own.filter(({ kind }) => kind === 'c').map((constraint) => readTextColumn(constraint, 'check')),
      }
    }),
  }
}

function readColumn(row: Row): Column {
  const initial = toText(row.initial)
  const isComputed = toText(row.generated) !== null
  return {
    name: readTextColumn(row, 'name'),
    type: readTextColumn(row, 'type').replace(/^(timestamp|time)\((\d+)\) (.*)$/, '$1 $3($2)'),
    values: row.values === null ? null : toTexts(row.values),
    isNullable: row.required !== true,
    isNumbered: toText(row.identity) !== null || (initial?.startsWith('nextval(') ?? false),
    isComputed,
    default: initial === null || isComputed ? null : parseDefault(initial),
    comment: toText(row.comment),
  }
}

/** Parses a default of PostgreSQL. `'a'::character varying` and `5` are values. Other defaults are expressions. */
function parseDefault(expression: string): Default | null {
  if (/^NULL(?:::|$)/.test(expression)) return null
  const [, quoted] = /^'((?:[^']|'')*)'(?:::[\w ."]+(?:\(\d+(?:,\d+)?\))?(?:\[\])?)?$/.exec(expression) ?? []
  if (quoted !== undefined) return { value: quoted.replaceAll("''", "'") }
  const [, plain] = /^\(?(-?\d+(?:\.\d+)?|true|false)\)?(?:::[\w ]+)?$/.exec(expression) ?? []
  return plain === undefined ? { expression } : { value: plain }
}
