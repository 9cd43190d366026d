// Front ends over keys that people read and keys of two parts: an admin page by the provider of react-admin, a page of the
// application by the typed client.

import ava from 'ava'
import { DataTypes, type InferAttributes, type InferCreationAttributes, Model } from 'sequelize'
import { ProblemError, resource } from '../../../lib/client/index.js'
import { authenticated, crudRouter } from '../../../lib/index.js'
import { dataProvider } from '../../../lib/react-admin/index.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const test = ava.serial

class House extends Model<InferAttributes<House>, InferCreationAttributes<House>> {
  declare slug: string
  declare display_name: string
  declare floor_count: number | null
  declare row_version: number | null
}

class Basket extends Model<InferAttributes<Basket>, InferCreationAttributes<Basket>> {
  declare basket_no: number
  declare sku: string
  declare quantity: number
}

const options = { identity, naming: 'attribute', authorizePolicy: authenticated } as const

function houses() {
  return crudRouter(House, {
    ...options,
    keyProperty: 'slug',
    concurrency: { rowVersion: 'row_version', inBody: true },
  })
}

function items() {
  return crudRouter(Basket, {
    ...options,
    route: 'api/basket-items',
    keyProperty: ['basket_no', 'sku'],
    operations: ['getById', 'getList', 'create', 'update', 'delete', 'replace'],
  })
}

const stage = await openStage(({ sequelize }, app) => {
  House.init(
    {
      slug: { type: DataTypes.STRING(20), primaryKey: true },
      display_name: { type: DataTypes.STRING(20), allowNull: false },
      floor_count: { type: DataTypes.INTEGER, validate: { min: 1 } },
      row_version: { type: DataTypes.BIGINT, defaultValue: 0 },
    },
    { sequelize, modelName: 'House', timestamps: false },
  )
  Basket.init(
    {
      basket_no: { type: DataTypes.INTEGER, primaryKey: true },
      sku: { type: DataTypes.STRING(10), primaryKey: true },
      quantity: { type: DataTypes.INTEGER, allowNull: false },
    },
    { sequelize, modelName: 'Basket', timestamps: false },
  )
  app.use(houses(), items())
})
test.after.always(() => stage.close())

const headers = bearer({ sub: '1', name: 'Ann' })
const provider = dataProvider(`${stage.url}/api/`, {
  headers,
  resources: {
    houses: { key: 'slug' },
    'basket-items': { key: ['basket_no', 'sku'] },
  },
})

const page = { pagination: { page: 1, perPage: 10 }, sort: { field: 'id', order: 'ASC' as const } }

test('an admin page makes, lists, changes and deletes records by a natural key', async (t) => {
  const { data: made } = await provider.create('houses', { data: { slug: 'lake-house', display_name: 'Lake' } })
  t.is(made.id, 'lake-house')
  await provider.create('houses', { data: { slug: 'attic', display_name: 'Attic', floor_count: 1 } })
  const { data, total } = await provider.getList('houses', { ...page, filter: {} })
  t.deepEqual([data.map(({ id }) => id), total], [['attic', 'lake-house'], 2])
  const { data: one } = await provider.getOne('houses', { id: 'lake-house' })
  const { data: changed } = await provider.update('houses', {
    id: 'lake-house',
    data: { ...one, display_name: 'Lake House' },
    previousData: one,
  })
  t.like(changed, { id: 'lake-house', display_name: 'Lake House', row_version: 1 })
  const many = await provider.getMany('houses', { ids: ['lake-house', 'attic'] })
  t.is(many.data.length, 2)
  // Somebody else was faster.
  const late = await t.throwsAsync(
    provider.update('houses', { id: 'lake-house', data: { ...one, floor_count: 2 }, previousData: one }),
  )
  t.is(Reflect.get(late ?? {}, 'status'), 412)
  await provider.delete('houses', { id: 'attic' })
  t.is((await provider.getList('houses', { ...page, filter: {} })).total, 1)
})

test('what a form has wrong is told by field', async (t) => {
  const error = await t.throwsAsync(provider.create('houses', { data: { slug: 'x', floor_count: 0 } as never }))
  const body: unknown = Reflect.get(error ?? {}, 'body')
  t.deepEqual(Object.keys(Object(Reflect.get(Object(body), 'errors'))).sort(), ['display_name', 'floor_count', 'root'])
})

test('records with a key of two parts have one id in an admin page', async (t) => {
  const { data: made } = await provider.create('basket-items', { data: { basket_no: 7, sku: 'TEA', quantity: 2 } })
  t.is(made.id, '7~TEA')
  const { data: one } = await provider.getOne('basket-items', { id: '7~TEA' })
  const { data } = await provider.update('basket-items', {
    id: '7~TEA',
    data: { ...one, quantity: 5 },
    previousData: one,
  })
  t.like(data, { id: '7~TEA', basket_no: 7, quantity: 5 })
  await provider.delete('basket-items', { id: '7~TEA', previousData: data })
  t.is((await provider.getList('basket-items', { ...page, filter: { basket_no: 7 } })).total, 0)
})

test('the typed client has the names of the columns, and sends the version that it has read', async (t) => {
  const api = resource<ReturnType<typeof houses>>(`${stage.url}/api/houses`, {
    key: 'slug',
    versions: true,
    version: 'row_version',
    headers,
  })
  const house = await api.create({ slug: 'barn', display_name: 'Barn' })
  const renamed = await api.update(house, { display_name: 'Big Barn' })
  t.is(renamed.display_name, 'Big Barn')
  const error = await t.throwsAsync(api.update(house, { floor_count: 3 }), { instanceOf: ProblemError })
  t.is(error.status, 412)
  const taken = await t.throwsAsync(api.create({ slug: 'barn', display_name: 'Again' }), { instanceOf: ProblemError })
  t.deepEqual([taken.status, taken.errors], [409, { slug: ['is already taken.'] }])
  const { items: found } = await api.list({ filter: 'display_name^Big', select: ['slug'] })
  t.deepEqual(found, [{ slug: 'barn' }])
})

test('the typed client puts a record by a key of two parts', async (t) => {
  const api = resource<ReturnType<typeof items>>(`${stage.url}/api/basket-items`, {
    key: ['basket_no', 'sku'],
    headers,
  })
  const made = await api.replace('8~CUP', { quantity: 1 })
  t.deepEqual(made, { basket_no: 8, sku: 'CUP', quantity: 1 })
  const again = await api.replace(made, { quantity: 4 })
  t.is(again.quantity, 4)
  await api.delete(again)
  const gone = await t.throwsAsync(api.get('8~CUP'), { instanceOf: ProblemError })
  t.is(gone.status, 404)
})
