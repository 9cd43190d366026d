// Keys that are easily taken for others: beyond 2^53, in another case, with blanks at their end, outside the basic plane.
// Each is found, changed and deleted by itself and by nothing else, with and without hooks of the host's.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { keysOf, list } from '../../support/lists.js'
import { onConnect } from '../../support/session.js'
import { openStage, type Stage } from '../../support/stage.js'

const test = ava.serial

/** Ways that a model's records take through Sequelize: past its instances, through them in writes, in reads as well. */
const WAYS = {
  plain: {},
  writes: { beforeSave: () => undefined, beforeDestroy: () => undefined },
  reads: { beforeSave: () => undefined, beforeDestroy: () => undefined, beforeFind: () => undefined },
}

type Way = keyof typeof WAYS
const ways = Object.keys(WAYS) as Way[]

interface Bench {
  readonly models: ReadonlyMap<Way, ModelStatic<Model>>
  readonly children: ReadonlyMap<Way, ModelStatic<Model>>
}

const NEIGHBOUR = '9007199254740992'
const BIG = '9007199254740993'
const EDGES = ['-9223372036854775808', '-9007199254740993', 7, NEIGHBOUR, BIG, '9223372036854775807']

function pathOf(kind: string, way: Way): string {
  return `/api/${kind}/${way}`
}

/** Records with a BIGINT for a key, and others that point at them. */
const big: Stage<Bench> = await openStage<Bench>(({ sequelize }, app) => {
  const models = new Map<Way, ModelStatic<Model>>()
  const children = new Map<Way, ModelStatic<Model>>()
  for (const way of ways) {
    const options = { timestamps: false, hooks: WAYS[way] }
    const id = { type: DataTypes.BIGINT, primaryKey: true }
    const Parent = sequelize.define(`parent_${way}`, { id, name: DataTypes.STRING, other: DataTypes.BIGINT }, options)
    const Child = sequelize.define(`child_${way}`, { name: DataTypes.STRING }, options)
    Child.belongsTo(Parent, { as: 'parent', foreignKey: { name: 'parentId' } })
    Parent.hasMany(Child, { as: 'children', foreignKey: { name: 'parentId' } })
    models.set(way, Parent)
    children.set(way, Child)
  }
  for (const way of ways) {
    for (const [kind, each] of [
      ['parents', models],
      ['children', children],
    ] as const) {
      const model = each.get(way)
      if (model === undefined) throw new RangeError(way)
      app.use(crudRouter(model, { operations: Operations.AllWithBulk, route: pathOf(kind, way) }))
    }
  }
  return { models, children }
})
/** The first key of the next record, further than a double counts; SQLite's own keys are read as doubles by Sequelize. */
const FAR = databaseName === 'sqlite' ? 4503599627370497n : 9007199254740993n

/** Auto-increment keys that advance by three, as in a cluster of three that all write. */
const assigned = await openStage(({ sequelize }, app) => {
  if (databaseName === 'mysql' || databaseName === 'mariadb') onConnect(sequelize, 'SET auto_increment_increment = 3')
  const id = { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true }
  const shout = {
    type: DataTypes.STRING,
    get(this: Model) {
      return String(this.getDataValue('shout' as never)).toUpperCase()
    },
  }
  const Plain = sequelize.define('Plain', { id, name: DataTypes.STRING }, { timestamps: false })
  // Its answers need instances, which several rows of one INSERT must find their keys for.
  const Shouting = sequelize.define('Shouting', { id, name: DataTypes.STRING, shout }, { timestamps: false })
  app.use(crudRouter(Plain, { operations: Operations.AllWithBulk, route: 'api/plain' }))
  app.use(crudRouter(Shouting, { operations: Operations.AllWithBulk, route: 'api/shouting' }))
  return { Plain, Shouting }
})

const TEXT_KEY = {
  sqlite: 'VARCHAR(60) COLLATE NOCASE',
  mysql: 'VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci',
  mariadb: 'VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci',
  postgres: 'VARCHAR(60) COLLATE folding',
}[databaseName]

