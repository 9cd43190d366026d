// The first records of each owner are found by their keys, before anything else of them is read.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

test('foreign keys of another type than what they point at are no reason to fail', async (t) => {
  const served = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Room = sequelize.define(
      'Room',
      { id: { type: DataTypes.UUID, primaryKey: true }, name: DataTypes.STRING },
      plain,
    )
    const Chair = sequelize.define(
      'Chair',
      { name: DataTypes.STRING, roomId: DataTypes.STRING(36) },
      { ...plain, indexes: [{ fields: ['roomId'] }] },
    )
    Room.hasMany(Chair, { as: 'chairs', foreignKey: 'roomId', constraints: false })
    app.use(crudRouter(Room))
    app.use(crudRouter(Chair))
    return { Room, Chair }
  })
  t.teardown(() => served.close())
  const id = '7d444840-9dc0-41d1-b245-5ffdce74fad2'
  await served.Room.create({ id, name: 'hall' })
  await served.Chair.bulkCreate(['a', 'b', 'c'].map((name) => ({ name, roomId: id })))
  const { status, text, body } = await list(served, '/api/rooms', { select: 'Name,Chairs.Name', 'chairs.limit': 2 })
  t.is(status, 200, text)
  t.deepEqual(body.items, [{ name: 'hall', chairs: [{ name: 'a' }, { name: 'b' }], 'chairs@more': true }])
})

const OWNERS = 3
const EACH = 8

for (const indexed of [true, false]) {
  const title = indexed ? 'an index that leads to them' : 'no index that the model knows of'

  test(`with ${title} collections are cut in one statement, within filter, sort, scope and soft delete`, async (t) => {
    const told: string[] = []
    const served = await openStage(
      ({ sequelize }, app) => {
        const plain = { timestamps: false }
        const Shelf = sequelize.define('Shelf', { name: DataTypes.STRING }, plain)
        const Book = sequelize.define(
          'Book',
          {
            title: DataTypes.STRING,
            pages: DataTypes.INTEGER,
            tenant: DataTypes.INTEGER,
            shelfId: { type: DataTypes.INTEGER, field: 'shelf' },
            writerId: DataTypes.INTEGER,
          },
          { ...plain, indexes: indexed ? [{ fields: ['shelf', 'pages'] }] : [] },
        )
        const Writer = sequelize.define('Writer', { name: DataTypes.STRING }, plain)
        Shelf.hasMany(Book, { as: 'books', foreignKey: { name: 'shelfId', field: 'shelf' }, constraints: false })
        Book.belongsTo(Writer, { as: 'writer', foreignKey: 'writerId', constraints: false })
        // Soft delete adds an attribute, so the routers are made before there are tables.
        const book = crudRouter(Book, { scope: () => ({ tenant: 1 }), softDelete: true })
        const routers = [crudRouter(Shelf), crudRouter(Writer), book]
        app.use(routers)
        return { Shelf, Book, Writer, routers }
      },
      { sequelize: { logging: (sql) => told.push(sql) } },
    )
    t.teardown(() => served.close())
    const { Shelf, Book, Writer } = served
    await Shelf.bulkCreate(Array.from({ length: OWNERS }, (_, index) => ({ name: `s${index}` })))
    await Writer.bulkCreate([{ name: 'Ada' }, { name: 'Bob' }])
    const books = Array.from({ length: OWNERS * EACH }, (_, index) => ({
      title: `b${index + 1}`,
      pages: (index * 7) % 5,
      tenant: index % 4 === 3 ? 2 : 1,
      shelfId: 1 + (index % OWNERS),
      writerId: 1 + (index % 2),
    }))
    await Book.bulkCreate(books)
    const gone = (await list(served, '/api/books', { filter: 'Title=b1' })).body.items[0]
    t.is((await served.delete(`/api/books/${gone.id}`)).status, 204)
    const held = books
      .map((book, index) => ({ ...book, id: index + 1 }))
      .filter(({ tenant, title: name }) => tenant === 1 && name !== 'b1')
    told.length = 0
    const { status, text, body } = await list(served, '/api/shelves', {
      select: 'Name,Books.Title,Books.Writer.Name',
      'books.filter': 'Pages>0,Writer.Name=Ada',
      'books.sort': '-Pages,Writer.Name',
      'books.limit': 2,
    })
    t.is(status, 200, text)
    const expected = Array.from({ length: OWNERS }, (_, owner) => {
      const all = held
        .filter(({ shelfId, pages, writerId }) => shelfId === owner + 1 && pages > 0 && writerId === 1)
        .toSorted((a, b) => b.pages - a.pages || a.id - b.id)
      const shown = all.slice(0, 2).map(({ title: name }) => ({ title: name, writer: { name: 'Ada' } }))
      return { name: `s${owner}`, books: shown, ...(all.length > 2 ? { 'books@more': true } : {}) }
    })
    t.deepEqual(body.items, expected)
    const statements = told.filter((sql) => /FROM .?(?:Books|books)/.test(sql))
    t.is(statements.length, 1, told.join('\n'))
    const [statement = ''] = statements
    const isAskedEach = indexed && (databaseName === 'sqlite' || databaseName === 'postgres')
    t.is(/ AS _each/.test(statement), isAskedEach, statement)
    t.is(/ AS _first/.test(statement), isAskedEach || databaseName !== 'postgres', statement)
  })
}
