// `relations: { tags: { write: true } }` over a many-to-many: the body of a record holds the keys of what it is linked to.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, type HookContext, Operations } from '../../../lib/index.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

// What one of them does to the links is looked at.
const test = ava.serial

const asked: string[] = []
const hooked: string[] = []
const write = { write: true } as const
let denied: ReadonlySet<string> = new Set()

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const tenant = { type: DataTypes.INTEGER, defaultValue: 1 }
  const Blog = sequelize.define('Blog', { name: DataTypes.STRING(20) }, plain)
  const Post = sequelize.define('Post', { title: { type: DataTypes.STRING(20), allowNull: false } }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20), tenant }, plain)
  const Word = sequelize.define('Word', { text: { type: DataTypes.STRING(9), primaryKey: true } }, plain)
  const Tagging = sequelize.define('Tagging', { id, tenant }, plain)
  const Strict = sequelize.define('Strict', { why: { type: DataTypes.STRING(9), allowNull: false } }, plain)
  const Secret = sequelize.define('Secret', { id }, plain)
  const keys = { foreignKey: 'postId', otherKey: 'tagId' }
  Blog.hasMany(Post, { as: 'posts', foreignKey: 'blogId' })
  Post.belongsTo(Blog, { as: 'blog', foreignKey: 'blogId' })
  Post.belongsToMany(Tag, { as: 'tags', through: 'PostTag', ...keys })
  Post.belongsToMany(Tag, { as: 'labels', through: { model: Tagging, unique: false }, ...keys })
  Post.belongsToMany(Word, { as: 'words', through: 'PostWord', foreignKey: 'postId', otherKey: 'word' })
  Post.belongsToMany(Tag, { as: 'reasons', through: Strict, ...keys })
  Post.belongsToMany(Tag, { as: 'secrets', through: Secret, ...keys })
  const policy =
    (name: string) =>
    ({ operation }: { readonly operation: string }): boolean => {
      asked.push(`${name} ${operation}`)
      return !denied.has(`${name} ${operation}`)
    }
  const policies = (name: string) => ({
    createPolicy: policy(name),
    updatePolicy: policy(name),
    deletePolicy: policy(name),
    getByIdPolicy: policy(name),
    identity: identityFromHeader,
  })
  app.use(crudRouter(Blog, { relations: { posts: write } }))
  app.use(
    crudRouter(Post, {
      ...policies('post'),
      operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
      limits: { bulkItems: 12 },
      idempotency: true,
      relations: { tags: { write: true, routes: true }, labels: write, words: write, reasons: write, secrets: write },
    }),
  )
  app.use(crudRouter(Tag, { ...policies('tag'), scope: () => ({ tenant: 1 }), operations: Operations.Read }))
  app.use(crudRouter(Word, { operations: ['getList'] }))
  const told =
    (name: string) =>
    ({ instance }: HookContext): void => {
      hooked.push(`${name} ${instance.get('tagId')}`)
    }
  app.use(
    crudRouter(Tagging, {
      ...policies('label'),
      scope: () => ({ tenant: 1 }),
      softDelete: true,
      hooks: { afterCreate: told('created'), afterDelete: told('deleted'), afterRestore: told('restored') },
    }),
  )
  app.use(crudRouter(Secret, { mask: { tagId: 'see' }, identity: identityFromHeader }))
})
const { sequelize } = stage
const model = (name: string): ModelStatic<Model> => sequelize.model(name)
await model('Tag').bulkCreate([
  ...['red', 'green', 'blue', 'grey'].map((name) => ({ name })),
  { name: 'theirs', tenant: 2 },
])
await model('Word').bulkCreate(['on', 'off'].map((text) => ({ text })))
test.after.always(() => stage.close())
test.afterEach.always(() => {
  denied = new Set()
})

const ann = asUser('ann')
const create = async (body: object): Promise<number> => {
  const answer = await stage.post('/api/posts', { title: 'post', ...body }, ann)
  return answer.body.id
}
async function linkedTo(post: unknown, table = 'PostTag', key = 'tagId'): Promise<readonly unknown[]> {
  const rows = await model(table).findAll({ where: { postId: Number(post) }, raw: true, order: [key] })
  return rows.map((row) => Reflect.get(row, key))
}

