// Statements that are handed to the drivers of MySQL and MariaDB beside Sequelize, on the connections of its pool.
// Sequelize.useCLS is global: it needs a process of its own, which is this file.

import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import {
  DataTypes,
  type Model,
  type ModelStatic,
  type Options,
  QueryTypes,
  Sequelize,
  type Transaction,
} from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { Namespace } from '../../support/continuation.js'
import { databaseName, openAgain, type TestDatabase } from '../../support/database.js'
import { serve, type TestServer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = databaseName === 'mysql' || databaseName === 'mariadb' ? ava.serial : ava.serial.skip

Sequelize.useCLS(new Namespace())

interface Served extends TestDatabase, TestServer {
  readonly app: express.Express
  readonly Item: ModelStatic<Model>
  /** The texts that Sequelize itself was asked to run, by the router or anybody else. */
  readonly queried: string[]
}

async function served(t: ExecutionContext, more: Options = {}): Promise<Served> {
  const server = await openStage({ sequelize: more })
  const { app, sequelize } = server
  const Item = sequelize.define('Item', { name: DataTypes.STRING(40), level: DataTypes.INTEGER }, { timestamps: false })
  await sequelize.sync()
  await Item.bulkCreate(Array.from({ length: 10 }, (_, index) => ({ name: `item ${index + 1}`, level: index })))
  const queried: string[] = []
  const query = sequelize.query.bind(sequelize) as (...given: unknown[]) => Promise<unknown>
  const spy = (...given: unknown[]): Promise<unknown> => {
    queried.push(typeof given[0] === 'string' ? given[0] : String(Object(given[0]).query))
    return query(...given)
  }
  Object.defineProperty(sequelize, 'query', { value: spy, configurable: true, writable: true })
  const router = crudRouter(Item, { operations: Operations.AllWithBulk | Operations.BulkUpdate })
  app.use(router)
  t.teardown(server.close)
  return { ...server, Item, queried }
}

/** One request of each kind. */
async function everything({ get, post, patch, delete: remove }: Served): Promise<readonly number[]> {
  const asked = [
    await get('/api/items/3'),
    await get('/api/items?filter=level>2&sort=-name'),
    await get('/api/items?cursor='),
    await post('/api/items', { name: "it's ? $1 :new \\", level: 1 }),
    await patch('/api/items/2', { name: 'changed' }),
    await patch('/api/items/bulk', [
      { id: 4, level: 40 },
      { id: 5, level: 50 },
    ]),
    await remove('/api/items/1'),
    await get('/api/items?count=true'),
  ]
  return asked.map(({ status }) => status)
}

const WELL = [200, 200, 200, 201, 200, 200, 204, 200]

test('reads and writes go to the driver, and the log of the host has all of them', async (t) => {
  const stage = await served(t)
  const from = stage.statements.length
  t.deepEqual(await everything(stage), WELL)
  // The catalogue is read once, by Sequelize.
  const own = stage.queried.filter((sql) => /^(?:SELECT|UPDATE|DELETE)(?!.* information_schema\.)/s.test(sql))
  t.deepEqual(own, [])
  const logged = stage.statements.slice(from)
  for (const begin of [/: SELECT .*'?3'? LIMIT|: SELECT .* = 3/, /: UPDATE /, /: DELETE /, /COUNT\(/]) {
    t.true(
      logged.some((sql) => begin.test(sql)),
      String(begin),
    )
  }
  t.like((await stage.get('/api/items/11')).body, { name: "it's ? $1 :new \\", level: 1 })
})

const ASKED: readonly (readonly [what: string, more: Options])[] = [
  ['tries failed queries again', { retry: { match: [/deadlock/], max: 2 } }],
  ['has options for every query', { query: { nest: false } } as Options],
  ['wants to see warnings', { showWarnings: true } as Options],
]
for (const [what, more] of ASKED) {
  test(`where the host ${what}, all goes through Sequelize`, async (t) => {
    const stage = await served(t, more)
    t.deepEqual(await everything(stage), WELL)
    t.true(stage.queried.some((sql) => sql.startsWith('SELECT')))
    t.true(stage.queried.some((sql) => sql.startsWith('UPDATE')))
  })
}

test('with benchmark a statement that fails is in the log of the host too', async (t) => {
  const stage = await served(t, { benchmark: true })
  await stage.sequelize.query('CREATE UNIQUE INDEX only_one ON `Items` (name)')
  const from = stage.statements.length
  t.is((await stage.patch('/api/items/2', { name: 'item 3' })).status, 409)
  const logged = stage.statements.slice(from).filter((sql) => /UPDATE `Items`/.test(sql))
  t.is(logged.length, 1, logged.join('\n'))
})

test('hooks of the host around queries see all of them', async (t) => {
  const stage = await served(t)
  // It reads the catalogue as well.
  await stage.get('/api/items/3')
  let seen = 0
  stage.sequelize.addHook('beforeQuery', () => {
    seen += 1
  })
  await stage.get('/api/items/3')
  await stage.get('/api/items?count=true')
  t.is(seen, 2)
})

test('connections that the server has ended are replaced', async (t) => {
  const stage = await served(t, { pool: { max: 2 } })
  const { sequelize } = stage
  await Promise.all([stage.get('/api/items/3'), stage.get('/api/items/4')])
  const aside = openAgain(sequelize)
  t.teardown(() => aside.close())
  const rows = await aside.query(
    `SELECT id FROM information_schema.processlist WHERE db = '${sequelize.config.database}' AND id <> CONNECTION_ID()`,
    { type: QueryTypes.SELECT },
  )
  t.true(rows.length > 0)
  for (const row of rows) {
    // A connection that has ended since by itself will do as well.
    await aside.query(`KILL ${Number(Object(row).id)}`).catch((error: unknown) => {
      if (Object(Object(error).original).code !== 'ER_NO_SUCH_THREAD') throw error
    })
  }
  const statuses: number[] = []
  for (let index = 0; index < 10; index += 1) statuses.push((await stage.get('/api/items/3')).status)
  t.deepEqual(statuses.slice(-5), [200, 200, 200, 200, 200])
  t.true(statuses.every((status) => status === 200 || status === 503))
})

test("what the server has rolled back after a deadlock is over: nothing more is written in the host's transaction", async (t) => {
  const stage = await served(t)
  const { sequelize, Item } = stage
  const other = openAgain(sequelize)
  t.teardown(() => other.close())
  const table = '`Items`'
  const theirs = await other.transaction()
  // More rows of theirs: the server gives up whoever has written less. Each by its key, so that no other is locked.
  for (const id of [2, 3, 4, 5, 6]) {
    await other.query(`UPDATE ${table} SET level = level + 100 WHERE id = ${id}`, { transaction: theirs })
  }
  const host = await sequelize.transaction()
  await Item.update({ name: 'mine' }, { where: { id: 1 }, transaction: host })
  const waits = other.query(`UPDATE ${table} SET level = 7 WHERE id = 1`, { transaction: theirs })
  await until(async () => {
    const sql = "SELECT 1 FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
    return (await sequelize.query(sql, { type: QueryTypes.SELECT })).length > 0
  })
  const answer = await answered(stage, host)
  t.is(answer.status, 503, answer.text)
  t.is(Reflect.get(host, 'finished'), 'rollback')
  await waits
  await theirs.commit()
  t.like((await stage.get('/api/items/1')).body, { name: 'item 1', level: 7 })
  t.like((await stage.get('/api/items/2')).body, { name: 'item 2', level: 101 })
})

/** A PATCH of the second item in a transaction of the host's, served by a router of its own. */
async function answered({ Item }: Served, host: Transaction): ReturnType<TestServer['get']> {
  const app = express()
  const namespace = Object(Sequelize)._cls as Namespace
  app.use((_req, _res, next) => {
    namespace.run(() => {
      namespace.set('transaction', host)
      next()
    })
  })
  app.use(crudRouter(Item, { onError: () => undefined }))
  const server = await serve(app)
  try {
    return await server.patch('/api/items/2', { name: 'mine too' })
  } finally {
    await server.close()
  }
}

/** InnoDB's tables of transactions are not read again until 100 milliseconds have passed since somebody has read them. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 150))
}

test("texts of the host's conditions may contain NUL characters around numbers", async (t) => {
  const { get, app, Item } = await served(t)
  for (const text of ['\u00001\u0000', '\u0000', '\u00009\u0000']) {
    Item.addScope('defaultScope', { where: Sequelize.literal(`name <> '${text}'`) }, { override: true })
    app.use('/scoped', crudRouter(Item))
    const { items } = (await get('/scoped/api/items?level=3')).body
    t.deepEqual(items, [{ id: 4, name: 'item 4', level: 3 }])
    t.deepEqual((await get('/scoped/api/items?level=3&count=true')).body, { count: 1 })
  }
})
