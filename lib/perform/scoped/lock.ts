// Locks records before writes with scope conditions. Scope conditions may read other tables, which MySQL forbids in an
// UPDATE or DELETE. A SELECT locks the records first, and the write uses the records' keys.

import type { BulkDeletePlan, DeletePlan, UpdatePlan } from '../../../types/plan.js'
import { keyColumns } from '../../common/keys.js'
import { addCondition, hasSubquery, removeSubqueries } from '../../common/predicates.js'
import { chooseReadExecutor } from '../executor.js'
import { loadLocked } from '../instances/load.js'
import { readLocked } from '../read.js'
import { buildIdentityPredicate } from '../recordIdentity.js'
import { findExisting, racedWriteError } from '../refusal.js'
import type { StatementContext } from '../store.js'
import { inTransaction } from '../transaction.js'
import { maxRowsOf } from '../uuidSpellings.js'

type SingleWritePlan = UpdatePlan | DeletePlan

/**
 * Locks a record under the plan's whole condition and writes it.
 * @throws Problem 404 if no record meets the condition
 */
export async function withLockedRecord<P extends SingleWritePlan, T>(
  store: StatementContext,
  plan: P,
  write: (store: StatementContext, plan: P) => Promise<T>,
): Promise<T> {
  if (!hasSubquery(plan.where)) return write(store, plan)
  return inTransaction(store, async (transaction) => {
    const inside = { ...store, transaction }
    await lockRecord(inside, plan)
    return write(inside, { ...plan, where: removeSubqueries(plan.where) })
  })
}

async function lockRecord(store: StatementContext, { kind, where }: SingleWritePlan): Promise<void> {
  const columns = keyColumns(store.resource.keys)
  if (chooseReadExecutor(store, columns) === 'instances') {
    await loadLocked(store, where, kind === 'restore')
    return
  }
  if ((await findExisting(store, { kind, where })) === null) {
    throw await racedWriteError(store, { kind, where, precondition: null })
  }
}

/** Locks the records that meet the plan's whole condition, and writes them. Other records are treated as missing. */
export async function withLockedRecords<T>(
  store: StatementContext,
  plan: BulkDeletePlan,
  write: (store: StatementContext, plan: BulkDeletePlan) => Promise<T>,
): Promise<T> {
  if (!hasSubquery(plan.where)) return write(store, plan)
  return inTransaction(store, async (transaction) => {
    const inside = { ...store, transaction }
    const { keys } = store.resource
    const rows = await readLocked(inside, plan.where, keyColumns(keys), maxRowsOf(keys, plan.keys.length))
    const found = rows.length === 0 ? ({ kind: 'never' } as const) : buildIdentityPredicate(keys, rows)
    return write(inside, { ...plan, where: addCondition(removeSubqueries(plan.where), found) })
  })
}
