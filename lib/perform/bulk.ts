import type { DestroyOptions, FindOptions, InstanceDestroyOptions, Model, Transaction } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { BulkCreatePlan, BulkDeletePlan, Predicate, Projection } from '../../types/plan.js'
import { ownColumn } from '../common/columns.js'
import { fault } from '../common/messages.js'
import { type ProblemErrors, problem } from '../common/problem.js'
import { validationIn } from '../sequelize/failure.js'
import { bulkInsert } from '../sequelize/instances.js'
import { hasCascades, hasComplexScope, hasHooks, runHooks } from '../sequelize/model.js'
import { queryRows } from '../sequelize/run.js'
import { writeInsertRows } from '../sequelize/sql.js'
import { messagesOf } from './failure.js'
import { exactly, rowOf, whereTree } from './instances.js'
import { many } from './read.js'
import { removeInstance, removeRows, removesInstances } from './remove.js'
import { isReturnable, updateRows } from './rows.js'
import { valuesOf } from './statement/row.js'
import { returningOf } from './statement/text.js'
import type { Store } from './store.js'
import { insertableRow } from './stored.js'
import { alone, inTransaction, limited, renewed } from './transaction.js'
import { faultsOf, NOTHING, tooLong } from './validation.js'
import { buildInstance, identify, isHooked, needsInstances, saveValidated, settleKey } from './write.js'

/** Creates all records or none, and gives them as stored, in the order they were sent. */
export async function bulkCreate(store: Store, plan: BulkCreatePlan): Promise<Outcome> {
  const { records, upkeep, projection, instant, invalid } = plan
  if (records.length === 0) return { kind: 'records', rows: [] }
  if (invalid.size > 0) throw problem('validation', { errors: await limited(store, () => faultsOfAll(store, plan)) })
  const build = (): Model[] => records.map((changes) => buildInstance(store, changes, upkeep))
  const instances = build()
  const isShort =
    store.dialect.returnsInserted &&
    isReturnable(store, projection) &&
    !isHooked(plan) &&
    !needsInstances(store, 'create') &&
    !isUneven(store, instances) &&
    !hasHooks(store.model, ['beforeBulkCreate', 'afterBulkCreate'])
  if (isShort && store.resource.validation !== 'rules') {
    await limited(store, () => validateAll(store, instances, { hooks: false }))
  }
  const rows = isShort ? instances.map((instance) => insertableRow(store, instance, instant)) : [null]
  if (rows.every((row) => row !== null)) {
    return {
      kind: 'records',
      rows: await alone(store, (transaction) => insertAll(store, rows, projection, transaction)),
    }
  }
  const fresh = renewed(instances, build)
  return inTransaction(store, (transaction) => createInstances(store, fresh(), plan, transaction))
}

/** Whether only some of the records leave a value to the database: in one statement these would get a null. */
function isUneven({ resource: { filled } }: Store, instances: readonly Model[]): boolean {
  const isLeft = (name: string) => (instance: Model) => instance.getDataValue(name as never) === undefined
  return filled.some((name) => instances.some(isLeft(name)) && !instances.every(isLeft(name)))
}

/** As `Model.bulkCreate` does it, but one save after the other: a failure must not leave others under way behind it. */
async function createInstances(
  store: Store,
  instances: readonly Model[],
  plan: BulkCreatePlan,
  transaction: Transaction,
): Promise<Outcome> {
  const { model, resource } = store
  const hooked = isHooked(plan) || needsInstances(store, 'create') || isUneven(store, instances)
  const validate = hooked || resource.validation !== 'rules'
  const options = { transaction, hooks: true, validate, individualHooks: hooked }
  await runHooks(model, 'beforeBulkCreate', instances, options)
  if (validate) await validateAll(store, instances, { transaction, hooks: hooked })
  for (const instance of instances) await settleKey(store, instance, transaction)
  if (hooked) for (const instance of instances) await saveValidated(store, instance, plan, transaction)
  else await bulkInsert(model, instances, transaction, store.dialect.insertedKeys)
  await runHooks(model, 'afterBulkCreate', instances, options)
  return { kind: 'records', rows: await rereadAll(store, instances, plan.projection, transaction) }
}

