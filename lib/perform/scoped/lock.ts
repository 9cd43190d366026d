// Conditions of scopes read other tables, which no UPDATE or DELETE of MySQL may do with its own. So records are locked under the
// condition first, by a SELECT, and the statement that writes goes by their keys.

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
 * Writes a record that was locked under the whole condition of the plan.
 *
 * @throws Problem 404 where there is none
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

/** Writes the records that were locked under the whole condition of the plan. Others are missing. */
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
