// What others point at their owner by may be something else than its key, which no answer need show: what a body holds
// belongs to its owner however that is written.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { openStage } from '../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Owner = sequelize.define(
    'Owner',
    {
      number: { type: DataTypes.INTEGER, primaryKey: true },
      code: { type: DataTypes.UUID, unique: true, defaultValue: DataTypes.UUIDV4 },
    },
    plain,
  )
  const Item = sequelize.define('Item', { name: DataTypes.STRING(9) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(9) }, plain)
  const Tagging = sequelize.define('Tagging', {}, plain)
  Owner.hasMany(Item, { as: 'items', foreignKey: 'ownerCode', sourceKey: 'code' })
  Owner.belongsToMany(Tag, {
    as: 'tags',
    through: Tagging,
    foreignKey: 'ownerCode',
    sourceKey: 'code',
    otherKey: 'tagId',
  })
  const write = { write: true } as const
  app.use(
    crudRouter(Owner, {
      operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
      fields: { code: { exclude: true }, number: { filterable: true } },
      relations: { items: write, tags: write },
    }),
    crudRouter(Item),
    crudRouter(Tag),
  )
})
const { sequelize } = stage
await sequelize.model('Tag').create({ name: 'red' })
test.after.always(() => stage.close())

/** How many records the owner of a number has, and how many links. */
async function of(number: number): Promise<readonly number[]> {
  const owner = await sequelize.model('Owner').findOne({ where: { number } })
  const where = { ownerCode: String(owner?.get('code')) }
  return Promise.all(['Item', 'Tagging'].map((name) => sequelize.model(name).count({ where })))
}

const body = (number: number): object => ({ number, items: [{ name: 'a' }, { name: 'b' }], tags: [1] })

for (const [at, [what, method, path, json]] of (
  [
    ['POST', 'POST', '/api/owners', body],
    ['bulk POST', 'POST', '/api/owners/bulk', (number: number) => [body(number)]],
    ['PUT', 'PUT', '/api/owners/2', body],
    ['upsert', 'PUT', '/api/owners/bulk?by=number', (number: number) => [body(number)]],
  ] as const
).entries()) {
  test(`a record that is made owns what its body holds by what no answer shows: ${what}`, async (t) => {
    const { status, text } = await stage.send(method, path, { json: json(at) })
    t.true(status === 200 || status === 201, text)
    t.false(text.includes('code'))
    t.deepEqual(await of(at), [2, 1])
  })
}

for (const [at, [what, method, path, json]] of (
  [
    ['PATCH', 'PATCH', (number: number) => `/api/owners/${number}`, body],
    ['bulk update', 'PATCH', () => '/api/owners/bulk', (number: number) => [body(number)]],
    ['PUT', 'PUT', (number: number) => `/api/owners/${number}`, body],
    ['upsert', 'PUT', () => '/api/owners/bulk?by=number', (number: number) => [body(number)]],
  ] as const
).entries()) {
  test(`a record that is there owns what its body holds by what no answer shows: ${what}`, async (t) => {
    const number = 100 + at
    const owner = await sequelize.model('Owner').create({ number })
    await sequelize.model('Item').create({ name: 'old', ownerCode: owner.get('code') })
    const { status, text } = await stage.send(method, path(number), { json: json(number) })
    t.is(status, 200, text)
    t.false(text.includes('code'))
    t.deepEqual(await of(number), [2, 1])
  })
}
