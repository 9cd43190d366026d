// A model that nobody prepared for this package, through every route.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { listPath } from '../../support/league.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage()
const { app, sequelize } = server
const heard: unknown[] = []

/** Twenty attributes of all types, in columns of another style, with what old models have grown over the years. */
const BASE: ModelAttributes = {
  fullName: { type: DataTypes.STRING(80), allowNull: false, field: 'full_name' },
  vatNumber: { type: DataTypes.STRING(20), allowNull: false, field: 'vat_no' },
  countryCode: { type: DataTypes.CHAR(2), allowNull: false, field: 'country', defaultValue: 'PL' },
  about: { type: DataTypes.TEXT, field: 'about_text' },
  headCount: { type: DataTypes.INTEGER, field: 'head_cnt' },
  rating: { type: DataTypes.SMALLINT, field: 'rating' },
  ledger: { type: DataTypes.BIGINT, field: 'ledger_no' },
  ratio: { type: DataTypes.FLOAT, field: 'ratio' },
  exact: { type: DataTypes.DOUBLE, field: 'exact_ratio' },
  balance: { type: DataTypes.DECIMAL(12, 2), field: 'balance' },
  isActive: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: true, field: 'is_active' },
  foundedOn: { type: DataTypes.DATEONLY, field: 'founded_on' },
  lastSeen: { type: DataTypes.DATE(3), field: 'last_seen_at' },
  opensAt: { type: DataTypes.TIME, field: 'opens_at' },
  externalId: { type: DataTypes.UUID, field: 'ext_id' },
  tier: { type: DataTypes.ENUM('bronze', 'silver', 'gold'), defaultValue: 'bronze', field: 'tier' },
  logo: { type: DataTypes.BLOB, field: 'logo_bytes' },
  settings: { type: DataTypes.JSON, field: 'settings_json' },
  headline: {
    type: DataTypes.VIRTUAL(DataTypes.STRING, ['fullName', 'tier']),
    get() {
      return `${this.get('fullName')} (${this.get('tier')})`
    },
  },
  order: { type: DataTypes.INTEGER, field: 'order' },
}

interface Prepared {
  readonly what: string
  readonly model: ModelStatic<Model>
  /** The key's name on the wire, and a key for a new record where the client gives it. */
  readonly key: string
  readonly newKey?: (index: number) => string
}

// A schema on PostgreSQL, the same name as a prefix of the table on SQLite and MySQL. Under the mariadb driver Sequelize
// cannot sync a table of another schema, and the prefix is in the name.
const schema = databaseName === 'mariadb' ? {} : { schema: 'crm' }
const prefix = databaseName === 'mariadb' ? 'crm_T_' : 'T_'
if (databaseName === 'postgres') await sequelize.createSchema('crm', {})

function company(name: string, id: ModelAttributes): ModelStatic<Model> {
  const model = sequelize.define(
    name,
    { ...id, ...BASE },
    {
      ...schema,
      tableName: `${prefix}${name}_v2`,
      underscored: true,
      name: { singular: name, plural: name },
      defaultScope: { where: { isActive: true } },
      indexes: [{ unique: true, name: `${name}_country_vat`, fields: ['country', 'vat_no'] }],
    },
  )
  // A self-association, and two associations to one target under aliases.
  model.belongsTo(model, { as: 'parent', foreignKey: { name: 'parentKey', field: 'parent_key' } })
  model.hasMany(model, { as: 'branches', foreignKey: { name: 'parentKey', field: 'parent_key' } })
  model.belongsTo(Person, { as: 'owner', foreignKey: { name: 'ownerId', field: 'owner_id' } })
  model.belongsTo(Person, { as: 'accountant', foreignKey: { name: 'accountantId', field: 'accountant_id' } })
  return model
}

const Person = sequelize.define(
  'Person',
  { firstName: { type: DataTypes.STRING, field: 'first_name' }, born: DataTypes.DATEONLY },
  { ...schema, tableName: `${prefix}people`, underscored: true, name: { singular: 'person', plural: 'people' } },
)

