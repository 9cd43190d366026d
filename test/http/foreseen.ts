import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, IncomingMessage, type RequestListener, request, type Server, ServerResponse } from 'node:http'
import { type AddressInfo, Socket } from 'node:net'
import { Writable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import ava, { type ExecutionContext } from 'ava'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { DataTypes } from 'sequelize'
import { crudController, crudRouter } from '../../lib/index.js'
import { openDatabase } from '../support/database.js'
import { clientOf, type TestClient } from '../support/server.js'

const database = await openDatabase()
const Player = database.sequelize.define('Player', { name: { type: DataTypes.STRING(50), allowNull: false } })
await database.sequelize.sync()
await Player.create({ name: 'Jan' })

// The two frameworks are told apart by their declarations only where these tests do not look.
const FRAMEWORKS: readonly (readonly [name: string, create: typeof express])[] = [
  ['Express 5', express],
  ['Express 4', express4 as unknown as typeof express],
]

/** From its version 13 on, that of Node 24, V8 needs no such help, and gets none. */
const isHelped = Number.parseInt(process.versions.v8 ?? '', 10) < 13

setFlagsFromString('--allow-natives-syntax')
const haveSameMap = new Function('one', 'other', 'return %HaveSameMap(one, other)') as (a: object, b: object) => boolean
const hasFastProperties = new Function('object', 'return %HasFastProperties(object)') as (object: object) => boolean

interface Serving extends TestClient {
  readonly server: Server
}

/** Serves as `app.listen` does until the test is over. */
async function serving(t: ExecutionContext, app: RequestListener): Promise<Serving> {
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { ...clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), server }
}

/** Whether requests had the prototypes of an application when their server had not told of them yet. */
const starts = new WeakMap<object, (prototype: object) => void>()
const first = express().use(crudRouter(Player)).listen(0, '127.0.0.1')
await once(first, 'listening')
await fetch(`http://127.0.0.1:${(first.address() as AddressInfo).port}/api/players/1`)
first.closeAllConnections()
first.close()
// From the first request on the package listens, and who listens later hears of a request later.
subscribe('http.server.request.start', (message) => {
  const { request, server } = Object(message)
  starts.get(server)?.(Object.getPrototypeOf(request))
})

ava.after.always(() => database.close())

/** What the prototypes of a server's requests are at first: that of the application, or others. */
function prototypesOf(server: Server, app: Express): boolean[] {
  const seen: boolean[] = []
  starts.set(server, (prototype) => seen.push(prototype === app.request))
  return seen
}

interface Seen {
  readonly req: Request
  readonly res: Response
  /** Members that only requests have which are foreseen. */
  readonly early: boolean
}

/** What a middleware before all others has seen, each pair when it was answered. */
function watcher(): { readonly see: RequestHandler; readonly seen: Seen[] } {
  const seen: Seen[] = []
  const see: RequestHandler = (req, res, next) => {
    const early = Object.hasOwn(req, '_body') && Object.hasOwn(res, 'statusMessage')
    res.on('finish', () => seen.push({ req, res, early }))
    next()
  }
  return { see, seen }
}

function last<T>(list: readonly T[], count: number): readonly T[] {
  return list.slice(-count)
}

