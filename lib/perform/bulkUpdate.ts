import type { Outcome } from '../../types/outcome.js'
import type { BulkUpdatePlan, UpdatePlan } from '../../types/plan.js'
import { keyColumns, keyName, planKeyName } from '../common/keys.js'
import { refuseItems } from './place.js'
import { locked } from './read.js'
import { type Item, placesOf, preconditionOf, type Retinue, type Stored, type Write, writeAll } from './several.js'
import { type Store, within } from './store.js'
import { inTransaction } from './transaction.js'

/** All updates or none; none, unless the records of all are there. @throws Problem 404 with the places of the others */
export async function bulkUpdate(
  store: Store,
  plan: BulkUpdatePlan,
  write: Write,
  retinue: Retinue | null = null,
): Promise<Outcome> {
  if (plan.items.length === 0) return { kind: 'parts', parts: [] }
  return inTransaction(store, async (transaction) => {
    const joined = within(store, transaction)
    const stored = await storedFor(joined, plan)
    const missing = placesOf(plan.items, (item) => !stored.has(item))
    refuseItems(joined, missing, { problem: 'not-found', message: 'not-found' })
    return writeAll(joined, { items: plan.items, stored }, write, retinue)
  })
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
