// Servers that a Socket.IO adapter connects: what one of them tells reaches the clients of the others, and what the
// adapter fails at reaches onError. The servers share this process, but have nothing in common but text.

import { setTimeout as wait } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { DataTypes } from 'sequelize'
import { type Namespace, Server } from 'socket.io'
import { type CrudRouter, crudRouter, type Scope } from '../../../lib/index.js'
import { eventPackets, openPush, type PushStage, plainToken, type Subscriber } from '../../support/push.js'
import { bearer, identity } from '../../support/tokens.js'
import { deliverAtOnce, type InProcessCluster, openInProcessCluster } from '../../support/wires.js'

interface Member extends PushStage {
  readonly hub: CrudRouter
  /** What reached `onError`. */
  readonly errors: Error[]
  /** What asked for that which failed, as far as it is known. */
  readonly urls: (string | undefined)[]
}

/** One more server, with a database of its own. */
async function join(t: ExecutionContext, { adapter }: InProcessCluster): Promise<Member> {
  let hub!: CrudRouter
  const errors: Error[] = []
  const urls: (string | undefined)[] = []
  const stage = await openPush(
    ({ sequelize }, app, io) => {
      const attributes = { text: DataTypes.STRING, salary: DataTypes.STRING, tenantId: DataTypes.INTEGER }
      hub = crudRouter(sequelize.define('Note', attributes, { timestamps: false }), {
        identity,
        mask: { salary: 'payroll' },
        scope: ({ identity: caller }) =>
          caller?.roles.has('root') ? null : ({ tenantId: caller?.claims.tenant } as Scope),
        push: { io },
        onError: (error, { url }) => {
          errors.push(error as Error)
          urls.push(url)
        },
      })
      app.use(hub)
    },
    { adapter },
  )
  t.teardown(stage.close)
  return { ...stage, hub, errors, urls }
}

const ROOT = { roles: ['root'], permissions: ['payroll'] }

async function subscribe({ subscribe: connect, hub }: Member, claims: object): Promise<Subscriber> {
  return connect(hub, { token: plainToken(claims) })
}

async function post({ post: send }: Member, text: string, tenantId = 1): Promise<void> {
  await send('/api/notes', { text, salary: 'SALARY', tenantId }, bearer(ROOT))
}

/** The texts of the records that a subscriber has heard of. */
const textsOf = ({ received }: Subscriber): readonly string[] =>
  received.filter(([event]) => event !== 'OnMissed').map(([, note]) => (note as { text: string }).text)

const UNASKED =
  'push: this server could not exchange the clients of /api/notes/hub with the other Socket.IO servers: they did not answer within 5 seconds'

/** How often a subscriber was told to list again. */
const missedBy = ({ received }: Subscriber): number => received.filter(([event]) => event === 'OnMissed').length

/** Resolves when something is so, which no event of a socket may tell of; rejects when it takes very long. */
async function comes(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 30_000
  while (!isSo()) {
    if (performance.now() > end) throw new Error('it did not come to be so')
    await wait(10)
  }
}

test('what is written through one server reaches the subscribers of another, each as they may see it', async (t) => {
  const wire = openInProcessCluster()
  const one = await join(t, wire)
  const two = await join(t, wire)
  const witness = await subscribe(one, ROOT)
  await post(one, 'first')
  await comes(() => witness.received.length === 1)
  // Neither of their classes was known to the first server when it asked.
  const near = await subscribe(two, { tenant: 1 })
  const paid = await subscribe(two, { tenant: 1, permissions: ['payroll'] })
  const far = await subscribe(two, { tenant: 2 })
  await post(one, 'of one')
  await post(one, 'of two', 2)
  const { id } = (witness.received[0] as unknown as readonly [string, { readonly id: number }])[1]
  await one.delete(`/api/notes/${id}`, bearer(ROOT))
  await comes(() => near.received.length >= 2 && paid.received.length >= 2 && far.received.length >= 1)
  const told = (key: number, text: string, salary: string | null, tenantId: number): string =>
    `["OnCreated",${JSON.stringify({ id: key, text, salary, tenantId })}]`
  const gone = `["OnDeleted",${id}]`
  t.deepEqual(eventPackets(near), [told(id + 1, 'of one', null, 1), gone])
  t.deepEqual(eventPackets(paid), [told(id + 1, 'of one', 'SALARY', 1), gone])
  t.deepEqual(eventPackets(far), [told(id + 2, 'of two', null, 2)])
  t.deepEqual([...one.errors, ...two.errors], [])
})

