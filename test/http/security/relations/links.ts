// Links are changed by whoever may change the owner and read the records, as far as the resource over the table between lets
// them; and what the caller may not know of looks like what does not exist.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { authenticated, type CrudOptions, crudRouter, hasPermission } from '../../../../lib/index.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity, withPermission, withRole } from '../../../support/tokens.js'

const routes = { routes: true } as const
const common: CrudOptions = { identity }
const asked: string[] = []

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const tenant = { type: DataTypes.INTEGER, defaultValue: 1 }
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const Post = sequelize.define('Post', { title: DataTypes.STRING(20), tenant }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20), tenant }, plain)
  const through = (name: string) => sequelize.define(name, { id, tenant, note: DataTypes.STRING(9) }, plain)
  for (const [as, name] of [
    ['tags', 'Tagging'],
    ['marks', 'Marking'],
    ['locks', 'Locking'],
    ['plains', 'Plain'],
  ] as const) {
    const Through = through(name)
    Post.belongsToMany(Tag, { as, through: Through, foreignKey: 'postId', otherKey: 'tagId' })
  }
  Tag.belongsToMany(Post, {
    as: 'marked',
    through: sequelize.model('Marking'),
    foreignKey: 'tagId',
    otherKey: 'postId',
  })
  const ours = ({ identity }: { identity: { roles: ReadonlySet<string> } | null }) =>
    identity?.roles.has('root') ? null : { tenant: 1 }
  app.use(
    crudRouter(Post, {
      ...common,
      scope: ours,
      softDelete: true,
      updatePolicy: ({ operation, identity }) => {
        asked.push(operation)
        return identity !== null && !identity.roles.has('reader')
      },
      relations: { tags: routes, marks: routes, locks: { routes: true, write: true }, plains: routes },
    }),
  )
  app.use(
    crudRouter(Tag, {
      ...common,
      scope: ours,
      softDelete: true,
      getByIdPolicy: ({ identity }) => !identity?.roles.has('blind'),
      relations: { marked: routes },
    }),
  )
  app.use(
    crudRouter(sequelize.model('Tagging'), {
      ...common,
      scope: ours,
      softDelete: true,
      createPolicy: hasPermission('link'),
      deletePolicy: hasPermission('unlink'),
      updatePolicy: hasPermission('annotate'),
      getListPolicy: authenticated,
    }),
  )
  app.use(crudRouter(sequelize.model('Marking'), { ...common, mask: { tagId: 'see' } }))
  app.use(crudRouter(sequelize.model('Locking'), { ...common, mask: { postId: { write: 'assign' } } }))
})
const { sequelize } = stage
await sequelize
  .model('Post')
  .bulkCreate([{ title: 'ours' }, { title: 'theirs', tenant: 2 }, { title: 'gone', isDeleted: true }])
await sequelize
  .model('Tag')
  .bulkCreate([
    { name: 'red' },
    { name: 'blue', tenant: 2 },
    { name: 'grey', isDeleted: true },
    { name: 'green' },
    { name: 'pink' },
  ])
test.after.always(() => stage.close())

const anybody = bearer({ sub: 'anybody' })
const may = withPermission('link', 'unlink', 'annotate')
const METHODS = [
  ['PUT', '/tags/1'],
  ['DELETE', '/tags/1'],
  ['PUT', '/tags'],
  ['POST', '/tags'],
] as const
const rows = (name: string): Promise<readonly object[]> =>
  sequelize.model(name).findAll({ raw: true, order: ['id'], attributes: ['postId', 'tagId', 'tenant'] })

test("the owner's update policy and the target's policy of GET by id are asked before anything is read", async (t) => {
  for (const [method, path] of METHODS) {
    for (const owner of ['1', '2', '999', 'x']) {
      const send = (headers: Record<string, string>) =>
        stage.send(method, `/api/posts/${owner}${path}`, {
          headers: { 'content-type': 'text/plain', ...headers },
          body: '{',
        })
      t.is((await send({})).status, 401, `${method} ${path}`)
      t.is((await send(withRole('reader'))).status, 403)
      t.is((await send(withRole('blind'))).status, 403)
    }
  }
  t.deepEqual([...new Set(asked)], ['update'])
})

test('an owner that is missing, deleted or out of scope is one and the same answer', async (t) => {
  const missing = await stage.get('/api/posts/999', anybody)
  for (const [method, path] of METHODS) {
    for (const owner of ['2', '3', '999', 'abc', '%00']) {
      const json = path === '/tags' ? [1] : undefined
      const { status, text } = await stage.send(method, `/api/posts/${owner}${path}`, { json, headers: may })
      t.deepEqual([status, text], [404, missing.text], `${method} ${owner}${path}`)
    }
  }
})

