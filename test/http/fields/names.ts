import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { CrudConfigError, type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

/** Vaults with two attributes of one JSON name, of which one is a secret, and what is kept in them. */
function defineVaults(sequelize: Sequelize): Record<'Vault' | 'Coin', ModelStatic<Model>> {
  const columns = { pinCode: DataTypes.STRING, pin_code: { type: DataTypes.STRING, field: 'secret_pin' } }
  const Vault = sequelize.define('vault', columns, { timestamps: false })
  const Coin = sequelize.define('coin', { name: DataTypes.STRING }, { timestamps: false })
  Coin.belongsTo(Vault, { as: 'vault', foreignKey: 'vaultId' })
  return { Vault, Coin }
}

const served = await openStage(({ sequelize }, app) => {
  const models = {
    ...defineVaults(sequelize),
    Person: sequelize.define(
      'person',
      {
        firstName: DataTypes.STRING,
        first_name: { type: DataTypes.STRING, field: 'old_name' },
        tenant_id: { type: DataTypes.INTEGER, field: 'old_tenant' },
        tenantId: DataTypes.INTEGER,
      },
      { timestamps: false },
    ),
  }
  const { Person, Vault, Coin } = models
  const fields = { pin_code: { exclude: true } } as const
  app.use(crudRouter(Vault, { fields }))
  app.use(crudRouter(Vault, { fields, routePrefix: 'v2' }))
  app.use(crudRouter(Coin))
  app.use(
    crudRouter(Person, {
      operations: Operations.AllWithBulk,
      fields: { first_name: { exclude: true }, tenant_id: { exclude: true } },
      scope: () => ({ tenant_id: 5 }),
    }),
  )
  return models
})
const { Vault, Coin } = served
await Vault.bulkCreate([
  { pinCode: 'B', pin_code: 'SECRET 1' },
  { pinCode: 'A', pin_code: 'SECRET 2' },
])
await Coin.bulkCreate([
  { name: 'first', vaultId: 1 },
  { name: 'second', vaultId: 2 },
])

test.after.always(() => served.close())

test('an attribute that is excluded leaves its JSON name to another one', async (t) => {
  const { status, body } = await served.post('/api/people', { firstName: 'Ewa', tenantId: 7 })
  t.is(status, 201, JSON.stringify(body))
  t.like(body, { firstName: 'Ewa', tenantId: 7 })
  t.deepEqual(Object.keys(body), ['id', 'firstName', 'tenantId'])
  const row = await served.Person.findByPk(body.id)
  t.like(row?.get(), { firstName: 'Ewa', first_name: null, tenantId: 7, tenant_id: 5 })
  const found = await list(served, '/api/people', { filter: 'FirstName=Ewa', sort: '-FirstName', tenantId: 7 })
  t.like(found.body, { totalCount: 1, items: [{ firstName: 'Ewa' }] })
})

test('a scope over an excluded attribute leaves the field that has its JSON name alone', async (t) => {
  const [created] = (await served.post('/api/people/bulk', [{ firstName: 'Jan', tenantId: 8 }])).body
  const { status, body } = await served.patch(`/api/people/${created.id}`, { tenantId: 9 })
  t.is(status, 200)
  t.is(body.tenantId, 9)
  t.like((await served.Person.findByPk(created.id))?.get(), { tenantId: 9, tenant_id: 5 })
})

test('over a path too the name is that of the attribute which is shown, however many resources there are', async (t) => {
  const names = async (query: object): Promise<unknown> => {
    const { status, body } = await list(served, '/api/coins', { select: 'Name', ...query })
    return status === 200 ? body.items.map(({ name }: { name: string }) => name) : body.title
  }
  t.deepEqual(await names({ filter: 'Vault.PinCode^SECRET' }), [])
  t.deepEqual(await names({ filter: 'Vault.PinCode=A' }), ['second'])
  t.deepEqual(await names({ sort: 'Vault.PinCode' }), ['second', 'first'])
})

/** Names that all objects have, and names in which an instance of Sequelize keeps its own state. */
const TAKEN_NAMES = [
  ...['toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'toLocaleString', 'constructor', '__proto__'],
  ...['dataValues', 'isNewRecord', 'uniqno', '_changed', '_options', '_previousDataValues'],
]

test('a model whose attribute has the name of a member of every instance is refused, also where the field is excluded', (t) => {
  for (const name of TAKEN_NAMES) {
    const attributes = Object.fromEntries([[name, DataTypes.STRING]])
    const model = served.sequelize.define(`Taken${name}`, attributes, { timestamps: false })
    const message = `${model.name}: Sequelize cannot store the attribute "${name}", because its instances have a member of this name. Rename the attribute, and keep the column by field: "${name}". (INVALID_ATTRIBUTE)`
    const options: CrudOptions = { fields: Object.fromEntries([[name, { exclude: true }]]) }
    for (const mount of [() => crudRouter(model), () => crudRouter(model, options)]) {
      t.throws(mount, { instanceOf: CrudConfigError, code: 'INVALID_ATTRIBUTE', message })
    }
  }
})

test('a behaviour cannot add an attribute with the name of a member of every instance', (t) => {
  const model = served.sequelize.define('Marked', { name: DataTypes.STRING }, { timestamps: false })
  t.throws(() => crudRouter(model, { concurrency: { rowVersion: 'valueOf' } }), { code: 'INVALID_ATTRIBUTE' })
  t.deepEqual(Object.keys(model.getAttributes()), ['id', 'name'])
})

test('a column and a field may have the names of members that all objects have', async (t) => {
  const text = { type: DataTypes.STRING, field: 'toString' }
  const options = { timestamps: false, hooks: { beforeSave: () => undefined } }
  const models = [
    served.sequelize.define('Plain', { text, value_of: DataTypes.STRING }, { timestamps: false }),
    served.sequelize.define('Hooked', { text, value_of: DataTypes.STRING }, options),
  ]
  for (const model of models) {
    served.app.use(crudRouter(model, { fields: { text: { name: 'hasOwnProperty' } } }))
    await model.sync()
  }
  for (const path of ['/api/plains', '/api/hookeds']) {
    const created = await served.post(path, { hasOwnProperty: 'a', valueOf: 'b' })
    t.deepEqual([created.status, created.body], [201, { id: 1, hasOwnProperty: 'a', valueOf: 'b' }])
    const empty = await served.post(path, {})
    t.deepEqual([empty.status, empty.body], [201, { id: 2, hasOwnProperty: null, valueOf: null }])
    const changed = await served.patch(`${path}/2`, { valueOf: 'c' })
    t.deepEqual(changed.body, { id: 2, hasOwnProperty: null, valueOf: 'c' })
    const found = await list(served, path, { filter: 'hasOwnProperty=a', sort: 'valueOf' })
    t.deepEqual(found.body.items, [{ id: 1, hasOwnProperty: 'a', valueOf: 'b' }])
  }
})
