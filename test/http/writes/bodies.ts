import { type ClientRequest, type OutgoingHttpHeaders, request } from 'node:http'
import { gzipSync } from 'node:zlib'
import ava, { type ExecutionContext } from 'ava'
import express, { type Express, type RequestHandler } from 'express'
import express4 from 'express4'
import { DataTypes } from 'sequelize'
import { type CrudOptions, crudRouter, Operations, problemHandler } from '../../../lib/index.js'
import { serve } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage()
const { app, sequelize } = server
const Player = sequelize.define(
  'Player',
  {
    name: { type: DataTypes.STRING(50), allowNull: false },
    level: DataTypes.INTEGER,
    meta: DataTypes.JSON,
    secret: DataTypes.STRING,
  },
  { timestamps: true },
)
await sequelize.sync()
await Player.create({ name: 'Jan', level: 42 })

const OPTIONS: CrudOptions = { operations: Operations.AllWithBulk, fields: { secret: { exclude: true } } }

app.use(crudRouter(Player, OPTIONS))
app.use('/small', crudRouter(Player, { ...OPTIONS, limits: { bodySize: 100, bulkItems: 3 } }))
app.use('/strict', crudRouter(Player, { ...OPTIONS, unknownProperties: 'reject' }))
ava.after.always(() => server.close())

interface Raw {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into bodies of every shape, and asserts what it finds
  readonly body: any
}

/** A request whose headers are exactly these, which `fetch` would complete. */
function raw(
  url: string,
  method: string,
  headers: OutgoingHttpHeaders,
  write: (sent: ClientRequest) => void,
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const isJson = /json/.test(response.headers['content-type'] ?? '')
        resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : text })
      })
    })
    sent.on('error', reject)
    write(sent)
  })
}

const JSON_TYPE = { 'content-type': 'application/json' }

const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/api/players'],
  ['PATCH', '/api/players/1'],
  ['POST', '/api/players/bulk'],
  ['POST', '/api/players/bulk-delete'],
]

const OTHER_TYPES = [
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/xml',
  'application/vnd.api+json',
  'application/json-patch+json',
  'application/jsonp',
  'application/octet-stream',
  'application/*',
  'json',
  ';',
]

for (const type of OTHER_TYPES) {
  test(`a body of type ${type} is 415 on every route that takes one, and says which types are taken`, async (t) => {
    for (const [method, path] of ROUTES) {
      const { status, headers, body } = await server.send(method, path, {
        body: '{"name":"Typed"}',
        headers: { 'content-type': type },
      })
      t.is(status, 415, path)
      t.is(headers.get('content-type'), 'application/problem+json')
      const lines = path.endsWith('/bulk') ? ['application/jsonl'] : []
      const taken = ['application/json', 'application/merge-patch+json', ...lines]
      t.is(headers.get('accept'), taken.join(', '))
      t.deepEqual(body, {
        type: 'https://tools.ietf.org/html/rfc9110#section-15.5.16',
        title: 'Unsupported Media Type',
        code: 'unsupported-media-type',
        status: 415,
        detail: `The body must be ${taken.join(' or ')}.`,
      })
    }
    t.is(await Player.count({ where: { name: 'Typed' } }), 0)
  })
}

test('a body without a content type is 415', async (t) => {
  for (const [method, path] of ROUTES) {
    const { status, body } = await raw(server.url + path, method, { 'content-length': 16 }, (sent) =>
      sent.end('{"name":"Typed"}'),
    )
    t.is(status, 415, path)
    t.is(body.title, 'Unsupported Media Type')
  }
})

for (const type of [
  'application/json',
  'application/merge-patch+json',
  'Application/JSON; charset=UTF-8',
  'application/merge-patch+json;charset=utf-8',
  'application/json ; odata=verbose',
]) {
  test(`a body of type ${type} is taken on every route`, async (t) => {
    const headers = { 'content-type': type }
    const created = await server.send('POST', '/api/players', { body: '{"name":"Typed"}', headers })
    t.is(created.status, 201)
    const path = `/api/players/${created.body.id}`
    t.is((await server.send('PATCH', path, { body: '{"name":"Retyped"}', headers })).body.name, 'Retyped')
    t.is((await server.send('POST', '/api/players/bulk', { body: '[]', headers })).status, 201)
    const deleted = await server.send('POST', '/api/players/bulk-delete', { body: `[${created.body.id}]`, headers })
    t.deepEqual(deleted.body, { deleted: 1 })
  })
}

