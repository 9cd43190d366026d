// The rows of the table between two records, where a resource speaks for them: they are made, changed and deleted as if they
// had been sent to it. Links are changed once under one `Idempotency-Key`.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, type CrudRouter, crudRouter, type HookContext, Operations } from '../../../lib/index.js'
import { openPush, type PushStage } from '../../support/push.js'
import { asUser, identityFromHeader } from '../../support/stage.js'

// What one of them does to the rows is looked at.
const test = ava.serial

const hooked: string[] = []
const told =
  (name: string) =>
  ({ instance, operation }: HookContext): void => {
    hooked.push(`${name} ${operation} ${instance.get('tagId')}`)
  }

/** One way of writing the rows. The same must be true of all of them. */
const VARIANTS: readonly (readonly [title: string, options: CrudOptions])[] = [
  ['by statements', {}],
  [
    'by instances',
    { hooks: { beforeCreate: told('before'), afterDelete: told('after'), beforeRestore: told('before') } },
  ],
]

let denied: ReadonlySet<string> = new Set()

async function open(more: CrudOptions): Promise<{ readonly stage: PushStage; readonly rows: CrudRouter }> {
  const hubs: CrudRouter[] = []
  const stage = await openPush(({ sequelize }, app, io) => {
    const plain = { timestamps: false }
    const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
    const Post = sequelize.define('Post', { title: DataTypes.STRING(20) }, plain)
    const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20) }, plain)
    const Tagging = sequelize.define('Tagging', {
      id,
      weight: { type: DataTypes.INTEGER, defaultValue: 1, validate: { max: 9 } },
      note: DataTypes.STRING(9),
    })
    Post.belongsToMany(Tag, { as: 'tags', through: Tagging, foreignKey: 'postId', otherKey: 'tagId' })
    const routes = { routes: true }
    const policy = ({ operation }: { operation: string }): boolean => !denied.has(operation)
    const options = {
      ...more,
      push: { io },
      softDelete: true,
      audit: true,
      concurrency: true,
      createPolicy: policy,
      deletePolicy: policy,
      updatePolicy: policy,
      identity: identityFromHeader,
    } as const
    hubs.push(crudRouter(Tagging, options))
    app.use(hubs)
    app.use(crudRouter(Post, { relations: { tags: routes }, identity: identityFromHeader, idempotency: true }))
    app.use(crudRouter(Tag, { operations: Operations.Read }))
  })
  const { sequelize } = stage
  await sequelize.model('Post').bulkCreate([{ title: 'one' }, { title: 'two' }])
  await sequelize.model('Tag').bulkCreate(['red', 'green', 'blue'].map((name) => ({ name })))
  const [rows] = hubs
  if (rows === undefined) throw new Error('nothing was mounted')
  return { stage, rows }
}

const opened = new Map<(typeof VARIANTS)[number], Awaited<ReturnType<typeof open>>>()
for (const variant of VARIANTS) opened.set(variant, await open(variant[1]))

