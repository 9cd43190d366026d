import type { Model, SaveOptions, Transaction } from 'sequelize'
import type { Outcome } from '../../types/outcome.js'
import type { DeletePlan, Predicate, Upkeep } from '../../types/plan.js'
import { silently } from '../sequelize/instances.js'
import { hasCascades, hasComplexScope, hasHooks, runHooks } from '../sequelize/model.js'
import { rowOf } from './instances.js'
import { get } from './read.js'
import { deleteRows, updateRows } from './rows.js'
import type { Store } from './store.js'
import { stampsOf } from './stored.js'
import { alone, inTransaction } from './transaction.js'
import { claimed, conditionOf, isHooked, refusalOf, setValues, stamps } from './write.js'

const DELETE_HOOKS = ['beforeDestroy', 'afterDestroy']
const MARK_HOOKS = ['beforeSave', 'beforeUpdate', 'afterUpdate', 'afterSave']

/**
 * Whether a delete must go through an instance. One that sets a mark is an update of the row too, but on a paranoid
 * model, as in Sequelize.
 */
export function removesInstances({ resource, model }: Store, mark: Upkeep | null): boolean {
  if (hasComplexScope(model) || hasHooks(model, DELETE_HOOKS)) return true
  if (mark === null) return hasCascades(model)
  return resource.validation === 'saved' || (!model.options.paranoid && hasHooks(model, MARK_HOOKS))
}

/** Deletes the record, or marks it where a behaviour gave the plan a mark. */
export async function remove(store: Store, plan: DeletePlan): Promise<Outcome> {
  const { mark, precondition, report } = plan
  if (isHooked(plan) || removesInstances(store, mark)) {
    return inTransaction(store, async (transaction) => {
      const instance = await claimed(store, plan, mark ?? { values: new Map(), increments: [] }, transaction)
      const rows = report === null ? [] : [rowOf(store.dialect, instance, report.columns)]
      await removeInstance(store, instance, plan, transaction)
      return { kind: 'deleted', count: 1, rows }
    })
  }
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

type Removal = Pick<DeletePlan, 'mark' | 'before' | 'after' | 'instant'>

/** Deletes or marks rows in one statement, and counts them. */
export function removeRows(
  store: Store,
  where: Predicate,
  { mark, instant }: Removal,
  transaction: Transaction,
): Promise<number> {
  if (mark === null) return deleteRows(store, where, transaction)
  const values = new Map([...stampsOf(store, 'update', instant), ...mark.values])
  return updateRows(store, { where, values, increments: mark.increments, deleted: false }, transaction)
}

/** The same through an instance; what `claimed` raised is raised already. */
export async function removeInstance(
  store: Store,
  instance: Model,
  { mark, before, after }: Removal,
  transaction: Transaction,
): Promise<void> {
  await before?.(instance, transaction)
  if (mark === null) await instance.destroy({ transaction })
  else await markInstance(store, instance, mark, transaction)
  await after?.(instance, transaction)
}

/** The client has sent no values, so that nothing is validated: a record may be deleted as it is. */
async function markInstance(store: Store, instance: Model, mark: Upkeep, transaction: Transaction): Promise<void> {
  const { model } = store
  const options: SaveOptions = { transaction, validate: false, ...silently(stamps(store, mark.values)) }
  setValues(instance, mark.values)
  if (model.options.paranoid) {
    await instance.destroy(options)
    return
  }
  await runHooks(model, 'beforeDestroy', instance, options)
  await instance.save(options)
  await runHooks(model, 'afterDestroy', instance, options)
}
