// Clients that hang up while what they asked for is being read, where statements have a limit of time: the database ends the
// statement, its connection is everybody's again, and nobody hears of it.

import { tracingChannel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import { type Options, QueryTypes } from 'sequelize'
import type { CrudOptions, Hook, RequestMessage } from '../../../lib/index.js'
import { databaseName, isNodeSqlite } from '../../support/database.js'
import { assertEnded, type Bench, BRIEF, READS, running, slowBench } from '../../support/slow.js'

// By `node:sqlite` nothing ends a statement: one that takes forever would stop this process.
const test = isNodeSqlite ? ava.serial.skip : ava.serial
const isSqlite = databaseName === 'sqlite'

/** Nothing takes so long here that it would be ended for it. Servers have such a limit by default. */
const limits = isSqlite ? { statementTime: 600_000 } : {}

function bench(t: ExecutionContext, options: CrudOptions = {}, more: Options = {}): Promise<Bench> {
  return slowBench(t, { limits, ...options }, { pool: { max: 2 }, ...more })
}

/** A request on a connection of its own, which can be hung up. */
function ask(
  { url }: Bench,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  json?: object,
): ClientRequest {
  const body = json === undefined ? undefined : JSON.stringify(json)
  const type =
    body === undefined ? {} : { 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(body)}` }
  const asked = request(url + path, { method, agent: false, headers: { ...type, ...headers } })
  asked.on('error', () => undefined)
  asked.end(body)
  return asked
}

/** How many statements about things have begun. */
function begun({ statements }: Bench): number {
  return statements.filter((sql) => sql.includes('SELECT MAX(slow)')).length
}

/** Waits until so many more than before run in the database. */
async function underWay(server: Bench, many: number, before: number): Promise<void> {
  while (begun(server) < before + many) await wait(5)
  if (isSqlite) await wait(50)
  else while ((await running(server)).length < many) await wait(5)
}

for (const [kind, hook] of [
  ['statements', null],
  ['instances', 'beforeFind'],
] as const) {
  test(`reads by ${kind} whose clients hang up are ended in the database, and the next request has their connections`, async (t) => {
    const server = await bench(t)
    if (hook !== null) server.Thing.addHook(hook, () => undefined)
    for (const [what, path, accept = 'application/json'] of READS) {
      await server.turn('slow')
      const before = begun(server)
      const asked = [1, 2].map(() => ask(server, path, { accept }))
      await underWay(server, 2, before)
      for (const each of asked) each.destroy()
      await assertEnded(t, server, what)
      await server.turn('fast')
      const next = await Promise.all([1, 2, 3].map(() => server.get(path, { accept })))
      for (const { status, text } of next) t.is(status, 200, `${what}: ${text}`)
    }
    t.deepEqual(server.errors, [])
  })
}

test('those who watch are told that the client has gone', async (t) => {
  const server = await bench(t)
  const told: RequestMessage[] = []
  const hear = (message: unknown): void => void told.push(message as RequestMessage)
  const { asyncEnd } = tracingChannel<unknown, RequestMessage>('sequelize-crud-router.request')
  asyncEnd.subscribe(hear)
  t.teardown(() => asyncEnd.unsubscribe(hear))
  await server.turn('slow')
  const before = begun(server)
  const asked = ask(server, '/api/things?count=true')
  await underWay(server, 1, before)
  asked.destroy()
  while (told.length === 0) await wait(5)
  t.like(told[0], { aborted: true, error: { code: 'client-gone' } })
  t.deepEqual(server.errors, [])
})

test('a read that still waits for a connection when its client hangs up is not begun', async (t) => {
  const server = await bench(t)
  await server.turn('slow')
  const before = begun(server)
  const held = [1, 2].map(() => ask(server, '/api/things?count=true'))
  await underWay(server, 2, before)
  const waiting = ask(server, '/api/things?count=true')
  await once(waiting, 'socket')
  await wait(300)
  waiting.destroy()
  await wait(50)
  for (const each of held) each.destroy()
  await assertEnded(t, server, 'those that held the connections')
  await server.turn('fast')
  t.is((await server.get('/api/things/1')).status, 200)
  t.is(begun(server), before + 3)
  t.deepEqual(server.errors, [])
})

test('an export whose client hangs up between its first records and its last is ended where it is', async (t) => {
  const server = await bench(t)
  const { Thing, errors } = server
  await Thing.bulkCreate(Array.from({ length: 1500 }, (_, index) => ({ name: `more ${index}` })))
  // What is begun late may be fast again, and must not turn the next one slow.
  let isFirst = false
  Thing.addHook('afterFind', async () => {
    if (!isFirst) return
    isFirst = false
    await server.turn('slow')
  })
  for (const accept of ['text/csv', 'application/jsonl']) {
    await server.turn('fast')
    isFirst = true
    const before = begun(server)
    const asked = ask(server, '/api/things', { accept })
    const [reply] = (await once(asked, 'response')) as [IncomingMessage]
    reply.on('error', () => undefined)
    t.is(reply.statusCode, 200)
    await underWay(server, 1, before + 1)
    asked.destroy()
    await assertEnded(t, server, accept)
  }
  await server.turn('fast')
  t.is((await server.get('/api/things/1')).status, 200)
  t.deepEqual(errors, [])
})

test('what others run on the same pool goes on when clients hang up, and afterwards', async (t) => {
  const server = await bench(t)
  const own = (): Promise<object[]> => server.sequelize.query(BRIEF, { type: QueryTypes.SELECT })
  await server.turn('slow')
  for (let times = 0; times < 3; times += 1) {
    const before = begun(server)
    const meanwhile = own()
    const asked = ask(server, '/api/things?count=true')
    await underWay(server, 1, before)
    asked.destroy()
    t.is((await meanwhile).length, 1)
    t.is((await own()).length, 1)
  }
  await server.turn('fast')
  t.is((await server.get('/api/things/1')).status, 200)
})

test('a write that has begun goes on to its end when its client hangs up', async (t) => {
  let called = 0
  let goOn: () => void = () => undefined
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const beforeUpdate: Hook = async ({ transaction }) => {
    called += 1
    await held
    await server.sequelize.query(BRIEF, { transaction, type: QueryTypes.SELECT })
  }
  const server = await bench(t, { hooks: { beforeUpdate } })
  const asked = ask(server, '/api/things/1', {}, 'PATCH', { name: 'changed' })
  while (called === 0) await wait(5)
  asked.destroy()
  await wait(50)
  goOn()
  // The only other connection, or the handle: whoever is served behind it finds it written.
  for (let times = 0; times < 400; times += 1) {
    const [first] = await server.rows()
    if (Reflect.get(Object(first), 'name') === 'changed') break
    await wait(25)
  }
  t.deepEqual(server.errors, [])
  t.like((await server.rows())[0], { name: 'changed' })
  t.deepEqual(server.errors, [])
})
