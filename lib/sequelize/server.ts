import type { Sequelize } from 'sequelize'
import { versionOf } from './model.js'

/** What servers have said of themselves when a connection was made, which Sequelize keeps without its words. */
const greetings = new WeakMap<Sequelize, string>()

/** Remembers the greeting of a server: mysql2 speaks to MariaDB as to MySQL, and only the greeting tells them apart. */
export function hear(sequelize: Sequelize, connection: object): void {
  if (greetings.has(sequelize)) return
  const greeting: unknown = Reflect.get(connection, '_handshakePacket')
  const words: unknown = typeof greeting === 'object' && greeting !== null ? Reflect.get(greeting, 'serverVersion') : ''
  greetings.set(sequelize, typeof words === 'string' ? words : '')
}

/**
 * The version of the server as Sequelize knows it, from the first connection on, with the product where the driver does
 * not imply it: `10.11.6 MariaDB`. By mysql2 the product is known from the first write on.
 */
export function serverOf(sequelize: Sequelize): string {
  const isMariaDb = /mariadb/i.test(greetings.get(sequelize) ?? '')
  return `${String(versionOf(sequelize))}${isMariaDb ? ' MariaDB' : ''}`
}
