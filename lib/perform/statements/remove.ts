import type { Transaction } from 'sequelize'
import type { Outcome } from '../../../types/outcome.js'
import type { BulkDeletePlan, DeletePlan, Predicate } from '../../../types/plan.js'
import { keyColumns } from '../../common/keys.js'
import { get, some } from '../read.js'
import { conditionOf, isThere, racedRefusalOf, refusalOf } from '../refusal.js'
import { type Store, within } from '../store.js'
import { stampsOf } from '../stored.js'
import { notWritten, tableOf, tableOfOne } from '../table.js'
import { alone, inTransaction, racing } from '../transaction.js'
import { isEmpty, NOTHING, reported } from '../written.js'
import { deleteRows, updateRows } from './rows.js'

export function remove(store: Store, plan: DeletePlan): Promise<Outcome> {
  return racing(store, () => removeOnce(store, plan))
}

async function removeOnce(store: Store, plan: DeletePlan): Promise<Outcome> {
  const { precondition, report } = plan
  const where = conditionOf(plan)
  if (precondition?.where === null) throw await refusalOf(store, plan)
  if ((await tableOfOne(store)).writesLess) return removeChecked(store, plan, where)
  if (report === null) {
    const count = await alone(store, (transaction) => removeRows(store, where, plan, transaction))
    if (count === 0) throw await racedRefusalOf(store, plan)
    return { kind: 'deleted', count, rows: [] }
  }
  return inTransaction(store, async (transaction) => {
    const row = await get(store, { where, projection: report }, { transaction, lock: true })
    const count = await removeRows(store, where, plan, transaction)
    if (count === 0) throw await racedRefusalOf(store, plan, transaction)
    return { kind: 'deleted', count, rows: row === null ? [] : [row] }
  })
}

/** A deletion from a table that may skip it. The record may be gone all the same: moved, or marked and hidden by the default scope. */
function removeChecked(store: Store, plan: DeletePlan, where: Predicate): Promise<Outcome> {
  const { report } = plan
  return inTransaction(store, async (transaction) => {
    if (!(await isThere(store, plan, where, transaction))) throw await refusalOf(store, plan, transaction)
    const row = report === null ? null : await get(store, { where, projection: report }, { transaction })
    await removeRows(store, where, plan, transaction)
    if (await isThere(store, plan, plan.where, transaction)) throw await refusalOf(store, plan, transaction)
    return { kind: 'deleted', count: 1, rows: row === null ? [] : [row] }
  })
}

export async function bulkDelete(store: Store, plan: BulkDeletePlan): Promise<Outcome> {
  const { where, report } = plan
  if (isEmpty(where)) return NOTHING
  if ((await tableOf(store)).writesLess) return bulkDeleteChecked(store, plan)
  if (report !== null) {
    return inTransaction(store, (transaction) =>
      reported(store, plan, report, transaction, (found) => removeRows(store, found.where, found, transaction)),
    )
  }
  const count = await alone(store, (transaction) => removeRows(store, where, plan, transaction))
  return { kind: 'deleted', count, rows: [] }
}

/** The same of several. */
function bulkDeleteChecked(store: Store, plan: BulkDeletePlan): Promise<Outcome> {
  const { where, report, keys } = plan
  const remove = async (given: BulkDeletePlan, transaction: Transaction): Promise<number> => {
    const joined = within(store, transaction)
    const columns = keyColumns(store.resource.keys)
    const { length } = await some(joined, given.where, columns, keys.length)
    await removeRows(store, given.where, given, transaction)
    if ((await some(joined, given.where, columns, 1)).length > 0) throw notWritten()
    return length
  }
  return inTransaction(store, async (transaction) => {
    if (report === null) return { kind: 'deleted', count: await remove({ ...plan, where }, transaction), rows: [] }
    return reported(store, plan, report, transaction, (found) => remove(found, transaction))
  })
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
