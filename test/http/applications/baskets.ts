// A shop: baskets hold products in quantities. The quantity is an attribute of the link, of which the row has a resource
// of its own with the two keys as its key.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { authenticated, createCrud, filter, hasRole, Operations, openApi } from '../../../lib/index.js'
import { INFO } from '../../support/documented.js'
import { accountOf, addLogin, defineAccounts, identity, logIn } from '../../support/login.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

function define(sequelize: Sequelize) {
  const options = { timestamps: false, underscored: true }
  const Product = sequelize.define(
    'product',
    {
      sku: { type: DataTypes.STRING(20), primaryKey: true },
      label: DataTypes.STRING(40),
      price_cents: { type: DataTypes.INTEGER, allowNull: false },
      is_sold: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: true },
    },
    options,
  )
  const Basket = sequelize.define(
    'basket',
    { basket_name: DataTypes.STRING(40), account_id: { type: DataTypes.INTEGER, allowNull: false } },
    options,
  )
  const Item = sequelize.define(
    'basket_item',
    {
      basket_id: { type: DataTypes.INTEGER, primaryKey: true },
      sku: { type: DataTypes.STRING(20), primaryKey: true },
      quantity: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 1, validate: { min: 1, max: 99 } },
      gift_note: DataTypes.STRING(40),
    },
    options,
  )
  Basket.belongsToMany(Product, { as: 'products', through: Item, foreignKey: 'basket_id', otherKey: 'sku' })
  Product.belongsToMany(Basket, { as: 'baskets', through: Item, foreignKey: 'sku', otherKey: 'basket_id' })
  Item.belongsTo(Basket, { as: 'basket', foreignKey: 'basket_id' })
  Item.belongsTo(Product, { as: 'product', foreignKey: 'sku' })
  Basket.hasMany(Item, { as: 'items', foreignKey: 'basket_id' })
  return { Product, Basket, Item, Account: defineAccounts(sequelize) }
}

const crud = createCrud({ identity, authorizePolicy: authenticated })

function mounted({ Product, Basket, Item }: Readonly<Record<'Product' | 'Basket' | 'Item', ModelStatic<Model>>>) {
  const clerk = hasRole('clerk')
  return [
    crud.crudRouter(Product, {
      operations: Operations.All | Operations.Aggregate,
      createPolicy: clerk,
      updatePolicy: clerk,
      deletePolicy: clerk,
    }),
    crud.crudRouter(Basket, {
      fields: { account_id: { exclude: ['create', 'update'] } },
      operations: Operations.All | Operations.Aggregate,
      relations: { products: { routes: true, write: true }, items: { routes: true, write: true } },
      scope: ({ identity: caller }) => ({ account_id: accountOf(caller) }),
    }),
    crud.crudRouter(Item, {
      route: 'api/basket-items',
      keyProperty: ['basket_id', 'sku'],
      operations: Operations.AllWithBulk | Operations.Aggregate | Operations.Replace,
      scope: ({ identity: caller }) => filter.eq('basket.account_id', accountOf(caller)),
    }),
  ]
}

let routers: ReturnType<typeof mounted> = []
const server = await openStage(({ sequelize }, app) => {
  const models = define(sequelize)
  addLogin(app, models.Account)
  routers = mounted(models)
  app.use(routers)
  return models
})
const { Account, Product, Basket } = server
for (const user_name of ['ann', 'bob']) await Account.create({ user_name, password: `${user_name} 1` })
await Product.bulkCreate([
  { sku: 'TEA', label: 'Tea', price_cents: 250 },
  { sku: 'CUP', label: 'Cup', price_cents: 900 },
  { sku: 'POT', label: 'Pot', price_cents: 3000 },
])
await Basket.create({ basket_name: 'of Ann', account_id: 1 })
await Basket.create({ basket_name: 'of Bob', account_id: 2 })
test.after.always(() => server.close())

let ann: Record<string, string> = {}
let bob: Record<string, string> = {}
test.before(async () => {
  ann = await logIn(server, 'ann', 'ann 1')
  bob = await logIn(server, 'bob', 'bob 1')
})

const put = (path: string, json: unknown, headers = ann) => server.send('PUT', path, { json, headers })
const items = async (path: string, headers = ann): Promise<unknown> => {
  const { status, text, body } = await server.get(path, headers)
  return status === 200 ? body.items : text
}

test('a product is put into the basket with its quantity, and again with another one', async (t) => {
  t.is((await put('/api/baskets/1/products/TEA', { quantity: 4 })).status, 204)
  t.is((await put('/api/baskets/1/products/CUP', { quantity: 2, giftNote: 'for Eve' })).status, 204)
  t.is((await put('/api/baskets/1/products/POT', {})).status, 204)
  t.deepEqual(
    await items('/api/baskets/1/products?select=sku,basketItem(quantity,giftNote)&sort=-basketItem.quantity'),
    [
      { sku: 'TEA', basketItem: { quantity: 4, giftNote: null } },
      { sku: 'CUP', basketItem: { quantity: 2, giftNote: 'for Eve' } },
      { sku: 'POT', basketItem: { quantity: 1, giftNote: null } },
    ],
  )
  t.is((await put('/api/baskets/1/products/CUP', { quantity: 7 })).status, 204)
  t.deepEqual(
    await items('/api/baskets/1/products?filter=basketItem.quantity>4&select=sku,basketItem(quantity,giftNote)'),
    [{ sku: 'CUP', basketItem: { quantity: 7, giftNote: 'for Eve' } }],
  )
})

