// UUIDs that other systems have stored in upper case, in columns that keep text. Responses show them in lower case, and by that
// spelling every operation finds them.

import test from 'ava'
import { DataTypes, type Model, type ModelStatic, type WhereOptions } from 'sequelize'
import { crudRouter, type Identity, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { accessesOf } from '../../support/plans.js'
import { openStage } from '../../support/stage.js'

/** Past Sequelize's instances, through them in writes, and through them in reads as well. */
const WAYS = {
  plain: {},
  saved: { beforeSave: () => undefined, beforeDestroy: () => undefined },
  found: { beforeSave: () => undefined, beforeDestroy: () => undefined, beforeFind: () => undefined },
}

type Way = keyof typeof WAYS
const ways = Object.keys(WAYS) as Way[]

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'
const COLUMN = isMysql ? 'CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : 'VARCHAR(36)'
const operations = Operations.AllWithBulk + Operations.BulkUpdate + Operations.Replace
const both = { routes: true, write: true } as const

let beforeFind: () => Promise<void> | void = () => undefined

const stage = await openStage(({ sequelize }, app) => {
  const options = { timestamps: false }
  const uuid = () => ({ type: DataTypes.UUID, primaryKey: true })
  const name = DataTypes.STRING(20)
  for (const way of ways) {
    const hooked = { ...options, hooks: WAYS[way] }
    const Owner = sequelize.define(`${way}Owner`, { id: uuid(), name }, hooked)
    const Item = sequelize.define(`${way}Item`, { id: uuid(), name, ownerId: DataTypes.UUID }, hooked)
    const Label = sequelize.define(`${way}Label`, { id: uuid(), name }, hooked)
    const Mark = sequelize.define(`${way}Mark`, { ownerId: uuid(), labelId: uuid(), name }, hooked)
    Owner.hasMany(Item, { as: 'items', foreignKey: 'ownerId', constraints: false })
    Item.belongsTo(Owner, { as: 'owner', foreignKey: 'ownerId', constraints: false })
    const tie = { through: Mark, foreignKey: 'ownerId', otherKey: 'labelId', constraints: false }
    Owner.belongsToMany(Label, { as: 'labels', ...tie })
    app.use(`/${way}`, crudRouter(Owner, { operations, route: 'owners', relations: { items: both, labels: both } }))
    app.use(`/${way}`, crudRouter(Item, { operations, route: 'items', relations: { owner: { routes: true } } }))
    app.use(`/${way}`, crudRouter(Label, { operations, route: 'labels' }))
    app.use(`/${way}`, crudRouter(Mark, { operations, route: 'marks' }))
    const identity = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): Identity => {
      return { name: 'caller', roles: new Set(), permissions: new Set(), claims: { tenant: headers['x-tenant'] } }
    }
    const Long = sequelize.define(`${way}Long`, { id: uuid(), tenant: DataTypes.INTEGER, text: DataTypes.TEXT }, hooked)
    const scope = ({ identity: caller }: { readonly identity: Identity | null }) => ({
      tenant: Number(caller?.claims.tenant ?? 0),
    })
    app.use(`/${way}`, crudRouter(Long, { route: 'longs', identity, scope, query: { maxPageSize: 500 } }))
    if (way !== 'found') continue
    const columns = { id: uuid(), tenant: DataTypes.INTEGER, text: DataTypes.TEXT }
    const Moved = sequelize.define('Moved', columns, { ...options, hooks: { beforeFind: () => beforeFind() } })
    app.use(crudRouter(Moved, { route: 'moved', identity, scope, query: { maxPageSize: 500 } }))
  }
  sequelize.addHook('beforeBulkSync', async () => {
    const tables = sequelize.getQueryInterface()
    const text = { type: 'VARCHAR(20)' }
    const key = { type: COLUMN, primaryKey: true, allowNull: false }
    for (const way of ways) {
      await tables.createTable(`${way}Owners`, { id: { ...key }, name: text })
      await tables.createTable(`${way}Items`, { id: { ...key }, name: text, ownerId: { type: COLUMN } })
      await tables.createTable(`${way}Labels`, { id: { ...key }, name: text })
      await tables.createTable(`${way}Longs`, { id: { ...key }, tenant: DataTypes.INTEGER, text: DataTypes.TEXT })
      await tables.createTable(`${way}Marks`, { ownerId: { ...key }, labelId: { ...key }, name: text })
    }
  })
})
const { sequelize } = stage
test.after.always(() => stage.close())

const model = (way: Way, name: string): ModelStatic<Model> => sequelize.model(`${way}${name}`)

let last = 0

/** A UUID of its own, in upper case. */
function newId(): string {
  last += 1
  return `${String(last).padStart(4, '0')}ABCD-EF00-4ABC-8DEF-ABCDEFABCDEF`
}

