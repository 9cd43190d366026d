// Rooms of push by the condition of a scope: who shares one, how many there may be, what they cost, and what the host's own code tells.

import test from 'ava'
import { DataTypes, type Model } from 'sequelize'
import {
  type CrudRouter,
  crudRouter,
  filter,
  type Hook,
  type Identity,
  Operations,
  type Scope,
} from '../../../lib/index.js'
import { openPush, type Subscriber } from '../../support/push.js'
import { isFast } from '../../support/speed.js'
import { asUser, identityFromHeader } from '../../support/stage.js'

const SCOPES: Readonly<Record<string, Scope | null>> = {
  root: null,
  one: { ownerId: [1, 2] },
  same: { ownerId: [2, 1, 2] },
  other: { ownerId: [3] },
  third: { ownerId: [4] },
  values: { fixed: { ownerId: 3 }, where: filter.gt('id', 0) },
  equal: { where: filter.gt('id', 0), fixed: { ownerId: 3 } },
  fixed: { ownerId: 1 },
  next: { ownerId: 2 },
  text: filter.eq('title', '"]#0'),
  nobody: { ownerId: [] },
  both: { ownerId: [1, 2], title: ['x', 'y'] },
  turned: { title: ['y', 'x'], ownerId: [2, 1] },
  every: filter.gt('id', 0),
  wrong: 'ownrId=1',
  moment: filter.lt('since', new Date('2020-01-01T00:00:00Z')),
}

/** The scope of a caller by name. `user 7` has the tickets with this member. */
function scopeOf(name: string): Scope | null {
  const [, user] = /^user (\d+)$/.exec(name) ?? []
  return user === undefined ? (SCOPES[name] ?? null) : filter.any('members', filter.eq('userId', Number(user)))
}

/** The identity of the headers. A name such as `one editor` has the scope `one` and the role `editor`. */
function identityWithRole(request: { readonly headers: object }): Identity | null {
  const identity = identityFromHeader(request)
  const [name = '', role] = identity?.name?.split(' ') ?? []
  return identity === null ? null : { ...identity, name, roles: new Set(role === undefined ? [] : [role]) }
}

/** A hook that gives the record to user 2. */
function giveAway(record: Model): void {
  if (record.get('title') === 'given') record.set('ownerId', 2)
}

const errors: unknown[] = []
/** Runs while an event is made, between the conditions of its record and what is shown of it. */
let between = async (): Promise<void> => undefined

let routers: Readonly<Record<'masked' | 'tickets' | 'few' | 'slow' | 'hooked' | 'noted', CrudRouter>> | undefined
const stage = await openPush(({ sequelize }, app, io) => {
  const plain = { timestamps: false }
  const Ticket = sequelize.define(
    'Ticket',
    { title: DataTypes.STRING, ownerId: DataTypes.INTEGER, since: DataTypes.DATE },
    plain,
  )
  const Member = sequelize.define('Member', { userId: DataTypes.INTEGER }, plain)
  Ticket.hasMany(Member, { as: 'members', foreignKey: 'ticketId', constraints: false })
  const common = {
    identity: identityFromHeader,
    push: { io },
    onError: (error: unknown) => errors.push(error),
    scope: ({ identity }: { readonly identity: { readonly name: string | null } | null }) =>
      scopeOf(identity?.name ?? ''),
  }
  app.use(
    crudRouter(Member, {
      route: 'members',
      createPolicy: () => true,
      updatePolicy: () => true,
      deletePolicy: () => true,
    }),
  )
  const Note = sequelize.define('Note', { title: DataTypes.STRING, ownerId: DataTypes.INTEGER }, plain)
  Note.addHook('beforeUpdate', giveAway)
  const beforeUpdate: Hook = ({ instance }) => giveAway(instance)
  routers = {
    masked: crudRouter(Ticket, { ...common, route: 'masked', mask: { title: 'editor' }, identity: identityWithRole }),
    hooked: crudRouter(Ticket, { ...common, route: 'hooked', hooks: { beforeUpdate } }),
    noted: crudRouter(Note, { ...common, route: 'noted' }),
    tickets: crudRouter(Ticket, { ...common, route: 'tickets' }),
    few: crudRouter(Ticket, { ...common, route: 'few', limits: { pushRooms: 2 } }),
    slow: crudRouter(Ticket, {
      ...common,
      route: 'slow',
      operations: Operations.AllWithBulk,
      computed: {
        size: {
          type: 'number',
          nullable: true,
          needs: ['id'],
          resolve: async (records, { request }) => {
            if (request === null) await between()
            return records.map(() => null)
          },
        },
      },
    }),
  }
  for (const router of Object.values(routers)) app.use(router)
})
if (routers === undefined) throw new TypeError('no routers')
const { masked, tickets, few, slow, hooked, noted } = routers
const Ticket = stage.sequelize.model('Ticket')
const Member = stage.sequelize.model('Member')

