import type { Model, ModelStatic, Transaction } from 'sequelize'
import type { Failure } from '../../types/failures.js'
import type { TableTraits } from '../../types/table.js'
import { problem } from '../common/problem.js'
import { waitBehind } from '../sequelize/connections.js'
import { failureOf, isOfSequelize } from '../sequelize/failure.js'
import { queryRows } from '../sequelize/run.js'
import { rememberVersion } from '../sequelize/server.js'
import { withoutCause } from '../watch/channels.js'
import type { Store } from './store.js'
import { timed } from './timed.js'
import { joinedBy } from './transaction.js'

const traits = new WeakMap<ModelStatic<Model>, TableTraits>()
const readings = new WeakMap<ModelStatic<Model>, Promise<TableTraits>>()

/** Assumptions for a table that the catalogue does not describe: the worst case. */
const UNKNOWN: TableTraits = Object.freeze({
  writesLess: true,
  locksLess: true,
  countsInserted: true,
  countsFound: false,
  storesZero: false,
  unsafeEngine: null,
  hasDefault: () => true,
})

/** Assumptions for a table that neither skips writes nor prevents locks. */
const WHOLE: TableTraits = Object.freeze({ ...UNKNOWN, writesLess: false, locksLess: false })

const PASSING: ReadonlySet<Failure | null> = new Set<Failure>(['deadlock', 'unavailable', 'timeout', 'left'])

/**
 * The traits of the model's table, read before the first write. Call it before a transaction begins: it needs a
 * connection.
 */
export function tableOf(store: Store): Promise<TableTraits> {
  const { model } = store
  const known = traits.get(model)
  if (known !== undefined) return Promise.resolve(known)
  const joined = joinedBy(store)
  if (joined !== undefined) return traitsOf(store, joined)
  // Later writers wait and continue in the order of their arrival.
  const others = readings.get(model)
  if (others !== undefined) return waitBehind(store.sequelize, others)
  const reading = traitsOf(store, undefined).finally(() => readings.delete(model))
  readings.set(model, reading)
  return reading
}

/** The traits for writing one existing record, for which only skipped rows matter. */
export function tableOfOne(store: Store): Promise<TableTraits> {
  return store.dialect.tables.skips ? tableOf(store) : Promise.resolve(WHOLE)
}

async function traitsOf(store: Store, transaction: Transaction | undefined): Promise<TableTraits> {
  const { dialect, model, sequelize, limit } = store
  const run = { sql: dialect.tables.write(model), transaction, writes: true, limit, isLogged: false }
  try {
    // Not published on the diagnostics channel, as Sequelize's own version query is not.
    const rows = await withoutCause(() => timed(store, transaction, () => queryRows(sequelize, run)))
    const version = rows[0]?.version
    if (version !== undefined) rememberVersion(sequelize, version)
    const read = dialect.tables.read(rows)
    if (read === null) return UNKNOWN
    if (read.unsafeEngine !== null && !traits.has(model)) warn(model, read.unsafeEngine)
    traits.set(model, read)
    return read
  } catch (error) {
    if (!isOfSequelize(error) || PASSING.has(failureOf(error, dialect))) throw error
    return UNKNOWN
  }
}

/** Discards the traits, because the table behaved differently. */
export function forgetTable({ model }: Store): void {
  traits.delete(model)
}

/** The error if the table has skipped a write without an error. */
export function notWritten(): Error {
  return problem('not-written', {
    detail: 'A trigger, rule or policy of the database skipped the change. Nothing was written.',
  })
}

function warn(model: ModelStatic<Model>, engine: string): void {
  process.emitWarning(
    `${model.name}: its table uses the storage engine ${engine}, which has no transactions. ` +
      'A write that fails leaves what was written before the failure. Use ALTER TABLE ... ENGINE = InnoDB.',
    { code: 'CRUD_NO_TRANSACTIONS' },
  )
}
