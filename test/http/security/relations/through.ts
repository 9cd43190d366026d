// Paths over a many-to-many cross the table between its ends: what the resources over that table hide or refuse holds
// for them, as it does for any relation that a path crosses.

import { Agent } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import { DataTypes, type ModelAttributes } from 'sequelize'
import { type CrudOptions, crudRouter, hasRole, Operations, queryOf } from '../../../../lib/index.js'
import { listPath } from '../../../support/league.js'
import { openStage, type Stage } from '../../../support/stage.js'
import {
  define,
  fill,
  LINKS,
  type Link,
  mount,
  POSTS,
  QUESTIONS,
  TAGS,
  type Tagged,
  type Tagging,
  tagsOf,
} from '../../../support/tagging.js'
import { identity, withPermission, withRole } from '../../../support/tokens.js'
import { describeResponse } from '../../../support/told.js'

type Headers = Record<string, string>

const common: CrudOptions = { identity, operations: Operations.AllWithBulk, onError: () => undefined }
const paranoid = { timestamps: true, createdAt: false, updatedAt: false, paranoid: true } as const
const clerk = hasRole('clerk')

function fails(): never {
  throw new Error('the policy fails')
}

/** The resources over the table between, and what is special about its model. */
const WORLDS: Readonly<Record<string, Tagging>> = {
  open: {},
  plain: { links: [common] },
  paranoid: { model: paranoid },
  scoped: { model: { defaultScope: { where: { owner: 'ann' } } } },
  paranoidResource: { model: paranoid, links: [common] },
  soft: { links: [{ ...common, softDelete: true }] },
  query: { links: [{ ...common, softDelete: true }] },
  policy: { links: [{ ...common, authorizePolicy: clerk }] },
  list: { links: [{ ...common, getListPolicy: clerk }] },
  key: { links: [{ ...common, mask: { postId: 'links' } }] },
  otherKey: { links: [{ ...common, mask: { tagId: 'links' } }] },
  attribute: { links: [{ ...common, mask: { owner: 'links' } }] },
  excluded: { links: [{ ...common, fields: { tagId: { exclude: true } } }] },
  unread: { links: [{ ...common, fields: { postId: { exclude: 'response' } } }] },
  listed: { links: [{ ...common, fields: { postId: { exclude: ['query', 'list'] } } }] },
  unreadable: { links: [{ ...common, operations: ['create', 'delete'] }] },
  twice: {
    links: [
      { ...common, softDelete: true },
      { ...common, getListPolicy: clerk },
    ],
  },
  throwing: { links: [{ ...common, authorizePolicy: fails }] },
  named: { links: [{ ...common, authorizePolicy: clerk }], relations: { tags: { fields: ['name', 'id'] } } },
}

const tagged = new Map<string, Tagged>()
const stage = await openStage((database, app) => {
  for (const [name, how] of Object.entries(WORLDS)) {
    const models = define(database, name, how)
    tagged.set(name, models)
    mount(app, name, models, how)
  }
})
for (const models of tagged.values()) await fill(models)
const agent = new Agent({ keepAlive: true })
test.after.always(async () => {
  agent.destroy()
  await stage.close()
})

function modelsOf(name: string): Tagged {
  const models = tagged.get(name)
  if (models === undefined) throw new TypeError(`there is no world ${name}`)
  return models
}

/** Asks every question, which must be answered as if these links and no others were there. */
async function sees(
  t: ExecutionContext,
  name: string,
  links: readonly Link[],
  { server = stage, headers = {} }: { readonly server?: Stage; readonly headers?: Headers } = {},
): Promise<void> {
  for (const { plural, filter, answer } of QUESTIONS) {
    const path = `/api/${name}/${plural}`
    const { status, text, body } = await server.get(listPath(path, { filter }), headers)
    t.is(status, 200, `${name}: ${filter}: ${text}`)
    const names = body.items.map((item: { name: string }) => item.name)
    t.deepEqual(names, answer(links), `${name}: ${filter} ${JSON.stringify(headers)}`)
  }
  await embeds(t, name, links, { server, headers })
}

