import { tokenize } from '../checks.js'
import type { Column, Default, Schema } from '../schema.js'
import { groupBy, type Query, type Row, readTextColumn, toText } from './query.js'

const TABLES = `SELECT TABLE_NAME AS name, TABLE_COMMENT AS comment FROM information_schema.TABLES
  WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') ORDER BY TABLE_NAME`

const COLUMNS = `SELECT TABLE_NAME AS parent, COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS nullable, COLUMN_DEFAULT AS initial,
    EXTRA AS extra, COLUMN_COMMENT AS comment, GENERATION_EXPRESSION AS generated
  FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION`

const INDEXES = `SELECT TABLE_NAME AS parent, INDEX_NAME AS name, COLUMN_NAME AS \`column\`, SUB_PART AS part FROM information_schema.STATISTICS
  WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0 ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`

const FOREIGN_KEYS = `SELECT TABLE_NAME AS parent, CONSTRAINT_NAME AS name, COLUMN_NAME AS \`column\`, REFERENCED_COLUMN_NAME AS other,
    CASE WHEN REFERENCED_TABLE_SCHEMA = DATABASE() THEN REFERENCED_TABLE_NAME END AS target
  FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME IS NOT NULL
  ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION`

/**
 * Queries of CHECK constraints with their tables. In MariaDB, names of constraints are unique only within a table, so
 * the query cannot join by name. MariaDB's view has the table's name.
 */
const CHECKS = {
  MariaDB: `SELECT TABLE_NAME AS parent, CHECK_CLAUSE AS \`check\` FROM information_schema.CHECK_CONSTRAINTS
    WHERE CONSTRAINT_SCHEMA = DATABASE()`,
  MySQL: `SELECT t.TABLE_NAME AS parent, c.CHECK_CLAUSE AS \`check\` FROM information_schema.CHECK_CONSTRAINTS c
    JOIN information_schema.TABLE_CONSTRAINTS t ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME
    WHERE c.CONSTRAINT_SCHEMA = DATABASE() AND t.CONSTRAINT_TYPE = 'CHECK'`,
}

export async function readMysql(query: Query): Promise<Schema> {
  const [server] = await query('SELECT VERSION() AS version')
  const isMariaDb = /mariadb/i.test(readTextColumn(server ?? {}, 'version'))
  const tables = await query(TABLES)
  const columns = groupBy(await query(COLUMNS), 'parent')
  const indexes = groupBy(await query(INDEXES), 'parent')
  const foreignKeys = groupBy(await query(FOREIGN_KEYS), 'parent')
  const checks = groupBy(await query(CHECKS[isMariaDb ? 'MariaDB' : 'MySQL']), 'parent')
  return {
    tables: tables.map((row) => {
      const name = readTextColumn(row, 'name')
      const own = (checks.get(name) ?? []).map((each) => readTextColumn(each, 'check'))
      const unique = [...groupBy(indexes.get(name) ?? [], 'name')].filter(([, parts]) => parts.every(isWholeColumn))
      const columnNames = (parts: readonly Row[]): readonly string[] =>
        parts.map((part) => readTextColumn(part, 'column'))
      return {
        name,
        comment: toText(row.comment),
        columns: (columns.get(name) ?? []).map((each) => readColumn(each, isMariaDb, own)),
        primaryKey: columnNames(unique.find(([index]) => index === 'PRIMARY')?.[1] ?? []),
        uniques: unique.filter(([index]) => index !== 'PRIMARY').map(([, parts]) => columnNames(parts)),
        foreignKeys: [...groupBy(foreignKeys.get(name) ?? [], 'name').values()].map((parts) => ({
          columns: columnNames(parts),
          table: toText(parts[0]?.target),
          targets: parts.map((part) => readTextColumn(part, 'other')),
        })),
        checks: own,
      }
    }),
  }
}

/** Whether a part of an index covers the whole column, not a prefix or an expression. */
function isWholeColumn({ column, part }: Row): boolean {
  return column !== null && part === null
}

function readColumn(row: Row, isMariaDb: boolean, checks: readonly string[]): Column {
  const type = readTextColumn(row, 'type')
  const name = readTextColumn(row, 'name')
  const extra = readTextColumn(row, 'extra')
  const isEnumeration = /^enum\(/i.test(type)
  // In MariaDB, a JSON column is a text column with a CHECK constraint.
  const isJson =
    isMariaDb && checks.some((check) => check.replaceAll('`', '').toLowerCase() === `json_valid(${name.toLowerCase()})`)
  return {
    name,
    type: isEnumeration ? 'enum' : isJson ? 'json' : type.toLowerCase(),
    values: isEnumeration ? tokenize(type, true).flatMap(({ kind, text }) => (kind === 'text' ? [text] : [])) : null,
    isNullable: readTextColumn(row, 'nullable') === 'YES',
    isNumbered: /auto_increment/i.test(extra),
    isComputed: toText(row.generated) !== null,
    default: isMariaDb ? parseExpression(row.initial) : parseDefault(row.initial, extra),
    comment: toText(row.comment),
  }
}

/** Parses a default of MariaDB, which is an SQL expression: `'a'`, `5`, `NULL`. */
function parseExpression(initial: unknown): Default | null {
  if (initial === null || initial === undefined) return null
  const expression = String(initial)
  if (expression === 'NULL') return null
  const [first, ...others] = tokenize(expression, true)
  if (first?.kind === 'text' && others.length === 0) return { value: first.text }
  return /^-?\d+(?:\.\d+)?$/.test(expression) ? { value: expression } : { expression }
}

/** Parses a default of MySQL, which is a plain value. `EXTRA` tells whether it is an expression. */
function parseDefault(initial: unknown, extra: string): Default | null {
  if (initial === null || initial === undefined) return null
  const isExpression = /default_generated/i.test(extra) || /^current_timestamp/i.test(String(initial))
  return isExpression ? { expression: String(initial) } : { value: String(initial) }
}
