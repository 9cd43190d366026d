// What is made of what drivers say: the codes that no server of the tests can be brought to say are held against it here.

import test from 'ava'
import {
  ConnectionAcquireTimeoutError,
  ConnectionRefusedError,
  DatabaseError,
  DataTypes,
  Sequelize,
  TimeoutError,
  UniqueConstraintError,
} from 'sequelize'
import { queryOf } from '../../../lib/index.js'
import { failureProblem, isDeadlock } from '../../../lib/perform/failure.js'
import { classifyFailure, isWrongServer } from '../../../lib/sequelize/failure.js'
import type { Plan } from '../../../types/plan.js'
import type { Resource } from '../../../types/resource.js'
import { dialectOptions } from '../../support/database.js'

const NAMES = ['sqlite', 'postgres', 'mysql', 'mariadb'] as const
type Name = (typeof NAMES)[number]

function resourceOf(dialect: Name): Resource {
  const sequelize = new Sequelize({ ...dialectOptions(dialect), logging: false })
  return queryOf(sequelize.define('Order', { product: DataTypes.STRING })).resource as Resource
}

const resources: Readonly<Record<Name, Resource>> = {
  sqlite: resourceOf('sqlite'),
  postgres: resourceOf('postgres'),
  mysql: resourceOf('mysql'),
  mariadb: resourceOf('mariadb'),
}

/** The databases that have a code. */
function homesOf(code: string | number): readonly Name[] {
  if (typeof code === 'number' || /^(?:ER_|PROTOCOL_)/.test(code)) return ['mysql', 'mariadb']
  if (/^E[A-Z]+$/.test(code)) return NAMES
  return code === '' || code.startsWith('SQLITE_') ? ['sqlite'] : ['postgres']
}

const GET: Plan = { kind: 'get', where: { kind: 'always' }, projection: { columns: [], members: [] } }

/** An error of Sequelize's as it wraps a driver's. */
function wrapped(message: string, said: object = {}): Error {
  return new DatabaseError(Object.assign(new Error(message), { sql: 'SELECT secret', ...said }))
}

/** PostgreSQL's driver and SQLite's have their codes in `code`, those of MySQL and MariaDB their numbers in `errno`. */
function coded(code: string | number): Error {
  return wrapped('secret', typeof code === 'string' ? { code } : { errno: code, code: 'ER_OF_SOME_NAME' })
}

const DEADLOCKS = ['40P01', '40001', 'ER_LOCK_DEADLOCK', 1213, 3101, 1020, 1205]

