// Writes of several records that need these as instances: how many of them are in memory at once.

import test from 'ava'
import { DataTypes, Model } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { serveModels } from '../support/models.js'

const COUNT = 120
/** How many there may be; an instance takes its record two or three times. */
const MOST = 10
/** By find, the number of instances with the large column. */
const found: number[] = []
/** The keys for which hooks were called, in their order, and the names of those of the whole. */
const destroyed: unknown[] = []
const around: string[] = []

const server = await serveModels({
  define: (sequelize) => {
    const validate = {
      named(this: { readonly name: string | null }) {
        if (this.name === 'bad') throw new Error('must be better.')
      },
    }
    const afterFind = (given: unknown): void => {
      const all = [given].flat().filter((each) => each instanceof Model)
      found.push(all.filter((instance) => instance.get('text') !== undefined).length)
    }
    const columns = { name: DataTypes.STRING(20), text: DataTypes.TEXT }
    const options = { timestamps: false, hooks: { afterFind } }
    const destroys = {
      afterFind,
      beforeDestroy: (instance: Model) => {
        destroyed.push(instance.get('id'))
      },
      beforeBulkDestroy: () => {
        around.push('before')
      },
      afterBulkDestroy: () => {
        around.push('after')
      },
    }
    const marks = {
      ...columns,
      isDeleted: { type: DataTypes.BOOLEAN, defaultValue: false },
      deletedAt: DataTypes.DATE,
      version: { type: DataTypes.INTEGER, defaultValue: 1 },
    }
    return {
      File: sequelize.define('File', columns, { ...options, validate }),
      Draft: sequelize.define('Draft', columns, options),
      Letter: sequelize.define('Letter', columns, { timestamps: false, hooks: destroys }),
      Mark: sequelize.define('Mark', marks, { timestamps: false, hooks: destroys }),
    }
  },
  fill: async (models) => {
    for (const model of Object.values(models)) {
      await model.bulkCreate(Array.from({ length: COUNT }, () => ({ name: 'old', text: 'long' })))
    }
  },
  mount: (app, { File, Draft, Letter, Mark }) => {
    const operations = Operations.AllWithBulk | Operations.BulkUpdate
    app.use(crudRouter(File, { operations }))
    app.use(crudRouter(Draft, { operations, hooks: { beforeDelete: () => undefined } }))
    app.use(crudRouter(Letter, { operations }))
    app.use(crudRouter(Mark, { operations, softDelete: true, concurrency: { rowVersion: 'version' } }))
  },
})
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

test.serial('a bulk delete with hooks of the router has few records in memory at once', async (t) => {
  found.length = 0
  const { status, body } = await server.post('/api/drafts/bulk-delete', ALL)
  t.is(status, 200)
  t.is(body.deleted, COUNT)
  t.is(Math.max(...found), MOST)
  t.is(await server.Draft.count(), 0)
})

test.serial(
  'a bulk delete with hooks of the model has few records in memory, and calls those of the whole once',
  async (t) => {
    found.length = destroyed.length = around.length = 0
    const { status, body } = await server.post('/api/letters/bulk-delete', ALL)
    t.is(status, 200)
    t.is(body.deleted, COUNT)
    t.is(Math.max(...found), MOST)
    t.deepEqual(destroyed, ALL)
    t.deepEqual(around, ['before', 'after'])
    t.is(await server.Letter.count(), 0)
  },
)

test.serial(
  'a bulk delete that marks records has few of them in memory, each with the version behind it',
  async (t) => {
    found.length = destroyed.length = around.length = 0
    const { status, body } = await server.post('/api/marks/bulk-delete', ALL)
    t.is(status, 200)
    t.is(body.deleted, COUNT)
    t.is(Math.max(...found), MOST)
    t.deepEqual(destroyed, ALL)
    t.deepEqual(around, ['before', 'after'])
    const rows = await server.Mark.unscoped().findAll({ attributes: ['isDeleted', 'version'] })
    t.is(rows.length, COUNT)
    t.true(rows.every((row) => row.get('version') === 2 && row.get('isDeleted') === true))
  },
)
