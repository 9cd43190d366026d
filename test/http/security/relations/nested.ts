// Routes below a record open nothing that the resources behind them would not: each of them is asked for its policies,
// masks, scope and soft delete, and what the caller may not know of looks like what does not exist.

import test from 'ava'
import { DataTypes } from 'sequelize'
import {
  authenticated,
  type CrudOptions,
  crudRouter,
  hasPermission,
  hasRole,
  type IdentityFunction,
  Operations,
  type Policy,
} from '../../../../lib/index.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity, withPermission, withRole } from '../../../support/tokens.js'

const routes = { routes: true } as const
const errors: unknown[] = []
const common: CrudOptions = { identity, onError: (error) => errors.push(error) }

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20), tenant: DataTypes.INTEGER }, plain)
  const Player = sequelize.define(
    'Player',
    { name: DataTypes.STRING(20), salary: DataTypes.INTEGER, secret: DataTypes.STRING(20), tenant: DataTypes.INTEGER },
    plain,
  )
  const Note = sequelize.define('Note', { text: DataTypes.STRING(20) }, plain)
  const Bond = sequelize.define('Bond', { name: DataTypes.STRING(20) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20), tenant: DataTypes.INTEGER }, plain)
  const link = {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    tenant: { type: DataTypes.INTEGER, defaultValue: 1 },
  }
  const Tagging = sequelize.define('Tagging', link, plain)
  const Marking = sequelize.define('Marking', link, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Note, { as: 'notes', foreignKey: 'teamId' })
  Note.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Bond, { as: 'bonds', foreignKey: 'teamId' })
  Team.belongsToMany(Tag, { as: 'tags', through: Tagging, foreignKey: 'teamId', otherKey: 'tagId' })
  Team.belongsToMany(Tag, { as: 'marks', through: Marking, foreignKey: 'teamId', otherKey: 'tagId' })
  app.use(
    crudRouter(Team, {
      ...common,
      operations: Operations.All,
      scope: ({ identity }) => (identity?.roles.has('root') ? null : { tenant: 1 }),
      softDelete: true,
      getByIdPolicy: authenticated,
      relations: { players: routes, notes: routes, bonds: routes, tags: routes, marks: routes },
    }),
  )
  app.use(
    crudRouter(Player, {
      ...common,
      mask: { salary: 'payroll' },
      fields: { secret: { exclude: true } },
      softDelete: true,
      scope: ({ identity }) => (identity?.roles.has('root') ? null : { tenant: 1 }),
      includeDeletedPolicy: hasRole('keeper'),
      createPolicy: hasRole('coach'),
      getByIdPolicy: hasRole('scout'),
      relations: { team: routes },
    }),
  )
  app.use(
    crudRouter(Note, {
      ...common,
      mask: { teamId: 'links' },
      createPolicy: authenticated,
      relations: { team: routes },
    }),
  )
  app.use(crudRouter(Bond, { ...common, mask: { teamId: { write: 'assign' } }, getListPolicy: hasRole('banker') }))
  app.use(crudRouter(Tag, { ...common, scope: () => ({ tenant: 1 }) }))
  app.use(
    crudRouter(Tagging, {
      ...common,
      scope: () => ({ tenant: 1 }),
      softDelete: true,
      getListPolicy: hasPermission('tags'),
    }),
  )
  app.use(crudRouter(Marking, { ...common, fields: { tagId: { exclude: true } } }))
})
const { sequelize } = stage
await sequelize.model('Team').bulkCreate([
  { name: 'Ours', tenant: 1 },
  { name: 'Theirs', tenant: 2 },
  { name: 'Gone', tenant: 1, isDeleted: true },
])
await sequelize.model('Player').bulkCreate([
  { name: 'Anna', salary: 7, secret: 'x', tenant: 1, teamId: 1 },
  { name: 'Bea', salary: 8, secret: 'y', tenant: 2, teamId: 1 },
  { name: 'Cleo', salary: 9, secret: 'z', tenant: 1, teamId: 1, isDeleted: true },
  { name: 'Dora', salary: 9, secret: 'z', tenant: 1, teamId: 2 },
  { name: 'Ela', salary: 9, secret: 'z', tenant: 1, teamId: 3 },
])
await sequelize.model('Note').bulkCreate([{ text: 'a note', teamId: 1 }])
await sequelize.model('Tag').bulkCreate([
  { name: 'red', tenant: 1 },
  { name: 'blue', tenant: 2 },
  { name: 'green', tenant: 1 },
  { name: 'grey', tenant: 1 },
])
await sequelize.model('Tagging').bulkCreate([
  { teamId: 1, tagId: 1, tenant: 1 },
  { teamId: 1, tagId: 2, tenant: 1 },
  { teamId: 1, tagId: 3, tenant: 2 },
  { teamId: 1, tagId: 4, tenant: 1, isDeleted: true },
])
test.after.always(() => stage.close())