for (const [framework, create] of FRAMEWORKS) {
  const test = (title: string, run: (t: ExecutionContext) => Promise<void>): void => ava(`${framework}: ${title}`, run)

  test('requests to a path that a handler has had once are all of one shape, their responses too, whatever they ask', async (t) => {
    const { see, seen } = watcher()
    const app = create()
    app.use(see, create.json(), crudRouter(Player))
    const { get, post, patch } = await serving(t, app)
    for (let times = 0; times < 3; times += 1) {
      t.is((await get('/api/players/1')).body.name, 'Jan')
      t.is((await get('/api/players?filter=Name=Jan')).status, 200)
      t.is((await post('/api/players', { name: 'Anna' })).status, 201)
      t.is((await patch('/api/players/1', { name: 'Jan' })).status, 200)
    }
    t.deepEqual(
      seen.map(({ early }) => early),
      seen.map((_, index) => isHelped && index > 0),
    )
    if (!isHelped) return
    const [one, ...others] = last(seen, 4)
    for (const { req, res } of others) {
      t.true(haveSameMap(req, one?.req ?? {}) && haveSameMap(res, one?.res ?? {}), `${req.method} ${req.originalUrl}`)
      t.true(hasFastProperties(req) && hasFastProperties(res))
    }
  })

  test('the members that a request has early say nothing before Express gives them', async (t) => {
    const said: unknown[] = []
    const app = create()
    app.use((req, res, next) => {
      const { body, route, _body } = req as Request & { _body?: unknown }
      said.push([
        body,
        route,
        _body,
        { ...req.params },
        req.baseUrl,
        req.originalUrl,
        req.query.select,
        req.res === res,
      ])
      said.push([res.statusCode, res.statusMessage, { ...res.locals }, res.req === req])
      next()
    })
    app.use('/v1', crudRouter(Player))
    const { get } = await serving(t, app)
    for (const _ of [1, 2, 3]) t.deepEqual((await get('/v1/api/players/1?select=name')).body, { name: 'Jan' })
    const [request, response] = said
    t.deepEqual(request, [undefined, undefined, undefined, {}, '', '/v1/api/players/1?select=name', 'name', true])
    t.deepEqual(response, [200, undefined, {}, true])
    t.deepEqual(said, [request, response, request, response, request, response])
  })

  test('what is for others is left as Node makes it: other paths, other servers, and those that only begin alike', async (t) => {
    const { see, seen } = watcher()
    const app = create()
    app.use(see, crudRouter(Player))
    app.use((_req, res) => {
      res.json({})
    })
    const { get } = await serving(t, app)
    const other = await serving(t, app)
    for (const path of ['/api/players/1', '/api/players', '/api', '/api/playersandmore', '/own/api/players'])
      await get(path)
    await other.get('/api/players/1')
    t.deepEqual(
      seen.map(({ early }) => early),
      [false, isHelped, false, false, false, false],
    )
  })

  test('where the host puts members of its own on requests, those to that path are left to it from then on', async (t) => {
    const { see, seen } = watcher()
    const app = create()
    app.use(see, (req, res, next) => {
      if (req.headers['x-user'] !== undefined)
        Object.assign(req.headers['x-user'] === 'both' ? res : req, { user: 'jan' })
      next()
    })
    app.use(crudRouter(Player), crudRouter(Player, { route: '/others' }))
    const { get } = await serving(t, app)
    for (const path of ['/api/players/1', '/others/1']) {
      const user = path === '/others/1' ? 'both' : 'jan'
      for (const headers of [{}, {}, { 'x-user': user }, { 'x-user': user }, {}]) {
        t.is((await get(path, headers)).body.name, 'Jan')
      }
    }
    t.deepEqual(
      seen.map(({ early }) => early),
      [false, isHelped, isHelped, false, false, false, isHelped, isHelped, false, false],
    )
  })

  test('where the host puts members of its own on requests, those have the prototypes of the application before it has them', async (t) => {
    const { see, seen } = watcher()
    const app = create()
    app.use(see, (req, _res, next) => {
      Object.assign(req, { user: { name: 'jan' } })
      next()
    })
    app.use(crudRouter(Player))
    app.use((req, res) => {
      res.json({ own: Object.hasOwn(req, 'user') })
    })
    const { get, post, server } = await serving(t, app)
    const prototypes = prototypesOf(server, app)
    for (const _ of [1, 2, 3]) t.is((await get('/api/players/1')).body.name, 'Jan')
    t.is((await post('/api/players', { name: 'Anna' })).status, 201)
    t.deepEqual((await get('/elsewhere')).body, { own: true })
    t.deepEqual(prototypes, [false, false, isHelped, isHelped, false])
    t.deepEqual(
      seen.map(({ early }) => early),
      [false, isHelped, false, false, false],
    )
    if (isHelped) for (const { req, res } of seen.slice(2, 4)) t.false(hasFastProperties(req) || hasFastProperties(res))
  })

  test('who else listens to the server gets requests as Node makes them, from the first moment on', async (t) => {
    const app = create()
    app.use((req, _res, next) => {
      Object.assign(req, { user: 'jan' })
      next()
    })
    app.use(crudRouter(Player))
    const inner = create().use(crudRouter(Player, { route: '/deep' }))
    app.use('/in', inner)
    const { get, server } = await serving(t, app)
    const prototypes = prototypesOf(server, app)
    for (const _ of [1, 2, 3]) await get('/api/players/1')
    const query: unknown[] = []
    const listener: RequestListener = (req) => {
      Reflect.set(req, 'query', { a: 1 })
      query.push(Reflect.get(req, 'query'))
    }
    for (const add of ['prependListener', 'on'] as const) {
      server[add]('request', listener)
      t.is((await get('/api/players/1')).status, 200)
      server.off('request', listener)
      t.is((await get('/api/players/1')).status, 200)
    }
    // As Socket.IO does.
    server.removeAllListeners('request')
    server.on('request', (req, res) => {
      listener(req, res)
      app(req as Request, res as Response)
    })
    t.is((await get('/api/players/1')).status, 200)
    // The one that comes behind the application finds a request that is Express' by then.
    t.deepEqual([query[0], query.at(-1)], [{ a: 1 }, { a: 1 }])
    t.deepEqual(prototypes, [false, false, isHelped, false, isHelped, false, isHelped, false])
    const other = await serving(t, (req, res) => {
      app(req as Request, res as Response)
    })
    const others = prototypesOf(other.server, app)
    for (const _ of [1, 2, 3]) t.is((await other.get('/api/players/1')).status, 200)
    // Of what an inner application serves this is not yet the last prototype.
    const outer = await serving(t, app)
    const deep = prototypesOf(outer.server, app)
    for (const _ of [1, 2, 3]) t.is((await outer.get('/in/deep/1')).status, 200)
    t.deepEqual([others, deep], [new Array(3).fill(false), new Array(3).fill(false)])
  })

  for (const [name, of, value] of [
    ['locals', 'response', { tenant: 1 }],
    ['statusMessage', 'response', 'Zed'],
    ['statusCode', 'response', 203],
    ['body', 'request', { tenant: 1 }],
    ['route', 'request', { tenant: 1 }],
    ['originalUrl', 'request', '/other'],
    ['query', 'request', { tenant: '1' }],
    ['length', 'request', 7],
  ] as const) {
    for (const isLate of [false, true]) {
      const when = isLate ? 'behind the first requests' : 'before all'
      test(`what the host gives all of them as ${name} by a prototype, ${when}, is there in each`, async (t) => {
        const app = create()
        const read: unknown[] = []
        app.use((req, res, next) => {
          read.push(Reflect.get(of === 'request' ? req : res, name))
          res.statusCode = 200
          next()
        })
        app.use(crudRouter(Player))
        const { get } = await serving(t, app)
        const give = (): void => {
          Object.defineProperty(app[of], name, { value, writable: true, configurable: true, enumerable: true })
        }
        if (!isLate) give()
        for (const _ of [1, 2, 3]) t.is((await get('/api/players/1')).status, 200)
        if (isLate) give()
        read.length = 0
        for (const _ of [1, 2, 3]) t.is((await get('/api/players/1')).status, 200)
        // Of these Express makes its own.
        const first = name === 'originalUrl' || name === 'query' ? read[0] : value
        t.deepEqual(read, [first, first, first])
      })
    }
  }

  test('a query that the host has put in the place of the getter is there in every request, for all that ask it', async (t) => {
    const { see, seen } = watcher()
    const app = create()
    const read: unknown[] = []
    app.use(see, (req, _res, next) => {
      read.push({ ...req.query })
      const value = { ...req.query }
      Object.defineProperty(req, 'query', { value, writable: true, configurable: true, enumerable: true })
      next()
    })
    app.use(crudRouter(Player))
    app.use('/api/players', (req, res) => {
      res.json({ ...req.query })
    })
    const { get } = await serving(t, app)
    for (const _ of [1, 2, 3]) {
      t.is((await get('/api/players/1?tenant=2')).status, 200)
      t.deepEqual((await get('/api/players/mine/own?tenant=2')).body, { tenant: '2' })
    }
    t.deepEqual(read, new Array(6).fill({ tenant: '2' }))
    t.is(seen.length, 6)
  })

  test('two applications behind one server have requests as Node makes them, whatever one of them has learnt', async (t) => {
    const [one, other] = [create(), create()]
    Object.defineProperty(other.request, 'body', { configurable: true, get: () => 'lazy', set: () => undefined })
    one.use(crudRouter(Player))
    other.get('/api/players/echo', (req, res) => {
      res.json({ body: req.body, own: Object.hasOwn(req, 'body') })
    })
    const { get } = await serving(t, (req, res) => {
      const app = req.headers['x-app'] === 'other' ? other : one
      app(req as Request, res as Response)
    })
    for (const _ of [1, 2, 3]) {
      t.is((await get('/api/players/1')).status, 200)
      t.deepEqual((await get('/api/players/echo', { 'x-app': 'other' })).body, { body: 'lazy', own: false })
    }
  })

  test('requests that a class of the host makes, or that somebody is asked about first, are left to them', async (t) => {
    class Own extends IncomingMessage {
      hello(): string {
        return 'hello'
      }
    }
    const marked = (): Express => {
      const app = create().use((_req, res, next) => {
        Object.assign(res, { marked: true })
        next()
      })
      return app.use(crudRouter(Player))
    }
    const app = marked()
    const heard: unknown[] = []
    const server = createServer({ IncomingMessage: Own }, app).listen(0, '127.0.0.1')
    const made = prototypesOf(server, app)
    await once(server, 'listening')
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const { get } = clientOf(`http://127.0.0.1:${port}`)
    for (const _ of [1, 2, 3]) t.is((await get('/api/players/1')).status, 200)
    t.deepEqual(made, [false, false, false])
    server.once('checkContinue', (req: Own, res) => {
      heard.push(req.hello())
      res.writeContinue()
      server.emit('request', req, res)
    })
    const headers = { expect: '100-continue' }
    const [answer] = await once(request({ port, host: '127.0.0.1', path: '/api/players/1', headers }).end(), 'response')
    t.is(answer.statusCode, 200)
    answer.resume()
    t.deepEqual(heard, ['hello'])
    const other = marked()
    const plain = await serving(t, other)
    const prototypes = prototypesOf(plain.server, other)
    for (const _ of [1, 2, 3]) t.is((await plain.get('/api/players/1')).status, 200)
    plain.server.on('checkContinue', () => undefined)
    t.is((await plain.get('/api/players/1')).status, 200)
    t.deepEqual(prototypes, [false, false, isHelped, false])
  })

  test('requests that were under way when their path was learnt do not tell of others', async (t) => {
    const { see, seen } = watcher()
    const app = create()
    let arrived = 0
    let open: () => void = () => undefined
    const all = new Promise<void>((resolve) => {
      open = resolve
    })
    app.use(see, async (_req, _res, next) => {
      arrived += 1
      if (arrived === 5) open()
      await all
      next()
    })
    app.use(crudRouter(Player))
    const { get } = await serving(t, app)
    await Promise.all([1, 2, 3, 4, 5].map(() => get('/api/players/1')))
    t.is((await get('/api/players/1')).status, 200)
    t.deepEqual(
      seen.map(({ early }) => early),
      [false, false, false, false, false, isHelped],
    )
  })

  for (const name of ['body', 'route', 'statusCode'] as const) {
    test(`a host that has a say about ${name} by the prototypes of its application keeps it`, async (t) => {
      const { see, seen } = watcher()
      const app = create()
      const kept = new WeakMap<object, unknown>()
      const written: unknown[] = []
      Object.defineProperty(name === 'statusCode' ? app.response : app.request, name, {
        configurable: true,
        get(this: object) {
          return kept.get(this) ?? (name === 'statusCode' ? 200 : undefined)
        },
        set(this: object, value: unknown) {
          written.push(value)
          kept.set(this, value)
        },
      })
      app.use(see, crudRouter(Player))
      const { post } = await serving(t, app)
      for (const _ of [1, 2]) {
        written.length = 0
        t.is((await post('/api/players', { name: 'Anna' })).status, 201)
        t.true(written.length > 0)
      }
      t.deepEqual(
        seen.map(({ early }) => early),
        [false, false],
      )
    })
  }

  test('however many mount paths clients think of, few of them are remembered', async (t) => {
    const { see, seen } = watcher()
    const app = create()
    app.use(see)
    app.use('/of/:tenant', crudRouter(Player))
    const deep = express.Router().use(crudRouter(Player))
    app.use(/^(?:\/d)+/, deep)
    const { get } = await serving(t, app)
    const early = async (path: string): Promise<boolean | undefined> => {
      await get(path)
      t.is((await get(path)).status, 200, path)
      return seen.at(-1)?.early
    }
    t.is(await early(`/of/${'x'.repeat(180)}/api/players/1`), isHelped)
    t.is(await early(`/of/${'x'.repeat(181)}/api/players/1`), isHelped)
    t.is(await early(`/of/${'x'.repeat(200)}/api/players/1`), false)
    // Beside the four segments of those before.
    for (let depth = 2; depth < 11; depth += 1) t.is(await early(`${'/d'.repeat(depth)}/api/players/1`), isHelped)
    t.is(await early(`${'/d'.repeat(11)}/api/players/1`), isHelped)
    t.is(await early(`${'/d'.repeat(12)}/api/players/1`), false)
    for (let tenant = 0; tenant < 1000; tenant += 1) await get(`/of/${tenant}/api/players/1`)
    t.is(await early('/of/0/api/players/1'), isHelped)
    t.is(await early('/of/last/api/players/1'), false)
  })

  test('a mount path with a parameter and a controller of the host are learnt as they are, and what others serve below is left', async (t) => {
    const { see, seen } = watcher()
    const app = create()
    const inner = create()
    const { getById: one } = crudController(Player)
    inner.use(crudRouter(Player, { route: '/deep' }))
    app.use(see)
    app.use('/of/:tenant', crudRouter(Player))
    app.use('/in', inner)
    app.get('/mine/:id', one)
    app.get('/by/:tenant/players/:id', one)
    const { get } = await serving(t, app)
    const paths = ['/of/acme/api/players/1', '/of/other/api/players/1', '/in/deep/1', '/mine/1', '/mine/nobody']
    paths.push('/by/acme/players/1')
    for (const path of [...paths, ...paths]) t.is((await get(path)).status, path.endsWith('nobody') ? 404 : 200, path)
    // An inner application has prototypes of its own, and below a parameter of the route there may be others.
    const early = [false, false, false, false, true, false, true, true, false, true, true, false]
    t.deepEqual(
      seen.map((each) => each.early),
      early.map((each) => isHelped && each),
    )
  })
}

