import { createServer } from 'node:http'
import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { etagOf, filter, ProblemError, resource, withTag } from '../../../lib/client/index.js'
import { crudRouter, Operations } from '../../../lib/index.js'
import { serve } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

interface Note {
  id: number
  text: string | null
}

interface Player {
  id: number
  name: string
  level: number | null
}

function definePlayers(sequelize: Sequelize): Record<'Player' | 'Badge', ModelStatic<Model>> {
  const Player = sequelize.define(
    'player',
    { name: { type: DataTypes.STRING(20), allowNull: false, unique: true }, level: DataTypes.INTEGER },
    { timestamps: false },
  )
  const Badge = sequelize.define(
    'badge',
    { text: DataTypes.STRING(20), playerId: DataTypes.INTEGER },
    { timestamps: false },
  )
  Player.hasMany(Badge, { as: 'badges', foreignKey: 'playerId' })
  return { Player, Badge }
}

/** Players play on courts, whose keys are texts; `since` is of the two. */
function defineCourts(sequelize: Sequelize): Record<'Court' | 'PlayerCourt', ModelStatic<Model>> {
  const plain = { timestamps: false }
  const Court = sequelize.define('court', { place: { type: DataTypes.STRING(20), primaryKey: true } }, plain)
  const PlayerCourt = sequelize.define('playercourt', { since: DataTypes.INTEGER }, plain)
  const keys = { foreignKey: 'playerId', otherKey: 'place' }
  sequelize.model('player').belongsToMany(Court, { as: 'courts', through: PlayerCourt, ...keys })
  return { Court, PlayerCourt }
}

const served = await openStage(({ sequelize }, app) => {
  const models = {
    ...definePlayers(sequelize),
    Note: sequelize.define(
      'note',
      {
        text: DataTypes.STRING(20),
        isDeleted: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
        deletedAt: DataTypes.DATE,
        rowVersion: { type: DataTypes.BIGINT, allowNull: false, defaultValue: 0 },
      },
      { timestamps: false },
    ),
    Sample: sequelize.define('sample', { rate: DataTypes.DOUBLE }, { timestamps: false }),
    Code: sequelize.define(
      'code',
      { code: { type: DataTypes.STRING(20), primaryKey: true }, text: DataTypes.STRING },
      { timestamps: false },
    ),
    ...defineCourts(sequelize),
  }
  const { Player, Badge, Note, Sample, Code, Court, PlayerCourt } = models
  const operations = Operations.AllWithBulk
  const all = operations + Operations.BulkUpdate + Operations.Replace + Operations.Aggregate + Operations.Export
  const routes = { routes: true }
  app.use(crudRouter(Player, { operations: all, relations: { badges: routes, courts: { ...routes, write: true } } }))
  app.use(crudRouter(Badge), crudRouter(Court), crudRouter(PlayerCourt), crudRouter(Sample, { idempotency: true }))
  app.use(
    crudRouter(Note, {
      concurrency: true,
      softDelete: true,
      operations: Operations.AllWithBulk + Operations.Restore,
    }),
  )
  app.use(crudRouter(Code, { keyProperty: 'code' }))
  return models
})
await served.Court.bulkCreate(['a/b', 'c d', 'e~f', 'g'].map((place) => ({ place })))
await served.Player.bulkCreate([1, 2, 3, 4, 5].map((level) => ({ name: `player ${level}`, level })))
test.after.always(() => served.close())

const players = resource<Player>(`${served.url}/api/players`)
const notes = resource<Note>(`${served.url}/api/notes/`)

test('a list is asked for by filter, sort, select and page, words joined by commas', async (t) => {
  const found = await players.list({ filter: filter.gt('level', 2), sort: ['-level', 'id'], pageSize: 2 })
  t.deepEqual(found.items, [
    { id: 5, name: 'player 5', level: 5 },
    { id: 4, name: 'player 4', level: 4 },
  ])
  t.is(found.totalCount, 3)
  t.deepEqual((await players.list({ select: ['name'], filter: 'level=1' })).items, [{ name: 'player 1' }])
  t.deepEqual(
    (await players.list({ keys: [2, 3], sort: 'id' })).items.map(({ id }) => id),
    [2, 3],
  )
  t.is(await players.count({ filter: 'level>3' }), 2)
})

