// Clients whose scope is a condition hear of the records that are in it, and of those that leave it. After each write the lists of
// each caller tell which events the caller must have got.

import test, { type ExecutionContext } from 'ava'
import { type CrudRouter, crudRouter, Operations } from '../../../lib/index.js'
import { openPush, type ReceivedEvent, type Subscriber } from '../../support/push.js'
import {
  defineModels,
  EVERY_OPERATION,
  fill,
  modelsOf,
  mountWorld,
  NAMES,
  scopeOfCaller,
} from '../../support/scopeConditions.js'
import type { Answer } from '../../support/server.js'
import { asUser, identityFromHeader } from '../../support/stage.js'

const errors: unknown[] = []
let mounted: CrudRouter | undefined
const stage = await openPush(({ sequelize }, app, io) => {
  const models = defineModels(sequelize, 'push')
  const onError = (error: unknown): void => void errors.push(error)
  const relations = { routes: true, write: true }
  mounted = mountWorld(app, models, 'push', {
    scope: scopeOfCaller,
    onError,
    softDelete: true,
    push: { io },
    operations: EVERY_OPERATION | Operations.Restore,
    relations: { notes: relations, labels: relations, members: relations },
    actions: {
      assign: { on: 'record', method: 'post', handler: ({ record }) => void record?.set('ownerId', 2) },
      slowly: {
        on: 'record',
        method: 'post',
        transaction: false,
        handler: ({ record }) => void record?.set('ownerId', 1),
      },
    },
  }).tickets
  const { Member, TicketLabel } = models
  app.use('/push', crudRouter(Member, { route: 'members', identity: identityFromHeader, onError }))
  app.use('/push', crudRouter(TicketLabel, { route: 'ticket-labels', identity: identityFromHeader, onError }))
})
if (mounted === undefined) throw new TypeError('no router')
const tickets: CrudRouter = mounted

test.beforeEach(async () => {
  await fill(modelsOf(stage.sequelize, 'push'))
})
test.after.always(async () => {
  await stage.close()
})

type Name = (typeof NAMES)[number] | 'root'

const CALLERS: readonly Name[] = [...NAMES, 'root']

type Listed = ReadonlyMap<unknown, unknown>

/** The records that each caller lists, by their keys. */
async function listed(): Promise<ReadonlyMap<Name, Listed>> {
  const lists = new Map<Name, Listed>()
  for (const name of CALLERS) {
    const { body } = await stage.get('/push/tickets?pageSize=100&select=*', asUser(name))
    lists.set(name, new Map(body.items.map((item: { readonly id: number }) => [item.id, item])))
  }
  return lists
}

interface Write {
  readonly title: string
  readonly send: () => Promise<Answer>
  /** The records that are written, in their order; of new ones none are there. */
  readonly keys?: readonly number[]
  /** The records that come to be. */
  readonly made?: number
  /** The keys of records whose own values stay as they are. */
  readonly moved?: readonly number[]
}

const send = (method: string, path: string, json?: unknown): Promise<Answer> =>
  stage.send(method, `/push/tickets${path}`, { headers: asUser('root'), ...(json === undefined ? {} : { json }) })

