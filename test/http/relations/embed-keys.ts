// Collections of owners with keys of several types, where statements are prepared and where queries are hooked, so that Sequelize runs them.

import ava from 'ava'
import { type DataType, DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const KEYS: readonly (readonly [name: string, type: DataType, key: string])[] = [
  ['Uuid', DataTypes.UUID, '6f0c1ba1-33b0-4d3b-9a8e-0c6a2b1d4e5f'],
  ['Bigint', DataTypes.BIGINT, '9007199254740993'],
  ['Day', DataTypes.DATEONLY, '2026-11-27'],
  ['Decimal', DataTypes.DECIMAL(12, 2), '10.25'],
  ['Char', DataTypes.CHAR(8), 'ab'],
  ['Text', DataTypes.STRING(40), `a"b\\c{d},'e`],
]

const server = await openStage()
const { app, sequelize } = server
for (const [name, type] of KEYS) {
  const Owner = sequelize.define(`${name}Owner`, { id: { type, primaryKey: true } }, { timestamps: false })
  const Thing = sequelize.define(`${name}Thing`, { name: DataTypes.STRING }, { timestamps: false })
  Owner.hasMany(Thing, { as: 'things', foreignKey: 'ownerId' })
  Owner.belongsToMany(Thing, { as: 'linked', through: `${name}Link`, timestamps: false })
  Thing.belongsToMany(Owner, { as: 'owners', through: `${name}Link`, timestamps: false })
  app.use(crudRouter(Thing, { route: `api/${name}-things` }))
  app.use(crudRouter(Owner, { route: `api/${name}-owners`, operations: Operations.AllWithBulk }))
}
await sequelize.sync({ force: true })
for (const [name, , id] of KEYS) {
  const { [`${name}Owner`]: Owner, [`${name}Thing`]: Thing, [`${name}Link`]: Link } = sequelize.models
  const owner = await Owner?.create({ id })
  const thing = await Thing?.create({ name: 'one', ownerId: id })
  await Link?.create({ [`${name}OwnerId`]: owner?.get('id'), [`${name}ThingId`]: thing?.get('id') })
}
test.after.always(() => server.close())

function collectionsAreRead(when: string): void {
  for (const [name] of KEYS) {
    test(`collections of owners with keys of the type ${name} are read ${when}`, async (t) => {
      const { status, body, text } = await server.get(`/api/${name}-owners?select=things(name),linked(name)`)
      t.is(status, 200, text)
      t.deepEqual(body.items, [{ things: [{ name: 'one' }], linked: [{ name: 'one' }] }])
    })
  }
}

collectionsAreRead('where statements are prepared')

test('a hook around queries of the host is there', (t) => {
  sequelize.addHook('beforeQuery', () => undefined)
  t.true(sequelize.hasHook('beforeQuery'))
})

collectionsAreRead('where queries are hooked')
