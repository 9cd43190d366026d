// Routes below a record, to what its relations lead to: lists within their owner, the one record of a to-one relation, and
// new records that belong to the owner.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, createCrud, crudRouter, Operations } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const errors: unknown[] = []
const { crudRouter: routerFor } = createCrud({ onError: (error) => errors.push(error) })

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define(
    'Team',
    { name: DataTypes.STRING(20), code: { type: DataTypes.STRING(20), unique: true } },
    plain,
  )
  const Player = sequelize.define(
    'Player',
    {
      name: { type: DataTypes.STRING(20), allowNull: false },
      level: { type: DataTypes.INTEGER, validate: { max: 100 } },
    },
    plain,
  )
  const Coach = sequelize.define('Coach', { name: DataTypes.STRING(20) }, plain)
  const Fan = sequelize.define('Fan', { name: DataTypes.STRING(20) }, plain)
  const Badge = sequelize.define('Badge', { name: DataTypes.STRING(20) }, plain)
  const Note = sequelize.define(
    'Note',
    {
      text: DataTypes.STRING(20),
      aboutId: DataTypes.INTEGER,
      aboutType: { type: DataTypes.STRING(20), allowNull: false },
    },
    plain,
  )
  Team.hasMany(Player, { as: 'players', foreignKey: { name: 'teamId', allowNull: false } })
  Player.belongsTo(Team, { as: 'team', foreignKey: { name: 'teamId', allowNull: false } })
  Team.hasOne(Coach, { as: 'coach', foreignKey: 'teamId' })
  Coach.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Fan, { as: 'fans', foreignKey: 'teamCode', sourceKey: 'code' })
  const unnamed = { foreignKey: 'teamCode', sourceKey: 'code', scope: { name: null } }
  Team.hasMany(Fan, { as: 'unnamed', ...unnamed })
  Fan.belongsTo(Team, { as: 'Team', foreignKey: 'teamCode', targetKey: 'code' })
  Team.hasMany(Note, { as: 'notes', foreignKey: 'aboutId', constraints: false, scope: { aboutType: 'team' } })
  Player.hasMany(Note, { as: 'notes', foreignKey: 'aboutId', constraints: false, scope: { aboutType: 'player' } })
  Team.hasMany(Badge, { as: 'badges', foreignKey: 'teamId' })
  const routes = { routes: true } as const
  const teams = routerFor(Team, {
    concurrency: true,
    relations: { players: routes, coach: routes, fans: routes, unnamed: routes, notes: routes, badges: routes },
    use: (_req, res, next) => {
      res.set('X-Used', 'yes')
      next()
    },
  })
  app.use('/v1', teams)
  const team = { routes: true, resource: () => teams }
  app.use('/v1', routerFor(Player, { relations: { team, notes: routes }, concurrency: true, query: { pageSize: 3 } }))
  app.use('/v1', routerFor(Coach, { relations: { team }, operations: ['getById', 'create'] }))
  app.use('/v1', routerFor(Fan, { relations: { Team: team } }))
  app.use('/v1', routerFor(Note))
  const teamsAt = (route: string, more: CrudOptions = {}) =>
    routerFor(Team, { route, relations: { players: { routes: true } }, ...more })
  app.use(teamsAt('inner/teams', { configure: () => undefined }))
  app.use('/root', teamsAt('/', { operations: Operations.Read }))
})
const { sequelize } = stage
const model = (name: string): ModelStatic<Model> => sequelize.model(name)
await model('Team').bulkCreate([
  { name: 'Lakers', code: 'LAK' },
  { name: 'Bulls', code: 'BUL' },
  { name: 'Empty', code: null },
])
await model('Player').bulkCreate(
  ['Anna', 'Bea', 'Cleo', 'Dora', 'Ela'].map((name, index) => ({ name, level: index * 20, teamId: 1 })),
)
await model('Player').bulkCreate([{ name: 'Zoe', level: 50, teamId: 2 }])
await model('Coach').bulkCreate([
  { name: 'Phil', teamId: 2 },
  { name: 'Carl', teamId: null },
])
await model('Fan').bulkCreate([
  { name: 'Jan', teamCode: 'LAK' },
  { name: 'Kim', teamCode: 'BUL' },
  { name: 'Lee', teamCode: null },
])
await model('Note').bulkCreate([
  { text: 'a team', aboutId: 1, aboutType: 'team' },
  { text: 'a player', aboutId: 1, aboutType: 'player' },
])
test.after.always(() => stage.close())

