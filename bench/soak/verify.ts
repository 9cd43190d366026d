import { QueryTypes } from 'sequelize'
import { open, type Target } from './models.js'
import type { Partition } from './partition.js'

const TABLES = { accounts: 'Accounts', items: 'Items', tasks: 'Tasks' } as const

/**
 * What the tables hold and the oracle does not, and the other way round. Past the application: no word of its own is
 * taken for what is stored.
 */
export async function differences(target: Target, partitions: readonly Partition[]): Promise<readonly string[]> {
  const sequelize = open(target)
  const found: string[] = []
  try {
    for (const resource of ['accounts', 'items', 'tasks'] as const) {
      const quoted = sequelize.getQueryInterface().quoteIdentifier(TABLES[resource])
      const rows = await sequelize.query<Record<string, unknown>>(`SELECT * FROM ${quoted}`, {
        type: QueryTypes.SELECT,
      })
      const stored = new Map(rows.map((row) => [String(row.code), text(row)]))
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

/** A row and a record as the same text: by the oracle's names, numbers and booleans, whatever the driver makes of them. */
function text(row: Readonly<Record<string, unknown>>): string {
  const { rowVersion, isDeleted, deletedAt: _, ...rest } = row
  const all: Record<string, unknown> = {
    ...rest,
    ...(rowVersion === undefined ? {} : { rowVersion: Number(rowVersion) }),
    ...(isDeleted === undefined ? {} : { deleted: Boolean(isDeleted) }),
    ...(rest.done === undefined ? {} : { done: Boolean(rest.done) }),
  }
  return JSON.stringify(Object.fromEntries(Object.entries(all).sort(([left], [right]) => (left < right ? -1 : 1))))
}
