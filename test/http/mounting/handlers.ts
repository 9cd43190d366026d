// What Express makes of a path and of the functions that the host runs first: the same for routers and controllers.

import { setTimeout as sleep } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import express, { type ErrorRequestHandler, type Express, type RequestHandler, Router } from 'express'
import { DataTypes, Op } from 'sequelize'
import { type CrudOptions, crudController, crudHub, crudRouter, Operations, queryOf } from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { allowUndocumented } from '../../support/replies.js'
import { type Answer, serve, type TestServer } from '../../support/server.js'

// One table serves all tests.
const test = ava.serial

const database = await openDatabase()
const { sequelize } = database
const Player = sequelize.define('Player', { name: DataTypes.STRING }, { timestamps: false })
const Tag = sequelize.define('Tag', { slug: { type: DataTypes.STRING, primaryKey: true } }, { timestamps: false })
const options: CrudOptions = { operations: Operations.AllWithBulk | Operations.Restore, softDelete: true }
crudRouter(Player, options)
crudRouter(Tag, options)
await sequelize.sync()
ava.after.always(() => database.close())

// The package has the same one as the tests: see `express4/`.
const framework = 'del' in express.application ? 'Express 4' : 'Express 5'

type Mount = (app: Express, use: CrudOptions['use']) => void

const ENTRIES: readonly (readonly [name: string, mount: Mount])[] = [
  ['crudRouter', (app, use) => app.use(crudRouter(Player, { ...options, ...(use ? { use } : {}) }))],
  [
    'crudController',
    (app, use) => {
      const players = crudController(Player, { ...options, ...(use ? { use } : {}) })
      const host = Router()
      host.get('/api/players', players.getList)
      host.post('/api/players', players.create)
      host.post('/api/players/bulk', players.bulkCreate)
      host.post('/api/players/bulk-delete', players.bulkDelete)
      host.get('/api/players/:id', players.getById)
      host.patch('/api/players/:id', players.update)
      host.delete('/api/players/:id', players.delete)
      host.post('/api/players/:id/restore', players.restore)
      app.use(host)
    },
  ],
]

async function serving(t: ExecutionContext, app: Express): Promise<TestServer> {
  const server = await serve(app)
  t.teardown(() => server.close())
  return server
}

const REQUESTS: readonly (readonly [method: string, path: string, json?: unknown])[] = [
  ['GET', ''],
  ['HEAD', ''],
  ['POST', '', { name: 'new' }],
  ['POST', '/bulk', [{ name: 'new' }]],
  ['POST', '/bulk-delete', [1]],
  ['GET', '/1'],
  ['PATCH', '/1', { name: 'new' }],
  ['DELETE', '/1'],
  ['POST', '/1/restore'],
]

const rows = (): Promise<unknown> => Player.findAll({ raw: true, order: ['id'] })