test('numbers of any size find the records that have them, as parameters and in filters', async (t) => {
  const samples = resource<{ id: number; rate: number }>(`${served.url}/api/samples`)
  for (const rate of [1e-7, -2.5e-9, 1e21, 1.5, 0]) {
    const made = await samples.create({ rate })
    t.deepEqual((await samples.list({ rate })).items, [made])
    t.deepEqual((await samples.list({ filter: filter.eq('rate', rate) })).items, [made])
  }
})

test('a record is created, read, patched and deleted, in ones and in many', async (t) => {
  const made = await players.create({ name: 'Ewa', level: 90 })
  t.deepEqual(await players.get(made.id), made)
  t.is((await players.update(made, { level: null })).level, null)
  t.is((await players.update(made.id, { name: 'Eva' })).name, 'Eva')
  await players.delete(made)
  const gone = await t.throwsAsync(players.get(made.id), { instanceOf: ProblemError })
  t.is(gone?.status, 404)
  t.is(gone?.code, 'not-found')
  const many = await players.bulkCreate([{ name: 'a' }, { name: 'b' }])
  t.deepEqual(await players.bulkDelete(many.map(({ id }) => id)), { deleted: 2 })
})

test('keys stand in paths as they are, whatever is in them', async (t) => {
  const codes = resource<{ code: string; text: string }>(`${served.url}/api/codes`, { key: 'code' })
  for (const code of ['a/b', 'ä %2F', 'a,b', 'x?y#z', '~']) {
    const made = await codes.create({ code, text: 'old' })
    t.is(made.code, code)
    t.is((await codes.update(made, { text: 'new' })).text, 'new', code)
    t.deepEqual((await codes.list({ keys: [code] })).items, [{ code, text: 'new' }])
    await codes.delete(code)
  }
})

test('a key or relation that no path can hold throws, and nothing is sent', async (t) => {
  const server = await scripted(200)
  const api = resource(`${server.url}/api/posts`, { key: 'id' })
  const notKeys = [
    true,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    {},
    [],
    [1, undefined],
    [Number.NaN, 1],
    [{}, 1],
    [[1], 2],
  ]
  for (const key of ['', '.', '..', [''], ['..'], undefined, null, Symbol('key'), ...notKeys] as never[]) {
    const calls: (() => unknown)[] = [
      () => api.get(key),
      () => api.update(key, {}),
      () => api.replace(key, {}),
      () => api.delete(key),
      () => api.delete(key, { ifMatch: '*' }),
      () => api.update({ id: key }, {}),
      () => api.delete({ id: key }),
      () => api.restore(key),
      () => api.query.get(key).queryFn({}),
      () => api.related(key, 'tags').list(),
      () => api.related(1, 'tags').link(key),
      () => api.related(1, 'tags').unlink(key),
    ]
    for (const call of calls) {
      await t.throwsAsync(async () => await call(), { instanceOf: TypeError }, `${String(key)} ${call}`)
    }
  }
  for (const relation of ['', '.', '..', [], ['tags'], {}, undefined, null, 1, true] as never[])
    t.throws(() => api.related(1, relation), { instanceOf: TypeError }, String(relation))
  t.deepEqual(server.seen, [])
  await server.close()
})

test('a problem says its status, code, title and messages by property', async (t) => {
  const thrown = await t.throwsAsync(players.create({ level: 1 }), { instanceOf: ProblemError })
  t.like(thrown, { status: 400, code: 'validation', errors: { name: ['is required.'] }, name: 'ProblemError' })
  t.is(thrown?.message, 'One or more validation errors occurred. name: is required.')
  t.is(thrown?.response?.headers.get('content-type'), 'application/problem+json')
})