const WRITES: readonly Write[] = [
  { title: 'POST', send: () => send('POST', '', { title: 'n', ownerId: 1, level: 1, teamId: 1 }), made: 1 },
  {
    title: 'POST with what its conditions read',
    send: () => send('POST', '', { title: 'm', ownerId: 1, members: [{ userId: 1, isLeft: false }], labels: [1] }),
    made: 1,
  },
  {
    title: 'bulk create',
    send: () => send('POST', '/bulk', [{ title: 'a' }, { title: 'b', ownerId: 1 }, { title: 'c', level: 3 }]),
    made: 3,
  },
  { title: 'PATCH that changes no scope', send: () => send('PATCH', '/1', { title: 'x' }), keys: [1] },
  { title: 'PATCH of a value, out', send: () => send('PATCH', '/1', { ownerId: 2 }), keys: [1] },
  { title: 'PATCH of a value, in', send: () => send('PATCH', '/2', { ownerId: 1, level: 3 }), keys: [2] },
  { title: 'PATCH of a foreign key, in', send: () => send('PATCH', '/5', { teamId: 1 }), keys: [5] },
  { title: 'PATCH of a foreign key, out', send: () => send('PATCH', '/1', { teamId: 3 }), keys: [1] },
  {
    title: 'PATCH with links and nested bodies',
    send: () => send('PATCH', '/3', { title: 'y', labels: [1], members: [{ userId: 1, isLeft: false }] }),
    keys: [3],
  },
  {
    title: 'PATCH of links and nested bodies alone',
    send: () => send('PATCH', '/2', { labels: [2], members: [] }),
    moved: [2],
  },
  {
    title: 'bulk update',
    send: () =>
      send(
        'PATCH',
        '/bulk',
        [1, 4, 3, 2].map((id) => ({ id, ownerId: id === 3 ? 1 : 2 })),
      ),
    keys: [1, 4, 3, 2],
  },
  { title: 'PUT', send: () => send('PUT', '/7', { title: 'z', level: 3, ownerId: null, teamId: null }), keys: [7] },
  {
    title: 'upsert',
    send: () =>
      send('PUT', '/bulk?by=title', [
        { title: 'x', ownerId: 2, level: 3 },
        { title: 'u', ownerId: 1 },
      ]),
    keys: [1],
    made: 1,
  },
  { title: 'an action', send: () => send('POST', '/10/assign'), keys: [10] },
  { title: 'an action without a transaction', send: () => send('POST', '/11/slowly'), keys: [11] },
  { title: 'DELETE', send: () => send('DELETE', '/1'), keys: [1] },
  { title: 'restore', send: () => send('POST', '/1/restore'), made: 1 },
  { title: 'bulk delete', send: () => send('POST', '/bulk-delete', [1, 2, 3]), keys: [1, 2, 3] },
]

/** The events that a caller must get, by what the caller listed before and lists afterwards. */
function expected(
  { keys = [], moved = [] }: Write,
  before: Listed,
  after: Listed,
  made: readonly unknown[],
): ReceivedEvent[] {
  const changed = keys.flatMap((key): ReceivedEvent[] => {
    if (after.has(key)) return [['OnUpdated', after.get(key)]]
    return before.has(key) ? [['OnDeleted', key]] : []
  })
  const entered = moved.flatMap((key): ReceivedEvent[] => {
    if (after.has(key) === before.has(key)) return []
    return after.has(key) ? [['OnUpdated', after.get(key)]] : [['OnDeleted', key]]
  })
  const created = made.flatMap((key): ReceivedEvent[] => (after.has(key) ? [['OnCreated', after.get(key)]] : []))
  return [...changed, ...entered, ...created]
}

async function subscribeAll(t: ExecutionContext): Promise<ReadonlyMap<Name, Subscriber>> {
  const all = new Map<Name, Subscriber>()
  for (const name of CALLERS) {
    const subscriber = await stage.subscribe(tickets, { headers: asUser(name) })
    t.is(subscriber.refusal, null, name)
    all.set(name, subscriber)
  }
  return all
}

function disconnect(all: Iterable<Subscriber>): void {
  for (const { socket } of all) socket.disconnect()
}

const drain = (witness: Subscriber): Promise<void> => stage.drain(tickets, witness, (id) => ({ id }))

const newOf = (before: Listed, after: Listed): readonly unknown[] => [...after.keys()].filter((key) => !before.has(key))

test.serial('clients of every shape of scope hear what enters, stays in and leaves their lists', async (t) => {
  const all = await subscribeAll(t)
  const root = all.get('root') as Subscriber
  for (const write of WRITES) {
    const before = await listed()
    const answer = await write.send()
    t.true(answer.status < 300, `${write.title}: ${answer.status} ${answer.text}`)
    await drain(root)
    const after = await listed()
    const made = newOf(before.get('root') as Listed, after.get('root') as Listed)
    t.is(made.length, write.made ?? 0, write.title)
    for (const [name, { received }] of all) {
      const wanted = expected(write, before.get(name) as Listed, after.get(name) as Listed, made)
      t.deepEqual(received.splice(0), wanted, `${write.title}: ${name}`)
    }
    t.deepEqual(errors.splice(0), [])
  }
  disconnect(all.values())
})
