import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'

/** A table access in a query plan. */
export interface Access {
  /** Alias of the table in the statement. */
  readonly table: string
  /** Name of the index. Several merged indexes are joined. Null for a table scan. */
  readonly index: string | null
  /** Whether the index finds the rows. False if the whole table or the whole index is read. */
  readonly seeks: boolean
  /** Number of rows that were read, or null if unknown. */
  readonly rows: number | null
}

/** Stands for a table's primary key, whose index has another name on each database. */
export const PRIMARY = 'primary key'

/** An executed statement. */
interface Statement {
  readonly sql: string
  readonly bind: readonly unknown[]
}

/** Parses a line of Sequelize's log. With `logQueryParameters`, the values follow the statement. */
function statementOf(line: string): Statement {
  const text = line.replace(/^Execut\w+ \([^)]*\): /, '')
  const end = /\$1|\?1/.test(text) ? text.lastIndexOf('; ') : -1
  if (end < 0) return { sql: text, bind: [] }
  const logged: unknown = JSON.parse(`[${text.slice(end + 2)}]`)
  const values: readonly unknown[] = Array.isArray(logged) ? logged : []
  const [named] = values
  // Sequelize passes values to SQLite as an object by placeholder name.
  const isNamed = values.length === 1 && typeof named === 'object' && named !== null && '$1' in named
  return { sql: text.slice(0, end).replace(/\?(?=\d)/g, '$'), bind: isNamed ? Object.values(named) : values }
}

/**
 * Explains a logged statement. Returns its table accesses. With `run`, the statement is executed and the rows are
 * counted, if the database supports it.
 */
export async function accessesOf(sequelize: Sequelize, line: string, run = false): Promise<readonly Access[]> {
  const { sql, bind } = statementOf(line)
  const explain = (prefix: string, transaction?: Transaction): Promise<object[]> =>
    sequelize.query(`${prefix} ${sql}`, {
      type: QueryTypes.SELECT,
      raw: true,
      logging: false,
      ...(bind.length > 0 ? { bind: [...bind] } : {}),
      ...(transaction === undefined ? {} : { transaction }),
    })
  switch (sequelize.getDialect()) {
    case 'sqlite':
      return sqliteAccesses(await explain('EXPLAIN QUERY PLAN'))
    case 'postgres':
      return postgresAccesses(await explain(`EXPLAIN (FORMAT JSON${run ? ', ANALYZE' : ''})`))
  }
  // The driver mysql2 connects to MySQL and to MariaDB.
  const version = await sequelize.query('SELECT VERSION() AS version', { type: QueryTypes.SELECT, logging: false })
  if (/MariaDB/.test(JSON.stringify(version)))
    return mariadbAccesses(await explain(run ? 'ANALYZE FORMAT=JSON' : 'EXPLAIN FORMAT=JSON'))
  // Version 1 of the JSON plan, which some servers use by default, has no execution data. The transaction keeps both
  // statements on one connection.
  return sequelize.transaction({ logging: false }, async (transaction) => {
    await sequelize.query('SET SESSION explain_json_format_version = 2', { transaction, logging: false })
    return mysqlAccesses(await explain(`EXPLAIN ${run ? 'ANALYZE ' : ''}FORMAT=JSON`, transaction))
  })
}

/** Parses the lines of SQLite's plan tree, such as `SEARCH Player USING INDEX players_email (email=?)`. */
function sqliteAccesses(plan: readonly object[]): readonly Access[] {
  const lines = plan.map((row) => ({
    id: Number(Reflect.get(row, 'id')),
    parent: Number(Reflect.get(row, 'parent')),
    detail: String(Reflect.get(row, 'detail')),
  }))
  const derived = new Set(lines.map(({ detail }) => /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/.exec(detail)?.[1]))
  const below = (id: number): string[] =>
    lines.flatMap((line) => (line.parent === id ? [line.detail, ...below(line.id)] : []))
  // The searches of an OR have parents named INDEX 1, INDEX 2 and so on. Together they count as one access.
  const isPart = new Set(lines.filter(({ detail }) => /^INDEX \d+$/.test(detail)).map(({ id }) => id))
  return lines.flatMap(({ id, parent, detail }) => {
    if (detail === 'MULTI-INDEX OR') {
      const parts = below(id).flatMap(sqliteAccess)
      return parts.slice(0, 1).map((part) => ({ ...part, index: joinIndexes(parts.map(({ index }) => index ?? '')) }))
    }
    return isPart.has(parent) ? [] : sqliteAccess(detail).filter(({ table }) => !derived.has(table))
  })
}

