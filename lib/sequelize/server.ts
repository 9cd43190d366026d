import type { Sequelize } from 'sequelize'
import { versionOf } from './model.js'

/** What servers have said of themselves when a connection was made, which Sequelize keeps without its words. */
const greetings = new WeakMap<Sequelize, string>()

/** Remembers the greeting of a server: mysql2 speaks to MariaDB as to MySQL, and only the greeting tells them apart. */
export function hear(sequelize: Sequelize, connection: object): void {
  if (greetings.has(sequelize)) return
  const greeting: unknown = Reflect.get(connection, '_handshakePacket')
  const words: unknown = typeof greeting === 'object' && greeting !== null ? Reflect.get(greeting, 'serverVersion') : ''
  rememberVersion(sequelize, words)
}

/** The same of what the server says of its version in a statement. */
export function rememberVersion(sequelize: Sequelize, words: unknown): void {
  if (!greetings.has(sequelize)) greetings.set(sequelize, typeof words === 'string' ? words : '')
}

/**
 * The version of the server as Sequelize knows it, from the first connection on, with the product where the driver does
 * not imply it: `10.11.6 MariaDB`. By mysql2 the product is known from the first write on.
 */
export function serverOf(sequelize: Sequelize): string {
  const version = versionOf(sequelize)
  const greeting = greetings.get(sequelize) ?? ''
  const known = servers.get(sequelize)
  if (known !== undefined && known.version === version && known.greeting === greeting) return known.server
  const server = `${String(version)}${/mariadb/i.test(greeting) ? ' MariaDB' : ''}`
  servers.set(sequelize, { version, greeting, server })
  return server
}

/** What was made of what is known of a server. */
const servers = new WeakMap<
  Sequelize,
  { readonly version: unknown; readonly greeting: string; readonly server: string }
>()
