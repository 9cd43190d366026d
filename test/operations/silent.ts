// Connections that fall silent: the network delivers nothing any more, and no end of the connection either. Requests are answered in time, the
// pool opens other connections, and what was answered 503 is not written when the network delivers again.

import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic, Op, type Options, QueryTypes, Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter } from '../../lib/index.js'
import { serve, type TestServer } from '../support/server.js'
import {
  type DatabaseServer,
  MARIADB,
  mariaDbAt,
  onServer,
  POSTGRES,
  postgresAt,
  startMariaDb,
  startPostgres,
  startProxy,
} from './servers/index.js'
import { rig, tell, using } from './servers/rig.js'

/** Milliseconds of limits.statementTime where a test does not wait for the default. */
const TIME = 500
/** Milliseconds that the router waits for an answer once it has cancelled a statement. */
const GRACE = 2000
/** Milliseconds for all else, on a machine that has much to do. */
const SLACK = 3000
const CONNECTIONS = 3
/** More than the pool has connections, several times over. */
const REQUESTS = 12

const MAKE = [
  'CREATE TABLE things (id SERIAL PRIMARY KEY, name VARCHAR(50))',
  "INSERT INTO things (name) VALUES ('one'), ('two')",
]

interface Bench extends TestServer {
  readonly sequelize: Sequelize
  /** The same database, without the proxy. */
  readonly direct: Sequelize
  /** Statements that Sequelize has logged. */
  readonly sent: readonly string[]
  readonly proxy: Awaited<ReturnType<typeof startProxy>>
  readonly Thing: ModelStatic<Model>
}

interface Place {
  readonly server: DatabaseServer
  readonly optionsAt: (port: number) => Options
}

async function bench(t: ExecutionContext, { server, optionsAt }: Place, limits: CrudOptions['limits']): Promise<Bench> {
  await onServer(server.options, ...MAKE)
  const proxy = using(t, await startProxy(server.port))
  const pool = { max: CONNECTIONS, acquire: 60_000, idle: 600_000 }
  const sent: string[] = []
  const sequelize = new Sequelize({ ...optionsAt(proxy.port), logging: (sql) => void sent.push(sql), pool })
  const direct = new Sequelize({ ...server.options, logging: false })
  t.teardown(() => Promise.all([sequelize.close(), direct.close()]))
  const define = (name: string) =>
    sequelize.define(name, { name: DataTypes.STRING(50) }, { timestamps: false, tableName: 'things' })
  const Thing = define('thing')
  const Hooked = define('hooked')
  Hooked.addHook('beforeFind', () => undefined)
  const common: CrudOptions = { limits: limits ?? {}, onError: () => undefined }
  const app = express()
  app.use(crudRouter(Thing, common))
  app.use(crudRouter(Hooked, { ...common, hooks: { beforeCreate: () => undefined } }))
  const served = await serve(app)
  t.teardown(() => served.close())
  return { ...served, sequelize, direct, sent, proxy, Thing }
}

async function warmUp({ get, post, patch, sequelize }: Bench): Promise<void> {
  // Reads of the catalogue, for which all writes wait.
  for (const path of ['/api/things', '/api/hookeds']) {
    await post(path, { name: 'warm' })
    await patch(`${path}/1`, { name: 'one' })
  }
  for (let times = 0; times < 3; times += 1) await Promise.all([get('/api/things/1'), get('/api/hookeds/1')])
  // Each connection of the pool has been used, and its session checked.
  await Promise.all(Array.from({ length: 4 * CONNECTIONS }, () => get('/api/things')))
  const pause = sequelize.getDialect() === 'postgres' ? 'SELECT pg_sleep(0.1)' : 'SELECT SLEEP(0.1)'
  await Promise.all(Array.from({ length: CONNECTIONS }, () => sequelize.query(pause, { type: QueryTypes.SELECT })))
}

async function timed<T>(work: Promise<T>): Promise<readonly [T, number]> {
  const started = performance.now()
  const result = await work
  return [result, Math.round(performance.now() - started)]
}

/** Requests of every kind, with the names that writes bring. */
function requests({
  get,
  post,
  patch,
}: TestServer): readonly (readonly [name: string | null, () => ReturnType<typeof get>])[] {
  const kinds = [
    () => [null, () => get('/api/things/1')] as const,
    () => [null, () => get('/api/hookeds?count=true')] as const,
    (index: number) => [`new ${index}`, () => post('/api/things', { name: `new ${index}` })] as const,
    (index: number) => [`hooked ${index}`, () => post('/api/hookeds', { name: `hooked ${index}` })] as const,
    (index: number) => [`patched ${index}`, () => patch('/api/things/2', { name: `patched ${index}` })] as const,
    () => [null, () => get('/api/hookeds?name=one')] as const,
  ]
  return Array.from({ length: REQUESTS }, (_, index) => kinds[index % kinds.length]?.(index)).filter(
    (each) => each !== undefined,
  )
}

async function names({ direct }: Bench): Promise<ReadonlySet<unknown>> {
  const rows = await direct.query('SELECT name FROM things', { type: QueryTypes.SELECT })
  return new Set(rows.map((row) => Object(row).name))
}