const MODES: readonly Readonly<Record<string, string>>[] = [{}, { count: 'true' }, { cursor: '' }, { select: 'name' }]

/** What collections in answers hold, and the number of what they hold. */
async function embeds(
  t: ExecutionContext,
  name: string,
  links: readonly Link[],
  { server = stage, headers = {} }: { readonly server?: Stage; readonly headers?: Headers } = {},
): Promise<void> {
  const { status, text, body } = await server.get(
    listPath(`/api/${name}/posts`, { select: 'tags.name,tags.count,notes.post.tags.name', sort: '-tags.count,id' }),
    headers,
  )
  t.is(status, 200, `${name}: ${text}`)
  const expected = POSTS.map((_, index) => tagsOf(links, index + 1))
    .toSorted((one, other) => other.length - one.length)
    .map((names) => {
      const tags = names
        .toSorted((one, other) => TAGS.indexOf(one) - TAGS.indexOf(other))
        .map((each) => ({ name: each }))
      return { tags, tagsCount: tags.length, notes: [{ post: { tags } }] }
    })
  t.deepEqual(body.items, expected, name)
  const single = await server.get(listPath(`/api/${name}/posts/1`, { select: 'tags(name)' }), headers)
  t.deepEqual(single.body.tags.map((tag: { name: string }) => tag.name).toSorted(), tagsOf(links, 1).toSorted(), name)
}

/** What a select, a sort and a shape of a collection get, which must be what one of a collection that does not exist gets. */
async function embedsNothing(t: ExecutionContext, name: string, headers: Headers): Promise<void> {
  const ask = (relation: string, parameters: Headers, path = 'posts'): Promise<unknown> =>
    describeResponse(agent, stage.url + listPath(`/api/${name}/${path}`, parameters), relation, headers)
  for (const path of ['posts', 'posts/1']) {
    for (const more of ['', '.name', '.*', '.count', '(id,name)', '.posts.name', '.secret']) {
      const answer = await ask('tags', { select: `name,tags${more}` }, path)
      t.like(answer, { status: 400 }, `${name}: ${more}`)
      t.deepEqual(answer, await ask('tagz', { select: `name,tagz${more}` }, path))
    }
    const answer = await ask('tags', { select: 'name', 'tags.limit': '1' }, path)
    t.like(answer, { status: 400 })
    t.deepEqual(answer, await ask('tagz', { select: 'name', 'tagz.limit': '1' }, path))
  }
  for (const sort of ['tags.count', 'tags.name', 'tags']) {
    const answer = await ask('tags', { sort })
    t.like(answer, { status: 400 })
    t.deepEqual(answer, await ask('tagz', { sort: sort.replace('tags', 'tagz') }))
  }
}

/** Asks every question, which must be answered, byte for byte, like one about a relation that does not exist. */
async function isClosed(t: ExecutionContext, name: string, headers: Headers = {}): Promise<void> {
  for (const [index, { plural, filter }] of QUESTIONS.entries()) {
    const [, relation = ''] = /(tags|posts)\./.exec(filter) ?? []
    const absent = relation.replace(/s$/, 'z')
    const mode = MODES[index % MODES.length]
    const ask = (asked: string): Promise<unknown> => {
      const path = listPath(`/api/${name}/${plural}`, { filter: filter.replace(relation, asked), ...mode })
      return describeResponse(agent, stage.url + path, asked, headers)
    }
    const answer = await ask(relation)
    t.like(answer, { status: 400 }, `${name}: ${filter}`)
    t.deepEqual(answer, await ask(absent), `${name}: ${filter}`)
  }
  await embedsNothing(t, name, headers)
}

test('without a resource over the table between, a many-to-many is as open as its ends', async (t) => {
  await sees(t, 'open', LINKS)
  await sees(t, 'plain', LINKS)
})