const anybody = bearer({ sub: 'anybody' })
const names = (body: { items: readonly { name: string }[] }): readonly string[] => body.items.map(({ name }) => name)

test("the owner's policy of GET by id is asked, and then the target's", async (t) => {
  for (const path of ['1', '2', '999', 'abc']) {
    t.is((await stage.get(`/api/teams/${path}/players`)).status, 401)
    t.is((await stage.post(`/api/teams/${path}/players`, {})).status, 401)
    t.is((await stage.get(`/api/teams/${path}/bonds`, anybody)).status, 403)
    t.is((await stage.post(`/api/teams/${path}/players`, {}, anybody)).status, 403)
    t.is((await stage.get(`/api/players/${path}/team`, anybody)).status, 403)
  }
  t.is((await stage.get('/api/teams/1/bonds', withRole('banker'))).status, 200)
  t.is((await stage.post('/api/teams/1/players', { name: 'New', tenant: 2 }, withRole('coach'))).status, 403)
})

test('a policy refuses before the body is looked at', async (t) => {
  const { status } = await stage.send('POST', '/api/teams/1/players', {
    body: '{',
    headers: { 'content-type': 'text/plain', ...anybody },
  })
  t.is(status, 403)
})

test('an owner that is missing, deleted or out of scope is one and the same answer', async (t) => {
  const missing = await stage.get('/api/teams/999/players', anybody)
  t.is(missing.status, 404)
  for (const path of ['2', '3', 'abc', '%00', '%ff']) {
    const { status, text, headers } = await stage.get(`/api/teams/${path}/players`, anybody)
    t.is(status, 404)
    t.is(text, missing.text)
    t.is(headers.get('vary'), missing.headers.get('vary'))
    const created = await stage.post(`/api/teams/${path}/players`, { name: 'New' }, withRole('coach'))
    t.deepEqual([created.status, created.text], [404, missing.text])
  }
  t.is((await stage.get('/api/teams/1', anybody)).status, 200)
})

test("within the owner the target's scope, soft delete, masks and exclusions hold", async (t) => {
  const { body } = await stage.get('/api/teams/1/players', anybody)
  t.deepEqual(body.items, [{ id: 1, name: 'Anna', salary: null, tenant: 1, teamId: 1 }])
  t.is(body.totalCount, 1)
  const paid = await stage.get('/api/teams/1/players', withPermission('payroll'))
  t.is(paid.body.items[0].salary, 7)
  for (const filter of ['salary=7', 'secret=x', '__proto__=1', 'constructor=1']) {
    t.is((await stage.get(`/api/teams/1/players?filter=${filter}`, anybody)).status, 400, filter)
  }
  t.is((await stage.get('/api/teams/1/players?filter=team.name=Ours', anybody)).status, 200)
})

test('deleted records of a nested list are for whom the target lets see them, and the owner must be alive', async (t) => {
  t.is((await stage.get('/api/teams/1/players?includeDeleted=true', anybody)).status, 403)
  const keeper = withRole('keeper')
  t.deepEqual(names((await stage.get('/api/teams/1/players?includeDeleted=true', keeper)).body), ['Anna', 'Cleo'])
  t.is((await stage.get('/api/teams/3/players?includeDeleted=true', keeper)).status, 404)
})

test('a masked foreign key closes a relation from both sides, whatever the method', async (t) => {
  const closed = await stage.get('/api/notes/1/team', anybody)
  for (const path of ['/api/teams/1/notes', '/api/notes/1/team', '/api/teams/999/notes']) {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      for (const headers of [{}, anybody]) {
        const { status, text, headers: sent } = await stage.send(method, path, { headers })
        t.is(status, 404, `${method} ${path}`)
        t.is(text, closed.text)
        t.is(sent.get('allow'), null)
      }
    }
  }
  const wrong = { headers: { authorization: 'Bearer nonsense' } }
  t.is((await stage.send('GET', '/api/teams/1/notes', wrong)).status, 401)
  t.is((await stage.send('PUT', '/api/teams/1/notes', wrong)).status, 404)
  const may = withPermission('links')
  t.is((await stage.get('/api/teams/1/notes', may)).status, 200)
  t.is((await stage.get('/api/notes/1/team', may)).body.name, 'Ours')
  t.is((await stage.send('PUT', '/api/teams/1/notes', { headers: may })).status, 405)
})

