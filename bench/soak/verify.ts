import { QueryTypes, type Sequelize } from 'sequelize'
import { JOIN_MODEL, open, type Target } from './models.js'
import type { Partition } from './partition.js'

const TABLES = { accounts: 'Accounts', items: 'Items', tasks: 'Tasks', tags: 'Tags' } as const

/**
 * Compares the tables with the oracle. Reads the database directly, without the application. Returns the differences as
 * texts.
 */
export async function differences(target: Target, partitions: readonly Partition[]): Promise<readonly string[]> {
  const sequelize = open(target)
  const found: string[] = []
  try {
    const links = await rowsOf(sequelize, JOIN_MODEL)
    for (const resource of ['accounts', 'items', 'tasks', 'tags'] as const) {
      const rows = await rowsOf(sequelize, TABLES[resource])
      const linked = (row: Row): Row => (resource === 'accounts' ? { ...row, tags: tagsOf(row, links) } : row)
      const stored = new Map(rows.map((row) => [String(row.code), text(linked(row))]))
      for (const { state } of partitions) {
        for (const [code, record] of state[resource]) {
          const expected = text({ ...record })
          const actual = stored.get(code)
          stored.delete(code)
          if (actual !== expected)
            found.push(`${resource} ${code}: expected ${expected}, stored ${actual ?? 'nothing'}`)
        }
      }
      for (const [code, actual] of stored) found.push(`${resource} ${code}: expected nothing, stored ${actual}`)
    }
  } finally {
    await sequelize.close()
  }
  return found
}

type Row = Readonly<Record<string, unknown>>

function rowsOf(sequelize: Sequelize, table: string): Promise<Row[]> {
  const quoted = sequelize.getQueryInterface().quoteIdentifier(table)
  return sequelize.query<Record<string, unknown>>(`SELECT * FROM ${quoted}`, { type: QueryTypes.SELECT })
}

function tagsOf({ id }: Row, links: readonly Row[]): readonly number[] {
  return links
    .filter(({ accountId }) => accountId === id)
    .map(({ tagId }) => Number(tagId))
    .sort((left, right) => left - right)
}

/** Writes a row or a record as comparable text. Names are those of the oracle, and types of drivers do not matter. */
function text(row: Row): string {
  const { isDeleted, deletedAt: _, createdAt: __, updatedAt: ___, ...rest } = row
  const all: Row = {
    ...rest,
    ...(rest.rowVersion === undefined ? {} : { rowVersion: Number(rest.rowVersion) }),
    ...(rest.budget === undefined ? {} : { budget: Number(rest.budget) }),
    ...(isDeleted === undefined ? {} : { deleted: Boolean(isDeleted) }),
    ...(rest.done === undefined ? {} : { done: Boolean(rest.done) }),
    ...(typeof rest.meta === 'string' ? { meta: JSON.parse(rest.meta) } : {}),
  }
  return JSON.stringify(ordered(all))
}

/** Copies a value. The members of every object are sorted by name. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(members.map(([name, each]) => [name, ordered(each)]))
}
