import { closing, tokensOf } from '../checks.js'
import type { Column, Default, ForeignKey, Schema, Table } from '../schema.js'
import { grouped, type Query, type Row, text, textOf } from './query.js'

/** Reads the tables of a SQLite file with pragma functions. */
export async function readSqlite(query: Query): Promise<Schema> {
  const tables = await query(
    `SELECT l.name, l.wr, s.sql FROM pragma_table_list l JOIN sqlite_schema s ON s.name = l.name AND s.type = 'table'
     WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY l.name`,
  )
  const keys = new Map<string, readonly string[]>()
  const read: Table[] = []
  for (const row of tables) {
    const table = await tableOf(query, row)
    keys.set(table.name.toLowerCase(), table.primaryKey)
    read.push(table)
  }
  const names = new Map(read.map(({ name, columns }) => [name.toLowerCase(), { name, columns }]))
  return { tables: read.map((table) => ({ ...table, foreignKeys: table.foreignKeys.map(resolved) })) }

  /** A foreign key may omit the referenced columns, and names may differ in case. */
  function resolved({ columns, table, targets }: ForeignKey): ForeignKey {
    const target = names.get((table ?? '').toLowerCase())
    if (target === undefined) return { columns, table: null, targets }
    const referred = targets.length > 0 ? targets : (keys.get(target.name.toLowerCase()) ?? [])
    return { columns, table: target.name, targets: referred.map((each) => spelled(target.columns, each)) }
  }
}

function spelled(columns: readonly Column[], name: string): string {
  return columns.find((each) => each.name.toLowerCase() === name.toLowerCase())?.name ?? name
}

async function tableOf(query: Query, { name, wr, sql }: Row): Promise<Table> {
  const rows = await query(
    'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo($1) ORDER BY cid',
    [name],
  )
  const key = rows.filter(({ pk }) => Number(pk) > 0).toSorted((a, b) => Number(a.pk) - Number(b.pk))
  const [only] = key
  const isRowId = key.length === 1 && /^integer$/i.test(text(only ?? {}, 'type')) && Number(wr) === 0
  // The value 1 marks hidden columns of virtual tables.
  const columns = rows.filter(({ hidden }) => Number(hidden) !== 1).map((row) => columnOf(row, isRowId && row === only))
  return {
    name: String(name),
    comment: null,
    columns,
    primaryKey: key.map((row) => text(row, 'name')),
    uniques: await uniquesOf(query, String(name)),
    foreignKeys: await foreignKeysOf(query, String(name), columns),
    checks: checksIn(String(sql)),
  }
}

function columnOf(row: Row, isNumbered: boolean): Column {
  const type = text(row, 'type').toLowerCase()
  return {
    name: text(row, 'name'),
    type: type.replace(/\s+/g, ' ').replace(/ \(/g, '('),
    values: null,
    isNullable: Number(row.notnull) === 0 && Number(row.pk) === 0,
    isNumbered,
    isComputed: Number(row.hidden) > 1,
    default: defaultOf(textOf(row.dflt_value)),
    comment: null,
  }
}

function defaultOf(expression: string | null): Default | null {
  if (expression === null || /^null$/i.test(expression)) return null
  const [, quoted] = /^'((?:[^']|'')*)'$/.exec(expression) ?? []
  if (quoted !== undefined) return { value: quoted.replaceAll("''", "'") }
  return /^[+-]?\d+(?:\.\d+)?$|^true$|^false$/i.test(expression) ? { value: expression } : { expression }
}

async function uniquesOf(query: Query, table: string): Promise<readonly (readonly string[])[]> {
  const rows = await query(
    `SELECT l.name AS "index", i.name AS "column" FROM pragma_index_list($1) l, pragma_index_info(l.name) i
     WHERE l."unique" = 1 AND l.partial = 0 AND l.origin <> 'pk' ORDER BY l.seq, i.seqno`,
    [table],
  )
  // Index parts without a name are expressions.
  return [...grouped(rows, 'index').values()]
    .filter((parts) => parts.every(({ column }) => column !== null))
    .map((parts) => parts.map((part) => text(part, 'column')))
}

async function foreignKeysOf(query: Query, table: string, columns: readonly Column[]): Promise<readonly ForeignKey[]> {
  const rows = await query('SELECT id, "from", "table", "to" FROM pragma_foreign_key_list($1) ORDER BY id DESC, seq', [
    table,
  ])
  return [...grouped(rows, 'id').values()].map((parts) => ({
    columns: parts.map((part) => spelled(columns, text(part, 'from'))),
    table: textOf(parts[0]?.table),
    targets: parts.flatMap(({ to }) => textOf(to) ?? []),
  }))
}

/** The expressions of CHECK constraints in a CREATE TABLE statement. */
export function checksIn(sql: string): readonly string[] {
  const tokens = tokensOf(sql)
  return tokens.flatMap((token, index) => {
    if (token.kind !== 'word' || token.text !== 'check' || tokens[index + 1]?.text !== '(') return []
    const end = closing(tokens, index + 1)
    return end < 0
      ? []
      : [
          tokens
            .slice(index + 1, end + 1)
            .map(written)
            .join(' '),
        ]
  })
}

function written({
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
