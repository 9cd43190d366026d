// An audiobook server: shelves that belong to somebody or are public, with their books. The scope is a condition with an "or".

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { authenticated, createCrud, filter, Operations } from '../../../lib/index.js'
import { accountOf, addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

function define(sequelize: Sequelize) {
  const options = { timestamps: false, underscored: true }
  const Shelf = sequelize.define(
    'shelf',
    {
      title: { type: DataTypes.STRING(40), allowNull: false },
      owner_id: { type: DataTypes.INTEGER, allowNull: false },
      is_public: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
    },
    { ...options, indexes: [{ unique: true, fields: ['owner_id', 'title'] }] },
  )
  const Book = sequelize.define('book', { title: DataTypes.STRING(60), shelf_id: DataTypes.INTEGER }, options)
  Shelf.hasMany(Book, { as: 'books', foreignKey: 'shelf_id' })
  Book.belongsTo(Shelf, { as: 'shelf', foreignKey: 'shelf_id' })
  return { Shelf, Book, Account: defineAccounts(sequelize) }
}

const crud = createCrud({ identity, authorizePolicy: authenticated })

const ownOrPublic = (table: string) => (id: number) =>
  filter.or(filter.eq(`${table}owner_id`, id), filter.eq(`${table}is_public`, true))

function mounted({ Shelf, Book }: Readonly<Record<'Shelf' | 'Book', ModelStatic<Model>>>) {
  return [
    crud.crudRouter(Shelf, {
      operations: Operations.AllWithBulk | Operations.Aggregate | Operations.Export | Operations.BulkUpdate,
      fields: { owner_id: { exclude: 'update' } },
      relations: { books: { routes: true, write: true } },
      // Everybody reads public shelves, and writes none but his own.
      scope: ({ identity: caller, operation }) => {
        if (caller?.roles.has('admin')) return null
        const id = accountOf(caller)
        return ['getById', 'getList', 'aggregate', 'export'].includes(operation)
          ? ownOrPublic('')(id)
          : { owner_id: id }
      },
    }),
    crud.crudRouter(Book, {
      scope: ({ identity: caller, operation }) => {
        if (caller?.roles.has('admin')) return null
        const id = accountOf(caller)
        return ['getById', 'getList'].includes(operation) ? ownOrPublic('shelf.')(id) : filter.eq('shelf.owner_id', id)
      },
    }),
  ]
}

let routers: ReturnType<typeof mounted> = []
const server = await openStage(({ sequelize }, app) => {
  const models = define(sequelize)
  addLogin(app, models.Account)
  routers = mounted(models)
  app.use(routers)
  return models
})
const { Account, Shelf, Book } = server
for (const user_name of ['ann', 'bob', 'eve']) await Account.create({ user_name, password: `${user_name} 1` })
await Account.create({ user_name: 'root', password: 'root 1', user_role: 'admin' })
const shelves = [
  { title: 'Sea', owner_id: 1, is_public: true },
  { title: 'Diaries', owner_id: 1, is_public: false },
  { title: 'Crime', owner_id: 2, is_public: true },
  { title: 'Gifts', owner_id: 2, is_public: false },
]
for (const shelf of shelves) await Shelf.create(shelf)
for (const [index, title] of ['Moby', 'Letters', 'Maigret', 'Surprise'].entries()) {
  await Book.create({ title, shelf_id: index + 1 })
}
test.after.always(() => server.close())

const callers: Record<string, Record<string, string>> = {}
test.before(async () => {
  for (const name of ['ann', 'bob', 'eve', 'root']) callers[name] = await logIn(server, name, `${name} 1`)
})
const by = (name: string) => callers[name] ?? {}

const titles = ({ status, text, body }: Answer): unknown =>
  status === 200 ? body.items.map(({ title }: { title: string }) => title) : text

test('a list has the records of the caller and those that are public', async (t) => {
  const expected = {
    ann: ['Crime', 'Diaries', 'Sea'],
    bob: ['Crime', 'Gifts', 'Sea'],
    eve: ['Crime', 'Sea'],
    root: ['Crime', 'Diaries', 'Gifts', 'Sea'],
  }
  for (const [name, all] of Object.entries(expected)) {
    t.deepEqual(titles(await server.get('/api/shelves?sort=title', by(name))), all, name)
    t.is((await server.get('/api/shelves?count=true', by(name))).body.count, all.length, name)
  }
  t.is((await server.get('/api/shelves')).status, 401)
})

test('filters of the caller narrow the list, and an "or" of his does not widen it', async (t) => {
  t.deepEqual(titles(await server.get('/api/shelves?filter=ownerId=1|ownerId=2&sort=title', by('eve'))), [
    'Crime',
    'Sea',
  ])
  t.deepEqual(titles(await server.get('/api/shelves?isPublic=false', by('ann'))), ['Diaries'])
  t.deepEqual(titles(await server.get('/api/shelves?filter=Books.Any(Title^M)&sort=title', by('eve'))), [
    'Crime',
    'Sea',
  ])
  t.deepEqual(titles(await server.get('/api/shelves?filter=Books.Any(Title=Surprise)', by('eve'))), [])
  const grouped = await server.get('/api/shelves?aggregate=count&group=isPublic&sort=isPublic', by('bob'))
  t.deepEqual(grouped.body.items, [
    { group: { isPublic: false }, count: 1 },
    { group: { isPublic: true }, count: 2 },
  ])
  const csv = await server.get('/api/shelves?format=csv&select=title&sort=title', by('eve'))
  t.is(csv.text.replaceAll('\r\n', '|'), 'title|Crime|Sea|')
})

test('pages by cursor have each record once, whatever the "or"', async (t) => {
  const seen: string[] = []
  let cursor = ''
  do {
    const { body } = await server.get(`/api/shelves?sort=-title&pageSize=1&after=${cursor}`, by('bob'))
    seen.push(...body.items.map(({ title }: { title: string }) => title))
    cursor = body.nextCursor ?? ''
  } while (cursor !== '')
  t.deepEqual(seen, ['Sea', 'Gifts', 'Crime'])
})

test('what is public is read by everybody, and written by its owner', async (t) => {
  t.is((await server.get('/api/shelves/3', by('ann'))).status, 200)
  t.is((await server.patch('/api/shelves/3', { title: 'Mine' }, by('ann'))).status, 404)
  t.is((await server.delete('/api/shelves/3', by('ann'))).status, 404)
  t.is((await server.get('/api/shelves/4', by('ann'))).status, 404)
  t.is((await server.patch('/api/shelves/3', { title: 'Crime!' }, by('bob'))).status, 200)
  await server.patch('/api/shelves/3', { title: 'Crime' }, by('bob'))
  const bulk = await server.send('PATCH', '/api/shelves/bulk', {
    json: [
      { id: 1, isPublic: false },
      { id: 3, isPublic: false },
    ],
    headers: by('ann'),
  })
  t.is(bulk.status, 404)
  t.deepEqual(bulk.body.errors, { '[1]': ['does not exist.'] })
  t.is((await server.get('/api/shelves/1', by('eve'))).status, 200)
})

test("a new record is the caller's, who says so of nobody else", async (t) => {
  const made = await server.post('/api/shelves', { title: 'New', books: [{ title: 'First' }] }, by('eve'))
  t.is(made.status, 201, made.text)
  t.is(made.body.ownerId, 3)
  const wrong = await server.post('/api/shelves', { title: 'For Ann', ownerId: 1 }, by('eve'))
  t.is(wrong.status, 403)
  t.is(wrong.body.detail, 'You may not create a record with this ownerId.')
  const twice = await server.post('/api/shelves', { title: 'New' }, by('eve'))
  t.is(twice.status, 409)
  t.is((await server.post('/api/shelves', { title: 'Sea' }, by('eve'))).status, 201)
})

test("records below a public one are read, and made below one of the caller's own alone", async (t) => {
  t.deepEqual(titles(await server.get('/api/shelves/3/books', by('ann'))), ['Maigret'])
  t.is((await server.get('/api/shelves/4/books', by('ann'))).status, 404)
  const below = await server.post('/api/shelves/3/books', { title: 'Poirot' }, by('ann'))
  t.is(below.status, 403, below.text)
  const beside = await server.post('/api/books', { title: 'Poirot', shelfId: 3 }, by('ann'))
  t.is(beside.status, 403, beside.text)
  t.is((await server.post('/api/shelves/3/books', { title: 'Poirot' }, by('bob'))).status, 201)
  const moved = await server.patch('/api/books/1', { shelfId: 3 }, by('ann'))
  t.is(moved.status, 403, moved.text)
  t.is((await server.patch('/api/books/1', { shelfId: 2 }, by('ann'))).status, 200)
  t.is((await server.get('/api/books/1', by('eve'))).status, 404)
  await server.patch('/api/books/1', { shelfId: 1 }, by('ann'))
})

test('a record that is made private is gone for the others, and for its owner it is not', async (t) => {
  t.is((await server.patch('/api/shelves/1', { isPublic: false }, by('ann'))).status, 200)
  t.is((await server.get('/api/shelves/1', by('eve'))).status, 404)
  t.is((await server.get('/api/books/1', by('eve'))).status, 404)
  t.is((await server.get('/api/shelves/1', by('ann'))).status, 200)
  t.is((await server.patch('/api/shelves/1', { isPublic: true }, by('root'))).status, 200)
})
