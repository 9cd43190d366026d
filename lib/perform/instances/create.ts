import type { Model, SaveOptions, Transaction } from 'sequelize'
import type { Changes } from '../../../types/changes.js'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, Projection } from '../../../types/plan.js'
import type { TableTraits } from '../../../types/table.js'
import { keyColumns, keyText, matchKeys } from '../../common/keys.js'
import { WrittenSize } from '../../common/responseSize.js'
import { bulkInsert, silentOption } from '../../sequelize/instances.js'
import { statementLoggingOf } from '../../sequelize/logging.js'
import { hasHooks, runHooks, timestampsOf } from '../../sequelize/model.js'
import { evaluateExpression } from '../../sequelize/run.js'
import { isExpression } from '../../sequelize/sql.js'
import { buildInstance } from '../build.js'
import { isWrittenByInstances } from '../executor.js'
import { attributeToPlace } from '../nested/errors.js'
import { buildInstances, validateAll } from '../newRecords.js'
import { readRecord, readWrittenByKey } from '../read.js'
import type { StatementContext } from '../store.js'
import { loadTableTraits } from '../tableTraits.js'
import { inTransaction, isInTransaction, recreateOnRetry } from '../transaction.js'
import { lockUniqueValues } from '../uniqueLocks.js'
import { validate, validateNew } from '../validation.js'
import { instanceRow } from './find.js'
import { instanceKeyOf } from './load.js'
import { saveInsertedInstance } from './save.js'

/** Inserts a record by saving its instance, between the host's hooks. */
export async function saveNewInstance(store: StatementContext, plan: CreatePlan, instance: Model): Promise<Outcome> {
  const { changes, serverValues, projection } = plan
  const table = await loadTableTraits(store)
  const recreate = recreateOnRetry(instance, () => buildInstance(store, changes, serverValues))
  return inTransaction(store, async (transaction) => {
    const saved = recreate()
    await resolveKeyExpression(store, saved, transaction)
    await plan.before?.(saved, transaction)
    const options = {
      transaction,
      ...silentOption(hasManagedTimestamp(store, serverValues)),
      ...statementLoggingOf(store.sequelize),
    }
    await saveInsertedInstance(store, table, saved, () => saved.save(options))
    await plan.after?.(saved, transaction)
    return { kind: 'record', row: await readBackInstance(store, saved, projection, transaction) }
  })
}

/** Whether a behaviour sets `updatedAt`, so that Sequelize must not. */
export function hasManagedTimestamp({ model }: StatementContext, values: Changes): boolean {
  const { updatedAt } = timestampsOf(model)
  return updatedAt !== undefined && values.has(updatedAt)
}

/** Evaluates keys that are SQL expressions, because the inserted record is read back by its key. */
async function resolveKeyExpression(store: StatementContext, instance: Model, transaction: Transaction): Promise<void> {
  for (const { name } of store.resource.keys) {
    const value: unknown = instance.getDataValue(name as never)
    if (!isExpression(value)) continue
    instance.setDataValue(name as never, (await evaluateExpression(store.model, value, transaction)) as never)
  }
}

/** Reads back a saved record, including database defaults, triggers and rounding. */
async function readBackInstance(
  store: StatementContext,
  instance: Model,
  projection: Projection,
  transaction: Transaction,
): Promise<Row> {
  const { keys } = store.resource
  const where = matchKeys(keys, [instanceKeyOf(keys, instance)])
  const row = await readRecord(store, { where, projection }, { transaction, unscoped: true })
  return row ?? instanceRow(store.dialect, instance, projection.columns)
}

/** Saves all new records or none. Returns the stored records, in the order of the request. */
export async function saveNewInstances(
  store: StatementContext,
  plan: BulkCreatePlan,
  instances: readonly Model[],
): Promise<Outcome> {
  const recreate = recreateOnRetry(instances, () => buildInstances(store, plan))
  const table = await loadTableTraits(store)
  const isJoined = isInTransaction(store)
  return inTransaction(store, async (transaction) => {
    // A transaction that already runs may have locked rows.
    if (!isJoined) await lockUniqueValues({ ...store, transaction }, plan.records)
    return createInstances(store, table, recreate(), plan, transaction)
  })
}