test('a server that is started later asks for the classes that there are', async (t) => {
  const wire = openInProcessCluster()
  const old = await join(t, wire)
  const subscriber = await subscribe(old, { tenant: 1 })
  const fresh = await join(t, wire)
  await post(fresh, 'new')
  await comes(() => subscriber.received.length > 0)
  t.deepEqual(textsOf(subscriber), ['new'])
})

test('who subscribes is connected when the others know the class, and one class is made known once', async (t) => {
  const wire = openInProcessCluster()
  await join(t, wire)
  const two = await join(t, wire)
  let go = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  wire.publish = () => gate
  let connected = 0
  const connecting = [1, 2].map(async (tenant) => {
    await subscribe(two, { tenant })
    connected += 1
  })
  await comes(() => wire.published.length > 0)
  await wait(200)
  t.is(connected, 0)
  go()
  await Promise.all(connecting)
  t.is(wire.published.filter((text) => text.includes('router:joined')).length, 1)
})

test('what another server tells and is no class of subscribers changes nothing', async (t) => {
  const wire = openInProcessCluster()
  const one = await join(t, wire)
  const two = await join(t, wire)
  const subscriber = await subscribe(one, { tenant: 1 })
  const emit = (...given: readonly unknown[]): unknown =>
    (two.hub.resource.hub as unknown as { serverSideEmit(...given: readonly unknown[]): unknown }).serverSideEmit(
      ...given,
    )
  const open = '["response",["payroll"],["tenantId"],[]]'
  const claim = (texts: unknown): object => ({ server: 'x', version: 1, texts })
  const wrong = [
    ...['nonsense', null, 1, {}, [], open, [open], claim('x'), claim({ length: 1, 0: open }), claim([null, [open]])],
    ...[claim(['nonsense', '["response",[],[1],[]]', `[${open}]`, '["response",[],["budget"],[]]'])],
    ...[
      { ...claim([open]), version: '1' },
      { ...claim([open]), server: 1 },
      { ...claim([open]), version: null },
    ],
  ]
  for (const event of ['joined', 'held', 'left']) {
    for (const each of wrong) {
      const answers = await new Promise((resolve) => {
        emit(`sequelize-crud-router:${event}`, each, (_: unknown, given: unknown) => resolve(given))
      })
      t.deepEqual(answers, [null])
    }
  }
  // As no server of this package's asks: without waiting for an answer.
  emit('sequelize-crud-router:joined', claim([open]))
  emit('sequelize-crud-router:list')
  // Nobody speaks for another server.
  emit('sequelize-crud-router:left', claim(['["response",[],["tenantId"],[]]']))
  await post(one, 'alive')
  await post(one, 'and well')
  await comes(() => textsOf(subscriber).includes('and well'))
  t.deepEqual(textsOf(subscriber), ['alive', 'and well'])
  t.regex(subscriber.frames.join(), /"salary":null/)
  t.notRegex(subscriber.frames.join(), /SALARY/)
  t.deepEqual(one.errors, [])
})

const CLAIM = { server: 'x', version: 1 }
for (const nonsense of [
  ...[null, 5, { length: 1 }, 'text', [null, 5, 'text', '["all",[],[],[]]']],
  ...[
    { ...CLAIM, texts: 'x' },
    { ...CLAIM, texts: [null, 5, 'text', '["all",[],[],[]]', '["list",[],["budget"],[]]'] },
  ],
]) {
  test(`a server that answers ${JSON.stringify(nonsense)} to what classes it has is none to learn from`, async (t) => {
    const wire = openInProcessCluster()
    const foreign = new Server({ adapter: wire.adapter }).of('/api/notes/hub')
    foreign.on('sequelize-crud-router:joined' as never, (_: unknown, done: (answer: unknown) => void) => done(nonsense))
    foreign.on('sequelize-crud-router:list' as never, (done: (answer: unknown) => void) => done(nonsense))
    const one = await join(t, wire)
    const witness = await subscribe(one, ROOT)
    await post(one, 'a')
    await comes(() => witness.received.length > 0)
    t.deepEqual(textsOf(witness), ['a'])
    t.deepEqual(one.errors, [])
  })
}

const down = (): Promise<void> => Promise.reject(new Error('the wire is down'))

