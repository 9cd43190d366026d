// Subscribers: who is let in, for how long, and what comes of what they send. Whoever may list
// the records may connect, and hears of each what a GET would show.

import { setTimeout as wait } from 'node:timers/promises'
import ava from 'ava'
import { DataTypes } from 'sequelize'
import type { Namespace, ServerOptions } from 'socket.io'
import {
  type CrudOptions,
  type CrudRouter,
  crudRouter,
  hasRole,
  type Identity,
  type PolicyContext,
  Problem,
} from '../../../lib/index.js'
import {
  type HubOwner,
  openPush,
  type PushStage,
  plainToken,
  type Subscriber,
  TRANSPORTS,
  waitUntil,
} from '../../support/push.js'
import { bearer, identity } from '../../support/tokens.js'

// The hubs are shared, and what they tell is counted.
const test = ava.serial

/** What reached `onError`, with what asked for it. */
const heard: { readonly error: unknown; readonly url: string | undefined }[] = []
const asked: PolicyContext[] = []
/** Those whom a policy no longer admits. */
const banned = new Set<unknown>()
/** Those about whom a policy has still to decide. */
/** What lets somebody in once. */
const used = new Set<string>()
const decisions = new Map<unknown, Promise<boolean>>()

const GUARDS: Readonly<Record<string, CrudOptions>> = {
  open: {},
  readers: { authorizePolicy: hasRole('reader') },
  listers: { getListPolicy: hasRole('lister'), authorizePolicy: () => false },
  asked: {
    authorizePolicy: (context) => {
      asked.push(context)
      return true
    },
  },
  throwing: {
    getListPolicy: () => {
      throw new Error('the list policy fails')
    },
  },
  rejecting: { getListPolicy: () => Promise.reject(new Error('the list policy fails')) },
  failing: {
    getByIdPolicy: () => {
      throw new Error('the policy of GET fails')
    },
  },
  doubtful: {
    getByIdPolicy: () => {
      throw new Problem({ status: 503, detail: 'Ask me later.' })
    },
  },
  truthy: { getListPolicy: () => 'yes' as unknown as boolean },
  closed: {
    getListPolicy: () => {
      throw new Problem({ status: 403, detail: 'Not today.', headers: { 'X-Why': 'secret' } })
    },
  },
  down: {
    getListPolicy: () => {
      throw new Problem({ status: 503, detail: 'Come back later.' })
    },
  },
  nowhere: { scope: () => undefined as never },
  unidentified: { identity: () => 'me' as unknown as Identity, authorizePolicy: () => true },
  claims: {
    identity: ({ headers }) => ({
      name: 'x',
      roles: new Set(),
      permissions: new Set(),
      claims: { exp: ends.get(String(headers['x-exp'])) },
    }),
  },
  sessions: {
    authorizePolicy: ({ identity: caller, request }) =>
      caller?.name === 'of the session' && request.headers['x-session'] === '1',
  },
  tickets: {
    identity: (request) => {
      const ticket = request.headers.authorization
      if (ticket === undefined || used.has(ticket)) throw new Problem({ status: 401, detail: 'Take another ticket.' })
      used.add(ticket)
      return identity(request)
    },
    authorizePolicy: () => true,
  },
  slow: { authorizePolicy: ({ identity: caller }) => decisions.get(caller?.name) ?? true },
  masked: { mask: { text: 'payroll' }, authorizePolicy: ({ identity: caller }) => !banned.has(caller?.name) },
}

const ends = new Map<string, unknown>([
  ['nothing', undefined],
  ['text', 'soon'],
  ['infinity', Number.POSITIVE_INFINITY],
  ['NaN', Number.NaN],
  ['past', 1],
  ['zero', 0],
  ['less', -1],
])

interface Guarded extends PushStage {
  readonly hubNamed: (name: string) => CrudRouter
}

async function openGuarded(options: Partial<ServerOptions> = {}): Promise<Guarded> {
  const hubs = new Map<string, CrudRouter>()
  const opened = await openPush(({ sequelize }, app, io) => {
    for (const [name, guard] of Object.entries(GUARDS)) {
      const Note = sequelize.define(name, { text: DataTypes.STRING }, { timestamps: false, tableName: name })
      const router = crudRouter(Note, {
        ...(name === 'sessions' || name === 'open' ? {} : { identity }),
        route: `api/${name}`,
        push: { io },
        onError: (error, { url }) => heard.push({ error, url }),
        ...guard,
      })
      app.use(router)
      hubs.set(name, router)
      router.resource.hub?.on('connection', (socket) => {
        socket.on('probe', (done: unknown) => {
          if (typeof done === 'function') done()
        })
      })
    }
  }, options)
  return {
    ...opened,
    hubNamed: (name) => {
      const hub = hubs.get(name)
      if (hub === undefined) throw new TypeError(`there is no hub ${name}`)
      return hub
    },
  }
}

