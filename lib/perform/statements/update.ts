import type { Outcome } from '../../../types/outcome.js'
import type { UpdatePlan } from '../../../types/plan.js'
import { failureOf } from '../../sequelize/failure.js'
import { isReturnable } from '../executor.js'
import { passesPlainly } from '../newRows.js'
import { conditionOf, existing, isIdle, isRestore, refusalOf, refused } from '../refusal.js'
import type { Store } from '../store.js'
import { stampsOf } from '../stored.js'
import { alone, inTransaction, isJoined, limited } from '../transaction.js'
import { NOTHING, passes } from '../validation.js'
import { written } from '../written.js'
import { type RowUpdate, updateReturning, updateRows } from './rows.js'

/** One UPDATE that returns the record, or one with a read behind it. */
export async function update(store: Store, plan: UpdatePlan): Promise<Outcome> {
  const { changes, upkeep, projection } = plan
  // A virtual attribute by itself is for the host's setters, hooks and validators, and here are none.
  const isStored = (): boolean => store.resource.fields.some((field) => changes.has(field.name) && !field.virtual)
  if (isIdle(plan, isStored)) return refused(store, plan)
  const isValid = passesPlainly(store, changes) || (await limited(store, () => passes(store, changes)))
  if (!isValid) return refused(store, { ...plan, invalid: NOTHING })
  const stamped = new Map([...changes, ...stampsOf(store, 'update', plan.instant), ...upkeep.values])
  const write = { where: conditionOf(plan), values: stamped, increments: upkeep.increments, deleted: isRestore(plan) }
  const isKnown = isReturnable(store, projection)
  if (store.dialect.returnsUpdated && isKnown) {
    const row = await alone(store, (transaction) => updateReturning(store, write, projection, transaction))
    if (row === undefined) throw await refusalOf(store, plan)
    return { kind: 'record', row }
  }
  // A hook around reads may refuse to show the record, and then nothing is written.
  if (isKnown && !isJoined(store) && !isRestore(plan)) return updateAndRead(store, plan, write)
  return inTransaction(store, async (transaction) => {
    const count = await updateRows(store, write, transaction)
    // MySQL counts the rows that changed, and perhaps none had to: where a version rises, one has.
    const isMissing =
      count === 0 &&
      (upkeep.increments.length > 0 ||
        (await existing(store, { kind: plan.kind, where: write.where }, transaction)) === null)
    if (isMissing) throw await refusalOf(store, plan, transaction)
    return written(store, plan, transaction)
  })
}

/**
 * An UPDATE that commits by itself, and a read of what the database has made of it: two round trips, where a transaction around
 * them takes four. What is read may be newer than what was written, never older, and is still within the caller's reach: whoever
 * took the record out of it meanwhile has the last word.
 */
async function updateAndRead(store: Store, plan: UpdatePlan, write: RowUpdate): Promise<Outcome> {
  const count = await alone(store, (transaction) => updateRows(store, write, transaction))
  if (count === 0) {
    const isMissing =
      write.increments.length > 0 || (await existing(store, { kind: plan.kind, where: write.where })) === null
    if (isMissing) throw await refusalOf(store, plan)
  }
  // It is written, and no limit of time makes that undone.
  const readBack = (): Promise<Outcome> => written({ ...store, limit: null }, { ...plan, identity: plan.where })
  try {
    return await readBack()
  } catch (error) {
    // Nor is a connection that was lost meanwhile a reason to say anything else.
    if (failureOf(error, store.dialect) !== 'unavailable') throw error
    return readBack()
  }
}
