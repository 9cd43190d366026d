// Servers that a Socket.IO adapter connects ask for the rooms by condition of each other, and a write within a transaction of the
// host's is told of behind its commit.

import test, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { type CrudRouter, crudRouter, filter, type Scope } from '../../../lib/index.js'
import { Namespace } from '../../support/continuation.js'
import { openPush, type PushStage, type Subscriber, waitUntil } from '../../support/push.js'
import { asUser, identityFromHeader } from '../../support/stage.js'
import { deliverAtOnce, type InProcessCluster, openInProcessCluster } from '../../support/wires.js'

Sequelize.useCLS(new Namespace())

const SCOPES: Readonly<Record<string, Scope | null>> = {
  root: null,
  path: filter.any('members', filter.eq('userId', 1)),
  array: { ownerId: [1, 3] },
  other: { ownerId: [2] },
}

interface Server extends PushStage {
  readonly hub: CrudRouter
}

/** The models of the first server are those of all. */
function modelsOf(sequelize: Sequelize): readonly [ModelStatic<Model>, ModelStatic<Model>] {
  const plain = { timestamps: false }
  const Ticket = sequelize.define('Ticket', { title: DataTypes.STRING, ownerId: DataTypes.INTEGER }, plain)
  const Member = sequelize.define('Member', { userId: DataTypes.INTEGER }, plain)
  Ticket.hasMany(Member, { as: 'members', foreignKey: 'ticketId', constraints: false })
  return [Ticket, Member]
}

/** The end of the transaction of the latest request. */
let committed: Promise<void> = Promise.resolve()

interface Servers {
  readonly wire: InProcessCluster
  /** One more server, over the tables of the first. */
  readonly open: () => Promise<Server>
}

function openServers(t: ExecutionContext): Servers {
  const wire = openInProcessCluster()
  let models: readonly [ModelStatic<Model>, ModelStatic<Model>] | undefined
  const open = async (): Promise<Server> => {
    const hubs: CrudRouter[] = []
    const stage = await openPush(
      ({ sequelize }, app, io) => {
        const isFirst = models === undefined
        models ??= modelsOf(sequelize)
        const [Ticket, Member] = models
        const common = { identity: identityFromHeader, onError: (error: unknown) => t.fail(String(error)) }
        const router = crudRouter(Ticket, {
          ...common,
          route: 'tickets',
          push: { io },
          relations: { members: { write: true } },
          scope: ({ identity }) => SCOPES[identity?.name ?? ''] ?? null,
        })
        hubs.push(router)
        app.use('/hosted', async (request, response, next) => {
          const transaction = Ticket.sequelize?.transaction(async () => {
            const end = new Promise((resolve) => response.once('finish', resolve))
            next()
            await end
            if (request.query.fails !== undefined) throw new Error('the host has changed its mind')
          })
          committed = Promise.resolve(transaction).then(
            () => undefined,
            () => undefined,
          )
          await committed
        })
        app.use('/hosted', router)
        app.use(router)
        if (isFirst) app.use(crudRouter(Member, { ...common, route: 'members', scope: () => null }))
      },
      { adapter: wire.adapter },
    )
    const [hub] = hubs
    if (hub === undefined) throw new TypeError('no hub')
    return { ...stage, hub }
  }
  const servers: Server[] = []
  t.teardown(async () => {
    for (const { close } of servers.toReversed()) await close()
  })
  return {
    wire,
    open: async () => {
      const server = await open()
      servers.push(server)
      return server
    },
  }
}

const connect = ({ subscribe, hub }: Server, name: string): Promise<Subscriber> =>
  subscribe(hub, { headers: asUser(name) })