ava('requests that no server has made are answered, with a socket and without one', async (t) => {
  const app: Express = express()
  app.use(crudRouter(Player))
  const { get } = await serving(t, app)
  t.is((await get('/api/players/1')).status, 200)
  for (const socket of [new Socket(), undefined]) {
    const req = Object.assign(new IncomingMessage(socket as Socket), { method: 'GET', url: '/api/players/1' })
    const res = new ServerResponse(req)
    const chunks: Buffer[] = []
    const sink = new Writable({
      write: (chunk, _encoding, done) => {
        chunks.push(chunk)
        done()
      },
    })
    res.assignSocket(sink as Writable & Socket)
    app(req as Request, res as Response)
    await once(res, 'finish')
    t.is(res.statusCode, 200)
    t.true(Buffer.concat(chunks).toString().includes('"name":"Jan"'))
  }
})

// Last and alone: what it puts in the prototype of all requests is there for other tests too.
ava.serial('an accessor that comes later than what was learnt ends no process', async (t) => {
  const app: Express = express()
  app.use(crudRouter(Player))
  const { get } = await serving(t, app)
  for (const _ of [1, 2]) t.is((await get('/api/players/1')).status, 200)
  Object.defineProperty(IncomingMessage.prototype, '_parsedUrl', { configurable: true, get: () => undefined })
  try {
    t.true((await get('/api/players/1')).status >= 200, 'Express itself may stumble over it')
  } finally {
    Reflect.deleteProperty(IncomingMessage.prototype, '_parsedUrl')
  }
  t.is((await get('/api/players/1')).status, 200)
})
