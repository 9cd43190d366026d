// The model's own find hooks: what they change or hide is changed or hidden in the answers to writes too, on every
// database, whether or not it can return what it wrote.

import test from 'ava'
import { DataTypes, type FindOptions, type Model, type ModelStatic, Op, QueryTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

type Models = Readonly<Record<'Card' | 'Note' | 'Seal' | 'Box', ModelStatic<Model>>>

const served = await openStage<Models>(({ sequelize }, app) => {
  const options = { timestamps: false }
  const [Card, Pass] = ['card', 'pass'].map((name) => {
    const model = sequelize.define(name, { holder: DataTypes.STRING, number: DataTypes.STRING }, options)
    model.addHook('afterFind', (found) => {
      const cards = [found].flat()
      for (const card of cards) {
        const number: unknown = card?.get('number')
        if (typeof number === 'string') card?.set('number', number.replace(/.(?=.{4})/g, '*'))
      }
    })
    return model
  }) as [ModelStatic<Model>, ModelStatic<Model>]
  // Records of a model with update hooks are loaded before they are written.
  Pass.addHook('beforeUpdate', () => undefined)
  const Note = sequelize.define('note', { text: DataTypes.STRING, hidden: DataTypes.BOOLEAN }, options)
  Note.addHook('beforeFind', (find: FindOptions) => {
    find.where = { [Op.and]: [find.where ?? {}, { hidden: false }] }
  })
  // The hook hides codes, and hooks of the router make deletes load instances.
  const Seal = sequelize.define(
    'seal',
    { code: DataTypes.STRING, data: DataTypes.JSON },
    { ...options, timestamps: true, paranoid: true },
  )
  Seal.addHook('afterFind', (found) => {
    for (const seal of [found].flat()) {
      if (seal?.getDataValue('code') !== undefined) seal?.set('code', null)
      const data: unknown = seal?.getDataValue('data')
      if (typeof data === 'object' && data !== null) Reflect.set(data, 'pin', '*')
    }
  })
  const Box = sequelize.define('box', { name: DataTypes.STRING }, options)
  Box.hasMany(Seal, { as: 'seals', foreignKey: 'boxId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate
  app.use(crudRouter(Box, { relations: { seals: { write: true } } }))
  app.use(crudRouter(Seal, { operations, hooks: { beforeDelete: () => undefined, beforeUpdate: () => undefined } }))
  app.use(crudRouter(Card, { operations }))
  app.use(crudRouter(Pass, { operations }))
  app.use(crudRouter(Note))
  return { Card, Note, Seal, Box }
})
test.after.always(() => served.close())

for (const table of ['cards', 'passes']) {
  test(`what a find hook makes of a record is the answer to every write of it, and is not stored (${table})`, async (t) => {
    const number = '4000123412341234'
    const shown = '************1234'
    const created = await served.post(`/api/${table}`, { holder: 'Ann', number })
    t.is(created.status, 201)
    t.is(created.body.number, shown)
    const path = `/api/${table}/${created.body.id}`
    t.deepEqual((await served.get(path)).body, created.body)
    t.deepEqual((await served.patch(path, { holder: 'Bob' })).body, { ...created.body, holder: 'Bob' })

    const bulk = await served.post(`/api/${table}/bulk`, [{ number }, { number: '42' }])
    t.deepEqual(
      bulk.body.map((card: { number: string }) => card.number),
      [shown, '42'],
    )
    const updated = await served.patch(`/api/${table}/bulk`, [{ id: created.body.id, holder: 'Eve' }])
    t.deepEqual(updated.body, [{ ...created.body, holder: 'Eve' }])
    const stored = await served.sequelize.query(`SELECT number FROM ${table} ORDER BY id`, { type: QueryTypes.SELECT })
    t.deepEqual(stored, [{ number }, { number }, { number: '42' }])
  })
}

test('a patch behind which a find hook hides the record is 404 and not written', async (t) => {
  const { id } = (await served.Note.create({ text: 'plain', hidden: false })).get()
  const path = `/api/notes/${id}`
  t.is((await served.patch(path, { hidden: true })).status, 404)
  t.deepEqual((await served.get(path)).body, { id, text: 'plain', hidden: false })
  t.is((await served.patch(path, { text: 'changed' })).body.text, 'changed')
})

test.serial('what a find hook sets is not stored by bulk and nested deletes that mark records', async (t) => {
  const { sequelize, Seal, Box } = served
  const box = await Box.create({ name: 'first' })
  const seals = await Seal.bulkCreate(['one', 'two', 'three'].map((code) => ({ code, boxId: box.get('id') })))
  const [first, second] = seals.map((seal) => seal.get('id'))
  t.deepEqual((await served.post('/api/seals/bulk-delete', [first])).body, { deleted: 1 })
  const patched = await served.patch(`/api/boxes/${box.get('id')}`, { seals: [{ id: second }] })
  t.is(patched.status, 200, patched.text)
  const stored = await sequelize.query('SELECT code FROM seals ORDER BY id', { type: QueryTypes.SELECT })
  t.deepEqual(stored, [{ code: 'one' }, { code: 'two' }, { code: 'three' }])
  t.is(await Seal.count(), 1)
})

for (const table of ['cards', 'passes', 'seals']) {
  test.serial(`a value of a client that equals what a find hook shows is stored (${table})`, async (t) => {
    const attribute = table === 'seals' ? 'code' : 'number'
    const shown = table === 'seals' ? null : '*7777'
    const { body } = await served.post(`/api/${table}`, { [attribute]: '37777' })
    const path = `/api/${table}/${body.id}`
    t.is((await served.get(path)).body[attribute], shown)
    const select = `SELECT ${attribute} AS value FROM ${table} WHERE id = ${body.id}`
    const readStored = () => served.sequelize.query(select, { type: QueryTypes.SELECT })
    t.deepEqual(await readStored(), [{ value: '37777' }])
    t.is((await served.patch(path, { [attribute]: shown })).status, 200)
    t.deepEqual(await readStored(), [{ value: shown }])
    await served.sequelize.query(`DELETE FROM ${table} WHERE id = ${body.id}`)
  })
}

test.serial('an object of a client that equals what a find hook made of the stored object is stored', async (t) => {
  const { body } = await served.post('/api/seals', { data: { pin: '1' } })
  t.deepEqual(body.data, { pin: '*' })
  const patched = await served.patch(`/api/seals/${body.id}`, { data: { pin: '*' } })
  t.is(patched.status, 200, patched.text)
  const sql = `SELECT data FROM seals WHERE id = ${body.id}`
  const [stored] = await served.sequelize.query<{ readonly data: unknown }>(sql, { type: QueryTypes.SELECT })
  t.deepEqual(typeof stored?.data === 'string' ? JSON.parse(stored.data) : stored?.data, { pin: '*' })
  await served.sequelize.query(`DELETE FROM seals WHERE id = ${body.id}`)
})
