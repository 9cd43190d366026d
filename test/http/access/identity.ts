// What `Authorization` may say where jwtIdentity is who asks.

import { request } from 'node:http'
import test from 'ava'
import jsonwebtoken, { type JwtHeader } from 'jsonwebtoken'
import { DataTypes } from 'sequelize'
import { authenticated, type CrudOptions, crudRouter, type IdentityFunction, jwtIdentity } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity, SECRET } from '../../support/tokens.js'

const server = await openStage(({ sequelize }, app) => {
  const Note = sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
  const mount = (path: string, options: CrudOptions): unknown =>
    app.use(path, crudRouter(Note, { identity, ...options }))
  mount('/guarded', { authorizePolicy: authenticated })
  mount('/open', {})
  const tolerant = jwtIdentity({ key: SECRET, algorithms: ['HS256'], clockTolerance: 60 })
  mount('/tolerant', { identity: tolerant, authorizePolicy: authenticated })
  mount('/masked', { mask: { text: 'look' } })
  return { Note }
})
test.after.always(() => server.close())

const { authorization: held = '' } = bearer({ sub: 'jan' })
const token = held.slice('Bearer '.length)
const basic = `Basic ${Buffer.from('jan:secret').toString('base64')}`

/** Headers that are not Bearer and one token. */
const NONE: readonly string[] = [
  ...['Bearer', 'bearer', token, `${held} x`, `${held} ${token}`, `${held}, ${held}`, `${held},`, `${held};x=1`],
  ...[basic, 'Basic', `Token ${token}`, `JWT ${token}`, `Digest username="jan"`, 'Negotiate', `DPoP ${token}`],
  ...[`${basic}, ${held}`, `Bearer: ${token}`, `Bearer=${token}`, `Bearer "${token}"`, `"Bearer" ${token}`, 'null'],
]

for (const authorization of NONE) {
  const shown = authorization.replaceAll(token, '<token>')
  test(`Authorization [${shown}] is a token that does not hold: 401, whatever the policies say`, async (t) => {
    for (const path of ['guarded', 'open', 'masked']) {
      const { status, headers, body } = await server.get(`/${path}/api/notes`, { authorization })
      t.is(status, 401, path)
      t.is(headers.get('www-authenticate'), 'Bearer error="invalid_token"')
      t.is(body.detail, 'The token is invalid or has expired.')
    }
  })
}

test('Authorization is Bearer in any case and one token', async (t) => {
  for (const authorization of [held, `bearer ${token}`, `BEARER   ${token}`]) {
    t.is((await server.get('/guarded/api/notes', { authorization })).status, 200, authorization)
  }
})

test('without Authorization, or with an empty one, the caller is anonymous', async (t) => {
  t.is((await server.get('/open/api/notes')).status, 200)
  t.is((await server.get('/guarded/api/notes')).headers.get('www-authenticate'), 'Bearer')
  const status = await new Promise((resolve, reject) => {
    const sent = request(`${server.url}/open/api/notes`, { headers: { authorization: '' } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
  t.is(status, 200)
})

/** The status of a GET with these lines, each of its own. */
function statusOf(path: string, lines: readonly string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}${path}`, { headers: { Authorization: [...lines] } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })
}

test('of several lines of Authorization the first is who asks, whatever stands in the others', async (t) => {
  t.is(await statusOf('/guarded/api/notes', [held, 'Bearer nonsense']), 200)
  t.is(await statusOf('/guarded/api/notes', ['Bearer nonsense', held]), 401)
})

test('a token whose header names critical extensions is refused', async (t) => {
  const headers = [{ crit: ['b64'], b64: false }, { crit: ['exp'] }, { crit: [] }, { crit: null }]
  for (const header of headers) {
    const critical = jsonwebtoken.sign({ sub: 'jan' }, SECRET, { header: { alg: 'HS256', ...header } as JwtHeader })
    const { status } = await server.get('/guarded/api/notes', { authorization: `Bearer ${critical}` })
    t.is(status, 401, JSON.stringify(header))
  }
})

test('a token may be as many seconds over its time as clocks may differ', async (t) => {
  const over = (seconds: number) => bearer({ sub: 'jan', exp: Math.floor(Date.now() / 1000) - seconds })
  t.is((await server.get('/tolerant/api/notes', over(5))).status, 200)
  t.is((await server.get('/tolerant/api/notes', over(90))).status, 401)
  t.is((await server.get('/guarded/api/notes', over(5))).status, 401)
})

test('what is no identity lets nobody in, and is an error of the host', async (t) => {
  const given = { roles: new Set(), permissions: new Set(), claims: {} }
  const WRONG = [
    'jan',
    1,
    [],
    {},
    { ...given, claims: undefined },
    { ...given, claims: [] },
    { ...given, claims: 'jan' },
  ]
  for (const wrong of [...WRONG, { ...given, roles: ['jan'] }, { ...given, permissions: undefined }]) {
    const errors: unknown[] = []
    const own = await openStage(({ sequelize }, app) => {
      const Note = sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
      const lent = (() => wrong) as unknown as IdentityFunction
      app.use(crudRouter(Note, { identity: lent, idempotency: true, onError: (error) => errors.push(error) }))
      return { Note }
    })
    const answers = [await own.get('/api/notes'), await own.post('/api/notes', {}, { 'idempotency-key': '1' })]
    await own.close()
    t.deepEqual(
      answers.map(({ status, body }) => [status, body.code]),
      [
        [500, 'internal'],
        [500, 'internal'],
      ],
    )
    for (const error of errors) t.regex(String(error), /^TypeError: the identity function must return an identity/)
    t.is(errors.length, 2)
  }
})

/** What the host's own middleware finds, in resources that say by one option that somebody asks, and not who. */
const OWN: readonly (readonly [what: string, options: CrudOptions])[] = [
  ['a policy', { authorizePolicy: ({ identity: caller }) => caller?.name === 'jan' }],
  ['a mask', { mask: { text: 'jan' } }],
  ['a scope', { scope: ({ identity: caller }) => ({ text: caller?.roles.has('jan') ? 'jan' : 'nobody' }) }],
]

for (const [what, options] of OWN) {
  test(`${what} alone asks whom the host's own middleware has found`, async (t) => {
    const own = await openStage(({ sequelize }, app) => {
      const Note = sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
      app.use((req, _res, next) => {
        const name = req.get('x-name')
        if (name !== undefined) Object.assign(req, { user: { sub: name, roles: [name] } })
        next()
      })
      app.use(crudRouter(Note, options))
      return { Note }
    })
    const { Note } = own
    await Note.create({ text: 'jan' })
    t.teardown(() => own.close())
    const seen = async (headers: Record<string, string>) => (await own.get('/api/notes', headers)).body.items?.[0]?.text
    t.is(await seen({ 'x-name': 'jan' }), 'jan')
    t.not(await seen({ 'x-name': 'eva' }), 'jan')
    t.not(await seen({}), 'jan')
  })
}