test('a POST creates a record with its links, and the reply has the keys as the body had them', async (t) => {
  const { status, body } = await stage.post('/api/posts', { title: 'one', tags: [3, 1, '3'], words: ['off'] }, ann)
  t.is(status, 201)
  t.deepEqual(body, { id: body.id, title: 'one', blogId: null, tags: [3, 1], words: ['off'] })
  t.deepEqual(await linkedTo(body.id), [1, 3])
  t.deepEqual(await linkedTo(body.id, 'PostWord', 'word'), ['off'])
  const without = await stage.post('/api/posts', { title: 'two' }, ann)
  t.false('tags' in without.body)
  t.deepEqual((await stage.post('/api/posts', { title: 'three', tags: [] }, ann)).body.tags, [])
})

test('a bulk POST links the records of each', async (t) => {
  const bodies = [{ title: 'a', tags: [1, 2] }, { title: 'b' }, { title: 'c', tags: [2] }, { title: 'd', tags: [] }]
  const { status, body } = await stage.post('/api/posts/bulk', bodies, ann)
  t.is(status, 201)
  t.deepEqual(
    body.map(({ tags }: { tags?: unknown }) => tags),
    [[1, 2], undefined, [2], []],
  )
  t.deepEqual(await linkedTo(body[0].id), [1, 2])
  t.deepEqual(await linkedTo(body[2].id), [2])
})

test('what is sent again under its key is answered as the first time, with and without a resource over the table between', async (t) => {
  for (const name of ['tags', 'labels', 'words']) {
    const [keys, others] = name === 'words' ? [['on'], ['off']] : [[1], [2, 3]]
    const made = { title: 'again', [name]: keys }
    const once = { 'Idempotency-Key': `make ${name}` }
    const first = await stage.post('/api/posts', made, once)
    t.is(first.status, 201)
    const second = await stage.post('/api/posts', made, once)
    t.deepEqual([second.status, second.headers.get('idempotency-replayed')], [201, 'true'], name)
    t.is(second.text, first.text)
    const changed = { 'Idempotency-Key': `change ${name}` }
    const path = `/api/posts/${first.body.id}`
    const patched = await stage.patch(path, { [name]: others }, changed)
    t.is(patched.status, 200)
    const repeated = await stage.patch(path, { [name]: others }, changed)
    t.deepEqual([repeated.status, repeated.headers.get('idempotency-replayed')], [200, 'true'], name)
    t.is(repeated.text, patched.text)
  }
})

test('a PATCH makes the links exactly these, and leaves them alone where it says nothing', async (t) => {
  const id = await create({ tags: [1, 2], labels: [1, 2] })
  const patch = (body: object) => stage.patch(`/api/posts/${id}`, body, ann)
  hooked.length = 0
  const { status, body } = await patch({ title: 'new', tags: [3, 2], labels: [3, 1] })
  t.is(status, 200)
  t.deepEqual([body.title, body.tags, body.labels], ['new', [3, 2], [3, 1]])
  t.deepEqual(await linkedTo(id), [2, 3])
  t.deepEqual(hooked, ['deleted 2', 'created 3'])
  t.false('tags' in (await patch({ title: 'newer' })).body)
  t.deepEqual(await linkedTo(id), [2, 3])
  t.deepEqual((await patch({ tags: [] })).body.tags, [])
  t.deepEqual(await linkedTo(id), [])
  hooked.length = 0
  t.deepEqual((await patch({ labels: [2, 1] })).body.labels, [2, 1])
  t.deepEqual(hooked, ['deleted 3', 'restored 2'])
})

test('keys that do not exist for the caller are told with their places, and nothing is written', async (t) => {
  const count = await model('Post').count()
  const wrong = { title: 'x', tags: [1, 99, 'x', null, {}, 5], words: ['on', 'ON'] }
  const errors = {
    'tags[1]': ['does not exist.'],
    'tags[2]': ['does not exist.'],
    'tags[3]': ['does not exist.'],
    'tags[4]': ['does not exist.'],
    'tags[5]': ['does not exist.'],
    'words[1]': ['does not exist.'],
  }
  const created = await stage.post('/api/posts', wrong, ann)
  t.deepEqual([created.status, created.body.code, created.body.errors], [400, 'validation', errors])
  const several = await stage.post('/api/posts/bulk', [{ title: 'y' }, { title: 'z', tags: [99] }], ann)
  t.deepEqual([several.status, several.body.errors], [400, { '[1].tags[0]': ['does not exist.'] }])
  t.is(await model('Post').count(), count)
  const id = await create({ tags: [1] })
  const patched = await stage.patch(`/api/posts/${id}`, wrong, ann)
  t.deepEqual([patched.status, patched.body.errors], [400, errors])
  t.deepEqual([(await stage.get(`/api/posts/${id}`, ann)).body.title, await linkedTo(id)], ['post', [1]])
})

