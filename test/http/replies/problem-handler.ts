import ava, { type ExecutionContext } from 'ava'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import express4 from 'express4'
import { DataTypes, type Model } from 'sequelize'
import { crudRouter, Operations, Problem, type ProblemOptions, problemHandler } from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { serve, type TestServer } from '../../support/server.js'

const test = ava.serial

const database = await openDatabase()

// Hooks that throw a Problem for the records that bear their name.
const teapot = new Problem({
  status: 422,
  title: 'No Teapots',
  detail: 'Not in this league.',
  headers: { 'X-Tea': 'no' },
})
const Cup = database.sequelize.define('Cup', { name: DataTypes.STRING })
const WRITE_HOOKS = [
  'beforeValidate',
  'afterValidate',
  'beforeSave',
  'beforeCreate',
  'afterCreate',
  'afterSave',
] as const
for (const hook of WRITE_HOOKS) {
  Cup.addHook(hook, (cup: Model) => {
    if (cup.get('name') === hook) throw teapot
  })
}
Cup.addHook('beforeDestroy', (cup) => {
  if (cup.get('name') === 'kept') throw teapot
})
await Cup.sync()
ava.after.always(() => database.close())

// The declarations of the two frameworks differ only where these tests do not look.
const FRAMEWORKS: readonly (readonly [name: string, create: () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4 as unknown as () => Express],
]

interface Host extends TestServer {
  readonly heard: unknown[]
}

/** A host whose one route does as told, with the handler behind it. */
async function hosting(
  t: ExecutionContext,
  create: () => Express,
  route: RequestHandler,
  handler?: ErrorRequestHandler,
): Promise<Host> {
  const heard: unknown[] = []
  const app = create()
  app.use(express.json({ limit: 50 }))
  app.all('/route', route)
  app.use(handler ?? problemHandler({ onError: (error) => heard.push(error) }))
  const server = await serve(app)
  t.teardown(server.close)
  return { ...server, heard }
}

function failing(error: unknown): RequestHandler {
  return (_req, _res, next) => next(error)
}

/** An error as http-errors makes them, which Express, body-parser and many others use. */
function httpError(status: number, message: string, expose: boolean): Error {
  return Object.assign(new Error(message), { status, statusCode: status, expose })
}

const RFC9110 = 'https://tools.ietf.org/html/rfc9110#section-'

type Row = readonly [what: string, error: unknown, status: number, body: Record<string, unknown>, heard: boolean]

const INTERNAL = {
  type: `${RFC9110}15.6.1`,
  title: 'Internal Server Error',
  code: 'internal',
  status: 500,
  detail: 'An unexpected error occurred.',
}

