import { QueryTypes, type Sequelize } from 'sequelize'

/** One way into a table that a plan takes. */
export interface Access {
  /** The table's alias in the statement. */
  readonly table: string
  /** The index, or several that are put together; null where the table itself is read. */
  readonly index: string | null
  /** Whether the index leads to the rows wanted. False where all of the table or of the index is read in its order. */
  readonly seeks: boolean
  /** The rows that were read there, or null where that is not known. */
  readonly rows: number | null
}

/** The primary key of every table, whatever the database calls its index. */
export const PRIMARY = 'primary key'

/** A statement as it ran. */
interface Statement {
  readonly sql: string
  readonly bind: readonly unknown[]
}

/** Takes a line of Sequelize's log apart; `logQueryParameters` puts the values behind the text. */
function statementOf(line: string): Statement {
  const text = line.replace(/^Execut\w+ \([^)]*\): /, '')
  const end = /\$1|\?1/.test(text) ? text.lastIndexOf('; ') : -1
  if (end < 0) return { sql: text, bind: [] }
  const values: unknown = JSON.parse(`[${text.slice(end + 2)}]`)
  return { sql: text.slice(0, end).replace(/\?(?=\d)/g, '$'), bind: Array.isArray(values) ? values : [] }
}

/** How the database gets at the tables of a logged statement. With `run` it runs it and counts the rows, where it can. */
export async function accessesOf(sequelize: Sequelize, line: string, run = false): Promise<readonly Access[]> {
  const { sql, bind } = statementOf(line)
  const explain = (prefix: string): Promise<object[]> =>
    sequelize.query(`${prefix} ${sql}`, {
      type: QueryTypes.SELECT,
      raw: true,
      logging: false,
      ...(bind.length > 0 ? { bind: [...bind] } : {}),
    })
  switch (sequelize.getDialect()) {
    case 'sqlite':
      return sqliteAccesses(await explain('EXPLAIN QUERY PLAN'))
    case 'postgres':
      return postgresAccesses(await explain(`EXPLAIN (FORMAT JSON${run ? ', ANALYZE' : ''})`))
    default:
      return mysqlAccesses(await explain(run ? 'ANALYZE FORMAT=JSON' : 'EXPLAIN FORMAT=JSON'))
  }
}

/** Lines of a tree, such as `SEARCH Player USING INDEX players_email (email=?)`. */
function sqliteAccesses(plan: readonly object[]): readonly Access[] {
  const lines = plan.map((row) => ({
    id: Number(Reflect.get(row, 'id')),
    parent: Number(Reflect.get(row, 'parent')),
    detail: String(Reflect.get(row, 'detail')),
  }))
  const derived = new Set(lines.map(({ detail }) => /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/.exec(detail)?.[1]))
  const below = (id: number): string[] =>
    lines.flatMap((line) => (line.parent === id ? [line.detail, ...below(line.id)] : []))
  // The searches of an OR have parents of their own, INDEX 1 and so on, and are one way in.
  const isPart = new Set(lines.filter(({ detail }) => /^INDEX \d+$/.test(detail)).map(({ id }) => id))
  return lines.flatMap(({ id, parent, detail }) => {
    if (detail === 'MULTI-INDEX OR') {
      const parts = below(id).flatMap(sqliteAccess)
      return parts.slice(0, 1).map((part) => ({ ...part, index: together(parts.map(({ index }) => index ?? '')) }))
    }
    return isPart.has(parent) ? [] : sqliteAccess(detail).filter(({ table }) => !derived.has(table))
  })
}

function sqliteAccess(detail: string): Access[] {
  const [, verb, table, using] = /^(SCAN|SEARCH) (\S+)(?:.* USING (.+))?/.exec(detail) ?? []
  if (table === undefined) return []
  if (using === undefined) return [{ table, index: null, seeks: false, rows: null }]
  const name = /INDEX ([^\s(]+)/.exec(using)?.[1]
  // A primary key that is no rowid has an index without a name of its own.
  const isPrimary = /PRIMARY KEY/.test(using) || name?.startsWith('sqlite_autoindex_')
  const index = isPrimary ? PRIMARY : (name ?? 'automatic')
  return [{ table, index, seeks: verb === 'SEARCH', rows: null }]
}

/** The members of a plan in JSON that are looked into; each database has its own. */
interface PlanNode {
  readonly [member: string]: unknown
}

function isNode(value: unknown): value is PlanNode {
  return typeof value === 'object' && value !== null
}

/** A node and all below it, in their order. */
function nodesOf(value: unknown): PlanNode[] {
  return isNode(value) ? [value, ...Object.values(value).flatMap(nodesOf)] : []
}

function numberAt(node: PlanNode, member: string): number {
  return Number(node[member] ?? 0)
}

function postgresAccesses([row]: readonly object[]): readonly Access[] {
  return nodesOf(row).flatMap((node) => {
    const { Alias: alias, 'Actual Loops': loops, 'Index Name': own, 'Index Cond': condition } = node
    if (typeof alias !== 'string' || !String(node['Node Type']).includes('Scan') || node['Subquery Name']) return []
    const bitmaps = nodesOf(node.Plans).filter((below) => below['Node Type'] === 'Bitmap Index Scan')
    const names = [...(own === undefined ? [] : [own]), ...bitmaps.map((below) => below['Index Name'])]
    const removed = numberAt(node, 'Rows Removed by Filter') + numberAt(node, 'Rows Removed by Index Recheck')
    return {
      // Where an alias is in the statement twice, EXPLAIN gives the second a number.
      table: alias.replace(/_\d+$/, ''),
      index: together(names.map((name) => primaryOr(name, /_pkey$/))),
      seeks: condition !== undefined || bitmaps.length > 0,
      rows: loops === undefined ? null : (numberAt(node, 'Actual Rows') + removed) * Number(loops),
    }
  })
}

function mysqlAccesses([row]: readonly object[]): readonly Access[] {
  const [text] = Object.values(row ?? {})
  return nodesOf(JSON.parse(String(text))).flatMap(({ table: node }) => {
    if (!isNode(node) || typeof node.table_name !== 'string' || node.table_name.startsWith('<')) return []
    const type = String(node.access_type)
    const merged = nodesOf(node.index_merge).map(({ key }) => key)
    const names = (node.key === undefined ? merged : [node.key]).filter((name) => typeof name === 'string')
    // A lookup in place of a subquery is not counted.
    const loops = type.endsWith('_subquery') ? undefined : node.r_loops
    return {
      table: node.table_name,
      index: together(names.map((name) => primaryOr(name, /^PRIMARY$/))),
      seeks: type !== 'ALL' && type !== 'index',
      rows: loops === undefined ? null : Math.round(numberAt(node, 'r_rows') * Number(loops)),
    }
  })
}

/** The indexes of one access, each once. */
function together(names: readonly string[]): string | null {
  return names.length === 0 ? null : [...new Set(names)].join(' + ')
}

function primaryOr(index: unknown, primary: RegExp): string {
  return primary.test(String(index)) ? PRIMARY : String(index)
}
