// Hubs that fail or take their time: no reply is changed by it, it reaches onError, and what comes later is told.

import ava, { type ExecutionContext } from 'ava'
import type { Request } from 'express'
import { DataTypes, type FindOptions } from 'sequelize'
import type { Namespace } from 'socket.io'
import { type CrudOptions, type CrudRouter, crudRouter, Operations } from '../../../lib/index.js'
import { eventPackets, openPush } from '../../support/push.js'

// The adapter is the hub's, and the hub is shared.
const test = ava.serial

type Adapter = Namespace['adapter']

const heard: { readonly error: unknown; readonly request: Request }[] = []
/** What reads behind the reply wait for, or fail with. */
let reading: () => Promise<void> = async () => undefined

let router!: CrudRouter
let slow!: CrudRouter
const stage = await openPush(({ sequelize }, app, io) => {
  const options: CrudOptions = {
    operations: Operations.AllWithBulk,
    push: { io },
    onError: (error, request) => {
      heard.push({ error, request })
      throw new Error('onError fails as well')
    },
  }
  const plain = { timestamps: false }
  router = crudRouter(sequelize.define('Order', { product: DataTypes.STRING }, plain), options)
  const Slow = sequelize.define('Slow', { product: DataTypes.STRING }, plain)
  // Those of the reply are part of the write's transaction.
  Slow.addHook('beforeFind', ({ transaction }: FindOptions) => (transaction ? undefined : reading()))
  Slow.addHook('afterSave', () => undefined)
  slow = crudRouter(Slow, { ...options, route: 'slow' })
  app.use(router)
  app.use(slow)
})
test.after.always(() => stage.close())

function adapter(): Adapter {
  if (router.resource.hub === null) throw new TypeError('there is no hub')
  return router.resource.hub.adapter
}

/** Puts something else in the place of a method of the adapter's while a test goes on. */
function replace<Name extends 'broadcast' | 'serverCount'>(
  t: ExecutionContext,
  name: Name,
  method: Adapter[Name],
): () => void {
  const own = adapter()
  const before = own[name]
  own[name] = method
  const restore = (): void => {
    own[name] = before
  }
  t.teardown(restore)
  return restore
}

async function write(): Promise<{ readonly statuses: readonly number[]; readonly id: number }> {
  const { status, body } = await stage.post('/api/orders', { product: 'a' })
  const others = [
    await stage.patch(`/api/orders/${body.id}`, { product: 'b' }),
    await stage.delete(`/api/orders/${body.id}`),
  ]
  return { statuses: [status, ...others.map((answer) => answer.status)], id: body.id }
}

const told = (id: number): readonly string[] => [
  `["OnCreated",{"id":${id},"product":"a"}]`,
  `["OnUpdated",{"id":${id},"product":"b"}]`,
  `["OnDeleted",${id}]`,
]

/** Resolves when so many errors have been handed on. */
async function errorsHeard(count: number): Promise<void> {
  while (heard.length < count) await new Promise((resolve) => setImmediate(resolve))
}

const FAILURES: readonly (readonly [how: string, broadcast: Adapter['broadcast']])[] = [
  [
    'throws',
    () => {
      throw new Error('the adapter fails')
    },
  ],
  ['rejects', async () => Promise.reject(new Error('the adapter fails'))],
]

for (const [how, broadcast] of FAILURES) {
  test(`a hub whose adapter ${how} changes no reply, onError hears of each event, and later ones are told`, async (t) => {
    const subscriber = await stage.subscribe(router)
    heard.length = 0
    const restore = replace(t, 'broadcast', broadcast)
    const { statuses } = await write()
    t.deepEqual(statuses, [201, 200, 204])
    await errorsHeard(3)
    restore()
    const { id } = await write()
    await stage.drain(router, subscriber)
    // Whoever is connected lists again, since events were not sent.
    t.true(eventPackets(subscriber).includes('["OnMissed"]'))
    t.deepEqual(
      eventPackets(subscriber).filter((sent) => sent !== '["OnMissed"]'),
      told(id),
    )
    const message = (event: string): string => `push: ${event} of /api/orders/hub could not be sent.`
    t.deepEqual(
      heard.map(({ error, request }) => [(error as Error).message, request.method]),
      [
        [message('OnCreated'), 'POST'],
        [message('OnUpdated'), 'PATCH'],
        [message('OnDeleted'), 'DELETE'],
      ],
    )
    t.true(heard.every(({ error }) => (error as Error).cause instanceof Error))
  })
}

test('a payload that cannot be read changes no reply, onError hears of it, and the others are told', async (t) => {
  const subscriber = await stage.subscribe(slow)
  heard.length = 0
  let reads = 0
  reading = async () => {
    reads += 1
    if (reads === 1) throw new Error('the read fails')
  }
  const bulk = await stage.post('/slow/bulk', [{ product: 'a' }, { product: 'b' }])
  t.is(bulk.status, 201)
  await stage.drain(slow, subscriber)
  t.deepEqual(eventPackets(subscriber), ['["OnMissed"]', `["OnCreated",{"id":${bulk.body[1].id},"product":"b"}]`])
  t.deepEqual(
    heard.map(({ error, request }) => [(error as Error).message, request.method]),
    [['push: OnCreated of /slow/hub could not be sent.', 'POST']],
  )
})