const PREPARED: readonly Prepared[] = [
  { what: 'an integer key', model: company('firm', {}), key: 'id' },
  {
    what: 'a text primary key',
    model: company('shop', { slug: { type: DataTypes.STRING(40), primaryKey: true, field: 'shop_slug' } }),
    key: 'slug',
    newKey: (index) => `shop ${index}/ö`,
  },
  {
    what: 'a UUID key',
    model: company('plant', {
      plantId: { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4, field: 'plant_id' },
    }),
    key: 'plantId',
  },
]

const options: CrudOptions = {
  operations: Operations.AllWithBulk,
  onError: (error) => void heard.push(error),
}
for (const { model } of PREPARED) app.use(crudRouter(model, options))
app.use(crudRouter(Person, options))
await sequelize.sync()
ava.after.always(() => server.close())

const FULL = {
  fullName: 'Żółta Łódź "S.A."',
  countryCode: 'PL',
  about: 'long\ntext',
  headCount: 12,
  rating: -3,
  ledger: '9007199254740993',
  ratio: 0.5,
  exact: 0.1,
  balance: 1234.5,
  isActive: true,
  foundedOn: '1999-12-31',
  lastSeen: '2024-02-29T12:34:56.789Z',
  opensAt: '07:30:00',
  externalId: '0f8fad5b-d9cb-469f-a165-70867728950e',
  tier: 'gold',
  logo: 'AAEC/w==',
  settings: { theme: 'dark', tags: ['a', 'b'] },
  order: 1,
}

let vat = 0

