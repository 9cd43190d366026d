import type { FindOptions, Model, SaveOptions, Transaction } from 'sequelize'
import type { Changes } from '../../types/changes.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { CreatePlan, DeletePlan, Predicate, Projection, UpdatePlan, Upkeep } from '../../types/plan.js'
import { ofOwn, ownColumn } from '../common/columns.js'

import { problem } from '../common/problem.js'
import { acceptNulls, silently } from '../sequelize/instances.js'
import { hasComplexScope, hasHooks, timestampsOf } from '../sequelize/model.js'
import { evaluate } from '../sequelize/run.js'
import { isExpression } from '../sequelize/sql.js'
import { exactly, rowOf, whereTree } from './instances.js'
import { get } from './read.js'
import { insertReturning, isReturnable, updateReturning, updateRows } from './rows.js'
import type { Store } from './store.js'
import { insertableRow, stampsOf } from './stored.js'
import { alone, inTransaction, limited, renewed } from './transaction.js'
import { checkLengths, NOTHING, partialOf, passes, refusal, validate } from './validation.js'

const SAVE_HOOKS = ['beforeValidate', 'afterValidate', 'validationFailed', 'beforeSave', 'afterSave']
const CREATE_HOOKS = [...SAVE_HOOKS, 'beforeCreate', 'afterCreate']
const UPDATE_HOOKS = [...SAVE_HOOKS, 'beforeUpdate', 'afterUpdate']
const RESTORE_HOOKS = ['beforeRestore', 'afterRestore']

/** Whether a write must go through `save` or `destroy`. Asked for each request: hosts add hooks after mounting. */
export function needsInstances({ resource, model }: Store, operation: 'create' | 'update' | 'restore'): boolean {
  // What such a scope hides, only a `findOne` under it can tell.
  if (operation !== 'create' && hasComplexScope(model)) return true
  if (operation === 'restore' && hasHooks(model, RESTORE_HOOKS)) return true
  if (resource.validation === 'saved') return true
  if (operation === 'create') return hasHooks(model, CREATE_HOOKS)
  return resource.validation === 'instance' || hasHooks(model, UPDATE_HOOKS)
}

export async function create(store: Store, plan: CreatePlan): Promise<Outcome> {
  const { projection, instant } = plan
  const build = (): Model => buildInstance(store, plan.changes, plan.upkeep)
  if (plan.invalid !== null) throw await refusal(store, plan.invalid, build, plan)
  const instance = build()
  await checkLengths(store, instance, plan)
  const isSaved = isHooked(plan) || needsInstances(store, 'create')
  // Outside `save`, whose own validation would be part of its transaction.
  if (!isSaved && store.resource.validation !== 'rules') await limited(store, () => validate(instance))
  const row = isSaved ? null : insertableRow(store, instance, instant)
  if (row !== null && store.dialect.returnsInserted && isReturnable(store, projection)) {
    const inserted = await alone(store, (transaction) => insertReturning(store, row, projection, transaction))
    if (inserted === undefined) throw new TypeError('an INSERT returned no row')
    return { kind: 'record', row: inserted }
  }
  const fresh = renewed(instance, build)
  return inTransaction(store, async (transaction) => {
    const saved = fresh()
    await settleKey(store, saved, transaction)
    await plan.before?.(saved, transaction)
    await saved.save({ transaction, ...silently(stamps(store, plan.upkeep)) })
    await plan.after?.(saved, transaction)
    return { kind: 'record', row: await reread(store, saved, projection, transaction) }
  })
}

/** A new instance with the client's values and those of the behaviours, defaults and setters applied. */
export function buildInstance({ model, resource }: Store, changes: Changes, upkeep: Changes): Model {
  const instance = model.build(Object.fromEntries(changes))
  acceptNulls(instance, resource.filled)
  setValues(instance, upkeep)
  return instance
}

/** Past setters and read-only marks: these values are not the client's. */
export function setValues(instance: Model, values: Changes): void {
  for (const [name, value] of values) instance.setDataValue(name as never, value as never)
}

