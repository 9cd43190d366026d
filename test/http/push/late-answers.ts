// What is told of a write of one statement whose answer comes late, so that nobody knows whether others wrote the record before
// or after it. The answers go over a wire that keeps them back. SQLite answers in the process itself.

import { setTimeout as wait } from 'node:timers/promises'
import ava from 'ava'
import { DataTypes, Sequelize } from 'sequelize'
import { type CrudRouter, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openPush, type Subscriber } from '../../support/push.js'
import { serverOptions } from '../../support/servers.js'
import { isFast } from '../../support/speed.js'
import { openTcpProxy } from '../../support/wire.js'

const test = databaseName === 'sqlite' || !isFast ? ava.serial.skip : ava.serial

type Sent = readonly [method: string, path: string, json?: unknown]

const PATCH: Sent = ['PATCH', '/api/lines/a', { text: 'patched' }]
const POST: Sent = ['POST', '/api/lines', { code: 'b', text: 'made', orderId: 1 }]
const REMOVE: Sent = ['PATCH', '/api/orders/1', { lines: [] }]
const DELETE: Sent = ['DELETE', '/api/lines/a']
const within = (text: string, code = 'a'): Sent => ['PATCH', '/api/orders/1', { lines: [{ code, text }] }]

/** Without RETURNING a PATCH is a transaction. Its UPDATE follows the answer to BEGIN, and so the other request. */
const isTransaction = databaseName === 'mysql' || databaseName === 'mariadb'

/** What is sent, what is sent while its answer is on its way, and what is told of the two. */
const LATE: readonly (readonly [late: Sent, other: Sent, told: readonly string[]])[] = [
  [PATCH, REMOVE, ['OnDeleted a']],
  [
    PATCH,
    within('of its owner'),
    ['OnUpdated of its owner', isTransaction ? 'OnUpdated patched' : 'OnUpdated of its owner'],
  ],
  [POST, REMOVE, ['OnDeleted a', 'OnDeleted b']],
  [POST, ['POST', '/api/lines/bulk-delete', ['b']], ['OnDeleted b']],
  [DELETE, within('again'), ['OnCreated again']],
  [
    PATCH,
    ['PATCH', '/api/orders/2', { lines: [{ code: 'c', text: 'other' }] }],
    ['OnCreated other', 'OnUpdated patched'],
  ],
]

for (const [late, other, told] of LATE) {
  // Without RETURNING a POST is a transaction, and not committed before its first answer.
  if (late === POST && databaseName === 'mysql') continue
  test(`${JSON.stringify(late)} is told as it turns out beside ${JSON.stringify(other)}`, async (t) => {
    const options = serverOptions(databaseName as 'postgres')
    const wire = await openTcpProxy(Number(options.port))
    const all: Sequelize[] = []
    let hub!: CrudRouter
    const stage = await openPush(({ sequelize }, app, io) => {
      const database = sequelize.getDatabaseName()
      all.push(new Sequelize({ ...options, host: 'localhost', port: wire.port, database, logging: false }))
      const routers = [sequelize, ...all].map((each) => {
        const plain = { timestamps: false }
        const Order = each.define('Order', { name: DataTypes.STRING(20) }, plain)
        const code = { type: DataTypes.STRING(10), primaryKey: true }
        const Line = each.define('Line', { code, text: DataTypes.STRING(20) }, plain)
        Order.hasMany(Line, { as: 'lines', foreignKey: { name: 'orderId', allowNull: false } })
        return { Order, Line }
      })
      const { Order, Line } = routers[1] as (typeof routers)[number]
      hub = crudRouter(Line, { push: { io }, operations: Operations.AllWithBulk })
      app.use(hub, crudRouter(Order, { relations: { lines: { write: true } } }))
    })
    t.teardown(async () => {
      for (const each of all) await each.close()
      await wire.close()
      await stage.close()
    })
    await stage.sequelize.model('Order').bulkCreate([{ id: 1 }, { id: 2 }])
    await stage.sequelize.model('Line').create({ code: 'a', text: 'old', orderId: 1 })
    const send = async ([method, path, json]: Sent): Promise<number> =>
      (await stage.send(method, path, { json })).status
    // The catalogue is read before the first record is made.
    t.is(await send(['POST', '/api/lines', { code: 'z', text: 'first', orderId: 2 }]), 201)
    t.is(await send(['DELETE', '/api/lines/z']), 204)
    const subscriber = await stage.subscribe(hub)
    // One connection is open then, which the first of them takes.
    t.is(await send(['GET', '/api/lines/a']), 200)
    wire.holdReplies()
    const first = send(late)
    await wait(100)
    const status = await send(other)
    wire.release()
    const readBack = late === PATCH && other === REMOVE && isTransaction ? 404 : null
    t.true(status < 300, String(status))
    t.true((await first) < 300 || (await first) === readBack, String(await first))
    await wait(150)
    t.deepEqual(toldOf(subscriber), told)
  })
}

function toldOf({ received }: Subscriber): readonly string[] {
  return received.map(([event, told]) => `${event} ${event === 'OnDeleted' ? told : Object(told).text}`)
}