test('a charset or an encoding that nobody can read is 415', async (t) => {
  const latin = await server.send('POST', '/api/players', {
    body: '{"name":"x"}',
    headers: { 'content-type': 'application/json; charset=latin1' },
  })
  t.is(latin.status, 415)
  t.is(latin.headers.get('content-type'), 'application/problem+json')
  const compress = await server.send('POST', '/api/players', {
    body: '{"name":"x"}',
    headers: { ...JSON_TYPE, 'content-encoding': 'compress' },
  })
  t.is(compress.status, 415)
})

test('a compressed body is read, and one that does not decompress is 400', async (t) => {
  const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' }
  const good = await raw(`${server.url}/api/players`, 'POST', headers, (sent) =>
    sent.end(gzipSync('{"name":"Compressed"}')),
  )
  t.is(good.status, 201)
  t.is(good.body.name, 'Compressed')
  const bad = await raw(`${server.url}/api/players`, 'POST', headers, (sent) => sent.end('{"name":"Plain"}'))
  t.is(bad.status, 400)
  t.is(bad.body.title, 'Malformed body.')
})

const BROKEN = ['{', '{"name":', '{"name":"x"}}', '{name:"x"}', "{'name':'x'}", '{"name":"x",}', 'NaN', '', ' ', '[}']

for (const text of BROKEN.filter((each) => each !== '')) {
  test(`${JSON.stringify(text)} is malformed JSON: 400 on every route`, async (t) => {
    for (const [method, path] of ROUTES) {
      const { status, headers, body } = await server.send(method, path, { body: text, headers: JSON_TYPE })
      t.is(status, 400, path)
      t.is(headers.get('content-type'), 'application/problem+json')
      t.deepEqual(body, {
        type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
        title: 'Malformed body.',
        code: 'malformed-body',
        status: 400,
        detail: 'The body is not valid JSON.',
      })
    }
  })
}

const NO_OBJECTS = ['[]', '[{"name":"x"}]', 'null', 'true', '5', '""', '"text"', '"{\\"name\\":\\"Twice\\"}"']

for (const text of NO_OBJECTS) {
  test(`${text} is no JSON object: 400 for create and update`, async (t) => {
    for (const [method, path] of ROUTES.slice(0, 2)) {
      const { status, body } = await server.send(method, path, { body: text, headers: JSON_TYPE })
      t.is(status, 400, path)
      t.like(body, { title: 'Malformed body.', detail: 'The body must be a JSON object.' })
    }
  })
}

for (const text of ['{}', '{"0":{"name":"x"},"length":1}', 'null', '1', '"[]"', '"[1]"']) {
  test(`${text} is no JSON array: 400 for the bulk routes`, async (t) => {
    for (const [method, path] of ROUTES.slice(2)) {
      const { status, body } = await server.send(method, path, { body: text, headers: JSON_TYPE })
      t.is(status, 400, path)
      const due = path.endsWith('delete') ? 'a JSON array of keys' : 'a JSON array'
      t.like(body, { title: 'Malformed body.', detail: `The body must be ${due}.` })
    }
  })
}

test('a request without a body is 400 where one is due, with and without a content type', async (t) => {
  for (const [method, path] of ROUTES) {
    for (const headers of [{}, JSON_TYPE, { 'content-length': '0' }, { ...JSON_TYPE, 'content-length': '0' }]) {
      const { status, body } = await raw(server.url + path, method, headers, (sent) => {
        // Without this the client would announce a chunked body.
        sent.useChunkedEncodingByDefault = false
        sent.end()
      })
      t.is(status, 400, `${path} ${JSON.stringify(headers)}`)
      t.like(body, { title: 'Malformed body.', detail: 'The request has no body.' })
    }
  }
})