test('the errors of a problem are lists of texts, whatever else a response has in their place', async (t) => {
  let errors = ''
  const server = await serve((_, response) => response.writeHead(400).end(`{"title":"Wrong","errors":${errors}}`))
  for (const [given, read] of [
    ['{"a":["b.","c."]}', [['a', ['b.', 'c.']]]],
    ['{"a":"b."}', [['a', ['b.']]]],
    ['{"a":["b.",5,null,{"c":1}]}', [['a', ['b.']]]],
    ['{"a":null,"b":5,"c":{"d":["e."]},"f":[]}', []],
    ['[{"message":"a."},"b."]', [['1', ['b.']]]],
    [
      '{"__proto__":["a."],"constructor":["b."]}',
      [
        ['__proto__', ['a.']],
        ['constructor', ['b.']],
      ],
    ],
    ['"a."', []],
  ] as const) {
    errors = given
    const thrown = await t.throwsAsync(resource(server.url).list(), { instanceOf: ProblemError })
    t.deepEqual(Object.entries(thrown?.errors ?? {}), read as never, given)
  }
  await server.close()
})

test('the message of a problem is its title, and its detail or the first of its errors', async (t) => {
  let body: object = {}
  const server = await serve((_, response) => response.writeHead(400).end(JSON.stringify(body)))
  for (const [told, message] of [
    [
      { title: 'Unauthorized', detail: 'This operation requires authentication. Sign in, or send valid credentials.' },
      'Unauthorized: This operation requires authentication. Sign in, or send valid credentials.',
    ],
    [{ title: 'Malformed body.', detail: 'It is none.', errors: { a: ['b.'] } }, 'Malformed body. It is none.'],
    [
      { title: 'Invalid query.', errors: { level: ['is wrong.', 'and more.'], b: ['c.'] } },
      'Invalid query. level: is wrong.',
    ],
    [{ title: 'Wrong', errors: { level: 'is wrong.' } }, 'Wrong: level: is wrong.'],
    [{ title: 'Wrong.', errors: { level: [] } }, 'Wrong.'],
    [{ title: 'Wrong.', errors: { level: null } }, 'Wrong.'],
    [{ title: 'Wrong', errors: {} }, 'Wrong'],
    [{ title: 'Wrong', errors: 5 }, 'Wrong'],
    [{}, 'The server answered 400.'],
  ] as const) {
    body = told
    t.is((await t.throwsAsync(resource(server.url).list(), { instanceOf: ProblemError }))?.message, message)
  }
  await server.close()
})

test('the version that was read is sent with a write, and one that has passed is 412', async (t) => {
  const mine = await notes.create({ text: 'first' })
  t.is(etagOf(mine), 'W/"0"')
  const others = await notes.get(mine.id)
  const written = await notes.update(others, { text: 'second' })
  t.is(etagOf(written), 'W/"1"')
  t.is((await t.throwsAsync(notes.update(mine, { text: 'lost' }), { instanceOf: ProblemError }))?.status, 412)
  await notes.delete(written)
  t.is(etagOf(await notes.restore(written)), 'W/"3"')
})

test('a copy has no tag, and writing it throws before anything is sent', async (t) => {
  const note = await notes.create({ text: 'original' })
  const copy = { ...note }
  t.is(etagOf(copy), null)
  await t.throwsAsync(async () => notes.update(copy, { text: 'copied' }), {
    instanceOf: TypeError,
    message: /no version tag/,
  })
  t.is((await notes.update(withTag(copy, etagOf(note)), { text: 'copied' })).text, 'copied')
  t.is((await notes.update(copy, { text: 'forced' }, { ifMatch: '*' })).text, 'forced')
  t.is(
    (await t.throwsAsync(notes.update(note.id, { text: 'x' }), { instanceOf: ProblemError }))?.status,
    428,
    'by key as it is asked',
  )
  t.throws(() => withTag({}, '"abc"'), { instanceOf: TypeError })
  // A tag of a caller from whom fields are masked, and a tag of a content.
  t.is(etagOf(withTag({}, 'W/"3-5f2a9c01"')), 'W/"3-5f2a9c01"')
  t.throws(() => withTag({}, 'W/"3-2jmj7l5rSw0yVb/vlWAYkK/YBwk"'), { instanceOf: TypeError })
  t.is(etagOf(withTag(copy, etagOf({}))), null)
})

