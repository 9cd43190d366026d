// Identifies the server of a connection, and detects whether another connection may reach another server. The
// information comes from the connection's own session.

import type { Sequelize } from 'sequelize'
import type { Connection } from './connections.js'

/** Expression that identifies a MySQL or MariaDB server among several behind one address. */
export const SERVER_EXPRESSION = "CONCAT_WS(' ', @@server_id, @@hostname, @@port, @@datadir)"

/** Identity of a connection on its server. */
export interface ServerSide {
  /** Whether driver and server know the connection by one number. Poolers and proxies use other numbers. */
  readonly isDirect: boolean
  /** Identity of the server, if an address may lead to several servers. null if only one server is possible. */
  readonly server: string | null
}

const serverSides = new WeakMap<Connection, ServerSide>()

/** Returns the server side of a connection whose session was checked. */
export function serverSideOf(connection: Connection): ServerSide | undefined {
  return serverSides.get(connection)
}

const firstServers = new WeakMap<Sequelize, string>()
const spreadInstances = new WeakSet<Sequelize>()

/** Notes that connections of a Sequelize instance may reach different servers. */
export function markSeveralServers(sequelize: Sequelize): void {
  spreadInstances.add(sequelize)
}

/**
 * Whether another connection may reach another server than a writing connection: through a pooler, a proxy, or an
 * address of several servers. In this case a KILL may miss a hanging statement, which may be committed after its
 * timeout.
 */
export function hasSeveralServers(sequelize: Sequelize): boolean {
  return spreadInstances.has(sequelize)
}

/** Stores the server side of a connection. Notes whether its server differs from the server of earlier connections. */
export function storeServerSide(sequelize: Sequelize, connection: Connection, seat: ServerSide): void {
  serverSides.set(connection, seat)
  // Replicas do not receive writes.
  if (connection.queryType === 'read') return
  const { isDirect, server } = seat
  if (!isDirect || (server !== null && (firstServers.get(sequelize) ?? server) !== server))
    markSeveralServers(sequelize)
  if (server !== null) firstServers.set(sequelize, server)
}
