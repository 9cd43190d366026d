// Which server a connection is connected to, and whether another connection would find the same one. The connection itself is asked,
// with the settings of its session.

import type { Sequelize } from 'sequelize'
import type { Connection } from './connections.js'

/** Names a server of MySQL or MariaDB among those that an address may lead to. */
export const SERVER = "CONCAT_WS(' ', @@server_id, @@hostname, @@port, @@datadir)"

/** The server's end of a connection. */
export interface Seat {
  /** Whether the server has the number for it that the driver has. A pooler or a proxy has numbers of its own. */
  readonly isDirect: boolean
  /** Names the server where an address may lead to several; null where that does not matter. */
  readonly server: string | null
}

const seats = new WeakMap<Connection, Seat>()

/** The server's end of a connection whose session was checked. */
export function seatOf(connection: Connection): Seat | undefined {
  return seats.get(connection)
}

const firsts = new WeakMap<Sequelize, string>()
const spread = new WeakSet<Sequelize>()

/** Remembers that another connection may not find the server that one of a Sequelize instance is connected to. */
export function markSpread(sequelize: Sequelize): void {
  spread.add(sequelize)
}

/**
 * Whether another connection may not find the server of one that writes: there is a pooler or a proxy between, or several servers
 * have one address. Then a statement that hangs may be committed after it was given up.
 */
export function isSpread(sequelize: Sequelize): boolean {
  return spread.has(sequelize)
}

/** Remembers what a connection was asked. */
export function keepSeat(sequelize: Sequelize, connection: Connection, seat: Seat): void {
  seats.set(connection, seat)
  // A replica is no server that is written to.
  if (connection.queryType === 'read') return
  const { isDirect, server } = seat
  if (!isDirect || (server !== null && (firsts.get(sequelize) ?? server) !== server)) markSpread(sequelize)
  if (server !== null) firsts.set(sequelize, server)
}
