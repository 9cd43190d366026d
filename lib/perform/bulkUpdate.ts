import type { Outcome } from '../../types/outcome.js'
import type { BulkUpdatePlan, UpdatePlan } from '../../types/plan.js'
import { errorsAt, refuse } from '../common/bodyErrors.js'
import { keyColumns, keyText, planKeyText } from '../common/keys.js'
import { removeSubqueries } from '../common/predicates.js'
import { Problem } from '../common/problem.js'
import { isTransient } from '../sequelize/failure.js'
import {
  type ItemPlan,
  type ItemsChildren,
  type ItemsWriter,
  type ItemWriter,
  preconditionOf,
  type StoredVersions,
  writeItems,
} from './items.js'
import { readLocked, readVisible } from './read.js'
import type { StatementContext } from './store.js'
import { loadTableTraits, skippedWriteError } from './tableTraits.js'
import { inTransaction, isInTransaction, markRaced } from './transaction.js'
import { canHaveTwoSpellings, createRowLookup, maxRowsOf, narrowToRecord } from './uuidSpellings.js'

/** Updates all records, or none if one is missing. @throws Problem 404 with the positions of the missing records */
export async function performBulkUpdate(
  store: StatementContext,
  plan: BulkUpdatePlan,
  write: ItemWriter,
  children: ItemsChildren | null = null,
): Promise<Outcome> {
  return executeBulkUpdate(store, plan, (joined, found) => writeItems(joined, found, write, children))
}

/**
 * Like `performBulkUpdate`, but writes as many records as possible with one statement. A database error does not name
 * the failing row. The transaction is rolled back and repeated record by record. A transaction of the host cannot be
 * rolled back, so its records are written one by one from the start.
 */
export async function performBulkUpdateTogether(
  store: StatementContext,
  plan: BulkUpdatePlan,
  write: ItemWriter,
  together: ItemsWriter,
): Promise<Outcome> {
  if (isInTransaction(store)) return performBulkUpdate(store, plan, write)
  let isRefused = false
  const tryTogether: ItemsWriter = async (joined, items) => {
    try {
      return await together(joined, items)
    } catch (error) {
      isRefused = !(error instanceof Problem) && !isTransient(error, store.dialect)
      throw error
    }
  }
  try {
    return await executeBulkUpdate(store, plan, (joined, found) => writeItems(joined, found, write, null, tryTogether))
  } catch (error) {
    if (!isRefused) throw error
    return performBulkUpdate(store, plan, write)
  }
}

async function executeBulkUpdate(
  store: StatementContext,
  plan: BulkUpdatePlan,
  write: (joined: StatementContext, found: LockedItems) => Promise<Outcome>,
): Promise<Outcome> {
  if (plan.items.length === 0) return { kind: 'parts', parts: [] }
  await loadTableTraits(store)
  return inTransaction(store, async (transaction) => {
    const joined = { ...store, transaction }
    const found = await lockItems(joined, plan)
    const missing = found.items.flatMap((item, index) => (found.stored.has(item) ? [] : [`[${index}]`]))
    if (missing.length > 0) await assertAllLocked(joined, plan, found)
    refuse('not-found', errorsAt(store.resource, missing, 'not-found'))
    return write(joined, found)
  })
}

/**
 * Checks that all existing records were locked.
 * @throws Problem 409 if PostgreSQL's row level security shows a record but prevents its lock
 */
async function assertAllLocked(
  store: StatementContext,
  { combined }: BulkUpdatePlan,
  { items, stored }: LockedItems,
): Promise<void> {
  const { keys } = store.resource
  const rows = await readVisible(store, combined.where, keyColumns(keys), maxRowsOf(keys, items.length))
  const there = new Set(rows.map((row) => keyText(keys, row)))
  const isUnlocked = (item: UpdatePlan): boolean => !stored.has(item) && there.has(planKeyText(keys, item.key))
  // The record may also have been inserted after the locking read. A repeated transaction finds the record.
  if (items.some((item) => item.identity.kind !== 'never' && isUnlocked(item))) throw markRaced(skippedWriteError())
}

interface LockedItems {
  /** Items of the plan. If the record of an item exists, the item's condition is narrowed to the stored key. */
  readonly items: readonly UpdatePlan[]
  readonly stored: StoredVersions
}

async function lockItems(store: StatementContext, { items, combined }: BulkUpdatePlan): Promise<LockedItems> {
  const { key, keys } = store.resource
  const version = items.map(preconditionOf).find((precondition) => precondition !== null)?.field ?? key
  const columns = keyColumns([...keys, version])
  const rowOf = createRowLookup(keys, await readLocked(store, combined.where, columns, maxRowsOf(keys, items.length)))
  const stored = new Map<ItemPlan, unknown>()
  const found = items.map((item) => {
    const row = item.identity.kind === 'never' ? undefined : rowOf(item.key)
    if (row === undefined) return item
    const met = { ...item, where: removeSubqueries(item.where) }
    const one = canHaveTwoSpellings(store) ? narrowToRecord(keys, met, row) : met
    stored.set(one, row[keys.length])
    return one
  })
  return { items: found, stored }
}
