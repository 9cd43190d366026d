// Where agents get tokens: the metadata of the protected resource (RFC 9728), and challenges that name it.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations, Problem } from '../../../lib/index.js'
import { crudMcp, type McpAuthorization } from '../../../lib/mcp/index.js'
import { connectAgentOverHttp } from '../../support/mcp.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const AUTHORIZATION: McpAuthorization = {
  resource: 'https://api.example.com/tools/mcp',
  servers: ['https://login.example.com'],
  scopes: ['records', 'records:write'],
}
const METADATA = 'https://api.example.com/.well-known/oauth-protected-resource/tools/mcp'
const PATH = new URL(METADATA).pathname
const NAMED = `resource_metadata="${METADATA}", scope="records records:write"`

const stage = await openStage(({ sequelize }, app) => {
  const Note = sequelize.define('Note', { text: DataTypes.STRING(20) }, { timestamps: false })
  const notes = crudRouter(Note, { identity, operations: Operations.Read, authorizePolicy: () => true })
  const failing = crudRouter(Note, {
    route: 'api/failing',
    operations: Operations.Read,
    authorizePolicy: () => true,
    identity: ({ headers }) => {
      const challenge = headers['x-challenge']
      throw new Problem({
        status: Number(headers['x-status'] ?? 401),
        detail: 'no',
        errors: { token: ['is old.'] },
        headers: { 'x-own': 'yes', ...(challenge === undefined ? {} : { 'www-authenticate': String(challenge) }) },
      })
    },
  })
  const others = crudRouter(Note, {
    route: 'api/others',
    operations: Operations.Read,
    authorizePolicy: () => true,
    identity: identityFromHeader,
  })
  app.all('/two', crudMcp({ resources: [notes, others], authorization: AUTHORIZATION }))
  const mcp = crudMcp({ resources: [notes], authorization: AUTHORIZATION })
  const root = crudMcp({
    resources: [notes],
    authorization: { resource: 'http://localhost:3000', servers: ['https://a.example', 'https://b.example/c'] },
  })
  app.use(notes, mcp.metadata, root.metadata)
  app.all('/tools/mcp', mcp)
  app.all('/root', root)
  const open = crudMcp({ resources: [notes] })
  app.use(open.metadata)
  app.all('/open', open)
  app.all('/failing', crudMcp({ resources: [failing], authorization: AUTHORIZATION }))
})
await stage.sequelize.model('Note').create({ text: 'x' })
test.after.always(() => stage.close())

const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const accept = 'application/json, text/event-stream'

test('the metadata is at the well-known path of the resource', async (t) => {
  const { status, headers, body } = await stage.get(PATH)
  t.is(status, 200)
  t.is(headers.get('content-type'), 'application/json')
  t.is(headers.get('access-control-allow-origin'), '*')
  t.deepEqual(body, {
    resource: 'https://api.example.com/tools/mcp',
    authorization_servers: ['https://login.example.com'],
    scopes_supported: ['records', 'records:write'],
    bearer_methods_supported: ['header'],
  })
  t.is((await stage.get(`${PATH}?a=1`)).status, 200)
  t.deepEqual((await stage.get('/.well-known/oauth-protected-resource')).body, {
    resource: 'http://localhost:3000',
    authorization_servers: ['https://a.example', 'https://b.example/c'],
    bearer_methods_supported: ['header'],
  })
  t.is((await stage.get(`${PATH}/other`)).status, 404)
})

