// Two records whose UUIDs differ in upper and lower case alone, which other programs have stored in a column of text. To clients the
// two have one key.

import { isDeepStrictEqual } from 'node:util'
import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, type Identity, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

/** Past Sequelize's instances, through them in writes, and through them in reads as well. */
const WAYS = {
  plain: {},
  /** Of items and marks that have no tenant of their own. */
  bare: {},
  saved: { beforeSave: () => undefined, beforeDestroy: () => undefined },
  found: { beforeSave: () => undefined, beforeDestroy: () => undefined, beforeFind: () => undefined },
}

type Way = keyof typeof WAYS
const ways = Object.keys(WAYS) as Way[]

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'
const COLUMN = isMysql ? 'CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' : 'VARCHAR(36)'
const operations =
  Operations.AllWithBulk +
  Operations.BulkUpdate +
  Operations.Replace +
  Operations.Restore +
  Operations.Aggregate +
  Operations.Export
const both = { routes: true, write: true } as const

const KINDS = ['Owner', 'Item', 'Label', 'Mark'] as const

type Kind = (typeof KINDS)[number]

const stage = await openStage(({ sequelize }, app) => {
  const uuid = () => ({ type: DataTypes.UUID, primaryKey: true })
  const values = () => ({
    tenant: DataTypes.INTEGER,
    name: DataTypes.STRING(20),
    shout: {
      type: DataTypes.VIRTUAL(DataTypes.STRING, ['name']),
      get(this: Model): string {
        return `${String(this.getDataValue('name' as never))}!`
      },
    },
  })
  for (const way of ways) {
    const hooked = { timestamps: false, hooks: WAYS[way] }
    const Owner = sequelize.define(`${way}Owner`, { id: uuid(), ...values() }, hooked)
    const Item = sequelize.define(`${way}Item`, { id: uuid(), ...values(), ownerId: DataTypes.UUID }, hooked)
    const Label = sequelize.define(`${way}Label`, { id: uuid(), ...values() }, hooked)
    const Mark = sequelize.define(`${way}Mark`, { ownerId: uuid(), labelId: uuid(), ...values() }, hooked)
    Owner.hasMany(Item, { as: 'items', foreignKey: 'ownerId', constraints: false })
    Item.belongsTo(Owner, { as: 'owner', foreignKey: 'ownerId' })
    const tie = { through: Mark, foreignKey: 'ownerId', otherKey: 'labelId', constraints: false }
    Owner.belongsToMany(Label, { as: 'labels', ...tie })
    // Rows between whose key has a UUID and a number.
    const number = { type: DataTypes.INTEGER, primaryKey: true }
    const Badge = sequelize.define(`${way}Badge`, { id: { ...number } }, hooked)
    const Wear = sequelize.define(`${way}Wear`, { ownerId: uuid(), badgeId: { ...number } }, hooked)
    const worn = { through: Wear, foreignKey: 'ownerId', otherKey: 'badgeId', constraints: false }
    Owner.belongsToMany(Badge, { as: 'badges', ...worn })
    const identity = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): Identity => {
      return { name: 'caller', roles: new Set(), permissions: new Set(), claims: { tenant: headers['x-tenant'] } }
    }
    const scope = ({ identity: caller }: { readonly identity: Identity | null }) => ({
      tenant: Number(caller?.claims.tenant ?? 0),
    })
    const options = { operations, identity, scope, softDelete: true } as const
    const relations = { items: both, labels: both, badges: both }
    const owned = way === 'bare' ? { operations: operations - Operations.Restore } : options
    app.use(`/${way}`, crudRouter(Owner, { ...options, route: 'owners', relations }))
    app.use(`/${way}`, crudRouter(Item, { ...owned, route: 'items', relations: { owner: { routes: true } } }))
    app.use(`/${way}`, crudRouter(Label, { ...options, route: 'labels' }))
    app.use(`/${way}`, crudRouter(Mark, { ...owned, route: 'marks' }), crudRouter(Badge, { route: 'badges' }))
  }
  sequelize.addHook('beforeBulkSync', async () => {
    const tables = sequelize.getQueryInterface()
    const key = { type: COLUMN, primaryKey: true, allowNull: false }
    const rest = {
      tenant: DataTypes.INTEGER,
      name: { type: 'VARCHAR(20)' },
      isDeleted: DataTypes.BOOLEAN,
      deletedAt: DataTypes.DATE,
    }
    for (const way of ways) {
      await tables.createTable(`${way}Owners`, { id: { ...key }, ...rest })
      await tables.createTable(`${way}Items`, { id: { ...key }, ...rest, ownerId: { type: COLUMN } })
      await tables.createTable(`${way}Labels`, { id: { ...key }, ...rest })
      const badgeId = { type: DataTypes.INTEGER, primaryKey: true, allowNull: false }
      await tables.createTable(`${way}Wears`, { ownerId: { ...key }, badgeId })
      await tables.createTable(`${way}Marks`, { ownerId: { ...key }, labelId: { ...key }, ...rest })
    }
  })
})
const { sequelize } = stage
for (const way of ways) await sequelize.model(`${way}Badge`).create({ id: 1 })
test.after.always(() => stage.close())