test.serial('a record that the caller may not meet is missing, and its links stay and are not counted', async (t) => {
  await sequelize.model('Tagging').bulkCreate([1, 2, 3, 4].map((tagId) => ({ postId: 1, tagId })))
  for (const tag of ['2', '3', '99']) {
    for (const method of ['PUT', 'DELETE']) {
      const { status, text } = await stage.send(method, `/api/posts/1/tags/${tag}`, { headers: may })
      t.deepEqual([status, text], [404, (await stage.get('/api/tags/99', anybody)).text])
    }
  }
  for (const method of ['PUT', 'POST']) {
    const { status, body } = await stage.send(method, '/api/posts/1/tags', { json: [1, 2, 3, 99], headers: may })
    t.is(status, 400)
    t.deepEqual(body.errors, {
      '[1]': ['does not exist.'],
      '[2]': ['does not exist.'],
      '[3]': ['does not exist.'],
    })
  }
  const { body } = await stage.send('PUT', '/api/posts/1/tags', { json: [5], headers: may })
  t.deepEqual(body, { linked: 1, unlinked: 2 })
  const left = await sequelize.model('Tagging').findAll({ where: { isDeleted: false }, raw: true, order: ['id'] })
  t.deepEqual(
    left.map((row) => Reflect.get(row, 'tagId')),
    [2, 3, 5],
  )
  await sequelize.model('Tagging').destroy({ where: {} })
})

test.serial(
  'the policies of the resource between are asked of what happens, and all is undone where one refuses',
  async (t) => {
    const put = (json: unknown, headers: Record<string, string>) =>
      stage.send('PUT', '/api/posts/1/tags', { json, headers })
    t.is((await put([1], anybody)).status, 403)
    t.is((await put([1], withPermission('unlink'))).status, 403)
    t.is((await put([], anybody)).status, 200)
    t.deepEqual(await rows('Tagging'), [])
    t.is((await put([1], withPermission('link'))).status, 200)
    t.is((await put([4], withPermission('link'))).status, 403)
    t.is((await put([4], withPermission('unlink'))).status, 403)
    t.deepEqual(await rows('Tagging'), [{ postId: 1, tagId: 1, tenant: 1 }])
    t.is((await stage.send('DELETE', '/api/posts/1/tags/1', { headers: anybody })).status, 403)
    t.is((await stage.send('DELETE', '/api/posts/1/tags/4', { headers: anybody })).status, 404)
    t.is((await stage.send('PUT', '/api/posts/1/tags/1', { headers: anybody })).status, 204)
    t.is((await stage.send('PUT', '/api/posts/1/tags/1', { json: {}, headers: anybody })).status, 204)
    t.is((await stage.send('PUT', '/api/posts/1/tags/1', { json: { note: 'x' }, headers: anybody })).status, 403)
    t.is((await stage.send('PUT', '/api/posts/1/tags/1', { json: { note: 'x' }, headers: may })).status, 204)
    t.like(await sequelize.model('Tagging').findOne({ raw: true }), { note: 'x' })
    await sequelize.model('Tagging').destroy({ where: {} })
  },
)

test.serial(
  'a new link is of the scope of its table, and one out of the scope is a conflict that never doubles',
  async (t) => {
    const theirs = await sequelize.model('Tagging').create({ postId: 1, tagId: 4, tenant: 2 })
    const one = await stage.send('PUT', '/api/posts/1/tags/4', { headers: may })
    t.is(one.status, 409)
    t.is((await stage.send('DELETE', '/api/posts/1/tags/4', { headers: may })).status, 404)
    const { status, body } = await stage.post('/api/posts/1/tags', [1, 4], may)
    t.is(status, 409)
    t.deepEqual(body.errors, { '[1]': ['is already taken.'] })
    const foreign = await stage.send('PUT', '/api/posts/1/tags/1', { json: { tenant: 2 }, headers: may })
    t.is(foreign.status, 403)
    t.is(
      (await stage.send('PUT', '/api/posts/1/tags/1', { json: { tenant: 1, isDeleted: true }, headers: may })).status,
      204,
    )
    t.deepEqual(await rows('Tagging'), [
      { postId: 1, tagId: 4, tenant: 2 },
      { postId: 1, tagId: 1, tenant: 1 },
    ])
    // One that was deleted by somebody else's hand, in his scope, is not there for the caller either.
    await theirs.update({ isDeleted: true })
    t.is((await stage.send('PUT', '/api/posts/1/tags/4', { headers: may })).status, 409)
    await sequelize.model('Tagging').destroy({ where: {} })
  },
)