const names = (body: { items: readonly { name: string }[] }): readonly string[] => body.items.map(({ name }) => name)

test('a nested list is the list of the target within the owner', async (t) => {
  const { status, body, headers } = await stage.get('/v1/api/teams/1/players')
  t.is(status, 200)
  t.deepEqual(names(body), ['Anna', 'Bea', 'Cleo'])
  t.deepEqual(
    { ...body, items: [] },
    {
      items: [],
      totalCount: 5,
      page: 1,
      pageSize: 3,
      totalPages: 2,
      hasNextPage: true,
      hasPreviousPage: false,
    },
  )
  t.is(headers.get('x-total-count'), '5')
  t.is(headers.get('x-used'), 'yes')
  t.is(
    headers.get('link'),
    '</v1/api/teams/1/players?page=1>; rel="first", </v1/api/teams/1/players?page=2>; rel="next", </v1/api/teams/1/players?page=2>; rel="last"',
  )
  t.deepEqual(names((await stage.get('/v1/api/teams/2/players')).body), ['Zoe'])
  t.deepEqual((await stage.get('/v1/api/teams/3/players')).body.items, [])
})

test('a nested list filters, sorts, selects, counts and pages as the list of the target does, and never leaves the owner', async (t) => {
  const at = async (parameters: Record<string, string | number | boolean>) => {
    const { status, body } = await list(stage, '/v1/api/teams/1/players', parameters)
    t.is(status, 200, JSON.stringify(body))
    return body
  }
  t.deepEqual(names(await at({ filter: 'Level>=40', sort: '-Level' })), ['Ela', 'Dora', 'Cleo'])
  t.deepEqual(names(await at({ filter: 'Name=Zoe|Name=Ela' })), ['Ela'])
  t.deepEqual(names(await at({ filter: 'Team.Name=Bulls' })), [])
  t.deepEqual((await at({ select: 'Name,Team.Name', pageSize: 1 })).items, [{ name: 'Anna', team: { name: 'Lakers' } }])
  t.deepEqual(await at({ count: true }), { count: 5 })
  t.deepEqual(names(await at({ name: 'Zoe' })), [])
  t.deepEqual(names(await at({ keys: '1,6' })), ['Anna'])
  t.deepEqual(names(await at({ page: 2 })), ['Dora', 'Ela'])
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const body = await at({ cursor, pageSize: 2 })
    seen.push(...names(body))
    if (body.nextCursor === null) break
    cursor = body.nextCursor
  }
  t.deepEqual(seen, ['Anna', 'Bea', 'Cleo', 'Dora', 'Ela'])
  const first = await at({ after: '', sort: '-Level', pageSize: 2 })
  t.deepEqual(names(first), ['Ela', 'Dora'])
  t.deepEqual(names(await at({ after: first.nextCursor, sort: '-Level', pageSize: 9 })), ['Cleo', 'Bea', 'Anna'])
})

test('HEAD answers what GET does, without the body', async (t) => {
  const { status, text, headers } = await stage.send('HEAD', '/v1/api/teams/1/players')
  t.is(status, 200)
  t.is(text, '')
  t.is(headers.get('x-total-count'), '5')
})

test('a relation by another attribute than the key, and a polymorphic one, lead to their own records', async (t) => {
  t.deepEqual(names((await stage.get('/v1/api/teams/1/fans')).body), ['Jan'])
  t.deepEqual((await stage.get('/v1/api/teams/3/fans')).body.items, [])
  t.deepEqual(
    (await stage.get('/v1/api/teams/1/notes')).body.items.map(({ text }: { text: string }) => text),
    ['a team'],
  )
  t.deepEqual(
    (await stage.get('/v1/api/players/1/notes')).body.items.map(({ text }: { text: string }) => text),
    ['a player'],
  )
})

test('a to-one relation is the record as its own route shows it, ETag and 304 and select included', async (t) => {
  const team = await stage.get('/v1/api/players/6/team')
  t.is(team.status, 200)
  t.deepEqual(team.body, (await stage.get('/v1/api/teams/2')).body)
  t.deepEqual((await stage.get('/v1/api/teams/2/coach')).body, { id: 1, name: 'Phil', teamId: 2 })
  t.deepEqual((await stage.get('/v1/api/fans/2/team')).body.name, 'Bulls')
  const tag = team.headers.get('etag') ?? ''
  t.is(tag, 'W/"0"')
  t.is((await stage.get('/v1/api/players/6/team', { 'if-none-match': tag })).status, 304)
})