/** All that is wrong with the records of a body that has faults. */
async function faultsOfAll(store: Store, { records, upkeep, invalid }: BulkCreatePlan): Promise<ProblemErrors> {
  const errors: Record<string, readonly string[]> = {}
  const isPrepared = hasHooks(store.model, ['beforeBulkCreate'])
  for (const [index, changes] of records.entries()) {
    const found = invalid.get(index)
    const build = (): Model => buildInstance(store, changes, upkeep)
    const faults =
      found === null
        ? { [`[${index}]`]: [store.resource.tell(fault('object'))] }
        : await faultsOf(store, found ?? NOTHING, build, { prefix: `[${index}].`, isPrepared })
    Object.assign(errors, faults)
  }
  return errors
}

/** All instances are validated before any is saved, and every failure is told with its place in the array. */
async function validateAll(store: Store, instances: readonly Model[], options: object): Promise<void> {
  const errors: Record<string, readonly string[]> = {}
  for (const [index, instance] of instances.entries()) {
    if (tooLong(store, instance).length > 0) {
      Object.assign(errors, await faultsOf(store, NOTHING, () => instance, { prefix: `[${index}].` }))
      continue
    }
    try {
      await instance.validate(options)
    } catch (error) {
      const invalid = validationIn(error)
      if (invalid === null) throw error
      Object.assign(errors, messagesOf(invalid, store.resource, `[${index}].`))
    }
  }
  if (Object.keys(errors).length > 0) throw problem('validation', { errors })
}

/** The records as the database has them, in the order of the instances. */
async function rereadAll(
  store: Store,
  instances: readonly Model[],
  projection: Projection,
  transaction: Transaction,
): Promise<Row[]> {
  const { key } = store.resource
  const keys = instances.map((instance) => instance.get(key.name))
  const columns = [...projection.columns, ownColumn(key)]
  const rows = await many(store, identify(store, keys), columns, keys.length, transaction)
  const byKey = new Map(rows.map((row) => [String(key.decode(row.at(-1))), row.slice(0, -1)]))
  return instances.map((instance, index) => {
    return byKey.get(String(key.decode(keys[index]))) ?? rowOf(store.dialect, instance, projection.columns)
  })
}

async function insertAll(
  store: Store,
  rows: readonly ReadonlyMap<Field, unknown>[],
  projection: Projection,
  transaction: Transaction,
): Promise<Row[]> {
  const hashes = rows.map((row) => Object.fromEntries([...row].map(([field, value]) => [field.column, value])))
  const sql = writeInsertRows(store.model, hashes).replace(/^INSERT INTO/, store.dialect.insert)
  const text = `${sql} ${returningOf(store.dialect, store.model, projection.columns)}`
  const inserted = await queryRows(store.sequelize, { sql: text, bind: null, transaction, writes: true })
  return inserted.map((row) => valuesOf(row, projection.columns))
}

/** Deletes what is there of the keys, and counts it. */
export async function bulkDelete(store: Store, plan: BulkDeletePlan): Promise<Outcome> {
  if (isEmpty(plan.where)) return { kind: 'deleted', count: 0, rows: [] }
  const { report } = plan
  if (report !== null) return inTransaction(store, (transaction) => reported(store, plan, report, transaction))
  const run = isPlain(store, plan) ? alone : inTransaction
  const count = await run(store, (transaction) => removeAll(store, plan, transaction))
  return { kind: 'deleted', count, rows: [] }
}

