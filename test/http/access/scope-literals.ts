// Default scopes of a host whose SQL contains what other statements have for placeholders, and scopes that are empty.

import test from 'ava'
import { DataTypes, literal, Op } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

/** Notes that the scope hides, each as it stands in a literal. */
const HIDDEN = ['$1', '?', ':x', '$$', '?1', "it''s $2 ?"]

const server = await openStage(({ sequelize }, app) => {
  const quote = (name: string): string => sequelize.getQueryInterface().quoteIdentifier(name)
  const where = literal(`${quote('note')} NOT IN (${HIDDEN.map((note) => `'${note}'`).join(', ')})`)
  const attributes = { note: DataTypes.STRING(20), level: DataTypes.INTEGER }
  const options = { timestamps: false, defaultScope: { where } }
  const Note = sequelize.define('Note', attributes, options)
  const Hooked = sequelize.define('Hooked', attributes, { ...options, tableName: 'Notes' })
  for (const hook of ['beforeFind', 'beforeSave'] as const) Hooked.addHook(hook, () => undefined)
  app.use(crudRouter(Note, { operations: Operations.AllWithBulk }))
  app.use(crudRouter(Hooked, { route: 'api/hooked', operations: Operations.AllWithBulk }))
  return { Note, Hooked }
})
const { Note } = server
const shown = ['plain', '$1 more', 'why?'].map((note, level) => ({ note, level }))
const hidden = HIDDEN.map((note) => ({ note: note.replaceAll("''", "'"), level: 9 }))
await Note.bulkCreate([...shown, ...hidden])
test.after.always(() => server.close())

for (const path of ['/api/notes', '/api/hooked']) {
  test(`${path} keeps to a scope whose text looks like placeholders, with values of the client beside it`, async (t) => {
    const notesBy = async (parameters: Readonly<Record<string, string | number>>): Promise<readonly unknown[]> => {
      const { status, body, text } = await list(server, path, { sort: 'id', ...parameters })
      t.is(status, 200, text)
      t.is(body.totalCount, body.items.length)
      return body.items.map(({ note }: { note: unknown }) => note)
    }
    // Statements are kept from some number of runs on.
    for (let times = 0; times < 7; times += 1) {
      t.deepEqual(await notesBy({}), ['plain', '$1 more', 'why?'])
      t.deepEqual(await notesBy({ filter: 'note=$1' }), [])
      t.deepEqual(await notesBy({ filter: 'note^$1' }), ['$1 more'])
      t.deepEqual(await notesBy({ filter: 'level>=1,level<=9' }), ['$1 more', 'why?'])
      t.is((await server.get(`${path}/1`)).body.note, 'plain')
      t.is((await server.get(`${path}/4`)).status, 404)
      t.is((await server.patch(`${path}/4`, { level: 1 })).status, 404)
      t.is((await server.patch(`${path}/2`, { level: 1 })).status, 200)
      t.is((await server.delete(`${path}/5`)).status, 404)
      t.deepEqual((await server.post(`${path}/bulk-delete`, [6, 7])).body, { deleted: 0 })
    }
  })
}

for (const [what, where] of [
  ['an empty object', {}],
  ['a conjunction of nothing', { [Op.and]: [] }],
] as const) {
  test(`a default scope whose condition is ${what} hides nothing, over relations too`, async (t) => {
    const own = await openStage(({ sequelize }, app) => {
      const options = { timestamps: false, defaultScope: { where } }
      const Box = sequelize.define('Box', { name: DataTypes.STRING(20) }, options)
      const Part = sequelize.define('Part', { name: DataTypes.STRING(20) }, options)
      Box.hasMany(Part, { as: 'parts', foreignKey: 'boxId' })
      Part.belongsTo(Box, { as: 'box', foreignKey: 'boxId' })
      app.use(crudRouter(Box, { relations: { parts: { routes: true, write: true } } }))
      app.use(crudRouter(Part))
      return { Box, Part }
    })
    await undefined
    t.teardown(own.close)
    const made = await own.post('/api/boxes', { name: 'a', parts: [{ name: 'p' }] })
    t.is(made.status, 201, made.text)
    for (const path of [
      '/api/boxes?filter=parts.any(name=p)',
      '/api/boxes?filter=parts.count=1',
      '/api/boxes?select=name,parts(name)',
      '/api/boxes/1/parts',
      '/api/parts?filter=box.name=a&sort=box.name',
      '/api/parts?select=name,box.name',
    ]) {
      const { status, text, body } = await own.get(path)
      t.is(status, 200, `${path}: ${text}`)
      t.is(body.items.length, 1, path)
    }
    t.is((await own.patch('/api/boxes/1', { parts: [] })).status, 200)
    t.is((await own.get('/api/parts?filter=box.name=a')).body.totalCount, 0)
  })
}