const stage = await openGuarded()
const { hubNamed } = stage
stage.io.engine.use((req: { headers: object; user?: unknown }, _res: unknown, next: () => void) => {
  if (Reflect.has(req.headers, 'x-session')) req.user = { name: 'of the session' }
  next()
})
// Connection state recovery, as Socket.IO's own adapter has it.
const recovering = await openGuarded({ connectionStateRecovery: { maxDisconnectionDuration: 120_000 } })
// The same where middlewares are asked of recovered connections too, which Socket.IO can be told to.
const asking = await openGuarded({ connectionStateRecovery: { skipMiddlewares: false } })
ava.after.always(async () => {
  await stage.close()
  await recovering.close()
  await asking.close()
})

/** The problem that a request for the list is answered with. */
async function problemOf(name: string, headers: Record<string, string> = {}): Promise<unknown> {
  const { status, text } = await stage.get(`/api/${name}`, headers)
  return status < 300 ? null : JSON.parse(text)
}

for (const transport of TRANSPORTS) {
  test(`over ${transport}, who may list the records is let in, by the Authorization header or by auth.token`, async (t) => {
    const hub = hubNamed('readers')
    const token = plainToken({ sub: 'ann', roles: ['reader'] })
    const none = plainToken({ sub: 'eve' })
    const admitted = [
      { headers: { authorization: `Bearer ${token}` } },
      { token },
      { token, headers: { authorization: `Bearer ${none}` } },
      { token, headers: { authorization: 'Bearer nonsense' } },
    ]
    for (const how of admitted) t.is((await stage.subscribe(hub, { transport, ...how })).refusal, null)
    for (const how of [{}, { token: null }]) {
      const { refusal, frames } = await stage.subscribe(hub, { transport, ...how })
      t.deepEqual(refusal, { message: 'Unauthorized', data: await problemOf('readers') })
      t.is(frames.length, 1)
    }
    for (const how of [
      { token: none },
      { headers: bearer({ sub: 'eve' }) },
      { token: none, headers: bearer({ roles: ['reader'] }) },
    ]) {
      const { refusal } = await stage.subscribe(hub, { transport, ...how })
      t.deepEqual(refusal, { message: 'Forbidden', data: await problemOf('readers', bearer({ sub: 'eve' })) })
    }
  })

  test(`over ${transport}, a token that does not hold is refused as by a request, and nobody hears anything after it`, async (t) => {
    const hub = hubNamed('open')
    const expected = await problemOf('readers', { authorization: 'Bearer nonsense' })
    t.like(expected, { status: 401, title: 'Unauthorized' })
    const expired = plainToken({ roles: ['reader'], exp: Math.floor(Date.now() / 1000) - 1 })
    const forged = `${plainToken({ roles: ['reader'] }).slice(0, -4)}AAAA`
    for (const token of ['nonsense', '', ' ', 'a b', expired, forged]) {
      const subscriber = await stage.subscribe(hubNamed('readers'), { transport, token })
      t.deepEqual(subscriber.refusal, { message: 'Unauthorized', data: expected }, token)
    }
    for (const token of [1, true, false, [], ['x'], {}, { toString: 'x' }]) {
      const { refusal } = await stage.subscribe(hubNamed('readers'), { transport, token })
      t.like(refusal?.data, { status: 401, title: 'Unauthorized' }, JSON.stringify(token))
    }
    t.is((await stage.subscribe(hub, { transport })).refusal, null)
  })
}

