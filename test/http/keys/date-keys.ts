// Keys of type DATE, alone and as a part of a key: the text that responses show, in paths, parameters and bodies.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { openStage } from '../../support/stage.js'

const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
const plain = { timestamps: false }
const at = { type: DataTypes.DATE(3), primaryKey: true }

const stage = await openStage(({ sequelize }, app) => {
  const Event = sequelize.define('Event', { at, name: DataTypes.STRING }, plain)
  const Hooked = sequelize.define('HookedEvent', { at, name: DataTypes.STRING }, plain)
  for (const hook of ['beforeSave', 'beforeDestroy', 'beforeFind'] as const) Hooked.addHook(hook, () => undefined)
  const Mark = sequelize.define('Mark', { at, name: DataTypes.STRING }, plain)
  for (const hook of ['beforeSave', 'beforeDestroy'] as const) Mark.addHook(hook, () => undefined)
  app.use(crudRouter(Mark, { operations, softDelete: true }))
  const room = { type: DataTypes.INTEGER, primaryKey: true }
  const Slot = sequelize.define('Slot', { room, at, name: DataTypes.STRING }, plain)
  const Reading = sequelize.define('Reading', { value: DataTypes.INTEGER, eventAt: DataTypes.DATE(3) }, plain)
  Event.hasMany(Reading, { as: 'readings', foreignKey: 'eventAt' })
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING }, plain)
  Event.belongsToMany(Tag, { as: 'tags', through: 'EventTag', foreignKey: 'eventAt', otherKey: 'tagId' })
  Tag.belongsToMany(Event, { as: 'events', through: 'EventTag', foreignKey: 'tagId', otherKey: 'eventAt' })
  const linked = { write: true, routes: true }
  app.use(crudRouter(Tag, { relations: { events: linked } }))
  const readings = crudRouter(Reading, { operations })
  app.use(readings)
  app.use(crudRouter(Event, { operations, relations: { readings: linked, tags: linked } }))
  app.use(crudRouter(Hooked, { operations }))
  // MariaDB and MySQL store whole seconds in a DATE without a length.
  for (const name of ['Second', 'HookedSecond']) {
    const Second = sequelize.define(name, { at: { ...at, type: DataTypes.DATE }, name: DataTypes.STRING }, plain)
    if (name === 'HookedSecond') Second.addHook('beforeSave', () => undefined)
    app.use(crudRouter(Second, { operations }))
  }
  app.use(crudRouter(Slot, { operations }))
})
test.after.always(() => stage.close())
const { get, post, patch, send } = stage

const TEXTS = [
  '2026-03-29T01:30:00.000Z',
  '2026-01-31T23:59:59.999Z',
  '2026-01-31T23:59:59.998Z',
  '1999-12-31T12:00:00.000Z',
]

/** The other part of a composite key. Keys that differ in both parts are compared as rows of values. */
const roomOf = (text: string): number => Number(text.slice(5, 7))

/** Resources with a DATE in the key, with the key and the key's members of an instant. */
const RESOURCES = [
  { path: '/api/events', by: 'at', keyOf: (text: string) => text, partsOf: (text: string) => ({ at: text }) },
  { path: '/api/hookedevents', by: 'at', keyOf: (text: string) => text, partsOf: (text: string) => ({ at: text }) },
  { path: '/api/marks', by: 'at', keyOf: (text: string) => text, partsOf: (text: string) => ({ at: text }) },
  {
    path: '/api/slots',
    by: 'room,at',
    keyOf: (text: string) => `${roomOf(text)}~${encodeURIComponent(text)}`,
    partsOf: (text: string) => ({ room: roomOf(text), at: text }),
  },
]

