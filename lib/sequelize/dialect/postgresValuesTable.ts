import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { StoredColumns, ValuesTable } from '../../../types/valuesTable.js'
import { escapeValue, quoteTable } from '../sql.js'

const INTEGERS: ReadonlySet<unknown> = new Set(['int2', 'int4', 'int8'])
const TEXTS: ReadonlySet<unknown> = new Set(['text', 'varchar'])

/**
 * Types that convert a parameter as an assignment to a column does. A cast to `bpchar` or `bit` would cut long values,
 * and a cast to a domain would check the values of records that do not change.
 */
const TYPES = ['int2', 'int4', 'int8', 'float4', 'float8', 'numeric', 'text', 'varchar', 'bool', 'uuid', 'date', 'time']
const SIMPLE = [...TYPES, 'timestamp', 'timestamptz', 'json', 'jsonb'].map((name) => `'${name}'`).join(', ')

/** Prefix of the columns. A table with such a column has no table of values, because names would be ambiguous. */
const PREFIX = '_items_'

/**
 * Excludes tables where the order of rows matters or where not every row is written: views, foreign and inherited
 * tables, row policies, rules and triggers. Excludes columns of unique indexes and exclusion constraints, which are
 * checked row by row. The primary key is not excluded, because an UPDATE of several records never changes it.
 */
function columns(model: ModelStatic<Model>): string {
  const table = `to_regclass(${escapeValue(model, quoteTable(model))})`
  const hasUnique = (and: string): string =>
    'EXISTS (SELECT 1 FROM pg_index AS _index WHERE _index.indrelid = _class.oid AND NOT _index.indisprimary ' +
    `AND (_index.indisunique OR _index.indisexclusion) AND ${and})`
  return (
    "SELECT _column.attname AS name, CASE WHEN _type.typtype = 'e' THEN format_type(_type.oid, NULL) ELSE _type.typname END AS type " +
    'FROM pg_class AS _class JOIN pg_attribute AS _column ON _column.attrelid = _class.oid AND _column.attnum > 0 ' +
    'JOIN pg_type AS _type ON _type.oid = _column.atttypid ' +
    `WHERE _class.oid = ${table} AND _class.relkind = 'r' AND NOT _class.relrowsecurity AND NOT _class.relhasrules ` +
    'AND NOT _class.relhassubclass AND NOT EXISTS (SELECT 1 FROM pg_trigger AS _trigger WHERE _trigger.tgrelid = _class.oid AND NOT _trigger.tgisinternal) ' +
    `AND NOT ${hasUnique('(_index.indexprs IS NOT NULL OR _index.indpred IS NOT NULL)')} ` +
    `AND NOT ${hasUnique('_column.attnum = ANY(_index.indkey)')} ` +
    `AND NOT EXISTS (SELECT 1 FROM pg_attribute AS _other WHERE _other.attrelid = _class.oid AND left(_other.attname, ${PREFIX.length}) = '${PREFIX}') ` +
    `AND (_type.typtype = 'e' OR _type.typtype = 'b' AND _type.typnamespace = 'pg_catalog'::regnamespace AND _type.typname IN (${SIMPLE}))`
  )
}

function typeOf(rows: StoredColumns, { column }: Field): unknown {
  return rows.find(({ name }) => name === column)?.type
}

/** PostgreSQL's table of values, which an UPDATE of several rows joins. The first row declares the types. */
export const postgresValuesTable: ValuesTable = {
  start: '(VALUES (',
  end: (count) => `)) AS _items(${Array.from({ length: count }, (_, index) => `${PREFIX}${index + 1}`).join(', ')})`,
  column: (index) => `_items.${PREFIX}${index + 1}`,
  columns,
  isExact: (rows, field) => {
    const type = typeOf(rows, field)
    const declared = field.valueType.type
    if (declared === 'integer' || declared === 'bigint') return INTEGERS.has(type)
    return declared === 'uuid' ? type === 'uuid' : TEXTS.has(type)
  },
  cast: (rows, field) => {
    const type = field.stored === undefined ? typeOf(rows, field) : undefined
    return type === undefined ? null : `::${String(type)}`
  },
}