/** A key that is an expression becomes its value, since nothing else would tell afterwards which record it made. */
export async function settleKey(store: Store, instance: Model, transaction: Transaction): Promise<void> {
  const key = store.resource.key.name
  const value: unknown = instance.getDataValue(key as never)
  if (!isExpression(value)) return
  instance.setDataValue(key as never, (await evaluate(store.model, value, transaction)) as never)
}

/** A new record of several, whose hooks and validators of validation have run. */
export async function saveValidated(
  store: Store,
  instance: Model,
  { before, after, upkeep }: Pick<CreatePlan, 'before' | 'after' | 'upkeep'>,
  transaction: Transaction,
): Promise<void> {
  await before?.(instance, transaction)
  // What the hook has changed is not validated yet.
  if (before !== null) await validate(instance)
  const options: SaveOptions = { transaction, validate: false, ...silently(stamps(store, upkeep)) }
  await instance.save(options)
  await after?.(instance, transaction)
}

/** Whether behaviours keep the time of the last change themselves, so that Sequelize must not. */
export function stamps({ model }: Store, values: Changes): boolean {
  const { updatedAt } = timestampsOf(model)
  return updatedAt !== undefined && values.has(updatedAt)
}

export function isHooked({ before, after }: Pick<CreatePlan, 'before' | 'after'>): boolean {
  return before !== null || after !== null
}

