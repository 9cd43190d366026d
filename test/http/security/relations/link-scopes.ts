// A scope may let a caller see more rows between than he may delete. What he is told of links is what has become of them.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, type Identity, Operations } from '../../../../lib/index.js'
import { asUser, identityFromHeader, openStage } from '../../../support/stage.js'

const test = ava.serial

let Grant!: ModelStatic<Model>
let Favour!: ModelStatic<Model>
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
  const keys = { foreignKey: 'userId', otherKey: 'rightId' }
  User.belongsToMany(Right, { as: 'rights', through: Grant, ...keys })
  Favour = sequelize.define('Favour', { by: { type: DataTypes.STRING(9), defaultValue: 'nobody' } }, plain)
  User.belongsToMany(Right, { as: 'favours', through: Favour, ...keys })
  const both = { routes: true, write: true }
  const common = { identity: identityFromHeader, operations: Operations.AllWithBulk }
  const nameOf = (identity: Identity | null): string => identity?.name ?? ''
  app.use(
    crudRouter(Right, common),
    crudRouter(User, { ...common, relations: { rights: both, favours: both } }),
    crudRouter(Grant, {
      ...common,
      // Everybody sees who has what; taken back is what one has given.
      scope: ({ identity, operation }) => (operation === 'getList' ? null : { by: nameOf(identity) }),
    }),
    crudRouter(Favour, {
      ...common,
      // Seen is what one has given oneself.
      scope: ({ identity, operation }) => (operation === 'getList' ? { by: nameOf(identity) } : null),
      createPolicy: ({ identity }) => nameOf(identity) !== 'Guest',
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
  t.is((await stage.delete('/api/users/1/rights/2', asUser('Ewa'))).status, 404)
  t.deepEqual(await linked(), [1, 2])
  t.is((await stage.delete('/api/users/1/rights/1', asUser('Ewa'))).status, 204)
  t.deepEqual(await linked(), [2])
})

test('a link that stays is not among those that an array has undone', async (t) => {
  const { status, body } = await stage.send('PUT', '/api/users/1/rights', { json: [3], headers: asUser('Ewa') })
  t.is(status, 200)
  t.deepEqual(body, { linked: 1, unlinked: 1 })
  t.deepEqual(await linked(), [2, 3])
})

const favours = async (): Promise<readonly unknown[]> =>
  (await Favour.findAll({ order: ['rightId'] })).map((row) => [row.get('rightId'), row.get('by')])

test('a row between that the caller does not see is a conflict, and stays as it is, whatever else he may do to it', async (t) => {
  await Favour.create({ userId: 1, rightId: 2, by: 'Ola' })
  const one = await stage.send('PUT', '/api/users/1/favours/2', { headers: asUser('Ewa') })
  t.deepEqual([one.status, one.body.code], [409, 'conflict'])
  t.is(one.body.detail, 'The two records are already linked, and you may not change this link.')
  for (const method of ['PUT', 'POST']) {
    const { status, body } = await stage.send(method, '/api/users/1/favours', { json: [2], headers: asUser('Ewa') })
    t.deepEqual([status, body.errors], [409, { '[0]': ['is already taken.'] }])
  }
  t.deepEqual(await favours(), [[2, 'Ola']])
})

test('who may make no link is told the same of those that are there out of his reach, and of those that are not', async (t) => {
  await Favour.create({ userId: 1, rightId: 2, by: 'Ola' })
  const headers = asUser('Guest')
  for (const [method, path, json] of [
    ['PUT', '/favours/:right', undefined],
    ['PUT', '/favours', [':right']],
    ['POST', '/favours', [':right']],
    ['PATCH', '', { favours: [':right'] }],
    ['PUT', '/favours', [1, ':right']],
  ] as const) {
    const send = (right: number) =>
      stage.send(method, `/api/users/1${path.replace(':right', String(right))}`, {
        ...(json === undefined ? {} : { body: JSON.stringify(json).replace('":right"', String(right)) }),
        headers: { ...headers, 'content-type': 'application/json' },
      })
    const none = await send(3)
    t.is(none.status, 403, `${method} ${path}`)
    const there = await send(2)
    t.deepEqual([there.status, there.text], [403, none.text], `${method} ${path}`)
  }
  t.deepEqual(await favours(), [[2, 'Ola']])
})
