// An audiobook server that sends and takes recordings by routes of its own, beside the resource of the books. Policies and
// scope are those of the resource; ranges, types and files are the application's.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ava from 'ava'
import express, { type Express, type RequestHandler } from 'express'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import {
  allOf,
  authenticated,
  createCrud,
  filter,
  hasRole,
  openApi,
  Problem,
  problemHandler,
} from '../../../lib/index.js'
import { INFO } from '../../support/documented.js'
import { accountOf, addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const folder = await mkdtemp(join(tmpdir(), 'media-'))

function define(sequelize: Sequelize) {
  const Book = sequelize.define(
    'book',
    {
      title: { type: DataTypes.STRING(40), allowNull: false },
      owner_id: { type: DataTypes.INTEGER, allowNull: false },
      is_public: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
      media_file: DataTypes.STRING(60),
      media_bytes: { type: DataTypes.INTEGER, validate: { max: 100 } },
    },
    { timestamps: false, underscored: true },
  )
  return { Book, Account: defineAccounts(sequelize) }
}

const crud = createCrud({ identity, authorizePolicy: authenticated })
const teller = allOf(authenticated, hasRole('teller'))

function addMedia(app: Express, Book: ModelStatic<Model>) {
  const options = {
    fields: { owner_id: { exclude: ['create', 'update'] }, media_file: { exclude: 'response' } },
    updatePolicy: teller,
    scope: ({ identity: caller, operation }) => {
      const own = filter.eq('owner_id', accountOf(caller))
      return operation.startsWith('get') ? filter.or(own, filter.eq('is_public', true)) : own
    },
  } satisfies Parameters<typeof crud.crudRouter<Model>>[1]
  const books = crud.crudRouter(Book, {
    ...options,
    configure: (router, { guard, findOptions }) => {
      router.get('/:id/audio', guard('getById'), async (req, res) => {
        const found = await findOptions(req, { keys: String(req.params.id) })
        const book = await Book.findOne({ ...found, attributes: ['id', 'media_file'] })
        const file: unknown = book?.get('media_file')
        if (typeof file !== 'string')
          throw new Problem({ status: 404, code: 'no-audio', detail: 'There is no recording.' })
        // Express answers ranges and conditions.
        res.sendFile(file, { root: folder, headers: { 'Content-Type': 'audio/mpeg', 'Cache-Control': 'private' } })
      })
    },
  })
  // What is stored of a file in the record is a PATCH: its policy, scope, rules and reply.
  const writing = crud.crudController(Book, { ...options, fields: { owner_id: { exclude: ['create', 'update'] } } })
  const store: RequestHandler = async (req, _res, next) => {
    const file = `${req.params.id}.mp3`
    if (!Buffer.isBuffer(req.body)) throw new Problem({ status: 415, detail: 'Send audio/mpeg.' })
    await writeFile(join(folder, file), req.body)
    const { length } = req.body
    req.headers['content-type'] = 'application/json'
    req.body = { mediaFile: file, mediaBytes: length }
    next()
  }
  app.put(
    '/api/books/:id/audio',
    writing.guard('update'),
    express.raw({ type: 'audio/mpeg', limit: '1kb' }),
    store,
    writing.update,
  )
  app.use(books)
  app.use(problemHandler())
  return books
}

let books: ReturnType<typeof addMedia> | null = null
const server = await openStage(({ sequelize }, app) => {
  const models = define(sequelize)
  addLogin(app, models.Account)
  books = addMedia(app, models.Book)
  return models
})
const { Account, Book } = server
await Account.create({ user_name: 'ann', password: 'ann 1', user_role: 'teller' })
await Account.create({ user_name: 'bob', password: 'bob 1', user_role: 'teller' })
await Account.create({ user_name: 'eve', password: 'eve 1' })
await Book.bulkCreate([
  { title: 'Own', owner_id: 1 },
  { title: 'Public', owner_id: 1, is_public: true, media_file: '2.mp3', media_bytes: 10 },
  { title: 'Of Bob', owner_id: 2, media_file: '3.mp3', media_bytes: 3 },
])
await writeFile(join(folder, '2.mp3'), '0123456789')
await writeFile(join(folder, '3.mp3'), 'bob')
test.after.always(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

const callers: Record<string, Record<string, string>> = {}
test.before(async () => {
  for (const name of ['ann', 'bob', 'eve']) callers[name] = await logIn(server, name, `${name} 1`)
})
const by = (name: string) => callers[name] ?? {}
const upload = (id: number, body: string, headers: Record<string, string>) =>
  server.send('PUT', `/api/books/${id}/audio`, { body, headers: { 'content-type': 'audio/mpeg', ...headers } })

test('a recording is sent whole, and in the part that a player asks for', async (t) => {
  const whole = await server.get('/api/books/2/audio', by('eve'))
  t.is(whole.status, 200)
  t.is(whole.headers.get('content-type'), 'audio/mpeg')
  t.is(whole.headers.get('accept-ranges'), 'bytes')
  t.is(whole.text, '0123456789')
  const part = await server.get('/api/books/2/audio', { ...by('eve'), range: 'bytes=2-4' })
  t.is(part.status, 206)
  t.is(part.headers.get('content-range'), 'bytes 2-4/10')
  t.is(part.text, '234')
  t.is((await server.get('/api/books/2/audio', { ...by('eve'), range: 'bytes=50-' })).status, 416)
  const head = await server.send('HEAD', '/api/books/2/audio', { headers: by('eve') })
  t.is(head.headers.get('content-length'), '10')
  const tag = whole.headers.get('etag') ?? ''
  t.is((await server.get('/api/books/2/audio', { ...by('eve'), 'if-none-match': tag })).status, 304)
})

test('a recording outside of the scope is missing, and without a token it is 401', async (t) => {
  const { status, body } = await server.get('/api/books/3/audio', by('ann'))
  t.is(status, 404)
  t.like(body, { title: 'Not Found', status: 404, code: 'no-audio', detail: 'There is no recording.' })
  t.is((await server.get('/api/books/1/audio', by('ann'))).status, 404)
  t.is((await server.get('/api/books/none/audio', by('ann'))).status, 404)
  t.is((await server.get('/api/books/99/audio', by('ann'))).status, 404)
  const anonymous = await server.get('/api/books/2/audio')
  t.is(anonymous.status, 401)
  t.is(anonymous.headers.get('www-authenticate'), 'Bearer')
  t.is(anonymous.body.code, 'unauthorized')
})

test('an upload is a PATCH of the record, and the recording is there', async (t) => {
  const { status, body, text } = await upload(1, 'abcdef', by('ann'))
  t.is(status, 200, text)
  t.like(body, { id: 1, title: 'Own', mediaBytes: 6 })
  t.is((await server.get('/api/books/1/audio', by('ann'))).text, 'abcdef')
  t.is((await server.get('/api/books/1', by('ann'))).body.mediaBytes, 6)
  t.false('mediaFile' in (await server.get('/api/books/1', by('ann'))).body)
})

test('who may listen and not tell is 403 before a byte is read, and the book of another is missing', async (t) => {
  const eve = await upload(2, 'x'.repeat(5000), by('eve'))
  t.is(eve.status, 403)
  t.is(eve.body.code, 'forbidden')
  const bob = await upload(2, 'bobbob', by('bob'))
  t.is(bob.status, 404)
  t.is((await server.get('/api/books/2', by('ann'))).body.mediaBytes, 10)
  t.is((await upload(2, 'x', {})).status, 401)
})

test('what is too large for the route or the record is refused as a problem', async (t) => {
  const record = await upload(1, 'x'.repeat(101), by('ann'))
  t.is(record.status, 400)
  t.deepEqual(record.body.errors, { mediaBytes: ['must be at most 100.'] })
  const route = await upload(1, 'x'.repeat(2000), by('ann'))
  t.is(route.status, 413)
  t.regex(route.headers.get('content-type') ?? '', /problem\+json/)
  const other = await server.send('PUT', '/api/books/1/audio', {
    body: '{}',
    headers: { 'content-type': 'text/plain', ...by('ann') },
  })
  t.is(other.status, 415)
})

test('the resource beside these routes is what it was, and documents have its own routes alone', async (t) => {
  t.is((await server.get('/api/books?count=true', by('bob'))).body.count, 2)
  const { paths } = openApi({ resources: books === null ? [] : [books], info: INFO })
  t.deepEqual(Object.keys(paths), ['/api/books', '/api/books/{id}'])
})