test('rows between that a paranoid model has deleted, or its default scope leaves out, tie nothing', async (t) => {
  for (const name of ['paranoid', 'paranoidResource']) {
    await modelsOf(name).Tagging.destroy({ where: { id: [1, 5] } })
    await sees(
      t,
      name,
      LINKS.filter(({ id }) => id !== 1 && id !== 5),
    )
  }
  await sees(
    t,
    'scoped',
    LINKS.filter(({ owner }) => owner === 'ann'),
  )
})

test('links that were deleted softly tie nothing and are not counted, whatever lists show deleted records', async (t) => {
  await sees(t, 'soft', LINKS)
  t.is((await stage.delete('/api/soft/taggings-0/1')).status, 204)
  t.is((await stage.post('/api/soft/taggings-0/bulk-delete', [4])).status, 200)
  const left = LINKS.filter(({ id }) => id !== 1 && id !== 4)
  await sees(t, 'soft', left)
  const deleted = await stage.get(listPath('/api/soft/taggings-0', { includeDeleted: true, count: true }))
  t.deepEqual(deleted.body, { count: LINKS.length })
})

for (const [name, allowed] of [
  ['policy', withRole('clerk')],
  ['list', withRole('clerk')],
  ['key', withPermission('links')],
  ['otherKey', withPermission('links')],
  ['named', withRole('clerk')],
] as const) {
  test(`${name}: where the resource between refuses the caller, or masks a foreign key, the path does not exist`, async (t) => {
    await isClosed(t, name)
    await isClosed(t, name, withRole('guest'))
    await sees(t, name, LINKS, { headers: allowed })
    await isClosed(t, name)
  })
}

for (const name of ['excluded', 'unread', 'unreadable']) {
  test(`${name}: where the resource between shows a foreign key to nobody, or nothing at all, the path does not exist`, async (t) => {
    await isClosed(t, name)
    await isClosed(t, name, withRole('clerk'))
  })
}

test('a foreign key that lists and filters do not know but GET by id shows closes nothing', async (t) => {
  await sees(t, 'listed', LINKS)
})

test('several resources over the table between must all consent', async (t) => {
  await isClosed(t, 'twice')
  await sees(t, 'twice', LINKS, { headers: withRole('clerk') })
  t.is((await stage.delete('/api/twice/taggings-0/2')).status, 204)
  await sees(
    t,
    'twice',
    LINKS.filter(({ id }) => id !== 2),
    { headers: withRole('clerk') },
  )
})

test('a policy between that fails answers 500, and never opens the way', async (t) => {
  const { status } = await stage.get(listPath('/api/throwing/posts', { filter: 'tags.name=red' }))
  t.is(status, 500)
  t.is((await stage.get('/api/throwing/posts')).status, 200)
})

test('what crosses a table whose resource masks something varies by caller, and says so', async (t) => {
  const ask = async (name: string, filter: string, headers: Headers = {}): Promise<unknown> => {
    const answer = await stage.get(listPath(`/api/${name}/posts`, { filter }), headers)
    return [answer.status, answer.headers.get('vary'), answer.headers.get('cache-control')]
  }
  t.deepEqual(await ask('attribute', 'tags.name=red'), [200, 'Authorization', 'private'])
  t.deepEqual(await ask('attribute', 'name=p1'), [200, null, null])
  t.deepEqual(await ask('key', 'tags.name=red', withPermission('links')), [200, 'Authorization', 'private'])
  t.deepEqual(await ask('key', 'tags.name=red'), [400, null, null])
})

test('queryOf crosses the table between by the same rules', async (t) => {
  const names = async (name: string, filter: string): Promise<unknown> => {
    const { Post } = modelsOf(name)
    const found = await Post.findAll(queryOf(Post).toFindOptions({ filter, sort: 'name' }))
    return found.map((post) => post.get('name'))
  }
  t.deepEqual(await names('open', 'tags.name=red'), ['p1', 'p2'])
  t.deepEqual(await names('query', 'tags.name=red'), ['p1', 'p2'])
  t.is((await stage.delete('/api/query/taggings-0/3')).status, 204)
  t.deepEqual(await names('query', 'tags.name=red'), ['p1'])
  t.deepEqual(await names('query', 'tags.count=1'), ['p2', 'p3'])
  for (const name of ['policy', 'key', 'excluded', 'unreadable']) {
    await t.throwsAsync(() => names(name, 'tags.name=red'), { message: /Unknown field/ }, name)
  }
})