test.after.always(async () => {
  await stage.close()
})

const connect = (name: string, router: CrudRouter = tickets): Promise<Subscriber> =>
  stage.subscribe(router, { headers: asUser(name) })

/** Connects somebody and lets go of them again. */
async function together<T>(names: readonly string[], work: (all: readonly Subscriber[]) => Promise<T>): Promise<T> {
  const all = await Promise.all(names.map((name) => connect(name)))
  try {
    return await work(all)
  } finally {
    for (const { socket } of all) socket.disconnect()
    await emptied(tickets)
  }
}

/** Resolves when the server has seen that all clients are gone. */
async function emptied({ resource: { hub } }: CrudRouter): Promise<void> {
  while ((hub?.sockets.size ?? 0) > 0) await new Promise((resolve) => setImmediate(resolve))
}

/** The rooms of clients, without the slices of crowds. */
const roomsOf = ({ resource: { hub } }: CrudRouter): readonly string[] =>
  [...(hub?.adapter.rooms.keys() ?? [])].filter(
    (room) => room.startsWith('sequelize-crud-router:') && !/#\d+$/.test(room),
  )

const drain = (witness: Subscriber): Promise<void> => stage.drain(tickets, witness, (id) => ({ id, ownerId: 0 }))

/** The statements of some work, by what they do. */
async function statementsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const { length } = stage.statements
  await work()
  return stage.statements.slice(length)
}

const asksIn = (statements: readonly string[]): readonly string[] =>
  statements.filter((sql) => /CASE WHEN|\b_v\b/.test(sql))

test.serial('clients whose scopes are equal share a room, and others do not', async (t) => {
  await together(['one', 'same'], async () => t.is(roomsOf(tickets).length, 1))
  await together(['values', 'equal'], async () => t.is(roomsOf(tickets).length, 1))
  await together(['both', 'turned'], async () => t.is(roomsOf(tickets).length, 1))
  await together(['one', 'other', 'values', 'user 1', 'user 2', 'fixed', 'text', 'nobody'], async () => {
    t.is(roomsOf(tickets).length, 8)
  })
  t.deepEqual(roomsOf(tickets), [])
})

test.serial('a condition that is wrong refuses the client, and the reason reaches onError', async (t) => {
  const { refusal } = await connect('wrong')
  t.like(refusal?.data, { status: 500 })
  t.regex(String(errors.splice(0)[0]), /Unknown field "ownrId"/)
})

test.serial('there are no more rooms by condition than the limit, and a room goes with its last client', async (t) => {
  const [one, other] = [await connect('one', few), await connect('other', few)]
  const third = await connect('third', few)
  t.like(third.refusal?.data, { status: 503, code: 'unavailable' })
  t.regex(JSON.stringify(third.refusal?.data), /The limit is 2 \(pushRooms\)\. Try again later/)
  t.regex(
    String(errors.splice(0)[0]),
    /a client of \/few\/hub was refused, because it would need more rooms than limits\.pushRooms allows/,
  )
  // Rooms that are there, and rooms by values, have no limit.
  for (const name of ['same', 'fixed', 'root']) t.is((await connect(name, few)).refusal, null, name)
  const left = new Promise((resolve) => few.resource.hub?.sockets.values().next().value?.once('disconnect', resolve))
  other.socket.disconnect()
  one.socket.disconnect()
  await left
  while (roomsOf(few).length > 3) await new Promise((resolve) => setImmediate(resolve))
  const again = await connect('third', few)
  t.is(again.refusal, null)
  few.resource.hub?.disconnectSockets()
  await emptied(few)
})