test('where the resource is said to keep versions, a record that was never read is not written', async (t) => {
  const told = resource<Player>(`${served.url}/api/players`, { versions: true })
  await t.throwsAsync(async () => told.delete({ id: 1, name: 'x', level: null }), { instanceOf: TypeError })
  t.is((await told.get(1)).name, 'player 1')
})

test('the tag of content is no version: a record without versions is written without If-Match', async (t) => {
  const player = await players.get(2)
  t.is(etagOf(player), null)
  t.is((await players.update(player, { level: 2 })).level, 2)
})

test("an abort rejects with the signal's own reason, before the request, in it, and while it waits to try again", async (t) => {
  const slow = await serve((_, response) =>
    setTimeout(() => response.writeHead(503, { 'retry-after': '20' }).end(), 50),
  )
  const api = resource<Player>(`${slow.url}/api/players`)
  const reason = new Error('no longer wanted')
  for (const after of [0, 20, 200]) {
    const started = Date.now()
    const thrown = await t.throwsAsync(api.list({}, { signal: abortedAfter(after, reason) }))
    t.is(thrown, reason, `after ${after}`)
    t.true(Date.now() - started < 5000)
  }
  await slow.close()
})

function abortedAfter(milliseconds: number, reason: Error): AbortSignal {
  const controller = new AbortController()
  if (milliseconds === 0) controller.abort(reason)
  else setTimeout(() => controller.abort(reason), milliseconds)
  return controller.signal
}

