import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, identityFromRequest, Problem, queryOf } from '../../lib/index.js'
import { serveModels } from '../support/models.js'

const test = ava.serial

const served = await serveModels({
  define: (sequelize) => {
    const define = (plural: string, more: object = {}): ReturnType<typeof sequelize.define> =>
      sequelize.define(
        plural,
        {
          title: DataTypes.STRING,
          salary: DataTypes.INTEGER,
          password: DataTypes.STRING,
          ...more,
        },
        { name: { singular: plural, plural }, timestamps: false },
      )
    return {
      Strict: define('strict'),
      Open: define('open'),
      Lenient: define('lenient'),
      Fixed: define('fixed', { id: { type: DataTypes.DOUBLE, primaryKey: true } }),
    }
  },
  mount: (app, { Strict, Open, Lenient, Fixed }) => {
    app.use((req, _res, next) => {
      const { permissions } = req.headers
      if (permissions !== undefined) Object.assign(req, { auth: { permissions: [permissions].flat() } })
      next()
    })
    app.use(
      crudRouter(Strict, {
        identity: identityFromRequest,
        mask: { salary: 'salaries' },
        fields: { password: { exclude: true } },
        query: { unknownParameters: 'reject' },
      }),
    )
    app.use(crudRouter(Open))
    app.use(crudRouter(Lenient, { query: { unknownFields: 'ignore' } }))
    app.use(crudRouter(Fixed, { query: { unknownParameters: 'reject', sortable: false } }))
  },
})

test.after.always(() => served.close())

test('a parameter that a strict list does not know is 400, with what was probably meant', async (t) => {
  const { status, body } = await served.get('/api/strict?pagesize=5&titel=x&zzzzzzzz=1')
  t.is(status, 400)
  t.deepEqual(body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
    title: 'Unknown parameter.',
    code: 'unknown-parameter',
    status: 400,
    detail: 'pagesize is not a parameter of this list. Did you mean "pageSize"?',
    errors: {
      pagesize: ['is not a parameter of this list. Did you mean "pageSize"?'],
      titel: ['is not a parameter of this list. Did you mean "title"?'],
      zzzzzzzz: ['is not a parameter of this list.'],
    },
  })
  for (const query of ['?TITLE=x&page=1', '?count=true&title=x', '?cursor=&pageSize=3', '?select=Title', '?', '?&&']) {
    t.is((await served.get(`/api/strict${query}`)).status, 200, query)
  }
})

test('what a caller may not read is no parameter of a strict list, and nobody hints at it', async (t) => {
  for (const name of ['salary', 'salarie', 'password', 'passwort']) {
    const { body } = await served.get(`/api/strict?${name}=1`)
    t.deepEqual(body.errors, { [name]: ['is not a parameter of this list.'] })
  }
  t.is((await served.get('/api/strict?salary=1', { permissions: 'salaries' })).status, 200)
  t.deepEqual((await served.get('/api/strict?salarie=1', { permissions: 'salaries' })).body.errors, {
    salarie: ['is not a parameter of this list. Did you mean "salary"?'],
  })
})

test('what a strict list has no use for is unknown to it', async (t) => {
  for (const name of ['includeDeleted', 'cursor', 'sort', 'sortBy', 'sortDirection']) {
    const { status, body } = await served.get(`/api/fixed?${name}=`)
    t.is(status, 400, name)
    t.deepEqual(Object.keys(body.errors), [name])
  }
})

test('names that do not decode, or are like nothing, are told as they came', async (t) => {
  t.deepEqual((await served.get('/api/strict?%ff=1')).body.errors, { '%ff': ['is not a parameter of this list.'] })
  const proto = await served.get('/api/strict?__proto__=1&constructor=2')
  t.deepEqual(Object.keys(proto.body.errors), ['__proto__', 'constructor'])
  t.deepEqual(Object.keys((await served.get('/api/strict?filter%5Bx%5D=1')).body.errors), ['filter[x]'])
})

test('a URL full of unknown names is answered at once, with some of them', async (t) => {
  const many = Array.from({ length: 2000 }, (_, index) => `n${index}`).join('&')
  const started = Date.now()
  const { status, body } = await served.get(`/api/strict?${many}`)
  t.is(status, 400)
  t.is(Object.keys(body.errors).length, 10)
  t.is((await served.get(`/api/strict?${'a'.repeat(12_000)}=1`)).status, 400)
  t.true(Date.now() - started < 1000)
})

test('unknown parameters are ignored elsewhere, unless the request prefers to be held strictly', async (t) => {
  for (const base of ['/api/open', '/api/lenient']) {
    const ignored = await served.get(`${base}?pagesize=5`)
    t.is(ignored.status, 200)
    t.is(ignored.headers.get('vary'), 'Prefer')
    for (const mode of ['', '&count=true', '&cursor=', '&select=Title']) {
      const { status, body } = await served.get(`${base}?pagesize=5${mode}`, { Prefer: 'handling=strict' })
      t.is(status, 400)
      t.is(body.title, 'Unknown parameter.')
    }
    const strict = await served.get(`${base}?title=x`, { Prefer: 'handling=strict' })
    t.is(strict.status, 200)
    t.is(strict.headers.get('preference-applied'), 'handling=strict')
  }
  t.is((await served.get('/api/open?title=x')).headers.get('vary'), null)
})

test('leniency is not the request’s to ask for', async (t) => {
  const { status, headers } = await served.get('/api/strict?pagesize=5', { Prefer: 'handling=lenient' })
  t.is(status, 400)
  t.is(headers.get('preference-applied'), null)
})

test('a query without routes refuses unknown parameters alike', (t) => {
  const query = queryOf(served.Open, { query: { unknownParameters: 'reject' } })
  const error = t.throws(() => query.toFindOptions({ pagesize: 5 }), { instanceOf: Problem })
  t.is(error?.code, 'unknown-parameter')
  t.notThrows(() => queryOf(served.Open).toFindOptions({ pagesize: 5 }))
})
