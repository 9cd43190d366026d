// The order in which subscribers hear of a record that several requests change, where one of them hears late that its own
// COMMIT has succeeded: the host does something behind that. On SQLite the others wait for its end anyway.

import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudRouter, crudRouter, type HookContext, Operations, Problem } from '../../../lib/index.js'
import { openPush, type Subscriber } from '../../support/push.js'
import type { Answer } from '../../support/server.js'

const test = ava.serial

/** By the name in `x-until`: what the end of a request waits for, behind its COMMIT. */
const gates = new Map<string, Promise<void>>()
const committed = new Set<string>()

function late({ request, transaction }: HookContext): void {
  const name = request.headers['x-until']
  if (typeof name !== 'string') return
  transaction.afterCommit(async () => {
    committed.add(name)
    await gates.get(name)
  })
}

const hooks = {
  beforeCreate: async (context: HookContext) => {
    late(context)
    await calling()
  },
  beforeUpdate: late,
  beforeDelete: late,
  afterCreate: ({ instance }: HookContext) => {
    if (instance.get('text') === 'refused') throw new Problem({ status: 409, code: 'refused', title: 'Refused' })
  },
}

let calling = async (): Promise<void> => undefined
/** What reached the host. */
const errors: unknown[] = []

let lineHub!: CrudRouter
let seatHub!: CrudRouter
let orderHub!: CrudRouter
let slipHub!: CrudRouter
let spareHub!: CrudRouter

const stage = await openPush(({ sequelize }, app, io) => {
  const plain = { timestamps: false }
  const name = { name: DataTypes.STRING(20) }
  const Order = sequelize.define('Order', name, plain)
  const Line = sequelize.define('Line', { text: DataTypes.STRING(20) }, plain)
  Order.hasMany(Line, { as: 'lines', foreignKey: { name: 'orderId', allowNull: false } })
  const Spare = sequelize.define('Spare', { text: DataTypes.STRING(20) }, plain)
  Order.hasMany(Spare, { as: 'spares', foreignKey: { name: 'orderId', allowNull: false } })
  const code = { type: DataTypes.STRING(10), primaryKey: true }
  const Slip = sequelize.define('Slip', { code, text: DataTypes.STRING(20) }, plain)
  Order.hasMany(Slip, { as: 'slips', foreignKey: { name: 'orderId', allowNull: false } })
  const Post = sequelize.define('Post', name, plain)
  const Tag = sequelize.define('Tag', name, plain)
  const Seat = sequelize.define('Seat', { place: DataTypes.INTEGER }, plain)
  Post.belongsToMany(Tag, { as: 'seats', through: Seat, foreignKey: 'postId', otherKey: 'tagId' })
  const push = { io }
  const operations = Operations.AllWithBulk | Operations.BulkUpdate
  const onError = (error: unknown): unknown => errors.push(error)
  lineHub = crudRouter(Line, { push, hooks, operations, idempotency: true, onError })
  seatHub = crudRouter(Seat, { push, hooks, operations })
  spareHub = crudRouter(Spare, { push, hooks })
  const relations = { lines: { write: true }, spares: { write: true }, slips: { write: true } }
  slipHub = crudRouter(Slip, { push, hooks, operations: operations | Operations.Replace, idempotency: true })
  orderHub = crudRouter(Order, { push, operations, idempotency: true, relations, onError })
  app.use(slipHub, lineHub, seatHub, spareHub, orderHub)
  app.use(crudRouter(Post, { relations: { seats: { routes: true, write: true } } }))
  app.use(crudRouter(Tag))
})
const { sequelize } = stage
test.after.always(() => stage.close())

