// Attributes of the rows that link the records of a many-to-many: `Products.Any(BasketItem.Quantity>2)`.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudRouter, crudRouter, Operations, openApi } from '../../../lib/index.js'
import { INFO } from '../../support/documented.js'
import type { Parameters } from '../../support/lists.js'
import type { Answer } from '../../support/server.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const test = ava.serial
const models: Record<string, ModelStatic<Model>> = {}
let basketItems: CrudRouter | undefined
const warnings: Error[] = []
process.on('warning', (warning) => warnings.push(warning))

const operations = Operations.All | Operations.Aggregate | Operations.Export
const identity = identityFromHeader

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Basket = sequelize.define('Basket', { name: DataTypes.STRING, size: DataTypes.INTEGER }, plain)
  const Product = sequelize.define('Product', { name: DataTypes.STRING, price: DataTypes.INTEGER }, plain)
  const BasketItem = sequelize.define(
    'BasketItem',
    {
      quantity: { type: DataTypes.INTEGER, allowNull: false },
      note: DataTypes.TEXT,
      day: DataTypes.DATEONLY,
      secret: DataTypes.STRING,
      cost: DataTypes.INTEGER,
      marks: DataTypes.JSON,
    },
    plain,
  )
  const link = { through: BasketItem, foreignKey: 'basketId', otherKey: 'productId' }
  Basket.belongsToMany(Product, { as: 'products', ...link })
  Product.belongsToMany(Basket, { as: 'baskets', through: BasketItem, foreignKey: 'productId', otherKey: 'basketId' })
  Product.belongsTo(Product, { as: 'parent', foreignKey: 'parentId', constraints: false })
  // By text, whose collation may take more keys for equal than are.
  const Shelf = sequelize.define('Shelf', { code: { type: DataTypes.STRING(20), primaryKey: true } }, plain)
  const ShelfPlace = sequelize.define('ShelfPlace', { row: DataTypes.INTEGER, kind: DataTypes.STRING }, plain)
  Shelf.belongsToMany(Product, {
    as: 'products',
    through: { model: ShelfPlace, scope: { kind: 'front' } },
    foreignKey: 'shelfCode',
    otherKey: 'productId',
  })
  const Hooked = sequelize.define('Hooked', { name: DataTypes.STRING }, plain)
  Hooked.addHook('beforeFind', () => undefined)
  const HookedLink = sequelize.define('HookedLink', { rank: DataTypes.INTEGER, size: DataTypes.INTEGER }, plain)
  Basket.belongsToMany(Hooked, { as: 'hooked', through: HookedLink, foreignKey: 'basketId', otherKey: 'hookedId' })
  Hooked.belongsToMany(Basket, { as: 'baskets', through: HookedLink, foreignKey: 'hookedId', otherKey: 'basketId' })
  Object.assign(models, { Basket, Product, BasketItem, Shelf, ShelfPlace, Hooked, HookedLink })
  const open = { relations: { products: { routes: true } } }
  app.use(crudRouter(Basket, { identity, relations: { ...open.relations, hooked: { routes: true } }, operations }))
  app.use(crudRouter(Product, { identity, operations, relations: { baskets: { routes: true } } }))
  app.use(crudRouter(Shelf, { ...open }))
  app.use(crudRouter(ShelfPlace))
  app.use(crudRouter(Hooked, { route: 'api/hooked' }))
  app.use(crudRouter(HookedLink))
  basketItems = crudRouter(BasketItem, {
    identity,
    keyProperty: ['basketId', 'productId'],
    fields: { secret: { exclude: true }, marks: { members: { '': ['string'] } } },
    mask: { cost: 'accounting' },
    getListPolicy: ({ identity: caller }) => caller?.name !== 'nobody',
    scope: ({ identity: caller }) => (caller?.name === 'one' ? { quantity: 1 } : null),
  })
  app.use(basketItems)
})
test.after.always(() => server.close())

const NOTE = 'x'.repeat(200)
const ITEMS = [
  { basketId: 1, productId: 1, quantity: 3, day: '2026-01-01', cost: 5, marks: ['a'] },
  { basketId: 1, productId: 2, quantity: 1, day: '2026-01-02', cost: 6, marks: [] },
  { basketId: 1, productId: 3, quantity: 2, day: null, cost: 7, marks: ['a', 'b'] },
  { basketId: 2, productId: 1, quantity: 1, day: '2026-02-01', cost: 8, marks: ['b'] },
  { basketId: 2, productId: 3, quantity: 5, day: '2026-02-02', cost: 9, marks: null },
].map((item) => ({ ...item, note: NOTE, secret: 's' }))

