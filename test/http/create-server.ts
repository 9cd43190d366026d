import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type IncomingMessage, request, type Server } from 'node:http'
import { get as getSecurely } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import ava, { type ExecutionContext } from 'ava'
import express, { type Express, type Request, type Response } from 'express'
import express4 from 'express4'
import { DataTypes } from 'sequelize'
import { Server as SocketServer } from 'socket.io'
import { io as connect } from 'socket.io-client'
import { type WebSocket as Socket, WebSocket, WebSocketServer } from 'ws'
import { createServer, crudRouter, type HttpServerOptions, Operations } from '../../lib/index.js'
import { openDatabase } from '../support/database.js'
import { clientOf, type TestClient } from '../support/server.js'

const database = await openDatabase()
const Player = database.sequelize.define('Player', { name: { type: DataTypes.STRING(50), allowNull: false } })
await database.sequelize.sync()
await Player.create({ name: 'Jan' })
ava.after.always(() => database.close())

// The two frameworks are told apart by their declarations only where these tests do not look.
const FRAMEWORKS: readonly (readonly [name: string, create: typeof express])[] = [
  ['Express 5', express],
  ['Express 4', express4 as unknown as typeof express],
]

setFlagsFromString('--allow-natives-syntax')
/** Whether V8 describes an object by its shape, and does not keep it as a table. */
const hasFastProperties = new Function('object', 'return %HasFastProperties(object)') as (object: object) => boolean

interface Serving extends TestClient {
  readonly server: Server
  readonly port: number
}

/** Serves an application by `createServer` until the test is over. */
async function serving(t: ExecutionContext, app: Express, options: HttpServerOptions = {}): Promise<Serving> {
  const server = createServer(app, options)
  const port = await listening(t, server)
  return { ...clientOf(`http://127.0.0.1:${port}`), server, port }
}

/** The port on which a server listens until the test is over. */
async function listening(t: ExecutionContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return port
}