/** Answers with these statuses, one request each, and notes what came. */
async function scripted(...answers: (number | 'cut' | 'half')[]) {
  const seen: string[] = []
  const keys = new Set<string | undefined>()
  const server = await serve((request, response) => {
    const answer = answers[Math.min(seen.length, answers.length - 1)] ?? 200
    seen.push(request.method ?? '')
    keys.add(request.headers['idempotency-key'] as string | undefined)
    request.resume().once('end', () => {
      if (answer === 'cut') request.socket.destroy()
      else if (answer === 'half') {
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"items":[')
        setTimeout(() => request.socket.destroy(), 20)
      } else response.writeHead(answer, { 'content-type': 'application/json', 'retry-after': '0' }).end('{"items":[]}')
    })
  })
  return { ...server, seen, keys }
}

test('what cannot do anything twice is sent again: reads always, writes with an Idempotency-Key', async (t) => {
  const broken = await scripted('cut', 503, 200)
  t.deepEqual(await resource(broken.url).list(), { items: [] } as never)
  t.is(broken.seen.length, 3)
  await broken.close()

  const keyed = await scripted('cut', 503, 201)
  await resource(keyed.url, { idempotency: true }).create({})
  t.is(keyed.seen.length, 3)
  t.is(keyed.keys.size, 1, 'one key for all attempts')
  t.regex([...keyed.keys][0] ?? '', /^"[0-9a-f-]{36}"$/)
  await keyed.close()
})

test('a connection that breaks within the body is a network failure, and is tried again where nothing is done twice', async (t) => {
  const reads = await scripted('half', 200)
  t.deepEqual(await resource(reads.url).list(), { items: [] } as never)
  t.is(reads.seen.length, 2)
  await reads.close()

  const keyed = await scripted('half', 200)
  await resource(keyed.url).update(1, {}, { idempotencyKey: 'one' })
  t.is(keyed.seen.length, 2)
  await keyed.close()

  const server = await scripted('half')
  for (const call of [
    () => resource(server.url).create({}),
    () => resource(server.url, { retries: 0 }).get(1),
    () => resource(server.url, { retries: 0 }).related(1, 'tags').set([1]),
    async () => new Response(await resource(server.url).export('csv')).text(),
  ]) {
    const before = server.seen.length
    const thrown = await t.throwsAsync(call, { instanceOf: ProblemError }, String(call))
    t.like(thrown, { status: 0, code: 'network', response: null })
    t.true(thrown?.cause instanceof Error)
    t.is(server.seen.length, before + 1)
  }
  await server.close()
})

test('an abort is heard while a token is awaited, while a body arrives, and by streams, whatever fetch makes of signals', async (t) => {
  const server = await serve((request, response) => {
    const status = request.url?.includes('refused') ? 400 : 200
    response.writeHead(status, { 'content-type': 'application/json' }).write('{"items":[')
  })
  const reason = new Error('no longer wanted')
  const deaf: typeof fetch = (input, { signal: _, ...init } = {}) => fetch(input, init)
  for (const settings of [{}, { fetch: deaf }]) {
    const api = resource(server.url, settings)
    const waiting = resource(server.url, { ...settings, token: () => new Promise(() => undefined) })
    for (const call of [
      (signal: AbortSignal) => waiting.list({}, { signal }),
      (signal: AbortSignal) => api.list({}, { signal }),
      (signal: AbortSignal) => api.get('refused', {}, { signal }),
      (signal: AbortSignal) => api.create({}, { signal, idempotencyKey: 'one' }),
      async (signal: AbortSignal) => new Response(await api.export('csv', {}, { signal })).text(),
    ]) {
      t.is(await t.throwsAsync(call(abortedAfter(50, reason))), reason, String(call))
    }
  }
  let asked = 0
  const token = (): null => {
    asked += 1
    return null
  }
  const api = resource(server.url, { token })
  t.is(await t.throwsAsync(api.list({}, { signal: AbortSignal.abort(reason) })), reason)
  t.is(asked, 0)
  server.server.closeAllConnections()
  await server.close()
})

test('Idempotency-Key and If-Match count as headers of a call as well, in any case', async (t) => {
  for (const name of ['Idempotency-Key', 'idempotency-key']) {
    const server = await scripted('cut', 503, 200)
    await resource(server.url, { idempotency: true }).create({}, { headers: { [name]: '"mine"' } })
    t.is(server.seen.length, 3)
    t.deepEqual([...server.keys], ['"mine"'])
    await server.close()
  }
  const busy = await scripted(503, 200)
  await resource(busy.url).update(1, {}, { headers: { 'if-match': 'W/"1"' } })
  t.is(busy.seen.length, 2)
  await busy.close()

  const note = await notes.create({ text: 'first' })
  const tag = etagOf(note) ?? ''
  await notes.update(note.id, { text: 'second' }, { headers: { 'If-Match': tag } })
  const thrown = await t.throwsAsync(notes.update({ ...note }, { text: 'third' }, { headers: { 'if-match': tag } }))
  t.like(thrown, { status: 412 })
  t.is((await notes.update(note, { text: 'third' }, { headers: { 'If-Match': '*' } })).text, 'third')
})

test('an Idempotency-Key may have quotes and backslashes', async (t) => {
  const samples = resource<{ id: number; rate: number }>(`${served.url}/api/samples`)
  for (const idempotencyKey of ['plain', 'order "7"', 'C:\\orders\\7', '"']) {
    const { id } = await samples.create({ rate: 7 }, { idempotencyKey })
    t.is((await samples.create({ rate: 7 }, { idempotencyKey })).id, id, idempotencyKey)
  }
})

test('what took too long is not sent again', async (t) => {
  let seen = 0
  const slow = await serve((_, response) => {
    seen += 1
    response
      .writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '0' })
      .end('{"code":"timeout"}')
  })
  t.like(await t.throwsAsync(resource(slow.url).list()), { status: 503, code: 'timeout' })
  t.is(seen, 1)
  await slow.close()
})

