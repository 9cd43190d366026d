// Writers that get into each other's way: real deadlocks and serialization failures of real transactions, and the
// isolation that the host chose.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, QueryTypes, Transaction } from 'sequelize'
import { crudRouter, type Hook, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openStage, type Stage } from '../../support/stage.js'

const test = ava.serial

interface Bench {
  readonly Plain: ModelStatic<Model>
  readonly Hooked: ModelStatic<Model>
}

async function bench(
  t: ExecutionContext,
  { isolationLevel, ...hooks }: { isolationLevel?: Transaction.ISOLATION_LEVELS; afterUpdate?: Hook } = {},
): Promise<Stage<Bench>> {
  const attributes = () => ({ name: DataTypes.STRING, level: { type: DataTypes.INTEGER, defaultValue: 0 } })
  const served = await openStage<Bench>(
    ({ sequelize }, app) => {
      const Plain = sequelize.define('Plain', attributes(), { timestamps: false })
      const Hooked = sequelize.define('Hooked', attributes(), {
        timestamps: false,
        hooks: { beforeSave: () => undefined },
      })
      const operations = Operations.AllWithBulk
      app.use(crudRouter(Plain, { operations, route: 'api/plain' }))
      app.use(crudRouter(Hooked, { operations, route: 'api/hooked', hooks }))
      return { Plain, Hooked }
    },
    { sequelize: isolationLevel === undefined ? {} : { isolationLevel } },
  )
  t.teardown(() => served.close())
  return served
}

/** Lets nobody on until so many have come; later ones pass. */
function gate(parties: number): () => Promise<void> {
  let come = 0
  let open: () => void = () => undefined
  const all = new Promise<void>((resolve) => {
    open = resolve
  })
  return async () => {
    come += 1
    if (come >= parties) open()
    await all
  }
}

// One writer at a time: on SQLite there is nothing to lock each other out of.
if (databaseName !== 'sqlite') {
  test('of two PATCHes in a deadlock the one that loses is tried once more, and both hold', async (t) => {
    const meet = gate(2)
    let calls = 0
    const server = await bench(t, {
      // Each has written its own record, and now wants that of the other.
      afterUpdate: async ({ instance, transaction }) => {
        calls += 1
        await meet()
        const model = instance.constructor as ModelStatic<Model>
        const other = Number(instance.get('id')) === 1 ? 2 : 1
        await model.increment({ level: 1 }, { where: { id: other }, transaction })
      },
    })
    await server.post('/api/hooked/bulk', [{ name: 'a' }, { name: 'b' }])
    const answers = await Promise.all([1, 2].map((id) => server.patch(`/api/hooked/${id}`, { name: `new ${id}` })))
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    t.is(calls, 3)
    const { items } = (await server.get('/api/hooked?sort=id')).body
    t.deepEqual(items, [
      { id: 1, name: 'new 1', level: 1 },
      { id: 2, name: 'new 2', level: 1 },
    ])
  })
}

const { ISOLATION_LEVELS } = Transaction

for (const isolationLevel of Object.values(ISOLATION_LEVELS)) {
  test(`every kind of write and read works where the host chose ${isolationLevel}`, async (t) => {
    const server = await bench(t, { isolationLevel })
    for (const path of ['/api/plain', '/api/hooked']) {
      const { status, body } = await server.post(path, { name: 'x' })
      t.is(status, 201)
      t.like((await server.patch(`${path}/${body.id}`, { name: 'y' })).body, { name: 'y', level: 0 })
      const bulk = await server.post(`${path}/bulk`, [{ name: 'a' }, { name: 'b' }])
      t.is(bulk.status, 201)
      t.is((await server.get(`${path}?filter=Name=y`)).body.totalCount, 1)
      const keys = bulk.body.map(({ id }: { id: number }) => id)
      t.deepEqual((await server.post(`${path}/bulk-delete`, keys)).body, { deleted: 2 })
      t.is((await server.delete(`${path}/${body.id}`)).status, 204)
    }
  })

  // MySQL and MariaDB tell it of their own tables alone, SQLite of none.
  if (databaseName === 'postgres') {
    test(`a write is in a transaction of ${isolationLevel} where the host chose it`, async (t) => {
      const seen: unknown[] = []
      const server = await bench(t, {
        isolationLevel,
        afterUpdate: async ({ instance, transaction }) => {
          const model = instance.constructor as ModelStatic<Model>
          const rows = await model.sequelize?.query("SELECT current_setting('transaction_isolation') AS level", {
            transaction,
            type: QueryTypes.SELECT,
          })
          seen.push(rows)
        },
      })
      const { body } = await server.post('/api/hooked', { name: 'x' })
      t.is((await server.patch(`/api/hooked/${body.id}`, { name: 'y' })).status, 200)
      t.deepEqual(seen, [[{ level: isolationLevel.toLowerCase() }]])
    })
  }

  test(`two PATCHes of one record both hold where the host chose ${isolationLevel}`, async (t) => {
    const server = await bench(t, { isolationLevel })
    for (const path of ['/api/plain', '/api/hooked']) {
      const { body } = await server.post(path, { name: 'x' })
      const changes = [{ name: 'y' }, { level: 7 }]
      const answers = await Promise.all(changes.map((change) => server.patch(`${path}/${body.id}`, change)))
      t.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
      )
      t.like((await server.get(`${path}/${body.id}`)).body, { name: 'y', level: 7 })
    }
  })
}
