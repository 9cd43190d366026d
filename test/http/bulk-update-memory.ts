// Bulk updates that validate whole records: how many of these are in memory at once.

import test from 'ava'
import { DataTypes, Model } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { serveModels } from '../support/models.js'

const COUNT = 120
/** By find, the number of instances with the large column. */
const found: number[] = []

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
    return { File: sequelize.define('File', columns, { timestamps: false, validate, hooks: { afterFind } }) }
  },
  fill: async ({ File }) => {
    await File.bulkCreate(Array.from({ length: COUNT }, () => ({ name: 'old', text: 'long' })))
  },
  mount: (app, { File }) => {
    app.use(crudRouter(File, { operations: Operations.BulkUpdate | Operations.GetList }))
  },
})
test.after.always(() => server.close())

test('a bulk update whose items are validated as whole records has no more than 50 of them in memory at once', async (t) => {
  found.length = 0
  const items = Array.from({ length: COUNT }, (_, index) => ({ id: index + 1, name: 'new' }))
  const { status, text } = await server.patch('/api/files/bulk', items)
  t.is(status, 200, text)
  t.true(Math.max(...found) <= 50, String(found))
})

test('faults of items behind the first 50 are told in their places', async (t) => {
  const items = Array.from({ length: COUNT }, (_, index) => ({ id: index + 1, name: index === 110 ? 'bad' : 'fine' }))
  const { status, text, body } = await server.patch('/api/files/bulk', items)
  t.is(status, 400, text)
  t.true(
    Object.keys(body.errors).every((name) => name.startsWith('[110].')),
    text,
  )
})