/** The records with these keys. */
export function identify({ resource: { key } }: Store, keys: readonly unknown[]): Predicate {
  const values = keys.filter((value) => typeof value === 'string' || typeof value === 'number')
  return {
    kind: 'compare',
    column: ownColumn(key),
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

/** Writes the present fields. Whether the record exists is decided before what is wrong with the request. */
export async function update(store: Store, plan: UpdatePlan): Promise<Outcome> {
  const { precondition, changes, upkeep, projection, invalid } = plan
  const isRefused = invalid !== null || precondition?.where === null
  if (isRefused || !writesAnything(store, plan)) return refused(store, plan)
  if (isHooked(plan) || needsInstances(store, plan.kind)) {
    return inTransaction(store, (transaction) => save(store, plan, transaction))
  }
  const isValid = await limited(store, () => passes(store, changes))
  if (!isValid) return refused(store, { ...plan, invalid: NOTHING })
  const stamped = new Map([...changes, ...stampsOf(store, 'update', plan.instant), ...upkeep.values])
  const write = { where: conditionOf(plan), values: stamped, increments: upkeep.increments, deleted: isRestore(plan) }
  if (store.dialect.returnsUpdated && isReturnable(store, projection)) {
    const row = await alone(store, (transaction) => updateReturning(store, write, projection, transaction))
    if (row === undefined) throw await refusalOf(store, plan)
    return { kind: 'record', row }
  }
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

/** A virtual attribute by itself is for the host's setters, hooks and validators; where there are none, for nobody. */
function writesAnything(store: Store, plan: UpdatePlan): boolean {
  const { changes, upkeep } = plan
  if (upkeep.values.size > 0 || upkeep.increments.length > 0) return true
  if (changes.size === 0) return false
  const isSaved = isHooked(plan) || needsInstances(store, plan.kind)
  return isSaved || store.resource.fields.some((field) => changes.has(field.name) && !field.virtual)
}

/** The record under a write's condition as it is; what is wrong with the write comes after whether it exists. */
async function refused(store: Store, plan: UpdatePlan): Promise<Outcome> {
  const { precondition, invalid } = plan
  const row = await existing(store, plan)
  if (row === null) throw problem('not-found')
  if (precondition !== null) {
    const isMet = precondition.where !== null && (await existing(store, { ...plan, where: conditionOf(plan) })) !== null
    if (!isMet) throw precondition.refusal()
  }
  if (invalid !== null) throw await refusal(store, invalid, await changed(store, plan), plan)
  return { kind: 'record', row, isWritten: false }
}

type Conditional = Pick<UpdatePlan | DeletePlan, 'where' | 'precondition'>

/** The whole condition of a write. */
export function conditionOf({ where, precondition }: Conditional): Predicate {
  const and = precondition?.where ?? null
  return and === null ? where : { kind: 'and', nodes: [where, and] }
}

/** Why a write met no record: there is none, or it does not meet the precondition. */
export async function refusalOf(
  store: Store,
  plan: Conditional & { readonly kind: string },
  transaction?: Transaction,
): Promise<Error> {
  if (plan.precondition === null) return problem('not-found')
  // By its key alone: PostgreSQL locks no rows that are joined to the record.
  const row = await existing(store, { kind: plan.kind, where: plan.where }, transaction)
  return row === null ? problem('not-found') : plan.precondition.refusal()
}

function isRestore({ kind }: { readonly kind: string }): boolean {
  return kind === 'restore'
}

async function existing(
  store: Store,
  plan: Pick<Conditional, 'where'> & { readonly kind: string; readonly projection?: Projection },
  transaction?: Transaction,
): Promise<Row | null> {
  const { where, projection = keyOnly(store) } = plan
  const within = {
    deleted: isRestore(plan),
    main: true,
    ...(transaction === undefined ? {} : { transaction, lock: true }),
  }
  return get(store, { where, projection }, within)
}

function keyOnly({ resource: { key } }: Store): Projection {
  return ofOwn([key])
}

/** What makes the instance that the model's validators would see, if nothing were wrong. */
async function changed(store: Store, plan: UpdatePlan): Promise<() => Model> {
  const { changes, upkeep } = plan
  const { validation } = store.resource
  if (validation === 'rules' || validation === 'attributes') return () => partialOf(store, changes)
  const instance = await loaded(store, plan.where, isRestore(plan))
  return () => set(store, instance, changes, upkeep)
}

function set({ resource }: Store, instance: Model, changes: Changes, upkeep: Upkeep): Model {
  acceptNulls(instance, resource.filled)
  instance.set(Object.fromEntries(changes))
  setValues(instance, upkeep.values)
  return instance
}

async function save(store: Store, plan: UpdatePlan, transaction: Transaction): Promise<Outcome> {
  const { changes, upkeep } = plan
  const instance = set(store, await claimed(store, plan, upkeep, transaction), changes, upkeep)
  await checkLengths(store, instance, plan)
  await plan.before?.(instance, transaction)
  const { updatedAt } = timestampsOf(store.model)
  // A PATCH is a write even where every value stays what it was.
  if (updatedAt !== undefined) instance.changed(updatedAt as never, true)
  // Nulls clear, whatever the host wants of the nulls of its own updates.
  const options: SaveOptions = { transaction, omitNull: false, ...silently(stamps(store, upkeep.values)) }
  if (isRestore(plan) && store.model.options.paranoid) await instance.restore(options)
  else await instance.save(options)
  await plan.after?.(instance, transaction)
  return written(store, plan, transaction)
}

/**
 * The record as an instance, with the precondition decided: by raising the version where there is one, so that of two
 * writers one finds it changed, else under the lock that the instance is loaded with.
 */
export async function claimed(
  store: Store,
  plan: UpdatePlan | DeletePlan,
  { increments }: Upkeep,
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

async function written(store: Store, plan: UpdatePlan, transaction: Transaction): Promise<Outcome> {
  const { identity, projection } = plan
  const row = await get(store, { where: identity, projection }, { transaction, unscoped: true })
  if (row === null) throw problem('not-found')
  return { kind: 'record', row }
}

/** The record as an instance, locked until the transaction, if any, ends where the database has row locks. */
async function loaded(store: Store, where: Predicate, deleted: boolean, transaction?: Transaction): Promise<Model> {
  const within = transaction && { transaction, lock: { level: transaction.LOCK.UPDATE, of: store.model } }
  const instance = await store.model.findOne({
    ...exactly(store),
    where: whereTree(store, where),
    ...(within ?? { useMaster: true }),
    paranoid: !deleted,
  } as FindOptions)
  if (instance === null) throw problem('not-found')
  return instance
}