for (const { what, model, key, newKey } of PREPARED) {
  const route = `/api/${model.name}`

  const body = (more: Record<string, unknown> = {}): Record<string, unknown> => {
    vat += 1
    return { ...(newKey === undefined ? {} : { [key]: newKey(vat) }), fullName: 'x', vatNumber: `V${vat}`, ...more }
  }

  const made = async (t: ExecutionContext, more: Record<string, unknown> = {}): Promise<Answer['body']> => {
    const answer = await server.post(route, body(more))
    t.is(answer.status, 201, answer.text)
    return answer.body
  }

  const pathOf = (record: Answer['body']): string => `${route}/${encodeURIComponent(record[key])}`

  const list = async (t: ExecutionContext, parameters: Record<string, string | number>): Promise<Answer['body']> => {
    const answer = await server.get(listPath(route, parameters))
    t.is(answer.status, 200, answer.text)
    return answer.body
  }

  test(`${what}: every attribute is created, read, changed, cleared and listed`, async (t) => {
    const sent = body(FULL)
    const created = await server.post(route, sent)
    t.is(created.status, 201, created.text)
    t.like(created.body, sent)
    t.is(created.body.headline, 'Żółta Łódź "S.A." (gold)')
    t.is(created.headers.get('location'), pathOf(created.body))
    const path = pathOf(created.body)
    t.deepEqual((await server.get(path)).body, created.body)
    const nullable = Object.keys(FULL).filter((name) => !['fullName', 'countryCode', 'isActive'].includes(name))
    const nulls = Object.fromEntries(nullable.map((name) => [name, null]))
    const cleared = await server.patch(path, nulls)
    t.is(cleared.status, 200, cleared.text)
    t.like(cleared.body, { ...sent, ...nulls, headline: 'Żółta Łódź "S.A." (null)' })
    const restored = await server.patch(path, FULL)
    t.like(restored.body, sent)
    const { items } = await list(t, { filter: `VatNumber=${sent.vatNumber}` })
    t.deepEqual(items, [restored.body])
  })

  test(`${what}: what breaks the rules is told by the names of the wire`, async (t) => {
    const { status, body: problem } = await server.post(route, {
      ...(newKey === undefined ? {} : { [key]: 'key' }),
      fullName: 'x'.repeat(81),
      countryCode: 'POL',
      headCount: '12',
      tier: 'platinum',
      full_name: 'misspelt',
    })
    t.is(status, 400)
    t.deepEqual(problem.errors, {
      fullName: ['must be at most 80 characters.'],
      full_name: ['is not a known property. Did you mean fullName?'],
      vatNumber: ['is required.'],
      countryCode: ['must be at most 2 characters.'],
      headCount: ['must be an integer.'],
      tier: ['must be one of: bronze, silver, gold.'],
    })
  })

  test(`${what}: the composite unique index is 409 for create, update and bulk create, by its fields`, async (t) => {
    const first = await made(t)
    const second = await made(t)
    const twin = body({ vatNumber: first.vatNumber })
    for (const answer of [
      await server.post(route, twin),
      await server.patch(pathOf(second), { vatNumber: first.vatNumber }),
      await server.post(`${route}/bulk`, [body(), twin]),
    ]) {
      t.is(answer.status, 409)
      t.deepEqual(answer.body.errors, { countryCode: ['is already taken.'], vatNumber: ['is already taken.'] })
      t.false(answer.text.includes(first.vatNumber))
    }
    t.is((await server.patch(pathOf(second), { vatNumber: first.vatNumber, countryCode: 'DE' })).status, 200)
  })

  if (newKey !== undefined) {
    test(`${what}: a key that is taken is 409 by its name on the wire`, async (t) => {
      const first = await made(t)
      const { status, body: problem } = await server.post(route, body({ [key]: first[key] }))
      t.is(status, 409)
      t.deepEqual(problem.errors, { [key]: ['is already taken.'] })
    })
  }

  test(`${what}: bulk create and bulk delete`, async (t) => {
    const sent = [
      body({ fullName: 'one', ledger: 5 }),
      body({ fullName: 'two', tier: null }),
      body({ fullName: 'three' }),
    ]
    const created = await server.post(`${route}/bulk`, sent)
    t.is(created.status, 201, created.text)
    t.deepEqual(
      created.body.map(({ fullName, headline, ledger }: Record<string, unknown>) => [fullName, headline, ledger]),
      [
        ['one', 'one (bronze)', 5],
        ['two', 'two (null)', null],
        ['three', 'three (bronze)', null],
      ],
    )
    const keys = created.body.map((record: Record<string, unknown>) => record[key])
    t.deepEqual((await server.post(`${route}/bulk-delete`, [...keys, ...keys, 'none', 99_999_999])).body, {
      deleted: 3,
    })
    t.is((await server.get(pathOf(created.body[0]))).status, 404)
  })

  test(`${what}: the default scope hides records from every route`, async (t) => {
    const hidden = await made(t, { isActive: false, fullName: 'hidden' })
    const path = pathOf(hidden)
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      t.is((await server.send(method, path, method === 'PATCH' ? { json: { fullName: 'y' } } : {})).status, 404, method)
    }
    t.deepEqual((await server.post(`${route}/bulk-delete`, [hidden[key]])).body, { deleted: 0 })
    t.is((await list(t, { filter: 'FullName=hidden' })).totalCount, 0)
    t.is((await list(t, { filter: 'FullName=hidden', count: 'true' })).count, 0)
    t.is((await list(t, { filter: 'FullName=hidden', cursor: '' })).items.length, 0)
    t.is((await model.unscoped().findByPk(hidden[key]))?.get('fullName'), 'hidden')
  })

  test(`${what}: filters, sorts and selects by attribute, whatever the column is called`, async (t) => {
    const tag = `tag${model.name}`
    for (const [index, tier] of ['silver', 'gold', 'bronze'].entries()) {
      await made(t, {
        about: tag,
        headCount: index,
        tier,
        balance: index + 0.25,
        lastSeen: `2024-01-0${index + 1}`,
        order: 9 - index,
      })
    }
    const counts = async (more: Record<string, string | number>): Promise<number[]> => {
      const { items } = await list(t, { about: tag, ...more })
      return items.map(({ headCount }: { headCount: number }) => headCount)
    }
    t.deepEqual(await counts({ sort: 'HeadCount' }), [0, 1, 2])
    t.deepEqual(await counts({ sort: '-Tier' }), [0, 1, 2])
    t.deepEqual(await counts({ sort: 'Order' }), [2, 1, 0])
    t.deepEqual(await counts({ filter: 'Tier=GOLD|HeadCount>1', sort: 'HeadCount' }), [1, 2])
    t.deepEqual(await counts({ filter: 'Balance=1.25' }), [1])
    t.deepEqual(await counts({ filter: 'LastSeen=2024-01-03' }), [2])
    t.deepEqual(await counts({ filter: 'IsActive=true,OpensAt=null', headCount: '1' }), [1])
    const { items } = await list(t, { about: tag, sort: 'HeadCount', select: `HeadCount,Headline,${key}`, pageSize: 1 })
    t.deepEqual(Object.keys(items[0]), ['headCount', 'headline', key])
    t.is(items[0].headline, 'x (silver)')
  })

  test(`${what}: keyset pages visit every record once`, async (t) => {
    for (let index = 0; index < 5; index += 1) await made(t)
    const expected = (await model.findAll()).map((row) => String(row.get(key))).sort()
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await list(t, { cursor, pageSize: 2 })
      seen.push(...page.items.map((record: Record<string, unknown>) => String(record[key])))
      cursor = page.nextCursor
    }
    t.deepEqual([...seen].sort(), expected)
  })

  test(`${what}: paths cross the self-association and both aliases of one target`, async (t) => {
    const [jan, anna] = (await server.post('/api/people/bulk', [{ firstName: 'Jan' }, { firstName: 'Anna' }])).body
    const tag = `tree${model.name}`
    const root = await made(t, { about: tag, fullName: 'root', ownerId: jan.id, accountantId: anna.id })
    await made(t, { about: tag, fullName: 'branch', parentKey: root[key], ownerId: anna.id })
    const names = async (filter: string): Promise<string[]> => {
      const { items } = await list(t, { about: tag, filter, sort: 'FullName' })
      return items.map(({ fullName }: { fullName: string }) => fullName)
    }
    t.deepEqual(await names('Owner.FirstName=Jan'), ['root'])
    t.deepEqual(await names('Owner.FirstName=Anna'), ['branch'])
    t.deepEqual(await names('Accountant.FirstName=Anna'), ['root'])
    t.deepEqual(await names('Owner.FirstName=Anna|Accountant.FirstName=Anna'), ['branch', 'root'])
    t.deepEqual(await names('Parent.FullName=root'), ['branch'])
    t.deepEqual(await names('Parent.Owner.FirstName=Jan'), ['branch'])
    t.deepEqual(await names('Parent=null'), ['root'])
    t.deepEqual(await names('Branches.Count=1'), ['root'])
    t.deepEqual(await names('Branches.FullName=branch'), ['root'])
    t.deepEqual(await names('Branches.Owner.FirstName=Anna'), ['root'])
    const select = 'FullName,Parent.FullName,Owner.FirstName,Accountant.FirstName'
    const { items } = await list(t, { about: tag, select, sort: 'Parent.FullName' })
    t.deepEqual(items, [
      { fullName: 'root', parent: null, owner: { firstName: 'Jan' }, accountant: { firstName: 'Anna' } },
      { fullName: 'branch', parent: { fullName: 'root' }, owner: { firstName: 'Anna' }, accountant: null },
    ])
  })

  test(`${what}: a reference that points nowhere is 409`, async (t) => {
    const root = await made(t)
    const nowhere = key === 'id' ? 99_999_999 : key === 'slug' ? 'nowhere' : '00000000-0000-4000-8000-000000000000'
    t.is((await server.patch(pathOf(root), { parentKey: nowhere })).status, 409)
    t.is((await server.patch(pathOf(root), { ownerId: 99_999_999 })).status, 409)
  })

  test(`${what}: DELETE takes the row away`, async (t) => {
    const record = await made(t)
    t.is((await server.delete(pathOf(record))).status, 204)
    t.is((await server.get(pathOf(record))).status, 404)
    t.is(await model.unscoped().count({ where: { vatNumber: record.vatNumber } }), 0)
  })
}

test('nothing in this file was unexpected', (t) => {
  t.deepEqual(heard, [])
})
