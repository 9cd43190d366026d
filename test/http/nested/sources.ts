// What others point at their owner by may be something else than its key, which no answer need show: what a body holds
// belongs to its owner however that is written.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Owner = sequelize.define(
    'Owner',
    {
      number: { type: DataTypes.INTEGER, primaryKey: true },
      code: { type: DataTypes.UUID, unique: true, defaultValue: DataTypes.UUIDV4 },
    },
    plain,
  )
  const Item = sequelize.define('Item', { name: DataTypes.STRING(9) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(9) }, plain)
  const Tagging = sequelize.define('Tagging', { note: DataTypes.STRING(9) }, plain)
  Owner.hasMany(Item, { as: 'items', foreignKey: 'ownerCode', sourceKey: 'code' })
  Owner.belongsToMany(Tag, {
    as: 'tags',
    through: Tagging,
    foreignKey: 'ownerCode',
    sourceKey: 'code',
    otherKey: 'tagId',
  })
  const write = { write: true } as const
  // Resources by another key than the one that the children's composite keys contain.
  for (const kind of ['Plain', 'Hooked']) {
    const Post = sequelize.define(`${kind}Post`, { code: { type: DataTypes.STRING(9), unique: true } }, plain)
    const Line = sequelize.define(
      `${kind}Line`,
      {
        postId: { type: DataTypes.INTEGER, primaryKey: true, defaultValue: 1 },
        no: { type: DataTypes.INTEGER, primaryKey: true },
        text: DataTypes.STRING(9),
      },
      plain,
    )
    Post.hasMany(Line, { as: 'lines', foreignKey: 'postId' })
    Line.belongsTo(Post, { as: 'post', foreignKey: 'postId' })
    if (kind === 'Hooked') for (const model of [Post, Line]) model.addHook('beforeSave', () => undefined)
    app.use(
      crudRouter(Post, {
        keyProperty: 'code',
        operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
        relations: { lines: { write: true, routes: true } },
      }),
      crudRouter(Line, { operations: Operations.AllWithBulk }),
    )
  }
  app.use(
    crudRouter(Owner, {
      operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
      fields: { code: { exclude: true }, number: { filterable: true } },
      relations: { items: write, tags: { write: true, routes: true } },
    }),
    crudRouter(Item),
    crudRouter(Tag),
    crudRouter(Tagging),
  )
})
const { sequelize } = stage
await sequelize.model('Tag').create({ name: 'red' })
test.after.always(() => stage.close())

/** How many records the owner of a number has, and how many links. */
async function of(number: number): Promise<readonly number[]> {
  const owner = await sequelize.model('Owner').findOne({ where: { number } })
  const where = { ownerCode: String(owner?.get('code')) }
  return Promise.all(['Item', 'Tagging'].map((name) => sequelize.model(name).count({ where })))
}

const body = (number: number): object => ({ number, items: [{ name: 'a' }, { name: 'b' }], tags: [1] })

for (const [at, [what, method, path, json]] of (
  [
    ['POST', 'POST', '/api/owners', body],
    ['bulk POST', 'POST', '/api/owners/bulk', (number: number) => [body(number)]],
    ['PUT', 'PUT', '/api/owners/2', body],
    ['upsert', 'PUT', '/api/owners/bulk?by=number', (number: number) => [body(number)]],
  ] as const
).entries()) {
  test(`a record that is made owns what its body holds by what no answer shows: ${what}`, async (t) => {
    const { status, text } = await stage.send(method, path, { json: json(at) })
    t.true(status === 200 || status === 201, text)
    t.false(text.includes('code'))
    t.deepEqual(await of(at), [2, 1])
  })
}