test.serial(
  'what one server writes reaches the rooms by condition of another, and what leaves them as well',
  async (t) => {
    const { open } = openServers(t)
    const [one, two] = [await open(), await open()]
    const witness = await connect(two, 'root')
    const [path, array, other] = [await connect(two, 'path'), await connect(two, 'array'), await connect(two, 'other')]
    const near = await connect(one, 'path')
    const own = await connect(one, 'root')
    const mark = (id: number) => ({ id, ownerId: 0 })
    const send = async (method: string, route: string, json?: object): Promise<number> => {
      const answer = await one.send(method, route, { headers: asUser('root'), ...(json && { json }) })
      t.true(answer.status < 300, answer.text)
      await one.drain(one.hub, own, mark)
      await two.drain(two.hub, witness, mark)
      return answer.body?.id
    }
    const id = await send('POST', '/tickets', { title: 'a', ownerId: 1, members: [{ userId: 1 }] })
    await send('PATCH', `/tickets/${id}`, { ownerId: 2, members: [] })
    await send('PATCH', `/tickets/${id}`, { ownerId: 3 })
    await send('DELETE', `/tickets/${id}`)
    const shown = (ownerId: number) => ({ id, title: 'a', ownerId })
    t.deepEqual(array.received, [
      ['OnCreated', shown(1)],
      ['OnDeleted', id],
      ['OnUpdated', shown(3)],
      ['OnDeleted', id],
    ])
    const told = [
      ['OnCreated', shown(1)],
      ['OnDeleted', id],
    ]
    t.deepEqual(path.received, told)
    t.deepEqual(near.received, told)
    t.deepEqual(other.received, [
      ['OnUpdated', shown(2)],
      ['OnDeleted', id],
    ])
    t.false([own, witness].some(({ received }) => received.some(([event]) => event === 'OnMissed')))
  },
)

test.serial(
  'a write in a transaction of the host is told of behind its commit, and not at all behind its rollback',
  async (t) => {
    const one = await openServers(t).open()
    const root = await connect(one, 'root')
    const [array, other] = [await connect(one, 'array'), await connect(one, 'other')]
    const drain = (): Promise<void> => one.drain(one.hub, root, (key) => ({ id: key, ownerId: 0 }))
    const { body } = await one.post('/tickets', { title: 'a', ownerId: 1 }, asUser('root'))
    const move = async (query: string, ownerId: number): Promise<void> => {
      const { status } = await one.patch(`/hosted/tickets/${body.id}${query}`, { ownerId }, asUser('root'))
      t.is(status, 200)
      await committed
    }
    await move('?fails', 2)
    await drain()
    t.deepEqual(array.received.splice(0), [['OnCreated', { id: body.id, title: 'a', ownerId: 1 }]])
    t.deepEqual(other.received, [])
    await move('', 2)
    await drain()
    t.deepEqual(array.received, [['OnDeleted', body.id]])
    t.deepEqual(other.received, [['OnUpdated', { id: body.id, title: 'a', ownerId: 2 }]])
    t.false(root.received.some(([event]) => event === 'OnMissed'))
  },
)

test.serial('a server that does not know yet who listens elsewhere tells those to list again', async (t) => {
  const { wire, open } = openServers(t)
  const one = await open()
  const [array, other] = [await connect(one, 'array'), await connect(one, 'other')]
  const root = await connect(one, 'root')
  const { body } = await one.post('/tickets', { title: 'a', ownerId: 1 }, asUser('root'))
  await one.drain(one.hub, root, (id) => ({ id, ownerId: 0 }))
  // What the first server repeats for the second one does not arrive.
  wire.isLost = (text) => text.includes('router:held')
  const two = await open()
  let go = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  wire.publish = () => gate
  t.is((await two.patch(`/tickets/${body.id}`, { ownerId: 2 }, asUser('root'))).status, 200)
  wire.publish = deliverAtOnce
  go()
  await waitUntil(array.socket, () => array.received.length > 1)
  await waitUntil(other.socket, () => other.received.length > 0)
  t.deepEqual(array.received.slice(1), [['OnMissed', undefined]])
  t.deepEqual(other.received, [['OnUpdated', { id: body.id, title: 'a', ownerId: 2 }]])
})
