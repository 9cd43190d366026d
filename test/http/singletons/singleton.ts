// Singletons: the one record of each caller, at the route itself. Its key is the scope on every path.

import test from 'ava'
import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from 'sequelize'
import { CrudConfigError, createCrud, crudRouter, Operations, openApi, queryOf } from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { connectAgentOverHttp } from '../../support/mcp.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

class Profile extends Model<InferAttributes<Profile>, InferCreationAttributes<Profile>> {
  declare id: CreationOptional<number>
  declare name: string
}

class Post extends Model<InferAttributes<Post>, InferCreationAttributes<Post>> {
  declare id: CreationOptional<number>
  declare text: string
  declare profileId: number | null
}

class Tag extends Model<InferAttributes<Tag>, InferCreationAttributes<Tag>> {
  declare id: CreationOptional<number>
  declare word: string
}

class Setting extends Model<InferAttributes<Setting>, InferCreationAttributes<Setting>> {
  declare tenant: string
  declare userId: number
  declare theme: string
}

class Draft extends Model<InferAttributes<Draft>, InferCreationAttributes<Draft>> {
  declare id: CreationOptional<number>
  declare text: string
}

const errors: unknown[] = []
let asked = 0

/** The key by the name of a caller: digits are a key, `nobody` has none, and whoever is unknown is an error. */
const keyOf = ({ identity }: { readonly identity: { readonly name: string | null } | null }) => {
  asked += 1
  const name = identity?.name ?? null
  if (name === 'nobody') return null
  if (name === 'wrong') return 'text'
  return name === null ? (undefined as never) : Number(name)
}

const plain = { timestamps: false }

let documented: ReturnType<typeof openApi>
const stage = await openStage(({ sequelize }, app) => {
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  Profile.init({ id, name: { type: DataTypes.STRING, allowNull: false } }, { sequelize, ...plain })
  Post.init(
    { id, text: { type: DataTypes.STRING, allowNull: false }, profileId: DataTypes.INTEGER },
    { sequelize, ...plain },
  )
  Tag.init({ id, word: { type: DataTypes.STRING, allowNull: false } }, { sequelize, ...plain })
  Setting.init(
    {
      tenant: { type: DataTypes.STRING(20), primaryKey: true },
      userId: { type: DataTypes.INTEGER, primaryKey: true },
      theme: { type: DataTypes.STRING, allowNull: false },
    },
    { sequelize, ...plain },
  )
  Draft.init({ id, text: { type: DataTypes.STRING, allowNull: false } }, { sequelize, ...plain })
  Profile.hasMany(Post, { as: 'posts', foreignKey: 'profileId' })
  Post.belongsTo(Profile, { as: 'profile', foreignKey: 'profileId' })
  Profile.belongsToMany(Tag, { as: 'tags', through: 'ProfileTags', timestamps: false })
  const common = { identity: identityFromHeader, onError: (error: unknown) => errors.push(error) }
  const me = crudRouter(Profile, {
    ...common,
    route: 'api/me',
    singleton: async (context) => keyOf(context),
    operations: Operations.All | Operations.Replace,
    concurrency: true,
    idempotency: true,
    relations: { posts: { routes: true, write: true }, tags: { routes: true } },
  })
  app.use(me)
  app.use('/v1', me)
  app.use(crudRouter(Post, { ...common }))
  app.use(crudRouter(Tag, { ...common }))
  app.use(
    crudRouter(Setting, {
      ...common,
      route: 'api/settings',
      singleton: ({ identity }) => ({ tenant: 'a~b', userId: Number(identity?.name) }),
    }),
  )
  app.use(
    crudRouter(Draft, {
      ...common,
      route: 'api/draft',
      singleton: keyOf,
      softDelete: true,
      operations: Operations.All | Operations.Restore,
    }),
  )
  app.all('/mcp', crudMcp({ resources: [me], write: true }))
  documented = openApi({ resources: [me], info: { title: 'Me', version: '1' } })
})

