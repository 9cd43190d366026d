// Table of idempotency records, which store replies so that a repeated write is replayed.

import { DataTypes, type Model, type ModelStatic, Op, type Sequelize, type Transaction } from 'sequelize'
import { AS_INSTANCES } from './instances.js'
import { sequelizeOf } from './internals.js'
import { statementLoggingOf } from './logging.js'

const TABLE = 'crud_idempotency_keys'

/**
 * Returns the model of the table. Adds the model to a Sequelize instance that lacks it, so that `sync` creates the
 * table.
 */
export function idempotencyModelOf(sequelize: Sequelize): ModelStatic<Model> {
  if (sequelize.isDefined(TABLE)) return sequelize.model(TABLE)
  // Only on MySQL and MariaDB, TEXT is limited to 64 KiB.
  const hasLong = sequelize.getDialect() === 'mysql' || sequelize.getDialect() === 'mariadb'
  const attributes = {
    id: { type: DataTypes.STRING(64), primaryKey: true },
    fingerprint: { type: DataTypes.STRING(64), allowNull: false },
    reply: { type: hasLong ? DataTypes.TEXT('long') : DataTypes.TEXT },
    expiresAt: { type: DataTypes.DATE(3), allowNull: false },
  }
  return sequelize.define(TABLE, attributes, {
    tableName: TABLE,
    timestamps: false,
    paranoid: false,
    underscored: false,
    indexes: [{ name: `${TABLE}_expires`, fields: ['expiresAt'] }],
  })
}

/** Whether a model is the model of idempotency records. */
export function isIdempotencyModel({ sequelize, name }: ModelStatic<Model>): boolean {
  return name === TABLE && sequelize?.isDefined(TABLE) === true
}

export interface IdempotencyRecord {
  readonly fingerprint: string
  /** The reply as text. null for a write in progress. */
  readonly reply: string | null
  readonly isExpired: boolean
}

/**
 * Returns the options of a statement on the table. Hooks of the host do not run, because they apply only to the host's
 * records.
 */
function transactionOptions(model: ModelStatic<Model>, transaction: Transaction) {
  return { transaction, hooks: false, ...AS_INSTANCES, ...statementLoggingOf(sequelizeOf(model)) }
}

export async function findIdempotencyRecord(
  model: ModelStatic<Model>,
  id: string,
  now: Date,
  transaction: Transaction,
): Promise<IdempotencyRecord | null> {
  const found = await model.unscoped().findByPk(id, transactionOptions(model, transaction) as object)
  if (found === null) return null
  const values = found.get() as { fingerprint: unknown; reply: unknown; expiresAt: unknown }
  const { fingerprint, reply, expiresAt } = values
  const isExpired = new Date(expiresAt as string).getTime() <= now.getTime()
  return { fingerprint: String(fingerprint), reply: typeof reply === 'string' ? reply : null, isExpired }
}

export async function insertIdempotencyRecord(
  model: ModelStatic<Model>,
  place: { readonly id: string; readonly fingerprint: string; readonly expiresAt: Date },
  transaction: Transaction,
): Promise<void> {
  await model.create({ ...place, reply: null } as never, transactionOptions(model, transaction))
}

export async function storeReply(
  model: ModelStatic<Model>,
  id: string,
  reply: string,
  transaction: Transaction,
): Promise<void> {
  await model
    .unscoped()
    .update({ reply } as never, { where: { id } as never, ...transactionOptions(model, transaction) })
}

/**
 * Deletes records, unless they are no longer expired: another process may have removed an expired record and stored a
 * new one with the same key.
 */
export async function deleteExpiredRecords(
  model: ModelStatic<Model>,
  ids: readonly string[],
  now: Date,
  transaction: Transaction,
): Promise<void> {
  const where = { id: ids, expiresAt: { [Op.lte]: now } }
  await model.unscoped().destroy({ where, ...transactionOptions(model, transaction) } as object)
}

/** Returns the keys of some expired records, sorted so that processes that delete the same records do not deadlock. */
export async function findExpiredRecords(
  model: ModelStatic<Model>,
  now: Date,
  most: number,
): Promise<readonly string[]> {
  const where = { expiresAt: { [Op.lte]: now } }
  const found = await model.unscoped().findAll({
    attributes: ['id'],
    where,
    limit: most,
    hooks: false,
    useMaster: true,
    ...AS_INSTANCES,
    ...statementLoggingOf(sequelizeOf(model)),
  } as object)
  return found.map((each) => String(each.get('id'))).sort()
}
