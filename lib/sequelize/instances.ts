// Instances stored through Sequelize.

import type { Model, ModelStatic, Transaction } from 'sequelize'
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
  const [row] = await queryRows(sequelize, { sql: insertedKeys, bind: null, transaction, writes: true })
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