const ROWS: readonly Row[] = [
  [
    'a Problem with a status alone has the type and title of the status',
    new Problem({ status: 404 }),
    404,
    { type: `${RFC9110}15.5.5`, title: 'Not Found', code: 'not-found', status: 404 },
    false,
  ],
  [
    'a Problem says what it was given',
    new Problem({
      status: 402,
      type: 'https://example.com/credit',
      title: 'No Credit',
      detail: 'Your balance is 30.',
      errors: { balance: ['is too low.'] },
    }),
    402,
    {
      type: 'https://example.com/credit',
      title: 'No Credit',
      code: 'status-402',
      status: 402,
      detail: 'Your balance is 30.',
      errors: { balance: ['is too low.'] },
    },
    false,
  ],
  [
    'a Problem of a status that nobody named has about:blank',
    new Problem({ status: 418, detail: 'short and stout' }),
    418,
    { type: 'about:blank', title: 'Status 418', code: 'status-418', status: 418, detail: 'short and stout' },
    false,
  ],
  [
    'a Problem with the status 500 is reported as other errors with this status are',
    new Problem({ status: 500, detail: 'The price list is missing.' }),
    500,
    { ...INTERNAL, detail: 'The price list is missing.' },
    true,
  ],
  ['an Error is a 500 without internals', new Error('password=hunter2'), 500, INTERNAL, true],
  ['an error with a status of 500 is a 500 without internals', httpError(500, 'hunter2', true), 500, INTERNAL, true],
  ['an error with a status that is none is a 500', httpError(200, 'hunter2', true), 500, INTERNAL, true],
  ['an error with a status of text is a 500', Object.assign(new Error('x'), { status: '404' }), 500, INTERNAL, true],
  ['a thrown string is a 500', 'hunter2', 500, INTERNAL, true],
  ['a thrown object is a 500', { hunter: 2 }, 500, INTERNAL, true],
  [
    'an error with an exposed client status is that status with its message',
    httpError(409, 'Somebody was faster.', true),
    409,
    { type: `${RFC9110}15.5.10`, title: 'Conflict', code: 'conflict', status: 409, detail: 'Somebody was faster.' },
    false,
  ],
  [
    'an error with a client status that is not exposed keeps its message to itself',
    httpError(403, 'hunter2', false),
    403,
    { type: `${RFC9110}15.5.4`, title: 'Forbidden', code: 'forbidden', status: 403 },
    false,
  ],
  [
    'an exposed 400 of the host is a bad request, not a malformed body',
    httpError(400, 'Give me a date.', true),
    400,
    { type: `${RFC9110}15.5.1`, title: 'Bad Request', code: 'bad-request', status: 400, detail: 'Give me a date.' },
    false,
  ],
]

for (const [framework, create] of FRAMEWORKS) {
  for (const [what, error, status, body, isHeard] of ROWS) {
    test(`${framework}: ${what}`, async (t) => {
      const host = await hosting(t, create, failing(error))
      const answer = await host.get('/route')
      t.is(answer.status, status)
      t.is(answer.headers.get('content-type'), 'application/problem+json')
      t.deepEqual(answer.body, body)
      t.deepEqual(host.heard, isHeard ? [error] : [])
    })
  }

  test(`${framework}: a Problem's headers go out with it`, async (t) => {
    const headers = { 'Retry-After': '30', 'X-Reason': 'maintenance' }
    const host = await hosting(t, create, failing(new Problem({ status: 503, headers })))
    const answer = await host.get('/route')
    t.is(answer.status, 503)
    t.is(answer.headers.get('retry-after'), '30')
    t.is(answer.headers.get('x-reason'), 'maintenance')
  })

  test(`${framework}: what body-parser refuses is a problem`, async (t) => {
    const host = await hosting(t, create, (_req, res) => {
      res.json({})
    })
    const headers = { 'content-type': 'application/json' }
    const broken = await host.send('POST', '/route', { body: '{', headers })
    t.is(broken.status, 400)
    t.deepEqual(broken.body, {
      type: `${RFC9110}15.5.1`,
      title: 'Malformed body.',
      code: 'malformed-body',
      status: 400,
      detail: 'The body is not valid JSON.',
    })
    const large = await host.post('/route', { text: 'x'.repeat(100) })
    t.is(large.status, 413)
    t.deepEqual(large.body, {
      type: `${RFC9110}15.5.14`,
      title: 'Content Too Large',
      code: 'content-too-large',
      status: 413,
      detail: 'The body is larger than the limit.',
    })
    const charset = await host.send('POST', '/route', {
      body: '{}',
      headers: { 'content-type': 'application/json; charset=klingon' },
    })
    t.is(charset.status, 415)
    t.is(charset.body.title, 'Unsupported Media Type')
  })

  test(`${framework}: a reply that has begun goes to the host's own end, and is cut`, async (t) => {
    const host = await hosting(t, create, (_req, res, next) => {
      res.status(200).type('json').write('{"half":')
      next(new Error('in the middle'))
    })
    await t.throwsAsync(host.get('/route'))
    t.deepEqual(host.heard, [])
  })

  for (const [what, options] of [
    ['a header with a line break', { status: 400, headers: { 'X-Bad': 'a\r\nSet-Cookie: b=c' } }],
    ['a header whose name is none', { status: 400, headers: { 'X Bad': 'a' } }],
    ['errors that are no JSON', { status: 400, errors: { big: [1n] } as unknown as Record<string, string[]> }],
  ] satisfies readonly (readonly [string, ProblemOptions])[]) {
    test(`${framework}: a Problem with ${what} is a 500, and is heard of`, async (t) => {
      const problem = new Problem(options)
      const host = await hosting(t, create, failing(problem))
      const answer = await host.get('/route')
      t.is(answer.status, 500)
      t.deepEqual(answer.body, INTERNAL)
      t.is(answer.headers.get('set-cookie'), null)
      t.deepEqual(host.heard, [problem])
    })
  }

  test(`${framework}: an onError that throws harms no reply`, async (t) => {
    const handler = problemHandler({
      onError: () => {
        throw new Error('the logger is down')
      },
    })
    const host = await hosting(t, create, failing(new Error('first')), handler)
    for (const _ of [1, 2]) t.is((await host.get('/route')).status, 500)
  })
}

