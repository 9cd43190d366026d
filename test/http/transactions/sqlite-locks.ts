// Locks of a SQLite file that others hold: what is answered with success behind one is stored, and nobody is kept from going on.

import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize, Transaction } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openAgain } from '../../support/database.js'
import type { Answer, TestServer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = databaseName === 'sqlite' ? ava : ava.skip

// Sequelize says on the console what it could not roll back.
console.warn = () => undefined

interface Bench extends TestServer {
  readonly sequelize: Sequelize
  /** Another Sequelize on the same file, as another program has it. */
  readonly other: Sequelize
  readonly Thing: ModelStatic<Model>
  /** What another program sees. */
  readonly stored: () => Promise<ReadonlyMap<number, number>>
}

async function bench(t: ExecutionContext, { concurrency = false, journal = 'WAL' } = {}): Promise<Bench> {
  const server = await openStage()
  const { app, sequelize } = server
  await sequelize.query(`PRAGMA journal_mode = ${journal}`)
  const Thing = sequelize.define('thing', { level: DataTypes.INTEGER }, { timestamps: false })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate
  app.use(crudRouter(Thing, { concurrency, operations, onError: () => undefined }))
  await sequelize.sync()
  await Thing.bulkCreate(Array.from({ length: 40 }, () => ({ level: 0 })))
  const other = openAgain(sequelize)
  t.teardown(async () => {
    await other.close()
    await server.close()
  })
  const stored = async (): Promise<ReadonlyMap<number, number>> => {
    const [rows] = await other.query('SELECT id, level FROM things')
    return new Map(rows.map((row) => [Number(Object(row).id), Number(Object(row).level)]))
  }
  return { ...server, other, Thing, stored }
}

const IDS = Array.from({ length: 40 }, (_, index) => index + 1)

type Write = (server: TestServer, index: number) => Promise<Answer>

/** Writes of one statement each, by what another program must see when they are answered. */
const WRITES: readonly (readonly [name: string, send: Write, level: (index: number) => number | undefined])[] = [
  ['PATCH', (server, index) => server.patch(`/api/things/${index}`, { level: 5 }), () => 5],
  ['DELETE', (server, index) => server.delete(`/api/things/${index}`), () => undefined],
]

for (const journal of ['WAL', 'DELETE']) {
  for (const [name, send, level] of WRITES) {
    for (const [holder, isOwn] of [
      ['another program', false],
      ['the host', true],
    ] as const) {
      test(`${journal}: a ${name} that waited for ${holder} to let go of the file is stored, and so is what follows it`, async (t) => {
        const server = await bench(t, { journal })
        const { sequelize, other, Thing, stored } = server
        // Several of the text are compiled, and each waits for a moment only.
        await sequelize.query('PRAGMA busy_timeout = 20')
        await Promise.all([21, 22, 23, 24].map((index) => send(server, index)))
        const held = await (isOwn ? sequelize : other).transaction({ type: Transaction.TYPES.IMMEDIATE })
        const writes = [1, 2, 3, 4, 5, 6].map((index) => send(server, index))
        await wait(120)
        await held.commit()
        const answers = await Promise.all(writes)
        const made = answers.flatMap(({ status }, index) => (status < 300 ? [index + 1] : []))
        t.true(answers.every(({ status }) => status < 300 || status === 503))
        const seen = await stored()
        for (const id of made) t.is(seen.get(id), level(id))
        // What comes now is written at once, whoever writes it.
        const { status, body } = await server.post('/api/things', { level: 7 })
        t.is(status, 201)
        const created = await Thing.create({ level: 8 })
        const after = await stored()
        t.is(after.get(Number(Object(body).id)), 7)
        t.is(after.get(Number(created.get('id'))), 8)
        await other.query('UPDATE things SET level = 9 WHERE id = 30')
        t.is((await server.get('/api/things/30')).body?.level, 9)
        t.is((await send(server, 10)).status < 300, true)
        t.is((await stored()).get(10), level(10))
      })
    }
  }
}

test('a POST that waited for another program to let go of the file is stored once, and so is what follows it', async (t) => {
  const server = await bench(t)
  const { sequelize, other, Thing, stored } = server
  await sequelize.query('PRAGMA busy_timeout = 20')
  const held = await other.transaction({ type: Transaction.TYPES.IMMEDIATE })
  const writes = [1, 2, 3, 4, 5, 6].map((level) => server.post('/api/things', { level: 100 + level }))
  await wait(120)
  await held.commit()
  const answers = await Promise.all(writes)
  const made = answers.flatMap(({ status, body }) => (status === 201 ? [Number(Object(body).level)] : []))
  t.true(answers.every(({ status }) => status === 201 || status === 503))
  const levels = [...(await stored()).values()].filter((level) => level > 100)
  t.deepEqual(levels.toSorted(), made.toSorted())
  const created = await Thing.create({ level: 8 })
  t.is((await stored()).get(Number(created.get('id'))), 8)
})

test('transactions of the host that begin among writes and reads are not kept from going on', async (t) => {
  const server = await bench(t)
  const { sequelize, Thing, stored } = server
  let isOver = false
  const callers = IDS.map(async (id) => {
    for (let level = 1; !isOver; level += 1) {
      const answers = await Promise.all([server.patch(`/api/things/${id}`, { level }), server.get(`/api/things/${id}`)])
      for (const { status } of answers) if (status !== 200) throw new Error(`answered ${status}`)
    }
  })
  for (let round = 0; round < 10; round += 1) {
    await sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, async (transaction) => {
      await stat(tmpdir())
      await Thing.create({ id: 100 + round, level: round }, { transaction })
      await stat(tmpdir())
    })
    await Thing.findByPk(1 + round)
  }
  isOver = true
  await Promise.all(callers)
  const seen = await stored()
  t.deepEqual(
    IDS.slice(0, 10).map((id) => seen.get(99 + id)),
    IDS.slice(0, 10).map((id) => id - 1),
  )
})

test('writes that find the file locked by another program are made when it lets go', async (t) => {
  const server = await bench(t)
  const held = await server.other.transaction({ type: Transaction.TYPES.IMMEDIATE })
  const raised = Promise.all(IDS.map((id) => server.patch(`/api/things/${id}`, { level: id })))
  const created = Promise.all(IDS.map((id) => server.post('/api/things', { level: id })))
  await wait(50)
  await held.commit()
  t.true((await raised).every(({ status }) => status === 200))
  t.true((await created).every(({ status }) => status === 201))
  const seen = await server.stored()
  t.deepEqual(
    IDS.map((id) => seen.get(id)),
    IDS,
  )
  t.is(seen.size, 80)
})

test('of many changes of one record under one version, one is made', async (t) => {
  const server = await bench(t, { concurrency: true })
  const headers = { 'If-Match': (await server.get('/api/things/7')).headers.get('etag') ?? '' }
  const contest = await Promise.all(IDS.map((level) => server.patch('/api/things/7', { level }, headers)))
  t.deepEqual(contest.map(({ status }) => status).sort(), [200, ...IDS.slice(1).map(() => 412)])
  const made = contest.findIndex(({ status }) => status === 200)
  t.is((await server.stored()).get(7), made + 1)
})