test.before(async () => {
  await models.Basket?.bulkCreate(['A', 'B', 'C'].map((name) => ({ name })))
  await models.Product?.bulkCreate([
    { name: 'Net', price: 10, parentId: 2 },
    { name: 'Ball', price: 20 },
    { name: 'Rim', price: 30 },
  ])
  await models.BasketItem?.bulkCreate(ITEMS as never)
  await models.Shelf?.bulkCreate([{ code: 'left' }, { code: 'right' }])
  await models.ShelfPlace?.bulkCreate([
    { shelfCode: 'left', productId: 1, row: 7, kind: 'front' },
    { shelfCode: 'left', productId: 2, row: 8, kind: 'back' },
    { shelfCode: 'right', productId: 1, row: 9, kind: 'front' },
  ])
  await models.Hooked?.bulkCreate([{ name: 'x' }, { name: 'y' }])
  await models.HookedLink?.bulkCreate([
    { basketId: 1, hookedId: 1, rank: 2 },
    { basketId: 1, hookedId: 2, rank: 1, size: 4 },
    { basketId: 2, hookedId: 1, rank: 9 },
  ])
})

function queryOf(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) query.append(name, String(value))
  return query
}

const itemsOf = async (path: string, parameters: Parameters, headers = {}): Promise<unknown> => {
  const { status, text, body } = await server.get(`${path}?${queryOf(parameters)}`, headers)
  return status === 200 ? (body.items ?? body) : `${status} ${text}`
}

const namesOf = async (path: string, parameters: Parameters, headers = {}): Promise<unknown> => {
  const items = await itemsOf(path, parameters, headers)
  return Array.isArray(items) ? items.map(({ name, code }) => name ?? code) : items
}

test('elements of a many-to-many are selected with the attributes of their link', async (t) => {
  t.deepEqual(await itemsOf('/api/baskets', { select: 'name,products(name,basketItem(quantity))', sort: 'id' }), [
    {
      name: 'A',
      products: [
        { name: 'Net', basketItem: { quantity: 3 } },
        { name: 'Ball', basketItem: { quantity: 1 } },
        { name: 'Rim', basketItem: { quantity: 2 } },
      ],
    },
    {
      name: 'B',
      products: [
        { name: 'Net', basketItem: { quantity: 1 } },
        { name: 'Rim', basketItem: { quantity: 5 } },
      ],
    },
    { name: 'C', products: [] },
  ])
  t.deepEqual(await itemsOf('/api/products/1', { select: 'baskets(name,BASKETITEM.quantity)' }), {
    baskets: [
      { name: 'A', basketItem: { quantity: 3 } },
      { name: 'B', basketItem: { quantity: 1 } },
    ],
  })
})

test('a bare name is every field of the link, and `*` leaves the link out', async (t) => {
  const shown = { basketId: 1, productId: 1, quantity: 3, note: NOTE, day: '2026-01-01', marks: ['a'] }
  const [bare] = (
    (await itemsOf('/api/baskets/1', { select: 'products.basketItem', 'products.limit': 1 })) as never as {
      products: object[]
    }
  ).products
  t.deepEqual(bare, { basketItem: shown })
  const masked = await itemsOf('/api/baskets/1', { select: 'products(name,basketItem(cost))', 'products.limit': 1 })
  t.deepEqual(masked, { products: [{ name: 'Net' }], 'products@more': true })
  for (const select of ['products', 'products.*', 'products(*)']) {
    const { products } = (await itemsOf('/api/baskets/1', { select })) as { products: object[] }
    t.deepEqual(products[0], { id: 1, name: 'Net', price: 10, parentId: 2 }, select)
  }
})

test('embedded elements are filtered, sorted and cut by their link', async (t) => {
  const shaped = async (parameters: Parameters): Promise<unknown> =>
    (
      (await itemsOf('/api/baskets', { select: 'products(name)', sort: 'id', ...parameters })) as {
        products: { name: string }[]
      }[]
    ).map(({ products }) => products.map(({ name }) => name))
  t.deepEqual(await shaped({ 'products.filter': 'BasketItem.Quantity>=2' }), [['Net', 'Rim'], ['Rim'], []])
  t.deepEqual(await shaped({ 'products.filter': 'BasketItem.Quantity=1|name=Rim' }), [
    ['Ball', 'Rim'],
    ['Net', 'Rim'],
    [],
  ])
  t.deepEqual(await shaped({ 'products.sort': '-basketItem.quantity' }), [['Net', 'Rim', 'Ball'], ['Rim', 'Net'], []])
  t.deepEqual(await shaped({ 'products.sort': 'basketItem.day', 'products.limit': 2 }), [
    ['Rim', 'Net'],
    ['Net', 'Rim'],
    [],
  ])
  t.deepEqual(await shaped({ 'products.filter': 'basketItem.marks.Any=b' }), [['Rim'], ['Net'], []])
})