test('the reply does not wait for a hub that takes its time, and nothing is lost or overtaken', async (t) => {
  const subscriber = await stage.subscribe(slow)
  heard.length = 0
  let go = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  reading = () => gate
  const { body: one } = await stage.post('/slow', { product: 'a' })
  const { body: many } = await stage.post('/slow/bulk', [{ product: 'b' }, { product: 'c' }])
  const ids: number[] = many.map(({ id }: { id: number }) => id)
  t.is((await stage.post('/slow/bulk-delete', ids)).status, 200)
  const { body: two } = await stage.post('/slow', { product: 'd' })
  t.deepEqual(eventPackets(subscriber), [])
  go()
  await stage.drain(slow, subscriber)
  t.deepEqual(eventPackets(subscriber), [
    `["OnCreated",{"id":${one.id},"product":"a"}]`,
    // Gone by the time that they are read.
    ...ids.map((id) => `["OnDeleted",${id}]`),
    `["OnCreated",{"id":${two.id},"product":"d"}]`,
  ])
  t.deepEqual(heard, [])
})

/** As adapters fail of which there is no other server to be asked through. */
const UNASKABLE: readonly (readonly [how: string, adapter: Partial<Adapter>])[] = [
  ['does not know how many there are', { serverCount: () => Promise.reject(new Error('nobody answers')) }],
  [
    'cannot ask',
    {
      serverCount: async () => 2,
      // Of which Socket.IO declares no promise.
      serverSideEmit: (() => Promise.reject(new Error('nobody answers'))) as Adapter['serverSideEmit'],
    },
  ],
  [
    'gets no answer',
    {
      serverCount: async () => 2,
      serverSideEmit: (packet) => packet.at(-1)(new Error('nobody answers'), []),
    },
  ],
]

for (const [how, broken] of UNASKABLE) {
  test(`a hub whose adapter ${how} tells its own subscribers, and onError hears of it once`, async (t) => {
    let notes!: CrudRouter
    const lonely = await openPush(({ sequelize }, app, io) => {
      const Note = sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
      notes = crudRouter(Note, { push: { io }, onError: (error, request) => heard.push({ error, request }) })
      app.use(notes)
    })
    t.teardown(lonely.close)
    const subscriber = await lonely.subscribe(notes)
    heard.length = 0
    const { adapter: own } = notes.resource.hub as Namespace
    const { serverCount, serverSideEmit } = own
    Object.assign(own, broken)
    await lonely.post('/api/notes', { text: 'a' })
    await errorsHeard(1)
    Object.assign(own, { serverCount, serverSideEmit })
    await lonely.post('/api/notes', { text: 'b' })
    await lonely.drain(notes, subscriber)
    t.deepEqual(
      subscriber.received.filter(([event]) => event !== 'OnMissed').map(([, note]) => (note as { text: string }).text),
      ['a', 'b'],
    )
    t.deepEqual(
      heard.map(({ error, request }) => [(error as Error).message, request.method]),
      [
        [
          'push: this server could not exchange the clients of /api/notes/hub with the other Socket.IO servers: nobody answers',
          'POST',
        ],
      ],
    )
  })
}

test('no session is gone on with that may lack an event, which was not sent while its client was away', async (t) => {
  let isFailing = false
  let notes!: CrudRouter
  const recovering = await openPush(
    ({ sequelize }, app, io) => {
      const Note = sequelize.define('Note', { text: DataTypes.STRING }, { timestamps: false })
      Note.addHook('afterSave', () => undefined)
      Note.addHook('beforeFind', ({ transaction }: FindOptions) => {
        if (isFailing && !transaction) throw new Error('the read fails')
      })
      notes = crudRouter(Note, { push: { io }, onError: () => undefined })
      app.use(notes)
    },
    { connectionStateRecovery: { maxDisconnectionDuration: 120_000 } },
  )
  t.teardown(recovering.close)
  const [roamer, witness] = [await recovering.subscribe(notes), await recovering.subscribe(notes)]
  await recovering.post('/api/notes', { text: 'a' })
  await recovering.drain(notes, witness)
  const peer = notes.resource.hub?.sockets.get(String(roamer.socket.id))
  const noticed = new Promise((resolve) => peer?.once('disconnect', resolve))
  roamer.socket.io.engine.close()
  await noticed
  const missed = new Promise<void>((resolve) => witness.socket.once('OnMissed', () => resolve()))
  isFailing = true
  await recovering.post('/api/notes', { text: 'b' })
  await missed
  isFailing = false
  const isRecovered = await new Promise((resolve) => {
    roamer.socket.once('connect', () => resolve(roamer.socket.recovered))
    roamer.socket.connect()
  })
  t.false(isRecovered)
})