test('a chunked body without a byte is no body: 400', async (t) => {
  for (const [method, path] of ROUTES) {
    const { status, body } = await raw(
      server.url + path,
      method,
      { ...JSON_TYPE, 'transfer-encoding': 'chunked' },
      (sent) => sent.end(),
    )
    t.is(status, 400, path)
    t.like(body, { title: 'Malformed body.', detail: 'The request has no body.' })
  }
})

test('a body that comes in chunks is read whole', async (t) => {
  const { status, body } = await raw(
    `${server.url}/api/players`,
    'POST',
    { ...JSON_TYPE, 'transfer-encoding': 'chunked' },
    (sent) => {
      sent.write('{"na')
      sent.end('me":"Chunked"}')
    },
  )
  t.is(status, 201)
  t.is(body.name, 'Chunked')
})

test("bodies of GET and DELETE are nobody's business", async (t) => {
  const { id } = (await server.post('/api/players', { name: 'Short-lived' })).body
  const headers = { 'content-type': 'text/plain', 'content-length': 2 }
  const got = await raw(`${server.url}/api/players/${id}`, 'GET', headers, (sent) => sent.end('hi'))
  t.is(got.status, 200)
  const gone = await raw(`${server.url}/api/players/${id}`, 'DELETE', headers, (sent) => sent.end('hi'))
  t.is(gone.status, 204)
})

/** A body of exactly this many bytes. */
function bodyOf(bytes: number): string {
  const frame = '{"name":"x","secret":""}'
  return frame.replace('""', `"${'s'.repeat(bytes - frame.length)}"`)
}

test('a body of bodySize bytes is taken, and one more is 413', async (t) => {
  t.is((await server.send('POST', '/small/api/players', { body: bodyOf(100), headers: JSON_TYPE })).status, 201)
  const { status, headers, body } = await server.send('POST', '/small/api/players', {
    body: bodyOf(101),
    headers: JSON_TYPE,
  })
  t.is(status, 413)
  t.is(headers.get('content-type'), 'application/problem+json')
  t.deepEqual(body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.14',
    title: 'Content Too Large',
    code: 'content-too-large',
    status: 413,
    detail: 'The body is larger than the limit of 100 bytes (bodySize).',
  })
})

test('the default bodySize is 1 MiB', async (t) => {
  t.is((await server.send('POST', '/api/players', { body: bodyOf(1024 * 1024), headers: JSON_TYPE })).status, 201)
  t.is((await server.send('POST', '/api/players', { body: bodyOf(1024 * 1024 + 1), headers: JSON_TYPE })).status, 413)
})

test('bodySize counts the bytes of a chunked and of an inflated body', async (t) => {
  const chunked = await raw(
    `${server.url}/small/api/players`,
    'POST',
    { ...JSON_TYPE, 'transfer-encoding': 'chunked' },
    (sent) => {
      sent.write(bodyOf(101).slice(0, 50))
      sent.end(bodyOf(101).slice(50))
    },
  )
  t.is(chunked.status, 413)
  const bomb = gzipSync(bodyOf(64 * 1024))
  const inflated = await raw(
    `${server.url}/small/api/players`,
    'POST',
    { ...JSON_TYPE, 'content-encoding': 'gzip', 'content-length': bomb.length },
    (sent) => sent.end(bomb),
  )
  t.is(inflated.status, 413)
})

test('a body nested beyond reason harms nobody, and is no value of a JSON attribute', async (t) => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const ignored = await server.send('POST', '/api/players', {
    body: `{"name":"Deep","unknown":${deep}}`,
    headers: JSON_TYPE,
  })
  t.is(ignored.status, 201)
  const refused = await server.send('POST', '/api/players', {
    body: `{"name":"Deep","meta":${deep}}`,
    headers: JSON_TYPE,
  })
  t.is(refused.status, 400)
  t.deepEqual(refused.body.errors, { meta: ['must not be nested deeper than 31 levels.'] })
})