test('problemHandler that is mounted without being called says so, and so does an option that it does not have', async (t) => {
  const app = express()
  app.get('/', (_req, res) => {
    res.json({})
  })
  app.use('/late', problemHandler as unknown as RequestHandler)
  app.use(((error, _req, res, _next) => {
    res.status(500).json(String(error))
  }) satisfies ErrorRequestHandler)
  const server = await serve(app)
  t.teardown(server.close)
  t.is(
    (await server.get('/late')).body,
    'TypeError: problemHandler takes { onError } or nothing: app.use(problemHandler())',
  )
  t.throws(() => problemHandler({ onerror: () => undefined } as object), { instanceOf: TypeError })
  t.notThrows(() => problemHandler({}))
})

test('without onError an unexpected error is logged, without the request', async (t) => {
  const logged: unknown[][] = []
  const { error: log } = console
  console.error = (...parts: unknown[]) => {
    logged.push(parts)
  }
  t.teardown(() => {
    console.error = log
  })
  const error = new Error('unexpected\nforged')
  const host = await hosting(t, express, failing(error), problemHandler())
  t.is((await host.get('/route')).status, 500)
  t.is(logged.length, 1)
  t.regex(String(logged[0]), /^Error: unexpected\\nforged\n {4}at /)
})

test('the default onError of a resource logs the error, without the request', async (t) => {
  const logged: unknown[][] = []
  const { error: log } = console
  console.error = (...parts: unknown[]) => {
    logged.push(parts)
  }
  t.teardown(() => {
    console.error = log
  })
  const Unmade = database.sequelize.define('Unmade', {})
  const app = express()
  app.use(crudRouter(Unmade))
  const server = await serve(app)
  t.teardown(server.close)
  const { status, body } = await server.get('/api/unmades', { authorization: 'Bearer secret' })
  t.is(status, 500)
  t.deepEqual(body, INTERNAL)
  t.is(logged.length, 1)
  t.is(logged[0]?.length, 1)
  t.regex(String(logged[0]), /^SequelizeDatabaseError: .*\n {4}at /)
  t.notRegex(String(logged[0]), /secret/)
})

for (const status of [200, 399, 600, 0, 404.5, Number.NaN, '404']) {
  test(`a Problem of status ${JSON.stringify(status)} cannot be made`, (t) => {
    t.throws(() => new Problem({ status: status as number }), {
      instanceOf: RangeError,
      message: `A Problem's status is a whole number from 400 to 599, not ${status}.`,
    })
  })
}

// Problem thrown from Sequelize hooks: it is the answer, and nothing is written.

