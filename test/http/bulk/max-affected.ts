// `Prefer: max-affected=N` bounds how many records a bulk write, or links, may change.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const name = { type: DataTypes.STRING(20), allowNull: false }
  const Note = sequelize.define('Note', { name, code: { type: DataTypes.STRING(20), unique: true } }, plain)
  const Tag = sequelize.define('Tag', { name }, plain)
  Note.belongsToMany(Tag, {
    as: 'tags',
    through: 'NoteTag',
    foreignKey: 'noteId',
    otherKey: 'tagId',
    timestamps: false,
  })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  app.use(crudRouter(Tag, { operations, route: 'tags' }))
  app.use(crudRouter(Note, { operations, route: 'notes', idempotency: true, relations: { tags: { routes: true } } }))
  app.use(crudRouter(Note, { operations, route: 'hooked', hooks: { beforeDelete: () => undefined } }))
})
test.after.always(() => server.close())

const atMost = (count: number | string): Record<string, string> => ({ Prefer: `max-affected=${count}` })
const applied = (reply: { headers: Headers }): string | null => reply.headers.get('preference-applied')
const put = (path: string, json: unknown, headers: Record<string, string>) =>
  server.send('PUT', path, { json, headers })
const count = async (path: string): Promise<number> => (await server.get(`${path}?count=true`)).body.count

async function made(codes: readonly string[]): Promise<number[]> {
  const { body } = await server.post(
    '/notes/bulk',
    codes.map((code) => ({ name: 'made', code })),
  )
  return body.map(({ id }: { id: number }) => id)
}

function refusal(changed: number, most: number): object {
  return {
    status: 400,
    code: 'bad-request',
    detail: `The request changes ${changed} records, more than max-affected=${most} allows. Nothing was written.`,
  }
}

test('a bulk create of more records is 400 and writes none; of as many it says that the preference was applied', async (t) => {
  const records = [{ name: 'a' }, { name: 'b' }, { name: 'c' }]
  const before = await count('/notes')
  const refused = await server.post('/notes/bulk', records, atMost(2))
  t.like(refused.body, refusal(3, 2))
  t.is(applied(refused), null)
  t.is(await count('/notes'), before)
  const created = await server.post('/notes/bulk', records, atMost(3))
  t.is(created.status, 201)
  t.is(applied(created), 'max-affected=3')
  const minimal = await server.post('/notes/bulk', records, { Prefer: 'return=minimal, max-affected=3' })
  t.is(applied(minimal), 'return=minimal, max-affected=3')
})

test('a bulk update and an upsert of more records are 400 and write none', async (t) => {
  const ids = await made(['u1', 'u2'])
  const changes = ids.map((id) => ({ id, name: 'changed' }))
  t.like((await server.patch('/notes/bulk', changes, atMost(1))).body, refusal(2, 1))
  t.is((await server.get(`/notes/${ids[0]}`)).body.name, 'made')
  const updated = await server.patch('/notes/bulk', changes, atMost(2))
  t.is(updated.status, 200)
  t.is(applied(updated), 'max-affected=2')

  const rows = [
    { code: 'u1', name: 'upserted' },
    { code: 'u3', name: 'upserted' },
  ]
  const before = await count('/notes')
  t.like((await put('/notes/bulk?by=code', rows, atMost(1))).body, refusal(2, 1))
  t.is(await count('/notes'), before)
  const upserted = await put('/notes/bulk?by=code', rows, atMost(2))
  t.is(upserted.status, 200)
  t.is(applied(upserted), 'max-affected=2')
})

for (const path of ['/notes', '/hooked']) {
  test(`a bulk delete at ${path} counts the records that were there`, async (t) => {
    const ids = await made(['d1', 'd2', 'd3'].map((code) => code + path))
    const before = await count('/notes')
    t.like((await server.post(`${path}/bulk-delete`, ids, atMost(2))).body, refusal(3, 2))
    t.is(await count('/notes'), before)
    const deleted = await server.post(`${path}/bulk-delete`, [...ids.slice(1), 987654], atMost(2))
    t.deepEqual(deleted.body, { deleted: 2 })
    t.is(applied(deleted), 'max-affected=2')
  })
}

test('links count those that are made and those that are undone', async (t) => {
  const [note = 0] = await made(['linked'])
  const tags: number[] = []
  for (const name of ['x', 'y', 'z']) tags.push((await server.post('/tags', { name })).body.id)
  const path = `/notes/${note}/tags`
  t.like((await server.post(path, tags, atMost(2))).body, refusal(3, 2))
  t.is((await server.get(path)).body.totalCount, 0)
  const added = await server.post(path, tags.slice(0, 2), atMost(2))
  t.deepEqual(added.body, { linked: 2 })
  t.is(applied(added), 'max-affected=2')
  t.like((await put(path, tags.slice(2), atMost(2))).body, refusal(3, 2))
  t.is((await server.get(path)).body.totalCount, 2)
  t.deepEqual((await put(path, tags.slice(2), atMost(3))).body, { linked: 1, unlinked: 2 })
  t.like((await server.send('DELETE', `${path}/${tags[2]}`, { headers: atMost(0) })).body, refusal(1, 0))
  const undone = await server.send('DELETE', `${path}/${tags[2]}`, { headers: atMost(1) })
  t.is(undone.status, 204)
  t.is(applied(undone), 'max-affected=1')
})

test('a write that is done once is refused as well, and done under the same key when more may change', async (t) => {
  const records = [{ name: 'once' }, { name: 'once' }]
  const key = { 'Idempotency-Key': '"max-affected"' }
  t.like((await server.post('/notes/bulk', records, { ...key, ...atMost(1) })).body, refusal(2, 1))
  const first = await server.post('/notes/bulk', records, { ...key, ...atMost(2) })
  t.is(first.status, 201)
  t.is(applied(first), 'max-affected=2')
  const again = await server.post('/notes/bulk', records, { ...key, ...atMost(2) })
  t.deepEqual(again.body, first.body)
})

test('a value that is no whole number is ignored, and so is the preference of a write of one record', async (t) => {
  for (const value of ['', '-1', '1.5', 'x', '"', '1e3']) {
    const created = await server.post('/notes/bulk', [{ name: 'a' }, { name: 'b' }], atMost(value))
    t.is(created.status, 201, value)
    t.is(applied(created), null, value)
  }
  t.is((await server.post('/notes/bulk', [{ name: 'a' }], atMost('"1"'))).status, 201)
  const one = await server.post('/notes', { name: 'one' }, atMost(0))
  t.is(one.status, 201)
  t.is(applied(one), null)
})