const KEYS = ['abc', 'Xyz', 'łódź', 'a b', 'tail ', '😀', '漢', 'a%', '-']
/** Equal to a key under a collation that folds or pads, and no key. */
const SIMILAR = ['ABC', 'xyz', 'ŁÓDŹ', 'abc ', 'tail', 'A B', '😀 ', 'a_']

const folding: Stage<Bench> = await openStage<Bench>(({ sequelize }, app) => {
  const models = new Map(
    ways.map((way) => [
      way,
      sequelize.define(
        `text_${way}`,
        { id: { type: DataTypes.STRING(60), primaryKey: true }, name: DataTypes.STRING },
        { timestamps: false, tableName: `text_${way}`, hooks: WAYS[way] },
      ),
    ]),
  )
  const children = new Map()
  for (const [way, model] of models) {
    app.use(crudRouter(model, { operations: Operations.AllWithBulk, route: pathOf('texts', way) }))
  }
  return { models, children }
})
const { models } = folding
for (const model of models.values()) {
  const { sequelize } = model
  if (sequelize === undefined) throw new RangeError(model.name)
  await model.drop()
  if (databaseName === 'postgres') {
    await sequelize.query(
      `CREATE COLLATION IF NOT EXISTS folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
    )
  }
  await sequelize.query(
    `CREATE TABLE ${String(model.getTableName())} (id ${TEXT_KEY} NOT NULL PRIMARY KEY, name VARCHAR(255))`,
  )
}

// Of characters outside the basic plane, general_ci takes all for one, and so does the collation that MySQL converts to.
const WIDE_KEY = {
  sqlite: 'VARCHAR(60)',
  mysql: 'VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
  mariadb: 'VARCHAR(60) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci',
  postgres: 'VARCHAR(60) COLLATE "C"',
}[databaseName]
const WIDE =
  databaseName === 'mariadb'
    ? ['z😀', 'a', 'łódź', 'tr', 'ß', 'Xyz', 'ż']
    : ['😀', '😁', '🙂', 'z😀', 'z😁', 'ż', 'a', '漢']

const wide = await openStage(({ sequelize }, app) => {
  const Wide = sequelize.define(
    'Wide',
    { id: { type: DataTypes.STRING(60), primaryKey: true }, odd: DataTypes.BOOLEAN },
    { timestamps: false, tableName: 'wide' },
  )
  app.use(crudRouter(Wide, { route: 'api/wide' }))
  return { Wide }
})
const { Wide } = wide
await Wide.drop()
await Wide.sequelize?.query(`CREATE TABLE wide (id ${WIDE_KEY} NOT NULL PRIMARY KEY, odd BOOLEAN)`)
await Wide.bulkCreate(WIDE.map((id) => ({ id })))

test.after.always(async () => {
  for (const server of [big, assigned, folding, wide]) await server.close()
})

async function namesOf(t: ExecutionContext, path: string): Promise<Record<string, string>> {
  const { status, body } = await list(big, path, { sort: 'id', pageSize: 100 })
  t.is(status, 200)
  return Object.fromEntries(body.items.map(({ id, name }: { id: unknown; name: string }) => [String(id), name]))
}

for (const way of ways) {
  test(`${way}: a record with a key beyond 2^53 is created, read, changed and deleted, its neighbour is not`, async (t) => {
    const path = pathOf('parents', way)
    for (const id of EDGES) {
      const { status, body, headers } = await big.post(path, { id, name: `n${id}`, other: id })
      t.is(status, 201)
      t.deepEqual(body, { id, name: `n${id}`, other: id })
      t.is(headers.get('location'), `${path}/${id}`)
      t.deepEqual((await big.get(`${path}/${id}`)).body, body)
    }
    t.deepEqual((await big.patch(`${path}/${BIG}`, { name: 'changed' })).body, { id: BIG, name: 'changed', other: BIG })
    t.like(await namesOf(t, path), { [BIG]: 'changed', [NEIGHBOUR]: `n${NEIGHBOUR}` })
    t.is((await big.delete(`${path}/${BIG}`)).status, 204)
    t.is((await big.get(`${path}/${BIG}`)).status, 404)
    t.is((await big.get(`${path}/${NEIGHBOUR}`)).status, 200)
    const more = ['9007199254740995', '9007199254740997', '9007199254740996']
    const bulk = await big.post(
      `${path}/bulk`,
      more.map((id) => ({ id, name: `n${id}` })),
    )
    t.deepEqual(
      bulk.body.map(({ id }: { id: string }) => id),
      more,
    )
    t.deepEqual((await big.post(`${path}/bulk-delete`, ['9007199254740995', '9007199254740997'])).body, { deleted: 2 })
    t.true('9007199254740996' in (await namesOf(t, path)))
  })

  test(`${way}: keyset pages and filters tell keys beyond 2^53 apart`, async (t) => {
    const path = pathOf('parents', way)
    const seen: unknown[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { status, body } = await list(big, path, { cursor, pageSize: 1 })
      t.is(status, 200)
      seen.push(...body.items.map(({ id }: { id: unknown }) => id))
      cursor = body.nextCursor
      if (seen.length > 20) return t.fail()
    }
    t.deepEqual(seen, await keysOf(big, path, { sort: 'id', pageSize: 100 }))
    t.deepEqual(await keysOf<unknown>(big, path, { filter: `Other=${NEIGHBOUR}` }), [NEIGHBOUR])
    t.deepEqual(await keysOf<unknown>(big, path, { filter: `Other=${BIG}` }), [])
    t.deepEqual(await keysOf<unknown>(big, path, { filter: `Other>=${BIG}` }), ['9223372036854775807'])
    t.deepEqual(await keysOf<unknown>(big, path, { filter: 'Other<-9007199254740992', sort: 'id' }), EDGES.slice(0, 2))
  })

  test(`${way}: a foreign key beyond 2^53 leads to its record and to no other`, async (t) => {
    const [parents, children] = [pathOf('parents', way), pathOf('children', way)]
    for (const id of ['8007199254740993', BIG]) await big.post(parents, { id, name: `p${id}` })
    const { status, body } = await big.post(children, { name: 'child', parentId: BIG })
    t.is(status, 201)
    t.is(body.parentId, BIG)
    const selected = await list(big, children, { select: 'parentId,parent.id,parent.name' })
    t.deepEqual(selected.body.items, [{ parentId: BIG, parent: { id: BIG, name: `p${BIG}` } }])
    t.deepEqual(await keysOf(big, children, { filter: `ParentId=${BIG}` }), [body.id])
    t.deepEqual(await keysOf(big, children, { filter: `ParentId=${NEIGHBOUR}` }), [])
    t.deepEqual(await keysOf<unknown>(big, parents, { filter: 'Children.Any.Name=child' }), [BIG])
    t.is((await big.patch(`${children}/${body.id}`, { name: 'renamed' })).body.parentId, BIG)
    t.is((await big.patch(`${children}/${body.id}`, { parentId: '9007199254740999' })).status, 409)
  })
}

async function moveKeys(model: ModelStatic<Model>): Promise<void> {
  const table = String(model.getTableName())
  const { sequelize } = assigned
  if (databaseName === 'sqlite')
    await sequelize.query(`UPDATE sqlite_sequence SET seq = ${FAR - 1n} WHERE name = '${table}'`)
  else if (databaseName === 'postgres') await sequelize.query(`ALTER SEQUENCE "${table}_id_seq" RESTART WITH ${FAR}`)
  else await sequelize.query(`ALTER TABLE \`${table}\` AUTO_INCREMENT = ${FAR}`)
}

for (const way of ['plain', 'shouting'] as const) {
  test(`${way}: every record of a bulk create has the key that the database gave it, near and far`, async (t) => {
    const path = `/api/${way}`
    const model = way === 'plain' ? assigned.Plain : assigned.Shouting
    for (const from of [1n, FAR]) {
      if (from !== 1n) await moveKeys(model)
      const names = ['one', 'two', 'three', 'four'].map((name) => `${name} from ${from}`)
      const { status, body } = await assigned.post(
        `${path}/bulk`,
        names.map((name) => ({ name })),
      )
      t.is(status, 201)
      t.deepEqual(
        body.map(({ name }: { name: string }) => name),
        names,
      )
      for (const item of body) {
        t.true(BigInt(item.id) >= from)
        t.deepEqual((await assigned.get(`${path}/${item.id}`)).body, item)
      }
      t.is(new Set(body.map(({ id }: { id: unknown }) => id)).size, names.length)
      const single = await assigned.post(path, { name: 'single' })
      t.deepEqual((await assigned.get(single.headers.get('location') ?? '')).body, single.body)
    }
    t.is(await model.count(), 10)
  })
}

for (const way of ways) {
  test(`${way}: under a collation that folds, a key is found by exactly itself`, async (t) => {
    const path = pathOf('texts', way)
    for (const id of KEYS) {
      const { status, body, headers } = await folding.post(path, { id, name: id })
      t.is(status, 201, id)
      t.is(body.id, id)
      t.deepEqual((await folding.get(headers.get('location') ?? '')).body, body)
    }
    for (const id of SIMILAR) {
      const one = `${path}/${encodeURIComponent(id)}`
      t.is((await folding.get(one)).status, 404, id)
      t.is((await folding.patch(one, { name: 'x' })).status, 404, id)
      t.is((await folding.delete(one)).status, 404, id)
    }
    t.deepEqual((await folding.post(`${path}/bulk-delete`, SIMILAR)).body, { deleted: 0 })
    t.deepEqual((await keysOf<string>(folding, path, { pageSize: 100 })).sort(), [...KEYS].sort())
    for (const id of KEYS) {
      const one = `${path}/${encodeURIComponent(id)}`
      t.deepEqual((await folding.patch(one, { name: 'new' })).body, { id, name: 'new' })
    }
    t.deepEqual((await folding.post(`${path}/bulk-delete`, ['abc', 'ABC', 'tail '])).body, { deleted: 2 })
    for (const id of ['abc', 'tail ']) await folding.post(path, { id })
  })

  test(`${way}: a key that differs in nothing but its case is a conflict where the database says so`, async (t) => {
    const path = pathOf('texts', way)
    const { status, body } = await folding.post(path, { id: 'ABC' })
    t.is(status, 409)
    t.deepEqual(body.errors, { id: ['is already taken.'] })
    t.is((await folding.get(`${path}/abc`)).status, 200)
  })
}

test('keyset pages go over keys of any characters once each, in the order of the column’s own collation', async (t) => {
  const ordered = await keysOf<string>(wide, '/api/wide', { sort: 'id' })
  t.deepEqual([...ordered].sort(), [...WIDE].sort())
  for (const pageSize of [1, 2, 3]) {
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null && seen.length <= WIDE.length) {
      const { body } = await list(wide, '/api/wide', { cursor, pageSize })
      seen.push(...body.items.map(({ id }: { id: string }) => id))
      cursor = body.nextCursor
    }
    t.deepEqual(seen, ordered)
  }
})

