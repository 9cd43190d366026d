// The example of the page on tests.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const Book = sequelize.define('Book', { title: DataTypes.STRING }, { timestamps: false })
  app.use(crudRouter(Book))
  return { Book }
})
test.after.always(stage.close)

test('a list contains the records of its table', async (t) => {
  await stage.Book.create({ title: 'Dune' })
  const { status, body } = await stage.get('/api/books')
  t.is(status, 200)
  t.deepEqual(body.items, [{ id: 1, title: 'Dune' }])
})
