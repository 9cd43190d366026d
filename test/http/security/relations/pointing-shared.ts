// A foreign key may point at an attribute that several records share, as one that is unique within a tenant.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../../lib/index.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity } from '../../../support/tokens.js'

const scope: NonNullable<CrudOptions['scope']> = ({ identity: who }) => ({ tenantId: Number(who?.claims.tenant) })

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Area = sequelize.define('Area', { tenantId: DataTypes.INTEGER, code: DataTypes.STRING(9) }, plain)
  const Shop = sequelize.define('Shop', { name: DataTypes.STRING(9) }, plain)
  Shop.belongsTo(Area, { as: 'area', foreignKey: 'areaCode', targetKey: 'code' })
  // A table that is there has no constraint for each of its relations, and most databases none over such a key.
  Reflect.deleteProperty(Shop.getAttributes().areaCode ?? {}, 'references')
  app.use(crudRouter(Area, { identity, scope }))
  app.use(crudRouter(Shop, { identity, operations: Operations.AllWithBulk }))
})
await stage.sequelize.model('Area').bulkCreate([
  { tenantId: 1, code: 'north' },
  { tenantId: 1, code: 'north' },
  { tenantId: 1, code: 'NORTH' },
  { tenantId: 1, code: 'south' },
  { tenantId: 2, code: 'east' },
])
test.after.always(() => stage.close())

const mine = bearer({ sub: 'jan', tenant: 1 })
const sent = (codes: readonly string[]) =>
  stage.post(
    '/api/shops/bulk',
    codes.map((areaCode) => ({ name: 'x', areaCode })),
    mine,
  )

test('records of mine that share a key do not let another tenant’s be pointed at beside them', async (t) => {
  const missing = await sent(['north', 'west'])
  t.is(missing.status, 409)
  const foreign = await sent(['north', 'east'])
  t.is(foreign.status, 409)
  t.is(foreign.text, missing.text)
  t.is(await stage.sequelize.model('Shop').count({ where: { areaCode: 'east' } }), 0)
})

test('records that share a key take nobody else’s place where each is met', async (t) => {
  const { status, body } = await sent(['north', 'south', 'north'])
  t.is(status, 201)
  t.deepEqual(
    body.map(({ areaCode }: { areaCode: string }) => areaCode),
    ['north', 'south', 'north'],
  )
})

test('texts that differ in case are stored as the bodies spell them', async (t) => {
  const { status, body } = await sent(['NORTH', 'north', 'south'])
  t.is(status, 201)
  t.deepEqual(
    body.map(({ areaCode }: { areaCode: string }) => areaCode),
    ['NORTH', 'north', 'south'],
  )
})
