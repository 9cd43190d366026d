import { findClosing, tokenize } from '../checks.js'
import type { Column, Default, ForeignKey, Schema, Table } from '../schema.js'
import { groupBy, type Query, type Row, readTextColumn, toText } from './query.js'

/** Reads the tables of a SQLite file with pragma functions. */
export async function readSqlite(query: Query): Promise<Schema> {
  const tables = await query(
    `SELECT l.name, l.wr, s.sql FROM pragma_table_list l JOIN sqlite_schema s ON s.name = l.name AND s.type = 'table'
     WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY l.name`,
  )
  const keys = new Map<string, readonly string[]>()
  const read: Table[] = []
  for (const row of tables) {
    const table = await readTable(query, row)
    keys.set(table.name.toLowerCase(), table.primaryKey)
    read.push(table)
  }
  const names = new Map(read.map(({ name, columns }) => [name.toLowerCase(), { name, columns }]))
  return { tables: read.map((table) => ({ ...table, foreignKeys: table.foreignKeys.map(resolveForeignKey) })) }

  /**
   * Completes a foreign key. SQLite allows a foreign key to omit the referenced columns and to write names in another
   * case.
   */
  function resolveForeignKey({ columns, table, targets }: ForeignKey): ForeignKey {
    const target = names.get((table ?? '').toLowerCase())
    if (target === undefined) return { columns, table: null, targets }
    const referred = targets.length > 0 ? targets : (keys.get(target.name.toLowerCase()) ?? [])
    return { columns, table: target.name, targets: referred.map((each) => findSpelling(target.columns, each)) }
  }
}

function findSpelling(columns: readonly Column[], name: string): string {
  return columns.find((each) => each.name.toLowerCase() === name.toLowerCase())?.name ?? name
}

async function readTable(query: Query, { name, wr, sql }: Row): Promise<Table> {
  const rows = await query(
    'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo($1) ORDER BY cid',
    [name],
  )
  const key = rows.filter(({ pk }) => Number(pk) > 0).toSorted((a, b) => Number(a.pk) - Number(b.pk))
  const [only] = key
  const isRowId = key.length === 1 && /^integer$/i.test(readTextColumn(only ?? {}, 'type')) && Number(wr) === 0
  // `hidden` is 1 for hidden columns of virtual tables.
  const columns = rows
    .filter(({ hidden }) => Number(hidden) !== 1)
    .map((row) => readColumn(row, isRowId && row === only))
  return {
    name: String(name),
    comment: null,
    columns,
    primaryKey: key.map((row) => readTextColumn(row, 'name')),
    uniques: await readUniques(query, String(name)),
    foreignKeys: await readForeignKeys(query, String(name), columns),
    checks: parseChecks(String(sql)),
  }
}

function readColumn(row: Row, isNumbered: boolean): Column {
  const type = readTextColumn(row, 'type').toLowerCase()
  return {
    name: readTextColumn(row, 'name'),
    type: type.replace(/\s+/g, ' ').replace(/ \(/g, '('),
    values: null,
    isNullable: Number(row.notnull) === 0 && Number(row.pk) === 0,
    isNumbered,
    isComputed: Number(row.hidden) > 1,
    default: parseDefault(toText(row.dflt_value)),
    comment: null,
  }
}

function parseDefault(expression: string | null): Default | null {
  if (expression === null || /^null$/i.test(expression)) return null
  const [, quoted] = /^'((?:[^']|'')*)'$/.exec(expression) ?? []
  if (quoted !== undefined) return { value: quoted.replaceAll("''", "'") }
  return /^[+-]?\d+(?:\.\d+)?$|^true$|^false$/i.test(expression) ? { value: expression } : { expression }
}

async function readUniques(query: Query, table: string): Promise<readonly (readonly string[])[]> {
  const rows = await query(
    `SELECT l.name AS "index", i.name AS "column" FROM pragma_index_list($1) l, pragma_index_info(l.name) i
     WHERE l."unique" = 1 AND l.partial = 0 AND l.origin <> 'pk' ORDER BY l.seq, i.seqno`,
    [table],
  )
  // A part of an index without a column name is an expression.
  return [...groupBy(rows, 'index').values()]
    .filter((parts) => parts.every(({ column }) => column !== null))
    .map((parts) => parts.map((part) => readTextColumn(part, 'column')))
}

async function readForeignKeys(
  query: Query,
  table: string,
  columns: readonly Column[],
): Promise<readonly ForeignKey[]> {
  const rows = await query('SELECT id, "from", "table", "to" FROM pragma_foreign_key_list($1) ORDER BY id DESC, seq', [
    table,
  ])
  return [...groupBy(rows, 'id').values()].map((parts) => ({
    columns: parts.map((part) => findSpelling(columns, readTextColumn(part, 'from'))),
    table: toText(parts[0]?.table),
    targets: parts.flatMap(({ to }) => toText(to) ?? []),
  }))
}

/** Finds the expressions of CHECK constraints in a CREATE TABLE statement. */
export function parseChecks(sql: string): readonly string[] {
  const tokens = tokenize(sql)
  return tokens.flatMap((token, index) => {
    if (token.kind !== 'word' || token.text !== 'check' || tokens[index + 1]?.text !== '(') return []
    const end = findClosing(tokens, index + 1)
    return end < 0
      ? []
      : [
          tokens
            .slice(index + 1, end + 1)
            .map(toSchemaTable)
            .join(' '),
        ]
  })
}

function toSchemaTable({
  kind,
  text,
  written,
}: {
  readonly kind: string
  readonly text: string
  readonly written: string
}): string {
  if (kind === 'text') return `'${text.replaceAll("'", "''")}'`
  return kind === 'name' ? `"${text.replaceAll('"', '""')}"` : written
}