/** Deletes what was found and locked, so that what is told is what went. */
async function reported(
  store: Store,
  plan: BulkDeletePlan,
  { columns }: Projection,
  transaction: Transaction,
): Promise<Outcome> {
  const { key } = store.resource
  const told = [...columns, ownColumn(key)]
  const found = await many(store, plan.where, told, plan.keys.length, transaction, true)
  if (found.length === 0) return { kind: 'deleted', count: 0, rows: [] }
  const keys = found.map((row) => row.at(-1))
  const where: Predicate = { kind: 'and', nodes: [plan.where, identify(store, keys)] }
  const count = await removeAll(store, { ...plan, where }, transaction)
  // The model's default scope, or a hook of the host's, may have left some of them.
  const left = count === found.length ? [] : await many(store, plan.where, told, keys.length, transaction)
  const nameOf = (raw: unknown): string => String(key.decode(raw))
  const gone = new Map(found.map((row) => [nameOf(row.at(-1)), row.slice(0, -1)]))
  for (const row of left) gone.delete(nameOf(row.at(-1)))
  const rows = plan.keys.map((each) => gone.get(nameOf(each))).filter((row) => row !== undefined)
  return { kind: 'deleted', count, rows }
}

/** Whether one statement does it. */
function isPlain(store: Store, plan: BulkDeletePlan): boolean {
  return !isHookedDelete(store, plan) && !hasHooks(store.model, ['beforeBulkDestroy', 'afterBulkDestroy'])
}

function isHookedDelete(store: Store, plan: BulkDeletePlan): boolean {
  return isHooked(plan) || removesInstances(store, plan.mark)
}

async function removeAll(store: Store, plan: BulkDeletePlan, transaction: Transaction): Promise<number> {
  const { where, mark } = plan
  if (isPlain(store, plan)) return removeRows(store, where, plan, transaction)
  const options = { where: whereTree(store, where), transaction, individualHooks: isHookedDelete(store, plan) }
  const isEach = hasCascades(store.model) || hasComplexScope(store.model)
  const remove = isHooked(plan) || mark !== null ? removeEach : isEach ? destroyEach : destroyAll
  return remove(store, options, plan)
}

type BulkOptions = DestroyOptions & { readonly transaction: Transaction }

function destroyAll({ model }: Store, options: BulkOptions): Promise<number> {
  return model.destroy(options)
}

/** `Model.destroy` neither deletes the dependants of what it finds nor minds all of the default scope. */
async function destroyEach(store: Store, options: BulkOptions): Promise<number> {
  const { model } = store
  const { where, transaction } = options
  await runHooks(model, 'beforeBulkDestroy', options)
  const instances = await model.findAll({ ...exactly(store), where, transaction } as FindOptions)
  for (const instance of instances) await instance.destroy({ transaction } as InstanceDestroyOptions)
  await runHooks(model, 'afterBulkDestroy', options)
  return instances.length
}

/** One after the other, each with its hooks, between those of the whole: these may have made the condition narrower. */
async function removeEach(store: Store, options: BulkOptions, plan: BulkDeletePlan): Promise<number> {
  const { model, resource } = store
  const { transaction } = options
  const key = resource.key.name
  await runHooks(model, 'beforeBulkDestroy', options)
  const order: [string, string][] = [[key, 'ASC']]
  const lock = { level: transaction.LOCK.UPDATE, of: model }
  const found = await model.findAll({
    ...exactly(store),
    where: options.where,
    order,
    transaction,
    lock,
  } as FindOptions)
  const increments = plan.mark?.increments ?? []
  if (found.length > 0 && increments.length > 0) {
    const where = identify(
      store,
      found.map((instance) => instance.get(key)),
    )
    await updateRows(store, { where, values: new Map(), increments, deleted: false }, transaction)
    for (const instance of found) await instance.reload({ ...exactly(store), transaction })
  }
  for (const instance of found) await removeInstance(store, instance, plan, transaction)
  await runHooks(model, 'afterBulkDestroy', options)
  return found.length
}

/** Whether no key was left, under whatever conditions behaviours added. */
function isEmpty(where: Predicate): boolean {
  return where.kind === 'never' || (where.kind === 'and' && where.nodes.some(isEmpty))
}
