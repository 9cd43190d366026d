// An audiobook server that a scanner fills: a PUT by a catalogue number makes a book or replaces it, with its chapters, of
// which the key is the number of the book and their place in it, and with its authors.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { allOf, authenticated, createCrud, hasRole, openApi } from '../../../lib/index.js'
import { INFO } from '../../support/documented.js'
import { addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

function define(sequelize: Sequelize) {
  const options = { timestamps: false, underscored: true }
  const key = (length: number, more: object = {}) => ({ type: DataTypes.STRING(length), primaryKey: true, ...more })
  const Series = sequelize.define('series', { code: key(20), name: DataTypes.STRING(40) }, options)
  const Book = sequelize.define(
    'book',
    {
      catalogue_no: key(20, { validate: { is: /^[0-9-]+$/ } }),
      title: { type: DataTypes.STRING(60), allowNull: false },
      sort_title: DataTypes.STRING(60),
      language: { type: DataTypes.STRING(2), allowNull: false, defaultValue: 'en' },
      series_code: DataTypes.STRING(20),
      scan_count: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
    },
    options,
  )
  // What the application fills by itself.
  Book.addHook('beforeSave', (book: Model) => {
    book.set('sort_title', String(book.get('title')).replace(/^The /, ''))
    book.set('scan_count', Number(book.get('scan_count')) + 1)
  })
  const Chapter = sequelize.define(
    'chapter',
    {
      catalogue_no: key(20),
      position: { type: DataTypes.INTEGER, primaryKey: true, validate: { min: 1 } },
      heading: { type: DataTypes.STRING(40), allowNull: false },
      seconds: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
    },
    options,
  )
  const Author = sequelize.define('author', { slug: key(30), full_name: DataTypes.STRING(40) }, options)
  Book.hasMany(Chapter, { as: 'chapters', foreignKey: 'catalogue_no', onDelete: 'CASCADE' })
  Chapter.belongsTo(Book, { as: 'book', foreignKey: 'catalogue_no' })
  Book.belongsTo(Series, { as: 'series', foreignKey: 'series_code' })
  const through = { through: 'book_author', timestamps: false }
  Book.belongsToMany(Author, { as: 'authors', foreignKey: 'catalogue_no', otherKey: 'author_slug', ...through })
  Author.belongsToMany(Book, { as: 'books', foreignKey: 'author_slug', otherKey: 'catalogue_no', ...through })
  return { Series, Book, Chapter, Author, Account: defineAccounts(sequelize) }
}

const crud = createCrud({
  identity,
  authorizePolicy: authenticated,
  operations: ['getById', 'getList', 'replace', 'upsert'],
})
const scanner = allOf(authenticated, hasRole('scanner'))

function mounted(models: Readonly<Record<'Series' | 'Book' | 'Chapter' | 'Author', ModelStatic<Model>>>) {
  return [
    crud.crudRouter(models.Book, {
      createPolicy: scanner,
      updatePolicy: scanner,
      fields: { sort_title: { exclude: ['create', 'update'] }, scan_count: { exclude: ['create', 'update'] } },
      relations: { chapters: { routes: true, write: true }, authors: { routes: true, write: true } },
    }),
    crud.crudRouter(models.Chapter),
    crud.crudRouter(models.Author),
    crud.crudRouter(models.Series, { route: 'api/series' }),
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
const { Account, Author, Series } = server
await Account.create({ user_name: 'reader', password: 'reader 1' })
await Account.create({ user_name: 'machine', password: 'machine 1', user_role: 'scanner' })
for (const slug of ['verne', 'poe']) await Author.create({ slug, full_name: slug.toUpperCase() })
await Series.create({ code: 'sea', name: 'The Sea' })
test.after.always(() => server.close())

let machine: Record<string, string> = {}
let reader: Record<string, string> = {}
test.before(async () => {
  machine = await logIn(server, 'machine', 'machine 1')
  reader = await logIn(server, 'reader', 'reader 1')
})

const put = (path: string, json: unknown, headers = machine) => server.send('PUT', path, { json, headers })

const NO = '978-1'
const SELECT = 'title,sortTitle,language,scanCount,chapters(position,heading,seconds),authors(slug)'
const stored = async (): Promise<unknown> => (await server.get(`/api/books/${NO}?select=${SELECT}`, reader)).body

const chapter = (position: number, heading: string, seconds = 0) => ({ position, heading, seconds })

test('a PUT by a number that is nowhere makes the book with its chapters and authors', async (t) => {
  const body = {
    title: 'The Deep',
    seriesCode: 'sea',
    chapters: [chapter(1, 'Down', 60), chapter(2, 'Up', 90)],
    authors: ['verne'],
  }
  const { status, text, headers } = await put(`/api/books/${NO}`, body)
  t.is(status, 201, text)
  t.is(headers.get('location'), `/api/books/${NO}`)
  t.deepEqual(await stored(), {
    title: 'The Deep',
    sortTitle: 'Deep',
    language: 'en',
    scanCount: 1,
    chapters: [chapter(1, 'Down', 60), chapter(2, 'Up', 90)],
    authors: [{ slug: 'verne' }],
  })
})

test('the same PUT again replaces it: chapters by their place, and what is absent by its default', async (t) => {
  await put(`/api/books/${NO}`, { title: 'The Deep', language: 'fr' })
  const { status, text } = await put(`/api/books/${NO}`, {
    title: 'The Deepest',
    chapters: [{ catalogueNo: NO, position: 2, heading: 'Up again' }, chapter(3, 'Home', 30)],
    authors: ['poe', 'verne', 'poe'],
  })
  t.is(status, 200, text)
  t.deepEqual(await stored(), {
    title: 'The Deepest',
    sortTitle: 'Deepest',
    language: 'en',
    scanCount: 3,
    chapters: [chapter(2, 'Up again', 90), chapter(3, 'Home', 30)],
    authors: [{ slug: 'poe' }, { slug: 'verne' }],
  })
})

test('a collection that the body leaves out stays as it is', async (t) => {
  t.is((await put(`/api/books/${NO}`, { title: 'Deep' })).status, 200)
  const { body } = await server.get(`/api/books/${NO}?select=Chapters.Count,Authors.Count,seriesCode`, reader)
  t.deepEqual(body, { chaptersCount: 2, authorsCount: 2, seriesCode: null })
})

test('everything that is wrong is told with its place, and nothing is written', async (t) => {
  const { status, body } = await put('/api/books/978-2', {
    language: 'english',
    chapters: [chapter(0, 'Zero'), { position: 1 }],
    authors: ['verne', 'nobody'],
  })
  t.is(status, 400)
  t.deepEqual(body.errors, {
    title: ['is required.'],
    language: ['must be at most 2 characters.'],
    'chapters[0].position': ['must be at least 1.'],
    'chapters[1].heading': ['is required.'],
  })
  const unknown = await put('/api/books/978-2', { title: 'x', authors: ['verne', 'nobody'] })
  t.is(unknown.status, 400)
  t.deepEqual(unknown.body.errors, { 'authors[1]': ['does not exist.'] })
  const series = await put('/api/books/978-2', { title: 'x', seriesCode: 'none', chapters: [chapter(1, 'One')] })
  t.is(series.status, 409)
  t.deepEqual(series.body.errors, { seriesCode: ['does not exist.'] })
  t.is((await server.get('/api/books/978-2', reader)).status, 404)
  t.deepEqual((await server.get('/api/chapters?filter=catalogueNo=978-2', reader)).body.items, [])
})

test('a number of another form makes nothing, and the body may repeat that of the path alone', async (t) => {
  const form = await put('/api/books/abc', { title: 'x' })
  t.is(form.status, 400)
  t.deepEqual(form.body.errors, { catalogueNo: ['does not match the required pattern.'] })
  const other = await put('/api/books/978-2', { catalogueNo: '978-3', title: 'x' })
  t.is(other.status, 400)
  t.deepEqual(other.body.errors, { catalogueNo: ['must be the key in the path.'] })
  const twice = await put('/api/books/978-2', { title: 'x', chapters: [chapter(1, 'a'), chapter(1, 'b')] })
  t.is(twice.status, 400, twice.text)
})

test('the catalogue of a whole disc is stored at once, each book by its number', async (t) => {
  const { status, body, text } = await put('/api/books/bulk?by=catalogueNo', [
    { catalogueNo: NO, title: 'The Deep', chapters: [chapter(1, 'All', 500)] },
    { catalogueNo: '978-7', title: 'The Raven', authors: ['poe'], chapters: [chapter(1, 'Never')] },
  ])
  t.is(status, 200, text)
  t.deepEqual(body, { created: 1, updated: 1 })
  const { items } = (await server.get('/api/books?sort=sortTitle&select=sortTitle,chapters.heading', reader)).body
  t.deepEqual(items, [
    { sortTitle: 'Deep', chapters: [{ heading: 'All' }] },
    { sortTitle: 'Raven', chapters: [{ heading: 'Never' }] },
  ])
  const wrong = await put('/api/books/bulk?by=catalogueNo', [
    { catalogueNo: '978-8', title: 'x' },
    { catalogueNo: NO, language: 'fr' },
    { catalogueNo: '978-9', language: 'fr' },
  ])
  t.is(wrong.status, 400)
  t.deepEqual(wrong.body.errors, { '[2].title': ['is required.'] })
  t.is((await server.get('/api/books/978-8', reader)).status, 404)
})

test('who may read and not scan gets 403, and nobody 401', async (t) => {
  const { status, body } = await put(`/api/books/${NO}`, { title: 'Mine' }, reader)
  t.is(status, 403)
  t.deepEqual(body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.4',
    title: 'Forbidden',
    detail: 'You do not have permission for this operation.',
    status: 403,
    code: 'forbidden',
  })
  t.is((await put('/api/books/978-9', { title: 'Mine' }, {})).status, 401)
})

test('documents have the PUT with its chapters, for a book that is made and for one that is there', (t) => {
  const { paths } = openApi({ resources: routers, info: INFO })
  const { put: replace } = paths['/api/books/{id}'] ?? {}
  t.deepEqual(
    Object.keys(replace?.responses ?? {}).filter((status) => status < '300'),
    ['200', '201', '204'],
  )
  t.deepEqual(paths['/api/chapters/{id}']?.put?.operationId, 'replaceChapter')
})
