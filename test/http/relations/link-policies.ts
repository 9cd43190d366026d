// The policies of a table between are asked before there is a transaction, whichever body names the links: they may ask the
// database themselves, and a write that waits for them would hold its connection, and its locks, meanwhile.

import ava from 'ava'
import { DataTypes, type Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

/** What was asked, and whether a transaction was under way. */
const asked: string[] = []

/** Whether anybody holds a connection: on SQLite a handle beside that of the reads. */
function isHeld(sequelize: Sequelize): boolean {
  const { connections, pool } = (
    sequelize as object as {
      connectionManager: { connections?: Record<string, { readonly uuid?: unknown }>; pool?: { using: number } }
    }
  ).connectionManager
  return connections === undefined
    ? (pool?.using ?? 0) > 0
    : Object.values(connections).some(({ uuid }) => uuid !== undefined)
}

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Blog = sequelize.define('Blog', { name: DataTypes.STRING(20) }, plain)
  const Post = sequelize.define('Post', { slug: { type: DataTypes.STRING(20), unique: true } }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20) }, plain)
  const PostTag = sequelize.define('PostTag', {}, plain)
  Blog.hasMany(Post, { as: 'posts', foreignKey: 'blogId' })
  Post.belongsTo(Blog, { as: 'blog', foreignKey: 'blogId' })
  Post.belongsToMany(Tag, { as: 'tags', through: PostTag, foreignKey: 'postId', otherKey: 'tagId' })
  const write = { write: true } as const
  const policy = ({ operation }: { readonly operation: string }): boolean => {
    asked.push(`${operation}${isHeld(sequelize) ? ' within' : ''}`)
    return true
  }
  app.use(crudRouter(PostTag, { createPolicy: policy, deletePolicy: policy }))
  app.use(crudRouter(Blog, { relations: { posts: write } }))
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  app.use(crudRouter(Post, { operations, relations: { tags: write } }))
  app.use(crudRouter(Tag))
})
const { sequelize } = stage
await sequelize.model('Tag').bulkCreate(['red', 'green', 'blue'].map((name) => ({ name })))
await sequelize.model('Blog').create({ name: 'blog' })
const posts = await sequelize
  .model('Post')
  .bulkCreate([{ slug: 'a' }, { slug: 'b' }].map((row) => ({ ...row, blogId: 1 })))
const [one, other] = posts.map((post) => Number(post.get('id')))
test.after.always(() => stage.close())

const WRITES: readonly (readonly [
  what: string,
  method: string,
  path: string,
  body: (tags: readonly number[]) => unknown,
])[] = [
  ['a PATCH', 'PATCH', `/api/posts/${one}`, (tags) => ({ tags })],
  ['a PUT', 'PUT', `/api/posts/${one}`, (tags) => ({ slug: 'a', blogId: 1, tags })],
  ['a bulk update', 'PATCH', '/api/posts/bulk', (tags) => [one, other].map((id) => ({ id, tags }))],
  ['an upsert', 'PUT', '/api/posts/bulk?by=slug', (tags) => ['a', 'b'].map((slug) => ({ slug, blogId: 1, tags }))],
  [
    'a PATCH with records that have links',
    'PATCH',
    '/api/blogs/1',
    (tags) => ({ posts: [{ id: one, tags }, { id: other }] }),
  ],
]

for (const [what, method, path, body] of WRITES) {
  test(`${what} asks the policies of links before its transaction, each once`, async (t) => {
    const send = async (tags: readonly number[]): Promise<readonly string[]> => {
      asked.length = 0
      const { status, text } = await stage.send(method, path, { json: body(tags) })
      t.is(status, 200, text)
      return [...asked]
    }
    await send([1])
    t.deepEqual((await send([2, 3])).toSorted(), ['create', 'delete'])
    t.deepEqual(await send([2, 3]), [])
    t.deepEqual(await send([]), ['delete'])
  })
}

test('an upsert that makes records asks about their links before its transaction as well', async (t) => {
  asked.length = 0
  const { status, text } = await stage.send('PUT', '/api/posts/bulk?by=slug', { json: [{ slug: 'new', tags: [1] }] })
  t.is(status, 200, text)
  t.deepEqual(asked, ['create'])
})

test('an upsert tells of the keys that do not exist in all of its records, those to make and those that are there', async (t) => {
  const fine = { slug: 'fine', tags: [1] }
  const news = [{ slug: 'd', tags: [98] }, fine, { slug: 'e', tags: ['x', 2, 97] }]
  const send = (json: readonly object[]) => stage.send('PUT', '/api/posts/bulk?by=slug', { json })
  const count = await sequelize.model('Post').count()
  const wrong = ['does not exist.']
  const made = await send(news)
  t.deepEqual([made.status, made.body.code], [400, 'validation'])
  t.deepEqual(made.body.errors, { '[0].tags[0]': wrong, '[2].tags[0]': wrong, '[2].tags[2]': wrong })
  const both = await send([...news, { slug: 'a', blogId: 1, tags: [1, 99] }])
  t.deepEqual(both.body.errors, { ...made.body.errors, '[3].tags[1]': wrong })
  const other = await send([fine, { slug: 'f', tags: [96], blogId: 1 }, { slug: 'g', blogId: 'x', tags: [95] }])
  t.deepEqual(Object.keys(other.body.errors).includes('[2].blogId'), true, other.text)
  t.is(await sequelize.model('Post').count(), count)
})
