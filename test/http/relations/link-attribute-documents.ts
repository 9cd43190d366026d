// Attributes of links in documents, in client types, in x-crud and for agents.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { clientTypes, crudRouter, openApi, type XCrud } from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { INFO } from '../../support/documented.js'
import { connectAgentOverHttp } from '../../support/mcp.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

interface Schema {
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
}

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  readonly paths: Readonly<Record<string, { readonly get: { readonly description: string } }>>
  readonly tags: readonly { readonly name: string; readonly 'x-crud': XCrud }[]
}

let text = ''
let types = ''

const identity = identityFromHeader

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Basket = sequelize.define('Basket', { name: DataTypes.STRING }, plain)
  const Product = sequelize.define('Product', { name: DataTypes.STRING }, plain)
  const BasketItem = sequelize.define('BasketItem', { quantity: DataTypes.INTEGER, cost: DataTypes.INTEGER }, plain)
  Basket.belongsToMany(Product, { as: 'products', through: BasketItem, foreignKey: 'basketId', otherKey: 'productId' })
  const resources = [
    crudRouter(Basket, { identity, relations: { products: { routes: true } } }),
    crudRouter(Product, { identity }),
    crudRouter(BasketItem, {
      identity,
      keyProperty: ['basketId', 'productId'],
      mask: { cost: 'accounting' },
      getListPolicy: ({ identity: caller }) => caller?.name !== 'nobody',
    }),
  ]
  for (const router of resources) app.use(router)
  app.all('/mcp', crudMcp({ resources, identity }))
  text = JSON.stringify(openApi({ resources, info: INFO }))
  types = clientTypes({ resources })
})
test.after.always(() => server.close())

const document = (): Document => JSON.parse(text)

test('documents have the link as a member of elements, in embeds and in lists below a record', (t) => {
  const { components, paths } = document()
  const { schemas } = components
  const element = schemas.BasketProductProjection?.properties ?? {}
  t.deepEqual(Object.keys(element), ['basketItem', 'id', 'name'])
  const link = JSON.stringify(element.basketItem)
  for (const name of ['basketId', 'productId', 'quantity', 'cost']) t.true(link.includes(`"${name}"`), link)
  t.true(link.includes('accounting'))
  const products = schemas.BasketProjection?.properties?.products
  t.is(products?.items?.$ref, '#/components/schemas/BasketProductProjection')
  t.is(schemas.ProductProjection?.properties?.basketItem, undefined)
  const { description } = paths['/api/baskets/{id}/products']?.get ?? { description: '' }
  t.true(
    description.endsWith(
      'Filters, `sort` and `select` can name fields of the row that links a record to the owner: `basketItem`.',
    ),
    description,
  )
  t.true(JSON.stringify(paths['/api/baskets/{id}/products']).includes('BasketProductProjectionPage'))
  t.true(
    text.includes(
      '- `products`, a collection: `name`, `basketItem.quantity`, `basketItem.cost`, `basketItem.basketId`',
    ),
  )
})

test('client types have the link as a member of elements', (t) => {
  t.regex(types, /interface BasketProductProjection \{\s+basketItem\?: \{[^}]*quantity\?: number \| null/)
  t.regex(types, /products\?: readonly BasketProductProjection\[\]/)
})

test('x-crud has the link and its fields beside the relation', (t) => {
  const crud = document().tags.find(({ name }) => name === 'Baskets')?.['x-crud']
  const [products] = crud?.relations ?? []
  t.is(products?.link?.name, 'basketItem')
  t.is(products?.link?.resource, 'BasketItem')
  t.deepEqual(
    products?.link?.fields.map(({ name, type }) => [name, type]),
    [
      ['quantity', 'integer'],
      ['cost', 'integer'],
      ['basketId', 'integer'],
      ['productId', 'integer'],
    ],
  )
})

test('agents hear of the links that their caller may list, and ask by them', async (t) => {
  await server.post('/api/baskets', { name: 'A' })
  await server.post('/api/products', { name: 'Net' })
  await server.post('/api/basketitems', { basketId: 1, productId: 1, quantity: 3, cost: 5 })
  const linksOf = async (user: string): Promise<unknown> => {
    const agent = await connectAgentOverHttp(`${server.url}/mcp`, asUser(user))
    const { body } = await agent.call('describe_resource', { resource: 'baskets' })
    await agent.close()
    return body.relations.map(({ name, link }: { name: string; link?: { fields: { name: string }[] } }) => [
      name,
      link?.fields.map((field) => field.name),
    ])
  }
  t.deepEqual(await linksOf('someone'), [['products', ['quantity', 'basketId', 'productId']]])
  t.deepEqual(await linksOf('nobody'), [])
  const agent = await connectAgentOverHttp(`${server.url}/mcp`, asUser('someone'))
  const asked = {
    resource: 'baskets',
    filter: 'products.basketItem.quantity>2',
    select: 'products(basketItem.quantity)',
  }
  const { body } = await agent.call('query_records', asked)
  t.deepEqual(body.items, [{ products: [{ basketItem: { quantity: 3 } }] }], JSON.stringify(body))
  await agent.close()
})