function sqliteAccess(detail: string): Access[] {
  const [, verb, table, using] = /^(SCAN|SEARCH) (\S+)(?:.* USING (.+))?/.exec(detail) ?? []
  if (table === undefined) return []
  if (using === undefined) return [{ table, index: null, seeks: false, rows: null }]
  const name = /INDEX ([^\s(]+)/.exec(using)?.[1]
  // A primary key other than the rowid has an automatic index.
  const isPrimary = /PRIMARY KEY/.test(using) || name?.startsWith('sqlite_autoindex_')
  const index = isPrimary ? PRIMARY : (name ?? 'automatic')
  return [{ table, index, seeks: verb === 'SEARCH', rows: null }]
}

/** A node of a JSON plan. Each database has its own members. */
interface PlanNode {
  readonly [member: string]: unknown
}

function isNode(value: unknown): value is PlanNode {
  return typeof value === 'object' && value !== null
}

/** A node with all its descendants, in their order. */
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
      // EXPLAIN adds a number to the second use of an alias.
      table: alias.replace(/_\d+$/, ''),
      index: joinIndexes(names.map((name) => primaryOr(name, /_pkey$/))),
      seeks: condition !== undefined || bitmaps.length > 0,
      rows: loops === undefined ? null : (numberAt(node, 'Actual Rows') + removed) * Number(loops),
    }
  })
}

/** Parses the plan, which is the only value of the only row. */
function planIn([row]: readonly object[]): unknown {
  return JSON.parse(String(Object.values(row ?? {})[0]))
}

function mariadbAccesses(rows: readonly object[]): readonly Access[] {
  return nodesOf(planIn(rows)).flatMap(({ table: node }) => {
    if (!isNode(node) || typeof node.table_name !== 'string' || node.table_name.startsWith('<')) return []
    const type = String(node.access_type)
    const merged = nodesOf(node.index_merge).map(({ key }) => key)
    const names = (node.key === undefined ? merged : [node.key]).filter((name) => typeof name === 'string')
    // A lookup that replaces a subquery has no number of loops.
    const loops = type.endsWith('_subquery') ? undefined : node.r_loops
    return {
      table: node.table_name,
      index: joinIndexes(names.map((name) => primaryOr(name, /^PRIMARY$/))),
      seeks: type !== 'ALL' && type !== 'index',
      rows: loops === undefined ? null : Math.round(numberAt(node, 'r_rows') * Number(loops)),
    }
  })
}

/** Steps of MySQL's plans that merge the rows of several indexes on one table. */
const MERGES = /^(?:index_merge|rowid_union|rowid_intersection)$/

/** Index accesses of MySQL that do not read the whole index. */
const SEEKS: readonly unknown[] = [
  'index_lookup',
  'index_range_scan',
  'multi_range_read',
  'index_skip_scan',
  'group_index_skip_scan',
]

/** Parses MySQL's plan, a tree of steps with their inputs. */
function mysqlAccesses(rows: readonly object[]): readonly Access[] {
  const plan = planIn(rows)
  return isNode(plan) ? mysqlAccessesOf(plan.query_plan) : []
}

function mysqlAccessesOf(step: unknown): readonly Access[] {
  if (!isNode(step)) return []
  const type = String(step.access_type)
  // MySQL reads a row with a full key while it plans. The plan does not contain the table name of such a row.
  if (type === 'rows_fetched_before_execution') throw new Error('the plan does not tell which table gave a row')
  const below = (Array.isArray(step.inputs) ? step.inputs : []).flatMap(mysqlAccessesOf)
  if (MERGES.test(type)) {
    const [first] = below
    if (first === undefined) return []
    const index = joinIndexes(below.flatMap((part) => (part.index === null ? [] : part.index.split(' + '))))
    return [
      { ...first, index, seeks: below.every(({ seeks }) => seeks), rows: sumRows(below.map((part) => part.rows)) },
    ]
  }
  // A derived table has no schema.
  if (step.schema_name === undefined || typeof step.table_name !== 'string') return below
  const { index_name: index, actual_loops: loops } = step
  const alias = type === 'count_rows' ? /^Count rows in (.+)$/.exec(String(step.operation))?.[1] : step.alias
  return [
    {
      table: String(alias ?? step.table_name),
      index: index === undefined ? null : primaryOr(index, /^PRIMARY$/),
      seeks: SEEKS.includes(step.index_access_type),
      rows: mysqlRows(type, step.actual_rows, loops),
    },
    ...below,
  ]
}

/**
 * Number of rows that a step reads in all loops. A step that never ran has read 0 rows. null for a step that counts all
 * rows, because the plan has only the result of the count.
 */
function mysqlRows(type: string, rows: unknown, loops: unknown): number | null {
  if (rows === undefined || type === 'count_rows') return null
  return Math.round(Number(rows ?? 0) * Number(loops ?? 0))
}

function sumRows(rows: readonly (number | null)[]): number | null {
  return rows.reduce((sum, each) => (sum === null || each === null ? null : sum + each), 0)
}

/** Names of the distinct indexes of one access, joined, or null. */
function joinIndexes(names: readonly string[]): string | null {
  return names.length === 0 ? null : [...new Set(names)].join(' + ')
}

function primaryOr(index: unknown, primary: RegExp): string {
  return primary.test(String(index)) ? PRIMARY : String(index)
}
