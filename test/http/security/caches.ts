// What is kept from one request for the next must not depend on more than it is looked up by.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'
import { identity, withPermission } from '../../support/tokens.js'

const plain = { timestamps: false }
const common: CrudOptions = { identity, operations: Operations.AllWithBulk }

test('attributes whose names hold the marks that lists are written with hide each by itself', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define(
      'Note',
      {
        north: DataTypes.STRING,
        between: DataTypes.STRING,
        south: DataTypes.STRING,
        'north,south': { type: DataTypes.STRING, field: 'both' },
      },
      plain,
    )
    app.use(crudRouter(Note, { ...common, mask: { north: 'n', south: 's', 'north,south': 'both' } }))
  })
  t.teardown(stage.close)
  const Note = stage.sequelize.model('Note')
  await Note.create({ north: 'N', south: 'S', 'north,south': 'NS' })
  const shown = async (...permissions: string[]): Promise<unknown> => {
    const { body } = await stage.get('/api/notes/1', withPermission(...permissions))
    return [body.north, body.south, body['north,south']]
  }
  t.deepEqual(await shown('n', 's'), ['N', 'S', null])
  t.deepEqual(await shown('both'), [null, null, 'NS'])
  t.deepEqual(await shown('n', 's'), ['N', 'S', null])
})

test('the same filter and sort mean what is mounted by then, and what whoever asks may see', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('Team', { name: DataTypes.STRING, secret: DataTypes.STRING }, plain)
    const Player = sequelize.define('Player', { name: DataTypes.STRING, teamId: DataTypes.INTEGER }, plain)
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    app.use(crudRouter(Player, common))
  })
  t.teardown(stage.close)
  const { sequelize, app } = stage
  const [Team, Player] = [sequelize.model('Team'), sequelize.model('Player')]
  await Team.bulkCreate([
    { id: 1, name: 'Falcons', secret: 'x' },
    { id: 2, name: 'Owls', secret: 'y' },
  ])
  await Player.bulkCreate([
    { id: 1, name: 'Ann', teamId: 1 },
    { id: 2, name: 'Bob', teamId: 2 },
    { id: 3, name: 'Cid', teamId: 2 },
  ])
  const path = '/api/players?filter=Team.Secret=y|Team.Name=Owls&sort=-Team.Secret'
  const asked = async (...permissions: string[]): Promise<unknown> => {
    const { status, body } = await stage.get(path, withPermission(...permissions))
    return status === 200 ? body.items.map(({ id }: { id: number }) => id) : body.code
  }
  const twice = async (...permissions: string[]): Promise<readonly unknown[]> => [
    await asked(...permissions),
    await asked(...permissions),
  ]
  t.deepEqual(await twice(), ['unknown-field', 'unknown-field'])

  const open = crudRouter(Team, { ...common, route: '/teams' })
  app.use(open)
  t.deepEqual(await twice(), [
    [3, 2],
    [3, 2],
  ])

  // A second resource over the model has a say as soon as it is there.
  const masking = crudRouter(Team, { ...common, route: '/masked-teams', mask: { secret: 'secrets' } })
  t.deepEqual(await twice(), ['unknown-field', 'unknown-field'])
  t.deepEqual(await twice('secrets'), [
    [3, 2],
    [3, 2],
  ])
  t.deepEqual(await twice(), ['unknown-field', 'unknown-field'])
  await masking.close()
  t.deepEqual(await twice(), [
    [3, 2],
    [3, 2],
  ])

  const closed = crudRouter(Team, {
    ...common,
    route: '/closed-teams',
    getListPolicy: ({ identity }) => identity?.permissions.has('list') === true,
  })
  t.deepEqual(await twice('list'), [
    [3, 2],
    [3, 2],
  ])
  t.deepEqual(await twice(), ['unknown-field', 'unknown-field'])
  await closed.close()

  const scoped = crudRouter(Team, { ...common, route: '/scoped-teams', scope: () => ({ name: 'Falcons' }) })
  t.deepEqual(await twice(), [[], []])
  await scoped.close()
  await open.close()
  t.deepEqual(await twice(), ['unknown-field', 'unknown-field'])
})

test('the same filter beside another sort, other keys or another word for what is unknown is planned for these', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define('Note', { title: DataTypes.STRING, rank: DataTypes.INTEGER }, plain)
    app.use(crudRouter(Note, { ...common, query: { unknownFields: 'ignore', search: ['title'] } }))
  })
  t.teardown(stage.close)
  await stage.sequelize.model('Note').bulkCreate([
    { id: 1, title: 'a', rank: 2 },
    { id: 2, title: 'b', rank: 1 },
    { id: 3, title: 'c', rank: 3 },
  ])
  const asked = async (query: string, headers = {}): Promise<unknown> => {
    const { status, body } = await stage.get(`/api/notes?filter=Rank>0,Nothing=1${query}`, headers)
    return status === 200 ? body.items.map(({ id }: { id: number }) => id) : body.code
  }
  const others: readonly (readonly [query: string, expected: unknown, headers?: object])[] = [
    ['&sort=Rank', [2, 1, 3]],
    ['&sort=-Rank', [3, 1, 2]],
    ['&sortBy=rank&sortDirection=desc', [3, 1, 2]],
    ['&sortBy=rank', [2, 1, 3]],
    ['&sortDirection=desc', [3, 2, 1]],
    ['&keys=1,3', [1, 3]],
    ['&search=c', [3]],
    ['&title=b', [2]],
    ['', 'unknown-field', { Prefer: 'handling=strict' }],
  ]
  // Each behind the plain one, which is kept by then, and the plain one behind it.
  for (const [query, expected, headers] of [...others, ...others]) {
    t.deepEqual(await asked(''), [1, 2, 3])
    t.deepEqual(await asked(query, headers), expected, query)
  }
  t.deepEqual(await asked(''), [1, 2, 3])
})