// Without optimizations, a write reads its record by further statements.
const counted = isFast ? test.serial : test.serial.skip
counted('rooms of one shape are asked by one statement before a write and by one behind it', async (t) => {
  const { id } = await Ticket.create({ ownerId: 1 } as never).then((made) => made.get() as { id: number })
  await Member.create({ ticketId: id, userId: 1 } as never)
  const patch = async (): Promise<void> => {
    t.is((await stage.patch(`/tickets/${id}`, { title: 'a' }, asUser('root'))).status, 200)
  }
  const alone = await together(['root'], ([root]) =>
    statementsOf(async () => {
      await patch()
      await drain(root as Subscriber)
    }),
  )
  t.is(asksIn(alone).length, 0)
  for (const count of [1, 2, 3, 4, 30]) {
    const users = Array.from({ length: count }, (_, index) => `user ${index + 1}`)
    await together(['root', ...users], async ([root, first, ...others]) => {
      const statements = await statementsOf(async () => {
        await patch()
        await drain(root as Subscriber)
      })
      t.deepEqual(
        first?.received.map(([event]) => event),
        ['OnUpdated'],
      )
      t.deepEqual(
        others.flatMap(({ received }) => received),
        [],
      )
      t.is(asksIn(statements).length, 2, `${count} rooms`)
    })
  }
})

test.serial('clients of one fixed value hear of what leaves, and cost no statement where nothing moves', async (t) => {
  const { id } = await Ticket.create({ title: 'x', ownerId: 1 } as never).then((made) => made.get() as { id: number })
  const send = async (json: object): Promise<void> => {
    t.is((await stage.patch(`/tickets/${id}`, json, asUser('root'))).status, 200)
  }
  const before = await together(['root'], ([root]) =>
    statementsOf(async () => {
      await send({ title: 'w' })
      await drain(root as Subscriber)
    }),
  )
  await together(['root', 'fixed', 'next'], async ([root, fixed, next]) => {
    const statements = await statementsOf(async () => {
      await send({ title: 'y' })
      await drain(root as Subscriber)
    })
    t.is(statements.length, before.length)
    await send({ ownerId: 2 })
    await send({ ownerId: 2 })
    await drain(root as Subscriber)
    const record = (title: string, ownerId: number) => ({ id, title, ownerId, since: null })
    t.deepEqual(fixed?.received, [
      ['OnUpdated', record('y', 1)],
      ['OnDeleted', id],
    ])
    t.deepEqual(next?.received, [
      ['OnUpdated', record('y', 2)],
      ['OnUpdated', record('y', 2)],
    ])
  })
})

test.serial(
  'clients of rooms by condition see masked fields only if they may, whoever else is in such rooms',
  async (t) => {
    const names = ['one editor', 'one', 'same editor', 'same', 'root editor', 'root', 'fixed editor', 'fixed']
    for (const order of [names, names.toReversed()]) {
      const all = await Promise.all(order.map(async (name) => [name, await connect(name, masked)] as const))
      const { id } = (await stage.post('/masked', { title: 'secret', ownerId: 1 }, asUser('root editor'))).body
      const witness = all.find(([name]) => name === 'root')?.[1]
      await stage.drain(masked, witness as Subscriber, (key) => ({ id: key, ownerId: 0 }))
      for (const [name, { received }] of all) {
        const title = name.endsWith('editor') ? 'secret' : null
        t.deepEqual(received, [['OnCreated', { id, title, ownerId: 1, since: null }]], name)
      }
      masked.resource.hub?.disconnectSockets()
      await emptied(masked)
    }
  },
)