for (const [framework, create] of FRAMEWORKS) {
  const test = (title: string, run: (t: ExecutionContext) => Promise<void>): void => ava(`${framework}: ${title}`, run)

  test('what the host has set on a request and its response is there behind an answer, whatever server it came from', async (t) => {
    const seen: unknown[] = []
    const made = (): Express => {
      const app = create()
      // It reads the whole request before the handlers see it.
      app.use(create.json(), (req, res, next) => {
        res.sendDate = req.headers['x-dateless'] === undefined
        res.on('finish', () => seen.push([req.complete, Object.hasOwn(req, 'complete')]))
        next()
      })
      return app.use(crudRouter(Player))
    }
    const plain = made().listen(0, '127.0.0.1')
    await once(plain, 'listening')
    t.teardown(() => {
      plain.closeAllConnections()
      plain.close()
    })
    const { port } = plain.address() as AddressInfo
    for (const { get, post } of [clientOf(`http://127.0.0.1:${port}`), await serving(t, made())]) {
      const dateless = await get('/api/players/1', { 'x-dateless': '1' })
      t.deepEqual([dateless.status, dateless.headers.get('date')], [200, null])
      const { status, headers } = await post('/api/players/', { name: 'New' })
      t.deepEqual([status, typeof headers.get('date')], [201, 'string'])
    }
    t.deepEqual(seen, new Array(4).fill([true, true]))
  })

  test('requests and responses have room for all that they get, and none becomes a table', async (t) => {
    const app = create()
    const seen: boolean[] = []
    app.use(create.json(), (req, res, next) => {
      res.on('finish', () => seen.push(hasFastProperties(req), hasFastProperties(res)))
      next()
    })
    const { get, post } = await serving(t, app.use(crudRouter(Player)))
    // V8 measures the first instances.
    for (let times = 0; times < 20; times += 1) await get('/api/players/1')
    seen.length = 0
    t.is((await get('/api/players/1')).status, 200)
    t.is((await post('/api/players', { name: 'Roomy' })).status, 201)
    t.deepEqual(seen, [true, true, true, true])
  })

  test("requests and responses are the application's own before the application sees them", async (t) => {
    const app = create()
    app.get('/', (_req, res) => {
      res.json({})
    })
    const { get, server } = await serving(t, app)
    const seen: boolean[] = []
    server.prependListener('request', (req, res) => {
      seen.push(Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response)
    })
    t.is((await get('/')).status, 200)
    t.deepEqual(seen, [true, true])
  })

  test('a resource answers as behind app.listen, header by header', async (t) => {
    const app = create()
    app.use(crudRouter(Player, { operations: Operations.AllWithBulk }))
    const plain = app.listen(0, '127.0.0.1')
    await once(plain, 'listening')
    t.teardown(() => plain.close())
    const slow = clientOf(`http://127.0.0.1:${(plain.address() as AddressInfo).port}`)
    const fast = await serving(t, app)
    for (const [method, path, json] of [
      ['GET', '/api/players/1'],
      ['HEAD', '/api/players/1'],
      ['GET', '/api/players?filter=Name=Jan'],
      ['GET', '/api/players?filter=Nickname=Jan'],
      ['GET', '/api/players/nobody'],
      ['OPTIONS', '/api/players'],
      ['PUT', '/api/players/1'],
      ['PATCH', '/api/players/1', { nickname: 'J' }],
      ['DELETE', '/api/players/77'],
      ['GET', '/nothing'],
    ] as const) {
      const [one, other] = await Promise.all([slow, fast].map((each) => each.send(method, path, json ? { json } : {})))
      const headersOf = (headers?: Headers): object => ({ ...Object.fromEntries(headers ?? []), date: '' })
      t.deepEqual([one?.status, one?.text], [other?.status, other?.text], `${method} ${path}`)
      t.deepEqual(headersOf(one?.headers), headersOf(other?.headers), `${method} ${path}`)
    }
    const created = await fast.post('/api/players', { name: 'Anna' })
    t.is(created.status, 201)
    t.is((await fast.get(created.headers.get('location') ?? '')).body.name, 'Anna')
  })

  test('what a host adds to app.request and app.response, before and after, is there', async (t) => {
    const app = create()
    Object.defineProperty(app.request, 'early', { get: () => 'early' })
    app.get('/', (req: Request & { early?: string; late?: string }, res: Response & { sign?: () => Response }) => {
      res.sign?.().json({ early: req.early, late: req.late, query: req.query.a, ip: req.ip })
    })
    const { get } = await serving(t, app)
    Object.assign(app.request, { late: 'late' })
    Object.assign(app.response, {
      sign(this: Response) {
        return this.set('X-Signed', 'yes')
      },
    })
    const { body, headers } = await get('/?a=1')
    t.deepEqual(body, { early: 'early', late: 'late', query: '1', ip: '127.0.0.1' })
    t.is(headers.get('x-signed'), 'yes')
  })

  test('a mounted application has prototypes and settings of its own, and the outer one has its back', async (t) => {
    const app = create()
    const inner = create()
    Object.assign(app.request, { whose: 'outer' })
    Object.assign(inner.request, { whose: 'inner' })
    inner.set('json spaces', 2)
    inner.disable('x-powered-by')
    inner.get('/in', (req: Request & { whose?: string }, res) => {
      res.json({ whose: req.whose, mounted: req.app === inner })
    })
    app.use('/sub', inner)
    app.get('/sub/out', (req: Request & { whose?: string }, res) => {
      res.json({ whose: req.whose, mounted: req.app === inner })
    })
    const { get } = await serving(t, app)
    t.is((await get('/sub/in')).text, JSON.stringify({ whose: 'inner', mounted: true }, null, 2))
    t.is((await get('/sub/out')).text, JSON.stringify({ whose: 'outer', mounted: false }))
  })

  test('trust proxy tells the address, the protocol and the host', async (t) => {
    const app = create()
    app.set('trust proxy', 1)
    app.get('/', (req, res) => {
      res.json([req.ip, req.protocol, req.secure, req.hostname])
    })
    const { get } = await serving(t, app)
    const headers = {
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'example.com',
    }
    t.deepEqual((await get('/', headers)).body, ['203.0.113.7', 'https', true, 'example.com'])
  })

  test('an error that a handler throws is answered by the application', async (t) => {
    const app = create()
    app.set('env', 'test')
    app.get('/', () => {
      throw Object.assign(new Error('No tea here.'), { status: 418 })
    })
    const { get } = await serving(t, app)
    const { status, text } = await get('/')
    t.is(status, 418)
    t.regex(text, /No tea here/)
  })

  test('web sockets are upgraded by whoever listens, with the headers and the URL of the request', async (t) => {
    const app = create()
    const { server, port } = await serving(t, app)
    const sockets = new WebSocketServer({ noServer: true })
    server.on('upgrade', (req: IncomingMessage, socket, head) => {
      sockets.handleUpgrade(req, socket, head, (client: Socket) => client.send(`${req.url} ${req.headers['x-name']}`))
    })
    const client = new WebSocket(`ws://127.0.0.1:${port}/here?a=1`, { headers: { 'x-name': 'Jan' } })
    t.teardown(async () => client.terminate())
    const [message] = await once(client, 'message')
    t.is(String(message), '/here?a=1 Jan')
  })

  for (const transport of ['websocket', 'polling'] as const) {
    test(`Socket.IO serves clients by ${transport} beside the application`, async (t) => {
      const app = create()
      app.get('/', (_req, res) => {
        res.json({ app: true })
      })
      const { server, get, url } = await serving(t, app)
      const io = new SocketServer(server)
      io.on('connection', (socket) => socket.on('ask', (answer) => answer(socket.handshake.query.name)))
      const client = connect(url, { transports: [transport], query: { name: 'Jan' }, forceNew: true })
      t.teardown(async () => {
        client.disconnect()
        await io.close()
      })
      t.is(await client.timeout(10_000).emitWithAck('ask'), 'Jan')
      t.deepEqual((await get('/')).body, { app: true })
    })
  }
}

