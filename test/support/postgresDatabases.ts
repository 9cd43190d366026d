// PostgreSQL databases for tests. Creating and dropping a database costs more processor time than most tests, so a test
// run empties its databases and uses them again. `cleanUp` drops the databases after the run.

import { createRequire } from 'node:module'
import { newName, serverOptions } from './servers.js'

interface Client {
  connect(): Promise<void>
  query(sql: string): Promise<{ readonly rows: readonly Record<string, string>[] }>
  end(): Promise<void>
  on(event: 'error' | 'end', listener: () => void): void
  ref(): void
  unref(): void
}

async function connect(database?: string): Promise<Client> {
  const { Client } = createRequire(import.meta.url)('pg') as { Client: new (options: object) => Client }
  const { host, port, username, password, dialectOptions, ...options } = serverOptions('postgres')
  const client = new Client({
    ...dialectOptions,
    host,
    port,
    user: username,
    password,
    ...options,
    ...(database && { database }),
  })
  client.on('error', () => undefined)
  await client.connect()
  return client
}

let control: Promise<Client> | undefined
let last: Promise<unknown> = Promise.resolve()

async function connectControl(): Promise<Client> {
  const client = await connect()
  client.on('end', () => {
    control = undefined
  })
  return client
}

/**
 * Runs a statement on a connection to the server, outside of the test databases. The connection stays open, but does
 * not keep the process alive.
 */
function onControl(sql: string): Promise<readonly Record<string, string>[]> {
  const result = last.then(async () => {
    control ??= connectControl()
    const client = await control
    client.ref()
    try {
      return (await client.query(sql)).rows
    } finally {
      client.unref()
    }
  })
  last = result.catch(() => undefined)
  return result
}

const FREE = '_free'

/** Returns the name of an empty database: a free database of this run, renamed, or a new database. */
export async function takeDatabase(run: string): Promise<string> {
  const name = newName(run)
  const free = await onControl(
    `SELECT datname FROM pg_database WHERE starts_with(datname, 'crud_test_${run}_') AND datname LIKE '%\\${FREE}'
     ORDER BY random() LIMIT 4`,
  )
  for (const { datname } of free) {
    const isTaken = await onControl(`ALTER DATABASE ${datname} RENAME TO ${name}`).then(
      () => true,
      // Another process has taken the free database.
      () => false,
    )
    if (isTaken) return name
  }
  await onControl(`CREATE DATABASE ${name}`)
  // Nobody misses the rows of a test after a crash of the server, and a commit need not wait for the disk.
  await onControl(`ALTER DATABASE ${name} SET synchronous_commit = off`)
  return name
}

/** Finds out whether a database differs from a new database in parts other than its schemas. */
const ALTERED = `SELECT 1 FROM pg_database WHERE datname = current_database() AND
  (datacl IS NOT NULL OR EXISTS (SELECT 1 FROM pg_db_role_setting WHERE setdatabase = pg_database.oid
      AND setconfig <> '{synchronous_commit=off}')
    OR EXISTS (SELECT 1 FROM pg_event_trigger) OR EXISTS (SELECT 1 FROM pg_publication))`

const SCHEMAS = `SELECT quote_ident(nspname) AS name FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'`

/** Empties a database. Returns false if the database must be dropped instead. */
async function isEmptied(name: string): Promise<boolean> {
  const client = await connect(name)
  try {
    await client.query("SET lock_timeout = '5s'; SET client_min_messages = error")
    if ((await client.query(ALTERED)).rows.length > 0) return false
    const { rows } = await client.query(SCHEMAS)
    const dropped = rows.map(({ name }) => `DROP SCHEMA ${name} CASCADE;`).join(' ')
    await client.query(
      `${dropped} CREATE SCHEMA public AUTHORIZATION pg_database_owner; GRANT USAGE ON SCHEMA public TO PUBLIC`,
    )
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}

/** Frees a database for another test. Without `TEST_RUN`, the database is dropped, because `cleanUp` would not run. */
export async function giveBack(name: string): Promise<void> {
  if (process.env.TEST_RUN !== undefined && (await isEmptied(name)))
    await onControl(`ALTER DATABASE ${name} RENAME TO ${name}${FREE}`)
  else await onControl(`DROP DATABASE ${name}`)
}