const model = (way: Way, kind: Kind): ModelStatic<Model> => sequelize.model(`${way}${kind}`)

let last = 0

/** A UUID of its own, in upper case. */
function newId(): string {
  last += 1
  return `${String(last).padStart(4, '0')}ABCD-EF00-4ABC-8DEF-ABCDEFABCDEF`
}

const SPELLINGS = {
  upper: { ours: (id: string) => id, theirs: (id: string) => id.toLowerCase() },
  lower: { ours: (id: string) => id.toLowerCase(), theirs: (id: string) => id },
}

type Spelling = keyof typeof SPELLINGS

/** Keys of records, in upper case. */
interface Twins {
  readonly owner: string
  readonly item: string
  readonly label: string
}

/** An owner with an item and a label for each of two tenants, whose keys differ in spelling alone. Ours are in the spelling that is told. */
async function twins(way: Way, spelling: Spelling, tenants: readonly [number, number] = [1, 2]): Promise<Twins> {
  const ids = { owner: newId(), item: newId(), label: newId() }
  const { ours, theirs } = SPELLINGS[spelling]
  for (const [spell, tenant, name] of [
    [ours, tenants[0], 'ours'],
    [theirs, tenants[1], 'theirs'],
  ] as const) {
    await model(way, 'Owner').create({ id: spell(ids.owner), tenant, name })
    await model(way, 'Item').create({ id: spell(ids.item), tenant, name, ownerId: spell(ids.owner) })
    await model(way, 'Label').create({ id: spell(ids.label), tenant, name })
    await model(way, 'Mark').create({ ownerId: spell(ids.owner), labelId: spell(ids.label), tenant, name })
  }
  return ids
}

/** All that is stored of records by their names, in upper case or not. */
async function storedOf(way: Way, spell: (id: string) => string, ids: Twins): Promise<unknown> {
  const all = []
  for (const kind of KINDS) {
    const id = kind === 'Mark' ? { ownerId: spell(ids.owner) } : { id: spell(ids[KEYS[kind]]) }
    const rows = await model(way, kind).findAll({ where: id })
    all.push(rows.map((row) => row.get({ plain: true })))
  }
  return all
}

const KEYS = { Owner: 'owner', Item: 'item', Label: 'label' } as const

interface Asking {
  readonly title: string
  readonly method: string
  readonly path: (ids: Twins) => string
  readonly json?: (ids: Twins) => unknown
  readonly status?: number
  /** Whether the answer has the names of records; it has unless told. */
  readonly shows?: boolean
}

const lower = (id: string): string => id.toLowerCase()

const NEW = { name: 'ours, new' }

function get(path: string): Asking {
  return write('GET', path)
}

/** A request whose path has names in the places of keys. */
function write(method: string, path: string, json?: (ids: Twins) => unknown): Asking {
  const keyed = ({ owner, item, label }: Twins): string =>
    path
      .replace('UPPER', owner)
      .replace('OWNER', lower(owner))
      .replace('ITEM', lower(item))
      .replace('LABEL', lower(label))
  return { title: `${method} ${path}`, method, path: keyed, ...(json === undefined ? {} : { json }) }
}