ava('options of node:http are honoured', async (t) => {
  const app = express()
  app.get('/', (_req, res) => {
    res.json({})
  })
  const { server, get, port } = await serving(t, app, { keepAliveTimeout: 1234, maxHeaderSize: 2048 })
  t.is(server.keepAliveTimeout, 1234)
  t.is((await get('/')).status, 200)
  const sent = request({ port, host: '127.0.0.1', headers: { 'x-long': 'a'.repeat(3000) } })
  sent.end()
  const [answer] = await once(sent, 'response')
  t.is(answer.statusCode, 431)
  answer.resume()
})

ava('with tls it is an HTTPS server, and the application knows', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'create-server-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
  const tls = { key: await readFile(key), cert: await readFile(cert) }
  const app = express()
  app.use(crudRouter(Player))
  app.get('/', (req, res) => {
    res.json({ secure: req.secure, own: Object.getPrototypeOf(req) === app.request })
  })
  const port = await listening(t, createServer(app, { tls }))
  const ask = async (path: string): Promise<unknown> => {
    const sent = getSecurely({ host: '127.0.0.1', servername: 'localhost', port, path, ca: tls.cert, agent: false })
    const [answer] = await once(sent, 'response')
    let text = ''
    for await (const chunk of answer) text += chunk
    return JSON.parse(text)
  }
  t.deepEqual(await ask('/'), { secure: true, own: true })
  t.is(Object(await ask('/api/players/1')).name, 'Jan')
})

ava("what is no Express application, and classes that are not the application's, are refused", (t) => {
  const message = 'createServer: the first argument must be an Express application'
  t.throws(() => createServer((() => undefined) as never), { instanceOf: TypeError, message })
  t.throws(() => createServer(express.Router() as never), { instanceOf: TypeError, message })
  t.throws(() => createServer(express(), { IncomingMessage: class {} } as never), {
    instanceOf: TypeError,
    message: "createServer: IncomingMessage and ServerResponse are the application's",
  })
})
