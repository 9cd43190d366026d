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

/** What is assumed of a table that the catalogue does not tell: the worst. */
const UNKNOWN: TableTraits = Object.freeze({
  writesLess: true,
  locksLess: true,
  countsInserted: true,
  countsFound: false,
  storesZero: false,
  unsafeEngine: null,
  hasDefault: () => true,
})

/** What matters of a table that writes all that a statement says. */
const WHOLE: TableTraits = Object.freeze({ ...UNKNOWN, writesLess: false, locksLess: false })

const PASSING: ReadonlySet<Failure | null> = new Set<Failure>(['deadlock', 'unavailable', 'timeout', 'left'])

/** The traits of the model's table, read at the first write. Call it before a transaction begins: it needs a connection. */
export function tableOf(store: Store): Promise<TableTraits> {
  const { model } = store
  const known = traits.get(model)
  if (known !== undefined) return Promise.resolve(known)
  const joined = joinedBy(store)
  if (joined !== undefined) return traitsOf(store, joined)
  // Those who write first go on in the order in which they came.
  const others = readings.get(model)
  if (others !== undefined) return waitBehind(store.sequelize, others)
  const reading = traitsOf(store, undefined).finally(() => readings.delete(model))
  readings.set(model, reading)
  return reading
}

/** The same for a write of one record that is there, for which only skipped rows matter. */
export function tableOfOne(store: Store): Promise<TableTraits> {
  return store.dialect.tables.skips ? tableOf(store) : Promise.resolve(WHOLE)
}

async function traitsOf(store: Store, transaction: Transaction | undefined): Promise<TableTraits> {
  const { dialect, model, sequelize, limit } = store
  const run = { sql: dialect.tables.write(model), transaction, writes: true, limit, isLogged: false }
  try {
    // As Sequelize asks for the version of a server, nobody is told of it.
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

/** Has the traits read again: the table does what they do not say. */
export function forgetTable({ model }: Store): void {
  traits.delete(model)
}

/** The answer where the table has skipped a write without an error. */
export function notWritten(): Error {
  return problem('not-written', {
    detail: 'The database has left the change out, by a rule of its own. Nothing was written.',
  })
}

function warn(model: ModelStatic<Model>, engine: string): void {
  process.emitWarning(
    `${model.name}: its table uses the storage engine ${engine}, which has no transactions. ` +
      'A write that fails leaves what was written before the failure. Use ALTER TABLE ... ENGINE = InnoDB.',
    { code: 'CRUD_NO_TRANSACTIONS' },
  )
}
