// Timeouts of statements that Sequelize itself sends to a server: statements of instances, and statements of hooks within a write.

import { QueryTypes, type Sequelize } from 'sequelize'
import { type Connection, type ConnectionOptions, closeConnection, limitOf } from './connections.js'
import { OWN_HOOK } from './run.js'
import { checkSession } from './session.js'
import { assertConnected, StatementTimeout, StatementTimer, timerOf } from './statementTimeout.js'

/** Sequelize's object for one statement: its connection, and the function that sends it. */
interface SequelizeQuery {
  readonly connection: Connection
  run(...given: unknown[]): Promise<unknown>
}

interface QueryOptions extends ConnectionOptions {
  readonly transaction?: object | null
}

const timedInstances = new WeakSet<Sequelize>()

/**
 * Limits the time of queries with a limit in their options, and of queries on a connection with a limit. A hook of the
 * Sequelize instance runs when a query has its connection and is not sent yet.
 */
export function useTimedQueries(sequelize: Sequelize): void {
  if (timedInstances.has(sequelize)) return
  timedInstances.add(sequelize)
  sequelize.addHook('beforeQuery', OWN_HOOK, async (options: QueryOptions, query: object) => {
    const one = query as SequelizeQuery
    const known = timerOf(one.connection)
    if (known === undefined) await beginQuery(sequelize, options, one)
    else timeRun(one, known, () => undefined)
  })
}

async function beginQuery(sequelize: Sequelize, options: QueryOptions, query: SequelizeQuery): Promise<void> {
  const limit = limitOf(options)
  if (limit === undefined) return
  const { connection } = query
  // The host owns its transactions and their connections.
  const isOfPool = !options.transaction
  const isSelect = options.type === QueryTypes.SELECT
  const client = isOfPool && isSelect ? limit.client : null
  assertConnected(client)
  const timer = new StatementTimer(sequelize, limit, connection, { client, autocommits: isOfPool && !isSelect })
  const endQuery = (): void => {
    timer.stop()
    // Sequelize returns the connection to the pool next, but the pool no longer knows the connection.
    if (timer.isStopSent && isOfPool) void closeConnection(sequelize, connection)
  }
  try {
    if (isOfPool) await checkSession(sequelize, connection)
    assertConnected(client)
  } catch (error) {
    endQuery()
    throw error
  }
  timeRun(query, timer, endQuery)
}

/** Limits the time of one query. Sequelize creates the object for this query only. */
function timeRun(query: SequelizeQuery, timer: StatementTimer, end: () => void): void {
  query.run = createTimedRun(query, timer, end)
}

function createTimedRun(query: SequelizeQuery, timer: StatementTimer, end: () => void): SequelizeQuery['run'] {
  const { run } = query
  return async (...given) => {
    try {
      return await timer.run(run.apply(query, given))
    } catch (error) {
      throw error instanceof StatementTimeout ? Object.assign(error, { sql: given[0] }) : error
    } finally {
      end()
    }
  }
}
