// A singleton that was deleted softly: where its service restores records, a POST makes it anew in its place.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, hasRole, type Identity, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const models: Record<string, ModelStatic<Model>> = {}
const heard: string[] = []

/** Names are ids; `1!` may restore. */
function identity({ headers }: { readonly headers: object }): Identity | null {
  const name: unknown = Reflect.get(headers, 'x-user')
  if (typeof name !== 'string') return null
  return { name, roles: new Set(name.endsWith('!') ? ['restorer'] : []), permissions: new Set(), claims: {} }
}

const operations = Operations.All | Operations.Restore | Operations.Replace
const singleton = ({ identity: caller }: { readonly identity: Identity | null }) =>
  Number.parseInt(caller?.name ?? '', 10) || null

const stage = await openStage(({ sequelize }, app) => {
  const columns = () => ({
    id: { type: DataTypes.INTEGER, primaryKey: true },
    nick: { type: DataTypes.STRING(20), allowNull: false, unique: true, validate: { not: /^x/ } },
    color: { type: DataTypes.STRING(10), defaultValue: 'red' },
    note: DataTypes.STRING(20),
    points: { type: DataTypes.INTEGER, defaultValue: 0 },
    banned: { type: DataTypes.BOOLEAN, defaultValue: false },
  })
  const Page = sequelize.define('Page', columns(), { timestamps: false })
  const Line = sequelize.define(
    'Line',
    { text: DataTypes.STRING(20), pageId: DataTypes.INTEGER },
    { timestamps: false },
  )
  Page.hasMany(Line, { as: 'lines', foreignKey: 'pageId' })
  Line.belongsTo(Page, { as: 'page', foreignKey: 'pageId' })
  const Card = sequelize.define('Card', { ...columns(), ownerId: DataTypes.INTEGER }, { paranoid: true })
  const Owner = sequelize.define('Owner', { name: DataTypes.STRING(20) }, { timestamps: false })
  Owner.hasOne(Card, { as: 'card', foreignKey: 'ownerId', constraints: false })
  for (const name of ['beforeRestore', 'beforeCreate', 'beforeValidate']) {
    Card.addHook(name as 'beforeCreate', () => {
      heard.push(name)
    })
  }
  Object.assign(models, { Page, Line, Card })
  const fields = { points: { exclude: ['create', 'update'] } } as const
  const mask = { banned: { write: 'restorer' } }
  const card = crudRouter(Card, {
    route: 'api/card',
    identity,
    singleton,
    operations,
    fields,
    mask,
    createPolicy: ({ identity: caller }) => caller !== null,
    restorePolicy: hasRole('restorer'),
  })
  app.use(
    crudRouter(Page, {
      route: 'api/page',
      identity,
      singleton,
      operations,
      fields,
      mask,
      softDelete: true,
      audit: true,
      concurrency: true,
      idempotency: true,
      relations: { lines: { routes: true, write: true } },
    }),
    crudRouter(Line, { identity }),
    crudRouter(Owner, { identity, relations: { card: { write: true, resource: () => card } } }),
    card,
    crudRouter(Card, { route: 'api/fixed', identity, singleton, operations: Operations.All }),
  )
})
test.after.always(() => stage.close())

const as = (name: string) => ({ 'x-user': name })
const any = { 'if-match': '*' }

test('a POST restores it with the values of the body, and answers as for a new record', async (t) => {
  await stage.post('/api/page', { nick: 'ann', color: 'blue', note: 'old' }, as('1'))
  await models.Page?.update({ points: 5 }, { where: { id: 1 } })
  t.is((await stage.delete('/api/page', { ...as('1'), ...any })).status, 204)
  const made = await stage.post('/api/page', { nick: 'anna' }, as('1'))
  t.is(made.status, 201, made.text)
  t.is(made.headers.get('location'), '/api/page')
  t.like(made.body, { id: 1, nick: 'anna', color: 'red', note: null, points: 5 })
  t.truthy(made.headers.get('etag'))
  const read = await stage.get('/api/page', as('1'))
  t.is(read.status, 200)
  t.is(read.headers.get('etag'), made.headers.get('etag'))
  t.deepEqual(read.body, made.body)
})

test('a record that is there stays 409', async (t) => {
  const { status, body } = await stage.post('/api/page', { nick: 'again' }, as('1'))
  t.is(status, 409)
  t.deepEqual(body.errors, { id: ['is already taken.'] })
  t.is((await stage.get('/api/page', as('1'))).body.nick, 'anna')
})

test('what is wrong is told as for a new record, and the deleted one stays deleted', async (t) => {
  await stage.post('/api/page', { nick: 'bob' }, as('2'))
  await stage.delete('/api/page', { ...as('2'), ...any })
  const invalid = await stage.post('/api/page', { color: 'much too long a color' }, as('2'))
  t.is(invalid.status, 400)
  t.deepEqual(invalid.body.errors, { nick: ['is required.'], color: ['must be at most 10 characters.'] })
  const refused = await stage.post('/api/page', { nick: 'xaver' }, as('2'))
  t.is(refused.status, 400)
  t.deepEqual(Object.keys(refused.body.errors), ['nick'])
  const taken = await stage.post('/api/page', { nick: 'anna' }, as('2'))
  t.is(taken.status, 409)
  t.deepEqual(taken.body.errors, { nick: ['is already taken.'] })
  t.is((await stage.get('/api/page', as('2'))).status, 404)
})