test('a quantity is changed by the row of the link as well, by its two keys', async (t) => {
  const { status, text, body } = await server.patch('/api/basket-items/1~CUP', { quantity: 3 }, ann)
  t.is(status, 200, text)
  t.deepEqual(body, { basketId: 1, sku: 'CUP', quantity: 3, giftNote: 'for Eve' })
  const replaced = await put('/api/basket-items/1~CUP', { quantity: 2 })
  t.is(replaced.body.giftNote, null)
  t.is((await put('/api/basket-items/1~TEA', { sku: 'POT' })).status, 400)
})

test('a quantity that no basket takes is 400 by every way', async (t) => {
  const errors = { quantity: ['must be between 1 and 99.'] }
  for (const answer of [
    await put('/api/baskets/1/products/TEA', { quantity: 0 }),
    await server.patch('/api/basket-items/1~TEA', { quantity: 100 }, ann),
    await server.post('/api/basket-items', { basketId: 1, sku: 'TEA', quantity: 0 }, ann),
  ]) {
    t.is(answer.status, 400, answer.text)
    t.deepEqual(answer.body.errors, errors)
  }
  const nested = await server.patch('/api/baskets/1', { items: [{ sku: 'TEA', quantity: 0 }] }, ann)
  t.deepEqual(nested.body.errors, { 'items[0].quantity': ['must be between 1 and 99.'] })
  const near = await put('/api/baskets/1/products/TEA', { Quantity: 2 })
  t.deepEqual(near.body.errors, { Quantity: ['is not a known property. Did you mean quantity?'] })
})

test('quantities are summed, for a basket and over baskets', async (t) => {
  t.deepEqual(await items('/api/baskets/1/products?aggregate=sum(basketItem.quantity),count,max(priceCents)'), [
    { count: 3, sum: { basketItem: { quantity: 7 } }, max: { priceCents: 3000 } },
  ])
  t.deepEqual(await items('/api/basket-items?aggregate=sum(quantity)&group=basket.basketName'), [
    { group: { basket: { basketName: 'of Ann' } }, sum: { quantity: 7 } },
  ])
  t.deepEqual(await items('/api/basket-items?aggregate=sum(quantity)', bob), [{ sum: { quantity: null } }])
})

test('the whole basket is replaced at once, with quantities', async (t) => {
  const { status, text } = await server.patch(
    '/api/baskets/1',
    { items: [{ sku: 'TEA', quantity: 9 }, { sku: 'CUP' }] },
    ann,
  )
  t.is(status, 200, text)
  t.deepEqual(await items('/api/baskets/1/items?sort=-quantity&select=sku,quantity,product.label'), [
    { sku: 'TEA', quantity: 9, product: { label: 'Tea' } },
    { sku: 'CUP', quantity: 2, product: { label: 'Cup' } },
  ])
  const byKeys = await server.patch('/api/baskets/1', { products: ['TEA', 'POT'] }, ann)
  t.is(byKeys.status, 200, byKeys.text)
  t.deepEqual(await items('/api/baskets/1/items?sort=-quantity&select=sku,quantity'), [
    { sku: 'TEA', quantity: 9 },
    { sku: 'POT', quantity: 1 },
  ])
})

test('baskets are found by the quantity of what they hold', async (t) => {
  const having = async (filter: string) => items(`/api/baskets?select=basketName&filter=${encodeURIComponent(filter)}`)
  t.deepEqual(await having('Products.Any(Label=Tea,BasketItem.Quantity>8)'), [{ basketName: 'of Ann' }])
  t.deepEqual(await having('Products.Any(Label=Pot,BasketItem.Quantity>8)'), [])
  t.deepEqual(await having('Items.Any(Quantity>8)'), [{ basketName: 'of Ann' }])
})

test('who else has a product in the basket is not told, and baskets of others are missing', async (t) => {
  t.is((await put('/api/baskets/2/products/TEA', { quantity: 5 }, bob)).status, 204)
  t.deepEqual(await items('/api/products?keys=TEA&select=sku,baskets(basketName,basketItem.quantity)'), [
    { sku: 'TEA', baskets: [{ basketName: 'of Ann', basketItem: { quantity: 9 } }] },
  ])
  t.deepEqual(await items('/api/products?filter=Baskets.Any(BasketItem.Quantity=5)'), [])
  t.is((await put('/api/baskets/2/products/TEA', { quantity: 1 })).status, 404)
  t.is((await server.patch('/api/basket-items/2~TEA', { quantity: 1 }, ann)).status, 404)
  t.is((await server.post('/api/basket-items', { basketId: 2, sku: 'CUP' }, ann)).status, 403)
  t.is((await server.delete('/api/baskets/2/products/TEA', ann)).status, 404)
  const unknown = await put('/api/baskets/1/products/NONE', { quantity: 1 })
  t.is(unknown.status, 404)
  t.is((await put('/api/baskets/1/products/TEA', { quantity: 1 }, {})).status, 401)
})

test('taken out of the basket it is gone, and once more it is 404', async (t) => {
  t.is((await server.delete('/api/baskets/1/products/POT', ann)).status, 204)
  const { status, body } = await server.delete('/api/baskets/1/products/POT', ann)
  t.is(status, 404)
  t.is(body.code, 'not-found')
  t.deepEqual(await items('/api/basket-items?select=sku'), [{ sku: 'TEA' }])
})

test('documents have the link in elements, and its row in the body of a PUT', (t) => {
  const { paths, components } = openApi({ resources: routers, info: INFO })
  t.truthy(paths['/api/baskets/{id}/products/{key}']?.put)
  t.truthy(paths['/api/basket-items/{id}']?.patch)
  t.regex(JSON.stringify(paths['/api/baskets/{id}/products']?.get ?? components), /basketItem/)
})
