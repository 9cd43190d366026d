// Instances stored through Sequelize.

import { EmptyResultError, type Model, type ModelStatic, type QueryInterface, type Transaction } from 'sequelize'
import { preparation, sequelizeOf } from './internals.js'
import { statementLogging } from './logging.js'
import { queryRows } from './run.js'

/**
 * `model.bulkCreate`, without hooks and validation, of instances that are built already: it would build them from
 * values again, and run the host's setters a second time. `insertedKeys` is the query that tells the keys where
 * Sequelize would guess them.
 */
export async function bulkInsert(
  model: ModelStatic<Model>,
  instances: readonly Model[],
  transaction: Transaction,
  insertedKeys: string | null,
): Promise<void> {
  const own = {
    build: { value: (instance: Model) => instance },
    ...(insertedKeys === null ? {} : { autoIncrementAttribute: { value: null } }),
  }
  const options = { transaction, hooks: false, validate: false, ...statementLogging(sequelizeOf(model)) }
  await model.bulkCreate.call(Object.create(model, own), instances as never, options)
  const { autoIncrementAttribute: key } = preparation(model)
  if (insertedKeys === null || !key || instances.some((instance) => Boolean(instance.getDataValue(key as never))))
    return
  const sequelize = sequelizeOf(model)
  const [row] = await queryRows(sequelize, { sql: insertedKeys, transaction, writes: true })
  for (const [index, instance] of instances.entries()) {
    const value = BigInt(String(row?.first)) + BigInt(String(row?.step)) * BigInt(index)
    const number = Number(value)
    instance.set(key, Number.isSafeInteger(number) ? number : String(value), { raw: true })
  }
}

/**
 * Has Sequelize's validation take a null for these attributes, whatever their columns take: what fills them may come
 * behind it, or be the database.
 */
export function acceptNulls(instance: Model, names: readonly string[]): void {
  if (names.length === 0) return
  // The validator is the only one that looks at the instance's own.
  const { rawAttributes } = instance as object as { rawAttributes: { readonly [name: string]: object } }
  const lifted = names.map((name) => [name, { ...rawAttributes[name], allowNull: undefined }])
  Object.defineProperty(instance, 'rawAttributes', { value: { ...rawAttributes, ...Object.fromEntries(lifted) } })
}

/**
 * Whether `save` leaves the instance's own time of the last change alone and stores it. Sequelize puts its own clock's
 * there unless it is silent, and with `true` itself it stores none; any other true value is silent and stores it.
 */
export function silently(keeps: boolean): { readonly silent?: boolean } {
  return keeps ? { silent: 1 as never } : {}
}

/** Which numbers of rows a database reports of what an instance writes, and the error where it reports none. */
export interface RowCounts {
  readonly inserted: boolean
  readonly found: boolean
  readonly skipped: () => Error
}

/**
 * Saves, restores or destroys an instance by a method of its own, and fails where the database skips the row. Sequelize reads the
 * number of rows and drops it. While the method runs, the instance's constructor stands for the model with another query interface.
 */
export async function counted<T>(instance: Model, counts: RowCounts, work: () => Promise<T>): Promise<T> {
  const model = instance.constructor as ModelStatic<Model>
  const { queryInterface } = model as object as { queryInterface: QueryInterface }
  const counting = Object.create(queryInterface, {
    insert: { value: countedBy(queryInterface, 'insert', counts.inserted, counts.skipped) },
    update: { value: countedBy(queryInterface, 'update', counts.found, counts.skipped) },
  })
  const standIn = new Proxy(model, {
    get: (target, name) => (name === 'queryInterface' ? counting : Reflect.get(target, name)),
  })
  Object.defineProperty(instance, 'constructor', { value: standIn, configurable: true, writable: true })
  try {
    return await work()
  } finally {
    Reflect.deleteProperty(instance, 'constructor')
  }
}

function countedBy(
  queryInterface: QueryInterface,
  name: 'insert' | 'update',
  isCounted: boolean,
  skipped: () => Error,
): (...values: readonly unknown[]) => Promise<unknown> {
  const write: (...values: readonly unknown[]) => Promise<unknown> = queryInterface[name] as never
  return async (...values) => {
    try {
      const result = await write.apply(queryInterface, values as unknown[])
      if (isCounted && Array.isArray(result) && result[1] === 0) throw skipped()
      return result
    } catch (error) {
      // On PostgreSQL Sequelize fails by itself.
      throw error instanceof EmptyResultError ? skipped() : error
    }
  }
}