test('nested records come with it, and a write that is sent again is done once', async (t) => {
  const once = { ...as('2'), 'idempotency-key': 'page-2' }
  const body = { nick: 'bobby', lines: [{ text: 'one' }, { text: 'two' }] }
  const made = await stage.post('/api/page', body, once)
  t.is(made.status, 201, made.text)
  t.is(made.body.lines.length, 2)
  t.is((await stage.post('/api/page', body, once)).text, made.text)
  const lines = await stage.get('/api/page/lines?sort=id&select=text', as('2'))
  t.deepEqual(lines.body.items, [{ text: 'one' }, { text: 'two' }])
})

test('of a paranoid model hooks see a restoration, and who may not restore gets 409', async (t) => {
  await stage.post('/api/card', { nick: 'eve', note: 'old' }, as('3'))
  await stage.delete('/api/card', as('3'))
  const refused = await stage.post('/api/card', { nick: 'eva' }, as('3'))
  t.is(refused.status, 409)
  t.deepEqual(refused.body.errors, { id: ['is already taken.'] })
  t.is((await stage.get('/api/card', as('3'))).status, 404)
  heard.length = 0
  const made = await stage.post('/api/card', { nick: 'eva' }, as('3!'))
  t.is(made.status, 201, made.text)
  t.like(made.body, { id: 3, nick: 'eva', note: null, deletedAt: null })
  t.true(heard.includes('beforeRestore'))
  t.false(heard.includes('beforeCreate'))
  t.is((await stage.get('/api/card', as('3'))).body.nick, 'eva')
})

test('a PUT of a deleted record makes it anew as well, for whom may restore it', async (t) => {
  await stage.post('/api/card', { nick: 'hal', note: 'old' }, as('6'))
  await stage.delete('/api/card', as('6'))
  const refused = await stage.send('PUT', '/api/card', { json: { nick: 'hally' }, headers: as('6') })
  t.is(refused.status, 409, refused.text)
  t.is((await stage.get('/api/card', as('6'))).status, 404)
  const made = await stage.send('PUT', '/api/card', { json: { nick: 'hally' }, headers: as('6!') })
  t.is(made.status, 201, made.text)
  t.like(made.body, { id: 6, nick: 'hally', note: null, deletedAt: null })
  t.is((await stage.get('/api/card', as('6'))).body.nick, 'hally')
  t.is((await stage.send('PUT', '/api/card', { json: { nick: 'hal' }, headers: as('6') })).status, 200)
  await stage.post('/api/page', { nick: 'hal' }, as('6'))
  await stage.delete('/api/page', { ...as('6'), ...any })
  const page = await stage.send('PUT', '/api/page', {
    json: { nick: 'hally', lines: [{ text: 'x' }] },
    headers: { ...as('6'), 'if-none-match': '*' },
  })
  t.is(page.status, 201, page.text)
  t.is((await stage.get('/api/page', as('6'))).body.nick, 'hally')
})

for (const [method, user] of [
  ['POST', '9'],
  ['PUT', '10'],
] as const) {
  test(`a ${method} that restores it keeps what its caller may not write`, async (t) => {
    await stage.post('/api/page', { nick: `${method} 1` }, as(user))
    await models.Page?.update({ banned: true }, { where: { id: user } })
    await stage.delete('/api/page', { ...as(user), ...any })
    const json = { nick: `${method} 2`, banned: false }
    const create = { 'if-none-match': '*' }
    const made = await stage.send(method, '/api/page', { json, headers: { ...as(user), ...create } })
    t.is(made.status, 201, made.text)
    t.like(made.body, { nick: `${method} 2`, banned: true })
    t.deepEqual((await stage.get('/api/page', as(user))).body, made.body)
    await stage.delete('/api/page', { ...as(user), ...any })
    const asRestorer = { ...as(`${user}!`), ...create }
    const reset = await stage.send(method, '/api/page', { json: { nick: method }, headers: asRestorer })
    t.is(reset.status, 201, reset.text)
    t.like(reset.body, { nick: method, banned: false })
  })
}

test('within the body of another record it stays a conflict, and nothing is written', async (t) => {
  await stage.post('/api/card', { nick: 'ida' }, as('8'))
  await stage.delete('/api/card', as('8'))
  const refused = await stage.post('/api/owners', { name: 'Ida', card: { nick: 'ida 2' } }, as('8!'))
  t.is(refused.status, 409, refused.text)
  t.is((await stage.get('/api/card', as('8'))).status, 404)
  t.is((await stage.get('/api/owners?count=true', as('8'))).body.count, 0)
})

test('where records are not restored a POST is 409, and the first one makes a record', async (t) => {
  t.is((await stage.post('/api/fixed', { nick: 'fay' }, as('4'))).status, 201)
  t.is((await stage.delete('/api/fixed', as('4'))).status, 204)
  t.is((await stage.post('/api/fixed', { nick: 'fay 2' }, as('4'))).status, 409)
  t.is((await stage.post('/api/card', { nick: 'gus' }, as('5!'))).status, 201)
})

test('of POSTs that race one makes the record', async (t) => {
  await stage.delete('/api/card', as('5!'))
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((nick) => stage.post('/api/card', { nick }, as('5!'))))
  t.deepEqual(
    answers.map(({ status }) => status).toSorted((one, other) => one - other),
    [201, 409, 409, 409],
  )
})