/** Sends requests while connections are silent, and tells how they are answered and when the pool is well. */
async function endure(t: ExecutionContext, server: Bench, longest: number): Promise<void> {
  const { proxy, get } = server
  await warmUp(server)
  proxy.silenceOpen()
  const asked = requests(server).map(async ([name, send]) => ({ name, answer: await timed(send()) }))
  const answers = await Promise.all(asked)
  const [healed, healing] = await timed(Promise.all(Array.from({ length: REQUESTS }, () => get('/api/things/1'))))
  // The network delivers what it has not lost.
  proxy.resume()
  await wait(500)
  const there = await names(server)
  const refused = answers.filter(({ answer: [{ status }] }) => status === 503)
  const done = answers.filter(({ answer: [{ status }] }) => status < 300)
  const figures = {
    requests: answers.length,
    '2xx': done.length,
    '503': refused.length,
    other: answers.length - done.length - refused.length,
    'longest ms': Math.max(...answers.map(({ answer: [, milliseconds] }) => milliseconds)),
    'longest ms of 2xx': Math.max(0, ...done.map(({ answer: [, milliseconds] }) => milliseconds)),
    'written after 503': refused.filter(({ name }) => name !== null && there.has(name)).length,
    'ms to answer as many afterwards': healing,
  }
  tell(t, figures)
  t.is(figures.other, 0)
  for (const { answer } of refused) t.regex(answer[0].headers.get('retry-after') ?? '', /^\d+$/)
  // Each silent connection fails one request.
  t.is(refused.length, CONNECTIONS)
  t.is(figures['written after 503'], 0)
  t.true(figures['longest ms'] < longest, `${figures['longest ms']} ms`)
  t.deepEqual([...new Set(healed.map(({ status }) => status))], [200])
  t.true(healing < SLACK)
  const [, closing] = await timed(server.sequelize.close())
  t.true(closing < SLACK, `sequelize.close() took ${closing} ms`)
}

/** Clients leave: their running statements end in the database, and what waits for a connection is never sent. */
async function leave(t: ExecutionContext, place: Place): Promise<void> {
  const server = await bench(t, place, {})
  const { sequelize, direct, sent, Thing, url, get } = server
  await warmUp(server)
  const isPostgres = sequelize.getDialect() === 'postgres'
  const sleeps = isPostgres ? '(SELECT pg_sleep(20)) IS NOT NULL' : 'SLEEP(20) = 0'
  Thing.addScope('defaultScope', { where: { [Op.and]: [sequelize.literal(sleeps)] } }, { override: true })
  const running = async (): Promise<number> => {
    const sql = isPostgres
      ? "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()"
      : "SELECT id FROM information_schema.processlist WHERE info LIKE '%SLEEP(20)%' AND id <> CONNECTION_ID()"
    return (await direct.query(sql, { type: QueryTypes.SELECT })).length
  }
  const ask = () => {
    const asked = request(`${url}/api/things`, { agent: false })
    asked.on('error', () => undefined)
    asked.end()
    return asked
  }
  const clients = Array.from({ length: CONNECTIONS }, ask)
  const end = performance.now() + 10_000
  while ((await running()) < CONNECTIONS && performance.now() < end) await wait(20)
  t.is(await running(), CONNECTIONS)
  const before = sent.length
  const waiting = Array.from({ length: REQUESTS }, ask)
  await wait(300)
  for (const client of [...waiting, ...clients]) client.destroy()
  const started = performance.now()
  while ((await running()) > 0) await wait(20)
  const ending = Math.round(performance.now() - started)
  const later = await get('/api/hookeds/1')
  const figures = { 'statements that ran': CONNECTIONS, 'ms until all had ended': ending, 'waiting requests': REQUESTS }
  tell(t, { ...figures, 'of those sent': sent.slice(before).filter((sql) => sql.includes('20)')).length })
  t.is(sent.slice(before).filter((sql) => sql.includes('20)')).length, 0)
  t.true(ending < GRACE + SLACK)
  t.is(later.status, 200)
}

/** Without a limit, requests wait for an answer that does not come: the contrast. */
async function hang(t: ExecutionContext, place: Place): Promise<void> {
  const server = await bench(t, place, { statementTime: false })
  await warmUp(server)
  server.proxy.silenceOpen()
  let answered = 0
  const asked = Array.from({ length: REQUESTS }, async () => {
    await server.get('/api/things/1')
    answered += 1
  })
  await wait(TIME + GRACE + SLACK)
  tell(t, { requests: REQUESTS, [`answered within ${TIME + GRACE + SLACK} ms`]: answered })
  t.is(answered, 0)
  server.proxy.resume()
  await Promise.all(asked)
}

const short = { statementTime: TIME, writeTime: 3 * TIME }

interface Kind {
  readonly name: string
  readonly programs: readonly string[]
  readonly start: () => Promise<DatabaseServer>
  readonly optionsAt: (port: number) => Options
}

const onMariaDb = (dialect: 'mariadb' | 'mysql'): Kind => ({
  name: `MariaDB by ${dialect}`,
  programs: MARIADB,
  start: async () => {
    const server = await startMariaDb()
    return { ...server, options: mariaDbAt(server.port, 'mysql') }
  },
  optionsAt: (port) => mariaDbAt(port, dialect),
})

const KINDS: readonly Kind[] = [
  { name: 'PostgreSQL', programs: POSTGRES, start: startPostgres, optionsAt: postgresAt },
  onMariaDb('mariadb'),
  onMariaDb('mysql'),
]

for (const { name, programs, start, optionsAt } of KINDS) {
  const place = async (t: ExecutionContext): Promise<Place> => ({ server: using(t, await start()), optionsAt })

  rig(programs)(`connections to ${name} that fall silent are closed in time`, async (t) => {
    const server = await bench(t, await place(t), short)
    await endure(t, server, 3 * TIME + GRACE + SLACK)
  })

  rig(programs)(`connections to ${name} that fall silent are closed with the default limits`, async (t) => {
    await endure(t, await bench(t, await place(t), {}), 30_000 + GRACE + SLACK)
  })

  rig(programs)(`clients of ${name} who leave hold no connection`, async (t) => leave(t, await place(t)))

  rig(programs)(`without a limit requests hang on connections to ${name} that fall silent`, async (t) =>
    hang(t, await place(t)),
  )
}
