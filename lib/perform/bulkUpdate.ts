import type { Failure } from '../../types/failures.js'
import type { Outcome } from '../../types/outcome.js'
import type { BulkUpdatePlan, UpdatePlan } from '../../types/plan.js'
import { errorsAt, refuse } from '../common/bodyErrors.js'
import { keyColumns, keyName, planKeyName } from '../common/keys.js'
import { withoutApart } from '../common/predicates.js'
import { Problem } from '../common/problem.js'
import { failureOf } from '../sequelize/failure.js'
import { locked, some } from './read.js'
import {
  type Children,
  type Item,
  preconditionOf,
  type Stored,
  type Write,
  type WriteTogether,
  writeAll,
} from './several.js'
import { isSpelledKey, mostRows, ofRecord, rowsOf } from './spelled.js'
import { type Store, within } from './store.js'
import { notWritten, tableOf } from './table.js'
import { inTransaction, isJoined, markRaced } from './transaction.js'

/** Updates all records, or none if one is missing. @throws Problem 404 with the positions of the missing records */
export async function bulkUpdate(
  store: Store,
  plan: BulkUpdatePlan,
  write: Write,
  children: Children | null = null,
): Promise<Outcome> {
  return carryOut(store, plan, (joined, found) => writeAll(joined, found, write, children))
}

/**
 * Like `bulkUpdate`, but writes as many records as possible with one statement. A database error does not name the row,
 * so the transaction is rolled back and repeated one record at a time. Inside a transaction of the host nothing can be
 * rolled back, so records are written one by one.
 */
export async function bulkUpdateAtOnce(
  store: Store,
  plan: BulkUpdatePlan,
  write: Write,
  together: WriteTogether,
): Promise<Outcome> {
  if (isJoined(store)) return bulkUpdate(store, plan, write)
  let isRefused = false
  const tried: WriteTogether = async (joined, items) => {
    try {
      return await together(joined, items)
    } catch (error) {
      isRefused = !(error instanceof Problem) && !isPassing(error, store)
      throw error
    }
  }
  try {
    return await carryOut(store, plan, (joined, found) => writeAll(joined, found, write, null, tried))
  } catch (error) {
    if (!isRefused) throw error
    return bulkUpdate(store, plan, write)
  }
}

const PASSING: ReadonlySet<Failure | null> = new Set<Failure>(['deadlock', 'unavailable', 'timeout', 'left'])

/** Whether the error is temporary and not caused by the values. */
function isPassing(error: unknown, { dialect }: Store): boolean {
  return PASSING.has(failureOf(error, dialect))
}

async function carryOut(
  store: Store,
  plan: BulkUpdatePlan,
  write: (joined: Store, found: Found) => Promise<Outcome>,
): Promise<Outcome> {
  if (plan.items.length === 0) return { kind: 'parts', parts: [] }
  await tableOf(store)
  return inTransaction(store, async (transaction) => {
    const joined = within(store, transaction)
    const found = await foundFor(joined, plan)
    const missing = found.items.flatMap((item, index) => (found.stored.has(item) ? [] : [`[${index}]`]))
    if (missing.length > 0) await refuseUnlocked(joined, plan, found)
    refuse('not-found', errorsAt(store.resource, missing, 'not-found'))
    return write(joined, found)
  })
}

/** @throws Problem 409 if records exist but PostgreSQL's row level security prevents locking them */
async function refuseUnlocked(store: Store, { all }: BulkUpdatePlan, { items, stored }: Found): Promise<void> {
  const { keys } = store.resource
  const rows = await some(store, all.where, keyColumns(keys), mostRows(keys, items.length))
  const there = new Set(rows.map((row) => keyName(keys, row)))
  const isLeft = (item: UpdatePlan): boolean => !stored.has(item) && there.has(planKeyName(keys, item.key))
  // Or the record was created just now. The next attempt finds it.
  if (items.some((item) => item.where.kind !== 'never' && isLeft(item))) throw markRaced(notWritten())
}

interface Found {
  /** Items of the plan. An item with a stored record is narrowed to that record. */
  readonly items: readonly UpdatePlan[]
  readonly stored: Stored
}

/** Locks the records of the items. */
async function foundFor(store: Store, { items, all }: BulkUpdatePlan): Promise<Found> {
  const { key, keys } = store.resource
  const version = items.map(preconditionOf).find((precondition) => precondition !== null)?.field ?? key
  const columns = keyColumns([...keys, version])
  const rowOf = rowsOf(keys, await locked(store, all.where, columns, mostRows(keys, items.length)))
  const stored = new Map<Item, unknown>()
  const found = items.map((item) => {
    const row = item.where.kind === 'never' ? undefined : rowOf(item.key)
    if (row === undefined) return item
    const met = { ...item, where: withoutApart(item.where) }
    const one = isSpelledKey(store) ? ofRecord(keys, met, row) : met
    stored.set(one, row[keys.length])
    return one
  })
  return { items: found, stored }
}
