// The links of a many-to-many, by routes below a record: one at a time, some more, or all that there are to be.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const routes = { routes: true } as const
const both = { routes: true, write: true } as const

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Post = sequelize.define(
    'Post',
    { title: DataTypes.STRING(20), slug: { type: DataTypes.STRING(20), unique: true } },
    plain,
  )
  const Tag = sequelize.define(
    'Tag',
    { name: DataTypes.STRING(20), code: { type: DataTypes.STRING(20), unique: true } },
    plain,
  )
  const Word = sequelize.define('Word', { text: { type: DataTypes.STRING(20), primaryKey: true } }, plain)
  const PostTag = sequelize.define('PostTag', { since: DataTypes.STRING(20) })
  Post.belongsToMany(Tag, { as: 'tags', through: PostTag, foreignKey: 'postId', otherKey: 'tagId' })
  Tag.belongsToMany(Post, { as: 'posts', through: PostTag, foreignKey: 'tagId', otherKey: 'postId' })
  Post.belongsToMany(Word, { as: 'words', through: 'PostWord', foreignKey: 'postId', otherKey: 'word' })
  const Shown = sequelize.define('Shown', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    kind: DataTypes.STRING(9),
  })
  for (const kind of ['main', 'side']) {
    Post.belongsToMany(Tag, {
      as: `${kind}Tags`,
      through: { model: Shown, scope: { kind }, unique: false },
      foreignKey: 'postId',
      otherKey: 'tagId',
      constraints: false,
    })
  }
  Tag.belongsToMany(Post, {
    as: 'mainPosts',
    through: { model: Shown, scope: { kind: 'main' }, unique: false },
    foreignKey: 'tagId',
    otherKey: 'postId',
    constraints: false,
  })
  const Loose = sequelize.define('Loose', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    tagId: { type: DataTypes.INTEGER, allowNull: true },
  })
  Post.belongsToMany(Tag, { as: 'looseTags', through: Loose, foreignKey: 'postId', otherKey: 'tagId' })
  const Strict = sequelize.define('Strict', { why: { type: DataTypes.STRING(20), allowNull: false } }, plain)
  Post.belongsToMany(Tag, { as: 'strictTags', through: Strict, foreignKey: 'postId', otherKey: 'tagId' })
  const Dropped = sequelize.define(
    'Dropped',
    { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true } },
    { paranoid: true },
  )
  Post.belongsToMany(Tag, { as: 'droppedTags', through: Dropped, foreignKey: 'postId', otherKey: 'tagId' })
  const Guarded = sequelize.define('Guarded', { weight: DataTypes.INTEGER }, plain)
  Post.belongsToMany(Tag, { as: 'guardedTags', through: Guarded, foreignKey: 'postId', otherKey: 'tagId' })
  const counts = async (): Promise<boolean> => (await Guarded.count()) >= 0
  app.use('/v1', crudRouter(Guarded, { createPolicy: counts, updatePolicy: counts, deletePolicy: counts }))
  Post.belongsToMany(Tag, { as: 'codes', through: 'Coded', sourceKey: 'slug', targetKey: 'code', foreignKey: 'slug' })
  Post.belongsToMany(Post, { as: 'others', through: 'Other', foreignKey: 'postId', otherKey: 'otherId' })
  const tags = { tags: routes, words: routes, mainTags: routes, sideTags: routes, strictTags: routes }
  app.use(
    '/v1',
    crudRouter(Post, {
      relations: { ...tags, droppedTags: routes, looseTags: routes, guardedTags: routes, codes: both, others: routes },
      limits: { bulkItems: 20 },
      concurrency: true,
      idempotency: true,
    }),
  )
  app.use(
    '/v1',
    crudRouter(Tag, { relations: { posts: routes, mainPosts: routes }, operations: ['getById', 'getList', 'update'] }),
  )
  app.use('/v1', crudRouter(Word, { operations: ['getList'] }))
})
const { sequelize } = stage
const model = (name: string): ModelStatic<Model> => sequelize.model(name)
const POSTS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth']
await model('Post').bulkCreate(POSTS.map((title, index) => ({ title, slug: index === 0 ? null : title })))
await model('Tag').bulkCreate(
  ['red', 'green', 'blue', 'grey'].map((name, at) => ({ name, code: at === 3 ? null : name })),
)
await model('Word').bulkCreate(['on', 'a/b', 'c d', '~'].map((text) => ({ text })))
test.after.always(() => stage.close())