/** A record that is stored in upper case, and its key as responses show it. */
async function stored(way: Way, kind: string, values: object = {}) {
  const id = newId()
  await model(way, kind).create({ id, name: 'old', ...values })
  return { id, key: id.toLowerCase() }
}

async function namesOf(way: Way, kind: string, where: WhereOptions): Promise<readonly unknown[]> {
  const rows = await model(way, kind).findAll({ where, order: ['id'] })
  return rows.map((row) => row.get('name'))
}

for (const way of ways) {
  test(`${way}: a key that is stored in upper case is taken`, async (t) => {
    const { id, key } = await stored(way, 'Owner')
    const body = { id: key, name: 'twin' }
    const nested = {
      name: 'holder',
      id: newId().toLowerCase(),
      items: [{ id: (await stored(way, 'Item')).key, name: 'twin' }],
    }
    for (const [method, path, json] of [
      ['POST', 'owners', body],
      ['POST', 'owners', { ...body, id }],
      ['POST', 'owners/bulk', [{ id: newId().toLowerCase(), name: 'beside the twin' }, body]],
      ['POST', 'owners', nested],
    ] as const) {
      const { status, text } = await stage.send(method, `/${way}/${path}`, { json })
      t.is(status, 409, `${method} ${path} ${JSON.stringify(json)}: ${text}`)
    }
    const long = 'longer than the column'
    const alone = await stage.post(`/${way}/owners`, { id: key, name: long })
    t.is(alone.status, 400, 'invalid values come before taken keys')
    t.deepEqual(alone.body.errors, { name: ['must be at most 20 characters.'] })
    const bulk = await stage.post(`/${way}/owners/bulk`, [body, { id: newId().toLowerCase(), name: long }])
    t.is(bulk.status, 400)
    t.deepEqual(bulk.body.errors, { '[1].name': ['must be at most 20 characters.'] })
    t.is(await model(way, 'Owner').count({ where: { name: ['twin', 'holder', 'beside the twin'] } }), 0)
    t.is(await model(way, 'Item').count({ where: { name: 'twin' } }), 0)
  })

  test(`${way}: two records whose keys differ in spelling alone keep what is theirs in lists that read texts apart`, async (t) => {
    const id = newId()
    const Long = model(way, 'Long')
    await Long.create({ id, tenant: 1, text: 'of the first tenant' })
    await Long.create({ id: id.toLowerCase(), tenant: 2, text: 'of the second tenant' })
    await Long.bulkCreate(Array.from({ length: 3 }, () => ({ id: newId(), tenant: 2, text: 'another' })))
    for (const [tenant, text] of [
      [1, 'of the first tenant'],
      [2, 'of the second tenant'],
    ] as const) {
      for (const size of [10, 500]) {
        const {
          status,
          body,
          text: answer,
        } = await stage.get(`/${way}/longs?pageSize=${size}&filter=Text^of`, {
          'x-tenant': String(tenant),
        })
        t.is(status, 200, answer)
        t.deepEqual(
          body.items.map((item: { text: string }) => item.text),
          [text],
          `${tenant} ${size}`,
        )
      }
    }
  })
}

for (const way of ways) {
  test(`${way}: a foreign key in a body is written as the key is stored that it refers to`, async (t) => {
    const { id: ownerId, key } = await stored(way, 'Owner')
    const Item = model(way, 'Item')
    const nowhere = newId().toLowerCase()
    const fresh = () => newId().toLowerCase()
    const [first, second, third, fourth, lost] = [fresh(), fresh(), fresh(), fresh(), fresh()]
    const path = `/${way}/items`
    const created = await stage.post(path, { id: first, name: 'created', ownerId: key })
    t.is(created.status, 201, created.text)
    t.is(created.body.ownerId, key)
    t.is((await stage.post(`${path}/bulk`, [{ id: second, ownerId: key }])).status, 201)
    t.is((await stage.send('PUT', `${path}/${third}`, { json: { name: 'put', ownerId: key } })).status, 201)
    t.is((await stage.post(path, { id: fourth })).status, 201)
    t.is((await stage.patch(`${path}/${fourth}`, { ownerId: key })).status, 200)
    for (const each of [first, second, third, fourth]) {
      t.is((await Item.findByPk(each))?.get('ownerId'), ownerId)
      t.is((await stage.get(`${path}/${each}/owner`)).body.id, key)
    }
    t.is((await stage.patch(`${path}/bulk`, [{ id: fourth, ownerId: key.toUpperCase() }])).status, 200)
    t.is((await Item.findByPk(fourth))?.get('ownerId'), ownerId)
    t.is((await stage.get(`/${way}/owners/${key}/items`)).body.items.length, 4)
    // No constraint says that there is a record.
    t.is((await stage.post(path, { id: lost, ownerId: nowhere })).status, 201)
    t.is((await Item.findByPk(lost))?.get('ownerId'), nowhere)
  })
}