test('the policies and the identity function are given the handshake as their request', async (t) => {
  asked.length = 0
  const token = plainToken({ sub: 'ann' })
  const headers = { 'x-trace': '7' }
  t.is((await stage.subscribe(hubNamed('asked'), { token, headers })).refusal, null)
  t.deepEqual(
    asked.map(({ operation }) => operation),
    ['getList', 'getById'],
  )
  for (const { request, identity: caller, resource } of asked) {
    t.is(caller?.name, 'ann')
    t.is(resource, hubNamed('asked').resource)
    t.is(request.headers['x-trace'], '7')
    t.is(request.headers.authorization, `Bearer ${token}`)
    t.regex(String(request.url), /^\/socket\.io\//)
    t.is(typeof request.socket.remoteAddress, 'string')
  }
})

test("what the host's own middleware found out about the handshake is who it is from", async (t) => {
  const hub = hubNamed('sessions')
  t.is((await stage.subscribe(hub, { headers: { 'x-session': '1' } })).refusal, null)
  t.like((await stage.subscribe(hub)).refusal?.data, { status: 401 })
})

test('what fails while a client connects refuses it without internals, and onError hears of it', async (t) => {
  const REFUSALS: readonly (readonly [name: string, status: number, told: RegExp | null])[] = [
    ['throwing', 500, /the list policy fails/],
    ['rejecting', 500, /the list policy fails/],
    ['failing', 500, /the policy of GET fails/],
    ['doubtful', 503, /Ask me later|Service Unavailable/],
    ['truthy', 401, null],
    ['closed', 403, null],
    ['down', 503, /Come back later|Service Unavailable/],
    ['nowhere', 500, /: scope must return/],
    ['unidentified', 500, /identity function/],
  ]
  for (const [name, status, told] of REFUSALS) {
    heard.length = 0
    const { refusal, frames } = await stage.subscribe(hubNamed(name))
    t.like(refusal?.data, { status }, name)
    t.notRegex(frames.join(), /fails|x-why|secret|scope|stack/i, name)
    t.is(heard.length, told === null ? 0 : 1, name)
    if (told === null) continue
    const [{ error, url } = { error: null, url: '' }] = heard
    t.regex((error as Error).message + (error as { detail?: string }).detail, told)
    t.regex(String(url), /^\/socket\.io\//)
  }
})

test('who may list but not get one is told what lists show', async (t) => {
  const token = plainToken({ roles: ['lister'] })
  t.is((await stage.subscribe(hubNamed('listers'), { token })).refusal, null)
})

/** The reason for which a connection ends, or has ended. */
async function endOf({ socket, ends }: Subscriber): Promise<string | undefined> {
  if (socket.connected) await new Promise((resolve) => socket.once('disconnect', resolve))
  return ends.at(-1)
}

for (const transport of TRANSPORTS) {
  test(`over ${transport}, a connection ends when its token does, hears nothing after, and the token opens no other`, async (t) => {
    const hub = hubNamed('masked')
    const exp = Math.floor(Date.now() / 1000) + 3
    const token = plainToken({ sub: transport, exp })
    const [brief, lasting] = await Promise.all([
      stage.subscribe(hub, { transport, token }),
      stage.subscribe(hub, { transport, token: plainToken({ sub: 'x', exp: exp + 3600 }) }),
    ])
    const { body } = await stage.post('/api/masked', { text: 'x' }, bearer({ permissions: ['payroll'] }))
    await waitUntil(lasting.socket, () => lasting.received.length > 0)
    t.is(await endOf(brief), 'io server disconnect')
    t.true(Date.now() >= exp * 1000)
    const before = brief.frames.length
    t.true(before <= 3)
    await stage.patch(`/api/masked/${body.id}`, { text: 'y' }, bearer({}))
    await stage.drain(hub, lasting)
    t.is(brief.frames.length, before)
    t.true(lasting.socket.connected)
    const { refusal } = await stage.subscribe(hub, { transport, token })
    t.like(refusal?.data, { status: 401 })
  })
}

test('a token that ends in years does not end its connection at once', async (t) => {
  const hub = hubNamed('masked')
  const warnings: string[] = []
  const warned = ({ name }: Error): void => {
    warnings.push(name)
  }
  process.on('warning', warned)
  t.teardown(() => process.off('warning', warned))
  const now = Math.floor(Date.now() / 1000)
  // The longest delay of a timer is 2^31 - 1 milliseconds; longer ones fire at once.
  const all = await Promise.all(
    [2 ** 31 / 1000, 10 * 366 * 86_400, 8e12, Number.MAX_SAFE_INTEGER].map((seconds) =>
      stage.subscribe(hub, { token: plainToken({ sub: 'far', exp: Math.ceil(now + seconds) }) }),
    ),
  )
  const [witness] = all as [Subscriber]
  for (let round = 0; round < 3; round += 1) await stage.drain(hub, witness)
  for (const { refusal, socket } of all) {
    t.is(refusal, null)
    t.true(socket.connected)
  }
  // Or they would look again every millisecond.
  t.false(warnings.includes('TimeoutOverflowWarning'))
})

test('an end that is no time to come ends the connection, and what is no number is none', async (t) => {
  const hub = hubNamed('claims')
  for (const name of ['NaN', 'past', 'zero', 'less']) {
    const subscriber = await stage.subscribe(hub, { headers: { 'x-exp': name } })
    await endOf(subscriber)
    t.false(subscriber.socket.connected, name)
  }
  for (const name of ['nothing', 'text', 'infinity']) {
    const subscriber = await stage.subscribe(hub, { headers: { 'x-exp': name } })
    await stage.drain(hub, subscriber)
    t.true(subscriber.socket.connected, name)
  }
})

/** What a client could send that is no protocol of this package's. */
const NOISE: readonly (readonly [event: string, ...args: unknown[]])[] = [
  ['error', 'boom'],
  ['OnCreated', { id: 1, text: 'forged' }],
  ['OnUpdated', { id: 1, text: 'forged' }],
  ['OnDeleted', 1],
  ['create', { text: 'x' }],
  ['find', {}],
  ['join', 'sequelize-crud-router:["response",[],[],[]][]'],
  ['sequelize-crud-router:joined', '["response",["payroll"],[],[]]'],
  ['sequelize-crud-router:list'],
  ['__proto__', { polluted: true }],
  ['constructor', []],
  ['toString'],
  [''],
  ['connection'],
  ['binary', Buffer.alloc(1000), { nested: new Uint8Array([1, 2, 3]) }],
  ['huge', Array.from({ length: 50_000 }, (_, index) => index)],
  ['long', 'x'.repeat(500_000)],
  ['deep', JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`)],
  ['null', null, undefined, Number.NaN],
]

for (const transport of TRANSPORTS) {
  test(`over ${transport}, no event of a client's does anything, acknowledgements included`, async (t) => {
    const hub = hubNamed('open')
    const [noisy, witness] = await Promise.all([
      stage.subscribe(hub, { transport }),
      stage.subscribe(hub, { transport }),
    ])
    const rows = await hub.resource.model.count()
    let answered = 0
    for (const [event, ...args] of NOISE) {
      noisy.socket.emit(event, ...args)
      noisy.socket.emit(event, ...args, () => {
        answered += 1
      })
    }
    // Packets of one connection are taken in their order: what came before this one has been.
    await noisy.socket.emitWithAck('probe')
    await stage.drain(hub, witness)
    t.is(answered, 0)
    t.is(await hub.resource.model.count(), rows)
    t.true(noisy.socket.connected)
    t.deepEqual([noisy.received, witness.received], [[], []])
    t.is(Reflect.get({}, 'polluted'), undefined)
    // Its own, that of its view, and a slice of that.
    t.is(hub.resource.hub?.sockets.get(String(noisy.socket.id))?.rooms.size, 3)
  })
}

/** Packets that no client of the library's would send; the first that is none ends the connection. */
const PACKETS: readonly string[] = [
  ...['connect', 'connect_error', 'disconnect', 'disconnecting', 'newListener', 'removeListener'].map(
    (name) => `2/api/open/hub,["${name}",1]`,
  ),
  '2/api/open/hub,[]',
  '2/api/open/hub,[null]',
  '2/api/open/hub,[{}]',
  '2/api/open/hub,{}',
  '2/api/open/hub,"x"',
  '2/api/open/hub,[5,6]',
  '2/api/open/hub,0["x"]',
  '2/api/open/hub,99999999999999999999["x"]',
  '2/api/open/hub,["x"',
  '2/api/other/hub,["x"]',
  '2["x"]',
  '3/api/open/hub,0[]',
  '3/api/open/hub,-1[]',
  '4/api/open/hub,"x"',
  '1/api/open/hub,',
  '0/api/open/hub,',
  '0/api/open/hub,[]',
  '0/api/open/hub,"x"',
  '0/api/open/hub,{"token":{"x":1}}',
  '0/api/open/hub,{"__proto__":{"token":"x"}}',
  '0/api/open/hub,{"pid":"x","offset":"y"}',
  '0/api/open/hub,{"pid":{},"offset":[]}',
  '0/__proto__,',
  '0/api/none/hub,',
  '51-/api/open/hub,["x",{"_placeholder":true,"num":0}]',
  '50-/api/open/hub,["x",{"_placeholder":true,"num":9}]',
  '5999999999-/api/open/hub,["x",{"_placeholder":true,"num":0}]',
  '51-/api/open/hub,["x",{"_placeholder":true,"num":"__proto__"}]',
  '9',
  '',
  'x',
  `2/api/open/hub,${'['.repeat(100_000)}`,
  `2/api/open/hub,["x",${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}]`,
  '2/api/open/hub,["\u0000\ud800"]',
]

for (const transport of TRANSPORTS) {
  test(`over ${transport}, no packet of a client's ends the process, or the connections of others`, async (t) => {
    const hub = hubNamed('open')
    const witness = await stage.subscribe(hub, { transport })
    const before = witness.received.length
    for (const packet of PACKETS) {
      const { socket } = await stage.subscribe(hub, { transport })
      const { engine } = socket.io
      const closed = new Promise((resolve) => engine.once('close', resolve))
      engine.write(packet)
      engine.write(Buffer.from('binary'))
      // No packet either: what is left of the connection ends here.
      engine.write('9')
      await closed
    }
    await stage.post('/api/open', { text: transport })
    await stage.drain(hub, witness)
    t.true(witness.socket.connected)
    const mine = witness.received.slice(before).filter(([, body]) => (body as { text?: unknown }).text === transport)
    t.deepEqual(
      mine.map(([event]) => event),
      ['OnCreated'],
    )
  })
}

/** Breaks a connection as a network does, and waits until the server has noticed. */
async function cut({ resource }: HubOwner, { socket }: Subscriber): Promise<void> {
  const peer = resource.hub?.sockets.get(String(socket.id))
  const noticed = new Promise((resolve) => peer?.once('disconnect', resolve))
  socket.io.engine.close()
  await noticed
}

/** Connects again; true where the connection goes on with its session. */
async function resume({ socket }: Subscriber): Promise<boolean | { readonly data: unknown }> {
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(socket.recovered))
    socket.once('connect_error', (error) => resolve({ data: (error as { data?: unknown }).data }))
    socket.connect()
  })
}