async function tagsOf(post: number, relation = 'tags'): Promise<readonly string[]> {
  const { body } = await stage.get(`/v1/api/posts/${post}/${relation}?sort=id`)
  return body.items.map(({ name }: { name: string }) => name)
}

test.serial(
  'a link is made by PUT and undone by DELETE, and a link that is there already is made as well',
  async (t) => {
    for (const path of ['/v1/api/posts/1/tags/3', '/v1/api/posts/1/tags/3']) {
      const { status, text } = await stage.send('PUT', path)
      t.deepEqual([status, text], [204, ''])
    }
    t.deepEqual(await tagsOf(1), ['blue'])
    t.is(await model('PostTag').count(), 1)
    const gone = await stage.send('DELETE', '/v1/api/posts/1/tags/3')
    t.deepEqual([gone.status, gone.text], [204, ''])
    t.deepEqual(await tagsOf(1), [])
    const again = await stage.send('DELETE', '/v1/api/posts/1/tags/3')
    t.is(again.status, 404)
  },
)

test.serial('links are made from either side', async (t) => {
  t.is((await stage.send('PUT', '/v1/api/tags/2/posts/4')).status, 204)
  t.deepEqual(await tagsOf(4), ['green'])
  t.is((await stage.send('DELETE', '/v1/api/posts/4/tags/2')).status, 204)
  const { body } = await stage.get('/v1/api/tags/2/posts')
  t.deepEqual(body.items, [])
})

test.serial('PUT of an array makes the links exactly these, and POST adds to them', async (t) => {
  const put = (keys: readonly unknown[]) => stage.send('PUT', '/v1/api/posts/2/tags', { json: keys })
  t.deepEqual((await put([1, 2])).body, { linked: 2, unlinked: 0 })
  t.deepEqual((await put([2, 3, '3', 2])).body, { linked: 1, unlinked: 1 })
  t.deepEqual(await tagsOf(2), ['green', 'blue'])
  const { status, body } = await stage.post('/v1/api/posts/2/tags', [1, 2, '1'])
  t.deepEqual([status, body], [200, { linked: 1 }])
  t.deepEqual(await tagsOf(2), ['red', 'green', 'blue'])
  t.deepEqual((await stage.post('/v1/api/posts/2/tags', [])).body, { linked: 0 })
  t.deepEqual((await put([])).body, { linked: 0, unlinked: 3 })
  t.deepEqual(await tagsOf(2), [])
})

test.serial('records that do not exist are told with their places, and then nothing is linked', async (t) => {
  for (const method of ['PUT', 'POST']) {
    const { status, body } = await stage.send(method, '/v1/api/posts/2/tags', {
      json: [1, 'x', 2, 99, null, {}, [], 1.5],
    })
    t.is(status, 400)
    t.is(body.code, 'validation')
    t.deepEqual(body.errors, Object.fromEntries([1, 3, 4, 5, 6, 7].map((index) => [`[${index}]`, ['does not exist.']])))
    t.deepEqual(await tagsOf(2), [])
  }
  const missing = await stage.get('/v1/api/posts/999')
  for (const path of ['posts/1/tags/99', 'posts/1/tags/x', 'posts/1/tags/%ff', 'posts/999/tags/1', 'posts/x/tags/1']) {
    for (const method of ['PUT', 'DELETE']) {
      const { status, text } = await stage.send(method, `/v1/api/${path}`)
      t.deepEqual([status, text], [404, missing.text], `${method} ${path}`)
    }
  }
  for (const method of ['PUT', 'POST']) {
    const { status, text } = await stage.send(method, '/v1/api/posts/999/tags', { json: [99] })
    t.deepEqual([status, text], [404, missing.text])
  }
})