for (const [entry, mount] of ENTRIES) {
  const about = `${framework}, ${entry}`

  /** What each request meets, with `use` before its handler and what an application has behind it. */
  const answers = async (t: ExecutionContext, use: CrudOptions['use'], patience = 0): Promise<Answer[]> => {
    await Player.sync({ force: true })
    await Player.bulkCreate([{ name: 'Jan' }] as never)
    const app = express()
    mount(app, use)
    app.use((async (_req, res) => {
      if (patience > 0) await sleep(patience)
      if (!res.headersSent) res.status(418).json({ passed: true })
    }) satisfies RequestHandler)
    app.use(((error, _req, res, _next) => {
      res.status(500).json({ heard: error instanceof Error ? error.message : error })
    }) satisfies ErrorRequestHandler)
    const server = await serving(t, app)
    const all: Answer[] = []
    for (const [method, path, json] of REQUESTS) {
      all.push(await server.send(method, `/api/players${path}`, json === undefined ? {} : { json }))
    }
    return all
  }

  test(`${about}: what the host runs first runs before every operation, in order`, async (t) => {
    const seen: string[] = []
    const all = await answers(t, [
      (req, _res, next) => {
        seen.push(`first ${req.params.id}`)
        next()
      },
      async (_req, res, next) => {
        await new Promise((resolve) => setImmediate(resolve))
        res.setHeader('x-second', 'yes')
        seen.push('second')
        next()
      },
    ])
    t.deepEqual(
      all.map(({ status }) => status),
      [200, 200, 201, 201, 200, 404, 404, 404, 200],
    )
    t.true(all.every(({ headers }) => headers.get('x-second') === 'yes'))
    t.is(seen.length, 2 * REQUESTS.length)
    t.deepEqual(seen.slice(-4), ['first 1', 'second', 'first 1', 'second'])
  })

  test(`${about}: what the host answers first is the answer, and nothing else is done`, async (t) => {
    const all = await answers(t, (_req, res) => {
      res.status(403).json({ by: 'the host' })
    })
    t.true(all.every(({ status }) => status === 403))
    t.deepEqual(await rows(), [{ id: 1, name: 'Jan', isDeleted: isFalse(await rows()), deletedAt: null }])
  })

  const FAILURES: readonly (readonly [how: string, use: RequestHandler])[] = [
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['hands on an error', (_req, _res, next) => next(new Error('no'))],
    [
      'hands on an error later',
      (_req, _res, next) => {
        setImmediate(() => next(new Error('no')))
      },
    ],
  ]
  for (const [how, use] of FAILURES) {
    test(`${about}: what ${how} in front of a handler reaches the application, and nothing is done`, async (t) => {
      let ran = 0
      const second: RequestHandler = (_req, _res, next) => {
        ran += 1
        next()
      }
      const all = await answers(t, [use, second])
      t.true(all.every(({ status }) => status === 500))
      t.deepEqual(all[0]?.body, { heard: 'no' })
      t.is(ran, 0)
      t.deepEqual(await rows(), [{ id: 1, name: 'Jan', isDeleted: isFalse(await rows()), deletedAt: null }])
    })
  }

  for (const word of ['route', 'router'] as const) {
    test(`${about}: next('${word}') leaves the handler out`, async (t) => {
      const all = await answers(t, [
        (_req, _res, next) => (word === 'route' ? next('route') : next('router')),
        (_req, _res, next) => next(),
      ])
      t.true(all.every(({ status }) => status === 418))
      t.deepEqual(await rows(), [{ id: 1, name: 'Jan', isDeleted: isFalse(await rows()), deletedAt: null }])
    })
  }

  test(`${about}: an error handler among them is for the errors of those before it`, async (t) => {
    const handler: ErrorRequestHandler = (error, _req, res, _next) => {
      res.status(409).json({ mended: error.message })
    }
    const fail: RequestHandler = (_req, _res, next) => next(new Error('no'))
    const pass: RequestHandler = (_req, _res, next) => next()
    const mended = await answers(t, [fail, pass, handler as unknown as RequestHandler])
    t.deepEqual(mended[0]?.body, { mended: 'no' })
    const passed = await answers(t, [pass, handler as unknown as RequestHandler])
    t.is(passed[0]?.status, 200)
  })

  test(`${about}: next called twice does nothing twice`, async (t) => {
    // What the second call reaches does not answer before the first has written: a write is left undone whose client has an answer.
    const both: RequestHandler = (_req, _res, next) => {
      next()
      next()
    }
    const all = await answers(t, both, 300)
    const made = await Player.unscoped().count({ where: { name: 'new', id: { [Op.ne]: 1 } }, paranoid: false })
    const statuses = all.map(({ status }) => status)
    if (entry === 'crudController') {
      t.deepEqual(statuses, [200, 200, 201, 201, 200, 404, 404, 404, 200])
      t.is(made, 2)
      return
    }
    // The second call leaves the routes of the path, and the router answers it at once: the first may not have begun to write.
    t.deepEqual(new Set(statuses), new Set([405]))
    t.true(made <= 2, `${made}`)
  })

  // Not valid UTF-8, not hexadecimal, cut off.
  for (const broken of ['%E0%A4%A', '%', '%ZZ', 'a%FFb', '%C3%28', '1%']) {
    test(`${about}: a path that does not decode is that of no record: ${broken}`, async (t) => {
      if (entry === 'crudController') {
        // The host's own route, which Express refuses before any handler.
        const app = express()
        mount(app, undefined)
        t.is((await (await serving(t, app)).get(`/api/players/${broken}`)).status, 400)
        return
      }
      const app = express()
      const seen: string[] = []
      const use: RequestHandler = (req, _res, next) => {
        seen.push(`${req.method} ${req.originalUrl}`)
        next()
      }
      app.use(crudRouter(Player, { ...options, use }))
      app.use(crudRouter(Tag, options))
      app.use('/configured', crudRouter(Player, { ...options, configure: (inner) => inner.use(use) }))
      app.use('/read', crudRouter(Player, { operations: Operations.Read }))
      const deny = { ...options, authorizePolicy: () => false }
      app.use('/denied', crudRouter(Player, deny))
      const server = await serving(t, app)
      for (const path of ['/api/players', '/api/tags', '/API/Players', '/configured/api/players']) {
        for (const [method, below, json] of [
          ['GET', ''],
          ['GET', '/'],
          ['GET', '?select=*'],
          ['PATCH', '', {}],
          ['DELETE', ''],
          ['POST', '/restore'],
        ] as const) {
          const url = `${path}/${broken}${below}`
          const { status, headers, body } = await server.send(method, url, json === undefined ? {} : { json })
          t.is(status, 404, `${method} ${url}`)
          t.is(headers.get('content-type'), 'application/problem+json')
          t.is(body.title, 'Not Found')
        }
        t.is((await server.send('HEAD', `${path}/${broken}`)).status, 404)
      }
      t.true(seen.includes(`DELETE /api/players/${broken}`), 'what the host runs first has run')
      const put = await server.send('PUT', `/api/players/${broken}`)
      t.is(put.status, 405)
      t.is(put.headers.get('allow'), 'GET, HEAD, PATCH, DELETE, OPTIONS')
      t.is((await server.send('GET', `/api/players/${broken}/restore`)).status, 405)
      t.is((await server.send('DELETE', `/read/api/players/${broken}`)).status, 405)
      const options204 = await server.send('OPTIONS', `/api/players/${broken}`)
      t.is(options204.status, 204)
      t.is(options204.headers.get('accept-patch'), 'application/json, application/merge-patch+json')
      t.is((await server.get(`/denied/api/players/${broken}`)).status, 401)
    })
  }
}

