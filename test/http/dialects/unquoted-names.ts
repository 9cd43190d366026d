// Sequelize's option `quoteIdentifiers: false`. PostgreSQL then returns the names of columns in lower case, and records
// that are written as instances have their generated keys all the same.

import test from 'ava'
import { DataTypes, type ModelAttributeColumnOptions, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const key = (): ModelAttributeColumnOptions => ({ type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true })

const stage = await openStage(
  ({ sequelize }, app) => {
    const hooks = { beforeSave: () => undefined, afterFind: () => undefined }
    const Book = sequelize.define(
      'Book',
      { bookId: key(), longTitle: { type: DataTypes.STRING, field: 'LongTitle' } },
      { hooks },
    )
    const Page = sequelize.define(
      'Page',
      { pageId: key(), pageNumber: DataTypes.INTEGER },
      { hooks, timestamps: false },
    )
    Book.hasMany(Page, { as: 'pages', foreignKey: { name: 'bookId', allowNull: false } })
    app.use(
      crudRouter(Book, { operations: Operations.AllWithBulk, relations: { pages: { write: true } } }),
      crudRouter(Page, { operations: Operations.AllWithBulk }),
    )
  },
  { sequelize: { quoteIdentifiers: false } },
)
test.after.always(() => stage.close())

const count = (name: string): Promise<number> => (stage.sequelize.model(name) as ModelStatic<never>).count()

test.serial('a record that is written with hooks has its key in the response', async (t) => {
  const made = await stage.post('/api/books', { longTitle: 'one' })
  t.is(made.status, 201, made.text)
  t.like(made.body, { bookId: 1, longTitle: 'one' })
  t.is(made.headers.get('location'), '/api/books/1')
  const patched = await stage.patch('/api/books/1', { longTitle: 'two' })
  t.like(patched.body, { bookId: 1, longTitle: 'two' })
  const { createdAt, updatedAt } = (await stage.get('/api/books/1')).body
  t.is(createdAt, made.body.createdAt)
  t.is(updatedAt, patched.body.updatedAt)
})

test.serial('so have the records of a bulk create and nested records', async (t) => {
  const { status, body, text } = await stage.post('/api/books/bulk', [{ longTitle: 'three' }, { longTitle: 'four' }])
  t.is(status, 201, text)
  t.like(body, [
    { bookId: 2, longTitle: 'three' },
    { bookId: 3, longTitle: 'four' },
  ])
  const nested = await stage.post('/api/books', { longTitle: 'five', pages: [{ pageNumber: 1 }, { pageNumber: 2 }] })
  t.is(nested.status, 201, nested.text)
  t.is(nested.body.bookId, 4)
  const { body: pages } = await stage.get('/api/pages?filter=BookId=4&sort=PageNumber')
  t.like(pages.items, [
    { pageId: 1, bookId: 4, pageNumber: 1 },
    { pageId: 2, bookId: 4, pageNumber: 2 },
  ])
  const changed = await stage.patch('/api/books/4', { pages: [{ pageId: 2, pageNumber: 3 }, { pageNumber: 4 }] })
  t.is(changed.status, 200, changed.text)
  const left = await stage.get('/api/pages?filter=BookId=4&sort=PageNumber&select=pageId,pageNumber')
  t.deepEqual(left.body.items, [
    { pageId: 2, pageNumber: 3 },
    { pageId: 3, pageNumber: 4 },
  ])
  t.is((await stage.delete('/api/pages/3')).status, 204)
  t.is(await count('Page'), 1)
})