test.serial('what can be the key of no record is looked for nowhere', async (t) => {
  const reads = async (method: string, path: string, json?: unknown): Promise<number> => {
    stage.statements.length = 0
    const { status } = await stage.send(method, `/v1/api/posts/1/${path}`, { json })
    t.true(status === 400 || status === 404, path)
    return stage.statements.filter((sql) => /FROM .(?:Tags|Words)\b/.test(sql)).length
  }
  t.is(await reads('PUT', 'tags/99'), 1)
  t.is(await reads('PUT', 'tags/x'), 0)
  t.is(await reads('PUT', 'tags', ['x', null, {}, 1.5]), 0)
  t.is(await reads('POST', 'words', [null, {}, '']), 0)
})

test.serial('what is no text is not the key that it would be as a text', async (t) => {
  const texts = ['null', 'undefined', '[object Object]', 'true']
  await model('Word').bulkCreate(texts.map((text) => ({ text })))
  const { status, body } = await stage.send('PUT', '/v1/api/posts/3/words', { json: [...texts, null, {}, true, []] })
  t.is(status, 400)
  t.deepEqual(body.errors, Object.fromEntries([4, 5, 6, 7].map((at) => [`[${at}]`, ['does not exist.']])))
  t.deepEqual((await stage.send('PUT', '/v1/api/posts/3/words', { json: texts })).body, { linked: 4, unlinked: 0 })
  t.deepEqual((await stage.send('PUT', '/v1/api/posts/3/words', { json: [] })).body, { linked: 0, unlinked: 4 })
  await model('Word').destroy({ where: { text: texts } })
})

// To MySQL and MariaDB the two are one key.
if (stage.name === 'sqlite' || stage.name === 'postgres') {
  test.serial('a link to a text is none to one that differs in case', async (t) => {
    await model('Word').create({ text: 'ON' })
    const at = '/v1/api/posts/4/words'
    t.is((await stage.send('PUT', `${at}/ON`)).status, 204)
    t.is((await stage.send('DELETE', `${at}/on`)).status, 404)
    t.deepEqual((await stage.post(at, ['on'])).body, { linked: 1 })
    t.deepEqual((await stage.send('PUT', at, { json: ['on'] })).body, { linked: 0, unlinked: 1 })
    t.is((await stage.send('DELETE', `${at}/ON`)).status, 404)
    t.is((await stage.send('DELETE', `${at}/on`)).status, 204)
    await model('Word').destroy({ where: { text: 'ON' } })
  })
}

test.serial('a body is refused before the owner is looked for, and holds no more keys than bulkItems', async (t) => {
  const put = (body: string, type = 'application/json') =>
    stage.send('PUT', '/v1/api/posts/999/tags', { body, headers: { 'content-type': type } })
  t.is((await put('[1')).status, 400)
  const { status, body } = await put('{}')
  t.is(status, 400)
  t.is(body.detail, 'The body must be a JSON array of keys.')
  t.is((await put('[]', 'text/plain')).status, 415)
  t.is((await put('[]')).status, 404)
  t.is((await put(JSON.stringify(Array.from({ length: 21 }, () => 1)))).status, 400)
  t.is((await stage.send('PUT', '/v1/api/posts/1/tags')).status, 400)
})