for (const [at, [what, method, path, json]] of (
  [
    ['PATCH', 'PATCH', (number: number) => `/api/owners/${number}`, body],
    ['bulk update', 'PATCH', () => '/api/owners/bulk', (number: number) => [body(number)]],
    ['PUT', 'PUT', (number: number) => `/api/owners/${number}`, body],
    ['upsert', 'PUT', () => '/api/owners/bulk?by=number', (number: number) => [body(number)]],
  ] as const
).entries()) {
  test(`a record that is there owns what its body holds by what no answer shows: ${what}`, async (t) => {
    const number = 100 + at
    const owner = await sequelize.model('Owner').create({ number })
    await sequelize.model('Item').create({ name: 'old', ownerCode: owner.get('code') })
    const { status, text } = await stage.send(method, path(number), { json: json(number) })
    t.is(status, 200, text)
    t.false(text.includes('code'))
    t.deepEqual(await of(number), [2, 1])
  })
}

test('the body of a link may state the keys that it is made of, by what no path shows', async (t) => {
  const owner = await sequelize.model('Owner').create({ number: 500 })
  const ownerCode = owner.get('code')
  const put = (json: object) => stage.send('PUT', '/api/owners/500/tags/1', { json })
  const made = await put({ ownerCode, tagId: 1, note: 'a' })
  t.is(made.status, 204, made.text)
  const wrong = await put({ ownerCode: '00000000-0000-4000-8000-000000000000', tagId: 1, note: 'b' })
  t.deepEqual([wrong.status, wrong.body.errors], [400, { ownerCode: ['must be the owner.'] }])
  t.deepEqual(await of(500), [0, 1])
})

for (const kind of ['plain', 'hooked'] as const) {
  const posts = `/api/${kind}posts`
  const Line = sequelize.model(`${kind === 'plain' ? 'Plain' : 'Hooked'}Line`)

  /** A post with the lines 1 and 2. */
  async function post(code: string): Promise<{ readonly id: number; readonly lines: readonly object[] }> {
    const made = await stage.post(posts, {
      code,
      lines: [
        { no: 1, text: 'a' },
        { no: 2, text: 'b' },
      ],
    })
    if (made.status !== 201) throw new Error(made.text)
    return made.body
  }

  const linesOf = async (postId: number): Promise<readonly string[]> =>
    (await Line.findAll({ where: { postId }, order: ['no'] })).map((line) => `${line.get('no')} ${line.get('text')}`)

  for (const [what, method, pathOf, bodyOf] of [
    ['PATCH', 'PATCH', (code: string) => `${posts}/${code}`, (body: object) => body],
    ['bulk update', 'PATCH', () => `${posts}/bulk`, (body: object) => [body]],
    ['PUT', 'PUT', (code: string) => `${posts}/${code}`, (body: object) => body],
    ['upsert', 'PUT', () => `${posts}/bulk?by=code`, (body: object) => [body]],
  ] as const) {
    test(`children whose key contains another attribute of the owner than its key are found: ${what}, ${kind}`, async (t) => {
      const code = `${kind[0]}${what.slice(0, 6)}`
      const { id, lines } = await post(code)
      const send = (body: object) => stage.send(method, pathOf(code), { json: bodyOf({ code, ...body }) })
      // As it was read: with the owner's own key in each.
      const same = await send({ lines })
      t.is(same.status, 200, same.text)
      const changed = await send({
        lines: [
          { no: 2, text: 'c' },
          { postId: id, no: 3, text: 'd' },
        ],
      })
      t.is(changed.status, 200, changed.text)
      t.deepEqual(await linesOf(id), ['2 c', '3 d'])
      const place = Array.isArray(bodyOf({})) ? '[0].' : ''
      const moved = await send({ lines: [{ postId: id + 1000, no: 2, text: 'x' }] })
      t.deepEqual([moved.status, moved.body.errors], [400, { [`${place}lines[0].postId`]: ['must be the owner.'] }])
      const twice = await send({ lines: [{ no: 2 }, { postId: id, no: 2 }] })
      t.deepEqual([twice.status, twice.body.errors], [400, { [`${place}lines[1].no`]: ['is there twice.'] }])
      t.deepEqual(await linesOf(id), ['2 c', '3 d'])
    })
  }

  test.serial(
    `a part of a composite key that is a foreign key with a default is taken from the body: ${kind}`,
    async (t) => {
      const first = await post(`${kind[0]}one`)
      const { id } = await post(`${kind[0]}two`)
      const made = await stage.post(`/api/${kind}lines`, { postId: id, no: 9, text: 'z' })
      t.deepEqual([made.status, made.body.postId], [201, id], made.text)
      t.is(made.headers.get('location'), `/api/${kind}lines/${id}~9`)
      const bulk = await stage.post(`/api/${kind}lines/bulk`, [{ postId: id, no: 10 }, { no: 11 }])
      t.is(bulk.status, 201, bulk.text)
      t.deepEqual(
        bulk.body.map(({ postId }: { postId: number }) => postId),
        [id, first.id],
      )
      const below = await stage.post(`${posts}/${kind[0]}two/lines`, { no: 12 })
      t.deepEqual([below.status, below.body.postId], [201, id], below.text)
    },
  )
}

