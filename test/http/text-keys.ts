// Keys that are text stand in paths, and some texts cannot.

import test from 'ava'
import Joi from 'joi'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { serveModels } from '../support/models.js'

const server = await serveModels({
  define: (sequelize) => {
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
    return { Tag, Hooked, Ruled, Hosted, Page }
  },
  mount: (app, { Tag, Hooked, Ruled, Hosted, Page }) => {
    const operations = Operations.AllWithBulk
    app.use(crudRouter(Tag, { operations, route: 'tags' }))
    app.use(crudRouter(Hooked, { operations, route: 'hooked' }))
    app.use(crudRouter(Ruled, { operations, route: 'ruled' }))
    const schema = Joi.string().allow('').trim()
    app.use(crudRouter(Hosted, { operations, route: 'hosted', fields: { code: { schema } } }))
    app.use(crudRouter(Page, { operations, route: 'pages', keyProperty: 'slug' }))
  },
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
