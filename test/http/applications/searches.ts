// The search box of an audiobook server: one text is looked for in books, their authors, their series and those who
// publish them, as far as the caller may read each of them.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { authenticated, createCrud, hasRole, openApi } from '../../../lib/index.js'
import { dataProvider } from '../../../lib/react-admin/index.js'
import { INFO } from '../../support/documented.js'
import { addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

function define(sequelize: Sequelize) {
  const options = { timestamps: false, underscored: true }
  const text = DataTypes.STRING(40)
  const Publisher = sequelize.define('publisher', { house_name: text }, options)
  const Series = sequelize.define('series', { series_name: text, publisher_id: DataTypes.INTEGER }, options)
  const Author = sequelize.define('author', { full_name: text, real_name: text }, options)
  const whole = DataTypes.INTEGER
  const Book = sequelize.define('book', { title: DataTypes.TEXT, series_id: whole, author_id: whole }, options)
  Book.belongsTo(Series, { as: 'series', foreignKey: 'series_id' })
  Series.hasMany(Book, { as: 'books', foreignKey: 'series_id' })
  Series.belongsTo(Publisher, { as: 'publisher', foreignKey: 'publisher_id' })
  Book.belongsTo(Author, { as: 'author', foreignKey: 'author_id' })
  return { Publisher, Series, Author, Book, Account: defineAccounts(sequelize) }
}

const crud = createCrud({ identity, authorizePolicy: authenticated })

function mounted(models: Readonly<Record<'Publisher' | 'Series' | 'Author' | 'Book', ModelStatic<Model>>>) {
  return [
    crud.crudRouter(models.Book, {
      query: {
        search: ['title', 'series.series_name', 'author.full_name', 'author.real_name', 'series.publisher.house_name'],
      },
    }),
    crud.crudRouter(models.Series, { route: 'api/series', relations: { books: { routes: true } } }),
    crud.crudRouter(models.Author, { mask: { real_name: 'editor' } }),
    crud.crudRouter(models.Publisher, { getListPolicy: hasRole('editor') }),
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
const { Account, Publisher, Series, Author, Book } = server
await Account.create({ user_name: 'ann', password: 'ann 1' })
await Account.create({ user_name: 'ed', password: 'ed 1', user_role: 'editor' })
await Publisher.bulkCreate([{ house_name: 'Hetzel' }, { house_name: 'Stokes of the Sea' }])
await Series.bulkCreate([
  { series_name: 'Voyages', publisher_id: 1 },
  { series_name: 'Cases 100%', publisher_id: 2 },
])
await Author.bulkCreate([
  { full_name: 'Jules Verne', real_name: 'Verne' },
  { full_name: 'Ellery Queen', real_name: 'Lee and Dannay' },
])
await Book.bulkCreate([
  { title: 'Deep Sea', series_id: 1, author_id: 1 },
  { title: 'Lighthouse', series_id: 1, author_id: 2 },
  { title: 'Roman Hat', series_id: 2, author_id: 2 },
  { title: 'Queen of the Sea', series_id: null, author_id: null },
])
test.after.always(() => server.close())

let ann: Record<string, string> = {}
let editor: Record<string, string> = {}
test.before(async () => {
  ann = await logIn(server, 'ann', 'ann 1')
  editor = await logIn(server, 'ed', 'ed 1')
})

const found = async (search: string, headers = ann, more = ''): Promise<unknown> => {
  const path = `/api/books?select=title&sort=title&search=${encodeURIComponent(search)}${more}`
  const { status, text, body } = await server.get(path, headers)
  return status === 200 ? body.items.map(({ title }: { title: string }) => title) : text
}

test('a text is found in the record and in what it belongs to, however far', async (t) => {
  t.deepEqual(await found('sea'), ['Deep Sea', 'Queen of the Sea'])
  t.deepEqual(await found('VOYAGES'), ['Deep Sea', 'Lighthouse'])
  t.deepEqual(await found('verne'), ['Deep Sea'])
  t.deepEqual(await found('queen'), ['Lighthouse', 'Queen of the Sea', 'Roman Hat'])
  t.deepEqual(await found('nothing'), [])
})

test('each word may be found in another place, and all must be', async (t) => {
  t.deepEqual(await found('queen voyages'), ['Lighthouse'])
  t.deepEqual(await found('"ellery queen" light'), ['Lighthouse'])
  t.deepEqual(await found('queen verne'), [])
})

test('signs of patterns are letters like others, and blank text finds everything', async (t) => {
  t.deepEqual(await found('100%'), ['Roman Hat'])
  t.deepEqual(await found('%'), ['Roman Hat'])
  t.deepEqual(await found('_'), [])
  t.deepEqual(await found(' '), ['Deep Sea', 'Lighthouse', 'Queen of the Sea', 'Roman Hat'])
})

test('a search goes with filters, pages and counts', async (t) => {
  t.deepEqual(await found('queen', ann, '&filter=Series!=null'), ['Lighthouse', 'Roman Hat'])
  t.deepEqual(await found('queen', ann, '&pageSize=1&page=2'), ['Queen of the Sea'])
  t.is((await server.get('/api/books?search=queen&count=true', ann)).body.count, 3)
  const { body } = await server.get('/api/books?search=queen&after=&pageSize=2&sort=title&select=title', ann)
  const next = await server.get(
    `/api/books?search=queen&after=${body.nextCursor}&pageSize=2&sort=title&select=title`,
    ann,
  )
  t.deepEqual(next.body.items, [{ title: 'Roman Hat' }])
  const below = await server.get('/api/series/1/books?search=queen&select=title', ann)
  t.deepEqual(below.body.items, [{ title: 'Lighthouse' }])
})

test('what the caller may not read is not searched: masked fields, and lists that are not his', async (t) => {
  t.deepEqual(await found('dannay'), [])
  t.deepEqual(await found('dannay', editor), ['Lighthouse', 'Roman Hat'])
  t.deepEqual(await found('hetzel'), [])
  t.deepEqual(await found('hetzel', editor), ['Deep Sea', 'Lighthouse'])
  t.deepEqual(await found('sea', editor), ['Deep Sea', 'Queen of the Sea', 'Roman Hat'])
  t.is((await server.get('/api/books?search=sea')).status, 401)
})

test('a collection is not searched, and is met by a filter beside the search', async (t) => {
  const options = { search: ['books.title'] }
  t.throws(() => crud.crudRouter(server.Series, { query: options }), { message: /"books" leads to several records/ })
  const { status, body, text } = await server.get('/api/series?filter=Books.Any(Title=*hat/i)&select=seriesName', ann)
  t.is(status, 200, text)
  t.deepEqual(body.items, [{ seriesName: 'Cases 100%' }])
})

test('a resource without a search says so, and what is too much is refused', async (t) => {
  const { status, body } = await server.get('/api/authors?q=verne', ann)
  t.is(status, 400)
  t.is(body.code, 'unknown-parameter')
  const words = Array.from({ length: 11 }, (_, index) => `w${index}`).join(' ')
  const long = await server.get(`/api/books?search=${encodeURIComponent(words)}`, ann)
  t.is(long.status, 400)
  t.deepEqual(Object.keys(long.body.errors), ['search'])
  const word = await server.get('/api/books?q=verne', ann)
  t.deepEqual(word.body.errors, { q: ['is not a parameter of this list. Did you mean "search"?'] })
})

test('documents say that lists have a search', (t) => {
  const { paths } = openApi({ resources: routers, info: INFO })
  const names = (path: string) => JSON.stringify(paths[path]?.get?.parameters)
  t.regex(names('/api/books'), /BookSearch/)
  t.notRegex(names('/api/authors'), /Search/)
})

test('the search box of an admin page is the search', async (t) => {
  const provider = dataProvider(`${server.url}/api/`, {
    resources: { books: { search: true } },
    headers: ann,
  })
  const { data, total } = await provider.getList('books', {
    filter: { q: 'queen voyages' },
    sort: { field: 'title', order: 'ASC' },
    pagination: { page: 1, perPage: 5 },
  })
  t.deepEqual([data.map(({ title }) => title), total], [['Lighthouse'], 1])
})
