import { AggregateError as BulkError, type Model, type Transaction, ValidationError } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { BulkCreatePlan, BulkDeletePlan, Projection } from '../../types/plan.js'
import { problem } from '../problem.js'
import { messagesOf } from './failure.js'
import { rowOf, whereTree } from './instances.js'
import { many, valuesOf } from './read.js'
import { deleteRows, isOwn, returning, updateRows } from './rows.js'
import { bulkCreateBuilt, hasHooks, queryRows, writeInsertRows } from './sequelize.js'
import type { Store } from './store.js'
import { insertableRow } from './stored.js'
import { alone, inTransaction } from './transaction.js'
import { identify, needsInstances, validate } from './write.js'

/** Creates all records or none, and gives them as stored, in the order they were sent. */
export async function bulkCreate(store: Store, plan: BulkCreatePlan): Promise<Outcome> {
  const { records, projection, instant } = plan
  if (records.length === 0) return { kind: 'records', rows: [] }
  const instances = records.map((changes) => store.model.build(Object.fromEntries(changes)))
  const isShort =
    store.dialect.returnsInserted &&
    isOwn(projection) &&
    !needsInstances(store, 'create') &&
    !hasHooks(store.model, ['beforeBulkCreate', 'afterBulkCreate'])
  if (isShort && store.resource.validation !== 'rules') await validateAll(store, instances)
  const rows = isShort ? instances.map((instance) => insertableRow(store, instance, instant)) : [null]
  if (rows.every((row) => row !== null)) {
    return {
      kind: 'records',
      rows: await alone(store, (transaction) => insertAll(store, rows, projection, transaction)),
    }
  }
  return inTransaction(store, (transaction) => createInstances(store, instances, projection, transaction))
}

async function createInstances(
  store: Store,
  instances: readonly Model[],
  projection: Projection,
  transaction: Transaction,
): Promise<Outcome> {
  const hooked = needsInstances(store, 'create')
  const options = {
    transaction,
    validate: hooked || store.resource.validation !== 'rules',
    individualHooks: hooked,
  }
  try {
    await bulkCreateBuilt(store.model, instances, options)
  } catch (error) {
    throw error instanceof BulkError ? refusal(store, instances, error) : error
  }
  return { kind: 'records', rows: await rereadAll(store, instances, projection, transaction) }
}

/** What Sequelize found wrong with instances, each under its place; or the first thing that is no validation error. */
function refusal(store: Store, instances: readonly Model[], { errors }: BulkError): unknown {
  const found = errors
    .map((each) => each as object as { errors: Error; record: Model })
    .map(({ errors: error, record }) => ({ error, index: instances.indexOf(record) }))
    .sort((a, b) => a.index - b.index)
  const messages: Record<string, readonly string[]> = {}
  for (const { error, index } of found) {
    if (!(error instanceof ValidationError)) return error
    Object.assign(messages, messagesOf(error, store.resource, `[${index}].`))
  }
  return problem('validation', { errors: messages })
}

/** All instances are validated before any is saved, and every failure is told with its place in the array. */
async function validateAll(store: Store, instances: readonly Model[]): Promise<void> {
  const errors: Record<string, readonly string[]> = {}
  for (const [index, instance] of instances.entries()) {
    try {
      await validate(instance)
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error
      Object.assign(errors, messagesOf(error, store.resource, `[${index}].`))
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
  const columns = [...projection.columns, { hops: [], field: key, nullable: false }]
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
  transaction: Transaction | undefined,
): Promise<Row[]> {
  const hashes = rows.map((row) => Object.fromEntries([...row].map(([field, value]) => [field.column, value])))
  const sql = writeInsertRows(store.model, hashes).replace(/^INSERT INTO/, store.dialect.insert)
  const text = `${sql} ${returning(store, projection)}`
  const inserted = await queryRows(store.sequelize, { sql: text, bind: null, transaction, writes: true })
  return inserted.map((row) => valuesOf(row, projection.columns))
}

/** Deletes what is there of the keys, and counts it. */
export async function bulkDelete(store: Store, { where, mark }: BulkDeletePlan): Promise<Outcome> {
  if (where.kind === 'never') return { kind: 'deleted', count: 0 }
  const hooked = needsInstances(store, 'delete')
  if (hooked || hasHooks(store.model, ['beforeBulkDestroy', 'afterBulkDestroy'])) {
    return inTransaction(store, async (transaction) => {
      const options = { where: whereTree(store, where), transaction, individualHooks: hooked }
      return { kind: 'deleted', count: await store.model.destroy(options) }
    })
  }
  const count = await alone(store, (transaction) =>
    mark === null ? deleteRows(store, where, transaction) : updateRows(store, where, mark, transaction),
  )
  return { kind: 'deleted', count }
}