for (const [[title, options], { stage, rows }] of opened) {
  const model: ModelStatic<Model> = stage.sequelize.model('Tagging')
  const all = async (): Promise<readonly object[]> =>
    (await model.findAll({ raw: true, order: ['id'] })).map((row) => ({
      ...row,
      // A BIGINT, which drivers may have as text.
      rowVersion: Number(Reflect.get(row, 'rowVersion')),
    }))
  test.after.always(() => stage.close())
  test.afterEach.always(async () => {
    denied = new Set()
    await model.destroy({ where: {} })
  })

  test(`a link has the values of its body, the stamps and the version of its resource: ${title}`, async (t) => {
    const at = '/api/posts/1/tags/2'
    t.is((await stage.send('PUT', at, { json: { weight: 5, note: 'new' }, headers: asUser('ann') })).status, 204)
    const [row] = await all()
    t.like(row, { postId: 1, tagId: 2, weight: 5, note: 'new', createdBy: 'ann', rowVersion: 0 })
    const patched = { json: { weight: 6, rowVersion: 0 }, headers: asUser('bob') }
    // A link has no ETag, so neither answer may ask for one.
    const missing = await stage.send('PUT', at, { ...patched, json: { weight: 6 } })
    t.deepEqual(
      [missing.status, missing.body.detail],
      [428, 'Send the version of the link that you last read, as "rowVersion".'],
    )
    for (const rowVersion of [7, -1, 0.5, 2 ** 60, '0', null, [0]]) {
      const stale = await stage.send('PUT', at, { ...patched, json: { weight: 6, rowVersion } })
      t.deepEqual(
        [stale.status, stale.body.detail],
        [412, 'The link has changed. Read it again and send its current version as "rowVersion".'],
      )
    }
    t.like((await all())[0], { weight: 5, rowVersion: 0 })
    t.is((await stage.send('PUT', at, patched)).status, 204)
    t.like((await all())[0], { weight: 6, note: 'new', createdBy: 'ann', updatedBy: 'bob', rowVersion: 1 })
    t.is((await stage.send('PUT', at, { json: { id: 9, rowVersion: 1 }, headers: asUser('bob') })).status, 204)
    t.like((await all())[0], { rowVersion: 1 })
    const invalid = await stage.send('PUT', at, { json: { weight: 10, rowVersion: 1 } })
    t.deepEqual([invalid.status, invalid.body.errors], [400, { weight: ['must be at most 9.'] }])
    const created = await stage.send('PUT', '/api/posts/1/tags/3', { json: { weight: 10 } })
    t.deepEqual([created.status, created.body.errors], [400, { weight: ['must be at most 9.'] }])
    t.is((await stage.send('PUT', at, { body: '[]', headers: { 'content-type': 'application/json' } })).status, 400)
    t.is((await stage.send('PUT', at, { body: '{}', headers: { 'content-type': 'text/plain' } })).status, 415)
  })

  test(`links that were deleted softly are there again, as the same rows: ${title}`, async (t) => {
    hooked.length = 0
    await stage.post('/api/posts/1/tags', [1, 2])
    t.is((await stage.send('DELETE', '/api/posts/1/tags/1')).status, 204)
    t.deepEqual(
      (await all()).map((row) => Boolean(Reflect.get(row, 'isDeleted'))),
      [true, false],
    )
    t.deepEqual(
      (await stage.get('/api/posts/1/tags')).body.items.map(({ id }: { id: number }) => id),
      [2],
    )
    t.deepEqual((await stage.send('PUT', '/api/posts/1/tags', { json: [1, 3] })).body, { linked: 2, unlinked: 1 })
    t.deepEqual(
      (await all()).map((row) => Boolean(Reflect.get(row, 'isDeleted'))),
      [false, true, false],
    )
    t.is((await stage.send('PUT', '/api/posts/1/tags/2', { json: { note: 'back' } })).status, 204)
    t.like((await all())[1], { note: 'back', tagId: 2 })
    if (options.hooks !== undefined) {
      t.deepEqual(hooked, [
        ...['before create 1', 'before create 2', 'after bulkDelete 1'],
        ...['after bulkDelete 2', 'before restore 1', 'before create 3', 'before restore 2'],
      ])
    }
  })

  test(`a link that is there again is nobody's update unless its body says something: ${title}`, async (t) => {
    await stage.post('/api/posts/1/tags', [1])
    t.is((await stage.send('DELETE', '/api/posts/1/tags/1')).status, 204)
    denied = new Set(['update'])
    t.is((await stage.send('PUT', '/api/posts/1/tags/1', { json: { note: 'x' }, headers: asUser('ann') })).status, 403)
    t.is((await stage.send('PUT', '/api/posts/1/tags', { json: [1], headers: asUser('ann') })).status, 200)
    const [row] = await all()
    // Made, deleted and restored.
    t.deepEqual([Boolean(Reflect.get(row ?? {}, 'isDeleted')), Reflect.get(row ?? {}, 'rowVersion')], [false, 2])
  })

  test(`subscribers of the table between hear of what becomes of its rows: ${title}`, async (t) => {
    const subscriber = await stage.subscribe(rows)
    await stage.send('PUT', '/api/posts/2/tags', { json: [1, 2] })
    await stage.send('PUT', '/api/posts/2/tags', { json: [3] })
    await stage.drain(rows, subscriber)
    const [one, two] = await all()
    t.deepEqual(
      subscriber.received.map(([event, said]) => [event, Reflect.get(Object(said), 'tagId') ?? said]),
      [
        ['OnCreated', 1],
        ['OnCreated', 2],
        ['OnDeleted', Reflect.get(one ?? {}, 'id')],
        ['OnDeleted', Reflect.get(two ?? {}, 'id')],
        ['OnCreated', 3],
      ],
    )
    subscriber.socket.disconnect()
  })

  test(`where a policy of the table between refuses, nothing is changed: ${title}`, async (t) => {
    await stage.post('/api/posts/1/tags', [1])
    denied = new Set(['delete'])
    t.is((await stage.send('PUT', '/api/posts/1/tags', { json: [2] })).status, 401)
    t.is((await stage.send('PUT', '/api/posts/1/tags', { json: [2], headers: asUser('ann') })).status, 403)
    denied = new Set(['create'])
    t.is((await stage.send('PUT', '/api/posts/1/tags', { json: [2], headers: asUser('ann') })).status, 403)
    t.is((await stage.send('PUT', '/api/posts/1/tags', { json: [], headers: asUser('ann') })).status, 200)
    t.is((await stage.send('PUT', '/api/posts/1/tags/1', { headers: asUser('ann') })).status, 403)
    t.is((await all()).length, 1)
  })

  test(`links are changed once under one key, and whoever was asked is asked again: ${title}`, async (t) => {
    const headers = { ...asUser('ann'), 'idempotency-key': `once ${title}` }
    const put = (json: unknown) => stage.send('PUT', '/api/posts/1/tags', { json, headers })
    const first = await put([1, 2])
    t.deepEqual([first.status, first.body], [200, { linked: 2, unlinked: 0 }])
    const again = await put([1, 2])
    t.deepEqual([again.status, again.text, again.headers.get('idempotency-replayed')], [200, first.text, 'true'])
    t.is((await put([1])).status, 422)
    denied = new Set(['create'])
    t.is((await put([1, 2])).status, 403)
    denied = new Set()
    for (const replayed of [null, 'true']) {
      const { status, text, headers: sent } = await stage.send('DELETE', '/api/posts/1/tags/1', { headers })
      t.deepEqual([status, text, sent.get('idempotency-replayed')], [204, '', replayed])
    }
    for (const replayed of [null, 'true']) {
      const { status, text, headers: sent } = await stage.send('PUT', '/api/posts/1/tags/1', { headers })
      t.deepEqual([status, text, sent.get('idempotency-replayed')], [204, '', replayed])
    }
    t.is((await stage.send('PUT', '/api/posts/1/tags/1', { json: { note: 'x' }, headers })).status, 422)
    await stage.sequelize.query('DELETE FROM crud_idempotency_keys')
  })
}
