// A scope may let a caller see more rows between than he may delete. What he is told of links is what has become of them.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, type Identity, Operations } from '../../../lib/index.js'
import { as, identityFromHeader, openStage } from '../../support/stage.js'

const test = ava.serial

let Grant!: ModelStatic<Model>
const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const User = sequelize.define('User', { name: DataTypes.STRING(9) }, plain)
  const Right = sequelize.define('Right', { name: DataTypes.STRING(9) }, plain)
  Grant = sequelize.define(
    'Grant',
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      by: { type: DataTypes.STRING(9), allowNull: false },
    },
    plain,
  )
  User.belongsToMany(Right, { as: 'rights', through: Grant, foreignKey: 'userId', otherKey: 'rightId' })
  const common = { identity: identityFromHeader, operations: Operations.AllWithBulk }
  const nameOf = (identity: Identity | null): string => identity?.name ?? ''
  app.use(
    crudRouter(Right, common),
    crudRouter(User, { ...common, relations: { rights: { routes: true, write: true } } }),
    crudRouter(Grant, {
      ...common,
      // Everybody sees who has what; taken back is what one has given.
      scope: ({ identity, operation }) => (operation === 'getList' ? null : { by: nameOf(identity) }),
    }),
  )
})
test.after.always(() => stage.close())

test.beforeEach(async () => {
  const { User, Right } = stage.sequelize.models
  await stage.sequelize.sync({ force: true })
  await User?.create({ name: 'Jan' })
  await Right?.bulkCreate([{ name: 'read' }, { name: 'write' }, { name: 'pay' }])
  await Grant.bulkCreate([
    { userId: 1, rightId: 1, by: 'Ewa' },
    { userId: 1, rightId: 2, by: 'Ola' },
  ])
})

const linked = async (): Promise<readonly unknown[]> =>
  (await Grant.findAll({ order: ['rightId'] })).map((row) => row.get('rightId'))

test('undoing a link that is seen and not the caller’s to delete is 404, and no 204', async (t) => {
  t.is((await stage.delete('/api/users/1/rights/2', as('Ewa'))).status, 404)
  t.deepEqual(await linked(), [1, 2])
  t.is((await stage.delete('/api/users/1/rights/1', as('Ewa'))).status, 204)
  t.deepEqual(await linked(), [2])
})

test('a link that stays is not among those that an array has undone', async (t) => {
  const { status, body } = await stage.send('PUT', '/api/users/1/rights', { json: [3], headers: as('Ewa') })
  t.is(status, 200)
  t.deepEqual(body, { linked: 1, unlinked: 1 })
  t.deepEqual(await linked(), [2, 3])
})