await Profile.bulkCreate([
  { id: 1, name: 'Ann' },
  { id: 2, name: 'Bob' },
])
await Post.bulkCreate([
  { id: 1, text: 'of Ann', profileId: 1 },
  { id: 2, text: 'of Bob', profileId: 2 },
])
await Tag.create({ id: 1, word: 'red' })
if (stage.name === 'postgres') {
  for (const table of ['Profiles', 'Posts', 'Tags']) {
    await stage.sequelize.query(`SELECT setval(pg_get_serial_sequence('"${table}"', 'id'), 100)`)
  }
}

test.after.always(() => stage.close())

const ann = asUser('1')
const bob = asUser('2')

test.serial('GET answers the record of the caller, at the route itself', async (t) => {
  asked = 0
  const one = await stage.get('/api/me', ann)
  t.is(one.status, 200)
  t.like(one.body, { id: 1, name: 'Ann' })
  t.is(asked, 1)
  t.is((await stage.get('/api/me', bob)).body.name, 'Bob')
  t.deepEqual((await stage.get('/api/me?select=name', ann)).body, { name: 'Ann' })
})

test.serial('a caller without a key is 404, and a function that gives none or a wrong one is 500', async (t) => {
  for (const [method, path] of [
    ['GET', '/api/me'],
    ['PATCH', '/api/me'],
    ['POST', '/api/me'],
    ['DELETE', '/api/me'],
    ['GET', '/api/me/posts'],
  ] as const) {
    const json = method === 'PATCH' || method === 'POST' ? { json: { name: 'x' } } : {}
    t.is((await stage.send(method, path, { headers: asUser('nobody'), ...json })).status, 404, `${method} ${path}`)
    errors.length = 0
    t.is((await stage.send(method, path, json)).status, 500, `${method} ${path}`)
    t.regex(
      String(errors[0]),
      /Profile: singleton must return a value of type integer for the key attribute "id", or null for no record/,
    )
  }
  t.is((await stage.get('/api/me', asUser('wrong'))).status, 500)
  t.is((await stage.get('/api/me', asUser('77'))).status, 404)
})

test.serial('there is no list, and no address by a key', async (t) => {
  t.is((await stage.get('/api/me/1', ann)).status, 404)
  t.is((await stage.get('/api/me?page=1', ann)).status, 400)
  t.is((await stage.send('OPTIONS', '/api/me')).headers.get('allow'), 'GET, HEAD, POST, PATCH, DELETE, PUT, OPTIONS')
})

test.serial('replies are private, vary by the caller, and are never 304', async (t) => {
  const { headers } = await stage.get('/api/me', ann)
  t.is(headers.get('cache-control'), 'private')
  t.regex(headers.get('vary') ?? '', /Authorization, Cookie/)
  const tag = headers.get('etag') ?? ''
  t.is(tag, 'W/"0"')
  t.is((await stage.get('/api/me', { ...ann, 'if-none-match': tag })).status, 200)
  t.is((await stage.get('/api/me', { ...ann, 'if-none-match': '*' })).status, 200)
  const posts = await stage.get('/api/me/posts', ann)
  t.is(posts.headers.get('cache-control'), 'private')
  const known = { ...ann, 'if-none-match': posts.headers.get('etag') ?? '' }
  t.is((await stage.get('/api/me/posts', known)).status, 200)
})

test.serial('POST makes the record of the caller, whatever key the body has, and once', async (t) => {
  const made = await stage.post('/api/me', { id: 1, name: 'Cid' }, asUser('3'))
  t.is(made.status, 201)
  t.like(made.body, { id: 3, name: 'Cid' })
  t.is(made.headers.get('location'), '/api/me')
  t.is((await stage.post('/api/me', { name: 'Cid' }, asUser('3'))).status, 409)
  t.is(await Profile.count(), 3)
})

