// Keys that are text stand in paths, and some texts cannot.

import test from 'ava'
import Joi from 'joi'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const code = { type: DataTypes.STRING(20), primaryKey: true }
  const Tag = sequelize.define('Tag', { code, label: DataTypes.STRING }, plain)
  const Hooked = sequelize.define('Hooked', { code, label: DataTypes.STRING }, plain)
  Hooked.addHook('beforeSave', () => undefined)
  const Ruled = sequelize.define('Ruled', { code: { ...code, validate: { len: [2, 20] } } }, plain)
  const Hosted = sequelize.define('Hosted', { code, label: DataTypes.STRING }, plain)
  const Page = sequelize.define(
    'Page',
    { slug: { type: DataTypes.STRING(20), unique: true, allowNull: false }, label: DataTypes.STRING },
    plain,
  )
  // Their default scope joins a table that has a column of the name of their key.
  const Club = sequelize.define('Club', { code, isOpen: DataTypes.BOOLEAN }, plain)
  const [Member, Watched] = ['Member', 'Watched'].map((each) => {
    const Model = sequelize.define(each, { code }, plain)
    Model.belongsTo(Club, { as: 'club', foreignKey: 'clubCode' })
    Model.addScope('defaultScope', { include: [{ association: 'club', where: { isOpen: true } }] }, { override: true })
    return Model
  })
  if (Member === undefined || Watched === undefined) throw new TypeError('two models are due')
  Watched.addHook('beforeDestroy', () => undefined)
  const operations = Operations.AllWithBulk | Operations.BulkUpdate
  const day = { type: DataTypes.DATEONLY, primaryKey: true, field: 'visited_on' }
  const Visit = sequelize.define('Visit', { code, day, label: DataTypes.STRING }, plain)
  const Stay = sequelize.define('Stay', { code, day, label: DataTypes.STRING }, plain)
  for (const hook of ['beforeFind', 'beforeSave', 'beforeDestroy'] as const) Stay.addHook(hook, () => undefined)
  app.use(crudRouter(Visit, { operations, route: 'visits' }))
  app.use(crudRouter(Stay, { operations, route: 'stays' }))
  app.use(crudRouter(Tag, { operations, route: 'tags' }))
  app.use(crudRouter(Hooked, { operations, route: 'hooked' }))
  app.use(crudRouter(Ruled, { operations, route: 'ruled' }))
  const schema = Joi.string().allow('').trim()
  app.use(crudRouter(Hosted, { operations, route: 'hosted', fields: { code: { schema } } }))
  app.use(crudRouter(Page, { operations, route: 'pages', keyProperty: 'slug' }))
  const Padded = sequelize.define('Padded', { code: { ...code, type: DataTypes.CHAR(5) } }, plain)
  app.use(crudRouter(Padded, { operations: operations | Operations.Replace, route: 'padded' }))
  app.use(crudRouter(Member, { operations, route: 'members' }))
  app.use(crudRouter(Watched, { operations, route: 'watched' }))
  return { Tag, Hooked, Ruled, Hosted, Page, Club, Member, Watched }
})
test.after.always(() => server.close())

const RESOURCES = [
  ['a primary key', 'tags', 'code'],
  ['a primary key of a model with hooks', 'hooked', 'code'],
  ['a primary key with a schema of the host', 'hosted', 'code'],
  ['a key that is unique', 'pages', 'slug'],
] as const

const NO_KEYS = ['', '.', '..']
const KEYS = ['...', '.a', 'a.', '-', '%2e', 'a/b', '/', '?', '#', 'ł', '%']

