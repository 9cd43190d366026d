// Where an UPDATE returns nothing, the record is read behind it, when others may have changed it: MariaDB and MySQL.

import ava, { type ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter } from '../../lib/index.js'
import { databaseName, openDatabase } from '../support/database.js'
import { type Answer, serve } from '../support/server.js'

const test = ['mariadb', 'mysql'].includes(databaseName) ? ava.serial : ava.serial.skip

/** The answer to a PATCH of a record between whose UPDATE and whose reading something else happens. */
async function patched(
  t: ExecutionContext,
  between: (sequelize: Sequelize) => Promise<unknown>,
  options: CrudOptions,
): Promise<Answer> {
  const { sequelize, close } = await openDatabase()
  const attributes = { name: DataTypes.STRING, tenantId: DataTypes.INTEGER }
  const Thing = sequelize.define('thing', attributes, { timestamps: false })
  const app = express()
  app.use(crudRouter(Thing, { ...options, onError: () => undefined }))
  await sequelize.sync()
  await Thing.create({ name: 'one', tenantId: 1 })
  const server = await serve(app)
  t.teardown(async () => {
    await server.close()
    await close()
  })
  // The catalogue is read before the first request.
  await server.get('/api/things/1')
  let statements = 0
  sequelize.addHook('beforeQuery', async () => {
    statements += 1
    if (statements === 2) await between(sequelize)
  })
  const answer = await server.patch('/api/things/1', { name: 'changed' })
  t.true(statements > 2)
  t.is(await Thing.count({ where: { name: 'changed' } }), 1)
  return answer
}

/** Has every reader of things wait for a second. */
async function locked(sequelize: Sequelize): Promise<void> {
  const transaction = await sequelize.transaction()
  await sequelize.query('LOCK TABLES things WRITE', { transaction })
  setTimeout(() => {
    void sequelize.query('UNLOCK TABLES', { transaction }).then(() => transaction.commit())
  }, 1000)
}

test('a record that somebody takes out of reach behind the UPDATE is not shown', async (t) => {
  const { status } = await patched(t, (sequelize) => sequelize.query('UPDATE things SET tenantId = 2'), {
    scope: () => ({ tenantId: 1 }),
  })
  t.is(status, 404)
})

test('a record whose reading takes longer than limits.statementTime is written, and the answer says so', async (t) => {
  const { status, body } = await patched(t, locked, { limits: { statementTime: 300 } })
  t.is(status, 200)
  t.like(body, { name: 'changed' })
})
