// A scope may let a caller see more rows between than he may delete. What he is told of links is what has become of them.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, type Identity, Operations } from '../../../../lib/index.js'
import { asUser, identityFromHeader, openStage } from '../../../support/stage.js'

const test = ava.serial

let Grant!: ModelStatic<Model>
let Favour!: ModelStatic<Model>
/** How often the policy of lists of favours was evaluated, and which of these times it refuses. */
let evaluated = 0
let refused = 0
const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const User = sequelize.define('User', { name: DataTypes.STRING(9) }, plain)
  const code = { type: DataTypes.STRING(9), unique: true }
  const Right = sequelize.define('Right', { name: DataTypes.STRING(9), code }, plain)
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
  User.belongsToMany(Right, {
    as: 'codes',
    through: 'Coded',
    foreignKey: 'userId',
    otherKey: 'code',
    targetKey: 'code',
  })
  const Title = sequelize.define('Title', { owner: DataTypes.STRING(9) }, plain)
  User.belongsToMany(Title, { as: 'titles', through: 'Titled', foreignKey: 'userId', otherKey: 'titleId' })
  const Friendship = sequelize.define('Friendship', { note: DataTypes.STRING(9) }, plain)
  User.belongsToMany(User, { as: 'friends', through: Friendship, foreignKey: 'userId', otherKey: 'friendId' })
  const both = { routes: true, write: true }
  const common = { identity: identityFromHeader, operations: Operations.AllWithBulk }
  const nameOf = (identity: Identity | null): string => identity?.name ?? ''
  app.use(
    crudRouter(Right, { ...common, mask: { code: { write: 'codes' } } }),
    crudRouter(User, {
      ...common,
      relations: { rights: both, favours: both, codes: both, titles: both, friends: both },
    }),
    crudRouter(Title, {
      ...common,
      // Everybody lists all titles; read by its key is one's own.
      scope: ({ identity, operation }) => (operation === 'getById' ? { owner: nameOf(identity) } : null),
    }),
    crudRouter(Friendship, { ...common, mask: { note: 'notes' } }),
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
      getListPolicy: () => {
        evaluated += 1
        return evaluated !== refused
      },
    }),
  )
})
test.after.always(() => stage.close())

test.beforeEach(async () => {
  const { User, Right } = stage.sequelize.models
  await stage.sequelize.sync({ force: true })
  await User?.create({ name: 'Jan' })
  await Right?.bulkCreate(['read', 'write', 'pay'].map((name) => ({ name, code: name })))
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

const READ = '/api/users/1/favours?filter=favour.by=Ola&select=name,favour.by'

test('a list of linked records shows and filters attributes of the rows of the join model that the caller sees', async (t) => {
  const given = await stage.get('/api/users/1/rights?filter=grant.by=Ola&select=name,grant.by', asUser('Ewa'))
  t.deepEqual(given.body.items, [{ name: 'write', grant: { by: 'Ola' } }], given.text)
  await Favour.create({ userId: 1, rightId: 2, by: 'Ola' })
  t.deepEqual((await stage.get(READ, asUser('Ola'))).body.items, [{ name: 'write', favour: { by: 'Ola' } }])
  t.deepEqual((await stage.get(READ, asUser('Ewa'))).body.items, [])
})

test('a policy of the join model that refuses at any time of a request hides the attributes of its rows', async (t) => {
  await Favour.create({ userId: 1, rightId: 2, by: 'Ola' })
  const statuses: number[] = []
  do {
    refused += 1
    evaluated = 0
    statuses.push((await stage.get(READ, asUser('Ola'))).status)
  } while (evaluated >= refused)
  refused = 0
  t.deepEqual(statuses, [404, 400, 200])
})

test('a record is linked by a key that the caller may not write', async (t) => {
  const headers = asUser('Ewa')
  t.is((await stage.patch('/api/rights/1', { code: 'other' }, headers)).body.code, 'read')
  const { status, text } = await stage.send('PUT', '/api/users/1/codes/1', { headers })
  t.is(status, 204, text)
  const linked = await stage.get('/api/users/1/codes?select=code', headers)
  t.deepEqual(linked.body.items, [{ code: 'read' }])
})

test('a record is linked only if the scope of GET by key shows it, whatever the scope of lists shows', async (t) => {
  const headers = asUser('Ewa')
  await stage.sequelize.model('Title').bulkCreate([{ owner: 'Ewa' }, { owner: 'Ola' }])
  const gone = ['does not exist.']
  for (const [method, path, json, status, errors] of [
    ['PUT', '/1/titles/2', undefined, 404, undefined],
    ['PUT', '/1/titles', [1, 2], 400, { '[1]': gone }],
    ['POST', '/1/titles', [2], 400, { '[0]': gone }],
    ['PATCH', '/1', { titles: [1, 2] }, 400, { 'titles[1]': gone }],
    ['POST', '', { titles: [2] }, 400, { 'titles[0]': gone }],
  ] as const) {
    const answer = await stage.send(method, `/api/users${path}`, { json, headers })
    t.is(answer.status, status, `${method} ${path}`)
    t.deepEqual(answer.body.errors, errors, `${method} ${path}`)
  }
  t.is(await stage.sequelize.model('Titled').count(), 0)
  t.is((await stage.send('PUT', '/api/users/1/titles/1', { headers })).status, 204)
  t.is((await stage.patch('/api/users/1', { titles: [1] }, headers)).status, 200)
})

test('the headers of the linked records and of the join model are on every response to a body with links', async (t) => {
  for (const [relation, keys, status] of [
    ['titles', [], 201],
    ['friends', [], 201],
    ['friends', [1], 201],
    ['titles', [99], 400],
    ['friends', [99], 400],
    ['friends', null, 400],
  ] as const) {
    const answer = await stage.post('/api/users', { name: 'Ala', [relation]: keys }, asUser('Ewa'))
    t.is(answer.status, status, answer.text)
    t.is(answer.headers.get('vary'), 'Authorization', relation)
    t.is(answer.headers.get('cache-control'), 'private', relation)
  }
  t.is((await stage.post('/api/users', { name: 'Ala' }, asUser('Ewa'))).headers.get('vary'), null)
})
