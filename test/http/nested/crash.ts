// Nested bodies are all or nothing: a process that is killed in the middle of them leaves each order whole or not at all, on
// whatever database it is.

import { join } from 'node:path'
import test from 'ava'
import { databaseName, openDatabase } from '../../support/database.js'
import { defineOrders, SIZE } from '../../support/orders.js'
import { build, likeThis, type Program, start } from '../../support/program.js'
import { serverOptions } from '../../support/servers.js'

const ORDERS = 80
const ENOUGH = 20

/** Creates an order with its lines, one of which has parts; true when the server said that it is there. */
async function createOrder(url: string, number: number): Promise<boolean> {
  const lines = Array.from({ length: SIZE }, (_, place) =>
    place === 0 ? { place, parts: [{ name: 'p' }] } : { place },
  )
  const headers = { 'content-type': 'application/json' }
  try {
    const response = await fetch(`${url}/api/orders`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ number, lines }),
    })
    await response.text()
    return response.status === 201
  } catch {
    return false
  }
}

const WAYS: readonly (readonly [title: string, ...more: readonly string[]])[] = [
  ['that is killed from outside'],
  ['that kills itself between two lines', String(ENOUGH)],
]

for (const [title, ...more] of WAYS) {
  test(`of ${ORDERS} orders with lines and parts each is there whole or not at all behind a process ${title}`, async (t) => {
    const database = await openDatabase()
    const { sequelize } = database
    const { Order, Line, Part } = defineOrders(sequelize)
    await sequelize.sync()
    const options =
      databaseName === 'sqlite'
        ? { dialect: 'sqlite', storage: String(Reflect.get(sequelize, 'options').storage), logging: false }
        : { ...serverOptions(databaseName), database: sequelize.getDatabaseName(), logging: false }
    const programs: Program[] = []
    const begin = async (...args: readonly string[]): Promise<{ readonly program: Program; readonly url: string }> => {
      const program = start([...likeThis, join(build, 'test/support/orderServer.js'), JSON.stringify(options), ...args])
      programs.push(program)
      const [url] = await program.waitForOutput(/http:\S+/)
      return { program, url }
    }
    t.teardown(async () => {
      for (const program of programs) await program.stop('SIGKILL')
      await database.close()
    })
    const { program, url } = await begin(...more)
    const told = new Set<number>()
    const orders = Array.from({ length: ORDERS }, async (_, number) => {
      if (!(await createOrder(url, number))) return
      told.add(number)
      // With hooks the server kills itself, half-way through an order.
      if (more.length === 0 && told.size === ENOUGH) await program.stop('SIGKILL')
    })
    await Promise.all(orders)
    t.is(await program.ended(), 'SIGKILL')
    t.true(told.size > 0 && told.size < ORDERS, `${told.size} orders were answered`)

    const { url: again } = await begin()
    t.true(await createOrder(again, ORDERS), 'another process goes on')
    const stored = await Order.findAll()
    const byOwner = async (model: typeof Line, key: string): Promise<ReadonlyMap<unknown, number>> => {
      const rows = await model.findAll({ attributes: [key], raw: true })
      const owners = rows.map((row) => Reflect.get(row, key))
      return new Map([...new Set(owners)].map((owner) => [owner, owners.filter((each) => each === owner).length]))
    }
    const lines = await byOwner(Line, 'orderId')
    for (const order of stored) t.is(lines.get(order.get('id')), SIZE, `order ${order.get('number')}`)
    t.is(lines.size, stored.length, 'no line is without its order')
    t.is(await Part.count(), stored.length)
    const numbers = new Set(stored.map((order) => Number(order.get('number'))))
    for (const number of told) t.true(numbers.has(number), `order ${number} was answered with 201`)
    t.log(`${told.size} answered, ${stored.length - 1} stored`)
  })
}