test.serial('keys are texts as well, as they stand in a path', async (t) => {
  for (const word of ['a/b', 'c d', '~', 'on']) {
    const path = `/v1/api/posts/3/words/${encodeURIComponent(word)}`
    t.is((await stage.send('PUT', path)).status, 204, word)
  }
  t.is(await model('PostWord').count({ where: { postId: 3 } }), 4)
  t.deepEqual((await stage.send('PUT', '/v1/api/posts/3/words', { json: ['~'] })).body, { linked: 0, unlinked: 3 })
  t.is((await stage.send('DELETE', '/v1/api/posts/3/words/%7E')).status, 204)
  t.is((await stage.send('PUT', '/v1/api/posts/3/words/ON')).status, 404)
})

test.serial('what a relation says of its links is set on new ones, and links of others stay', async (t) => {
  t.is((await stage.send('PUT', '/v1/api/posts/4/mainTags/1')).status, 204)
  t.deepEqual((await stage.send('PUT', '/v1/api/posts/4/sideTags', { json: [1, 2] })).body, { linked: 2, unlinked: 0 })
  t.deepEqual(await tagsOf(4, 'mainTags'), ['red'])
  t.deepEqual(await tagsOf(4, 'sideTags'), ['red', 'green'])
  t.deepEqual((await stage.send('PUT', '/v1/api/posts/4/sideTags', { json: [] })).body, { linked: 0, unlinked: 2 })
  t.deepEqual(await tagsOf(4, 'mainTags'), ['red'])
})

test.serial('links that were doubled by others are undone together', async (t) => {
  await model('Shown').bulkCreate([1, 2].map(() => ({ postId: 5, tagId: 1, kind: 'main' })))
  t.is((await stage.send('PUT', '/v1/api/posts/5/mainTags/1')).status, 204)
  t.is(await model('Shown').count({ where: { postId: 5 } }), 2)
  t.is((await stage.send('DELETE', '/v1/api/posts/5/mainTags/1')).status, 204)
  t.is(await model('Shown').count({ where: { postId: 5 } }), 0)
})

test.serial('a row between that names no record is no link, and stays where links are undone', async (t) => {
  await model('Loose').bulkCreate([null, 2, 1, null].map((tagId) => ({ postId: 5, tagId })))
  const put = (keys: readonly number[]) => stage.send('PUT', '/v1/api/posts/5/looseTags', { json: keys })
  t.deepEqual((await put([1, 3])).body, { linked: 1, unlinked: 1 })
  t.deepEqual(await tagsOf(5, 'looseTags'), ['red', 'blue'])
  t.deepEqual((await put([])).body, { linked: 0, unlinked: 2 })
  t.deepEqual(await tagsOf(5, 'looseTags'), [])
  t.is(await model('Loose').count({ where: { postId: 5 } }), 2)
})

test.serial(
  'where nothing speaks for the table between, a body is ignored, and what its rows require is 400',
  async (t) => {
    const json = { since: 'now', postId: 2 }
    t.is((await stage.send('PUT', '/v1/api/posts/5/tags/1', { json })).status, 204)
    t.is(
      (await stage.send('PUT', '/v1/api/posts/5/tags/1', { body: '{', headers: { 'content-type': 'x' } })).status,
      204,
    )
    const row = await model('PostTag').findOne({ where: { postId: 5 }, raw: true })
    t.like(row, { since: null, tagId: 1 })
    const one = await stage.send('PUT', '/v1/api/posts/5/strictTags/1')
    t.deepEqual([one.status, one.body.errors], [400, { why: ['is required.'] }])
    const { status, body } = await stage.post('/v1/api/posts/5/strictTags', [1, 2])
    t.is(status, 400)
    t.deepEqual(body.errors, { '[0].why': ['is required.'], '[1].why': ['is required.'] })
    const doubled = await stage.post('/v1/api/posts/5/strictTags', [1, '1', 2, 1])
    t.deepEqual(doubled.body.errors, { '[0].why': ['is required.'], '[2].why': ['is required.'] })
  },
)