for (const [what, path, key] of RESOURCES) {
  test(`a text that cannot stand in a path is refused as ${what}, and nothing is created`, async (t) => {
    for (const text of NO_KEYS) {
      const { status, body } = await server.post(`/${path}`, { [key]: text, label: 'x' })
      t.is(status, 400, text)
      t.is(body.title, 'One or more validation errors occurred.')
      t.deepEqual(body.errors, { [key]: ['cannot be used as a key.'] })
      const bulk = await server.post(`/${path}/bulk`, [{ [key]: 'fine' }, { [key]: text }])
      t.is(bulk.status, 400, text)
      t.deepEqual(bulk.body.errors, { [`[1].${key}`]: ['cannot be used as a key.'] })
    }
    t.is((await server.get(`/${path}/fine`)).status, 404)
  })

  test(`any other text is ${what}, and the Location of its record leads to it`, async (t) => {
    for (const text of KEYS) {
      const created = await server.post(`/${path}`, { [key]: text, label: text })
      t.is(created.status, 201, `${text} ${created.text}`)
      const read = await server.get(created.headers.get('location') ?? '')
      t.is(read.status, 200, text)
      t.is(read.body[key], text)
    }
  })
}

test('what else is wrong with such a key is told as well', async (t) => {
  const { body } = await server.post('/ruled', { code: '.' })
  t.deepEqual(body.errors, { code: ['must be between 2 and 20 characters.', 'cannot be used as a key.'] })
})

test('a text that is no key may be any other value', async (t) => {
  const { status, body } = await server.post('/tags', { code: 'dots', label: '..' })
  t.is(status, 201)
  t.is(body.label, '..')
  t.is((await server.patch('/tags/dots', { label: '' })).body.label, '')
})

for (const [path, name] of [
  ['members', 'Member'],
  ['watched', 'Watched'],
] as const) {
  test(`a bulk delete by text keys asks the table itself, where the default scope joins a column of that name: ${path}`, async (t) => {
    const { Club, [name]: Model } = server
    const [open, shut] = [`${path}-open`, `${path}-shut`]
    await Club.bulkCreate([
      { code: open, isOpen: true },
      { code: shut, isOpen: false },
    ])
    await Model.unscoped().bulkCreate(['a', 'b', 'c'].map((code) => ({ code, clubCode: code === 'c' ? shut : open })))
    const { status, body, text } = await server.post(`/${path}/bulk-delete`, ['a', 'c', open])
    t.deepEqual([status, body], [200, { deleted: 1 }], text)
    const left = await Model.unscoped().findAll({ order: ['code'], raw: true })
    t.deepEqual(
      left.map((each) => Reflect.get(each, 'code')),
      ['b', 'c'],
    )
  })
}

for (const [path, what] of [
  ['visits', 'a model'],
  ['stays', 'a model with hooks'],
] as const) {
  test(`several keys of ${what} find their records, where a column has another name than its attribute`, async (t) => {
    const found = [
      { code: 'A', day: '2026-01-01' },
      { code: 'b', day: '2026-01-02' },
    ]
    for (const each of found) t.is((await server.post(`/${path}`, each)).status, 201)
    const keys = ['A~2026-01-01', 'b~2026-01-02', 'b~2026-01-01']
    const read = await server.get(`/${path}?keys=${keys.join(',')}&select=code,day`)
    t.deepEqual([read.status, read.body.items], [200, found], read.text)
    const named = found.map((each) => ({ ...each, label: 'x' }))
    const patched = await server.patch(`/${path}/bulk`, named)
    t.deepEqual([patched.status, patched.body], [200, named], patched.text)
    const deleted = await server.post(`/${path}/bulk-delete`, keys)
    t.deepEqual([deleted.status, deleted.body], [200, { deleted: 2 }], deleted.text)
  })
}

test('trailing blanks, which a CHAR drops, are in no key: PUT creates no record at another path', async (t) => {
  await server.post('/padded', { code: 'ab' })
  for (const code of ['ab%20', 'cd%20']) {
    for (const headers of [{}, { 'if-none-match': '*' }])
      t.is((await server.send('PUT', `/padded/${code}`, { json: {}, headers })).status, 404, code)
  }
  t.deepEqual((await server.get('/padded')).body.items, [{ code: 'ab' }])
})