test('a class that the others could not be told of is told of again, its subscriber is connected meanwhile', async (t) => {
  const wire = openInProcessCluster()
  const one = await join(t, wire)
  const two = await join(t, wire)
  const witness = await subscribe(one, ROOT)
  await post(one, 'first')
  await comes(() => witness.received.length === 1)
  wire.publish = down
  const subscriber = await subscribe(two, { tenant: 1 })
  t.is(subscriber.refusal, null)
  t.deepEqual(
    two.errors.map(({ message }) => message),
    [
      'push: the Socket.IO adapter could not publish a message of /api/notes/hub for the other servers: the wire is down',
      UNASKED,
    ],
  )
  for (const url of two.urls) t.regex(String(url), /^\/socket\.io\//)
  wire.publish = deliverAtOnce
  await comes(() => wire.published.filter((text) => text.includes('router:joined')).length === 3)
  await wait(100)
  await comes(() => missedBy(subscriber) > 0)
  await post(one, 'second')
  await comes(() => textsOf(subscriber).length > 0)
  t.deepEqual(textsOf(subscriber), ['second'])
})

test('a server that could not ask for the classes tells its own subscribers, and asks again a little later', async (t) => {
  const wire = openInProcessCluster()
  const old = await join(t, wire)
  const far = await subscribe(old, { tenant: 1 })
  const fresh = await join(t, wire)
  const near = await subscribe(fresh, { tenant: 1 })
  const asked = (): number => wire.published.filter((text) => text.includes('router:list')).length
  wire.publish = down
  await post(fresh, 'a')
  await comes(() => textsOf(near).includes('a'))
  wire.publish = deliverAtOnce
  t.true(fresh.errors.some(({ message }) => /they did not answer within 5 seconds/.test(message)))
  t.is(asked(), 1)
  // Not at once: every event would wait as long.
  await post(fresh, 'b')
  await comes(() => textsOf(near).includes('b'))
  t.is(asked(), 1)
  await wait(5100)
  await post(fresh, 'c')
  await comes(() => textsOf(near).includes('c'))
  t.is(asked(), 2)
  await post(fresh, 'd')
  await comes(() => textsOf(far).includes('d'))
  t.is(asked(), 2)
  // It did not hear of a and b.
  await comes(() => missedBy(far) > 0)
})

/** Of what the adapter publishes nothing more. */
const stuck = (message: string): boolean => /did not publish a message/.test(message)

test('an adapter that publishes nothing any more is told of once, one at rest and one that is slow are not', async (t) => {
  const [fast, slow, dead] = [openInProcessCluster(), openInProcessCluster(), openInProcessCluster()]
  const members = await Promise.all([fast, slow, dead].map((wire) => join(t, wire)))
  const [atRest, behind, silent] = members as [Member, Member, Member]
  slow.publish = () => wait(800)
  dead.publish = () => new Promise(() => undefined)
  for (const member of members) await subscribe(member, ROOT)
  await post(atRest, 'all')
  const end = performance.now() + 11_500
  await post(silent, 'lost')
  while (performance.now() < end) {
    // One under way at any time.
    await post(behind, 'slow')
    await wait(300)
  }
  t.deepEqual(
    members.map(({ errors }) => errors.map(({ message }) => stuck(message))),
    [[], [], [true]],
  )
  t.deepEqual(atRest.errors, [])
})

test('what the adapter fails to publish reaches onError, and the subscribers of this server hear of it', async (t) => {
  const wire = openInProcessCluster()
  const one = await join(t, wire)
  const witness = await subscribe(one, ROOT)
  wire.publish = down
  await post(one, 'a')
  await comes(() => witness.received.length > 0)
  t.deepEqual(textsOf(witness), ['a'])
  t.deepEqual(
    one.errors.map(({ message }) => message),
    ['push: the Socket.IO adapter could not publish OnCreated of /api/notes/hub: the wire is down'],
  )
  t.deepEqual(one.urls, ['/api/notes'])
})

test('an adapter that never says how many servers there are is waited for no longer than for an answer', async (t) => {
  const one = await join(t, openInProcessCluster())
  const witness = await subscribe(one, ROOT)
  const { adapter } = one.hub.resource.hub as Namespace
  adapter.serverCount = () => new Promise(() => undefined)
  await post(one, 'a')
  await comes(() => witness.received.length > 0)
  t.deepEqual(textsOf(witness), ['a'])
  t.deepEqual(
    one.errors.map(({ message }) => message),
    [UNASKED],
  )
})

type Adapter = Namespace['adapter']

/** Two servers whose clients have heard of a first record. */
async function joinTwo(t: ExecutionContext) {
  const wire = openInProcessCluster()
  const [one, two] = [await join(t, wire), await join(t, wire)]
  const [near, far] = [await subscribe(one, ROOT), await subscribe(two, { tenant: 1 })]
  await post(one, 'first')
  await comes(() => near.received.length === 1 && far.received.length === 1)
  return { wire, one, two, near, far }
}

test('clients of other servers are told to list again after an event that was not published, once it is possible', async (t) => {
  const { wire, one, near, far } = await joinTwo(t)
  wire.publish = down
  await post(one, 'lost')
  await comes(() => textsOf(near).includes('lost'))
  wire.publish = deliverAtOnce
  await comes(() => missedBy(far) > 0)
  await post(one, 'later')
  await comes(() => textsOf(far).includes('later'))
  t.deepEqual(textsOf(far), ['first', 'later'])
})

test('clients are told to list again after an event that was published and did not arrive', async (t) => {
  const { wire, one, far } = await joinTwo(t)
  wire.isLost = (text) => text.includes('trimmed')
  await post(one, 'trimmed')
  await post(one, 'later')
  await comes(() => missedBy(far) > 0)
  t.deepEqual(textsOf(far), ['first', 'later'])
  const before = missedBy(far)
  await post(one, 'trimmed, and nothing behind it')
  await comes(() => missedBy(far) > before)
  t.deepEqual(one.errors, [])
})

/** Writes records until a subscriber hears of one. It must not take until the servers renew the views of their clients. */
async function postUntilHeard(member: Member, subscriber: Subscriber, tenantId = 1): Promise<void> {
  const before = textsOf(subscriber).length
  const end = performance.now() + 30_000
  while (textsOf(subscriber).length === before) {
    if (performance.now() > end) throw new Error('nothing was heard')
    await post(member, 'later', tenantId)
    await wait(200)
  }
}

test('a client that connected while no server could reach another hears what is written from then on', async (t) => {
  const { wire, one, two, far } = await joinTwo(t)
  const adapters = [one, two].flatMap(({ io }) => [...io._nsps.values()].map(({ adapter }) => adapter))
  const counts = adapters.map((adapter) => adapter.serverCount.bind(adapter))
  // An adapter forgets servers that it has not heard of for some seconds.
  for (const adapter of adapters) adapter.serverCount = async () => 1
  wire.publish = down
  await post(one, 'lost')
  await wait(3000)
  const comer = await subscribe(two, { tenant: 2, permissions: ['payroll'] })
  wire.publish = deliverAtOnce
  for (const [index, adapter] of adapters.entries()) adapter.serverCount = counts[index] as Adapter['serverCount']
  await comes(() => missedBy(far) > 0)
  await postUntilHeard(one, comer, 2)
  t.false(textsOf(comer).includes('lost'))
})

/** Resolves when each of two servers has sent, or tried to send, two more heartbeats. */
async function twoHeartbeats({ published }: InProcessCluster): Promise<void> {
  const from = published.length
  await comes(() => {
    const beats = published.slice(from).filter((text) => text.includes('router:beat'))
    const servers = beats.map((text) => JSON.parse(text).uid)
    return new Set(servers.filter((uid, index) => servers.indexOf(uid) !== index)).size === 2
  })
}

test('clients whom a server had forgotten are told to list again once the servers reach each other', async (t) => {
  const { wire, one, two, near, far } = await joinTwo(t)
  const joined = wire.published.flatMap((text) => JSON.parse(text).data?.packet ?? []).findLast(({ texts }) => texts)
  // As after three minutes of silence.
  const { adapter } = two.hub.resource.hub as Namespace
  await adapter.serverSideEmit(['sequelize-crud-router:left', joined])
  await wait(100)
  await post(one, 'lost')
  await comes(() => textsOf(near).includes('lost'))
  await wait(1500)
  wire.publish = down
  // After three heartbeats the servers would count as lost.
  await twoHeartbeats(wire)
  t.deepEqual([textsOf(far), missedBy(far)], [['first'], 0])
  wire.publish = deliverAtOnce
  await comes(() => missedBy(far) > 0)
  await postUntilHeard(one, far)
})

test('clients are told to list again when a server is gone without a last word, and not when it was closed', async (t) => {
  const { wire, one, two, far } = await joinTwo(t)
  const three = await join(t, wire)
  const witness = await subscribe(three, ROOT)
  await wait(1500)
  await one.hub.close()
  await wait(5500)
  t.deepEqual([missedBy(far), missedBy(witness)], [0, 0])
  const uids = [...two.io._nsps.values()].map(({ adapter }) => Reflect.get(adapter, 'uid'))
  wire.isLost = (text) => uids.some((uid) => text.includes(uid))
  await comes(() => missedBy(witness) > 0)
  await wait(2500)
  t.is(missedBy(witness), 1)
})

test('a server that starts later tells nobody to list again', async (t) => {
  const { wire, one, near, far } = await joinTwo(t)
  for (const text of ['a', 'b', 'c']) await post(one, text)
  const three = await join(t, wire)
  const witness = await subscribe(three, ROOT)
  await post(three, 'd')
  await post(one, 'e')
  await comes(() => [near, far, witness].every((each) => textsOf(each).includes('e')))
  await wait(2500)
  t.deepEqual([near, far, witness].map(missedBy), [0, 0, 0])
})