const payroll = bearer({ permissions: ['payroll'] })

for (const transport of TRANSPORTS) {
  test(`over ${transport}, a client that comes back in time gets what it missed, in order`, async (t) => {
    const hub = recovering.hubNamed('open')
    const [roamer, witness] = await Promise.all([
      recovering.subscribe(hub, { transport }),
      recovering.subscribe(hub, { transport }),
    ])
    await recovering.post('/api/open', { text: 'a' })
    await recovering.drain(hub, witness)
    await cut(hub, roamer)
    const { body } = await recovering.post('/api/open', { text: 'b' })
    await recovering.patch(`/api/open/${body.id}`, { text: 'c' })
    await recovering.drain(hub, witness)
    const before = roamer.received.length
    t.is(await resume(roamer), true)
    await recovering.delete(`/api/open/${body.id}`)
    await recovering.drain(hub, witness)
    t.deepEqual(roamer.received, witness.received)
    t.deepEqual(roamer.received.slice(before), [
      ['OnCreated', { id: body.id, text: 'b' }],
      ['OnUpdated', { id: body.id, text: 'c' }],
      ['OnDeleted', body.id],
    ])
  })

  test(`over ${transport}, a session is not gone on with by who is no longer let in`, async (t) => {
    const hub = recovering.hubNamed('masked')
    const sub = `${transport} banned`
    const [roamer, witness] = await Promise.all([
      recovering.subscribe(hub, { transport, token: plainToken({ sub }) }),
      recovering.subscribe(hub, { transport, token: plainToken({ sub: 'x' }) }),
    ])
    await recovering.post('/api/masked', { text: 'x' }, payroll)
    await recovering.drain(hub, witness)
    await cut(hub, roamer)
    banned.add(sub)
    await recovering.post('/api/masked', { text: 'y' }, payroll)
    await recovering.drain(hub, witness)
    roamer.frames.length = 0
    t.like(await resume(roamer), { data: { status: 403 } })
    t.is(roamer.frames.length, 1)
  })

  test(`over ${transport}, a session is gone on with by who would be told the same today, and by nobody else`, async (t) => {
    const hub = recovering.hubNamed('masked')
    const rich = { sub: 'rich', permissions: ['payroll'] }
    for (const [claims, isSame] of [
      [rich, true],
      [{ ...rich, sub: 'another' }, true],
      [{ sub: 'rich' }, false],
      [null, false],
    ] as const) {
      const [roamer, witness] = await Promise.all([
        recovering.subscribe(hub, { transport, token: plainToken(rich) }),
        recovering.subscribe(hub, { transport, token: plainToken(rich) }),
      ])
      await recovering.post('/api/masked', { text: 'before' }, payroll)
      await recovering.drain(hub, witness)
      await cut(hub, roamer)
      await recovering.post('/api/masked', { text: 'missed' }, payroll)
      await recovering.drain(hub, witness)
      roamer.frames.length = 0
      roamer.socket.auth = claims === null ? {} : { token: plainToken(claims) }
      t.is(await resume(roamer), isSame)
      const { body } = await recovering.post('/api/masked', { text: 'after' }, payroll)
      await recovering.drain(hub, witness)
      const frames = roamer.frames.join()
      t.is(/missed/.test(frames), isSame)
      t.is(/after/.test(frames), isSame)
      t.regex(frames, new RegExp(`\\["OnCreated",\\{"id":${body.id},`))
      t.regex(witness.frames.join(), /missed.*after/)
    }
  })
}

