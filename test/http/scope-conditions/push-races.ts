// Writes of many callers at once move the same records in and out of scopes. Whoever follows the events has in the end what the list
// answers.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudRouter, crudRouter, filter, Operations, type Scope } from '../../../lib/index.js'
import { openPush, type Subscriber } from '../../support/push.js'
import { asUser, identityFromHeader } from '../../support/stage.js'

const SCOPES: Readonly<Record<string, Scope | null>> = {
  root: null,
  fixed: { ownerId: 1 },
  next: { ownerId: 2 },
  array: { ownerId: [1, 2] },
  or: filter.or(filter.eq('ownerId', 1), filter.gt('level', 2)),
  member: filter.any('members', filter.eq('userId', 1)),
  other: filter.any('members', filter.eq('userId', 2)),
  both: { fixed: { ownerId: 1 }, where: filter.any('members', filter.eq('userId', 2)) },
  none: filter.none('members', filter.eq('userId', 1)),
}
const NAMES = Object.keys(SCOPES)

const errors: unknown[] = []
let mounted: CrudRouter | undefined
const stage = await openPush(({ sequelize }, app, io) => {
  const plain = { timestamps: false }
  const whole = DataTypes.INTEGER
  const Ticket = sequelize.define('Ticket', { ownerId: whole, level: whole }, plain)
  const Member = sequelize.define('Member', { userId: whole }, plain)
  Ticket.hasMany(Member, { as: 'members', foreignKey: 'ticketId', constraints: false })
  const common = { identity: identityFromHeader, onError: (error: unknown) => errors.push(error) }
  mounted = crudRouter(Ticket, {
    ...common,
    route: 'tickets',
    operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Restore,
    softDelete: true,
    push: { io },
    relations: { members: { write: true } },
    scope: ({ identity }) => SCOPES[identity?.name ?? ''] ?? null,
  })
  app.use(mounted)
  app.use(crudRouter(Member, { ...common, route: 'members', scope: () => null }))
})
if (mounted === undefined) throw new TypeError('no router')
const tickets: CrudRouter = mounted

test.after.always(async () => {
  await stage.close()
})

/** Numbers below a bound, the same each time. */
function numbers(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * bound)
  }
}

type Next = ReturnType<typeof numbers>

const RECORDS = 6

function someBody(next: Next): object {
  const members = Array.from({ length: next(3) }, () => ({ userId: 1 + next(2) }))
  return {
    ...(next(2) === 0 ? { ownerId: 1 + next(3) } : {}),
    ...(next(3) === 0 ? { level: next(5) } : {}),
    ...(next(3) === 0 ? { members } : {}),
  }
}

/** A write of any kind. It may be refused because another one was faster. */
function write(next: Next, ids: readonly number[]): Promise<{ readonly status: number }> {
  const id = ids[next(ids.length)]
  const headers = asUser('root')
  switch (next(6)) {
    case 0:
      return stage.send('DELETE', `/tickets/${id}`, { headers })
    case 1:
      return stage.send('POST', `/tickets/${id}/restore`, { headers })
    case 2: {
      const some = ids.filter(() => next(2) === 0)
      return stage.send('PATCH', '/tickets/bulk', {
        headers,
        json: some.map((each) => ({ id: each, ...someBody(next) })),
      })
    }
    default:
      return stage.send('PATCH', `/tickets/${id}`, { headers, json: someBody(next) })
  }
}

/** What a client has who adds and removes records as events say. */
function kept({ received }: Subscriber): ReadonlyMap<unknown, unknown> {
  const records = new Map<unknown, unknown>()
  for (const [event, argument] of received) {
    if (event === 'OnDeleted') records.delete(argument)
    else records.set((argument as { readonly id: number }).id, argument)
  }
  return records
}

const byKey = ([one]: readonly [unknown, unknown], [other]: readonly [unknown, unknown]): number =>
  Number(one) - Number(other)

for (const seed of [1, 2, 3]) {
  test.serial(`clients have what their lists answer, whoever was faster: ${seed}`, async (t) => {
    const clients = new Map<string, Subscriber>()
    for (const name of NAMES) clients.set(name, await stage.subscribe(tickets, { headers: asUser(name) }))
    await stage.sequelize.model('Member').destroy({ where: {} })
    await stage.sequelize.model('Ticket').destroy({ where: {} })
    const ids: number[] = []
    while (ids.length < RECORDS) {
      const made = await stage.post(
        '/tickets',
        { ownerId: 1 + (ids.length % 3), level: ids.length % 5 },
        asUser('root'),
      )
      ids.push(made.body.id)
    }
    let count = 0
    const next = numbers(seed)
    const writeSome = async (): Promise<void> => {
      for (let times = 0; times < 20; times += 1) {
        const { status } = await write(next, ids)
        t.true([200, 204, 404].includes(status), String(status))
        if (status !== 404) count += 1
      }
    }
    await Promise.all([writeSome(), writeSome(), writeSome(), writeSome()])
    t.true(count > 30, String(count))
    await stage.drain(tickets, clients.get('root') as Subscriber, (id) => ({ id, ownerId: 0 }))
    for (const [name, client] of clients) {
      const { body } = await stage.get('/tickets?pageSize=100', asUser(name))
      const listed = body.items.map((item: { readonly id: number }) => [item.id, item])
      t.deepEqual([...kept(client)].sort(byKey), [...new Map(listed)].sort(byKey) as never, name)
      t.false(
        client.received.some(([event]) => event === 'OnMissed'),
        name,
      )
      client.socket.disconnect()
    }
    t.deepEqual(errors.splice(0), [])
  })
}
