// All models of an audiobook server at once, where everything that is not about one model is a default: versions, soft
// delete, stamps, models with a `toJSON`, messages in another language, files, pushes, parameters of a proxy.

import ava from 'ava'
import { DataTypes, type Model } from 'sequelize'
import { authenticated, createCrud, hasRole } from '../../../lib/index.js'
import { type HubOwner, openPush } from '../../support/push.js'
import { bearer, identity } from '../../support/tokens.js'

const test = ava.serial

const POLISH: Readonly<Record<string, string>> = { required: 'jest wymagane.', 'max-length': 'jest za długie.' }
const seen: string[] = []

let books: HubOwner | undefined
const stage = await openPush(({ sequelize }, app, io) => {
  const options = { timestamps: false, underscored: true }
  const title = () => ({ type: DataTypes.STRING(12), allowNull: false })
  const Book = sequelize.define('Book', { title: title(), shelf_id: DataTypes.INTEGER }, options)
  // Old code of the application, which answers do not use.
  Reflect.set(Book.prototype, 'toJSON', function toJSON(this: Model) {
    return { only: this.get('title') }
  })
  const Shelf = sequelize.define('Shelf', { title: title() }, options)
  sequelize.define('Bookmark', { title: title(), second: DataTypes.INTEGER }, options)
  Book.belongsTo(Shelf, { as: 'shelf', foreignKey: 'shelf_id' })
  const crud = createCrud({
    io,
    identity,
    policies: { reader: authenticated, editor: hasRole('editor') },
    authorizePolicy: 'reader',
    createPolicy: 'editor',
    restorePolicy: 'editor',
    operations: ['getById', 'getList', 'create', 'update', 'delete', 'restore', 'export'],
    concurrency: { inBody: true },
    softDelete: true,
    audit: true,
    toJSON: 'ignore',
    messages: (code) => POLISH[code],
    export: { formulas: 'keep' },
    push: true,
    query: { unknownParameters: ['utm_*'], total: 'none' },
    limits: { exportItems: 100 },
    use: (req, _res, next) => {
      seen.push(`default ${req.method}`)
      next()
    },
  })
  const routers = crud.routers(sequelize.models, {
    Bookmark: {
      authorizePolicy: hasRole('owner'),
      createPolicy: 'reader',
      concurrency: false,
      push: false,
      query: { total: 'exact' },
      use: (req, _res, next) => {
        seen.push(`own ${req.method}`)
        next()
      },
    },
  })
  app.use(routers)
  books = routers.resources.find(({ resource }) => resource.route === '/api/books')
})
test.after.always(() => stage.close())

const reader = bearer({ sub: '1', name: 'Ann' })
const editor = bearer({ sub: '2', name: 'Ed', roles: ['editor'] })
const owner = bearer({ sub: '3', name: 'Oz', roles: ['owner'] })

test('versions, stamps and soft delete are those of every model', async (t) => {
  const made = await stage.post('/api/books', { title: '=1+1' }, editor)
  t.is(made.status, 201, made.text)
  t.like(made.body, { title: '=1+1', rowVersion: 0 })
  const { id } = made.body
  t.is((await stage.patch(`/api/books/${id}`, { title: 'x' }, reader)).status, 428)
  const patched = await stage.patch(`/api/books/${id}`, { title: '=2+2' }, { ...reader, 'if-match': 'W/"0"' })
  t.is(patched.body.rowVersion, 1)
  t.is((await stage.delete(`/api/books/${id}`, { ...reader, 'if-match': 'W/"1"' })).status, 204)
  t.is((await stage.get(`/api/books/${id}`, reader)).status, 404)
  t.is((await stage.send('POST', `/api/books/${id}/restore`, { headers: reader })).status, 403)
  t.is((await stage.send('POST', `/api/books/${id}/restore`, { headers: editor })).status, 200)
  const row = await stage.sequelize.model('Book').findByPk(id)
  t.is(row?.get('createdBy'), 'Ed')
  t.is(row?.get('updatedBy'), 'Ed')
})

test('pushes are sent of every model that does not switch them off', async (t) => {
  if (books === undefined) throw new Error('no books')
  const subscriber = await stage.subscribe(books, { headers: reader })
  t.is(subscriber.refusal, null)
  const { body } = await stage.post('/api/books', { title: 'told' }, editor)
  while (subscriber.received.length < 1) await new Promise((resolve) => setTimeout(resolve, 20))
  t.deepEqual(subscriber.received, [['OnCreated', body]])
  t.is((await stage.delete(`/api/books/${body.id}`, editor)).status, 204)
  t.not((await stage.subscribe('/api/bookmarks/hub', { headers: owner })).refusal, null)
})

test('messages, files, pages and parameters are those of every model', async (t) => {
  const wrong = await stage.post('/api/shelves', { title: 'much too long a title' }, editor)
  t.deepEqual(wrong.body.errors, { title: ['jest za długie.'] })
  t.deepEqual((await stage.post('/api/bookmarks', {}, reader)).body.errors, { title: ['jest wymagane.'] })
  const csv = await stage.get('/api/books?format=csv&select=title', reader)
  t.is(csv.text.replaceAll('\r\n', '|'), 'title|=2+2|')
  t.is((await stage.get('/api/books?utm_source=x', reader)).body.totalCount, null)
  t.is((await stage.get('/api/books?source=x', reader)).status, 400)
})

test('a default for one operation beats the policy of a resource, whose own beats both', async (t) => {
  t.is((await stage.post('/api/books', { title: 'a' }, reader)).status, 403)
  t.is((await stage.post('/api/bookmarks', { title: 'a' }, reader)).status, 201)
  t.is((await stage.get('/api/bookmarks', reader)).status, 403)
  const { body } = await stage.get('/api/bookmarks', owner)
  t.is(body.totalCount, 1)
  t.deepEqual(Object.keys(body.items[0]), ['id', 'title', 'second'])
  t.is((await stage.send('POST', '/api/bookmarks/1/restore', { headers: owner })).status, 403)
})

test('handlers of `use` add up, and a behaviour that a resource switches off is off', async (t) => {
  seen.length = 0
  t.is((await stage.patch('/api/bookmarks/1', { second: 5 }, owner)).status, 200)
  t.deepEqual(seen, ['default PATCH', 'own PATCH'])
})

test('what is no default is refused, all at once', (t) => {
  const error = t.throws(() =>
    createCrud({ scope: () => null, fields: {}, mask: {}, relations: {}, hooks: {}, names: {}, route: 'x' } as object),
  )
  for (const name of ['scope', 'fields', 'mask', 'relations', 'hooks', 'names', 'route']) {
    t.regex(String(error?.message), new RegExp(`"${name}" applies to a single model and cannot be a default`))
  }
})