test.serial('a client with a fixed value and a condition receives one OnDeleted if the value changes', async (t) => {
  await together(['root', 'values', 'fixed', 'next'], async ([root, values, fixed, next]) => {
    const { id } = await Ticket.create({ title: 'x', ownerId: 3 } as never).then((made) => made.get() as { id: number })
    t.is((await stage.patch(`/tickets/${id}`, { ownerId: 1 }, asUser('root'))).status, 200)
    t.is((await stage.patch(`/tickets/${id}`, { ownerId: 2 }, asUser('root'))).status, 200)
    await drain(root as Subscriber)
    const record = (ownerId: number) => ['OnUpdated', { id, title: 'x', ownerId, since: null }]
    t.deepEqual(values?.received, [['OnDeleted', id]])
    t.deepEqual(fixed?.received, [record(1), ['OnDeleted', id]])
    t.deepEqual(next?.received, [record(2)])
    t.deepEqual(root?.received, [record(1), record(2)])
  })
})

test.serial('a client of one fixed value hears of what leaves also if nobody else listens', async (t) => {
  await together(['fixed'], async ([fixed]) => {
    const { id } = await Ticket.create({ title: 'x', ownerId: 1 } as never).then((made) => made.get() as { id: number })
    t.is((await stage.patch(`/tickets/${id}`, { ownerId: 2 }, asUser('root'))).status, 200)
    await stage.drain(tickets, fixed as Subscriber, (key) => ({ id: key, ownerId: 1 }))
    t.deepEqual(fixed?.received, [['OnDeleted', id]])
  })
})

test.serial('clients of one fixed value receive OnDeleted if a hook moves the record out of their scope', async (t) => {
  for (const router of [hooked, noted]) {
    const { route, model } = router.resource
    const { id } = await model.create({ title: 'x', ownerId: 1 }).then((made) => made.get() as { id: number })
    const all = await Promise.all(['fixed', 'next', 'root'].map((name) => connect(name, router)))
    t.is((await stage.patch(`${route}/${id}`, { title: 'given' }, asUser('root'))).status, 200)
    await stage.drain(router, all[2] as Subscriber, (key) => ({ id: key, ownerId: 0 }))
    t.deepEqual(
      all.map(({ received }) => received.map(([event]) => event)),
      [['OnDeleted'], ['OnUpdated'], ['OnUpdated']],
      route,
    )
    router.resource.hub?.disconnectSockets()
    await emptied(router)
  }
})

test.serial('what the host tells reaches rooms by condition', async (t) => {
  const { notify } = tickets
  if (notify === null) throw new TypeError('no hub')
  await together(['root', 'one', 'other', 'fixed', 'next'], async ([root, ...others]) => {
    const record = await Ticket.create({ ownerId: 1 } as never)
    const id = Number(record.get('id'))
    const shown = { id, title: null, ownerId: 1, since: null }
    notify.created(id)
    notify.updated(id)
    await drain(root as Subscriber)
    // Before a move, and before the end.
    const tellMove = await notify.deleting(id)
    await record.update({ ownerId: 3 })
    tellMove()
    notify.updated(id)
    await drain(root as Subscriber)
    const tellEnd = await notify.deleting(id)
    await record.destroy()
    tellEnd()
    const tellNothing = await notify.deleting(id)
    tellNothing()
    await drain(root as Subscriber)
    const first = [
      ['OnCreated', shown],
      ['OnUpdated', shown],
    ]
    const second = [['OnUpdated', { ...shown, ownerId: 3 }]]
    const gone = [['OnDeleted', id]]
    const heard = others.map((other) => other.received)
    t.deepEqual(heard, [[...first, ...gone], [...second, ...gone], [...first, ...gone], []])
    t.deepEqual(root?.received, [...first, ...gone, ...second, ...gone])
  })
})