test('other writes are sent once, or again after 429 and 503 where they carry If-Match', async (t) => {
  for (const answer of ['cut', 503, 429] as const) {
    const server = await scripted(answer, 200)
    const thrown = await t.throwsAsync(resource(server.url).create({}), { instanceOf: ProblemError })
    t.is(thrown?.status, answer === 'cut' ? 0 : answer)
    t.is(server.seen.length, 1)
    await server.close()
  }
  for (const [answer, count] of [
    [503, 2],
    [429, 2],
    ['cut', 1],
  ] as const) {
    const server = await scripted(answer, 200)
    await resource(server.url)
      .update(1, {}, { ifMatch: 'W/"1"' })
      .catch(() => undefined)
    t.is(server.seen.length, count, String(answer))
    await server.close()
  }
})

test('no more than `retries` attempts follow the first, and none where the server asks for more than 30 seconds', async (t) => {
  const down = await scripted(503)
  await t.throwsAsync(resource(down.url, { retries: 3 }).list(), { instanceOf: ProblemError })
  t.is(down.seen.length, 4)
  await down.close()
  let asked = 0
  const late = await serve((_, response) => {
    asked += 1
    response.writeHead(503, { 'retry-after': '31' }).end('<html>')
  })
  const thrown = await t.throwsAsync(resource(late.url).list(), { instanceOf: ProblemError })
  t.like(thrown, { status: 503, code: 'http', title: 'The server answered 503.' })
  t.is(asked, 1)
  await late.close()
})

test('a token goes with every request to the resource, and a redirect is not followed', async (t) => {
  const heard: (string | undefined)[] = []
  const thief = createServer((request, response) => {
    heard.push(`thief ${request.headers.authorization}`)
    response.end('{}')
  })
  await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve))
  const { port } = thief.address() as { port: number }
  const server = await serve((request, response) => {
    heard.push(request.headers.authorization)
    response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end()
  })
  let count = 0
  const api = resource(server.url, { token: async () => `token ${++count}`, retries: 0 })
  const thrown = await t.throwsAsync(api.list(), { instanceOf: ProblemError })
  t.is(thrown?.status, 0)
  t.deepEqual(heard, ['Bearer token 1'])
  await server.close()
  thief.close()
})

test('pages end with a problem when a response is not a page, instead of repeating without end', async (t) => {
  for (const text of ['{"items":[{"id":1}]}', 'null', '{"count":3}', '[]']) {
    let asked = 0
    const server = await serve((_, response) => {
      asked += 1
      response.writeHead(asked > 3 ? 500 : 200, { 'Content-Type': 'application/json' }).end(text)
    })
    const api = resource(server.url, { retries: 0 })
    for (const iterated of [() => api.pages(), () => api.all()]) {
      asked = 0
      const readAll = async (): Promise<void> => {
        for await (const each of iterated()) t.truthy(each)
      }
      const thrown = await t.throwsAsync(readAll(), { instanceOf: ProblemError }, text)
      t.like(thrown, { status: 200, title: 'The response is not a page.' })
      t.is(asked, 1)
    }
    await server.close()
  }
})