test('quantifiers ask for element and link together', async (t) => {
  const cases: readonly (readonly [filter: string, names: readonly string[]])[] = [
    ['Products.Any(BasketItem.Quantity>2)', ['A', 'B']],
    ['Products.BasketItem.Quantity>4', ['B']],
    ['Products.Any(BasketItem.Quantity>2,Name=Net)', ['A']],
    ['Products.Any(BasketItem.Quantity=5|Name=Ball)', ['A', 'B']],
    ['Products.All.BasketItem.Quantity<4', ['A', 'C']],
    ['Products.None(BasketItem.Day=null)', ['B', 'C']],
    ['Products.Any.BasketItem.Day=null', ['A']],
    ['Products.Count(BasketItem.Quantity<=2)=2', ['A']],
    ['Products.Any(BasketItem=null)', []],
    ['Products.Any(BasketItem!=null)', ['A', 'B']],
    ['Products.Any(BasketItem.Note=*xx,Price>25)', ['A', 'B']],
    ['Products.Any(BasketItem.Marks.Count=2)', ['A']],
    ['Products.Any(BasketItem.Marks.Any=b,BasketItem.Quantity=1)', ['B']],
    ['Products.Any(Baskets.Any(BasketItem.Quantity=5),BasketItem.Quantity=2)', ['A']],
  ]
  for (const [filter, names] of cases) t.deepEqual(await namesOf('/api/baskets', { filter, sort: 'id' }), names, filter)
  t.deepEqual(await namesOf('/api/products', { filter: 'Baskets.Any(Name=A,BasketItem.Quantity=1)' }), ['Ball'])
})

test('below a record the link is that of the record', async (t) => {
  const path = '/api/baskets/1/products'
  t.deepEqual(await itemsOf(path, { select: 'name,basketItem(quantity)', sort: '-basketItem.quantity' }), [
    { name: 'Net', basketItem: { quantity: 3 } },
    { name: 'Rim', basketItem: { quantity: 2 } },
    { name: 'Ball', basketItem: { quantity: 1 } },
  ])
  t.deepEqual(await namesOf(path, { filter: 'BasketItem.Quantity>=2', sort: 'id' }), ['Net', 'Rim'])
  t.deepEqual(await namesOf('/api/baskets/2/products', { filter: 'BasketItem.Quantity>=2' }), ['Rim'])
  t.deepEqual(await namesOf(path, { filter: 'BasketItem.Day=null' }), ['Rim'])
  t.deepEqual(await namesOf(path, { filter: 'BasketItem.Marks.Any=b' }), ['Rim'])
  t.deepEqual(await itemsOf(path, { filter: 'BasketItem.Quantity>1', count: true }), { count: 2 })
  t.deepEqual(await namesOf(path, { sort: 'basketItem.day' }), ['Rim', 'Net', 'Ball'])
  const seek = await server.get(`${path}?sort=-basketItem.quantity&after=&pageSize=2&select=name`)
  t.deepEqual(seek.body.items, [{ name: 'Net' }, { name: 'Rim' }])
  const next = await server.get(
    `${path}?sort=-basketItem.quantity&after=${seek.body.nextCursor}&pageSize=2&select=name`,
  )
  t.deepEqual(next.body.items, [{ name: 'Ball' }])
  t.deepEqual(await itemsOf(path, { aggregate: 'sum(BasketItem.Quantity),count' }), [
    { count: 3, sum: { basketItem: { quantity: 6 } } },
  ])
  const csv = await server.get(`${path}?format=csv&select=name,basketItem.quantity&sort=basketItem.quantity`)
  t.is(csv.text.replaceAll('\r\n', '|'), 'name,basketItem.quantity|Ball,1|Rim,2|Net,3|')
  t.deepEqual(Object.keys(((await itemsOf(path, {})) as object[])[0] ?? {}), ['id', 'name', 'price', 'parentId'])
  t.deepEqual(Object.keys(((await itemsOf(path, { select: '*' })) as object[])[0] ?? {}), [
    'id',
    'name',
    'price',
    'parentId',
  ])
})