test.serial('a record that has left a scope by the time it is told of is not shown', async (t) => {
  const [root, one, other] = await Promise.all(['root', 'one', 'other'].map((name) => connect(name, slow)))
  const [first, second] = [
    await Ticket.create({ ownerId: 1 }),
    await Ticket.create({ title: 'secret of 1', ownerId: 1 }),
  ]
  const [firstId, secondId] = [Number(first.get('id')), Number(second.get('id'))]
  // Events are made one by one. The second event waits for its turn while its record is given to somebody else.
  between = async () => {
    between = async () => undefined
    await second.update({ title: 'secret of 3', ownerId: 3 })
  }
  slow.notify?.updated(firstId)
  slow.notify?.updated(secondId)
  await stage.drain(slow, root as Subscriber, (id) => ({ id, ownerId: 0 }))
  const shown = { since: null, size: null }
  t.deepEqual(one?.received, [['OnUpdated', { ...shown, id: firstId, title: null, ownerId: 1 }]])
  t.deepEqual(other?.received, [['OnUpdated', { ...shown, id: secondId, title: 'secret of 3', ownerId: 3 }]])
  t.notRegex(String(one?.frames), /secret/)
  slow.resource.hub?.disconnectSockets()
  await emptied(slow)
})

test.serial('a record that leaves a scope while its event is made is not shown', async (t) => {
  const [root, one, other] = await Promise.all(['root', 'one', 'user 1'].map((name) => connect(name, slow)))
  between = async () => {
    between = async () => undefined
    await Ticket.update({ title: 'secret of 3', ownerId: 3 }, { where: { title: 'second' } })
  }
  const titles = ['first', 'second', 'third']
  const { status, text } = await stage.post(
    '/slow/bulk',
    titles.map((title) => ({ title, ownerId: 1 })),
    asUser('root'),
  )
  t.is(status, 201, text)
  await stage.drain(slow, root as Subscriber, (id) => ({ id, ownerId: 0 }))
  t.deepEqual(
    one?.received.map(([event, record]) => [event, (record as { readonly title: string }).title]),
    [
      ['OnCreated', 'first'],
      ['OnCreated', 'third'],
    ],
  )
  t.deepEqual(other?.received, [])
  t.notRegex(String(one?.frames), /secret/)
  slow.resource.hub?.disconnectSockets()
  await emptied(slow)
})

test.serial('clients of other rooms receive a record that leaves one scope while its event is made', async (t) => {
  const all = await Promise.all(['every', 'one', 'same', 'user 1', 'root'].map((name) => connect(name, slow)))
  between = async () => {
    between = async () => undefined
    await Ticket.update({ title: 'moved', ownerId: 3 }, { where: { title: 'early' } })
  }
  const bodies = ['first', 'early'].map((title) => ({ title, ownerId: 1 }))
  t.is((await stage.post('/slow/bulk', bodies, asUser('root'))).status, 201)
  const [every, one, same, user, root] = all
  await stage.drain(slow, root as Subscriber, (id) => ({ id, ownerId: 0 }))
  const titlesOf = (client: Subscriber | undefined) =>
    client?.received.map(([event, record]) => [event, (record as { readonly title: string }).title])
  t.deepEqual(titlesOf(every)?.slice(0, 2), [
    ['OnCreated', 'first'],
    ['OnCreated', 'moved'],
  ])
  for (const client of [one, same]) t.deepEqual(titlesOf(client), [['OnCreated', 'first']])
  t.deepEqual(titlesOf(user), [])
  slow.resource.hub?.disconnectSockets()
  await emptied(slow)
})

test.serial('conditions with texts, instants and none at all choose their records alone', async (t) => {
  await together(['root', 'text', 'moment', 'nobody'], async ([root, text, moment, nobody]) => {
    const titles = ['"]#0', '"]#1', null]
    for (const title of titles) {
      const { status } = await stage.post(
        '/tickets',
        { title, since: title === null ? '2019-01-01T00:00:00Z' : null },
        asUser('root'),
      )
      t.is(status, 201)
    }
    await drain(root as Subscriber)
    t.like(text?.received, { length: 1, 0: ['OnCreated', { title: '"]#0' }] as never })
    t.like(moment?.received, { length: 1, 0: ['OnCreated', { title: null }] as never })
    t.deepEqual(nobody?.received, [])
  })
})