// The order of checks: 405, 401, 403, 415, a malformed or oversized body, 400 for the query, 404, 428, 412, and last the
// validation. Each row breaks two rules or more, and the earlier one answers.
const ORDER: readonly (readonly [
  what: string,
  method: string,
  path: string,
  type: string,
  body: string,
  status: number,
  title: string,
])[] = [
  ['405 comes before 415', 'PUT', '/api/players/1', 'text/plain', '{', 405, 'Method Not Allowed'],
  ['415 comes before malformed', 'POST', '/api/players', 'text/plain', '{', 415, 'Unsupported Media Type'],
  ['415 comes before 413', 'POST', '/small/api/players', 'text/plain', bodyOf(200), 415, 'Unsupported Media Type'],
  ['415 comes before 404', 'PATCH', '/api/players/999', 'text/plain', '{}', 415, 'Unsupported Media Type'],
  [
    '415 comes before a key that is none',
    'PATCH',
    '/api/players/abc',
    'text/plain',
    '{}',
    415,
    'Unsupported Media Type',
  ],
  [
    '413 comes before 404',
    'PATCH',
    '/small/api/players/999',
    'application/json',
    bodyOf(200),
    413,
    'Content Too Large',
  ],
  ['malformed comes before 404', 'PATCH', '/api/players/999', 'application/json', '{', 400, 'Malformed body.'],
  [
    'malformed comes before a key that is none',
    'PATCH',
    '/api/players/abc',
    'application/json',
    '[]',
    400,
    'Malformed body.',
  ],
  ['404 comes before validation', 'PATCH', '/api/players/999', 'application/json', '{"name":5}', 404, 'Not Found'],
  [
    '404 of a key that is none comes before validation',
    'PATCH',
    '/api/players/abc',
    'application/json',
    '{"name":5}',
    404,
    'Not Found',
  ],
  [
    '404 comes before unknown properties',
    'PATCH',
    '/strict/api/players/999',
    'application/json',
    '{"nope":5}',
    404,
    'Not Found',
  ],
  [
    'too many items come before what is wrong in them',
    'POST',
    '/small/api/players/bulk',
    'application/json',
    '[1,2,3,4]',
    400,
    'Malformed body.',
  ],
]

for (const [what, method, path, type, body, status, title] of ORDER) {
  test(`${what}: ${method} ${path}`, async (t) => {
    const answer = await server.send(method, path, { body, headers: { 'content-type': type } })
    t.is(answer.status, status)
    t.is(answer.body.title, title)
  })
}

test('unknown and unwritable properties are ignored unless the host rejects them', async (t) => {
  const { status, body } = await server.post('/api/players', {
    name: 'Lenient',
    nope: 1,
    nmae: 'x',
    id: 777_777,
    secret: 'x',
    createdAt: '2001-01-01T00:00:00Z',
    updatedAt: '2001-01-01T00:00:00Z',
  })
  t.is(status, 201)
  t.is(body.name, 'Lenient')
  t.not(body.id, 777_777)
  t.notRegex(body.createdAt, /^2001/)
  t.false('secret' in body)
  const row = await Player.findOne({ where: { name: 'Lenient' } })
  t.is(row?.get('secret'), null)
  const patched = await server.patch(`/api/players/${body.id}`, { nope: 1, id: 5, secret: 'x', createdAt: null })
  t.is(patched.status, 200)
  t.is(patched.body.id, body.id)
  t.is(patched.body.createdAt, body.createdAt)
})

test("unknownProperties: 'reject' names every property that is no attribute, beside what else is wrong", async (t) => {
  const bad = { level: 'high', nope: 1, Name: 'x', team: { name: 'x' }, 'meta.a': 1 }
  const unknown = ['is not a known property.']
  const created = await server.post('/strict/api/players', bad)
  t.is(created.status, 400)
  t.is(created.body.title, 'One or more validation errors occurred.')
  t.deepEqual(created.body.errors, {
    name: ['is required.'],
    level: ['must be an integer.'],
    nope: unknown,
    Name: ['is not a known property. Did you mean name?'],
    team: unknown,
    'meta.a': unknown,
  })
  const patched = await server.patch('/strict/api/players/1', bad)
  t.deepEqual(patched.body.errors, {
    level: ['must be an integer.'],
    nope: unknown,
    Name: ['is not a known property. Did you mean name?'],
    team: unknown,
    'meta.a': unknown,
  })
  const bulk = await server.post('/strict/api/players/bulk', [{ name: 'a' }, { name: 'b', nope: 1 }])
  t.deepEqual(bulk.body.errors, { '[1].nope': unknown })
})