test('what is no array, and what the rules find, is told at once', async (t) => {
  const { status, body } = await stage.post('/api/posts', { tags: null, words: 'on', labels: { 0: 1 } }, ann)
  t.is(status, 400)
  t.deepEqual(body.errors, {
    title: ['is required.'],
    tags: ['cannot be null.'],
    words: ['must be an array.'],
    labels: ['must be an array.'],
  })
  const id = await create({})
  const patched = await stage.patch(`/api/posts/${id}`, { title: null, tags: null }, ann)
  t.deepEqual(patched.body.errors, { title: ['cannot be null.'], tags: ['cannot be null.'] })
  const strict = await stage.post('/api/posts', { title: 'x', reasons: [1, 2] }, ann)
  t.deepEqual(
    [strict.status, strict.body.errors],
    [400, { 'reasons[0].why': ['is required.'], 'reasons[1].why': ['is required.'] }],
  )
})

test('links whose record or row the caller cannot meet stay, and a pair that is linked out of reach is a conflict', async (t) => {
  const id = await create({ tags: [1] })
  await model('PostTag').create({ postId: id, tagId: 5 })
  await model('Tagging').create({ postId: id, tagId: 2, tenant: 2 })
  t.is((await stage.patch(`/api/posts/${id}`, { tags: [], labels: [] }, ann)).status, 200)
  t.deepEqual(await linkedTo(id), [5])
  t.deepEqual(await linkedTo(id, 'Tagging'), [2])
  const { status, body } = await stage.patch(`/api/posts/${id}`, { title: 'no', labels: [1, 2] }, ann)
  t.deepEqual([status, body.errors], [409, { 'labels[1]': ['is already taken.'] }])
  t.is((await stage.get(`/api/posts/${id}`, ann)).body.title, 'post')
})

test('a POST asks the create policy of the owner and not its update policy, and those of records and rows', async (t) => {
  asked.length = 0
  await create({ tags: [1], labels: [1] })
  t.deepEqual(asked, ['post create', 'tag getById', 'label create'])
  asked.length = 0
  await create({ tags: [], labels: [] })
  t.deepEqual(asked, ['post create', 'tag getById'])
  const id = await create({ labels: [1] })
  asked.length = 0
  await stage.patch(`/api/posts/${id}`, { labels: [2] }, ann)
  t.deepEqual(asked, ['post update', 'tag getById', 'label delete', 'label create'])
  const count = await model('Post').count()
  for (const policy of ['tag getById', 'label create']) {
    denied = new Set([policy])
    t.is((await stage.post('/api/posts', { title: 'x', labels: [1] }, ann)).status, 403, policy)
    t.is((await stage.post('/api/posts', { title: 'x', labels: [1] })).status, 401, policy)
    t.is((await stage.patch(`/api/posts/${id}`, { labels: [3] }, ann)).status, 403, policy)
  }
  denied = new Set(['label delete'])
  t.is((await stage.patch(`/api/posts/${id}`, { labels: [] }, ann)).status, 403)
  t.is((await stage.patch(`/api/posts/${id}`, { labels: [2] }, ann)).status, 200)
  t.is(await model('Post').count(), count)
})

test('a relation whose foreign key is masked is an unknown property', async (t) => {
  const { status, body } = await stage.post('/api/posts', { title: 'x', secrets: [1, 'nonsense'] }, ann)
  t.is(status, 201)
  t.false('secrets' in body)
  t.is(await model('Secret').count(), 0)
})

test('keys count against bulkItems, and links that are undone do not', async (t) => {
  const tags = Array.from({ length: 12 }, () => 1)
  const { status, body } = await stage.post('/api/posts', { title: 'x', tags }, ann)
  t.is(status, 400)
  t.is(body.detail, 'The request writes more records than the limit of 12 (bulkItems).')
  const id = await create({ tags: tags.slice(1) })
  t.is((await stage.patch(`/api/posts/${id}`, { tags: [2, 3, 4] }, ann)).status, 200)
})