test.serial('links of a paranoid table are deleted softly, and are there again when they are made again', async (t) => {
  const count = (paranoid: boolean) => model('Dropped').count({ where: { postId: 1 }, paranoid })
  t.is((await stage.send('PUT', '/v1/api/posts/1/droppedTags/1')).status, 204)
  t.is((await stage.send('DELETE', '/v1/api/posts/1/droppedTags/1')).status, 204)
  t.deepEqual([await count(true), await count(false)], [0, 1])
  t.deepEqual((await stage.post('/v1/api/posts/1/droppedTags', [1, 2])).body, { linked: 2 })
  t.deepEqual([await count(true), await count(false)], [2, 2])
})

test.serial('links by other attributes than keys are named by the keys all the same', async (t) => {
  t.deepEqual((await stage.send('PUT', '/v1/api/posts/2/codes', { json: [1, 3] })).body, { linked: 2, unlinked: 0 })
  t.deepEqual(await tagsOf(2, 'codes'), ['red', 'blue'])
  t.is((await stage.send('DELETE', '/v1/api/posts/2/codes/3')).status, 204)
  t.deepEqual(await tagsOf(2, 'codes'), ['red'])
  for (const path of ['posts/1/codes/1', 'posts/2/codes/4']) {
    const { status, body } = await stage.send('PUT', `/v1/api/${path}`)
    t.deepEqual([status, body.code], [409, 'conflict'], path)
  }
  t.deepEqual((await stage.send('PUT', '/v1/api/posts/1/codes', { json: [] })).body, { linked: 0, unlinked: 0 })
  t.is((await stage.send('DELETE', '/v1/api/posts/1/codes/1')).status, 404)
})

test.serial(
  'who has no value of the attribute that links go by is linked to nothing, and nothing of him is written',
  async (t) => {
    stage.statements.length = 0
    const { status, body } = await stage.patch('/v1/api/posts/1', { title: 'new', codes: [1] }, { 'if-match': '*' })
    t.deepEqual([status, body.code], [409, 'conflict'])
    t.deepEqual(
      stage.statements.filter((sql) => /UPDATE .Posts\b/.test(sql)),
      [],
    )
  },
)

test.serial(
  'who has no value of the attribute that links go by has no links, those of the text null neither',
  async (t) => {
    const named = await model('Post').create({ title: 'null', slug: 'null' })
    const at = `/v1/api/posts/${named.get('id')}/codes`
    t.is((await stage.send('PUT', `${at}/1`)).status, 204)
    t.deepEqual(await tagsOf(1, 'codes'), [])
    t.deepEqual((await stage.send('PUT', '/v1/api/posts/1/codes', { json: [] })).body, { linked: 0, unlinked: 0 })
    t.is((await stage.send('DELETE', '/v1/api/posts/1/codes/1')).status, 404)
    t.is((await stage.send('DELETE', `${at}/1`)).status, 204)
    await named.destroy()
  },
)

test.serial('records of one model are linked to each other, one way, and to themselves', async (t) => {
  t.deepEqual((await stage.send('PUT', '/v1/api/posts/1/others', { json: [1, 2] })).body, { linked: 2, unlinked: 0 })
  const titles = async (id: number): Promise<readonly string[]> =>
    (await stage.get(`/v1/api/posts/${id}/others?sort=id`)).body.items.map(({ title }: { title: string }) => title)
  t.deepEqual([await titles(1), await titles(2)], [['first', 'second'], []])
  t.is((await stage.send('DELETE', '/v1/api/posts/1/others/1')).status, 204)
  t.deepEqual(await titles(1), ['second'])
})

test.serial('policies of the table between that ask the database need no connection that the links hold', async (t) => {
  const paths = [1, 2, 3, 4, 5, 6].flatMap((post) =>
    [1, 2, 3, 4].map((tag) => `/v1/api/posts/${post}/guardedTags/${tag}`),
  )
  const send = async (method: string): Promise<readonly number[]> => {
    const options = method === 'PUT' ? { json: { weight: 1 } } : {}
    const answers = await Promise.all(paths.map((path) => stage.send(method, path, options)))
    return [...new Set(answers.map(({ status }) => status))]
  }
  t.deepEqual(await send('PUT'), [204])
  t.deepEqual(await send('PUT'), [204])
  t.deepEqual(await send('DELETE'), [204])
})