test('a key of more than 64 characters is none where keys are numbers, and no work', async (t) => {
  const served = await openStage(({ sequelize }, app) => {
    const Price = sequelize.define(
      'Price',
      { id: { type: DataTypes.DECIMAL(10, 2), primaryKey: true }, name: DataTypes.STRING },
      { timestamps: false },
    )
    const Count = sequelize.define('Count', { name: DataTypes.STRING }, { timestamps: false })
    for (const model of [Price, Count]) app.use(crudRouter(model, { operations: Operations.AllWithBulk }))
    return { Price, Count }
  })
  const { Price, Count } = served
  await Price.create({ id: '1.50', name: 'a' })
  await Count.create({ name: 'a' })
  t.teardown(() => served.close())
  const padded = (length: number): string => '1.5'.padEnd(length, '0')
  t.is((await served.get(`/api/prices/${padded(64)}`)).status, 200)
  t.is((await served.get(`/api/prices/${padded(65)}`)).status, 404)
  for (const path of ['/api/prices', '/api/counts']) {
    const one = `${path}/${'9'.repeat(10_000)}`
    t.is((await served.get(one)).status, 404)
    t.is((await served.patch(one, { name: 'b' })).status, 404)
    t.is((await served.delete(one)).status, 404)
    const digits = ['9'.repeat(500_000), `-${'9'.repeat(400_000)}`, padded(65)]
    t.deepEqual((await served.post(`${path}/bulk-delete`, digits)).body, { deleted: 0 })
  }
  t.is(await served.Price.count(), 1)
})
