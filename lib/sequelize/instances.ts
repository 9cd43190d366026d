// Writes of instances through Sequelize.

import { EmptyResultError, type Model, type ModelStatic, Op, type QueryInterface, type Transaction } from 'sequelize'
import type { Field } from '../../types/field.js'
import { comparableDate } from './dates.js'
import { internalsOf, preparationOf, sequelizeOf } from './internals.js'
import { statementLoggingOf } from './logging.js'
import { runReadQuery } from './run.js'
import { escapeValue, literal } from './sql.js'

/** Makes finders return instances, also if the host's default scope or option `query` sets `raw: true`. */
export const AS_INSTANCES: { readonly raw: false } = { raw: false }

/**
 * Inserts existing instances like `model.bulkCreate`, without hooks and validation. `bulkCreate` itself would build the
 * instances again and run the host's setters twice. `insertedKeys` is the query for generated keys that Sequelize would
 * only guess.
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
  const options = { transaction, hooks: false, validate: false, ...statementLoggingOf(sequelizeOf(model)) }
  await model.bulkCreate.call(Object.create(model, own), instances as never, options)
  for (const instance of instances) renameReturnedColumns(model, instance)
  const { autoIncrementAttribute: key } = preparationOf(model)
  if (insertedKeys === null || !key || instances.some((instance) => Boolean(instance.getDataValue(key as never))))
    return
  const sequelize = sequelizeOf(model)
  const [row] = await runReadQuery(sequelize, { sql: insertedKeys, transaction, writes: true })
  for (const [index, instance] of instances.entries()) {
    const value = BigInt(String(row?.first)) + BigInt(String(row?.step)) * BigInt(index)
    const number = Number(value)
    instance.set(key, Number.isSafeInteger(number) ? number : String(value), { raw: true })
  }
}

/**
 * Sets the attributes of an inserted record that Sequelize did not recognize: without quotes, PostgreSQL returns the names
 * of columns in lower case.
 */
export function renameReturnedColumns(model: ModelStatic<Model>, instance: Model): void {
  if (internalsOf(sequelizeOf(model)).options.quoteIdentifiers !== false) return
  const values: Record<string, unknown> = instance.dataValues
  const attributes = model.getAttributes()
  for (const [name, { field = name }] of Object.entries(attributes)) {
    const returned = field.toLowerCase()
    if (returned === field || returned in attributes || !(returned in values)) continue
    values[name] = values[returned]
    delete values[returned]
  }
}

/**
 * Makes Sequelize's validation accept null for the given attributes. A later step, or the database, sets their values.
 */
export function acceptNulls(instance: Model, names: readonly string[]): void {
  if (names.length === 0) return
  // Only the null validator of Sequelize reads the instance's own `rawAttributes`.
  const { rawAttributes } = instance as object as { rawAttributes: { readonly [name: string]: object } }
  const lifted = names.map((name) => [name, { ...rawAttributes[name], allowNull: undefined }])
  Object.defineProperty(instance, 'rawAttributes', { value: { ...rawAttributes, ...Object.fromEntries(lifted) } })
}

/**
 * Returns the option `silent` for `save`. Unless a save is silent, Sequelize sets `updatedAt`. With `silent: true`,
 * Sequelize does not store `updatedAt`. With any other truthy value, Sequelize stores the given `updatedAt`.
 */
export function silentOption(isSilent: boolean): { readonly silent?: boolean } {
  return isSilent ? { silent: 1 as never } : {}
}

/**
 * Makes Sequelize find the record of an instance by the text of a DATE in its key, written as SQL. Sequelize would bind a
 * `Date`, and the drivers of SQLite and MySQL write it in a form that finds no record. Sequelize would read the time of
 * a text without an offset in the time zone of the process.
 */
export function identifyByText(instance: Model, keys: readonly Field[]): void {
  const dates = keys.filter(({ valueType }) => valueType.type === 'datetime')
  if (dates.length === 0) return
  const model = instance.constructor as ModelStatic<Model>
  const where = (...given: readonly never[]): object => {
    const values = new Map<string, unknown>(Object.entries(Reflect.apply(model.prototype.where, instance, given)))
    for (const field of dates) {
      const value = values.get(field.column)
      if (!(value instanceof Date)) continue
      const text = escapeValue(model, comparableDate(model, field, value))
      values.set(field.column, { [Op.eq]: literal(text) })
    }
    return Object.fromEntries(values)
  }
  Object.defineProperty(instance, 'where', { value: where })
}

/** Row counts that the database reports for writes of an instance, and the error for a missing count. */
export interface RowCounts {
  readonly isInserted: boolean
  readonly isFound: boolean
  readonly createSkippedError: () => Error
}

/**
 * Runs a save, restore or destroy of an instance, and throws if the database skips the row. Sequelize discards the row
 * count. A proxy of the model with another query interface therefore checks the count.
 */
export async function runCounted<T>(instance: Model, counts: RowCounts, work: () => Promise<T>): Promise<T> {
  const model = instance.constructor as ModelStatic<Model>
  const { queryInterface } = model as object as { queryInterface: QueryInterface }
  const counting = Object.create(queryInterface, {
    insert: { value: createCountedConstructor(queryInterface, 'insert', counts.isInserted, counts.createSkippedError) },
    update: { value: createCountedConstructor(queryInterface, 'update', counts.isFound, counts.createSkippedError) },
  })
  const proxy = new Proxy(model, {
    get: (target, name) => (name === 'queryInterface' ? counting : Reflect.get(target, name)),
  })
  Object.defineProperty(instance, 'constructor', { value: proxy, configurable: true, writable: true })
  try {
    return await work()
  } finally {
    Reflect.deleteProperty(instance, 'constructor')
  }
}

function createCountedConstructor(
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
      // On PostgreSQL, Sequelize itself throws an error for a skipped row.
      throw error instanceof EmptyResultError ? skipped() : error
    }
  }
}