test('below a record, collections of the elements have links of their own', async (t) => {
  t.deepEqual(
    await itemsOf('/api/baskets/2/products', {
      select: 'basketItem.quantity,baskets(name,basketItem.quantity)',
      keys: '1',
    }),
    [
      {
        basketItem: { quantity: 1 },
        baskets: [
          { name: 'A', basketItem: { quantity: 3 } },
          { name: 'B', basketItem: { quantity: 1 } },
        ],
      },
    ],
  )
  t.deepEqual(
    await itemsOf('/api/baskets/2/products', {
      select: 'baskets(products.basketItem.quantity)',
      keys: '1',
      'baskets.limit': 1,
    }),
    [{ baskets: [{ products: [3, 1, 2].map((quantity) => ({ basketItem: { quantity } })) }], 'baskets@more': true }],
  )
})

test('large attributes of links are read for each pair', async (t) => {
  const { products } = (await itemsOf('/api/baskets/1', { select: 'products(basketItem(note,quantity))' })) as {
    products: unknown[]
  }
  t.deepEqual(
    products,
    [3, 1, 2].map((quantity) => ({ basketItem: { note: NOTE, quantity } })),
  )
  t.deepEqual(await itemsOf('/api/baskets/2/products', { select: 'basketItem.note', pageSize: 100 }), [
    { basketItem: { note: NOTE } },
    { basketItem: { note: NOTE } },
  ])
})

test('links by texts, with a scope of the table of their own', async (t) => {
  t.deepEqual(await itemsOf('/api/shelves', { select: 'code,products(name,shelfPlace.row)', sort: 'code' }), [
    { code: 'left', products: [{ name: 'Net', shelfPlace: { row: 7 } }] },
    { code: 'right', products: [{ name: 'Net', shelfPlace: { row: 9 } }] },
  ])
  t.deepEqual(await namesOf('/api/shelves', { filter: 'products.shelfPlace.row>8' }), ['right'])
  t.deepEqual(await itemsOf('/api/shelves/left/products', { select: 'name,shelfPlace(row)' }), [
    { name: 'Net', shelfPlace: { row: 7 } },
  ])
  t.deepEqual(await namesOf('/api/shelves/left/products', { filter: 'shelfPlace.row=8' }), [])
})

test('links where hooks of the host see the query', async (t) => {
  t.deepEqual(await itemsOf('/api/baskets/1/hooked', { select: 'name,hookedLink(rank)', sort: 'hookedLink.rank' }), [
    { name: 'y', hookedLink: { rank: 1 } },
    { name: 'x', hookedLink: { rank: 2 } },
  ])
  t.deepEqual(await namesOf('/api/baskets/1/hooked', { filter: 'hookedLink.rank>1' }), ['x'])
  t.deepEqual(await namesOf('/api/baskets', { filter: 'hooked.hookedLink.rank=9' }), ['B'])
  // The baskets have an attribute `size` too.
  for (const [filter, names] of [
    ['Baskets.HookedLink.Rank>8', ['x']],
    ['Baskets.Any(Name=A,HookedLink.Rank!=2)', ['y']],
    ['Baskets.Any(HookedLink.Size=4)', ['y']],
    ['Baskets.Any(HookedLink.Size=null)', ['x']],
    ['Baskets.All(HookedLink.Rank=in=1;3)', ['y']],
    ['Baskets.Count(HookedLink.Rank>1)=2', ['x']],
  ] as const) {
    t.deepEqual(await namesOf('/api/hooked', { filter, sort: 'id' }), names, filter)
  }
})

const unknown = async (path: string, parameters: Parameters, headers = {}): Promise<string> => {
  const { status, body } = await server.get(`${path}?${queryOf(parameters)}`, headers)
  return `${status} ${JSON.stringify(body.errors)}`
}

