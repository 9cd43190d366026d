import type { Transaction } from 'sequelize'
import type { Outcome } from '../../../types/outcome.js'
import type { BulkDeletePlan, DeletePlan, Predicate } from '../../../types/plan.js'
import { get } from '../read.js'
import { conditionOf, refusalOf } from '../refusal.js'
import type { Store } from '../store.js'
import { stampsOf } from '../stored.js'
import { alone, inTransaction } from '../transaction.js'
import { isEmpty, NOTHING, reported } from '../written.js'
import { deleteRows, updateRows } from './rows.js'

export async function remove(store: Store, plan: DeletePlan): Promise<Outcome> {
  const { precondition, report } = plan
  const where = conditionOf(plan)
  if (precondition?.where === null) throw await refusalOf(store, plan)
  if (report === null) {
    const count = await alone(store, (transaction) => removeRows(store, where, plan, transaction))
    if (count === 0) throw await refusalOf(store, plan)
    return { kind: 'deleted', count, rows: [] }
  }
  return inTransaction(store, async (transaction) => {
    const row = await get(store, { where, projection: report }, { transaction, lock: true })
    const count = await removeRows(store, where, plan, transaction)
    if (count === 0) throw await refusalOf(store, plan, transaction)
    return { kind: 'deleted', count, rows: row === null ? [] : [row] }
  })
}

export async function bulkDelete(store: Store, plan: BulkDeletePlan): Promise<Outcome> {
  const { where, report } = plan
  if (isEmpty(where)) return NOTHING
  if (report !== null) {
    return inTransaction(store, (transaction) =>
      reported(store, plan, report, transaction, (found) => removeRows(store, found.where, found, transaction)),
    )
  }
  const count = await alone(store, (transaction) => removeRows(store, where, plan, transaction))
  return { kind: 'deleted', count, rows: [] }
}

/** Deletes or marks rows in one statement, and counts them. */
function removeRows(
  store: Store,
  where: Predicate,
  { mark, instant }: Pick<DeletePlan, 'mark' | 'instant'>,
  transaction: Transaction,
): Promise<number> {
  if (mark === null) return deleteRows(store, where, transaction)
  const values = new Map([...stampsOf(store, 'update', instant), ...mark.values])
  return updateRows(store, { where, values, increments: mark.increments, deleted: false }, transaction)
}