test('pages end with a problem when a page leads to itself, as from a cache that ignores the query', async (t) => {
  for (const [cursor, pages] of [
    ['"same"', 1],
    ['""', 0],
    ['{"id":1}', 0],
    ['7', 0],
  ] as const) {
    let asked = 0
    const server = await serve((_, response) => {
      asked += 1
      response
        .writeHead(asked > 5 ? 500 : 200, { 'Content-Type': 'application/json' })
        .end(`{"items":[{"id":1}],"nextCursor":${cursor}}`)
    })
    const api = resource(server.url, { retries: 0 })
    for (const iterated of [() => api.pages(), () => api.all()]) {
      asked = 0
      let read = 0
      const readAll = async (): Promise<void> => {
        for await (const each of iterated()) read += Object.keys(each).length > 0 ? 1 : 0
      }
      const thrown = await t.throwsAsync(readAll(), { instanceOf: ProblemError }, cursor)
      t.like(thrown, { status: 200, title: 'The response is not a page.' })
      t.deepEqual([asked, read], [pages + 1, pages], cursor)
    }
    await server.close()
  }
})

test('a count ends with a problem when a response is not a count', async (t) => {
  for (const text of ['null', '{}', '{"count":"3"}', '[]', '3']) {
    const server = await serve((_, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(text),
    )
    const thrown = await t.throwsAsync(resource(server.url).count(), { instanceOf: ProblemError }, text)
    t.like(thrown, { status: 200, title: 'The response is not a count.' })
    await server.close()
  }
})

test('an answer that is no JSON is a problem, and what nothing answers has status 0 and the cause', async (t) => {
  const odd = await serve((_, response) => response.writeHead(200).end('<html>'))
  t.like(await t.throwsAsync(resource(odd.url).list()), { status: 200, title: 'The response is not JSON.' })
  await odd.close()
  const thrown = await t.throwsAsync(resource('http://127.0.0.1:9/api').list({}, {}), { instanceOf: ProblemError })
  t.like(thrown, { status: 0, code: 'network', response: null })
  t.true(thrown?.cause instanceof Error)
})

test('a query for TanStack Query has a key, a function with its signal, and leaves records their identity', async (t) => {
  const { queryKey, queryFn, structuralSharing } = notes.query.list({ sort: 'id' })
  t.deepEqual(queryKey, [`${served.url}/api/notes`, 'list', { sort: 'id' }])
  t.false(structuralSharing)
  t.true((await queryFn({})).items.length > 0)
  await t.throwsAsync(queryFn({ signal: AbortSignal.abort(new Error('left')) }), { message: 'left' })
  const note = await notes.create({ text: 'queried' })
  t.is(etagOf(await notes.query.get(note.id).queryFn({})), 'W/"0"')
})

test('pages and records are walked to the end, in any order', async (t) => {
  const levels: (number | null)[] = []
  for await (const { level } of players.all({ filter: 'level<=5', sort: '-level', pageSize: 2 })) levels.push(level)
  t.deepEqual(levels, [5, 4, 3, 2, 1])
  const sizes: number[] = []
  for await (const { items } of players.pages({ filter: 'level<=5', pageSize: 2 })) sizes.push(items.length)
  t.deepEqual(sizes, [2, 2, 1])
  const { queryFn, initialPageParam, getNextPageParam } = players.query.infinite({ filter: 'level<=5', pageSize: 3 })
  const first = await queryFn({ pageParam: initialPageParam })
  const next = getNextPageParam(first)
  t.is(first.items.length, 3)
  const last = await queryFn({ pageParam: next ?? '' })
  t.is(last.items.length, 2)
  t.is(getNextPageParam(last), null)
})

test('groups, exports, replaced records and several at once are asked for as well', async (t) => {
  const { items } = await players.aggregate({ aggregate: 'count,max(Level)', filter: 'level<=5' })
  t.deepEqual(items, [{ count: 5, max: { level: 5 } }])
  const csv = await new Response(
    await players.export('csv', { filter: 'level<=2', select: 'name', sort: 'level' }),
  ).text()
  t.is(csv, 'name\r\nplayer 1\r\nplayer 2\r\n')
  t.deepEqual(
    await players.upsert(
      [
        { name: 'player 1', level: 1 },
        { name: 'new', level: 50 },
      ],
      'name',
    ),
    { created: 1, updated: 1 },
  )
  const [made] = (await players.list({ filter: 'name=new' })).items
  const id = made?.id ?? 0
  t.deepEqual(await players.replace(id, { name: 'newer' }), { id, name: 'newer', level: null })
  const [changed] = await players.bulkUpdate([{ id, level: 60 }])
  t.deepEqual(changed, { id, name: 'newer', level: 60 })
  t.deepEqual(await players.update(id, { level: 61 }, { headers: { Prefer: 'return=minimal' } }), {} as Player)
  await players.delete(id)
})

test('records below another one are listed and created there', async (t) => {
  const badges = players.related<{ id: number; text: string; playerId: number }>(1, 'badges')
  const badge = await badges.create({ text: 'captain' })
  t.is(badge.playerId, 1)
  t.deepEqual((await badges.list({ filter: 'text^c' })).items, [badge])
  t.is((await players.related(2, 'badges').list()).totalCount, 0)
})

test('records are linked and unlinked, and links are set and added', async (t) => {
  const courts = players.related<{ place: string }>(1, 'courts')
  const places = async (): Promise<readonly string[]> =>
    (await courts.list({ sort: 'place' })).items.map(({ place }) => place)
  t.is(await courts.link('a/b'), undefined)
  await courts.link('a/b')
  await courts.link('e~f', { since: 2020 })
  t.deepEqual(await places(), ['a/b', 'e~f'])
  const between = resource<{ place: string; since: number }>(`${served.url}/api/playercourts`)
  t.deepEqual(
    (await between.list({ filter: 'since=2020' })).items.map(({ place }) => place),
    ['e~f'],
  )
  t.is(await courts.unlink('a/b'), undefined)
  const error = await t.throwsAsync(courts.unlink('a/b'), { instanceOf: ProblemError })
  t.is(error?.status, 404)
  t.deepEqual(await courts.set(['c d', 'g']), { linked: 2, unlinked: 1 })
  t.deepEqual(await courts.add(['g', 'a/b']), { linked: 1 })
  t.deepEqual(await places(), ['a/b', 'c d', 'g'])
  const wrong = await t.throwsAsync(courts.add(['g', 'nowhere']), { instanceOf: ProblemError })
  t.deepEqual([wrong?.status, wrong?.errors], [400, { '[1]': ['does not exist.'] }])
  const made = await resource<{ id: number; name: string; courts?: readonly string[] }>(
    `${served.url}/api/players`,
  ).create({
    name: 'linked',
    courts: ['g'],
  })
  t.deepEqual(made.courts, ['g'])
  await players.delete(made.id)
  t.deepEqual(await courts.set([]), { linked: 0, unlinked: 3 })
})

test('what the token function throws rejects as it is, and nothing is sent', async (t) => {
  const error = new Error('no session')
  const server = await scripted(200)
  const api = resource(server.url, { token: () => Promise.reject(error) })
  t.is(await t.throwsAsync(api.list()), error)
  t.is(server.seen.length, 0)
  await server.close()
})

test('reads that follow a write ask for the primary for some seconds, of all resources of the service', async (t) => {
  const preferred: (string | undefined)[] = []
  const server = await serve((request, response) => {
    preferred.push(request.headers.prefer as string | undefined)
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":[]}')
    })
  })
  t.teardown(server.close)
  const headers = { Prefer: 'handling=strict' }
  const writing = resource<Note>(`${server.url}/api/notes`)
  const reading = resource<Player>(`${server.url}/api/players`, { readYourWrites: true, headers })
  const briefly = resource<Player>(`${server.url}/api/players`, { readYourWrites: 0.001 })
  await reading.list()
  await writing.create({ text: 'new' })
  await reading.list()
  await reading.get(1)
  await reading.create({ name: 'new' })
  await writing.list()
  await new Promise((resolve) => setTimeout(resolve, 5))
  await briefly.list()
  const both = 'handling=strict, read=primary'
  t.deepEqual(preferred, ['handling=strict', undefined, both, both, 'handling=strict', undefined, undefined])
})
