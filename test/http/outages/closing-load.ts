// A host that ends while requests are under way: the router is closed, then Sequelize, as docs/deployment.md says, or Sequelize at once. What
// was answered with success is stored, nothing else is, and neither `close` hangs.

import { rm } from 'node:fs/promises'
import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openAgain, openDatabase, removeDatabase } from '../../support/database.js'
import { type Answer, serve } from '../../support/server.js'

const test = ava.serial

const CLIENTS = 12
/** Milliseconds that `close` may take on a machine that has much to do. */
const SOON = 20_000

/** Journals of SQLite; servers have none to choose from. */
const JOURNALS = databaseName === 'sqlite' ? ['WAL', 'DELETE'] : ['']

async function bench(t: ExecutionContext, journal: string) {
  const { sequelize } = await openDatabase()
  if (journal !== '') await sequelize.query(`PRAGMA journal_mode = ${journal}`)
  const attributes = { name: { type: DataTypes.STRING(40), unique: true }, level: DataTypes.INTEGER }
  const Item = sequelize.define('Item', attributes, { timestamps: false })
  await sequelize.sync()
  await Item.bulkCreate(Array.from({ length: 50 }, (_, index) => ({ name: `item ${index}`, level: 0 })))
  const router = crudRouter(Item, { operations: Operations.AllWithBulk, onError: () => undefined })
  const server = await serve(express().use(router))
  const again = openAgain(sequelize)
  t.teardown(async () => {
    await server.close()
    await sequelize.close().catch(() => undefined)
    await again.close()
    const storage = String(Reflect.get(sequelize, 'options').storage)
    if (databaseName === 'sqlite')
      for (const suffix of ['', '-wal', '-shm']) await rm(storage + suffix, { force: true })
    else await removeDatabase(sequelize.getDatabaseName())
  })
  /** Names of the records that are stored, by a connection that has nothing to do with the host's. */
  const stored = async (): Promise<ReadonlySet<unknown>> => {
    const rows = await again.define('Item', attributes, { timestamps: false }).findAll({ raw: true })
    return new Set(rows.map((row) => Reflect.get(row, 'name')))
  }
  return { ...server, sequelize, router, stored }
}

/** Clients that read and write until they are told to stop. */
function load({ get, post, patch }: Awaited<ReturnType<typeof bench>>) {
  let goesOn = true
  const statuses = new Map<number, number>()
  const acknowledged: string[] = []
  const refused: string[] = []
  const count = ({ status }: Answer): number => {
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    return status
  }
  const client = async (number: number): Promise<void> => {
    for (let turn = 0; goesOn; turn += 1) {
      const name = `new ${number}-${turn}`
      const answers = await Promise.all([
        post('/api/items', { name, level: turn }),
        get(`/api/items/${1 + (turn % 50)}`),
        get('/api/items?sort=-level&pageSize=10'),
        get('/api/items?filter=level>=0&after=&pageSize=5'),
        patch(`/api/items/${1 + number}`, { level: turn }),
      ])
      answers.forEach(count)
      const status = answers[0]?.status ?? 0
      if (status === 201) acknowledged.push(name)
      // An answer that gives up on a write says that it may have happened.
      else if (status === 503) refused.push(name)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
  const stop = (): Promise<unknown> => {
    goesOn = false
    return clients
  }
  return { stop, statuses, acknowledged, refused }
}

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

for (const journal of JOURNALS) {
  const title = journal === '' ? '' : `${journal}: `

  test(`${title}a router and then Sequelize close under load, and what was acknowledged is stored`, async (t) => {
    const served = await bench(t, journal)
    const { stop, statuses, acknowledged, refused } = load(served)
    await wait(1000)
    t.true((await timeOf(() => served.router.close())) < SOON, 'the router')
    t.true((await timeOf(() => served.sequelize.close())) < SOON, 'Sequelize')
    await wait(100)
    await stop()
    // All others came too late, and were told so before anything was asked of the database.
    t.deepEqual([...statuses.keys()].sort(), [200, 201, 503])
    const names = await served.stored()
    t.true(acknowledged.length > 0 && refused.length > 0)
    t.deepEqual(
      acknowledged.filter((name) => !names.has(name)),
      [],
    )
    t.deepEqual(
      refused.filter((name) => names.has(name)),
      [],
    )
  })

  test(`${title}Sequelize that is closed under load closes, and what was acknowledged is stored`, async (t) => {
    const served = await bench(t, journal)
    const { stop, statuses, acknowledged } = load(served)
    await wait(1000)
    while (acknowledged.length === 0 || !statuses.has(200)) await wait(50)
    t.true((await timeOf(() => served.sequelize.close())) < SOON)
    await wait(100)
    await stop()
    t.true((statuses.get(200) ?? 0) > 0)
    const names = await served.stored()
    t.true(acknowledged.length > 0)
    t.deepEqual(
      acknowledged.filter((name) => !names.has(name)),
      [],
    )
  })
}