test.serial('PATCH, PUT and DELETE are of the record of the caller', async (t) => {
  const any = { ...asUser('3'), 'if-match': '*' }
  const patched = await stage.patch('/api/me', { id: 1, name: 'Cindy' }, any)
  t.is(patched.status, 200, patched.text)
  t.like(patched.body, { id: 3, name: 'Cindy' })
  t.is((await stage.patch('/api/me', { name: 'x' }, asUser('3'))).status, 428)
  const put = await stage.send('PUT', '/api/me', { json: { id: 2, name: 'Cy' }, headers: any })
  t.is(put.status, 200, put.text)
  t.like(put.body, { id: 3, name: 'Cy' })
  t.is((await stage.delete('/api/me', any)).status, 204)
  t.is((await stage.get('/api/me', asUser('3'))).status, 404)
  t.is((await Profile.findByPk(1))?.name, 'Ann')
})

test.serial('relation routes are below it', async (t) => {
  const posts = await stage.get('/api/me/posts', ann)
  t.deepEqual(
    posts.body.items.map(({ text }: { text: string }) => text),
    ['of Ann'],
  )
  const made = await stage.post('/api/me/posts', { text: 'new' }, ann)
  t.is(made.status, 201, made.text)
  t.is(made.body.profileId, 1)
  t.is(made.headers.get('location'), `/api/posts/${made.body.id}`)
  const mounted = await stage.post('/v1/api/me/posts', { text: 'new' }, ann)
  t.is(mounted.headers.get('location'), `/v1/api/posts/${mounted.body.id}`)
  await Post.destroy({ where: { id: [made.body.id, mounted.body.id] } })
  t.is((await stage.send('PUT', '/api/me/tags/1', { headers: ann })).status, 204)
  t.is((await stage.get('/api/me/tags', ann)).body.items.length, 1)
  t.is((await stage.get('/api/me/tags', bob)).body.items.length, 0)
  t.is((await stage.delete('/api/me/tags/1', ann)).status, 204)
})

test.serial('the key is the scope of paths, embeds and foreign keys', async (t) => {
  const { body } = await stage.get('/api/posts?select=text,profile.name&sort=id', ann)
  t.deepEqual(body.items, [
    { text: 'of Ann', profile: { name: 'Ann' } },
    { text: 'of Bob', profile: null },
  ])
  const found = await stage.get('/api/posts?filter=Profile.Name=Bob', ann)
  t.is(found.body.totalCount, 0)
  t.is((await stage.post('/api/posts', { text: 'x', profileId: 2 }, ann)).status, 409)
  const own = await stage.post('/api/posts', { text: 'x', profileId: 1 }, ann)
  t.is(own.status, 201)
  await Post.destroy({ where: { id: own.body.id } })
  const none = await stage.get('/api/posts?select=text,profile.name', asUser('nobody'))
  t.is(none.status, 400)
})

test.serial('an Idempotency-Key belongs to the caller whose key it is', async (t) => {
  const key = { 'idempotency-key': 'same' }
  const one = await stage.patch('/api/me', { name: 'Ann' }, { ...ann, ...key, 'if-match': '*' })
  t.is(one.body.id, 1)
  const other = await stage.patch('/api/me', { name: 'Ann' }, { ...bob, ...key, 'if-match': '*' })
  t.is(other.body.id, 2)
  t.is(other.headers.get('idempotency-replayed'), null)
  await Profile.update({ name: 'Bob' }, { where: { id: 2 } })
})

test.serial('a key of several parts is an object', async (t) => {
  const made = await stage.post('/api/settings', { tenant: 'other', theme: 'dark' }, ann)
  t.is(made.status, 201, made.text)
  t.deepEqual(made.body, { tenant: 'a~b', userId: 1, theme: 'dark' })
  t.is((await stage.get('/api/settings', ann)).body.theme, 'dark')
  t.is((await stage.get('/api/settings', bob)).status, 404)
  t.is((await stage.patch('/api/settings', { theme: 'light' }, ann)).body.theme, 'light')
})

