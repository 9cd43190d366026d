import type { Model, SaveOptions, Transaction } from 'sequelize'
import type { Outcome, Row } from '../../types/outcome.js'
import type { CreatePlan, DeletePlan, Predicate, Projection, UpdatePlan } from '../../types/plan.js'
import type { Changes } from '../../types/resource.js'
import { problem } from '../problem.js'
import { rowOf, whereTree } from './instances.js'
import { get } from './read.js'
import { deleteRows, insertReturning, isOwn, updateReturning, updateRows } from './rows.js'
import { evaluate, hasCascades, hasComplexScope, hasHooks, isExpression, timestampsOf } from './sequelize.js'
import type { Store } from './store.js'
import { insertableRow, stampsOf } from './stored.js'
import { alone, inTransaction, renewed } from './transaction.js'

const SAVE_HOOKS = ['beforeValidate', 'afterValidate', 'validationFailed', 'beforeSave', 'afterSave']
const CREATE_HOOKS = [...SAVE_HOOKS, 'beforeCreate', 'afterCreate']
const UPDATE_HOOKS = [...SAVE_HOOKS, 'beforeUpdate', 'afterUpdate']
const DELETE_HOOKS = ['beforeDestroy', 'afterDestroy']

/** Whether a write must go through `save` or `destroy`. Asked for each request: hosts add hooks after mounting. */
export function needsInstances({ resource, model }: Store, operation: 'create' | 'update' | 'delete'): boolean {
  // What such a scope hides, only a `findOne` under it can tell.
  if (operation !== 'create' && hasComplexScope(model)) return true
  if (operation === 'delete') return hasCascades(model) || hasHooks(model, DELETE_HOOKS)
  if (resource.validation === 'saved') return true
  if (operation === 'create') return hasHooks(model, CREATE_HOOKS)
  return resource.validation === 'instance' || hasHooks(model, UPDATE_HOOKS)
}

export async function create(store: Store, plan: CreatePlan): Promise<Outcome> {
  const { projection, instant } = plan
  const build = (): Model => store.model.build(Object.fromEntries(plan.changes))
  const instance = build()
  const isSaved = needsInstances(store, 'create')
  // Outside `save`, whose own validation would be part of its transaction.
  if (!isSaved && store.resource.validation !== 'rules') await validate(instance)
  const row = isSaved ? null : insertableRow(store, instance, instant)
  if (row !== null && store.dialect.returnsInserted && isOwn(projection)) {
    const inserted = await alone(store, (transaction) => insertReturning(store, row, projection, transaction))
    if (inserted === undefined) throw new TypeError('an INSERT returned no row')
    return { kind: 'record', row: inserted }
  }
  const fresh = renewed(instance, build)
  return inTransaction(store, async (transaction) => {
    const unsaved = fresh()
    await settleKey(store, unsaved, transaction)
    const saved = await unsaved.save({ transaction })
    return { kind: 'record', row: await reread(store, saved, projection, transaction) }
  })
}

/** A key that is an expression becomes its value, since nothing else would tell afterwards which record it made. */
export async function settleKey(store: Store, instance: Model, transaction: Transaction): Promise<void> {
  const key = store.resource.key.name
  const value: unknown = instance.getDataValue(key as never)
  if (!isExpression(value)) return
  instance.setDataValue(key as never, (await evaluate(store.model, value, transaction)) as never)
}

/** The records with these keys. */
export function identify({ resource: { key } }: Store, keys: readonly unknown[]): Predicate {
  const values = keys.filter((value) => typeof value === 'string' || typeof value === 'number')
  return {
    kind: 'compare',
    column: { hops: [], field: key, nullable: false },
    operator: values.length === 1 ? 'eq' : 'in',
    values,
    ignoreCase: false,
    negated: false,
  }
}

/** A saved instance as the database has it: defaults, triggers and rounding included. */
export async function reread(
  store: Store,
  instance: Model,
  projection: Projection,
  transaction: Transaction,
): Promise<Row> {
  const where = identify(store, [instance.get(store.resource.key.name)])
  const row = await get(store, { where, projection }, { transaction, unscoped: true })
  return row ?? rowOf(store.dialect, instance, projection.columns)
}

