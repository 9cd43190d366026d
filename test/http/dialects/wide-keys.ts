// Keys beyond 2^53 under a model that says INTEGER, as databases give them whose SERIAL has 64 bits.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { allowUndocumented } from '../../support/replies.js'
import { openStage } from '../../support/stage.js'

const test = databaseName === 'postgres' ? ava.serial : ava.serial.skip

for (const [how, hooks] of [
  ['by statements', {}],
  ['with hooks', { beforeCreate: () => undefined, beforeUpdate: () => undefined }],
] as const) {
  test(`a key beyond 2^53 of an INTEGER is text, and its Location leads to the record, ${how}`, async (t) => {
    const warnings: Error[] = []
    const keep = (warning: Error): void => {
      if (Reflect.get(warning, 'code') === 'CRUD_WIDE_KEY') warnings.push(warning)
    }
    process.on('warning', keep)
    t.teardown(() => process.off('warning', keep))
    const server = await openStage()
    t.teardown(server.close)
    const { app, sequelize } = server
    await sequelize.query('CREATE SEQUENCE wide_ids')
    const number = "BIGINT PRIMARY KEY DEFAULT 900719925474099300 + nextval('wide_ids')"
    await sequelize.query(`CREATE TABLE wides (id ${number}, name TEXT)`)
    const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
    const Wide = sequelize.define('wide', { id, name: DataTypes.TEXT }, { timestamps: false })
    app.use(crudRouter(Wide, { hooks }))
    // The document says what the model does, an integer.
    allowUndocumented(app)
    const key = '900719925474099301'
    const made = await server.post('/api/wides', { name: 'one' })
    t.is(made.status, 201)
    t.is(made.body.id, key)
    const location = made.headers.get('location') ?? ''
    t.is(location, `/api/wides/${key}`)
    t.deepEqual((await server.get(location)).body, { id: key, name: 'one' })
    t.is((await server.post('/api/wides', { name: 'two' })).status, 201)
    t.is((await server.patch(location, { name: 'changed' })).status, 200)
    t.deepEqual((await server.get(`/api/wides?keys=${key}`)).body.items, [{ id: key, name: 'changed' }])
    t.is((await server.delete(location)).status, 204)
    t.is((await server.get('/api/wides')).body.totalCount, 1)
    t.deepEqual(
      warnings.map(({ message }) =>
        /^wide: the column of the key "id" contains a number beyond 2\^53.* DataTypes\.BIGINT/.test(message),
      ),
      [true],
    )
  })
}
