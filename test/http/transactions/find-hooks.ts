// The model's own find hooks: what they change or hide is changed or hidden in the answers to writes too, on every
// database, whether or not it can return what it wrote.

import test from 'ava'
import { DataTypes, type FindOptions, type Model, type ModelStatic, Op, QueryTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const served = await openStage<{ readonly Card: ModelStatic<Model>; readonly Note: ModelStatic<Model> }>(
  ({ sequelize }, app) => {
    const options = { timestamps: false }
    const Card = sequelize.define('card', { holder: DataTypes.STRING, number: DataTypes.STRING }, options)
    Card.addHook('afterFind', (found) => {
      const cards = [found].flat()
      for (const card of cards) {
        const number: unknown = card?.get('number')
        if (typeof number === 'string') card?.set('number', number.replace(/.(?=.{4})/g, '*'))
      }
    })
    const Note = sequelize.define('note', { text: DataTypes.STRING, hidden: DataTypes.BOOLEAN }, options)
    Note.addHook('beforeFind', (find: FindOptions) => {
      find.where = { [Op.and]: [find.where ?? {}, { hidden: false }] }
    })
    app.use(crudRouter(Card, { operations: Operations.AllWithBulk }))
    app.use(crudRouter(Note))
    return { Card, Note }
  },
)
test.after.always(() => served.close())

test('what a find hook makes of a record is the answer to every write of it', async (t) => {
  const number = '4000123412341234'
  const shown = '************1234'
  const created = await served.post('/api/cards', { holder: 'Ann', number })
  t.is(created.status, 201)
  t.is(created.body.number, shown)
  const path = `/api/cards/${created.body.id}`
  t.deepEqual((await served.get(path)).body, created.body)
  t.deepEqual((await served.patch(path, { holder: 'Bob' })).body, { ...created.body, holder: 'Bob' })

  const bulk = await served.post('/api/cards/bulk', [{ number }, { number: '42' }])
  t.deepEqual(
    bulk.body.map((card: { number: string }) => card.number),
    [shown, '42'],
  )
  const stored = await served.sequelize.query('SELECT number FROM cards ORDER BY id', { type: QueryTypes.SELECT })
  t.deepEqual(stored, [{ number }, { number }, { number: '42' }])
})

test('a patch behind which a find hook hides the record is 404 and not written', async (t) => {
  const { id } = (await served.Note.create({ text: 'plain', hidden: false })).get()
  const path = `/api/notes/${id}`
  t.is((await served.patch(path, { hidden: true })).status, 404)
  t.deepEqual((await served.get(path)).body, { id, text: 'plain', hidden: false })
  t.is((await served.patch(path, { text: 'changed' })).body.text, 'changed')
})