test.beforeEach(async () => {
  gates.clear()
  committed.clear()
  for (const name of ['Seat', 'Line', 'Spare', 'Slip', 'Order', 'Post', 'Tag'])
    await sequelize.model(name).destroy({ where: {} })
  await sequelize.model('Order').bulkCreate([1, 2].map((id) => ({ id, name: 'new' })))
  await sequelize.model('Line').bulkCreate([1, 2].map((id) => ({ id, text: 'new', orderId: id })))
  await sequelize.model('Spare').bulkCreate([{ id: 1, text: 'new', orderId: 1 }])
  await sequelize.model('Slip').create({ code: 'there', text: 'new', orderId: 2 })
  await sequelize.model('Post').bulkCreate([{ id: 1, name: 'a' }])
  await sequelize.model('Tag').bulkCreate([1, 2].map((id) => ({ id, name: 'a' })))
})

type Sent = readonly [method: string, path: string, json?: unknown]

let keys = 0

function send([method, path, json]: Sent, { isKeyed = false, gate = '' } = {}): Promise<Answer> {
  keys += 1
  const headers = { ...(isKeyed && { 'Idempotency-Key': `"${keys}"` }), ...(gate && { 'x-until': gate }) }
  return stage.send(method, path, { json, headers })
}

/** Sends some, of which all but the last hear late that they were committed, and the first one last; gives the statuses. */
async function inOrder(all: readonly Sent[], isKeyed = false): Promise<readonly number[]> {
  const opened: (() => void)[] = []
  let arrived = 0
  const count = (): number => (arrived += 1)
  stage.server.on('request', count)
  const answers = all.map(async (sent, index): Promise<number> => {
    const gate = index < all.length - 1 ? `gate ${index}` : ''
    const before = index > 0 ? `gate ${index - 1}` : ''
    // Where writes wait for each other the second is not committed before the first has ended: it is in its place a moment after it
    // has come.
    if (index > 1 && stage.name === 'sqlite') {
      await until(() => arrived === index)
      await wait(200)
    } else if (before !== '') await until(() => committed.has(before))
    if (gate !== '') gates.set(gate, new Promise((resolve) => opened.push(resolve)))
    return (await send(sent, { isKeyed, gate })).status
  })
  const isLastSent = until(() => arrived === all.length).then(() => wait(stage.name === 'sqlite' ? 200 : 5000))
  await Promise.race([answers.at(-1), isLastSent])
  stage.server.off('request', count)
  for (const open of opened.reverse()) {
    open()
    await wait(20)
  }
  return Promise.all(answers)
}

async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 5000
  while (!isSo() && performance.now() < end) await wait(5)
}

/** What a subscriber has heard, in short. */
const toldOf = ({ received }: Subscriber): readonly unknown[] =>
  received.map(([event, told]) => {
    const { text, place } = Object(told)
    return `${event.slice(2)} ${text ?? place ?? (event === 'OnDeleted' ? told : 'plain')}`
  })

type Contest = readonly [title: string, hub: () => CrudRouter, sent: readonly Sent[], told: readonly string[]]

const LINE = '/api/lines/1'
const ORDER = '/api/orders/1'
const SEAT = '/api/posts/1/seats/1'
const SEATS = '/api/posts/1/seats'
const slip = (text: string): object => ({ code: 'x', text, orderId: 1 })
const lines = (text: string): object => ({ lines: [{ id: 1, text }] })