test('the link is a member of elements alone, excluded and masked attributes are unknown, and paths go no further', async (t) => {
  for (const [path, filter] of [
    ['/api/products', 'basketItem.quantity=1'],
    ['/api/baskets', 'basketItem.quantity=1'],
    ['/api/baskets', 'products.parent.basketItem.quantity=1'],
    ['/api/baskets', 'products.basketItem.secret=s'],
    ['/api/baskets', 'products.basketItem.cost=5'],
    ['/api/baskets', 'products.basketItem.basketItem.quantity=5'],
    ['/api/baskets/1/products', 'basketItem.cost=5'],
    ['/api/baskets/1/products', 'parent.basketItem.quantity=5'],
  ]) {
    t.regex(await unknown(path ?? '', { filter: filter ?? '' }), /^400 .*Unknown field/, filter)
  }
  t.regex(
    await unknown('/api/baskets/1/products', { filter: 'basketItem.quantiti=5' }),
    /Did you mean .*basketItem\.quantity/,
  )
  t.regex(
    await unknown('/api/baskets', { filter: 'products.basketItem.quantiti=5' }),
    /Did you mean .*products\.basketItem\.quantity/,
  )
  t.regex(await unknown('/api/products/1', { select: 'basketItem(quantity)' }), /Unknown field/)
})

test('another name than that of the join model is no name of the link', async (t) => {
  for (const [path, parameters] of [
    ['/api/baskets', { filter: 'products.any(?.quantity=3)' }],
    ['/api/baskets', { filter: 'products.?.quantity=3' }],
    ['/api/baskets', { select: 'products.?.quantity' }],
    ['/api/baskets/1/products', { filter: '?.quantity=3' }],
    ['/api/baskets/1/products', { sort: '?.quantity' }],
    ['/api/baskets/1/products', { select: '?.quantity' }],
  ] as const) {
    const answer = (name: string): Promise<Answer> => {
      const named = Object.entries(parameters).map(([key, value]) => [key, value.replace('?', name)])
      return server.get(`${path}?${queryOf(Object.fromEntries(named))}`)
    }
    const [known, unknown] = [await answer('basketItem'), await answer('another')]
    t.deepEqual([known.status, unknown.status], [200, 400], `${path} ${JSON.stringify(parameters)}`)
  }
})

test('an element whose link the caller may not see is no element', async (t) => {
  const one = asUser('one')
  t.deepEqual(await itemsOf('/api/baskets', { select: 'products(name,basketItem(quantity))', sort: 'id' }, one), [
    { products: [{ name: 'Ball', basketItem: { quantity: 1 } }] },
    { products: [{ name: 'Net', basketItem: { quantity: 1 } }] },
    { products: [] },
  ])
  t.deepEqual(await namesOf('/api/baskets', { filter: 'Products.Any(BasketItem.Quantity>1)' }, one), [])
  t.deepEqual(await namesOf('/api/baskets', { filter: 'Products.All(BasketItem.Quantity=1)', sort: 'id' }, one), [
    'A',
    'B',
    'C',
  ])
  t.deepEqual(await itemsOf('/api/baskets/1/products', { select: 'name,basketItem(quantity)' }, one), [
    { name: 'Ball', basketItem: { quantity: 1 } },
  ])
})

test('where the caller may not list the links, the relation and its links are unknown', async (t) => {
  const nobody = asUser('nobody')
  t.regex(await unknown('/api/baskets', { filter: 'products.basketItem.quantity=1' }, nobody), /Unknown field/)
  t.regex(await unknown('/api/baskets', { select: 'products(basketItem.quantity)' }, nobody), /Unknown field/)
  t.is((await server.get('/api/baskets/1/products?select=basketItem.quantity', nobody)).status, 404)
})

test('replies carry the headers of the resource over the links', async (t) => {
  const { headers } = await server.get('/api/baskets?select=products(basketItem.quantity)')
  t.regex(String(headers.get('vary')), /Authorization/)
  t.regex(
    String((await server.get('/api/baskets/1/products?select=basketItem.quantity')).headers.get('vary')),
    /Authorization/,
  )
})

test('nothing warned of these links', (t) => {
  t.deepEqual(
    warnings.filter((warning) => Reflect.get(warning, 'code') === 'CRUD_LINK_NAME'),
    [],
  )
})

