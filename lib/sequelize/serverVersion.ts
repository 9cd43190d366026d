import type { Sequelize } from 'sequelize'
import { internalsOf } from './internals.js'

/** Server greetings from the first connection. Sequelize keeps only the version number. */
const greetingsBySequelize = new WeakMap<Sequelize, string>()

/** Stores the greeting of a server. With mysql2, only the greeting distinguishes MariaDB from MySQL. */
export function storeGreeting(sequelize: Sequelize, connection: object): void {
  if (greetingsBySequelize.has(sequelize)) return
  const greeting: unknown = Reflect.get(connection, '_handshakePacket')
  const words: unknown = typeof greeting === 'object' && greeting !== null ? Reflect.get(greeting, 'serverVersion') : ''
  storeVersion(sequelize, words)
}

/** Stores the version text that a statement returned. */
export function storeVersion(sequelize: Sequelize, words: unknown): void {
  if (!greetingsBySequelize.has(sequelize)) greetingsBySequelize.set(sequelize, typeof words === 'string' ? words : '')
}

/**
 * Returns the server version that Sequelize knows after the first connection. The version includes the product if the
 * driver does not determine the product: `10.11.6 MariaDB`. With mysql2 the product is known after the first write.
 */
export function serverVersionOf(sequelize: Sequelize): string {
  const greeting = greetingsBySequelize.get(sequelize) ?? ''
  return `${String(internalsOf(sequelize).options.databaseVersion)}${/mariadb/i.test(greeting) ? ' MariaDB' : ''}`
}