test('a session whose token has expired is not gone on with, whatever token comes next', async (t) => {
  const hub = recovering.hubNamed('masked')
  const exp = Math.floor(Date.now() / 1000) + 3
  const claims = { sub: 'brief', permissions: ['payroll'] }
  const [same, other, witness] = await Promise.all([
    recovering.subscribe(hub, { token: plainToken({ ...claims, exp }) }),
    recovering.subscribe(hub, { token: plainToken({ ...claims, exp }) }),
    recovering.subscribe(hub, { token: plainToken({ sub: 'x' }) }),
  ])
  await recovering.post('/api/masked', { text: 'first' }, payroll)
  await recovering.drain(hub, witness)
  t.regex(same.frames.join(), /first/)
  await Promise.all([cut(hub, same), cut(hub, other)])
  await recovering.post('/api/masked', { text: 'missed' }, payroll)
  await recovering.drain(hub, witness)
  await wait(exp * 1000 + 1 - Date.now())
  same.frames.length = 0
  t.like(await resume(same), { data: { status: 401 } })
  t.is(same.frames.length, 1)
  other.frames.length = 0
  other.socket.auth = { token: plainToken(claims) }
  t.is(await resume(other), false)
  await recovering.post('/api/masked', { text: 'later' }, payroll)
  await recovering.drain(hub, witness)
  t.notRegex(other.frames.join(), /missed/)
  t.regex(other.frames.join(), /later/)
})