for (const cascades of [false, true]) {
  const what = cascades ? 'follow' : 'do not follow'
  test(`records and links of a body belong to the new value of what they refer to, if they ${what} it`, async (t) => {
    const moved = await openStage(({ sequelize: other }, app) => {
      const plain = { timestamps: false }
      const Shop = other.define('Shop', { code: { type: DataTypes.STRING(9), unique: true } }, plain)
      const Item = other.define('Item', { name: DataTypes.STRING(9) }, plain)
      const Tag = other.define('Tag', { name: DataTypes.STRING(9) }, plain)
      const foreignKey = { foreignKey: 'shopCode', sourceKey: 'code', constraints: cascades }
      Shop.hasMany(Item, { as: 'items', ...foreignKey })
      Shop.belongsToMany(Tag, { as: 'tags', through: 'ShopTags', otherKey: 'tagId', ...foreignKey })
      const write = { write: true } as const
      const operations = Operations.AllWithBulk | Operations.BulkUpdate
      app.use(crudRouter(Shop, { operations, relations: { items: write, tags: write } }), crudRouter(Item))
      app.use(crudRouter(Tag))
    })
    t.teardown(() => moved.close())
    await moved.sequelize.model('Tag').bulkCreate([{ name: 'red' }, { name: 'big' }, { name: 'old' }])
    await moved.post('/api/shops', { code: 'a', items: [{ name: 'x' }, { name: 'y' }], tags: [1, 3] })
    const readShop = async () => (await moved.get('/api/shops/1?select=code,items(id),tags(id)')).body
    for (const items of [[{ id: 1 }, { name: 'z' }], [{ id: 1, name: 'xx' }]]) {
      for (const send of [
        (json: object) => moved.patch('/api/shops/1', json),
        (json: object) => moved.patch('/api/shops/bulk', [{ id: 1, ...json }]),
      ]) {
        const before = await readShop()
        const { status, body } = await send({ code: `${before.code}b`, items, tags: [1] })
        if (cascades) {
          const [{ items: shown }] = [body].flat()
          const ids = shown.map(({ id }: { readonly id: number }) => ({ id }))
          t.is(status, 200)
          t.deepEqual(await readShop(), { code: `${before.code}b`, items: ids, tags: [{ id: 1 }] })
        } else {
          t.is(status, 404)
          t.regex(Object.keys(body.errors).join(), /items\[0\]$/)
          t.deepEqual(await readShop(), before)
        }
      }
    }
    const { body } = await moved.patch('/api/shops/1', { code: 'c', items: [], tags: [1, 2] })
    t.deepEqual(body.tags, [1, 2])
    t.deepEqual(await readShop(), { code: 'c', items: [], tags: [{ id: 1 }, { id: 2 }] })
  })
}
