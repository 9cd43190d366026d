import type { Model, SaveOptions, Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, Projection } from '../../../types/plan.js'
import type { TableTraits } from '../../../types/table.js'
import { keyColumns, keyName, withKeys } from '../../common/keys.js'
import { WrittenSize } from '../../common/responseSize.js'
import { bulkInsert, silently } from '../../sequelize/instances.js'
import { statementLogging } from '../../sequelize/logging.js'
import { runHooks, timestampsOf } from '../../sequelize/model.js'
import { evaluate } from '../../sequelize/run.js'
import { isExpression } from '../../sequelize/sql.js'
import { buildInstance } from '../build.js'
import { needsEach } from '../executor.js'
import { inPlace } from '../nested/errors.js'
import { buildAll, validateAll } from '../newRecords.js'
import { get, manyByKey } from '../read.js'
import type { Store } from '../store.js'
import { tableOf } from '../table.js'
import { inTransaction, renewed } from '../transaction.js'
import { validate } from '../validation.js'
import { rowOf } from './find.js'
import { keyOf } from './load.js'
import { saveInserted } from './save.js'

/** Saves a new record's instance. */
export async function saveNew(store: Store, plan: CreatePlan, instance: Model): Promise<Outcome> {
  const { changes, upkeep, projection } = plan
  const table = await tableOf(store)
  const fresh = renewed(instance, () => buildInstance(store, changes, upkeep))
  return inTransaction(store, async (transaction) => {
    const saved = fresh()
    await settleKey(store, saved, transaction)
    await plan.before?.(saved, transaction)
    const options = { transaction, ...silently(stamps(store, upkeep)), ...statementLogging(store.sequelize) }
    await saveInserted(store, table, saved, () => saved.save(options))
    await plan.after?.(saved, transaction)
    return { kind: 'record', row: await reread(store, saved, projection, transaction) }
  })
}

/** Whether a behaviour sets `updatedAt`, so that Sequelize must not. */
export function stamps({ model }: Store, values: Changes): boolean {
  const { updatedAt } = timestampsOf(model)
  return updatedAt !== undefined && values.has(updatedAt)
}

/** Evaluates keys that are SQL expressions. Otherwise the new record could not be found afterwards. */
async function settleKey(store: Store, instance: Model, transaction: Transaction): Promise<void> {
  for (const { name } of store.resource.keys) {
    const value: unknown = instance.getDataValue(name as never)
    if (!isExpression(value)) continue
    instance.setDataValue(name as never, (await evaluate(store.model, value, transaction)) as never)
  }
}

/** Reads back a saved record, including database defaults, triggers and rounding. */
async function reread(store: Store, instance: Model, projection: Projection, transaction: Transaction): Promise<Row> {
  const { keys } = store.resource
  const where = withKeys(keys, [keyOf(keys, instance)])
  const row = await get(store, { where, projection }, { transaction, unscoped: true })
  return row ?? rowOf(store.dialect, instance, projection.columns)
}

/** Saves all new records or none. Returns them as stored, in the order of the request. */
export async function saveAll(store: Store, plan: BulkCreatePlan, instances: readonly Model[]): Promise<Outcome> {
  const fresh = renewed(instances, () => buildAll(store, plan))
  const table = await tableOf(store)
  return inTransaction(store, (transaction) => createInstances(store, table, fresh(), plan, transaction))
}

/** Like `Model.bulkCreate`, but saves one by one: after an error no other save may still be running. */
async function createInstances(
  store: Store,
  table: TableTraits,
  instances: readonly Model[],
  plan: BulkCreatePlan,
  transaction: Transaction,
): Promise<Outcome> {
  const { model, resource } = store
  const isEach = needsEach(store, plan) || isUneven(store, instances, table) || table.writesLess
  const isValidated = isEach || resource.validation !== 'rules'
  const logging = statementLogging(store.sequelize)
  const options = { transaction, hooks: true, validate: isValidated, individualHooks: isEach, ...logging }
  await runHooks(model, 'beforeBulkCreate', instances, options)
  if (isValidated) await validateAll(store, instances, () => ({ transaction, hooks: isEach }))
  for (const instance of instances) await settleKey(store, instance, transaction)
  if (isEach) {
    for (const [index, instance] of instances.entries()) {
      await inPlace(store, index, plan, () => saveValidated(store, table, instance, plan, transaction))
    }
  } else await bulkInsert(model, instances, transaction, store.dialect.insertedKeys)
  await runHooks(model, 'afterBulkCreate', instances, options)
  return { kind: 'records', rows: await rereadAll(store, instances, plan, transaction) }
}

/** Saves one of several new records, after the validation hooks and validators. */
async function saveValidated(
  store: Store,
  table: TableTraits,
  instance: Model,
  { before, after, upkeep }: BulkCreatePlan,
  transaction: Transaction,
): Promise<void> {
  await before?.(instance, transaction)
  // The hook may have changed values that were already validated.
  if (before !== null) await validate(instance)
  const options: SaveOptions = {
    transaction,
    validate: false,
    ...silently(stamps(store, upkeep)),
    ...statementLogging(store.sequelize),
  }
  await saveInserted(store, table, instance, () => instance.save(options))
  await after?.(instance, transaction)
}

/** Reads the records back, in the order of the instances. */
async function rereadAll(
  store: Store,
  instances: readonly Model[],
  { projection, records }: BulkCreatePlan,
  transaction: Transaction,
): Promise<Row[]> {
  const { keys: fields, limits } = store.resource
  const keys = instances.map((instance) => keyOf(fields, instance))
  const { length } = projection.columns
  const columns = [...projection.columns, ...keyColumns(fields)]
  const size = new WrittenSize(limits.responseBytes)
  const rows = await manyByKey(store, keys, columns, transaction, (read, at) =>
    size.add(projection, read, records.slice(at, at + read.length)),
  )
  const byKey = new Map(rows.map((row) => [keyName(fields, row.slice(length)), row.slice(0, length)]))
  return instances.map((instance, index) => {
    return byKey.get(String(keys[index])) ?? rowOf(store.dialect, instance, projection.columns)
  })
}

/**
 * Whether one INSERT is impossible. If only some records omit a column with a default, the others' INSERT would set it
 * to null. An INSERT of several rows also needs at least one column.
 */
function isUneven(
  { resource: { fields, filled } }: Store,
  instances: readonly Model[],
  { hasDefault }: TableTraits,
): boolean {
  const isLeft = (name: string) => (instance: Model) => instance.getDataValue(name as never) === undefined
  const made = fields.filter(({ virtual, isKey, column }) => !virtual && (isKey || hasDefault(column)))
  const names = [...filled, ...made.map(({ name }) => name)]
  return (
    instances.every(isEmpty) || names.some((name) => instances.some(isLeft(name)) && !instances.every(isLeft(name)))
  )
}

/** Whether the instance sets no column. */
function isEmpty(instance: Model): boolean {
  return Object.values(instance.dataValues as object).every((value) => value === undefined || value === null)
}
