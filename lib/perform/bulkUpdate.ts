import type { Failure } from '../../types/failures.js'
import type { Outcome } from '../../types/outcome.js'
import type { BulkUpdatePlan, UpdatePlan } from '../../types/plan.js'
import { keyColumns, keyName, planKeyName } from '../common/keys.js'
import { Problem } from '../common/problem.js'
import { failureOf } from '../sequelize/failure.js'
import { refuseItems } from './place.js'
import { locked, some } from './read.js'
import {
  type Item,
  placesOf,
  preconditionOf,
  type Retinue,
  type Stored,
  type Write,
  type WriteTogether,
  writeAll,
} from './several.js'
import { type Store, within } from './store.js'
import { notWritten, tableOf } from './table.js'
import { inTransaction, isJoined, markRaced } from './transaction.js'

/** All updates or none; none, unless the records of all are there. @throws Problem 404 with the places of the others */
export async function bulkUpdate(
  store: Store,
  plan: BulkUpdatePlan,
  write: Write,
  retinue: Retinue | null = null,
): Promise<Outcome> {
  return carryOut(store, plan, (joined, stored) => writeAll(joined, { items: plan.items, stored }, write, retinue))
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
    return await carryOut(store, plan, (joined, stored) =>
      writeAll(joined, { items: plan.items, stored }, write, null, tried),
    )
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
  write: (joined: Store, stored: Stored) => Promise<Outcome>,
): Promise<Outcome> {
  if (plan.items.length === 0) return { kind: 'parts', parts: [] }
  await tableOf(store)
  return inTransaction(store, async (transaction) => {
    const joined = within(store, transaction)
    const stored = await storedFor(joined, plan)
    const missing = placesOf(plan.items, (item) => !stored.has(item))
    if (missing.length > 0) await refuseUnlocked(joined, plan, stored)
    refuseItems(joined, missing, { problem: 'not-found', message: 'not-found' })
    return write(joined, stored)
  })
}

/** @throws Problem 409 for records that are there and that a row policy of PostgreSQL keeps from being locked */
async function refuseUnlocked(store: Store, { items, all }: BulkUpdatePlan, stored: Stored): Promise<void> {
  const { keys } = store.resource
  const rows = await some(store, all.where, keyColumns(keys), items.length)
  const there = new Set(rows.map((row) => keyName(keys, row)))
  const isLeft = (item: UpdatePlan): boolean => !stored.has(item) && there.has(planKeyName(keys, item.key))
  // Or somebody has just made it: then the next try finds it.
  if (items.some((item) => item.where.kind !== 'never' && isLeft(item))) throw markRaced(notWritten())
}

/** What is stored of the records that are there. */
async function storedFor(store: Store, { items, all }: BulkUpdatePlan): Promise<Stored> {
  const { key, keys } = store.resource
  const nameOf = (item: UpdatePlan): string => planKeyName(keys, item.key)
  const version = items.map(preconditionOf).find((precondition) => precondition !== null)?.field ?? key
  const rows = await locked(store, all.where, keyColumns([version, ...keys]), items.length)
  const versions = new Map(rows.map(([first, ...key]) => [keyName(keys, key), first]))
  const isThere = (item: UpdatePlan): boolean => item.where.kind !== 'never' && versions.has(nameOf(item))
  return new Map<Item, unknown>(items.filter(isThere).map((item) => [item, versions.get(nameOf(item))]))
}