test('a record that leaves the scope while its list is read is left out', async (t) => {
  const Moved = sequelize.model('Moved')
  const ids = [newId(), newId()]
  await Moved.bulkCreate(ids.map((id) => ({ id, tenant: 1, text: 'of the first tenant' })))
  let finds = 0
  beforeFind = async () => {
    finds += 1
    if (finds === 2) await Moved.update({ tenant: 2, text: 'of the second tenant' }, { where: { id: ids[0] } })
  }
  const { status, body, text } = await stage.get('/moved?pageSize=500&count=none', { 'x-tenant': '1' })
  t.is(status, 200, text)
  t.true(finds > 1)
  t.deepEqual(
    body.items.map((item: { text: string }) => item.text),
    ['of the first tenant'],
    text,
  )
})

for (const way of ways) {
  test(`${way}: a record stored in upper case is read, changed, replaced and deleted by its key in lower case`, async (t) => {
    const { id, key } = await stored(way, 'Owner')
    const path = `/${way}/owners/${key}`
    const read = await stage.get(path)
    t.is(read.status, 200, read.text)
    t.is(read.body.id, key)
    // Tables as small as this one are read as a whole by servers.
    if (databaseName === 'sqlite' && way === 'found') {
      const select = stage.statements.findLast((line) => line.includes(key))
      const accesses = await accessesOf(sequelize, select ?? '')
      t.true(accesses.length > 0 && accesses.every(({ seeks }) => seeks), select)
    }
    t.is((await stage.get(`/${way}/owners/${id}`)).status, 200)
    t.is((await stage.patch(path, { name: 'new' })).status, 200)
    t.deepEqual(await namesOf(way, 'Owner', { id }), ['new'])
    const replaced = await stage.send('PUT', path, { json: { name: 'other' } })
    t.is(replaced.status, 200, replaced.text)
    const upserted = await stage.send('PUT', `/${way}/owners/bulk?by=Id`, { json: [{ id: key, name: 'last' }] })
    t.deepEqual(upserted.body, { created: 0, updated: 1 }, upserted.text)
    t.deepEqual(await namesOf(way, 'Owner', { id: [id, key] }), ['last'])
    t.is((await stage.delete(path)).status, 204)
    t.is(await model(way, 'Owner').count({ where: { id } }), 0)
  })

  test(`${way}: keys=, filters and writes of several find both spellings`, async (t) => {
    const [first, second] = [await stored(way, 'Item'), await stored(way, 'Item')]
    const lower = newId().toLowerCase()
    await model(way, 'Item').create({ id: lower, name: 'old', ownerId: first.id })
    const keys = [first.key, second.id, lower]
    const count = async (query: string): Promise<unknown> =>
      (await stage.get(`/${way}/items?keys=${keys.join()}&count=true&${query}`)).body.count
    t.is(await count(''), 3)
    t.is(await count(`filter=Id=${first.key}`), 1)
    t.is(await count(`filter=Id=in=${keys.join(';')}`), 3)
    t.is(await count(`filter=Id!=${first.key}`), 2)
    t.is(await count(`filter=OwnerId=${first.key}`), 1)
    t.is(await count(`filter=OwnerId=out=${first.key}`), 2)
    t.is(await count(`id=${second.key}`), 1)
    const changed = await stage.send('PATCH', `/${way}/items/bulk`, {
      json: keys.map((key) => ({ id: key.toLowerCase(), name: 'new' })),
    })
    t.is(changed.status, 200, changed.text)
    t.deepEqual(await namesOf(way, 'Item', { id: [first.id, second.id, lower] }), ['new', 'new', 'new'])
    const deleted = await stage.post(`/${way}/items/bulk-delete`, [first.key, second.key, lower])
    t.deepEqual(deleted.body, { deleted: 3 }, deleted.text)
  })

  test(`${way}: keys of several parts are found in every spelling of their parts`, async (t) => {
    const [owner, label] = [newId(), newId()]
    const key = `${owner}~${label}`.toLowerCase()
    await model(way, 'Mark').create({ ownerId: owner, labelId: label, name: 'old' })
    const other = `${owner}~${newId()}`.toLowerCase()
    const [otherOwner = '', otherLabel = ''] = other.split('~')
    await model(way, 'Mark').create({ ownerId: otherOwner.toUpperCase(), labelId: otherLabel, name: 'old' })
    t.is((await stage.get(`/${way}/marks/${key}`)).status, 200)
    t.is((await stage.get(`/${way}/marks?keys=${key},${other}&count=true`)).body.count, 2)
    t.is((await stage.patch(`/${way}/marks/${other}`, { name: 'new' })).status, 200)
    const deleted = await stage.post(`/${way}/marks/bulk-delete`, [key, other])
    t.deepEqual(deleted.body, { deleted: 2 }, deleted.text)
  })

  test(`${way}: pages by cursor lose no record whose key is in upper case`, async (t) => {
    // They differ in letters, since digits are the same in both spellings.
    const ids = [...'ABCDE'].map((letter) => `${letter}0000000-0000-4000-8000-00000000000F`)
    await model(way, 'Label').bulkCreate(ids.map((id) => ({ id, name: 'paged' })))
    const made = ids.map((id) => id.toLowerCase())
    const found: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await stage.get(`/${way}/labels?pageSize=2&filter=Name=paged&cursor=${cursor}`)
      t.is(page.status, 200, page.text)
      found.push(...page.body.items.map(({ id }: { id: string }) => id))
      cursor = page.body.nextCursor
    }
    t.deepEqual(found, made)
  })

  test(`${way}: routes and writes below a record keep to the spelling that is stored`, async (t) => {
    const owner = await stored(way, 'Owner')
    const item = await stored(way, 'Item', { ownerId: owner.id })
    const path = `/${way}/owners/${owner.key}`
    t.is((await stage.get(`${path}/items`)).body.totalCount, 1)
    t.is((await stage.get(`/${way}/items/${item.key}/owner`)).body.id, owner.key)
    const created = await stage.post(`${path}/items`, { id: newId().toLowerCase(), name: 'more', ownerId: owner.key })
    t.is(created.status, 201, created.text)
    const embedded = await stage.get(`/${way}/owners?keys=${owner.key}&select=items.name`)
    t.is(embedded.body.items[0].items.length, 2)
    const body = {
      items: [
        { id: item.key, name: 'new', ownerId: owner.key },
        { id: newId().toLowerCase(), name: 'third' },
      ],
    }
    const changed = await stage.patch(path, body)
    t.is(changed.status, 200, changed.text)
    t.deepEqual(await namesOf(way, 'Item', { ownerId: owner.id }), ['new', 'third'])
    t.is(await model(way, 'Item').count({ where: { ownerId: owner.key } }), 0)
  })

  test(`${way}: links of records that are stored in upper case are found, and not made twice`, async (t) => {
    const owner = await stored(way, 'Owner')
    const [first, second] = [await stored(way, 'Label'), await stored(way, 'Label')]
    const path = `/${way}/owners/${owner.key}/labels`
    const count = () => model(way, 'Mark').count({ where: { ownerId: [owner.id, owner.key] } })
    await model(way, 'Mark').create({ ownerId: owner.id, labelId: first.id })
    t.is((await stage.get(path)).body.totalCount, 1)
    t.is((await stage.send('PUT', `${path}/${first.key}`)).status, 204)
    t.is(await count(), 1)
    t.is((await stage.send('PUT', `${path}/${second.key}`)).status, 204)
    t.is((await stage.send('PUT', `${path}/${second.key}`)).status, 204)
    t.is(await count(), 2)
    t.is((await stage.get(path)).body.totalCount, 2)
    const set = await stage.send('PUT', path, { json: [first.key] })
    t.deepEqual(set.body, { linked: 0, unlinked: 1 }, set.text)
    t.is((await stage.patch(`/${way}/owners/${owner.key}`, { labels: [first.key] })).status, 200)
    t.is(await count(), 1)
    t.is((await stage.delete(`${path}/${first.key}`)).status, 204)
    t.is(await count(), 0)
  })
}

test('validators behind a hook of the host refuse a value before a key that is taken in its own spelling', async (t) => {
  const other = await openStage(({ sequelize: own }, app) => {
    const isGood = (value: unknown): void => {
      if (value === 'bad') throw new Error('is bad')
    }
    const attributes = {
      id: { type: DataTypes.UUID, primaryKey: true },
      name: { type: DataTypes.STRING(20), validate: { isGood } },
    }
    const Badge = own.define('Badge', attributes, { timestamps: false })
    Badge.addHook('beforeValidate', () => undefined)
    app.use(crudRouter(Badge))
  })
  const id = newId().toLowerCase()
  t.is((await other.post('/api/badges', { id, name: 'good' })).status, 201)
  t.is((await other.post('/api/badges', { id, name: 'good' })).status, 409)
  const { status, body } = await other.post('/api/badges', { id, name: 'bad' })
  t.deepEqual([status, body.errors], [400, { name: ['is bad'] }])
  await other.close()
})