test("unknownProperties: 'reject' ignores what is known and not writable: the key and time stamps", async (t) => {
  const { status, body } = await server.post('/strict/api/players', {
    name: 'Known',
    id: 1,
    createdAt: '2001-01-01T00:00:00Z',
    updatedAt: 'whenever',
  })
  t.is(status, 201)
  t.not(body.id, 1)
  t.is((await server.patch(`/strict/api/players/${body.id}`, { id: 'x', updatedAt: 5 })).status, 200)
})

test("unknownProperties: 'reject' ignores an attribute that is excluded: it is known, and not writable", async (t) => {
  const { status, body } = await server.post('/strict/api/players', { name: 'Prober', secret: 'mine' })
  t.is(status, 201)
  t.is((await Player.findByPk(body.id))?.get('secret'), null)
})

const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__', 'prototype']

for (const name of INHERITED) {
  test(`the property ${name} of a body is a name like any other that is unknown`, async (t) => {
    const text = `{"name":"Proto","${name}":{"level":99,"polluted":true}}`
    const created = await server.send('POST', '/api/players', { body: text, headers: JSON_TYPE })
    t.is(created.status, 201)
    t.is(created.body.level, null)
    t.false('polluted' in {})
    const required = await server.send('POST', '/api/players', {
      body: `{"${name}":{"name":"inherited"}}`,
      headers: JSON_TYPE,
    })
    t.deepEqual(required.body.errors, { name: ['is required.'] })
    const patched = await server.send('PATCH', `/api/players/${created.body.id}`, { body: text, headers: JSON_TYPE })
    t.is(patched.body.level, null)
    const bulk = await server.send('POST', '/api/players/bulk', { body: `[${text}]`, headers: JSON_TYPE })
    t.is(bulk.body[0].level, null)
    const strict = await server.send('POST', '/strict/api/players', { body: text, headers: JSON_TYPE })
    t.is(strict.status, 400)
    t.deepEqual(Object.entries(strict.body.errors), [[name, ['is not a known property.']]])
  })
}

// The router parses its own body when nobody has parsed it before.

interface Parsers {
  readonly create: () => Express
  readonly json: typeof express.json
  readonly raw: typeof express.raw
  readonly text: typeof express.text
  readonly urlencoded: typeof express.urlencoded
}

const FRAMEWORKS: readonly (readonly [name: string, parsers: Parsers])[] = [
  ['Express 5', { create: express, ...parsersOf(express) }],
  // The declarations of the two differ only where these tests do not look.
  ['Express 4', { create: express4 as unknown as () => Express, ...parsersOf(express4 as unknown as typeof express) }],
]

function parsersOf({ json, raw, text, urlencoded }: typeof express): Omit<Parsers, 'create'> {
  return { json, raw, text, urlencoded }
}

const HOSTS: readonly (readonly [what: string, parser: (parsers: Parsers) => RequestHandler])[] = [
  ['express.json()', ({ json }) => json()],
  ['express.json({ strict: false })', ({ json }) => json({ strict: false })],
  ['express.json() of every type', ({ json }) => json({ type: () => true })],
  ['express.raw() of every type', ({ raw }) => raw({ type: () => true })],
  ['express.text() of every type', ({ text }) => text({ type: () => true })],
  ['express.urlencoded(), which skips JSON', ({ urlencoded }) => urlencoded({ extended: true })],
  [
    'a handler that sets an empty body and reads nothing, as Express 4 did',
    () => (req, _res, next) => {
      req.body = {}
      next()
    },
  ],
  [
    'a handler that sets an empty body and waits for something else',
    () => (req, _res, next) => {
      req.body = {}
      setTimeout(next, 5)
    },
  ],
  [
    "a parser that is not Express's",
    () => async (req, _res, next) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk)
      req.body = JSON.parse(Buffer.concat(chunks).toString() || 'null')
      next()
    },
  ],
  [
    'an adapter that has read the request and leaves its bytes',
    () => async (req, _res, next) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk)
      req.body = Buffer.concat(chunks)
      next()
    },
  ],
]

