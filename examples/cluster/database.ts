import { Sequelize } from 'sequelize'

/** A database that this run creates on an existing server. */
export interface DatabaseChoice {
  /** URL of the server with an existing database, such as `mysql://root@127.0.0.1:3306/test`. */
  readonly url: string
  readonly dialect: 'mysql' | 'mariadb' | 'postgres'
  readonly name: string
}

const DEFAULT_URL = 'mysql://root@127.0.0.1:3306/test'

/**
 * Reads the database from the environment. The default is MariaDB on this machine. @throws RangeError for other kinds
 * of databases
 */
export function databaseOf({ DATABASE_URL: url = DEFAULT_URL }: NodeJS.ProcessEnv, name: string): DatabaseChoice {
  const scheme = new URL(url).protocol.slice(0, -1)
  const dialect = scheme === 'postgresql' ? 'postgres' : scheme
  if (dialect === 'mysql' || dialect === 'mariadb' || dialect === 'postgres') return { url, dialect, name }
  throw new RangeError(`DATABASE_URL begins with ${scheme}:, which is none of mysql, mariadb and postgres.`)
}

/** Connects to a database on the server. Default: the database in the URL. */
export function connect({ url, dialect }: DatabaseChoice, database?: string): Sequelize {
  const { hostname, port, username, password, pathname } = new URL(url)
  return new Sequelize({
    dialect,
    host: hostname,
    ...(port === '' ? {} : { port: Number(port) }),
    username: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: database ?? pathname.slice(1),
    logging: false,
  })
}

export async function createDatabase(choice: DatabaseChoice): Promise<void> {
  const charset = choice.dialect === 'postgres' ? '' : ' CHARACTER SET utf8mb4'
  await run(choice, `CREATE DATABASE ${choice.name}${charset}`)
}

export async function dropDatabase(choice: DatabaseChoice): Promise<void> {
  await run(choice, `DROP DATABASE ${choice.name}`)
}

async function run(choice: DatabaseChoice, sql: string): Promise<void> {
  const server = connect(choice)
  try {
    await server.query(sql)
  } finally {
    await server.close()
  }
}
