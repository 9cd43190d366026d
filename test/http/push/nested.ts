// Events of bodies with nested records: one client hears of the resources of all levels over one connection.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudRouter, crudRouter, Operations } from '../../../lib/index.js'
import { openPush, type Subscriber } from '../../support/push.js'

const test = ava.serial

const hubs: CrudRouter[] = []
const stage = await openPush(({ sequelize }, app, io) => {
  const plain = { timestamps: false }
  const name = { name: DataTypes.STRING(20) }
  const Order = sequelize.define('Order', name, plain)
  const Line = sequelize.define('Line', name, plain)
  const Note = sequelize.define('Note', name, plain)
  Order.hasMany(Line, { as: 'lines', foreignKey: 'orderId' })
  Line.hasMany(Note, { as: 'notes', foreignKey: 'lineId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate
  const common = { push: { io }, operations }
  const notes = crudRouter(Note, common)
  const lines = crudRouter(Line, { ...common, relations: { notes: { write: true } } })
  const relations = { lines: { write: true } }
  hubs.push(crudRouter(Order, { ...common, relations }), lines, notes)
  app.use(...hubs)
})
test.after.always(() => stage.close())

const received: string[] = []
let subscribers: readonly Subscriber[] = []

test.before(async () => {
  subscribers = await Promise.all(hubs.map((hub) => stage.subscribe(hub, { forceNew: false })))
  for (const [index, { socket }] of subscribers.entries()) {
    socket.onAny((event: string, argument: unknown) => {
      const text = typeof argument === 'object' ? Reflect.get(Object(argument), 'name') : argument
      if (event.startsWith('On') && !(Number(text) > 1_000_000)) {
        received.push(`${hubs[index]?.resource.name} ${event.slice(2)} ${text}`)
      }
    })
  }
})

/** Sends a request, and returns the events that it causes. */
async function send(method: string, path: string, json: unknown): Promise<readonly string[]> {
  received.length = 0
  const { status, text } = await stage.send(method, path, { json })
  if (status >= 300) throw new Error(text)
  for (const [index, hub] of hubs.entries()) {
    const subscriber = subscribers[index]
    if (subscriber !== undefined) await stage.drain(hub, subscriber)
  }
  return [...received]
}

/** Creates an order with a line that has a note. Returns the order's key. */
async function createOrder(name: string): Promise<number> {
  const json = { name, lines: [{ name: `${name}1`, notes: [{ name: `${name}2` }] }] }
  const { body } = await stage.send('POST', '/api/orders', { json })
  return Number(Reflect.get(Object(body), 'id'))
}

async function idOf(model: string, name: string): Promise<number> {
  return Number((await stage.sequelize.model(model).findOne({ where: { name } }))?.get('id'))
}

test('the events of all parents are sent before the events of their nested records', async (t) => {
  const lines = [{ name: 'x', notes: [{ name: 'y' }] }]
  t.deepEqual(await send('POST', '/api/orders/bulk', [{ name: 'a', lines }, { name: 'b' }, { name: 'c', lines }]), [
    'Order Created a',
    'Order Created b',
    'Order Created c',
    'Line Created x',
    'Line Created x',
    'Note Created y',
    'Note Created y',
  ])
  const [one, two, three] = [await createOrder('d'), await createOrder('e'), await createOrder('f')]
  const [line, note] = [await idOf('Line', 'd1'), await idOf('Note', 'f2')]
  const last = { id: await idOf('Line', 'f1'), name: 'x', notes: [] }
  const bodies = [
    { id: one, name: 'u', lines: [] },
    { id: two, name: 'v' },
    { id: three, name: 'w', lines: [last] },
  ]
  t.deepEqual(await send('PATCH', '/api/orders/bulk', bodies), [
    'Order Updated u',
    'Order Updated v',
    'Order Updated w',
    `Line Deleted ${line}`,
    'Line Updated x',
    `Note Deleted ${note}`,
  ])
})

test('a computed field of the parent that never ends delays the events of nested records for some seconds only', async (t) => {
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const routers: CrudRouter[] = []
  const slow = await openPush(({ sequelize }, app, io) => {
    const plain = { timestamps: false }
    const Box = sequelize.define('Box', { name: DataTypes.STRING(20) }, plain)
    const Item = sequelize.define('Item', { name: DataTypes.STRING(20) }, plain)
    Box.hasMany(Item, { as: 'items', foreignKey: 'boxId' })
    const resolve = (records: readonly unknown[]): Promise<null[]> => held.then(() => records.map(() => null))
    const computed = { weight: { type: 'number', nullable: true, resolve } } as const
    routers.push(crudRouter(Box, { push: { io }, computed, relations: { items: { write: true } } }))
    routers.push(crudRouter(Item, { push: { io } }))
    app.use(...routers)
  })
  t.teardown(() => {
    release()
    return slow.close()
  })
  const [box, item] = await Promise.all(routers.map((hub) => slow.subscribe(hub)))
  const created = new Promise((resolve) => item?.socket.once('OnCreated', resolve))
  const boxes: unknown[] = []
  box?.socket.on('OnCreated', (record) => boxes.push(record))
  const headers = { Prefer: 'return=minimal' }
  const { status } = await slow.send('POST', '/api/boxes', { json: { name: 'a', items: [{ name: 'b' }] }, headers })
  t.is(status, 201)
  t.like(await created, { name: 'b' })
  t.deepEqual(boxes, [])
})
