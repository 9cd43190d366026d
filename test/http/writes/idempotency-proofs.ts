// What `Idempotency-Key` is for: whatever becomes of processes and connections, a write that is sent again until it is answered has
// one effect and one reply. IDEMPOTENCY_ROUNDS says how often; one round more finds what a hundred have missed.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic, type Options, Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openDatabase, type TestDatabase } from '../../support/database.js'
import { likeThis, start } from '../../support/program.js'
import { type Answer, clientOf, serve, type TestClient, type TestServer } from '../../support/server.js'
import { serverOptions } from '../../support/servers.js'

const test = ava.serial
const overWire = databaseName === 'sqlite' ? ava.serial.skip : ava.serial

const ROUNDS = Number(process.env.IDEMPOTENCY_ROUNDS ?? 2)
const TWINS = 50

// Sequelize says on the console that a broken connection could not be rolled back.
console.warn = () => undefined

function defineThing(sequelize: Sequelize): ModelStatic<Model> {
  return sequelize.define(
    'thing',
    { name: DataTypes.STRING(30), code: { type: DataTypes.STRING(30), unique: true } },
    { timestamps: false },
  )
}

interface Bench {
  readonly database: TestDatabase
  readonly Thing: ModelStatic<Model>
}

/** The tables, and a way to look at them that no test cuts off. */
async function opened(t: ExecutionContext): Promise<Bench> {
  const database = await openDatabase({ pool: { max: 5 } })
  t.teardown(database.close)
  const Thing = defineThing(database.sequelize)
  crudRouter(Thing, { idempotency: true })
  await database.sequelize.sync()
  return { database, Thing }
}

async function served(t: ExecutionContext, sequelize: Sequelize): Promise<TestServer> {
  const Thing = sequelize.isDefined('thing') ? sequelize.model('thing') : defineThing(sequelize)
  const app = express()
  const operations = Operations.AllWithBulk | Operations.Replace
  app.use(crudRouter(Thing, { operations, idempotency: true, onError: () => undefined }))
  const server = await serve(app)
  t.teardown(server.close)
  return server
}

/** How others reach the same database. */
function optionsOf({ sequelize }: TestDatabase): Options {
  if (databaseName === 'sqlite')
    return { dialect: 'sqlite', storage: String(Reflect.get(sequelize, 'options').storage) }
  return { ...serverOptions(databaseName), database: sequelize.getDatabaseName(), pool: { max: 5 } }
}

function create(client: TestClient, name: string, more: Record<string, string> = {}): Promise<Answer> {
  return client.post('/api/things', { name, code: name }, { 'Idempotency-Key': `key of ${name}`, ...more })
}

/** Sends it until there is an answer that says how it ended. */
async function untilDone(client: TestClient, name: string): Promise<Answer> {
  for (let tries = 0; ; tries += 1) {
    const answer = await create(client, name)
    const isOpen = answer.status === 503 || (answer.status === 409 && answer.body.code === 'idempotency-in-progress')
    if (!isOpen || tries === 100) return answer
    await wait(50)
  }
}

async function assertOne(
  t: ExecutionContext,
  { Thing }: Bench,
  name: string,
  replies: readonly Answer[],
): Promise<void> {
  t.is(await Thing.count({ where: { name } }), 1, name)
  t.true(replies.length > 0, name)
  t.is(new Set(replies.map(({ text }) => text)).size, 1, name)
}

interface Child {
  readonly client: TestClient
  readonly ended: () => Promise<number | string>
}

async function startChild(t: ExecutionContext, database: TestDatabase): Promise<Child> {
  const path = fileURLToPath(new URL('../../support/onceServer.js', import.meta.url))
  const program = start([...likeThis, path], { env: { ONCE: JSON.stringify(optionsOf(database)) } })
  t.teardown(() => program.stop('SIGKILL'))
  const [url] = await program.waitForOutput(/http:\/\/\S+/)
  return { client: clientOf(url), ended: program.ended }
}