test('a PUT and a bulk update make the links exactly these as well, and leave alone what they do not name', async (t) => {
  const [one, other] = [await create({ tags: [1, 2] }), await create({ tags: [1] })]
  const put = (body: object) =>
    stage.send('PUT', `/api/posts/${one}`, { json: { title: 'put', ...body }, headers: ann })
  t.deepEqual((await put({ tags: [3, 2] })).body.tags, [3, 2])
  t.is((await put({})).status, 200)
  t.deepEqual(await linkedTo(one), [2, 3])
  t.deepEqual((await put({ tags: [99] })).body.errors, { 'tags[0]': ['does not exist.'] })
  const patch = (json: readonly object[]) => stage.send('PATCH', '/api/posts/bulk', { json, headers: ann })
  const { status, body } = await patch([
    { id: one, tags: [] },
    { id: other, tags: [4, 1] },
  ])
  t.is(status, 200)
  t.deepEqual(
    body.map(({ tags }: { tags?: unknown }) => tags),
    [[], [4, 1]],
  )
  t.deepEqual([await linkedTo(one), await linkedTo(other)], [[], [1, 4]])
  const wrong = await patch([
    { id: one, tags: [1] },
    { id: other, tags: [4, 99] },
  ])
  t.deepEqual([wrong.status, wrong.body.errors], [400, { '[1].tags[1]': ['does not exist.'] }])
  t.deepEqual(await linkedTo(one), [])
})

test('wrong keys are told for every relation and every item at once', async (t) => {
  const [one, other] = [await create({}), await create({})]
  const gone = ['does not exist.']
  const none = { labels: [98], tags: [99] }
  const all = { 'labels[0]': gone, 'tags[0]': gone }
  const patched = await stage.patch(`/api/posts/${one}`, none, ann)
  t.deepEqual([patched.status, patched.body.errors], [400, all])
  const posted = await stage.post('/api/posts', { title: 'new', ...none }, ann)
  t.deepEqual([posted.status, posted.body.errors], [400, all])
  const items = [one, other].map((id) => ({ id, ...none }))
  const bulk = await stage.send('PATCH', '/api/posts/bulk', { json: items, headers: ann })
  t.deepEqual(
    [bulk.status, bulk.body.errors],
    [400, { '[0].labels[0]': gone, '[0].tags[0]': gone, '[1].labels[0]': gone, '[1].tags[0]': gone }],
  )
  t.is(await model('Post').count({ where: { title: 'new' } }), 0)
})

test('records within a body have links as well', async (t) => {
  const posts = [{ title: 'a', tags: [2, 1] }, { title: 'b', tags: [] }, { title: 'c' }]
  const { status, body } = await stage.post('/api/blogs', { name: 'blog', posts }, ann)
  t.is(status, 201)
  t.deepEqual(
    body.posts.map(({ tags }: { tags?: unknown }) => tags),
    [[2, 1], [], undefined],
  )
  const [first] = body.posts
  const patched = await stage.patch(
    `/api/blogs/${body.id}`,
    {
      posts: [
        { id: first.id, tags: [3] },
        { title: 'd', tags: [4] },
      ],
    },
    ann,
  )
  t.is(patched.status, 200)
  t.deepEqual(
    patched.body.posts.map(({ tags }: { tags?: unknown }) => tags),
    [[3], [4]],
  )
  t.deepEqual(await linkedTo(first.id), [3])
  const wrong = await stage.patch(`/api/blogs/${body.id}`, { posts: [{ id: first.id, tags: [3, 99] }] }, ann)
  t.deepEqual([wrong.status, wrong.body.errors], [400, { 'posts[0].tags[1]': ['does not exist.'] }])
})

test('of two that set the links of a record by its body at once the end is one of the two', async (t) => {
  const id = await create({ tags: [], labels: [] })
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all(
      [
        [1, 2],
        [3, 4],
      ].map((keys) => stage.patch(`/api/posts/${id}`, { tags: keys, labels: keys }, ann)),
    )
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    )
    t.true(['1,2', '3,4'].includes((await linkedTo(id)).join()))
    const labels = await model('Tagging').findAll({ where: { postId: id, isDeleted: false }, raw: true })
    t.is(labels.length, 2)
  }
})