test('a body for a link cannot change what the relation fixes or the keys of the path', async (t) => {
  await models.Shelf?.create({ code: 'low' })
  const path = '/api/shelves/low/products/1'
  for (const [body, place] of [
    [{ row: 1, kind: 'back' }, 'kind'],
    // MySQL and MariaDB treat this text as equal. The rows of the relation have another one.
    [{ row: 1, kind: 'FRONT' }, 'kind'],
    // The key of the owner is no value of this field.
    [{ row: 1, kind: 'low' }, 'kind'],
    [{ row: 1, kind: null }, 'kind'],
    [{ row: 1, productId: 2 }, 'productId'],
    [{ row: 1, shelfCode: 'high' }, 'shelfCode'],
  ] as const) {
    const refused = await server.send('PUT', path, { json: body })
    t.is(refused.status, 400, refused.text)
    t.deepEqual(Object.keys(refused.body.errors), [place], refused.text)
  }
  t.is(await models.ShelfPlace?.count({ where: { shelfCode: 'low' } }), 0)
  const made = await server.send('PUT', path, {
    json: { row: 1, kind: 'front', productId: 1, shelfCode: 'low' },
  })
  t.true(made.status < 300, made.text)
  const places = await models.ShelfPlace?.findAll({ where: { shelfCode: 'low' }, raw: true })
  t.like(places, [{ row: 1, kind: 'front', productId: 1 }])
  await models.ShelfPlace?.destroy({ where: { shelfCode: 'low' } })
  await models.Shelf?.destroy({ where: { code: 'low' } })
})

test('a link that is created as a record must have the keys of both records, and is told of all that it lacks', async (t) => {
  const made = await server.post('/api/basketitems', { note: 'x' })
  t.deepEqual(
    [made.status, made.body.errors],
    [400, { basketId: ['is required.'], productId: ['is required.'], quantity: ['is required.'] }],
  )
  const { BasketItemCreate: body } = Object(
    openApi({ resources: [basketItems].flatMap((each) => each ?? []), info: INFO }).components.schemas,
  )
  t.deepEqual(body.required, ['quantity', 'basketId', 'productId'])
})

test('conditions on links find the same records by the options of findAll, and through find hooks', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const define = (name: string, more = {}): ModelStatic<Model> =>
      sequelize.define(name, { name: DataTypes.STRING, ...more }, plain)
    const [Person, Hooked] = [define('Person'), define('HookedPerson')]
    // A link and its record have attributes with equal names.
    const Skill = define('Skill', { grade: DataTypes.INTEGER })
    Hooked.addHook('beforeFind', () => undefined)
    for (const [model, name] of [[Person, 'Mark'] as const, [Hooked, 'HookedMark'] as const]) {
      const Mark = sequelize.define(name, { grade: DataTypes.INTEGER, note: DataTypes.STRING }, plain)
      model.belongsToMany(Skill, { as: 'skills', through: Mark, foreignKey: 'personId', otherKey: 'skillId' })
      app.use(crudRouter(Mark, { keyProperty: ['personId', 'skillId'] }))
    }
    const people = crudRouter(Person)
    app.use(people, crudRouter(Hooked), crudRouter(Skill))
    app.get('/found', async (req, res) => {
      const found = await Person.findAll(await people.findOptions(req, { ...req.query }))
      res.json({ items: found.map((person) => ({ id: person.get('id') })) })
    })
  })
  t.teardown(() => stage.close())
  await stage.sequelize.model('Skill').bulkCreate([{ grade: 1 }, { grade: 5 }])
  for (const [person, mark] of [
    ['Person', 'Mark'],
    ['HookedPerson', 'HookedMark'],
  ] as const) {
    await stage.sequelize.model(person).bulkCreate([{ name: 'a' }, { name: 'b' }, { name: 'c' }])
    await stage.sequelize.model(mark).bulkCreate([
      { personId: 1, skillId: 1, grade: 3, note: 'x' },
      { personId: 2, skillId: 2, grade: 1 },
      { personId: 3, skillId: 1, grade: null },
    ])
  }
  const find = async (path: string, filter: string): Promise<unknown> => {
    const { body } = await stage.get(`${path}?${queryOf({ filter, select: 'id', sort: 'id' })}`)
    return body.items?.map(({ id }: { id: number }) => id) ?? body
  }
  for (const [filter, ids] of [
    ['Skills.Any(@.Grade>2)', [1]],
    ['Skills.Any(@.Grade=null)', [3]],
    ['Skills.Any(@.Grade!=3)', [2, 3]],
    ['Skills.All(@.Grade=3)', [1]],
    ['Skills.None(@.Grade=3)', [2, 3]],
    ['Skills.Any(@.Grade=3|Grade=5)', [1, 2]],
    ['Skills.Any(@.Note=x,@.Grade=3,Grade=1)', [1]],
  ] as const) {
    t.deepEqual(await find('/api/people', filter.replaceAll('@', 'Mark')), ids, filter)
    t.deepEqual(await find('/found', filter.replaceAll('@', 'Mark')), ids, filter)
    t.deepEqual(await find('/api/hookedpeople', filter.replaceAll('@', 'HookedMark')), ids, filter)
  }
})