test.serial('setting a foreign key by a path is a write of it: who may not write it is refused', async (t) => {
  const refused = await stage.post('/api/teams/1/bonds', { name: 'b' }, anybody)
  t.deepEqual([refused.status, refused.body.detail], [403, 'You do not have permission for this operation.'])
  t.is((await stage.post('/api/teams/999/bonds', { name: 'b' }, anybody)).status, 403)
  const { status, body } = await stage.post('/api/teams/1/bonds', { name: 'b' }, withPermission('assign'))
  t.is(status, 201)
  t.is(body.teamId, 1)
})

test.serial('a nested POST writes what the target takes, and nothing else', async (t) => {
  const { status, body } = await stage.post(
    '/api/teams/1/players',
    {
      id: 77,
      name: 'New',
      secret: 'set',
      isDeleted: true,
      deletedAt: '2020-01-01',
      teamId: 1,
      __proto__: { name: 'x' },
    },
    withRole('coach'),
  )
  t.is(status, 201)
  t.not(body.id, 77)
  const stored = await sequelize.model('Player').findByPk(body.id, { raw: true })
  t.like(stored, { secret: null, tenant: 1, teamId: 1 })
  t.falsy(Reflect.get(stored ?? {}, 'isDeleted'))
  await sequelize.model('Player').destroy({ where: { id: body.id } })
})

test('the headers of all resources of a request add up, whatever its status', async (t) => {
  const answers = [
    await stage.get('/api/teams/1/players', anybody),
    await stage.get('/api/teams/1/players'),
    await stage.get('/api/teams/999/players', anybody),
    await stage.send('PUT', '/api/teams/1/players'),
    await stage.send('OPTIONS', '/api/teams/1/players'),
    await stage.get('/api/notes/1/team', anybody),
  ]
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 401, 404, 405, 204, 404],
  )
  for (const { headers } of answers) {
    t.regex(headers.get('vary') ?? '', /Authorization/)
    t.is(headers.get('cache-control'), 'private')
  }
})

test('a list over a many-to-many has what both ends and the table between let the caller meet', async (t) => {
  const may = withPermission('tags')
  const { body } = await stage.get('/api/teams/1/tags', may)
  t.deepEqual(names(body), ['red'])
  t.is(body.totalCount, 1)
  t.is((await stage.get('/api/teams/1/tags?count=true', may)).body.count, 1)
  t.deepEqual(names((await stage.get('/api/teams/1/tags?filter=name=blue|name=green|name=grey', may)).body), [])
  t.is((await stage.get('/api/teams/1/tags', anybody)).status, 404)
  t.is((await stage.get('/api/teams/1/marks', may)).status, 404)
})

test('who asks is said once, by the owner, and by the target where the owner asks nobody', async (t) => {
  const asked: string[] = []
  const told: unknown[] = []
  const saidBy = (name: string): IdentityFunction => {
    return () => {
      asked.push(name)
      return { name, roles: new Set(), permissions: new Set(), claims: {} }
    }
  }
  const policy: Policy = ({ identity: caller }) => told.push(caller?.name) > 0
  const own = await openStage((database, app) => {
    const define = (name: string) => database.sequelize.define(name, { name: DataTypes.STRING }, { timestamps: false })
    const [Post, Note, Word, Tag] = [define('Post'), define('Note'), define('Word'), define('Tag')]
    Post.hasMany(Note, { as: 'notes', foreignKey: 'postId' })
    Post.hasMany(Word, { as: 'words', foreignKey: 'postId' })
    Post.belongsToMany(Tag, { as: 'tags', through: 'Tagging', foreignKey: 'postId', otherKey: 'tagId' })
    const relations = { notes: routes, words: routes, tags: routes }
    app.use(
      crudRouter(Post, { identity: saidBy('owner'), getByIdPolicy: policy, relations }),
      crudRouter(Post, { route: 'open', relations }),
      crudRouter(Note, { identity: saidBy('target'), getListPolicy: policy }),
      crudRouter(Word),
      crudRouter(Tag),
    )
  })
  t.teardown(() => own.close())
  await own.sequelize.model('Post').create({ name: 'one' })
  for (const [method, path, status, sayers, names] of [
    ['GET', '/api/posts/1/notes', 200, ['owner'], ['owner', 'owner']],
    ['GET', '/api/posts/1/words', 200, ['owner'], ['owner']],
    ['GET', '/open/1/notes', 200, ['target'], ['target']],
    ['GET', '/open/1/words', 200, [], []],
    // What a path does not have is the same for everybody, where nothing is masked.
    ['PUT', '/api/posts/1/notes', 405, [], []],
    ['GET', '/api/posts/1/tags/1', 405, [], []],
  ] as const) {
    asked.length = 0
    told.length = 0
    t.is((await own.send(method, path)).status, status, `${method} ${path}`)
    t.deepEqual([asked, told], [sayers, names], `${method} ${path}`)
  }
})
