import { createHash } from 'node:crypto'
import type { Resource } from '../../types/resource.js'
import { runReadQuery } from '../sequelize/run.js'
import { quoteTable } from '../sequelize/sql.js'
import { WriteTransaction } from '../sequelize/writeTransaction.js'
import { withStatementTimeout } from './statementTimeout.js'
import type { StatementContext } from './store.js'

/** The values of a new record, by attribute. */
type NewRecord = ReadonlyMap<string, unknown>

/**
 * Number of locks of a table. Unique values share locks, because a server has memory for some thousand locks of all
 * transactions.
 */
const LOCKS_PER_TABLE = 128

/**
 * Locks the unique values of new records, before the transaction locks any row. Requests that insert the same values
 * in different orders then wait for each other, instead of ending in a deadlock. Returns false if no lock is needed.
 */
export async function lockUniqueValues(store: StatementContext, records: readonly NewRecord[]): Promise<boolean> {
  const { dialect, sequelize, model, resource, transaction } = store
  // A transaction of the host may already have locked rows. Waiting for more locks could cause a deadlock.
  if (dialect.lockNumbers === null || records.length < 2 || !(transaction instanceof WriteTransaction)) return false
  const locks = new Set(records.flatMap((record) => locksOf(resource, record)))
  if (locks.size === 0) return false
  const sql = dialect.lockNumbers(
    hashOf(`sequelize-crud-router ${quoteTable(model)}`),
    [...locks].sort((one, other) => one - other),
  )
  await withStatementTimeout(store, transaction, () => runReadQuery(sequelize, { sql, transaction, writes: true }))
  return true
}

function locksOf({ uniques }: Resource, record: NewRecord): readonly number[] {
  return uniques
    .filter((fields) => fields.some(({ name }) => record.get(name) != null))
    .map((fields) => {
      const text = fields.map(({ name }) => `${name}=${String(record.get(name))}`).join()
      return (hashOf(text) >>> 0) % LOCKS_PER_TABLE
    })
}

function hashOf(text: string): number {
  return createHash('sha256').update(text).digest().readInt32BE()
}
