import type { Model, SaveOptions, Transaction } from 'sequelize'
import type { Outcome } from '../../../types/outcome.js'
import type { DeletePlan, UpdatePlan, Upkeep } from '../../../types/plan.js'
import type { TableTraits } from '../../../types/table.js'
import { silently } from '../../sequelize/instances.js'
import { statementLogging } from '../../sequelize/logging.js'
import { timestampsOf } from '../../sequelize/model.js'
import { conditionOf, existing, isRestore, refusalOf } from '../refusal.js'
import { updateRows } from '../statements/rows.js'
import type { Store } from '../store.js'
import { tableOfOne } from '../table.js'
import { inTransaction } from '../transaction.js'
import { checkLengths } from '../validation.js'
import { written } from '../written.js'
import { stamps } from './create.js'
import { loaded, set } from './load.js'
import { checked } from './save.js'

/** Updates or restores a record. */
export async function update(store: Store, plan: UpdatePlan, edit?: Edit): Promise<Outcome> {
  const table = await tableOfOne(store)
  return inTransaction(store, (transaction) => save(store, table, plan, transaction, edit))
}

/** Changes a loaded and locked record before its values are set. */
type Edit = (instance: Model) => Promise<void>

async function save(
  store: Store,
  table: TableTraits,
  plan: UpdatePlan,
  transaction: Transaction,
  edit?: Edit,
): Promise<Outcome> {
  const { changes, upkeep } = plan
  const instance = await claimed(store, plan, upkeep, transaction)
  await edit?.(instance)
  set(store, instance, changes, upkeep)
  await checkLengths(store, instance, plan)
  await plan.before?.(instance, transaction)
  // A hook of the model may still change the instance, so columns of other tables are read back.
  const mayBeOld = !instance.changed() || plan.projection.columns.every(({ hops }) => hops.length === 0)
  const { updatedAt } = timestampsOf(store.model)
  // A PATCH updates the timestamp even if no value changes.
  if (updatedAt !== undefined) instance.changed(updatedAt as never, true)
  // Writes nulls even if the host sets `omitNull` for its own updates.
  const options: SaveOptions = {
    transaction,
    omitNull: false,
    ...silently(stamps(store, upkeep.values)),
    ...statementLogging(store.sequelize),
  }
  const isRestored = isRestore(plan) && store.model.options.paranoid
  await checked<unknown>(table, instance, () => (isRestored ? instance.restore(options) : instance.save(options)))
  await plan.after?.(instance, transaction)
  return written(store, plan, transaction, mayBeOld)
}

/**
 * Loads the record and checks the precondition. With a version, incrementing it makes one of two concurrent writers
 * fail. Without one, the record's lock does.
 */
export async function claimed(
  store: Store,
  plan: UpdatePlan | DeletePlan,
  { increments }: Pick<Upkeep, 'increments'>,
  transaction: Transaction,
): Promise<Model> {
  const where = conditionOf(plan)
  const deleted = isRestore(plan)
  if (increments.length > 0) {
    const count = await updateRows(store, { where, values: new Map(), increments, deleted }, transaction)
    if (count === 0) throw await refusalOf(store, plan, transaction)
    return loaded(store, plan.where, deleted, transaction)
  }
  const instance = await loaded(store, plan.where, deleted, transaction)
  if (plan.precondition !== null && (await existing(store, { kind: plan.kind, where }, transaction)) === null) {
    throw plan.precondition.refusal()
  }
  return instance
}
