import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
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