test('nothing is sent before it is known who goes on with a session', async (t) => {
  const hub = recovering.hubNamed('slow')
  const [roamer, witness] = await Promise.all([
    recovering.subscribe(hub, { token: plainToken({ sub: 'roamer' }) }),
    recovering.subscribe(hub, { token: plainToken({ sub: 'x' }) }),
  ])
  await recovering.post('/api/slow', { text: 'a' }, bearer({ sub: 'x' }))
  await recovering.drain(hub, witness)
  for (const isIn of [true, false]) {
    await cut(hub, roamer)
    await recovering.post('/api/slow', { text: `missed ${isIn}` }, bearer({ sub: 'x' }))
    await recovering.drain(hub, witness)
    let decide: (verdict: boolean) => void = () => undefined
    decisions.set(
      'roamer',
      new Promise((resolve) => {
        decide = resolve
      }),
    )
    roamer.frames.length = 0
    const again = resume(roamer)
    // Meanwhile, of which nothing is lost either.
    await recovering.post('/api/slow', { text: `later ${isIn}` }, bearer({ sub: 'x' }))
    await recovering.drain(hub, witness)
    t.deepEqual(roamer.frames, [])
    decide(isIn)
    if (isIn) t.is(await again, true)
    else t.like(await again, { data: { status: 403 } })
    await recovering.drain(hub, witness)
    t.is(/missed true.*later true/.test(roamer.frames.join()), isIn)
    if (isIn) t.deepEqual(roamer.received, witness.received)
    else t.is(roamer.frames.length, 1)
  }
})