/** Requests about a record of the caller's, whose twin is another tenant's; each is answered as if there were no twin. */
const REQUESTS: readonly Asking[] = [
  get('owners/OWNER'),
  get('owners/UPPER'),
  get('owners/OWNER?select=name,items(name,shout),labels(name)'),
  get('owners/OWNER?select=shout'),
  get('items/ITEM?select=name,owner.name'),
  get('owners?keys=OWNER,UPPER'),
  get('owners?filter=Id=OWNER&select=name,items.name,labels.name'),
  get('items?filter=OwnerId=OWNER'),
  get('owners?keys=OWNER&cursor='),
  get('owners?keys=OWNER&sort=items.count'),
  get('owners?keys=OWNER&pageSize=500&select=name,shout,items(name,shout)'),
  get('owners/OWNER/items'),
  get('owners/OWNER/labels'),
  get('items/ITEM/owner'),
  get('items?aggregate=count&group=Name,Owner.Name&keys=ITEM'),
  get('owners?keys=OWNER&select=name,shout&format=csv'),
  write('PATCH', 'owners/OWNER', () => NEW),
  write('PATCH', 'owners/OWNER', () => ({})),
  write('PATCH', 'owners/UPPER', () => NEW),
  write('PATCH', 'owners/OWNER?select=name,items(name,shout),labels(name)', () => NEW),
  write('PATCH', 'items/ITEM?select=name,owner.name', () => NEW),
  write('PATCH', 'items/ITEM?select=name,owner.name', ({ owner }) => ({ ownerId: lower(owner) })),
  write('PUT', 'owners/OWNER', () => NEW),
  { ...write('PATCH', 'owners/bulk', ({ owner }) => [{ id: lower(owner), ...NEW }]), shows: false },
  { ...write('PUT', 'owners/bulk?by=Id', ({ owner }) => [{ id: lower(owner), ...NEW }]), shows: false },
  write('PATCH', 'owners/OWNER', ({ item }) => ({ items: [{ id: lower(item), ...NEW }] })),
  write('PATCH', 'owners/OWNER', () => ({ items: [] })),
  write('PATCH', 'owners/OWNER', ({ label }) => ({ labels: [lower(label)] })),
  write('PATCH', 'owners/OWNER', () => ({ labels: [] })),
  { ...write('POST', 'owners/OWNER/items', () => ({ id: lower(newId()), ...NEW })), status: 201 },
  {
    ...write('POST', 'items?select=name,owner.name', ({ owner }) => ({ id: newId(), ownerId: lower(owner), ...NEW })),
    status: 201,
  },
  { ...write('POST', 'owners/OWNER/labels', ({ label }) => [lower(label)]), shows: false },
  { ...write('PUT', 'owners/OWNER/labels/LABEL'), status: 204, shows: false },
  { ...write('PUT', 'owners/OWNER/labels', ({ label }) => [lower(label)]), shows: false },
  { ...write('PUT', 'owners/OWNER/labels', () => []), shows: false },
  { ...write('DELETE', 'owners/OWNER/labels/LABEL'), status: 204, shows: false },
  { ...write('DELETE', 'owners/OWNER'), status: 204, shows: false },
  { ...write('DELETE', 'owners/UPPER'), status: 204, shows: false },
  { ...write('POST', 'owners/bulk-delete', ({ owner }) => [lower(owner)]), shows: false },
]

const send = (way: Way, tenant: number, { method, path, json }: Asking, ids: Twins): Promise<Answer> =>
  stage.send(method, `/${way}/${path(ids)}`, {
    headers: { 'x-tenant': String(tenant) },
    ...(json === undefined ? {} : { json: json(ids) }),
  })

for (const way of ways) {
  for (const spelling of ['upper', 'lower'] as const) {
    test(`${way}: requests about a record in ${spelling} case neither show nor change a twin of another tenant`, async (t) => {
      const { theirs } = SPELLINGS[spelling]
      const wrong: string[] = []
      for (const asking of REQUESTS.filter(({ title }) => way !== 'bare' || title.includes(' owners'))) {
        const ids = await twins(way, spelling)
        const before = await storedOf(way, theirs, ids)
        const { status, text } = await send(way, 1, asking, ids)
        const isShown = asking.shows === false || text.includes('ours')
        const isAsStored = isDeepStrictEqual(await storedOf(way, theirs, ids), before)
        if (status !== (asking.status ?? 200) || text.includes('theirs') || !isShown || !isAsStored) {
          wrong.push(`${asking.title}: ${status} ${text} ${isAsStored ? '' : 'CHANGED'}`)
        }
      }
      t.deepEqual(wrong, [])
    })
  }
}

/** Requests that are about one record, and what becomes of the two: of that in lower case, and of the other one. */
const WRITES: readonly (readonly [asking: Asking, lower: unknown, upper: unknown])[] = [
  [write('PATCH', 'owners/OWNER', () => ({ name: 'new' })), 'new', 'ours'],
  [write('PATCH', 'owners/UPPER', () => ({ name: 'new' })), 'new', 'ours'],
  [write('PUT', 'owners/OWNER', () => ({ name: 'new' })), 'new', 'ours'],
  [write('PATCH', 'owners/bulk', ({ owner }) => [{ id: lower(owner), name: 'new' }]), 'new', 'ours'],
  [write('PUT', 'owners/bulk?by=Id', ({ owner }) => [{ id: lower(owner), name: 'new' }]), 'new', 'ours'],
  [write('DELETE', 'owners/OWNER'), true, 'ours'],
  [write('POST', 'owners/bulk-delete', ({ owner }) => [lower(owner)]), true, 'ours'],
]