test('a to-one relation that leads nowhere, or an owner that does not exist, is 404 as any missing record', async (t) => {
  const missing = await stage.get('/v1/api/teams/999')
  t.is(missing.status, 404)
  const paths = [
    'teams/999/players',
    'teams/abc/players',
    'teams/%ff/players',
    'teams/3/coach',
    'coaches/2/team',
    'fans/3/team',
  ]
  for (const path of paths) {
    const { status, text } = await stage.get(`/v1/api/${path}`)
    t.is(status, 404, path)
    t.is(text, missing.text, path)
  }
})

test('the owner is looked for before the query is read, and a bad query is 400 as in the list of the target', async (t) => {
  t.is((await stage.get('/v1/api/teams/999/players?filter=nonsense')).status, 404)
  const nested = await stage.get('/v1/api/teams/1/players?filter=Nonsense=1')
  t.is(nested.status, 400)
  t.is(nested.text, (await stage.get('/v1/api/players?filter=Nonsense=1')).text)
})

test.serial('a nested POST creates a record of the owner, and its Location is that of the target', async (t) => {
  for (const [path, location] of [
    ['/v1/api/teams/2/players', /^\/v1\/api\/players\/\d+$/],
    ['/v1/api/teams/2/players/', /^\/v1\/api\/players\/\d+$/],
    ['/inner/teams/2/players', /^\/api\/players\/\d+$/],
    ['/root/2/players', /^\/root\/api\/players\/\d+$/],
  ] as const) {
    const { status, body, headers } = await stage.post(path, { name: 'Yola' })
    t.is(status, 201, path)
    t.deepEqual(body, { id: body.id, name: 'Yola', level: null, teamId: 2 })
    t.regex(headers.get('location') ?? '', location)
    t.is(headers.get('etag'), 'W/"0"')
    t.is((await model('Player').findByPk(body.id))?.get('teamId'), 2)
    await model('Player').destroy({ where: { id: body.id } })
  }
})

test.serial(
  "the owner's own key in the body is taken, and any other is refused together with all else that is wrong",
  async (t) => {
    const own = await stage.post('/v1/api/teams/2/players', { name: 'Xena', teamId: 2 })
    t.is(own.status, 201)
    await model('Player').destroy({ where: { id: own.body.id } })
    for (const teamId of [1, '2', null, 999, {}]) {
      const { status, body } = await stage.post('/v1/api/teams/2/players', { level: 101, teamId })
      t.is(status, 400)
      t.deepEqual(body.errors, {
        name: ['is required.'],
        level: ['must be at most 100.'],
        teamId: ['must be the owner.'],
      })
    }
    t.is(await model('Player').count({ where: { teamId: 2 } }), 1)
  },
)

test.serial('a nested POST gives records what the relation says of all of its records', async (t) => {
  const fan = await stage.post('/v1/api/teams/2/fans', { name: 'Mia' })
  t.deepEqual(fan.body, { id: fan.body.id, name: 'Mia', teamCode: 'BUL' })
  const note = await stage.post('/v1/api/players/6/notes', { text: 'new' })
  t.deepEqual(note.body, { id: note.body.id, text: 'new', aboutId: 6, aboutType: 'player' })
  const wrong = await stage.post('/v1/api/players/6/notes', { text: 'new', aboutType: 'team' })
  t.deepEqual([wrong.status, wrong.body.errors], [400, { aboutType: ['must be the owner.'] }])
  const keyless = await stage.post('/v1/api/teams/3/fans', { name: 'Mia' })
  t.is(keyless.status, 409)
  t.is(keyless.body.detail, 'No record can refer to this record, because the field that foreign keys refer to is null.')
  t.is(await model('Fan').count({ where: { teamCode: null } }), 1)
})

test.serial('a relation to records without a value has those alone, and gives new ones none', async (t) => {
  const { id } = (await model('Fan').create({ teamCode: 'LAK' })).get()
  await model('Fan').create({ teamCode: 'BUL' })
  const { body } = await stage.get('/v1/api/teams/1/unnamed')
  t.deepEqual(body.items, [{ id, name: null, teamCode: 'LAK' }])
  const made = await stage.post('/v1/api/teams/1/unnamed', {})
  t.deepEqual(made.body, { id: made.body.id, name: null, teamCode: 'LAK' })
  const wrong = await stage.post('/v1/api/teams/1/unnamed', { name: 'Mia' })
  t.deepEqual([wrong.status, wrong.body.errors], [400, { name: ['must be the owner.'] }])
  await model('Fan').destroy({ where: { name: null } })
})