test.serial('what was deleted softly comes back by restore', async (t) => {
  t.is((await stage.post('/api/draft', { text: 'one' }, ann)).status, 201)
  t.is((await stage.delete('/api/draft', ann)).status, 204)
  t.is((await stage.get('/api/draft', ann)).status, 404)
  const restored = await stage.send('POST', '/api/draft/restore', { headers: ann })
  t.is(restored.status, 200, restored.text)
  t.is((await stage.get('/api/draft', ann)).body.text, 'one')
})

test.serial('agents leave the key out', async (t) => {
  const agent = await connectAgentOverHttp(`${stage.url}/mcp`, ann)
  const { body } = await agent.call('describe_resource', { resource: 'me' })
  t.is(body.singleton, true)
  t.deepEqual(body.tools, ['get_record', 'create_record', 'update_record', 'delete_record'])
  const got = await agent.call('get_record', { resource: 'me' })
  t.like(got.body.record, { id: 1, name: 'Ann' })
  const changed = await agent.call('update_record', {
    resource: 'me',
    values: { name: 'Anna' },
    version: got.body.version,
  })
  t.is(changed.body.record.name, 'Anna')
  t.true((await agent.call('get_record', { resource: 'me', key: '2' })).isError)
  await agent.close()
})

test('documents have its routes without a key', (t) => {
  t.deepEqual(Object.keys(documented.paths), ['/api/me', '/api/me/posts', '/api/me/tags', '/api/me/tags/{key}'])
  t.deepEqual(Object.keys(documented.paths['/api/me'] ?? {}).sort(), ['delete', 'get', 'patch', 'post', 'put'])
  t.is(documented.tags?.[0]?.['x-crud']?.singleton, true)
  const { ProfileCreate } = documented.components.schemas as unknown as Record<string, { properties: object }>
  t.deepEqual(Object.keys(ProfileCreate?.properties ?? {}).sort(), ['name', 'posts'])
  const { parameters, responses } = documented.paths['/api/me']?.get ?? {}
  t.notRegex(JSON.stringify(parameters), /IfNoneMatch/)
  t.false('304' in (responses ?? {}))
})

test('a mount refuses operations of several records, and what is no function', (t) => {
  const bulk = {
    instanceOf: CrudConfigError,
    message: /a singleton is a single record and does not support these operations: bulkCreate, bulkDelete/,
  }
  t.throws(() => crudRouter(Tag, { singleton: () => 1, operations: Operations.AllWithBulk }), bulk)
  const actions = { shout: { on: 'collection', method: 'post', handler: () => undefined } } as const
  t.throws(() => crudRouter(Tag, { singleton: () => 1, actions }), {
    message: /the action "shout" must have on: "record", because a singleton is a single record/,
  })
  t.throws(() => crudRouter(Tag, { singleton: 1 as never }), { message: /"singleton" must be a function/ })
  t.throws(() => crudRouter(Tag, { singelton: () => 1 } as object), { message: /Did you mean "singleton"\?/ })
  t.throws(() => crudRouter(Tag, { singleton: undefined as never }), { message: /"singleton" is undefined/ })
  t.throws(() => createCrud({ singleton: () => 1 } as object), {
    message: /"singleton" applies to a single model and cannot be a default/,
  })
  t.throws(() => queryOf(Tag, { singleton: () => 1 }), { message: /"singleton" cannot be used with queryOf/ })
})

test.serial('related records in the body of POST and PUT may have the key of the caller, and no other', async (t) => {
  const posts = (profileId: number): object => ({ name: 'Cid', posts: [{ text: 'of Cid', profileId }] })
  const wrong = await stage.post('/api/me', posts(1), asUser('7'))
  t.deepEqual([wrong.status, wrong.body.errors], [400, { 'posts[0].profileId': ['must be the owner.'] }], wrong.text)
  const made = await stage.post('/api/me', posts(7), asUser('7'))
  t.is(made.status, 201, made.text)
  t.like(made.body, { id: 7, posts: [{ text: 'of Cid', profileId: 7 }] })
  const headers = { ...asUser('7'), 'if-match': '*' }
  const replaced = await stage.send('PUT', '/api/me', { json: posts(7), headers })
  t.is(replaced.status, 200, replaced.text)
})
