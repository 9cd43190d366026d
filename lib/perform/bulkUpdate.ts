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

/** All updates or none; none, unless the records of all are there. @throws Problem 404 with the places of the others */
export async function bulkUpdate(
  store: Store,
  plan: BulkUpdatePlan,
  write: Write,
  children: Children | null = null,
): Promise<Outcome> {
  return carryOut(store, plan, (joined, found) => writeAll(joined, found, write, children))
}

/**
 * The same, with all that can be written at once by one statement. What the database has against one of its rows does not say
 * which; then all is undone and done again, one by one. In a transaction of somebody else's nothing can be undone.
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

/** Whether something failed for reasons that are none of its own. */
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

/** @throws Problem 409 for records that are there and that a row policy of PostgreSQL keeps from being locked */
async function refuseUnlocked(store: Store, { all }: BulkUpdatePlan, { items, stored }: Found): Promise<void> {
  const { keys } = store.resource
  const rows = await some(store, all.where, keyColumns(keys), mostRows(keys, items.length))
  const there = new Set(rows.map((row) => keyName(keys, row)))
  const isLeft = (item: UpdatePlan): boolean => !stored.has(item) && there.has(planKeyName(keys, item.key))
  // Or somebody has just made it: then the next try finds it.
  if (items.some((item) => item.where.kind !== 'never' && isLeft(item))) throw markRaced(notWritten())
}

interface Found {
  /** The plan's, each for one record where that is there. */
  readonly items: readonly UpdatePlan[]
  readonly stored: Stored
}

/** The records of the items that are there, locked. */
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
