// Writes of several records that need these as instances: how many of them are in memory at once.

import test from 'ava'
import { DataTypes, Model } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const COUNT = 120
/** How many there may be; an instance takes its record two or three times. */
const MOST = 10
/** By find, the number of instances with the large column. */
const found: number[] = []
/** The hooks of a whole bulk delete, in their order. */
const around: string[] = []
/** The keys of the records for which a hook was called. */
const destroyed: unknown[] = []

const afterFind = (given: unknown): void => {
  const all = [given].flat().filter((each) => each instanceof Model)
  found.push(all.filter((instance) => instance.get('text') !== undefined).length)
}
const whole = {
  afterFind,
  beforeBulkDestroy: () => {
    around.push('before')
  },
  afterBulkDestroy: () => {
    around.push('after')
  },
}
const each = {
  ...whole,
  beforeDestroy: (instance: Model) => {
    destroyed.push(instance.get('id'))
  },
}

const server = await openStage(({ sequelize }, app) => {
  const named = { name: DataTypes.STRING(20) }
  const columns = { ...named, text: DataTypes.TEXT }
  const options = { timestamps: false }
  const validate = {
    better(this: { readonly name: string | null }) {
      if (this.name === 'bad') throw new Error('must be better.')
    },
  }
  const marks = {
    ...columns,
    isDeleted: { type: DataTypes.BOOLEAN, defaultValue: false },
    deletedAt: DataTypes.DATE,
    version: { type: DataTypes.INTEGER, defaultValue: 1 },
  }
  const models = {
    File: sequelize.define('File', columns, { ...options, validate, hooks: whole }),
    Draft: sequelize.define('Draft', columns, { ...options, hooks: whole }),
    Letter: sequelize.define('Letter', columns, { ...options, hooks: each }),
    Mark: sequelize.define('Mark', marks, { ...options, hooks: each }),
    Shelf: sequelize.define('Shelf', columns, { ...options, hooks: whole }),
    Label: sequelize.define('Label', named, options),
    Folder: sequelize.define('Folder', named, options),
    Paper: sequelize.define('Paper', columns, { ...options, hooks: each }),
  }
  // Sequelize deletes what belongs to a record record by record.
  models.Shelf.hasMany(models.Label, { as: 'labels', foreignKey: 'shelfId', onDelete: 'CASCADE', hooks: true })
  models.Folder.hasMany(models.Paper, { as: 'papers', foreignKey: 'folderId' })
  const { File, Draft, Letter, Mark, Shelf, Folder, Paper } = models
  const operations = Operations.AllWithBulk | Operations.BulkUpdate
  app.use(crudRouter(File, { operations }))
  app.use(crudRouter(Draft, { operations, hooks: { beforeDelete: () => undefined } }))
  app.use(crudRouter(Letter, { operations }))
  app.use(crudRouter(Mark, { operations, softDelete: true, concurrency: { rowVersion: 'version' } }))
  app.use(crudRouter(Shelf, { operations, route: 'api/shelves' }))
  app.use(crudRouter(Paper, { operations }))
  app.use(crudRouter(Folder, { operations, relations: { papers: { write: true } } }))
  return models
})
const { File, Draft, Letter, Mark, Shelf, Folder, Paper } = server
await Folder.create({ name: 'full' })
for (const model of [File, Draft, Letter, Mark, Shelf, Paper]) {
  const folder = model === Paper ? { folderId: 1 } : {}
  await model.bulkCreate(Array.from({ length: COUNT }, () => ({ name: 'old', text: 'long', ...folder })))
}
test.after.always(() => server.close())

const ALL = Array.from({ length: COUNT }, (_, index) => index + 1)

test.serial('a bulk update whose items are validated as whole records has few of them in memory at once', async (t) => {
  found.length = 0
  const items = ALL.map((id) => ({ id, name: 'new' }))
  const { status, text } = await server.patch('/api/files/bulk', items)
  t.is(status, 200, text)
  t.is(Math.max(...found), MOST)
})

test.serial('faults of items of a later part are told in their places', async (t) => {
  const items = ALL.map((id) => ({ id, name: id === 111 ? 'bad' : 'fine' }))
  const { status, text, body } = await server.patch('/api/files/bulk', items)
  t.is(status, 400, text)
  t.true(
    Object.keys(body.errors).every((name) => name.startsWith('[110].')),
    text,
  )
})

for (const { title, path, hooked } of [
  { title: 'with hooks of the router', path: 'drafts', hooked: [] },
  { title: 'with hooks of the model', path: 'letters', hooked: ALL },
  { title: 'that marks records and raises their versions', path: 'marks', hooked: ALL },
  { title: 'with what belongs to the records', path: 'shelves', hooked: [] },
]) {
  test.serial(`a bulk delete ${title} has few of them in memory, and calls the hooks of the whole once`, async (t) => {
    found.length = destroyed.length = around.length = 0
    const { status, text, body } = await server.post(`/api/${path}/bulk-delete`, ALL)
    t.is(status, 200, text)
    t.is(body.deleted, COUNT)
    t.is(Math.max(...found), MOST)
    t.deepEqual(destroyed, hooked)
    t.deepEqual(around, ['before', 'after'])
    t.is((await server.get(`/api/${path}?count=true`)).body.count, 0)
  })
}

test.serial('records that are marked have the version behind the one that they had', async (t) => {
  const rows = await server.Mark.unscoped().findAll({ attributes: ['isDeleted', 'version'] })
  t.is(rows.length, COUNT)
  t.true(rows.every((row) => row.get('version') === 2 && row.get('isDeleted') === true))
})

test.serial('a collection that a body empties has few of its records in memory, each with its hook', async (t) => {
  found.length = destroyed.length = 0
  const { status, text } = await server.patch('/api/folders/1', { papers: [] })
  t.is(status, 200, text)
  t.is(Math.max(...found), MOST)
  t.deepEqual(destroyed, ALL)
  t.is(await server.Paper.count(), 0)
})