test('a nested POST refuses a body before it looks for the owner, and validates it behind that', async (t) => {
  const post = (body: string, type: string) =>
    stage.send('POST', '/v1/api/teams/999/players', { body, headers: { 'content-type': type } })
  t.is((await post('{', 'application/json')).status, 400)
  t.is((await post('{}', 'text/plain')).status, 415)
  t.is((await post('[]', 'application/json')).status, 400)
  t.is((await post('{}', 'application/json')).status, 404)
  t.is((await stage.post('/v1/api/teams/1/players', {})).status, 400)
})

test('a method that a nested path does not have is 405 with Allow, and OPTIONS tells what it has', async (t) => {
  const allowed: readonly (readonly [path: string, allow: string])[] = [
    ['teams/1/players', 'GET, HEAD, QUERY, POST, OPTIONS'],
    ['teams/1/coach', 'GET, HEAD, OPTIONS'],
    ['players/1/team', 'GET, HEAD, OPTIONS'],
    ['teams/999/players', 'GET, HEAD, QUERY, POST, OPTIONS'],
  ]
  for (const [path, allow] of allowed) {
    for (const method of ['PUT', 'PATCH', 'DELETE', ...(allow.includes('QUERY') ? [] : ['QUERY'])]) {
      const { status, headers } = await stage.send(method, `/v1/api/${path}`)
      t.is(status, 405, `${method} ${path}`)
      t.is(headers.get('allow'), allow)
    }
    const options = await stage.send('OPTIONS', `/v1/api/${path}`)
    t.is(options.status, 204)
    t.is(options.headers.get('allow'), allow)
  }
  t.is((await stage.post('/v1/api/teams/1/coach', { name: 'x' })).status, 405)
})

test('routes exist only with the operation of the target that they stand for', async (t) => {
  const routers: readonly [CrudOptions, string | null][] = [
    [{ operations: ['getList'] }, 'GET, HEAD, QUERY, OPTIONS'],
    [{ operations: ['create'] }, 'POST, OPTIONS'],
    [{ operations: ['delete'] }, null],
  ]
  for (const [options, allow] of routers) {
    const badges = crudRouter(model('Badge'), options)
    const { status, headers } = await stage.send('OPTIONS', '/v1/api/teams/1/badges')
    t.is(status, allow === null ? 404 : 204)
    t.is(headers.get('allow'), allow)
    await badges.close()
  }
})

test.serial('a target without a resource, or with several, is a 500 whose cause goes to onError', async (t) => {
  errors.length = 0
  const none = await stage.get('/v1/api/teams/1/badges')
  const routers = [crudRouter(model('Badge')), crudRouter(model('Badge'))]
  const several = await stage.get('/v1/api/teams/1/badges')
  await Promise.all(routers.map((router) => router.close()))
  for (const { status, body } of [none, several]) {
    t.is(status, 500)
    t.is(body.detail, 'An unexpected error occurred.')
  }
  t.deepEqual(
    errors.map((error) => error instanceof Error && error.message.replace(/:.*?badges: /, ': ')),
    [
      'Team: no router is mounted for the model Badge. Mount one, or remove "routes" and "write". (INVALID_OPTION)',
      'Team: 2 routers are mounted for the model Badge. Choose one of them by "resource". (INVALID_OPTION)',
    ],
  )
})

test('a table between records whose resource is open to everybody closes no list over it', async (t) => {
  const own = await openStage((database, app) => {
    const plain = { timestamps: false }
    const Post = database.sequelize.define('Post', { name: DataTypes.STRING }, plain)
    const Tag = database.sequelize.define('Tag', { name: DataTypes.STRING }, plain)
    const Tagging = database.sequelize.define('Tagging', {}, plain)
    Post.belongsToMany(Tag, { as: 'tags', through: Tagging, foreignKey: 'postId', otherKey: 'tagId' })
    for (const each of [Tag, Tagging]) app.use(crudRouter(each))
    app.use(crudRouter(Post, { relations: { tags: { routes: true } } }))
  })
  t.teardown(() => own.close())
  const of = (name: string): ModelStatic<Model> => own.sequelize.model(name)
  await of('Post').bulkCreate([{ name: 'one' }, { name: 'two' }])
  await of('Tag').bulkCreate([{ name: 'red' }, { name: 'blue' }])
  await of('Tagging').create({ postId: 1, tagId: 2 })
  t.deepEqual(names((await own.get('/api/posts/1/tags')).body), ['blue'])
  t.deepEqual(names((await own.get('/api/posts/2/tags')).body), [])
})