const CONTESTS: readonly Contest[] = [
  [
    'a link that is made and undone',
    () => seatHub,
    [
      ['PUT', SEAT],
      ['DELETE', SEAT],
    ],
    ['Created plain', 'Deleted 1~1'],
  ],
  [
    'a link that is made, changed and undone, each from somewhere else',
    () => seatHub,
    [
      ['POST', SEATS, [1]],
      ['PATCH', '/api/seats/1~1', { place: 5 }],
      ['PATCH', '/api/posts/1', { seats: [] }],
    ],
    ['Created plain', 'Updated 5', 'Deleted 1~1'],
  ],
  [
    'a link that is undone and made again',
    () => seatHub,
    [
      ['PUT', SEAT],
      ['PUT', SEATS, []],
      ['PUT', SEAT, { place: 7 }],
      ['DELETE', '/api/seats/1~1'],
    ],
    ['Created plain', 'Deleted 1~1', 'Created 7', 'Deleted 1~1'],
  ],
  [
    'a record that is patched with its owner, then by itself',
    () => lineHub,
    [
      ['PATCH', ORDER, lines('a')],
      ['PATCH', LINE, { text: 'b' }],
    ],
    ['Updated a', 'Updated b'],
  ],
  [
    'a record that is patched by itself, then with its owner',
    () => lineHub,
    [
      ['PATCH', LINE, { text: 'a' }],
      ['PATCH', ORDER, lines('b')],
    ],
    ['Updated a', 'Updated b'],
  ],
  [
    'a record that is patched with its owner, among several, and removed with its owner',
    () => lineHub,
    [
      ['PATCH', ORDER, lines('a')],
      ['PATCH', '/api/lines/bulk', [{ id: 1, text: 'b' }]],
      ['PATCH', ORDER, { lines: [] }],
    ],
    ['Updated a', 'Updated b', 'Deleted 1'],
  ],
  [
    'a record that is made, then patched',
    () => slipHub,
    [
      ['POST', '/api/slips', slip('a')],
      ['PATCH', '/api/slips/x', { text: 'b' }],
    ],
    ['Created a', 'Updated b'],
  ],
  [
    'a record that is made, then removed with its owner',
    () => slipHub,
    [
      ['POST', '/api/slips', slip('a')],
      ['PATCH', ORDER, { slips: [] }],
    ],
    ['Created a', 'Deleted x'],
  ],
  [
    'several records that are made, then deleted',
    () => slipHub,
    [
      ['POST', '/api/slips/bulk', [slip('a'), { ...slip('b'), code: 'y' }]],
      ['POST', '/api/slips/bulk-delete', ['x', 'y']],
    ],
    ['Created a', 'Created b', 'Deleted x', 'Deleted y'],
  ],
  [
    'a record that is made by its key, then removed with its owner',
    () => slipHub,
    [
      ['PUT', '/api/slips/x', slip('a')],
      ['PATCH', ORDER, { slips: [] }],
    ],
    ['Created a', 'Deleted x'],
  ],
  [
    'a record that is replaced, then removed with its owner',
    () => slipHub,
    [
      ['PUT', '/api/slips/there', { text: 'b', orderId: 2 }],
      ['PATCH', '/api/orders/2', { slips: [] }],
    ],
    ['Updated b', 'Deleted there'],
  ],
  [
    'a record that is made or changed, then removed with its owner',
    () => slipHub,
    [
      ['PUT', '/api/slips/bulk?by=code', [slip('a')]],
      ['PUT', '/api/slips/bulk?by=code', [slip('b')]],
      ['PATCH', ORDER, { slips: [] }],
    ],
    ['Created a', 'Updated b', 'Deleted x'],
  ],
]

async function tells(t: ExecutionContext, [title, hub, sent, told]: Contest, isKeyed: boolean): Promise<void> {
  const subscriber = await stage.subscribe(hub())
  const statuses = await inOrder(sent, isKeyed)
  t.true(
    statuses.every((status) => status < 300),
    `${title}: ${statuses}`,
  )
  await until(() => subscriber.received.length >= told.length)
  // What is told besides comes now.
  await wait(50)
  subscriber.socket.disconnect()
  t.deepEqual(toldOf(subscriber), told, title)
}

for (const contest of CONTESTS) {
  const [title, , sent] = contest
  test(`events keep the order of the commits, whoever hears late of his own: ${title}`, (t) => tells(t, contest, false))
  const isKeyed = sent.every(([, path]) => !path.includes('seats') && !path.includes('posts'))
  if (!isKeyed) continue
  test(`so they do where each is done once: ${title}`, (t) => tells(t, contest, true))
}

