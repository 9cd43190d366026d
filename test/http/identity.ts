// What `Authorization` may say where jwtIdentity is who asks.

import { request } from 'node:http'
import test from 'ava'
import { DataTypes } from 'sequelize'
import { authenticated, type CrudOptions, crudRouter } from '../../lib/index.js'
import { serveModels } from '../support/models.js'
import { bearer, identity } from '../support/tokens.js'

const server = await serveModels({
  define: (sequelize) => ({ Note: sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false }) }),
  mount: (app, { Note }) => {
    const mount = (path: string, options: CrudOptions): unknown =>
      app.use(path, crudRouter(Note, { identity, ...options }))
    mount('/guarded', { authorizePolicy: authenticated })
    mount('/open', {})
    mount('/masked', { mask: { text: 'look' } })
  },
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
      t.is(body.detail, 'The token is not valid.')
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

/** What the host's own middleware finds, in resources that say by one option that somebody asks, and not who. */
const OWN: readonly (readonly [what: string, options: CrudOptions])[] = [
  ['a policy', { authorizePolicy: ({ identity: caller }) => caller?.name === 'jan' }],
  ['a mask', { mask: { text: 'jan' } }],
  ['a scope', { scope: ({ identity: caller }) => ({ text: caller?.roles.has('jan') ? 'jan' : 'nobody' }) }],
]

for (const [what, options] of OWN) {
  test(`${what} alone asks whom the host's own middleware has found`, async (t) => {
    const own = await serveModels({
      define: (sequelize) => ({ Note: sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false }) }),
      fill: async ({ Note }) => {
        await Note.create({ text: 'jan' })
      },
      mount: (app, { Note }) => {
        app.use((req, _res, next) => {
          const name = req.get('x-name')
          if (name !== undefined) Object.assign(req, { user: { sub: name, roles: [name] } })
          next()
        })
        app.use(crudRouter(Note, options))
      },
    })
    t.teardown(() => own.close())
    const seen = async (headers: Record<string, string>) => (await own.get('/api/notes', headers)).body.items?.[0]?.text
    t.is(await seen({ 'x-name': 'jan' }), 'jan')
    t.not(await seen({ 'x-name': 'eva' }), 'jan')
    t.not(await seen({}), 'jan')
  })
}
