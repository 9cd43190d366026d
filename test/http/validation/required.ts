import ava from 'ava'
import { DataTypes, literal, type Model } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const slugOf = (record: Model): void => {
  const title = String(record.get('title') ?? '')
  if (!record.get('slug') && title !== 'none') record.set('slug', title.toLowerCase().replaceAll(' ', '-'))
}

const served = await openStage(({ sequelize }, app) => {
  const attributes = {
    title: DataTypes.STRING,
    slug: { type: DataTypes.STRING(40), allowNull: false, validate: { is: /^[a-z-]+$/ } },
  }
  const options = (plural: string, hooks: object): object => ({
    name: { singular: plural, plural },
    timestamps: false,
    hooks,
  })
  const Early = sequelize.define('Early', attributes, options('early', { beforeValidate: slugOf }))
  const Late = sequelize.define('Late', attributes, options('late', { beforeCreate: slugOf }))
  const Own = sequelize.define('Own', attributes, options('own', {}))
  const Stored = sequelize.define(
    'Stored',
    { title: DataTypes.STRING, place: { type: DataTypes.INTEGER, allowNull: false } },
    options('stored', {}),
  )
  const Checked = sequelize.define(
    'Checked',
    {
      title: { type: DataTypes.STRING, validate: { isAlpha: true } },
      place: { type: DataTypes.INTEGER, allowNull: false },
    },
    options('checked', {}),
  )
  const operations = Operations.AllWithBulk
  for (const model of [Early, Late]) {
    app.use(crudRouter(model, { operations, fields: { slug: { rules: { required: false } } } }))
  }
  app.use(
    crudRouter(Own, {
      operations,
      fields: { slug: { rules: { required: false } } },
      hooks: { beforeCreate: ({ instance }) => slugOf(instance) },
    }),
  )
  for (const model of [Stored, Checked]) {
    app.use(crudRouter(model, { operations, fields: { place: { rules: { required: false } } } }))
  }
  return { Early, Late, Own, Stored, Checked }
})
const { Stored, Checked } = served
const { sequelize } = Stored
for (const { tableName } of [Stored, Checked]) {
  await sequelize?.getQueryInterface().changeColumn(tableName, 'place', {
    type: DataTypes.INTEGER,
    allowNull: false,
    defaultValue: literal('7') as never,
  })
}

test.after.always(() => served.close())

for (const base of ['early', 'late', 'own']) {
  test(`what a hook fills need not be in the body: ${base}`, async (t) => {
    const { status, body } = await served.post(`/api/${base}`, { title: 'Two Words' })
    t.is(status, 201, JSON.stringify(body))
    t.is(body.slug, 'two-words')
    const nulled = await served.post(`/api/${base}`, { title: 'By Null', slug: null })
    t.is(nulled.body.slug, 'by-null', nulled.text)
    const bulk = await served.post(`/api/${base}/bulk`, [{ title: 'A B' }, { title: 'C', slug: 'given' }])
    t.deepEqual(
      bulk.body.map(({ slug }: { slug: string }) => slug),
      ['a-b', 'given'],
    )
  })

  test(`what no hook has filled is told like any null: ${base}`, async (t) => {
    const { status, body } = await served.post(`/api/${base}`, { title: 'none' })
    t.is(status, 400)
    t.deepEqual(body.errors, { slug: ['cannot be null.'] })
  })

  test(`what the client gives itself meets the rules all the same: ${base}`, async (t) => {
    const { status, body } = await served.post(`/api/${base}`, { title: 'x', slug: 'No Slug' })
    t.is(status, 400)
    t.deepEqual(Object.keys(body.errors), ['slug'])
    const { body: created } = await served.post(`/api/${base}`, { title: 'Once' })
    const patched = await served.patch(`/api/${base}/${created.id}`, { title: 'none', slug: null })
    t.is(patched.status, 400)
    t.deepEqual(patched.body.errors, { slug: ['cannot be null.'] })
  })
}

test('what a hook before the validation fills meets the validators of the model', async (t) => {
  const { status, body } = await served.post('/api/early', { title: 'Number 1' })
  t.is(status, 400)
  t.deepEqual(Object.keys(body.errors), ['slug'])
})

for (const base of ['stored', 'checked']) {
  test(`what the database fills need not be in the body: ${base}`, async (t) => {
    const { status, body } = await served.post(`/api/${base}`, { title: 'x' })
    t.is(status, 201, JSON.stringify(body))
    t.is(body.place, 7)
    const bulk = await served.post(`/api/${base}/bulk`, [{ title: 'a' }, { title: 'b', place: 3 }])
    t.is(bulk.status, 201, bulk.text)
    t.deepEqual(
      bulk.body.map(({ place }: { place: number }) => place),
      [7, 3],
    )
    const nulled = await served.post(`/api/${base}`, { title: 'x', place: null })
    t.is(nulled.status, 400)
    t.deepEqual(nulled.body.errors, { place: ['cannot be null.'] })
  })
}