test.serial("links touch neither the owner's version nor its stamps", async (t) => {
  const before = await stage.get('/v1/api/posts/6')
  await stage.send('PUT', '/v1/api/posts/6/tags', { json: [1, 2] })
  await stage.send('DELETE', '/v1/api/posts/6/tags/1')
  t.is((await stage.get('/v1/api/posts/6')).headers.get('etag'), before.headers.get('etag'))
})

test('a method that a path does not have is 405 with Allow, and OPTIONS tells what it has', async (t) => {
  for (const [path, allow, method] of [
    ['posts/1/tags', 'GET, HEAD, QUERY, PUT, POST, OPTIONS', 'DELETE'],
    ['posts/1/tags/1', 'PUT, DELETE, OPTIONS', 'GET'],
    ['posts/1/tags/1', 'PUT, DELETE, OPTIONS', 'QUERY'],
    ['posts/999/tags/1', 'PUT, DELETE, OPTIONS', 'PATCH'],
  ] as const) {
    const refused = await stage.send(method, `/v1/api/${path}`)
    t.is(refused.status, 405)
    const expected = refused.headers.get('allow')?.includes('QUERY') ? allow : allow.replace('QUERY, ', '')
    t.is(refused.headers.get('allow'), expected)
    const options = await stage.send('OPTIONS', `/v1/api/${path}`)
    t.deepEqual([options.status, options.headers.get('allow')], [204, expected])
  }
})

test.serial('what two hundred link at once is linked once, with an index and without', async (t) => {
  for (const [relation, table] of [
    ['tags', 'PostTag'],
    ['mainTags', 'Shown'],
  ] as const) {
    await model(table).destroy({ where: { postId: 6 } })
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        index % 2 === 0
          ? stage.send('PUT', `/v1/api/posts/6/${relation}/4`)
          : stage.post(`/v1/api/posts/6/${relation}`, [4]),
      ),
    )
    t.deepEqual(
      [...new Set(answers.map(({ status }) => status))].toSorted((one, other) => one - other),
      [200, 204],
      relation,
    )
    t.is(answers.filter(({ body }) => body?.linked === 1).length <= 1, true)
    t.is(await model(table).count({ where: { postId: 6, tagId: 4 } }), 1, relation)
  }
})

test.serial(
  'what is linked from both sides at once is linked once, and nobody waits for each other for ever',
  async (t) => {
    for (const [one, other, table] of [
      ['tags', 'posts', 'PostTag'],
      ['mainTags', 'mainPosts', 'Shown'],
    ] as const) {
      await model(table).destroy({ where: { postId: 5 } })
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          stage.send('PUT', index % 2 === 0 ? `/v1/api/posts/5/${one}/3` : `/v1/api/tags/3/${other}/5`),
        ),
      )
      t.deepEqual([...new Set(answers.map(({ status }) => status))], [204], one)
      t.is(await model(table).count({ where: { postId: 5, tagId: 3 } }), 1, one)
    }
  },
)

test.serial('of two that set the links at once the end is one of the two sets, whole', async (t) => {
  for (const relation of ['tags', 'mainTags']) {
    for (let round = 0; round < 10; round += 1) {
      const sets = [
        [1, 2],
        [3, 4],
      ]
      const answers = await Promise.all(sets.map((json) => stage.send('PUT', `/v1/api/posts/3/${relation}`, { json })))
      t.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
      )
      const now = (await tagsOf(3, relation)).join()
      t.true(['red,green', 'blue,grey'].includes(now), `${relation}: ${now}`)
    }
  }
})
