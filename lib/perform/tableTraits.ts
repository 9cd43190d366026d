import type { Model, ModelStatic, Transaction } from 'sequelize'
import type { TableTraits } from '../../types/table.js'
import { problem } from '../common/problem.js'
import { waitForShared } from '../sequelize/connections.js'
import { isSequelizeError, isTransient } from '../sequelize/failure.js'
import { runReadQuery } from '../sequelize/run.js'
import { storeVersion } from '../sequelize/serverVersion.js'
import { withoutCause } from '../trace/channels.js'
import { withStatementTimeout } from './statementTimeout.js'
import type { StatementContext } from './store.js'
import { surroundingTransaction } from './transaction.js'

const traitsByModel = new WeakMap<ModelStatic<Model>, TableTraits>()
const pendingReads = new WeakMap<ModelStatic<Model>, Promise<TableTraits>>()

/** Worst-case assumptions for a table that the catalogue does not describe. */
const UNKNOWN_TRAITS: TableTraits = Object.freeze({
  canSkipWrites: true,
  canSkipLocks: true,
  countsInserted: true,
  countsFound: false,
  storesZero: false,
  unsafeEngine: null,
  hasDefault: () => true,
})

/** Assumptions for a table that neither skips writes nor prevents locks. */
const RELIABLE_TRAITS: TableTraits = Object.freeze({ ...UNKNOWN_TRAITS, canSkipWrites: false, canSkipLocks: false })

/**
 * Reads the traits of the model's table before the first write. Call it before a transaction begins, because it needs a
 * connection.
 */
export function loadTableTraits(store: StatementContext): Promise<TableTraits> {
  const { model } = store
  const known = traitsByModel.get(model)
  if (known !== undefined) return Promise.resolve(known)
  const joined = surroundingTransaction(store)
  if (joined !== undefined) return readTableTraits(store, joined)
  // Concurrent writers share one read and continue in the order of their arrival.
  const others = pendingReads.get(model)
  if (others !== undefined) return waitForShared(store.sequelize, others)
  const reading = readTableTraits(store, undefined).finally(() => pendingReads.delete(model))
  pendingReads.set(model, reading)
  return reading
}

/**
 * Returns the traits of a table for writing one existing record. On databases that never skip rows, no query is needed.
 */
export function loadTraitsForRecord(store: StatementContext): Promise<TableTraits> {
  return store.dialect.tableCatalogue.canSkipRows ? loadTableTraits(store) : Promise.resolve(RELIABLE_TRAITS)
}

async function readTableTraits(store: StatementContext, transaction: Transaction | undefined): Promise<TableTraits> {
  const { dialect, model, sequelize, limit } = store
  const run = { sql: dialect.tableCatalogue.write(model), transaction, writes: true, limit, isLogged: false }
  try {
    // Sequelize does not publish its version query on the diagnostics channel, so this query is not published either.
    const rows = await withoutCause(() => withStatementTimeout(store, transaction, () => runReadQuery(sequelize, run)))
    const version = rows[0]?.version
    if (version !== undefined) storeVersion(sequelize, version)
    const read = dialect.tableCatalogue.read(rows)
    if (read === null) return UNKNOWN_TRAITS
    if (read.unsafeEngine !== null && !traitsByModel.has(model)) warnUnsafeEngine(model, read.unsafeEngine)
    traitsByModel.set(model, read)
    return read
  } catch (error) {
    if (!isSequelizeError(error) || isTransient(error, dialect)) throw error
    return UNKNOWN_TRAITS
  }
}

/** Discards the traits of a table that behaved differently. */
export function forgetTableTraits({ model }: StatementContext): void {
  traitsByModel.delete(model)
}

/** Returns the Problem for a write that the table skipped without an error. */
export function skippedWriteError(): Error {
  return problem('not-written', {
    detail: 'A rule of the database skipped the change. Nothing was written.',
  })
}

function warnUnsafeEngine(model: ModelStatic<Model>, engine: string): void {
  process.emitWarning(
    `${model.name}: its table uses the storage engine ${engine}, which has no transactions. ` +
      'A write that fails leaves what was written before the failure. Use ALTER TABLE ... ENGINE = InnoDB.',
    { code: 'CRUD_NO_TRANSACTIONS' },
  )
}