test('the metadata answers HEAD and preflights of browsers, and refuses other methods', async (t) => {
  const head = await stage.send('HEAD', PATH)
  t.is(head.status, 200)
  t.is(head.text, '')
  const preflight = await stage.send('OPTIONS', PATH, { headers: { origin: 'https://inspector.example' } })
  t.is(preflight.status, 204)
  t.is(preflight.headers.get('access-control-allow-headers'), '*')
  t.is(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD, OPTIONS')
  const posted = await stage.post(PATH, {})
  t.is(posted.status, 405)
  t.is(posted.headers.get('allow'), 'GET, HEAD, OPTIONS')
})

test('requests without a valid token are a 401 that names the metadata', async (t) => {
  const nobody = await stage.post('/tools/mcp', message, { accept })
  t.is(nobody.status, 401)
  t.is(nobody.headers.get('www-authenticate'), `Bearer ${NAMED}`)
  t.is(nobody.body.code, 'unauthorized')
  const wrong = await stage.post('/tools/mcp', message, { accept, authorization: 'Bearer nonsense' })
  t.is(wrong.status, 401)
  t.is(wrong.headers.get('www-authenticate'), `Bearer ${NAMED}, error="invalid_token"`)
  t.is((await stage.post('/tools/mcp', message, { accept, ...bearer({ sub: 'ann' }) })).status, 200)
  const unscoped = await stage.post('/root', message, { accept })
  t.is(
    unscoped.headers.get('www-authenticate'),
    'Bearer resource_metadata="http://localhost:3000/.well-known/oauth-protected-resource"',
  )
})

test('an identity for one of several resources is let in', async (t) => {
  const known = bearer({ sub: 'ann' })
  const wrong = { authorization: 'Bearer nonsense' }
  for (const [headers, status] of [
    [{}, 401],
    [known, 200],
    [asUser('ann'), 200],
    [{ ...known, ...asUser('ann') }, 200],
    [{ ...wrong, ...asUser('ann') }, 200],
    [wrong, 401],
  ] as const) {
    t.is((await stage.post('/two', message, { accept, ...headers })).status, status, JSON.stringify(headers))
  }
})

test('without the option, policies decide about callers without an identity', async (t) => {
  const agent = await connectAgentOverHttp(`${stage.url}/open`)
  t.is((await agent.call('query_records', { resource: 'notes' })).body.items.length, 1)
  const wrong = await stage.post('/open', message, { accept, authorization: 'Bearer nonsense' })
  t.is(wrong.headers.get('www-authenticate'), 'Bearer error="invalid_token"')
})

test('challenges of the host stand beside that of the handler', async (t) => {
  for (const [given, expected] of [
    ['Bearer', `Bearer ${NAMED}`],
    ['bearer realm="x"', `Bearer ${NAMED}, realm="x"`],
    ['Bearer, Basic realm="x"', `Bearer ${NAMED}, Basic realm="x"`],
    ['Basic realm="x"', `Bearer ${NAMED}, Basic realm="x"`],
    ['Bearers x="y"', `Bearer ${NAMED}, Bearers x="y"`],
    ['Basic realm="x", Bearer', `Bearer ${NAMED}, Basic realm="x", Bearer`],
    [undefined, `Bearer ${NAMED}`],
  ] as const) {
    const own: Record<string, string> = given === undefined ? {} : { 'x-challenge': given }
    const { status, headers, body } = await stage.post('/failing', message, { accept, ...own })
    t.is(status, 401)
    t.like(body, { status: 401, code: 'unauthorized', detail: 'no', errors: { token: ['is old.'] } })
    t.is(headers.get('www-authenticate'), expected)
    t.is(headers.get('x-own'), 'yes')
  }
  const other = await stage.post('/failing', message, { accept, 'x-challenge': 'Basic', 'x-status': '403' })
  t.is(other.status, 403)
  t.is(other.headers.get('www-authenticate'), 'Basic')
})

test('wrong options are errors when the handler is made', async (t) => {
  const router = crudRouter(stage.sequelize.model('Note'), { route: 'api/more' })
  const operator = { name: 'x', roles: new Set<string>(), permissions: new Set<string>(), claims: {} }
  const resource = /authorization\.resource must be the URL of the handler/
  const servers = /authorization\.servers must be an array of URLs/
  const rows: readonly (readonly [authorization: unknown, message: RegExp])[] = [
    ['https://api.example.com/mcp', /authorization must be an object/],
    [null, /authorization must be an object/],
    [{}, resource],
    ...[
      'api.example.com/mcp',
      'http://api.example.com/mcp',
      'https://a@api.example.com/mcp',
      'https://api.example.com/mcp?x=1',
      'https://api.example.com/mcp?',
      'https://api.example.com/mcp#x',
      'ftp://api.example.com',
      5,
    ].map((url) => [{ ...AUTHORIZATION, resource: url }, resource] as const),
    ...[undefined, [], 'https://login.example.com', ['http://login.example.com'], ['x'], [5]].map(
      (urls) => [{ ...AUTHORIZATION, servers: urls }, servers] as const,
    ),
    ...['records', ['a b'], ['a"'], ['a\\'], ['']].map(
      (scopes) => [{ ...AUTHORIZATION, scopes }, /authorization\.scopes must be/] as const,
    ),
    [{ ...AUTHORIZATION, server: [] }, /the option "authorization\.server" does not exist\. Did you mean "servers"/],
  ]
  for (const [authorization, expected] of rows) {
    const options = { resources: [router], authorization } as Parameters<typeof crudMcp>[0]
    t.throws(() => crudMcp(options), { message: expected, code: 'INVALID_OPTION' }, JSON.stringify(authorization))
  }
  t.throws(() => crudMcp({ resources: [router], authorization: AUTHORIZATION, identity: operator }), {
    message: /authorization needs HTTP/,
  })
  await router.close()
})
