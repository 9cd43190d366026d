import test from 'ava'
import express from 'express'
import { crudRouter } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { NORTHWIND } from '../../support/schemas/northwind/schema.js'
import { serveSchema } from '../../support/schemas/schema.js'
import { walkSchema } from '../../support/schemas/walk.js'
import { serve } from '../../support/server.js'

const northwind = await serveSchema(NORTHWIND)
test.after.always(() => northwind.close())

test.serial('a table with a blank in its name and money, floating point and a UUID in it has a resource', async (t) => {
  const rowId = '0b1c2d3e-0000-4000-8000-000000000001'
  const { body } = await northwind.get(`/api/orderdetails/${rowId}`)
  t.deepEqual(body, { orderId: 8, productId: 6, unitPrice: 1.45, quantity: 12, discount: 0.05, rowId })
  const filter = 'Details.Any(Discount=0.25,Quantity>30),Shipper.CompanyName$Express'
  const orders = await list(northwind, '/api/orders', { filter, select: 'orderId,employee.manager.lastName,freight' })
  t.is(orders.status, 200, orders.text)
  t.deepEqual(orders.body.items, [{ orderId: 10, employee: { manager: { lastName: 'Fuller' } }, freight: '81.3800' }])
  t.true(northwind.database.statements.some((sql) => /FROM .Order Details./.test(sql)))
})

test.serial(
  'tables that are nothing but pairs of keys are resources whose records have two keys in their path',
  async (t) => {
    const app = express()
    const router = crudRouter(northwind.models.EmployeeTerritory)
    app.use(router)
    const server = await serve(app)
    t.teardown(async () => {
      await server.close()
      await router.close()
    })
    const { items, totalCount } = (await server.get('/api/employeeterritories')).body
    t.true(totalCount > 0)
    const [pair] = items
    const { status, body } = await server.get(`/api/employeeterritories/${pair.employeeId}~${pair.territoryId}`)
    t.is(status, 200)
    t.deepEqual(body, pair)
  },
)

test.serial('a key of fixed length is its text, neither padded nor folded', async (t) => {
  const statusOf = async (key: string): Promise<number> =>
    (await northwind.get(`/api/customers/${encodeURIComponent(key)}`)).status
  t.is(await statusOf('ALFKI'), 200)
  t.is(await statusOf('alfki'), 404)
  t.is(await statusOf('ALFKI '), 404)
  t.is(await statusOf('a/b'), 200)
  t.is(await statusOf('a/b  '), 404)
  t.is(await statusOf('BULK'), 404)
  const counted = async (filter: string): Promise<unknown> =>
    (await list(northwind, '/api/orders', { filter, count: true })).body.count
  const all = await counted('')
  const some = Number(await counted('customerId=BLAUS'))
  t.true(some > 0)
  t.is(await counted('customerId=BLAUS\\ '), 0)
  t.is(await counted('customerId!=BLAUS\\ '), all)
  t.is(await counted('customerId=in=BLAUS\\ ;blaus'), 0)
  t.is(await counted('customerId=BLAUS\\ /i'), 0)
  t.is(await counted('customerId=blaus/i'), some)
  t.is(await counted('customerId$US'), some)
  t.is(await counted('customerId=*\\ '), await counted('customerId=*\\ é'))
})

walkSchema(northwind)