const NO_CHANGES: Changes = new Map()

/** Like `Model.bulkCreate`, but saves one by one: after an error no other save may still be running. */
async function createInstances(
  store: StatementContext,
  table: TableTraits,
  instances: readonly Model[],
  plan: BulkCreatePlan,
  transaction: Transaction,
): Promise<Outcome> {
  const { model } = store
  const isEach = isWrittenByInstances(store, plan) || needsSingleInserts(store, instances, table) || table.canSkipWrites
  const logging = statementLoggingOf(store.sequelize)
  const options = { transaction, hooks: true, validate: true, individualHooks: isEach, ...logging }
  await runHooks(model, 'beforeBulkCreate', instances, options)
  // A hook may have changed values that rules have accepted.
  const isWhole = isEach || hasHooks(model, ['beforeBulkCreate'])
  await validateAll(store, instances, (instance, index) =>
    isWhole
      ? instance.validate({ transaction, hooks: isEach } as object)
      : validateNew(store, instance, { ...plan, changes: plan.records[index] ?? NO_CHANGES }),
  )
  for (const instance of instances) await resolveKeyExpression(store, instance, transaction)
  if (isEach) {
    for (const [index, instance] of instances.entries()) {
      await attributeToPlace(store, index, plan, () => saveValidatedInstance(store, table, instance, plan, transaction))
    }
  } else await bulkInsert(model, instances, transaction, store.dialect.insertedKeys)
  await runHooks(model, 'afterBulkCreate', instances, options)
  return { kind: 'records', rows: await readBackInstances(store, instances, plan, transaction) }
}

/** Saves one record of a batch. Validation hooks and validators have already run. */
async function saveValidatedInstance(
  store: StatementContext,
  table: TableTraits,
  instance: Model,
  { before, after, serverValues }: BulkCreatePlan,
  transaction: Transaction,
): Promise<void> {
  await before?.(instance, transaction)
  // The hook may have changed values that were already validated.
  if (before !== null) await validate(instance)
  const options: SaveOptions = {
    transaction,
    validate: false,
    ...silentOption(hasManagedTimestamp(store, serverValues)),
    ...statementLoggingOf(store.sequelize),
  }
  await saveInsertedInstance(store, table, instance, () => instance.save(options))
  await after?.(instance, transaction)
}

/** Reads the records back, in the order of the instances. */
async function readBackInstances(
  store: StatementContext,
  instances: readonly Model[],
  { projection, records }: BulkCreatePlan,
  transaction: Transaction,
): Promise<Row[]> {
  const { keys: fields, limits } = store.resource
  const keys = instances.map((instance) => instanceKeyOf(fields, instance))
  const { length } = projection.columns
  const columns = [...projection.columns, ...keyColumns(fields)]
  const size = new WrittenSize(limits.responseBytes)
  const rows = await readWrittenByKey(store, keys, columns, transaction, (read, at) =>
    size.add(projection, read, records.slice(at, at + read.length)),
  )
  const byKey = new Map(rows.map((row) => [keyText(fields, row.slice(length)), row.slice(0, length)]))
  return instances.map((instance, index) => {
    return byKey.get(String(keys[index])) ?? instanceRow(store.dialect, instance, projection.columns)
  })
}

/**
 * Whether the records need separate INSERTs. If only some records omit a column with a default, one INSERT would set
 * the omitted column to null. An INSERT of several rows also needs at least one column.
 */
function needsSingleInserts(
  { resource: { fields, filled } }: StatementContext,
  instances: readonly Model[],
  { hasDefault }: TableTraits,
): boolean {
  const isLeftToDatabase = (name: string) => (instance: Model) => instance.getDataValue(name as never) === undefined
  const made = fields.filter(({ virtual, isKey, column }) => !virtual && (isKey || hasDefault(column)))
  const names = [...filled, ...made.map(({ name }) => name)]
  return (
    instances.every(hasNoColumns) ||
    names.some((name) => instances.some(isLeftToDatabase(name)) && !instances.every(isLeftToDatabase(name)))
  )
}

function hasNoColumns(instance: Model): boolean {
  return Object.values(instance.dataValues as object).every((value) => value === undefined || value === null)
}