const UNAVAILABLE = [
  ...DEADLOCKS,
  ...['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_MISUSE', 'SQLITE_CANTOPEN', 'SQLITE_FULL', 'SQLITE_READONLY'],
  ...['55P03', '25P03', '25P04', '25006', '08000', '08001', '08003', '08004', '08006', '08007', '40002', '40003'],
  ...['53000', '53100', '53200', '53300', '53400', '57000', '57014', '57P01', '57P02', '57P03', '57P04', '57P05'],
  ...[1040, 1203, 1226, 1021, 1114, 1053, 1047, 1180, 1152, 1158, 1159, 1160, 1161, 1184, 2006, 2013],
  ...[1317, 1927, 3169, 1969, 3024, 4031, 1290, 1792, 1836],
  ...['ECONNRESET', 'ECONNREFUSED', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['PROTOCOL_CONNECTION_LOST', 'ER_SOCKET_UNEXPECTED_CLOSE', 'ER_SOCKET_TIMEOUT', 'ER_CMD_CONNECTION_CLOSED'],
  ...['ER_CMD_NOT_EXECUTED_DESTROYED', 'ER_CONNECTION_TIMEOUT', 'ER_GET_CONNECTION_TIMEOUT'],
]

const CONFLICTS = [
  '23503',
  '23001',
  1216,
  1217,
  1451,
  1452,
  1761,
  1762,
  '23P01',
  'P0001',
  1644,
  '44000',
  1369,
  '45000',
  '23502',
  1048,
  1364,
]

const INVALID = [
  ...['23514', 3819, 4025, '22001', '22003', '22007', '22021', '22P02', '22P05'],
  ...[1264, 1265, 1292, 1366, 1367, 1406, 1690, 3140, 'SQLITE_MISMATCH', 'SQLITE_TOOBIG', 1271, 3854],
  ...[1411, 3988, 1977, 3751, 4038],
]

/** Mistakes of the host's: of statements, tables, rights and collations. */
const NOBODYS = [
  ...['42601', '42P01', '42501', '28P01', '3D000', '08P01', '0A000', 'XX000', '2200', '220011'],
  ...[1064, 1146, 1045, 1044, 1054, 1267, 1270, 'SQLITE_ERROR', 'SQLITE_CORRUPT', 'SQLITE_NOTADB', ''],
]

/** What the drivers and their pools say of being closed, in words alone. */
const CLOSED = [
  'ConnectionManager.getConnection was called after the connection manager was closed!',
  "Can't add new command when connection is in closed state",
  'Connection is closed',
  'The connection was closed',
  'Connection terminated unexpectedly',
  'Client has encountered a connection error and is not queryable',
  'SQLITE_MISUSE: Database is closed',
  'Database handle is closed',
  'pool is draining and cannot accept work',
  'Pool is closed.',
  'Query read timeout',
  'ResourceRequest timed out',
]

test('a database that cannot answer now is 503 with Retry-After, by the code of whatever driver', (t) => {
  const of = (names: readonly Name[], ...errors: readonly Error[]): (readonly [Name, Error])[] =>
    names.flatMap((name) => errors.map((error) => [name, error] as const))
  const errors = [
    ...UNAVAILABLE.flatMap((code) => of(homesOf(code), coded(code), Object.assign(new Error('secret'), { code }))),
    ...CLOSED.flatMap((message) => of(NAMES, new Error(message), wrapped(message))),
    // PgBouncer's own, which name no function of PostgreSQL's source.
    ...of(['postgres'], wrapped('query_wait_timeout', { code: '08P01', severity: 'FATAL' })),
    ...of(
      NAMES,
      new ConnectionRefusedError(new Error('secret')),
      new ConnectionAcquireTimeoutError(new Error('secret')),
    ),
    ...of(NAMES, new TimeoutError(new Error('secret') as never)),
  ]
  for (const [name, error] of errors) {
    const problem = failureProblem(error, resources[name], GET)
    const what = `${name}: ${JSON.stringify(error)}`
    t.is(problem?.status, 503, what)
    t.is(problem?.headers['Retry-After'], '1', what)
    t.notRegex(JSON.stringify(problem), /secret/, what)
  }
})

test('a server that does not do this, as a primary of yesterday, is left by its connection', (t) => {
  const left = ['25006', 1290, 1792, 1836, 1047, 1180]
  for (const code of [...UNAVAILABLE, ...CONFLICTS, ...INVALID, ...NOBODYS]) {
    for (const name of homesOf(code)) {
      t.is(isWrongServer(coded(code), resources[name].dialect()), left.includes(code), `${name} ${code}`)
    }
  }
})

test('only conflicts with other writes are tried again', (t) => {
  for (const code of [...UNAVAILABLE, ...CONFLICTS, ...INVALID, ...NOBODYS]) {
    for (const name of homesOf(code)) {
      t.is(isDeadlock(coded(code), resources[name].dialect()), DEADLOCKS.includes(code), `${name} ${code}`)
    }
  }
  for (const thrown of ['40P01', null, undefined, 1213, { code: '40P01' }]) {
    for (const name of NAMES) t.false(isDeadlock(thrown, resources[name].dialect()))
  }
})

test('what PostgreSQL reports in any language is known by the function that reports it', (t) => {
  for (const [code, routine, failure] of [
    ['0A000', 'RevalidateCachedQuery', 'deadlock'],
    ['08P01', 'exec_bind_message', 'tooLarge'],
    // The same functions and codes are of other errors as well.
    ['25P02', 'exec_bind_message', null],
    ['0A000', 'transformSelectStmt', null],
  ] as const) {
    const error = wrapped('in another language', { code, routine, severity: 'FEHLER' })
    t.is(classifyFailure(error, resources.postgres.dialect()), failure, `${code} ${routine}`)
  }
})

test('what the database has against a change is 409, and against a value 400', (t) => {
  for (const [status, codes] of [
    [409, CONFLICTS],
    [400, INVALID],
  ] as const) {
    for (const code of codes) {
      for (const name of homesOf(code)) {
        const problem = failureProblem(coded(code), resources[name], GET)
        t.is(problem?.status, status, `${name} ${code}`)
        t.notRegex(JSON.stringify(problem), /secret/, String(code))
      }
    }
  }
})

test('an error of another database than the record’s means the same: a hook may talk to one', (t) => {
  for (const code of [...UNAVAILABLE, ...CONFLICTS, ...INVALID]) {
    const statuses = NAMES.map((name) => failureProblem(coded(code), resources[name], GET)?.status)
    t.is(new Set(statuses).size, 1, `${code}: ${statuses}`)
    t.not(statuses[0], undefined)
  }
})

test('a null that only the table forbids is 400 by the name of its column, however the driver says it', (t) => {
  for (const [name, error] of [
    ['sqlite', uniqueByMistake('SQLITE_CONSTRAINT: NOT NULL constraint failed: Orders.product')],
    ['postgres', wrapped('secret', { code: '23502', column: 'product' })],
    ['mysql', wrapped('secret', { errno: 1048, sqlMessage: "Column 'product' cannot be null" })],
    ['mariadb', wrapped('secret', { errno: 1364, sqlMessage: "Field 'product' doesn't have a default value" })],
  ] as const) {
    const problem = failureProblem(error, resources[name], GET)
    t.like(problem?.toJSON(), { status: 400, errors: { product: ['cannot be null.'] } }, name)
  }
})

/** What Sequelize takes every failed constraint of SQLite for. */
function uniqueByMistake(message: string): Error {
  return new UniqueConstraintError({
    parent: Object.assign(new Error(message), { sql: 'INSERT' }) as never,
    errors: [],
  })
}

test('what is no business of the client’s is no problem of its own', (t) => {
  for (const code of NOBODYS) {
    for (const name of homesOf(code)) t.is(failureProblem(coded(code), resources[name], GET), null, `${name} ${code}`)
  }
  for (const thrown of ['40P01', null, undefined, 1213, { code: '40P01' }]) {
    for (const name of NAMES) t.is(failureProblem(thrown, resources[name], GET), null)
  }
})