for (const { path, by, keyOf, partsOf } of RESOURCES) {
  const one = (text: string): string => `${path}/${encodeURIComponent(keyOf(text))}`

  test.serial(`${path} has records under the texts of their instants`, async (t) => {
    for (const text of TEXTS) {
      const made = await post(path, { ...partsOf(text), name: 'new' })
      t.is(made.status, 201, made.text)
      t.is(made.headers.get('location'), one(text))
      t.like((await get(one(text))).body, { ...partsOf(text), name: 'new' })
      t.is((await post(path, { ...partsOf(text), name: 'again' })).status, 409)
      t.like((await patch(one(text), { name: 'patched' })).body, { ...partsOf(text), name: 'patched' })
      const put = await send('PUT', one(text), { json: { name: 'put' } })
      t.is(put.status, 200, put.text)
      t.like(put.body, { ...partsOf(text), name: 'put' })
    }
    t.like((await get(`${path}?keys=${TEXTS.map((text) => encodeURIComponent(keyOf(text)))}&sort=-at`)).body, {
      items: TEXTS.map((text) => ({ ...partsOf(text), name: 'put' })),
    })
  })

  test.serial(`${path} has no record under other texts of an instant`, async (t) => {
    const others = [
      '2026-03-29',
      '2026-03-29T01:30:00Z',
      '2026-03-29T03:30:00.000+02:00',
      '2026-03-29 01:30:00.000Z',
      'x',
      '',
    ]
    for (const other of others) {
      if (other !== '') t.is((await get(one(other))).status, 404, other)
      t.deepEqual((await post(`${path}/bulk-delete`, [keyOf(other)])).body, { deleted: 0 }, other)
    }
  })

  test.serial(`${path} changes and deletes several records, and creates a record by PUT`, async (t) => {
    const items = TEXTS.map((text, index) => ({ ...partsOf(text), name: `bulk ${index}` }))
    const bulk = await patch(`${path}/bulk`, items)
    t.is(bulk.status, 200, bulk.text)
    t.like(bulk.body, items)
    const upsert = await send('PUT', `${path}/bulk?by=${by}`, { json: items })
    t.deepEqual(upsert.body, { created: 0, updated: TEXTS.length }, upsert.text)
    const created = '2030-06-30T12:00:00.001Z'
    const put = await send('PUT', one(created), { json: { name: 'created' }, headers: { 'if-none-match': '*' } })
    t.is(put.status, 201, put.text)
    t.like(put.body, { ...partsOf(created), name: 'created' })
    t.deepEqual((await post(`${path}/bulk-delete`, [keyOf(created), keyOf(TEXTS[3] ?? '')])).body, { deleted: 2 })
    t.is((await stage.delete(one(TEXTS[2] ?? ''))).status, 204)
    t.is((await get(one(TEXTS[2] ?? ''))).status, 404)
  })

  test.serial(`${path} has pages whose cursors contain the key`, async (t) => {
    const seen: unknown[] = []
    for (let after: string | null = ''; after !== null; ) {
      const { body } = await get(`${path}?sort=name&pageSize=1&after=${encodeURIComponent(after)}`)
      seen.push(...body.items.map((item: { readonly at: unknown }) => item.at))
      after = body.nextCursor
    }
    t.deepEqual(seen, TEXTS.slice(0, 2))
  })
}

test.serial('pages by cursor follow a key with an instant', async (t) => {
  const instants = Array.from({ length: 5 }, (_, index) => `2028-01-01T00:00:00.00${index}Z`)
  await post(
    '/api/slots/bulk',
    instants.map((text) => ({ room: 80, at: text })),
  )
  const seen: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await get(`/api/slots?filter=room=80&pageSize=2&cursor=${encodeURIComponent(cursor)}`)
    seen.push(...body.items.map((item: { readonly at: unknown }) => item.at))
    cursor = body.nextCursor
  }
  t.deepEqual(seen, instants)
  t.is((await get('/api/events?cursor=')).status, 400)
})