test('who comes back is asked once who they are, whether their session goes on or is gone', async (t) => {
  const hub = recovering.hubNamed('tickets')
  let tickets = 0
  const next = (): object => {
    tickets += 1
    return { sub: `ticket ${tickets}` }
  }
  const roamer = await recovering.subscribe(hub, { token: plainToken(next()) })
  const isTold = async (text: string): Promise<void> => {
    t.is((await recovering.post('/api/tickets', { text }, bearer(next()))).status, 201)
    await waitUntil(roamer.socket, () => roamer.frames.some((frame) => frame.includes(text)))
  }
  await isTold('first')
  for (const isGone of [false, false, true, true]) {
    await cut(hub, roamer)
    if (isGone) Reflect.set(roamer.socket, '_pid', 'of nobody')
    roamer.socket.auth = { token: plainToken(next()) }
    t.is(await resume(roamer), !isGone)
    await isTold(`after ${tickets}`)
    t.true(roamer.socket.connected)
  }
})

test('a recovered connection ends with the token that it was let in by last', async (t) => {
  const hub = recovering.hubNamed('slow')
  const exp = Math.floor(Date.now() / 1000) + 3
  const [renewed, witness] = await Promise.all([
    recovering.subscribe(hub, { token: plainToken({ sub: 'renewed', exp }) }),
    recovering.subscribe(hub, { token: plainToken({ sub: 'x' }) }),
  ])
  await recovering.post('/api/slow', { text: 'a' }, bearer({ sub: 'x' }))
  await recovering.drain(hub, witness)
  await cut(hub, renewed)
  renewed.socket.auth = { token: plainToken({ sub: 'renewed', exp: exp + 3600 }) }
  t.is(await resume(renewed), true)
  await wait(exp * 1000 + 1 - Date.now())
  await recovering.post('/api/slow', { text: 'b' }, bearer({ sub: 'x' }))
  await recovering.drain(hub, witness)
  t.true(renewed.socket.connected)
  t.deepEqual(renewed.received, witness.received)
})

test('a session whose token has expired is not gone on with by an adapter that the host has set since, either', async (t) => {
  const hub = recovering.hubNamed('masked')
  const exp = Math.floor(Date.now() / 1000) + 3
  const [roamer, witness] = await Promise.all([
    recovering.subscribe(hub, { token: plainToken({ sub: 'brief', exp }) }),
    recovering.subscribe(hub, { token: plainToken({ sub: 'x' }) }),
  ])
  await recovering.post('/api/masked', { text: 'first' }, payroll)
  await recovering.drain(hub, witness)
  await cut(hub, roamer)
  await recovering.post('/api/masked', { text: 'missed' }, payroll)
  await recovering.drain(hub, witness)
  // As an adapter does that keeps its sessions elsewhere.
  const { adapter: before } = hub.resource.hub ?? t.fail()
  const Adapter = recovering.io.adapter() as object as new (namespace: Namespace) => object
  const Keeping = function keep(namespace: Namespace): object {
    const { sessions, packets } = before as object as { sessions: unknown; packets: unknown }
    const next = new Adapter(namespace)
    return namespace === hub.resource.hub ? Object.assign(next, { sessions, packets }) : next
  }
  recovering.io.adapter(Keeping as never)
  await wait(exp * 1000 + 1 - Date.now())
  roamer.frames.length = 0
  t.like(await resume(roamer), { data: { status: 401 } })
  t.is(roamer.frames.length, 1)
})

test('a recovered connection that a middleware refuses is none, and its session ends with it', async (t) => {
  const hub = asking.hubNamed('masked')
  const [roamer, witness] = await Promise.all([
    asking.subscribe(hub, { token: plainToken({ sub: 'asked' }) }),
    asking.subscribe(hub, { token: plainToken({ sub: 'x' }) }),
  ])
  await asking.post('/api/masked', { text: 'a' }, payroll)
  await asking.drain(hub, witness)
  await cut(hub, roamer)
  await asking.post('/api/masked', { text: 'b' }, payroll)
  await asking.drain(hub, witness)
  t.is(await resume(roamer), true)
  await asking.drain(hub, witness)
  t.deepEqual(roamer.received, witness.received)
  await cut(hub, roamer)
  banned.add('asked')
  t.like(await resume(roamer), { data: { status: 403 } })
  await asking.post('/api/masked', { text: 'c' }, payroll)
  await asking.drain(hub, witness)
  roamer.frames.length = 0
  t.like(await resume(roamer), { data: { status: 403 } })
  t.is(roamer.frames.length, 1)
})
