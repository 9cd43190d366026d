// The server behind a connection, and whether another connection would reach the same server. The session of the connection itself is
// queried.

import type { Sequelize } from 'sequelize'
import type { Connection } from './connections.js'

/** Expression that identifies a MySQL or MariaDB server among several behind one address. */
export const SERVER_EXPRESSION = "CONCAT_WS(' ', @@server_id, @@hostname, @@port, @@datadir)"

/** Server side of a connection. */
export interface ServerSide {
  /** Whether driver and server use the same connection number. Poolers and proxies have other numbers. */
  readonly isDirect: boolean
  /** Identity of the server, if an address may lead to several servers. Null if that does not matter. */
  readonly server: string | null
}

const serverSides = new WeakMap<Connection, ServerSide>()

/** Server side of a connection whose session was checked. */
export function serverSideOf(connection: Connection): ServerSide | undefined {
  return serverSides.get(connection)
}

const firstServers = new WeakMap<Sequelize, string>()
const spreadInstances = new WeakSet<Sequelize>()

/** Records that connections of a Sequelize instance may reach different servers. */
export function markSeveralServers(sequelize: Sequelize): void {
  spreadInstances.add(sequelize)
}

/**
 * Whether another connection may miss the server of a writing connection: because of a pooler, a proxy, or several servers with one
 * address. Then a hanging statement may be committed after it was given up.
 */
export function hasSeveralServers(sequelize: Sequelize): boolean {
  return spreadInstances.has(sequelize)
}

/** Stores the server side of a connection. */
export function storeServerSide(sequelize: Sequelize, connection: Connection, seat: ServerSide): void {
  serverSides.set(connection, seat)
  // Replicas do not receive writes.
  if (connection.queryType === 'read') return
  const { isDirect, server } = seat
  if (!isDirect || (server !== null && (firstServers.get(sequelize) ?? server) !== server))
    markSeveralServers(sequelize)
  if (server !== null) firstServers.set(sequelize, server)
}