test('a relation whose foreign key is masked is 404 for every method, from both sides, byte for byte', async (t) => {
  const unknown = await stage.get('/api/posts/999', anybody)
  for (const path of ['/api/posts/1/marks', '/api/posts/1/marks/1', '/api/tags/1/marked', '/api/posts/999/marks/1']) {
    for (const method of ['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS']) {
      for (const headers of [{}, anybody]) {
        const { status, text, headers: sent } = await stage.send(method, path, { headers })
        t.deepEqual([status, text, sent.get('allow')], [404, unknown.text, null], `${method} ${path}`)
      }
    }
  }
  const seer = withPermission('see')
  t.is((await stage.send('PUT', '/api/posts/1/marks/1', { headers: seer })).status, 204)
  t.is((await stage.send('DELETE', '/api/posts/1/marks/1', { headers: seer })).status, 204)
})

test.serial('making a link by a path is a write of its foreign keys: who may not write them is refused', async (t) => {
  const assigner = withPermission('assign')
  const at = '/api/posts/1/locks'
  const send = async (method: string, path: string, json: unknown, headers: Record<string, string>) =>
    (await stage.send(method, at + path, { json, headers })).status
  const before = await rows('Locking')
  t.is(await send('PUT', '/1', undefined, anybody), 403)
  t.is(await send('PUT', '', [1], anybody), 403)
  t.is(await send('POST', '', [1], anybody), 403)
  t.deepEqual(await rows('Locking'), before)
  t.is(await send('PUT', '/1', undefined, assigner), 204)
  // What is there already is not set, nor is what goes.
  t.is(await send('PUT', '/1', undefined, anybody), 204)
  t.is(await send('POST', '', [1], anybody), 200)
  t.is(await send('PUT', '', [1], anybody), 200)
  t.is(await send('PUT', '', [1, 4], anybody), 403)
  t.is(await send('DELETE', '/1', undefined, anybody), 204)
  t.is(await send('DELETE', '/1', undefined, anybody), 404)
  t.is(await send('PUT', '', [], anybody), 200)
  t.deepEqual(await rows('Locking'), before)
})

test.serial(
  'making a link by keys in a body is a write of its foreign keys: who may not write them is refused',
  async (t) => {
    const before = await rows('Locking')
    const patched = async (locks: readonly number[]) => (await stage.patch('/api/posts/1', { locks }, anybody)).status
    t.deepEqual([await patched([1]), await patched([]), await patched([99])], [403, 200, 400])
    for (const [locks, status] of [
      [[1], 403],
      [[99], 403],
      [[], 201],
    ] as const) {
      t.is((await stage.post('/api/posts', { title: 'new', locks }, anybody)).status, status)
    }
    t.deepEqual(await rows('Locking'), before)
    const assigner = withPermission('assign')
    const made = await stage.post('/api/posts', { title: 'new', locks: [1] }, assigner)
    t.is(made.status, 201, made.text)
    t.deepEqual(made.body.locks, [1])
    t.is((await stage.patch(`/api/posts/${made.body.id}`, { locks: [1] }, anybody)).status, 200)
    t.is((await stage.patch(`/api/posts/${made.body.id}`, { locks: [] }, anybody)).status, 200)
    t.deepEqual(await rows('Locking'), before)
  },
)

test.serial('the keys of a link are those of the path, whatever its body says', async (t) => {
  const at = '/api/posts/1/tags/1'
  const put = (json: unknown) => stage.send('PUT', at, { json, headers: may })
  const wrong = await put({ postId: 2, tagId: 5 })
  t.is(wrong.status, 400)
  t.deepEqual(wrong.body.errors, { postId: ['must be the owner.'], tagId: ['must be the key in the path.'] })
  t.is((await put({ postId: 1, tagId: 1, note: 'same', id: 77, __proto__: { tagId: 5 } })).status, 204)
  t.deepEqual(await rows('Tagging'), [{ postId: 1, tagId: 1, tenant: 1 }])
  t.is((await put({ postId: 2 })).status, 400)
  await sequelize.model('Tagging').destroy({ where: {} })
})

test.serial('a body that says nothing of a link but its keys changes nothing, and asks no policy', async (t) => {
  const at = '/api/posts/1/tags/1'
  const put = (json: unknown, headers: Record<string, string>) => stage.send('PUT', at, { json, headers })
  const keys = { postId: 1, tagId: 1 }
  t.is((await put({ ...keys, note: 'x' }, may)).status, 204)
  t.is((await put(keys, anybody)).status, 204)
  t.is((await put({ ...keys, note: 'y' }, anybody)).status, 403)
  t.deepEqual(await rows('Tagging'), [{ postId: 1, tagId: 1, tenant: 1 }])
  await sequelize.model('Tagging').destroy({ where: {} })
})

