// Records may be tied to their owners, and linked, by instants: of these drivers make texts or dates, and each database writes
// them in its own way.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const at = () => ({ type: DataTypes.DATE, unique: true })
  const Post = sequelize.define('Post', { at: at() }, plain)
  const Day = sequelize.define('Day', { at: at() }, plain)
  const through = (name: string) =>
    sequelize.define(name, { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true } }, plain)
  const Entry = sequelize.define('Entry', { text: DataTypes.STRING(9) }, plain)
  Post.belongsToMany(Day, {
    as: 'days',
    through: through('PostDay'),
    foreignKey: 'postId',
    otherKey: 'day',
    targetKey: 'at',
  })
  Post.belongsToMany(Day, {
    as: 'marks',
    through: through('Mark'),
    foreignKey: 'postAt',
    otherKey: 'dayId',
    sourceKey: 'at',
  })
  Post.hasMany(Entry, { as: 'entries', foreignKey: 'postAt', sourceKey: 'at' })
  const both = { routes: true, write: true } as const
  app.use(
    crudRouter(Post, { relations: { days: both, marks: both, entries: both } }),
    crudRouter(Day),
    crudRouter(Entry),
  )
})
const instants = ['2024-01-02T03:04:05.000Z', '2024-02-29T23:59:59.000Z', '2025-12-31T00:00:00.000Z']
for (const name of ['Post', 'Day']) await stage.sequelize.model(name).bulkCreate(instants.map((at) => ({ at })))
test.after.always(() => stage.close())

const idsOf = async (path: string): Promise<readonly number[]> => {
  const { body, text } = await stage.get(`${path}?sort=id`)
  if (body.items === undefined) throw new Error(text)
  return body.items.map(({ id }: { readonly id: number }) => id)
}

for (const relation of ['days', 'marks']) {
  test(`records are linked by instants, and by the key of each: ${relation}`, async (t) => {
    const path = `/api/posts/1/${relation}`
    const put = async (keys: readonly number[]): Promise<unknown> =>
      (await stage.send('PUT', path, { json: keys })).body
    for (const _ of [1, 2]) t.is((await stage.send('PUT', `${path}/2`)).status, 204)
    t.deepEqual(await idsOf(path), [2])
    t.deepEqual(await put([1, 2]), { linked: 1, unlinked: 0 })
    t.deepEqual(await put([1, 3]), { linked: 1, unlinked: 1 })
    t.deepEqual(await idsOf(path), [1, 3])
    t.is((await stage.send('DELETE', `${path}/3`)).status, 204)
    t.is((await stage.send('DELETE', `${path}/3`)).status, 404)
    t.deepEqual(await idsOf(path), [1])
    t.deepEqual(await idsOf(`/api/posts/2/${relation}`), [])
  })
}

test('records belong to their owner by an instant, however they were made', async (t) => {
  const made = await stage.patch('/api/posts/1', { entries: [{ text: 'a' }, { text: 'b' }] })
  t.is(made.status, 200, made.text)
  const [{ id: first }] = made.body.entries
  const below = await stage.post('/api/posts/1/entries', { text: 'c' })
  t.is(below.status, 201, below.text)
  t.deepEqual(await idsOf('/api/posts/1/entries'), [first, first + 1, first + 2])
  const kept = await stage.patch('/api/posts/1', { entries: [{ id: first, text: 'd' }] })
  t.is(kept.status, 200, kept.text)
  t.deepEqual(await idsOf('/api/posts/1/entries'), [first])
  t.deepEqual(await idsOf('/api/posts/2/entries'), [])
})

test('a record that is made with others is tied to all of them', async (t) => {
  const body = { at: '2026-06-01T12:00:00.000Z', days: [1], marks: [2, 3], entries: [{ text: 'a' }] }
  const made = await stage.post('/api/posts', body)
  t.is(made.status, 201, made.text)
  const path = `/api/posts/${made.body.id}`
  t.deepEqual(await idsOf(`${path}/days`), [1])
  t.deepEqual(await idsOf(`${path}/marks`), [2, 3])
  t.is((await idsOf(`${path}/entries`)).length, 1)
})

test('the owner of a child may be stated as the same instant with another offset', async (t) => {
  const [at = ''] = instants
  const other = '2024-01-02T05:04:05+02:00'
  const later = '2024-01-02T05:04:06+02:00'
  const made = await stage.post('/api/posts/1/entries', { text: 'a', postAt: other })
  t.is(made.status, 201, made.text)
  t.is(made.body.postAt, at)
  const wrong = await stage.post('/api/posts/1/entries', { text: 'a', postAt: later })
  t.is(wrong.status, 400, wrong.text)
  t.deepEqual(Object.keys(wrong.body.errors), ['postAt'])
  const entries = [
    { id: made.body.id, text: 'b', postAt: other },
    { text: 'c', postAt: other },
  ]
  const patched = await stage.patch('/api/posts/1', { entries })
  t.is(patched.status, 200, patched.text)
  t.is((await stage.get(`/api/entries/${made.body.id}`)).body.text, 'b')
  const refused = await stage.patch('/api/posts/1', { entries: [{ text: 'd', postAt: later }] })
  t.is(refused.status, 400, refused.text)
  t.deepEqual(Object.keys(refused.body.errors), ['entries[0].postAt'])
})

test('the owner of a child may be stated as a UUID in capitals', async (t) => {
  const uuids = await openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const id = { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 }
    const Owner = sequelize.define('Owner', { id, name: DataTypes.STRING(9) }, plain)
    const Child = sequelize.define('Child', { name: DataTypes.STRING(9) }, plain)
    Owner.hasMany(Child, { as: 'children', foreignKey: 'ownerId' })
    app.use(crudRouter(Owner, { relations: { children: { routes: true, write: true } } }), crudRouter(Child))
  })
  t.teardown(() => uuids.close())
  const { body: owner } = await uuids.post('/api/owners', { name: 'a' })
  const ownerId = owner.id.toUpperCase()
  const path = `/api/owners/${owner.id}`
  const made = await uuids.post(`${path}/children`, { name: 'b', ownerId })
  t.is(made.status, 201, made.text)
  t.is(made.body.ownerId, owner.id)
  const patched = await uuids.patch(path, {
    children: [
      { id: made.body.id, name: 'c', ownerId },
      { name: 'd', ownerId },
    ],
  })
  t.is(patched.status, 200, patched.text)
  const { body } = await uuids.get(`${path}/children?sort=id&select=name,ownerId`)
  t.deepEqual(body.items, [
    { name: 'c', ownerId: owner.id },
    { name: 'd', ownerId: owner.id },
  ])
  const { body: other } = await uuids.post('/api/owners', { name: 'e' })
  const wrong = await uuids.post(`${path}/children`, { name: 'f', ownerId: other.id.toUpperCase() })
  t.is(wrong.status, 400, wrong.text)
})
