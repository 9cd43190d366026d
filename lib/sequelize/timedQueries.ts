// Timeouts of statements that Sequelize itself sends to a server: statements of instances, and statements of hooks within a write.

import { QueryTypes, type Sequelize } from 'sequelize'
import { type Connection, closeConnection, limitOf, type Wanted } from './connections.js'
import { TIME_HOOK } from './run.js'
import { checkSession } from './session.js'
import { assertAwaited, clockOf, StatementClock, StatementTimeout } from './statementTime.js'

/** Sequelize's object for one statement: its connection, and the function that sends it. */
interface Query {
  readonly connection: Connection
  run(...given: unknown[]): Promise<unknown>
}

interface Options extends Wanted {
  readonly transaction?: object | null
}

const timed = new WeakSet<Sequelize>()

/**
 * Limits the time of queries with a limit in their options, and of queries on a connection with a limit. It uses a hook of the Sequelize
 * instance that runs when a query has its connection and is not sent yet.
 */
export function timeQueries(sequelize: Sequelize): void {
  if (timed.has(sequelize)) return
  timed.add(sequelize)
  sequelize.addHook('beforeQuery', TIME_HOOK, async (options: Options, query: object) => {
    const one = query as Query
    const known = clockOf(one.connection)
    if (known === undefined) await begin(sequelize, options, one)
    else timeRun(one, known, () => undefined)
  })
}

async function begin(sequelize: Sequelize, options: Options, query: Query): Promise<void> {
  const limit = limitOf(options)
  if (limit === undefined) return
  const { connection } = query
  // The host owns its transactions and their connections.
  const isOfPool = !options.transaction
  const leaving = isOfPool && options.type === QueryTypes.SELECT ? limit.leaving : null
  assertAwaited(leaving)
  const clock = new StatementClock(sequelize, limit, connection, leaving)
  const end = (): void => {
    clock.stop()
    // Sequelize returns it to the pool next. The pool no longer knows it.
    if (clock.isTainted && isOfPool) void closeConnection(sequelize, connection)
  }
  try {
    if (isOfPool) await checkSession(sequelize, connection)
    assertAwaited(leaving)
  } catch (error) {
    end()
    throw error
  }
  timeRun(query, clock, end)
}

/** Limits the time of one query. Sequelize creates the object for this query only. */
function timeRun(query: Query, clock: StatementClock, end: () => void): void {
  query.run = timedRun(query, clock, end)
}

function timedRun(query: Query, clock: StatementClock, end: () => void): Query['run'] {
  const { run } = query
  return async (...given) => {
    try {
      return await clock.run(run.apply(query, given))
    } catch (error) {
      throw error instanceof StatementTimeout ? Object.assign(error, { sql: given[0] }) : error
    } finally {
      end()
    }
  }
}