for (const way of ways) {
  test(`${way}: a request with the key of two records that the caller may see is about that in lower case`, async (t) => {
    const state = async (id: string): Promise<unknown> => {
      const row = await model(way, 'Owner').findOne({ where: { id } })
      return row?.get('isDeleted') ? true : row?.get('name')
    }
    const ids = await twins(way, 'upper', [1, 1])
    await model(way, 'Owner').update({ name: 'lower' }, { where: { id: lower(ids.owner) } })
    for (const path of ['owners/OWNER', 'owners/UPPER']) {
      t.is((await send(way, 1, get(path), ids)).body.name, 'lower')
    }
    for (const [asking, one, other] of WRITES) {
      const pair = await twins(way, 'upper', [1, 1])
      const { status, text } = await send(way, 1, asking, pair)
      const message = `${asking.title}: ${status} ${text}`
      t.true(status < 300, message)
      t.is(await state(lower(pair.owner)), one, message)
      t.is(await state(pair.owner), other, message)
    }
  })

  test(`${way}: each of two records whose keys differ in spelling alone has its own items and labels`, async (t) => {
    const ids = await twins(way, 'upper', [1, 1])
    const select = 'name,items(name),labels(name)'
    const { body, text } = await send(way, 1, get(`owners?keys=OWNER&select=${select}`), ids)
    const own = (name: string) => ({ name, items: [{ name }], labels: [{ name }] })
    const sorted = (body.items as { readonly name: string }[]).sort((one, other) => (one.name < other.name ? -1 : 1))
    t.deepEqual(sorted, [own('ours'), own('theirs')], text)
  })

  for (const spelling of ['upper', 'lower'] as const) {
    test(`${way}: a link in ${spelling} case that was undone is made again beside that of another tenant's twins`, async (t) => {
      const { theirs } = SPELLINGS[spelling]
      const ids = await twins(way, spelling)
      const before = await storedOf(way, theirs, ids)
      for (const [asking, status] of [
        [write('PATCH', 'owners/OWNER', () => ({ labels: [] })), 200],
        [write('PATCH', 'owners/OWNER', ({ label }) => ({ labels: [lower(label)] })), 200],
        [write('DELETE', 'owners/OWNER/labels/LABEL'), 204],
        [write('PUT', 'owners/OWNER/labels/LABEL'), 204],
        [write('PUT', 'owners/OWNER/labels', () => []), 200],
        [write('POST', 'owners/OWNER/labels', ({ label }) => [lower(label)]), 200],
      ] as const) {
        const answer = await send(way, 1, asking, ids)
        t.is(answer.status, status, `${asking.title}: ${answer.text}`)
      }
      const { body } = await send(way, 1, get('owners/OWNER?select=labels(name)'), ids)
      t.deepEqual(body, { labels: [{ name: 'ours' }] })
      t.deepEqual(await storedOf(way, theirs, ids), before)
    })
  }

  test(`${way}: a link by a UUID and a number is undone for one of two owners whose keys differ in spelling alone`, async (t) => {
    const Wear = sequelize.model(`${way}Wear`)
    for (const spelling of ['upper', 'lower'] as const) {
      for (const asking of [
        write('PATCH', 'owners/OWNER', () => ({ badges: [] })),
        write('PUT', 'owners/OWNER/badges', () => []),
        write('DELETE', 'owners/OWNER/badges/1'),
      ]) {
        const ids = await twins(way, spelling)
        const { ours, theirs } = SPELLINGS[spelling]
        await Wear.bulkCreate([ours, theirs].map((spell) => ({ ownerId: spell(ids.owner), badgeId: 1 })))
        const { status, text } = await send(way, 1, asking, ids)
        t.true(status < 300, `${asking.title}: ${text}`)
        const left = await Wear.findAll({ where: { ownerId: [ids.owner, lower(ids.owner)] } })
        t.deepEqual(
          left.map((row) => row.get('ownerId')),
          [theirs(ids.owner)],
          asking.title,
        )
      }
    }
  })

  if (way === 'bare') continue

  test(`${way}: a foreign key in a body refers to a record in lower case before one in upper case`, async (t) => {
    const ids = await twins(way, 'upper', [1, 1])
    const body = { id: newId().toLowerCase(), ownerId: lower(ids.owner), tenant: 1 }
    const { status, text } = await stage.send('POST', `/${way}/items`, { headers: { 'x-tenant': '1' }, json: body })
    t.is(status, 201, text)
    const row = await model(way, 'Item').findOne({ where: { id: body.id } })
    t.is(row?.get('ownerId'), lower(ids.owner))
  })
}
