// Names of statements where the host's transactions choose between schemas, one for each tenant, by `search_path`. Sequelize.useCLS is
// global: it needs a process of its own, which is this file.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { Namespace } from '../../support/continuation.js'
import { databaseName } from '../../support/database.js'
import { openStage } from '../../support/stage.js'

const test = databaseName === 'postgres' ? ava.serial : ava.serial.skip

Sequelize.useCLS(new Namespace())

/** Two tenants' tables behind one connection, `name` of these types. */
async function tenants(types: Readonly<Record<string, string>>) {
  const server = await openStage({ sequelize: { pool: { max: 1 } } })
  const { app, sequelize } = server
  const Item: ModelStatic<Model> = sequelize.define('Item', { name: DataTypes.STRING(40) }, { timestamps: false })
  for (const [tenant, type] of Object.entries(types)) {
    await sequelize.query(`CREATE SCHEMA ${tenant}`)
    await sequelize.query(`CREATE TABLE ${tenant}."Items" (id serial PRIMARY KEY, name ${type})`)
    await sequelize.query(`INSERT INTO ${tenant}."Items" (name) VALUES ('of ${tenant}')`)
  }
  app.use((req, res, next) => {
    const work = sequelize.transaction(async (transaction) => {
      await sequelize.query(`SET LOCAL search_path TO ${req.headers['x-tenant']}`, { transaction })
      await new Promise((resolve) => {
        res.on('finish', resolve)
        next()
      })
    })
    // A transaction that the server has given up ends as one that is rolled back.
    work.catch(() => undefined)
  })
  app.use(crudRouter(Item, { onError: () => undefined }))
  return {
    ask: async (tenant: string) => {
      const { status, body } = await server.get('/api/items/1', { 'x-tenant': tenant })
      return { status, name: body.name }
    },
    close: server.close,
  }
}

test('each tenant has the answers of its own schema, by whatever name statements run', async (t) => {
  const { ask, close } = await tenants({ one: 'varchar(40)', two: 'varchar(40)' })
  for (let round = 0; round < 20; round += 1) {
    for (const tenant of ['one', 'two']) t.deepEqual(await ask(tenant), { status: 200, name: `of ${tenant}` })
  }
  await close()
})

test('where schemas differ, as in a migration of one tenant after the other, names are given up before long', async (t) => {
  const { ask, close } = await tenants({ one: 'varchar(40)', two: 'text' })
  const failed: number[] = []
  for (let round = 0; round < 60; round += 1) {
    for (const tenant of ['one', 'two']) {
      const { status, name } = await ask(tenant)
      if (status === 200) t.is(name, `of ${tenant}`)
      else failed.push(round)
    }
  }
  t.true(failed.length <= 2, failed.join())
  await close()
})