for (const hook of WRITE_HOOKS) {
  test(`a Problem thrown from ${hook} is the answer of create and bulk create, and nothing is written`, async (t) => {
    const app = express()
    const heard: unknown[] = []
    app.use(crudRouter(Cup, { operations: Operations.AllWithBulk, onError: (error) => heard.push(error) }))
    const server = await serve(app)
    t.teardown(server.close)
    const before = await Cup.count()
    for (const answer of [
      await server.post('/api/cups', { name: hook }),
      await server.post('/api/cups/bulk', [{ name: 'fine' }, { name: hook }]),
    ]) {
      t.is(answer.status, 422)
      t.is(answer.headers.get('content-type'), 'application/problem+json')
      t.is(answer.headers.get('x-tea'), 'no')
      t.deepEqual(answer.body, {
        type: 'about:blank',
        title: 'No Teapots',
        code: 'status-422',
        status: 422,
        detail: 'Not in this league.',
      })
    }
    t.is(await Cup.count(), before)
    t.deepEqual(heard, [])
  })
}

test('a Problem thrown from a delete hook is the answer of delete and bulk delete, and nothing is gone', async (t) => {
  const app = express()
  app.use(crudRouter(Cup, { operations: Operations.AllWithBulk }))
  const server = await serve(app)
  t.teardown(server.close)
  const kept = await Cup.create({ name: 'kept' })
  const other = await Cup.create({ name: 'other' })
  const [keptId, otherId] = [kept.get('id'), other.get('id')]
  t.is((await server.delete(`/api/cups/${keptId}`)).body.title, 'No Teapots')
  t.is((await server.post('/api/cups/bulk-delete', [otherId, keptId])).body.title, 'No Teapots')
  t.is(await Cup.count({ where: { id: [Number(keptId), Number(otherId)] } }), 2)
})

test('a Problem whose text reads like a database error is a Problem still', async (t) => {
  const Pool = database.sequelize.define('Pool', { name: DataTypes.STRING })
  Pool.addHook('beforeCreate', () => {
    throw new Problem({ status: 409, code: '23514', detail: 'The swimming pool is closed.' })
  })
  await Pool.sync()
  const app = express()
  app.use(crudRouter(Pool))
  const server = await serve(app)
  t.teardown(server.close)
  const { status, body } = await server.post('/api/pools', { name: 'x' })
  t.is(status, 409)
  t.is(body.detail, 'The swimming pool is closed.')
})

for (const [name, create] of FRAMEWORKS) {
  test(`on ${name} every problem document tells browsers not to guess its type`, async (t) => {
    const app = create()
    app.use(crudRouter(Cup))
    app.get('/thrown', () => {
      throw teapot
    })
    app.use(problemHandler())
    const server = await serve(app)
    t.teardown(server.close)
    const answers = [
      await server.get('/api/cups/0'),
      await server.get('/api/cups?filter=('),
      await server.post('/api/cups/1', {}),
      await server.get('/api/cups/%E0%A4%A'),
      await server.get('/thrown'),
    ]
    t.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('x-content-type-options')]),
      [404, 400, 405, 404, 422].map((status) => [status, 'nosniff']),
    )
  })
}

for (const [name, create] of FRAMEWORKS) {
  test(`on ${name} a problem is readable, whatever encoding the route had chosen for its response`, async (t) => {
    for (const header of ['Content-Encoding', 'Transfer-Encoding']) {
      const route: RequestHandler = (_req, res, next) => {
        res.setHeader(header, header === 'Content-Encoding' ? 'gzip' : 'chunked')
        next(new Problem({ status: 409 }))
      }
      const server = await hosting(t, create, route)
      const response = await fetch(`${server.url}/route`)
      t.is(response.status, 409)
      t.like(await response.json(), { code: 'conflict' })
    }
  })

  test(`on ${name} an error that is exposed keeps its headers, as with Express' own handler`, async (t) => {
    const headers = { 'WWW-Authenticate': 'Basic' }
    for (const [expose, challenge] of [
      [true, 'Basic'],
      [false, null],
    ] as const) {
      const route = failing(Object.assign(httpError(401, 'Sign in.', expose), { headers }))
      const server = await hosting(t, create, route)
      const answer = await server.get('/route')
      t.is(answer.status, 401)
      t.is(answer.headers.get('www-authenticate'), challenge)
    }
  })
}