test('who waits behind a write that fails tells of his own', async (t) => {
  const subscriber = await stage.subscribe(lineHub)
  const failed = send(['PATCH', ORDER, { lines: [{ id: 1, text: 'a' }, { text: 'refused' }] }], { gate: 'never' })
  const patched = send(['PATCH', LINE, { text: 'b' }])
  t.deepEqual([(await failed).status, (await patched).status], [409, 200])
  await until(() => subscriber.received.length > 0)
  await wait(50)
  subscriber.socket.disconnect()
  t.deepEqual(toldOf(subscriber), ['Updated b'])
})

test('a hub that is closed tells what waits for another write first', async (t) => {
  const subscriber = await stage.subscribe(spareHub)
  const spare = (text: string): object => ({ spares: [{ id: 1, text }] })
  let go = (): void => undefined
  gates.set('closing', new Promise((resolve) => (go = resolve)))
  const first = send(['PATCH', ORDER, spare('a')], { gate: 'closing' })
  await until(() => committed.has('closing'))
  const texts = Array.from({ length: 40 }, (_, index) => `b${index}`)
  let arrived = 0
  stage.server.on('request', () => {
    arrived += 1
  })
  const others = texts.map((text) => send(['PATCH', '/api/spares/1', { text }]))
  // On a busy machine some of them would come when the hub is closed, and be told to nobody.
  await until(() => arrived === texts.length)
  await Promise.race([Promise.all(others), wait(1000)])
  const closed = spareHub.close()
  go()
  await closed
  t.is((await first).status, 200)
  t.true((await Promise.all(others)).every(({ status }) => status === 200))
  t.deepEqual(
    toldOf(subscriber),
    ['a', ...texts].map((text) => `Updated ${text}`),
  )
})

test('an owner is told before what is its own, although both wait for another write', async (t) => {
  const heard: string[] = []
  const subscribers = await Promise.all([lineHub, orderHub].map((hub) => stage.subscribe(hub, { forceNew: false })))
  for (const { socket } of subscribers) socket.onAny((_event, told) => heard.push(told.text ?? told.name))
  const statuses = await inOrder([
    ['PATCH', LINE, { text: 'a' }],
    ['PATCH', ORDER, { name: 'owner', ...lines('b') }],
  ])
  t.deepEqual(statuses, [200, 200])
  await until(() => heard.length === 3)
  for (const { socket } of subscribers) socket.disconnect()
  t.deepEqual(heard, ['a', 'owner', 'b'])
})

test('what fails behind the COMMIT fails for the host alone: the write has succeeded, and is told', async (t) => {
  const subscriber = await stage.subscribe(lineHub)
  errors.length = 0
  gates.set('fails', Promise.reject(new Error('behind the COMMIT')))
  gates.get('fails')?.catch(() => undefined)
  const { status } = await send(['PATCH', LINE, { text: 'a' }], { gate: 'fails' })
  t.is(status, 200)
  t.is((await send(['PATCH', ORDER, lines('b')], { gate: 'fails' })).status, 200)
  await until(() => subscriber.received.length === 2)
  subscriber.socket.disconnect()
  t.deepEqual(toldOf(subscriber), ['Updated a', 'Updated b'])
  t.deepEqual(errors.map(String), ['Error: behind the COMMIT', 'Error: behind the COMMIT'])
})

// On SQLite a write waits for the end of the one that is under way, whoever asks for it.
if (stage.name !== 'sqlite') {
  test('a hook of an upsert may ask for other writes of the same resource, and keeps nobody waiting', async (t) => {
    const held = new Promise<void>((resolve) => {
      calling = async () => {
        calling = async () => undefined
        t.is((await send(['POST', '/api/slips', { ...slip('of the hook'), code: 'y' }])).status, 201)
        resolve()
        await wait(300)
      }
    })
    const upserted = send(['PUT', '/api/slips/bulk?by=code', [slip('a')]])
    await held
    const began = performance.now()
    t.is((await send(['POST', '/api/slips', { ...slip('of somebody'), code: 'z' }])).status, 201)
    t.true(performance.now() - began < 250, 'it does not wait for the upsert')
    t.is((await upserted).status, 200)
  })
}