test.serial('the body of a request that undoes a link is not looked at', async (t) => {
  const at = '/api/posts/1/tags/1'
  for (const [body, type] of [
    ['{', 'application/json'],
    ['[]', 'application/json'],
    ['{"postId":2,"tagId":5}', 'application/json'],
    ['nothing', 'text/plain'],
  ] as const) {
    t.is((await stage.send('PUT', at, { headers: may })).status, 204)
    const headers = { ...may, 'content-type': type }
    const { status, text } = await stage.send('DELETE', at, { body, headers })
    t.deepEqual([status, text], [204, ''], body)
  }
  await sequelize.model('Tagging').destroy({ where: {} })
})

test('what the body of a link points at adds its headers, whatever the status', async (t) => {
  const own = await openStage((database, app) => {
    const plain = { timestamps: false }
    const { sequelize: instance } = database
    const Post = instance.define('Post', { title: DataTypes.STRING(20) }, plain)
    const Tag = instance.define('Tag', { name: DataTypes.STRING(20) }, plain)
    const Editor = instance.define('Editor', { name: DataTypes.STRING(20), tenant: DataTypes.INTEGER }, plain)
    const Tagging = instance.define('Tagging', { note: DataTypes.STRING(9) }, plain)
    Post.belongsToMany(Tag, { as: 'tags', through: Tagging, foreignKey: 'postId', otherKey: 'tagId' })
    Tagging.belongsTo(Editor, { as: 'editor', foreignKey: 'editorId' })
    app.use(crudRouter(Editor, { scope: () => ({ tenant: 1 }) }))
    for (const each of [Tag, Tagging]) app.use(crudRouter(each))
    app.use(crudRouter(Post, { relations: { tags: routes } }))
  })
  t.teardown(() => own.close())
  await own.sequelize.model('Post').create({ title: 'one' })
  await own.sequelize.model('Tag').create({ name: 'red' })
  await own.sequelize.model('Editor').bulkCreate([{ tenant: 1 }, { tenant: 2 }])
  for (const [editorId, status] of [
    [2, 409],
    [1, 204],
    [2, 409],
  ] as const) {
    const answer = await own.send('PUT', '/api/posts/1/tags/1', { json: { editorId } })
    t.is(answer.status, status, answer.text)
    t.is(answer.headers.get('vary'), 'Authorization')
    t.is(answer.headers.get('cache-control'), 'private')
  }
  const open = await own.send('PUT', '/api/posts/1/tags/1', { json: { note: 'x' } })
  t.deepEqual([open.status, open.headers.get('vary')], [204, null])
})

test.serial('special names are keys of nothing', async (t) => {
  const json = ['__proto__', 'constructor', 'toString', '1 OR 1=1', "1'", { toString: 1 }, [[1]], true]
  const { status, body } = await stage.post('/api/posts/1/plains', json, may)
  t.is(status, 400)
  t.is(Object.keys(body.errors).length, json.length)
  t.is(await sequelize.model('Plain').count(), 0)
})

test('the headers of all resources of a request add up, whatever its status', async (t) => {
  const answers = [
    await stage.send('PUT', '/api/posts/1/plains/1', { headers: may }),
    await stage.send('PUT', '/api/posts/1/tags/1'),
    await stage.send('PUT', '/api/posts/999/tags/1', { headers: may }),
    await stage.send('PATCH', '/api/posts/1/tags/1'),
  ]
  t.deepEqual(
    answers.map(({ status }) => status),
    [204, 401, 404, 405],
  )
  for (const { headers } of answers) {
    t.regex(headers.get('vary') ?? '', /Authorization/)
    t.is(headers.get('cache-control'), 'private')
  }
})

test.serial('several resources over the table between are a 500 whose cause goes to onError', async (t) => {
  const errors: unknown[] = []
  const routers = [1, 2].map(() => crudRouter(sequelize.model('Plain')))
  const posts = crudRouter(sequelize.model('Post'), {
    route: 'several',
    relations: { plains: { routes: true } },
    onError: (error) => errors.push(error),
  })
  stage.app.use(posts)
  t.is((await stage.send('PUT', '/several/1/plains/1')).status, 500)
  await Promise.all([...routers, posts].map((router) => router.close()))
  t.regex(String(errors[0]), /2 routers are mounted for the join model Plain\. Call close\(\) on all but one of them/)
})