// Scopes of every shape, one caller behind the other, and each of them the first to have its statements written.
const SCOPES = [null, { tenant: 1 }, { tenant: null }, { owner: 'ann' }, { owner: 'bob', tenant: 2 }]

for (const [first, scope] of SCOPES.entries()) {
  test(`the scope of the resource between holds for each caller, after one of scope ${JSON.stringify(scope)}`, async (t) => {
    const server = await openStage((database, app) => {
      const how: Tagging = {
        links: [{ scope: ({ request }) => JSON.parse(String(request.headers['x-scope'])) }],
      }
      const models = define(database, 'tenants', how)
      tagged.set(`tenants ${first}`, models)
      mount(app, 'tenants', models, how)
    })
    t.teardown(server.close)
    await fill(modelsOf(`tenants ${first}`))
    for (const next of [...SCOPES.slice(first), ...SCOPES.slice(0, first), scope]) {
      const links = LINKS.filter((link) =>
        Object.entries(next ?? {}).every(([name, value]) => link[name as 'tenant' | 'owner'] === value),
      )
      await sees(t, 'tenants', links, { server, headers: { 'x-scope': JSON.stringify(next) } })
    }
  })
}

test('every kind of many-to-many asks the resource between: by name, to itself, with keys and a scope of its own', async (t) => {
  const id = { type: DataTypes.INTEGER, autoIncrement: true, primaryKey: true }
  const plain = { timestamps: false }
  const server = await openStage(({ sequelize }, app) => {
    const Person = sequelize.define(
      'Person',
      { name: DataTypes.STRING, code: { type: DataTypes.STRING(10), unique: true } },
      plain,
    )
    const Skill = sequelize.define(
      'Skill',
      { name: DataTypes.STRING, slug: { type: DataTypes.STRING(10), unique: true } },
      plain,
    )
    const ends = (through: string): readonly [string, ModelAttributes] => [
      through,
      { id, level: DataTypes.INTEGER, kind: DataTypes.STRING(10) },
    ]
    const Friendship = sequelize.define(...ends('Friendship'), plain)
    const Ability = sequelize.define(...ends('Ability'), plain)
    const Coded = sequelize.define(
      'Coded',
      { id, personCode: { type: DataTypes.STRING(10), field: 'person_code' } },
      plain,
    )
    const Kinded = sequelize.define(...ends('Kinded'), plain)
    Person.belongsToMany(Person, { as: 'friends', through: Friendship, foreignKey: 'fromId', otherKey: 'toId' })
    Person.belongsToMany(Person, { as: 'admirers', through: Friendship, foreignKey: 'toId', otherKey: 'fromId' })
    // By name, and the table between as a relation of its own beside it.
    Person.belongsToMany(Skill, { as: 'skills', through: 'Ability', foreignKey: 'personId', otherKey: 'skillId' })
    Person.hasMany(Ability, { as: 'abilities', foreignKey: 'personId' })
    Ability.belongsTo(Person, { as: 'person', foreignKey: 'personId' })
    Ability.belongsTo(Skill, { as: 'skill', foreignKey: 'skillId' })
    Person.belongsToMany(Skill, {
      as: 'known',
      through: { model: Coded, unique: false },
      foreignKey: { name: 'personCode', field: 'person_code' },
      otherKey: { name: 'skillSlug', field: 'skill_slug' },
      sourceKey: 'code',
      targetKey: 'slug',
      constraints: false,
    })
    Person.belongsToMany(Skill, {
      as: 'hobbies',
      through: { model: Kinded, unique: false, scope: { kind: 'hobby' } },
      foreignKey: 'personId',
      otherKey: 'skillId',
    })
    // A variant of the model, as `scope()` gives it, is over the same table.
    Person.belongsToMany(Skill, {
      as: 'jobs',
      through: { model: Kinded.scope({ where: { kind: 'job' } }), unique: false },
      foreignKey: 'personId',
      otherKey: 'skillId',
    })
    const guards: CrudOptions = {
      ...common,
      softDelete: true,
      scope: ({ request }) =>
        request.headers['x-level'] === undefined ? null : { id: Number(request.headers['x-level']) },
      getListPolicy: ({ request }) => request.headers['x-closed'] === undefined,
    }
    for (const link of [Friendship, Ability, Coded, Kinded]) app.use(crudRouter(link, guards))
    for (const end of [Person, Skill]) app.use(crudRouter(end, common))
  })
  t.teardown(server.close)
  const model = (name: string): ReturnType<typeof server.sequelize.model> => server.sequelize.model(name)
  await model('Person').bulkCreate(['ann', 'bob', 'cid'].map((name) => ({ name, code: `c-${name}` })))
  await model('Skill').bulkCreate(['run', 'sew'].map((name) => ({ name, slug: `s-${name}` })))
  await model('Friendship').bulkCreate([
    { fromId: 1, toId: 2 },
    { fromId: 2, toId: 3 },
    { fromId: 1, toId: 3, isDeleted: true },
  ])
  await model('Ability').bulkCreate([
    { personId: 1, skillId: 1 },
    { personId: 2, skillId: 1 },
    { personId: 3, skillId: 1, isDeleted: true },
  ])
  await model('Coded').bulkCreate([
    { personCode: 'c-ann', skillSlug: 's-run' },
    { personCode: 'c-bob', skillSlug: 's-run' },
    { personCode: 'c-cid', skillSlug: 's-run', isDeleted: true },
  ])
  await model('Kinded').bulkCreate([
    { personId: 1, skillId: 1, kind: 'hobby' },
    { personId: 2, skillId: 1, kind: 'hobby' },
    { personId: 2, skillId: 2, kind: 'job' },
    { personId: 3, skillId: 1, kind: 'hobby', isDeleted: true },
    { personId: 1, skillId: 2, kind: 'job', isDeleted: true },
  ])
  const found = async (filter: string, headers: Headers = {}): Promise<unknown> => {
    const { status, body } = await server.get(listPath('/api/people', { filter, sort: 'id' }), headers)
    return status === 200 ? body.items.map(({ name }: { name: string }) => name) : body.title
  }
  const CASES: readonly (readonly [filter: string, all: readonly string[], ofTheSecond: readonly string[]])[] = [
    ['friends.count>0', ['ann', 'bob'], ['bob']],
    ['friends.name=cid', ['bob'], ['bob']],
    ['friends.friends.name=cid', ['ann'], []],
    ['admirers.name=ann', ['bob'], []],
    ['admirers.count=0', ['ann'], ['ann', 'bob']],
    ['skills.name=run', ['ann', 'bob'], ['bob']],
    ['skills.count=0', ['cid'], ['ann', 'cid']],
    ['abilities.skill.name=run', ['ann', 'bob'], ['bob']],
    ['abilities.count=0', ['cid'], ['ann', 'cid']],
    ['known.name=run', ['ann', 'bob'], ['bob']],
    ['known.none.name=run', ['cid'], ['ann', 'cid']],
    ['hobbies.name=run', ['ann', 'bob'], ['bob']],
    ['hobbies.name=sew', [], []],
    ['jobs.name=sew', ['bob'], []],
    ['jobs.count=0', ['ann', 'cid'], ['ann', 'bob', 'cid']],
    ['hobbies.count=1', ['ann', 'bob'], ['bob']],
  ]
  for (const [filter, all, ofTheSecond] of CASES) {
    t.deepEqual(await found(filter), all, filter)
    t.deepEqual(await found(filter, { 'x-level': '2' }), ofTheSecond, filter)
    t.deepEqual(await found(filter), all, filter)
    t.is(await found(filter, { 'x-closed': '1' }), 'Unknown field.', filter)
  }
})