test('what differs by caller behind a relation says so below an open owner, whatever the status', async (t) => {
  const own = await openStage((database, app) => {
    const plain = { timestamps: false }
    const Post = database.sequelize.define('Post', { name: DataTypes.STRING }, plain)
    const Note = database.sequelize.define('Note', { name: DataTypes.STRING }, plain)
    const Tag = database.sequelize.define('Tag', { name: DataTypes.STRING }, plain)
    const Tagging = database.sequelize.define('Tagging', { weight: DataTypes.INTEGER }, plain)
    Post.hasMany(Note, { as: 'notes', foreignKey: 'postId' })
    Post.belongsToMany(Tag, { as: 'tags', through: Tagging, foreignKey: 'postId', otherKey: 'tagId' })
    app.use(crudRouter(Note, { mask: { name: 'reader' } }))
    app.use(crudRouter(Tag))
    app.use(crudRouter(Tagging, { mask: { weight: 'reader' } }))
    const Writer = database.sequelize.define('Writer', { name: DataTypes.STRING }, plain)
    Post.belongsTo(Writer, { as: 'writer', foreignKey: 'writerId' })
    Writer.belongsTo(Note, { as: 'note', foreignKey: 'noteId' })
    app.use(crudRouter(Writer))
    const routes = { routes: true } as const
    app.use(crudRouter(Post, { relations: { notes: routes, tags: routes, writer: routes } }))
  })
  t.teardown(() => own.close())
  await own.sequelize.model('Post').create({ name: 'one' })
  for (const [path, status] of [
    ['/api/posts/1/notes', 200],
    ['/api/posts/1/notes?filter=nobody=1', 400],
    ['/api/posts/9/notes', 404],
    ['/api/posts/1/tags', 200],
    ['/api/posts/9/tags', 404],
    ['/api/posts/1/writer?select=name,note.name', 404],
  ] as const) {
    const answer = await own.get(path)
    t.is(answer.status, status, path)
    t.is(answer.headers.get('vary'), 'Authorization', path)
    t.is(answer.headers.get('cache-control'), 'private', path)
  }
})

test('where a body names another owner, the validators of the model say nothing of the owner', async (t) => {
  const own = await openStage((database, app) => {
    const Team = database.sequelize.define('Team', { name: DataTypes.STRING }, { timestamps: false })
    const Player = database.sequelize.define(
      'Player',
      { name: { type: DataTypes.STRING(9), allowNull: false }, teamId: DataTypes.INTEGER, level: DataTypes.INTEGER },
      {
        timestamps: false,
        validate: {
          isHigh(this: Model) {
            if (this.get('teamId') === 2 && Number(this.get('level')) < 5) throw new Error('too low for this team')
          },
          isNamed(this: Model) {
            if (String(this.get('name')).length > Number(this.get('level'))) throw new Error('longer than its level')
          },
        },
      },
    )
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
    app.use(crudRouter(Player))
    app.use(crudRouter(Team, { relations: { players: { routes: true } } }))
  })
  t.teardown(() => own.close())
  await own.sequelize.model('Team').bulkCreate([{ name: 'one' }, { name: 'two' }])
  const post = async (json: object): Promise<unknown> => {
    const { status, body } = await own.post('/api/teams/2/players', json)
    return status === 400 ? body.errors : status
  }
  const isHigh = ['too low for this team']
  const teamId = ['must be the owner.']
  t.deepEqual(await post({ name: 'A', level: 4 }), { isHigh })
  t.deepEqual(await post({ name: 'A', level: 4, teamId: 2 }), { isHigh })
  t.deepEqual(await post({ name: 'A', level: 4, teamId: 1 }), { teamId })
  t.deepEqual(await post({ name: 'Anna', level: 3, teamId: 1 }), { teamId, isNamed: ['longer than its level'] })
  t.is(await post({ name: 'A', level: 5, teamId: 2 }), 201)
})

test('a relation without routes has none', async (t) => {
  for (const path of ['fans/1/players', 'teams/1/nothing', 'teams/1/players/1', 'notes/1/team']) {
    const { status, headers } = await stage.get(`/v1/api/${path}`)
    t.is(status, 404)
    t.false((headers.get('content-type') ?? '').includes('problem'))
  }
})