test(`${TWINS} twins of a create at once, in two processes, have one effect and one reply, ${ROUNDS} times`, async (t) => {
  const bench = await opened(t)
  const here = await served(t, bench.database.sequelize)
  const { client: there } = await startChild(t, bench.database)
  let replayed = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `twin ${round}`
    const answers = await Promise.all(
      Array.from({ length: TWINS }, (_, index) => create(index % 2 === 0 ? here : there, name)),
    )
    const others = answers.filter(({ status }) => status !== 201)
    for (const { status, body } of others)
      t.true(status === 409 && body.code === 'idempotency-in-progress', `${status}`)
    const done = answers.filter(({ status }) => status === 201)
    t.is(done.filter(({ headers }) => headers.get('idempotency-replayed') === null).length, 1)
    replayed += done.length - 1
    await assertOne(t, bench, name, [...done, await untilDone(here, name), await untilDone(there, name)])
  }
  t.log(`${replayed} of ${ROUNDS * TWINS} replies were those of a twin`)
})

test(`a process that is killed within a write, or between it and its reply, leaves one effect when it is sent again, ${ROUNDS} times`, async (t) => {
  const bench = await opened(t)
  const here = await served(t, bench.database.sequelize)
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const place of ['inside', 'behind'] as const) {
      const name = `killed ${place} ${round}`
      const child = await startChild(t, bench.database)
      await t.throwsAsync(create(child.client, name, { 'x-die': place }))
      t.is(await child.ended(), 'SIGKILL')
      if (place === 'behind') t.is(await bench.Thing.count({ where: { name } }), 1)
      const answer = await untilDone(here, name)
      t.is(answer.status, 201, answer.text)
      t.is(answer.headers.get('idempotency-replayed'), place === 'behind' ? 'true' : null)
      await assertOne(t, bench, name, [answer, await untilDone(here, name)])
    }
  }
})

/** Where the connection is cut: before the database hears of the commit, or when it has done it and before it says so. */
type Cut = 'before' | 'behind'

interface Proxy {
  readonly port: number
  /** Cuts the next connection that commits. */
  readonly cutNext: (cut: Cut) => void
  readonly wasCut: () => boolean
  readonly close: () => void
}

async function openProxy(target: number): Promise<Proxy> {
  let next: Cut | null = null
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect({ port: target, host: '127.0.0.1' })
    let isDropped = false
    const end = (): void => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.on('close', end)
    }
    near.on('data', (chunk: Buffer) => {
      // READ COMMITTED is no end of a transaction.
      const cut = /COMMIT(?!TED)/.test(chunk.toString('latin1')) ? next : null
      if (cut !== null) next = null
      if (cut === 'before') end()
      else {
        isDropped ||= cut === 'behind'
        far.write(chunk)
      }
    })
    far.on('data', (chunk: Buffer) => {
      if (isDropped) end()
      else near.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    cutNext: (cut) => {
      next = cut
    },
    wasCut: () => next === null,
    close: () => {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

overWire(
  `a connection that is cut before or behind its commit leaves one effect when the write is sent again, ${ROUNDS} times`,
  async (t) => {
    const bench = await opened(t)
    const options = optionsOf(bench.database)
    const proxy = await openProxy(Number(options.port))
    t.teardown(proxy.close)
    const sequelize = new Sequelize({ ...options, host: '127.0.0.1', port: proxy.port, logging: false })
    t.teardown(() => sequelize.close())
    const server = await served(t, sequelize)
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const cut of ['before', 'behind'] as const) {
        const name = `cut ${cut} ${round}`
        proxy.cutNext(cut)
        const lost = await create(server, name)
        t.true(proxy.wasCut())
        t.is(lost.status, 503, lost.text)
        const answer = await untilDone(server, name)
        t.is(answer.status, 201, answer.text)
        t.is(answer.headers.get('idempotency-replayed'), cut === 'behind' ? 'true' : null)
        await assertOne(t, bench, name, [answer, await untilDone(server, name)])
      }
    }
  },
)

test(`${TWINS} upserts of one new record at once make one, and none of them fails, ${ROUNDS} times`, async (t) => {
  const bench = await opened(t)
  const server = await served(t, bench.database.sequelize)
  for (let round = 0; round < ROUNDS; round += 1) {
    const code = `new ${round}`
    const answers = await Promise.all(
      Array.from({ length: TWINS }, (_, index) =>
        server.send('PUT', '/api/things/bulk?by=code', { json: [{ code, name: `n${index}` }] }),
      ),
    )
    t.deepEqual([...new Set(answers.map(({ status }) => status))], [200], answers.map(({ text }) => text).join())
    const sum = (name: 'created' | 'updated'): number => answers.reduce((total, { body }) => total + body[name], 0)
    t.is(sum('created'), 1)
    t.is(sum('updated'), TWINS - 1)
    t.is(await bench.Thing.count({ where: { code } }), 1)
  }
})
