// Scope conditions may read other tables, which MySQL forbids in an UPDATE or DELETE of the same table. A SELECT
// therefore locks the records first, and the write uses their keys.

import type { BulkDeletePlan, DeletePlan, UpdatePlan } from '../../../types/plan.js'
import { keyColumns } from '../../common/keys.js'
import { both, hasApart, withoutApart } from '../../common/predicates.js'
import { readsBy } from '../executor.js'
import { identified } from '../identified.js'
import { loaded } from '../instances/load.js'
import { locked } from '../read.js'
import { existing, isRestore, racedRefusalOf } from '../refusal.js'
import { mostRows } from '../spelled.js'
import { type Store, within } from '../store.js'
import { inTransaction } from '../transaction.js'

type Single = UpdatePlan | DeletePlan

/**
 * Locks a record under the plan's whole condition, then writes it.
 * @throws Problem 404 if it is missing
 */
export async function withLocked<P extends Single, T>(
  store: Store,
  plan: P,
  write: (store: Store, plan: P) => Promise<T>,
): Promise<T> {
  if (!hasApart(plan.where)) return write(store, plan)
  return inTransaction(store, async (transaction) => {
    const inside = within(store, transaction)
    await lock(inside, plan)
    return write(inside, { ...plan, where: withoutApart(plan.where) })
  })
}

async function lock(store: Store, { kind, where }: Single): Promise<void> {
  const columns = keyColumns(store.resource.keys)
  if (readsBy(store, columns) === 'instances') {
    await loaded(store, where, isRestore({ kind }))
    return
  }
  if ((await existing(store, { kind, where })) === null) {
    throw await racedRefusalOf(store, { kind, where, precondition: null })
  }
}

/** Locks records under the plan's whole condition, then writes them. Other records count as missing. */
export async function withAllLocked<T>(
  store: Store,
  plan: BulkDeletePlan,
  write: (store: Store, plan: BulkDeletePlan) => Promise<T>,
): Promise<T> {
  if (!hasApart(plan.where)) return write(store, plan)
  return inTransaction(store, async (transaction) => {
    const inside = within(store, transaction)
    const { keys } = store.resource
    const rows = await locked(inside, plan.where, keyColumns(keys), mostRows(keys, plan.keys.length))
    const found = rows.length === 0 ? ({ kind: 'never' } as const) : identified(keys, rows)
    return write(inside, { ...plan, where: both(withoutApart(plan.where), found) })
  })
}