async function hosting(t: ExecutionContext, { create }: Parsers, before: readonly RequestHandler[]) {
  const host = create()
  for (const handler of before) host.use(handler)
  host.use(crudRouter(Player, OPTIONS))
  host.use(problemHandler({ onError: () => undefined }))
  const served = await serve(host)
  t.teardown(served.close)
  return served
}

for (const [framework, parsers] of FRAMEWORKS) {
  for (const [what, parserOf] of HOSTS) {
    test(`${framework}: bodies are understood behind ${what}`, async (t) => {
      const host = await hosting(t, parsers, [parserOf(parsers)])
      const created = await host.post('/api/players', { name: 'Hosted', level: 7 })
      t.is(created.status, 201)
      t.like(created.body, { name: 'Hosted', level: 7 })
      const path = `/api/players/${created.body.id}`
      const merged = await host.send('PATCH', path, {
        body: '{"level":null}',
        headers: { 'content-type': 'application/merge-patch+json' },
      })
      t.is(merged.status, 200)
      t.like(merged.body, { name: 'Hosted', level: null })
      const bulk = await host.post('/api/players/bulk', [{ name: 'A' }, { name: 'B' }])
      t.deepEqual(
        bulk.body.map(({ name }: { name: string }) => name),
        ['A', 'B'],
      )
      t.deepEqual((await host.post('/api/players', {})).body.errors, { name: ['is required.'] })
      t.is((await host.post('/api/players', [])).body.detail, 'The body must be a JSON object.')
      t.is((await host.post('/api/players/bulk', {})).body.detail, 'The body must be a JSON array.')
      t.is((await host.delete(path)).status, 204)
    })

    test(`${framework}: another content type is 415 behind ${what}`, async (t) => {
      const host = await hosting(t, parsers, [parserOf(parsers)])
      const { status } = await host.send('POST', '/api/players', {
        body: '{"name":"Form"}',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      t.is(status, 415)
    })

    test(`${framework}: a request without a body is 400 behind ${what}`, async (t) => {
      const host = await hosting(t, parsers, [parserOf(parsers)])
      const { status, body } = await host.send('POST', '/api/players', { headers: JSON_TYPE })
      t.is(status, 400)
      t.is(body.title, 'Malformed body.')
    })
  }

  test(`${framework}: malformed JSON is 400 where the host left bytes or text`, async (t) => {
    const every = { type: () => true }
    for (const parser of [parsers.raw(every), parsers.text(every)]) {
      const host = await hosting(t, parsers, [parser])
      const { status, body } = await host.send('POST', '/api/players', { body: '{"name":', headers: JSON_TYPE })
      t.is(status, 400)
      t.like(body, { title: 'Malformed body.', detail: 'The body is not valid JSON.' })
    }
  })

  test(`${framework}: what the host's own parser refuses is a problem through problemHandler`, async (t) => {
    const host = await hosting(t, parsers, [parsers.json({ limit: 50 })])
    const broken = await host.send('POST', '/api/players', { body: '{', headers: JSON_TYPE })
    t.is(broken.status, 400)
    t.is(broken.headers.get('content-type'), 'application/problem+json')
    t.is(broken.body.title, 'Malformed body.')
    const large = await host.send('POST', '/api/players', { body: bodyOf(100), headers: JSON_TYPE })
    t.is(large.status, 413)
    t.is(large.headers.get('content-type'), 'application/problem+json')
  })

  test(`${framework}: a query parser of the host has no say in bodies`, async (t) => {
    const host = await hosting(t, parsers, [])
    t.is((await host.post('/api/players?name=Query&body=x', { name: 'Body' })).body.name, 'Body')
  })
}