/** Writes the present fields. Whether the record exists is decided before what is wrong with the body. */
export async function update(store: Store, plan: UpdatePlan): Promise<Outcome> {
  const { where, changes, projection, invalid } = plan
  if (invalid !== null || !writesAnything(store, changes)) {
    const row = await get(store, { where, projection })
    if (row === null) throw problem('not-found')
    if (invalid !== null) throw problem('validation', { errors: invalid })
    return { kind: 'record', row }
  }
  if (needsInstances(store, 'update')) return inTransaction(store, (transaction) => save(store, plan, transaction))
  if (store.resource.validation === 'attributes') await validateChanges(store, changes)
  const stamped: Changes = new Map([...changes, ...stampsOf(store, 'update', plan.instant)])
  if (store.dialect.returnsUpdated && isOwn(projection)) {
    const row = await alone(store, (transaction) => updateReturning(store, where, stamped, projection, transaction))
    if (row === undefined) throw problem('not-found')
    return { kind: 'record', row }
  }
  return inTransaction(store, async (transaction) => {
    await locked(store, where, transaction)
    await updateRows(store, where, stamped, transaction)
    return written(store, plan, transaction)
  })
}

/** A virtual attribute by itself is for the host's setters, hooks and validators; where there are none, for nobody. */
function writesAnything(store: Store, changes: Changes): boolean {
  if (changes.size === 0) return false
  return (
    needsInstances(store, 'update') || store.resource.fields.some((field) => changes.has(field.name) && !field.virtual)
  )
}

/** Sequelize's own validators; its hooks have been found absent. */
export async function validate(instance: Model): Promise<void> {
  await instance.validate({ hooks: false } as object)
}

/** The validators of the changed attributes, which look at nothing but their own value. */
async function validateChanges({ model }: Store, changes: Changes): Promise<void> {
  const skip = Object.keys(model.getAttributes()).filter((name) => !changes.has(name))
  const partial = model.build(Object.fromEntries(changes), { isNewRecord: false })
  await partial.validate({ hooks: false, skip } as object)
}

async function save(store: Store, plan: UpdatePlan, transaction: Transaction): Promise<Outcome> {
  const instance = await locked(store, plan.where, transaction)
  instance.set(Object.fromEntries(plan.changes))
  const { updatedAt } = timestampsOf(store.model)
  // A PATCH is a write even where every value stays what it was.
  if (updatedAt !== undefined) instance.changed(updatedAt as never, true)
  // Nulls clear, whatever the host wants of the nulls of its own updates.
  await instance.save({ transaction, omitNull: false } as SaveOptions)
  return written(store, plan, transaction)
}

async function written(store: Store, plan: UpdatePlan, transaction: Transaction): Promise<Outcome> {
  const { identity, projection } = plan
  const row = await get(store, { where: identity, projection }, { transaction, unscoped: true })
  if (row === null) throw problem('not-found')
  return { kind: 'record', row }
}

/** The record as an instance, locked until the transaction ends where the database has row locks. */
async function locked(store: Store, where: Predicate, transaction: Transaction): Promise<Model> {
  const lock = { level: transaction.LOCK.UPDATE, of: store.model }
  const instance = await store.model.findOne({ where: whereTree(store, where), transaction, lock })
  if (instance === null) throw problem('not-found')
  return instance
}

/** Deletes the record, or marks it where a behaviour gave the plan a mark. */
export async function remove(store: Store, { where, mark }: DeletePlan): Promise<Outcome> {
  if (needsInstances(store, 'delete')) {
    return inTransaction(store, async (transaction) => {
      const instance = await locked(store, where, transaction)
      await instance.destroy({ transaction })
      return { kind: 'deleted', count: 1 }
    })
  }
  const count = await alone(store, (transaction) =>
    mark === null ? deleteRows(store, where, transaction) : updateRows(store, where, mark, transaction),
  )
  if (count === 0) throw problem('not-found')
  return { kind: 'deleted', count }
}