test(`${framework}: a path that decodes is as it was, and so is what follows the router`, async (t) => {
  await Tag.destroy({ where: {}, force: true })
  await Tag.bulkCreate([{ slug: 'a%b' }, { slug: '100%' }, { slug: 'a/b' }] as never)
  const app = express()
  app.use(crudRouter(Tag, options))
  app.get('/api/tags/:slug/players', (req, res) => {
    res.json({ path: req.path, slug: req.params.slug })
  })
  const server = await serving(t, app)
  for (const slug of ['a%b', '100%', 'a/b']) {
    t.is((await server.get(`/api/tags/${encodeURIComponent(slug)}`)).body.slug, slug)
  }
  t.deepEqual((await server.get('/api/tags/a%25b/players')).body, { path: '/api/tags/a%25b/players', slug: 'a%b' })
})

test(`${framework}: where the application has answered first, nothing fails and the connection stays open`, async (t) => {
  const errors: unknown[] = []
  const app = express()
  allowUndocumented(app)
  for (const [path, wait] of [
    ['/before', 0],
    ['/meanwhile', 20],
  ] as const) {
    const answer: RequestHandler = (_req, res, next) => {
      const respond = (): unknown => res.status(503).json({ early: true })
      if (wait === 0) respond()
      else setTimeout(respond, wait)
      next()
    }
    const authorizePolicy = async (): Promise<true> => {
      await sleep(2 * wait)
      return true
    }
    const operations = Operations.AllWithBulk | Operations.Restore | Operations.Export
    // Once a response is sent, Node discards the body of its request, which the parser of Express 4 reports.
    const onError = (error: unknown): unknown => /stream is not readable/.test(String(error)) || errors.push(error)
    app.use(path, answer, crudRouter(Player, { ...options, operations, authorizePolicy, onError, serverTiming: true }))
  }
  app.use(((error, _req, _res, next) => {
    errors.push(error)
    next(error)
  }) satisfies ErrorRequestHandler)
  const server = await serving(t, app)
  let connections = 0
  server.server.on('connection', () => {
    connections += 1
  })
  for (const path of ['/before', '/meanwhile']) {
    for (const [method, below, json] of [...REQUESTS, ['GET', '?format=csv'], ['QUERY', '', {}]] as typeof REQUESTS) {
      const answer = await server.send(method, `${path}/api/players${below}`, json === undefined ? {} : { json })
      t.is(answer.status, 503, `${method} ${path}${below}`)
      await sleep(60)
    }
  }
  t.deepEqual(errors, [])
  t.is(connections, 1)
})

/** `false` as the database keeps it. */
function isFalse(found: unknown): unknown {
  return Array.isArray(found) ? found[0].isDeleted : null
}

test('an option that an entry cannot honour is refused', (t) => {
  const nothing = (): void => undefined
  const refused: readonly (readonly [option: string, make: () => unknown])[] = [
    ['configure', () => crudController(Player, { configure: nothing })],
    ['use', () => crudHub(Player, { use: nothing })],
    ['configure', () => crudHub(Player, { configure: nothing })],
    ['hooks', () => crudHub(Player, { hooks: { beforeCreate: nothing } })],
    ['use', () => queryOf(Player, { use: nothing })],
    ['configure', () => queryOf(Player, { configure: nothing })],
    ['hooks', () => queryOf(Player, { hooks: { beforeCreate: nothing } })],
    ['scope', () => queryOf(Player, { scope: () => null })],
  ]
  for (const [option, make] of refused) {
    const error = t.throws(make, { name: 'CrudConfigError', code: 'INVALID_OPTION' })
    t.regex(error?.message ?? '', new RegExp(`^Player: the option "${option}" cannot be used with \\w+: `))
  }
})