test.serial('links of records whose key is an instant', async (t) => {
  const [first = '', second = ''] = ['2029-01-01T00:00:00.001Z', '2029-01-01T00:00:00.002Z']
  await post('/api/events/bulk', [{ at: first }, { at: second }])
  const tag = await post('/api/tags', { name: 'red', events: [first, second] })
  t.like(tag.body, { name: 'red', events: [first, second] })
  const route = `/api/tags/${tag.body.id}/events`
  t.is((await send('DELETE', `${route}/${encodeURIComponent(first)}`)).status, 204)
  t.like((await get(`/api/events/${encodeURIComponent(first)}/tags`)).body, { totalCount: 0 })
  t.is((await send('PUT', `${route}/${encodeURIComponent(first)}`)).status, 204)
  t.deepEqual((await send('PUT', route, { json: [second] })).body, { linked: 0, unlinked: 1 })
  t.like((await get(`${route}?sort=at`)).body, { items: [{ at: second }] })
})

test.serial('children refer to a parent by the text of its instant', async (t) => {
  const text = '2027-02-28T10:20:30.456Z'
  const made = await post('/api/events', { at: text, readings: [{ value: 1 }, { value: 2 }] })
  t.is(made.status, 201, made.text)
  t.like(made.body, {
    at: text,
    readings: [
      { value: 1, eventAt: text },
      { value: 2, eventAt: text },
    ],
  })
  const route = `/api/events/${encodeURIComponent(text)}/readings`
  t.like((await get(route)).body, { totalCount: 2, items: [{ value: 1 }, { value: 2 }] })
  t.like((await post(route, { value: 3, eventAt: text })).body, { value: 3, eventAt: text })
  const [first] = made.body.readings
  const patched = await patch(`/api/events/${encodeURIComponent(text)}`, { readings: [{ id: first.id, value: 9 }] })
  t.like(patched.body, { at: text, readings: [{ id: first.id, value: 9 }] })
  t.like((await get(`/api/events/${encodeURIComponent(text)}?select=at,readings(value)`)).body, {
    readings: [{ value: 9 }],
  })
})

test.serial('a bulk update by another text of an instant is 404, and reports no stored value', async (t) => {
  const errors: unknown[] = []
  const other = await openStage(({ sequelize }, app) => {
    const Shift = sequelize.define('Shift', { at, name: DataTypes.STRING }, plain)
    app.use(crudRouter(Shift, { operations, softDelete: true, onError: (error) => errors.push(error) }))
  })
  const text = '2026-01-31T08:30:00.000Z'
  await other.post('/api/shifts', { at: text, name: 'kept' })
  const items = [{ at: text, name: 'x' }, { at: '2026-01-31T08:30:00Z', name: 'y' }, { at: 'x' }]
  const missing = await other.patch('/api/shifts/bulk', items)
  t.is(missing.status, 404)
  t.deepEqual(missing.body.errors, { '[1]': ['does not exist.'], '[2]': ['does not exist.'] })
  t.is((await other.get(`/api/shifts/${text}`)).body.name, 'kept')
  t.deepEqual(errors, [])
  await other.close()
})

for (const path of ['/api/seconds', '/api/hookedseconds']) {
  test.serial(`${path}: the key of a new record is the stored one, whatever the column drops of it`, async (t) => {
    const given = '2031-05-05T10:00:01.750Z'
    const assertStored = async (made: typeof put): Promise<void> => {
      const { items } = (await get(path)).body
      t.deepEqual(items, made.status === 201 ? [made.body] : [], made.text)
      if (made.status !== 404) t.like(await get(made.headers.get('location') ?? ''), { status: 200, body: made.body })
      await post(
        `${path}/bulk-delete`,
        items.map((item: { readonly at: string }) => item.at),
      )
    }
    const put = await send('PUT', `${path}/${encodeURIComponent(given)}`, { json: { name: 'put' } })
    t.is(put.status, ['mariadb', 'mysql'].includes(databaseName) ? 404 : 201, put.text)
    await assertStored(put)
    await assertStored(await post(path, { at: given, name: 'post' }))
    const bulk = await post(`${path}/bulk`, [{ at: given, name: 'bulk' }])
    t.deepEqual(bulk.body, (await get(path)).body.items)
    const again = await send('PUT', `${path}/bulk?by=at`, { json: [{ at: given, name: 'upsert' }] })
    t.deepEqual(again.body, { created: 0, updated: 1 }, again.text)
  })
}
