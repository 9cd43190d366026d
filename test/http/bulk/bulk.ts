import ava from 'ava'
import { DataTypes, Model, type ModelAttributes, type ModelOptions, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, Operations, Problem } from '../../../lib/index.js'
import { versionOf } from '../../support/servers.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage()
const { app, sequelize } = server
const heard: unknown[] = []

function mount(model: ModelStatic<Model>, options: CrudOptions = {}): void {
  app.use(crudRouter(model, { operations: Operations.AllWithBulk, onError: (error) => heard.push(error), ...options }))
}

function define(name: string, attributes: ModelAttributes, options: ModelOptions = {}): ModelStatic<Model> {
  return sequelize.define(name, attributes, { name: { singular: name, plural: name }, ...options })
}

const FIELDS: ModelAttributes = {
  name: { type: DataTypes.STRING(20), allowNull: false },
  level: { type: DataTypes.INTEGER, validate: { min: 1, max: 100 } },
  code: { type: DataTypes.STRING(20), unique: true },
  flag: { type: DataTypes.BOOLEAN, defaultValue: false },
}

const VARIANTS: readonly (readonly [what: string, model: ModelStatic<Model>])[] = [
  ['a plain model', define('plain', FIELDS)],
  [
    'a model with instance hooks',
    define('hooked', FIELDS, { hooks: { beforeCreate: () => undefined, beforeDestroy: () => undefined } }),
  ],
  [
    'a model with bulk hooks',
    define('bulky', FIELDS, { hooks: { beforeBulkCreate: () => undefined, beforeBulkDestroy: () => undefined } }),
  ],
  ['a model that validates as a whole', define('whole', FIELDS, { validate: { always: () => undefined } })],
  ['a model of snake_case columns', define('snaked', FIELDS, { underscored: true })],
  ['a paranoid model', define('paranoid', FIELDS, { paranoid: true })],
]

define('big', {
  id: { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true },
  name: DataTypes.STRING,
})
const Uuid = define('uuid', {
  id: { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 },
  name: DataTypes.STRING,
})
const Slug = define('slug', { slug: { type: DataTypes.STRING(40), primaryKey: true }, name: DataTypes.STRING })

const trace: string[] = []
const Traced = define('traced', {
  name: DataTypes.STRING,
  slug: DataTypes.STRING,
  title: { type: DataTypes.STRING, allowNull: false, defaultValue: '' },
})
const ONE_HOOKS = [
  'beforeValidate',
  'afterValidate',
  'beforeCreate',
  'beforeSave',
  'afterCreate',
  'afterSave',
  'beforeDestroy',
  'afterDestroy',
] as const
for (const hook of ONE_HOOKS) {
  Traced.addHook(hook, (instance: Model, options: { transaction?: unknown }) => {
    trace.push(`${hook} ${instance.get('name')}${options.transaction ? '' : ' alone'}`)
    if (instance.get('name') === hook) throw new Error(`secret: ${hook}`)
    if (hook === 'beforeValidate') instance.set('slug', `slug-${instance.get('name')}`)
    if (hook === 'beforeCreate') instance.set('title', `title-${instance.get('name')}`)
  })
}

const BulkTraced = define('bulktraced', {
  name: { type: DataTypes.STRING, allowNull: false },
  batch: DataTypes.INTEGER,
})
BulkTraced.addHook('beforeBulkCreate', (instances: readonly Model[], options: { transaction?: unknown }) => {
  trace.push(`beforeBulkCreate ${instances.length}${options.transaction ? '' : ' alone'}`)
  for (const instance of instances) instance.set('batch', instances.length)
})
BulkTraced.addHook('afterBulkCreate', (instances: readonly Model[]) => {
  trace.push(`afterBulkCreate ${instances.length}`)
  if (instances.some((instance) => instance.get('name') === 'afterBulkCreate'))
    throw new Error('secret: afterBulkCreate')
})
BulkTraced.addHook('beforeBulkDestroy', (options: { transaction?: unknown }) => {
  trace.push(`beforeBulkDestroy${options.transaction ? '' : ' alone'}`)
})
BulkTraced.addHook('afterBulkDestroy', () => void trace.push('afterBulkDestroy'))

const Owner = define('owner', { name: DataTypes.STRING })
const Kept = define('kept', { name: DataTypes.STRING })
Kept.belongsTo(Owner, { as: 'owner', foreignKey: { name: 'ownerId', allowNull: true }, onDelete: 'RESTRICT' })

define('limited', { name: DataTypes.STRING })

const WIDTH = 70
const Wide = define('wide', {
  ...Object.fromEntries(
    Array.from({ length: WIDTH }, (_, at) => [`n${at}`, { type: DataTypes.INTEGER, defaultValue: at }]),
  ),
  code: { type: DataTypes.INTEGER, unique: true },
})

class Constructed extends Model<{ name: string | null }> {
  constructor(...given: ConstructorParameters<typeof Model>) {
    super(...given)
    if (this.isNewRecord) this.setDataValue('name', `${this.getDataValue('name')} made`)
  }
}
Constructed.init({ name: DataTypes.STRING }, { sequelize, name: { singular: 'constructed', plural: 'constructed' } })

// Associations add attributes, so that everything mounts behind the last of them.
for (const model of Object.values(sequelize.models)) {
  mount(model, model.name === 'limited' ? { limits: { bulkItems: 3 } } : {})
}
await sequelize.sync()
ava.after.always(() => server.close())

type Item = Readonly<Record<string, unknown>>

for (const [what, model] of VARIANTS) {
  const path = `/api/${model.name}/bulk`

  test(`${what}: bulk create answers 201 with the Responses in order, and they are there`, async (t) => {
    const sent = ['d', 'a', 'c', 'b'].map((name, index) => ({ name, level: index + 1, code: `${model.name}-${name}` }))
    const { status, headers, body } = await server.post(path, sent)
    t.is(status, 201)
    t.is(headers.get('location'), null)
    t.deepEqual(
      body.map(({ name, level, code, flag }: Item) => ({ name, level, code, flag })),
      sent.map((item) => ({ ...item, flag: false })),
    )
    for (const item of body) t.deepEqual((await server.get(`/api/${model.name}/${item.id}`)).body, item)
    t.is(new Set(body.map(({ id }: Item) => id)).size, 4)
  })

  test(`${what}: [] is 201 with [] and touches nothing`, async (t) => {
    server.statements.length = 0
    const { status, body } = await server.post(path, [])
    t.is(status, 201)
    t.deepEqual(body, [])
    t.deepEqual(server.statements, [])
  })

  test(`${what}: every failure of every item is told under its place, and nothing is created`, async (t) => {
    const before = await model.count()
    const { status, body } = await server.post(path, [
      { name: 'good' },
      { level: 0 },
      5,
      { name: null, flag: 'x' },
      null,
      [],
      'text',
      { name: 'x'.repeat(21), level: 101 },
    ])
    t.is(status, 400)
    t.deepEqual(body, {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
      title: 'One or more validation errors occurred.',
      code: 'validation',
      status: 400,
      errors: {
        '[1].name': ['is required.'],
        '[1].level': ['must be between 1 and 100.'],
        '[2]': ['must be an object.'],
        '[3].name': ['cannot be null.'],
        '[3].flag': ['must be a boolean.'],
        '[4]': ['must be an object.'],
        '[5]': ['must be an object.'],
        '[6]': ['must be an object.'],
        '[7].name': ['must be at most 20 characters.'],
        '[7].level': ['must be between 1 and 100.'],
      },
    })
    t.is(await model.count(), before)
  })

  test(`${what}: a conflict with what is there names the field without a place, and creates nothing`, async (t) => {
    const code = `taken-${model.name}`
    await server.post(`/api/${model.name}`, { name: 'first', code })
    const before = await model.count()
    const { status, body, text } = await server.post(path, [{ name: 'a' }, { name: 'b' }, { name: 'c', code }])
    t.is(status, 409)
    t.deepEqual(body.errors, { code: ['is already taken.'] })
    t.notRegex(text, /taken-/)
    t.is(await model.count(), before)
  })

  test(`${what}: a conflict within the request names the field without a place, and creates nothing`, async (t) => {
    const before = await model.count()
    const code = `twin-${model.name}`
    const { status, body } = await server.post(path, [{ name: 'a', code }, { name: 'b' }, { name: 'c', code }])
    t.is(status, 409)
    t.deepEqual(body.errors, { code: ['is already taken.'] })
    t.is(await model.count(), before)
  })

  test(`${what}: items of different members are each filled with their own defaults`, async (t) => {
    const { body } = await server.post(path, [
      { name: 'a', flag: true },
      { name: 'b', level: 5 },
      { name: 'c', flag: null },
    ])
    t.deepEqual(
      body.map(({ name, level, flag }: Item) => [name, level, flag]),
      [
        ['a', null, true],
        ['b', 5, false],
        ['c', null, null],
      ],
    )
  })

  test(`${what}: bulk delete takes each key once, skips what is missing, and counts what it deleted`, async (t) => {
    const made = (
      await server.post(
        path,
        ['a', 'b', 'c'].map((name) => ({ name })),
      )
    ).body
    const [a, b, c] = made.map(({ id }: { id: number }) => id)
    const { status, body, headers } = await server.post(`${path}-delete`, [a, a, String(a), b, 999_999])
    t.is(status, 200)
    t.regex(headers.get('content-type') ?? '', /^application\/json/)
    t.deepEqual(body, { deleted: 2 })
    t.is((await server.get(`/api/${model.name}/${a}`)).status, 404)
    t.is((await server.get(`/api/${model.name}/${c}`)).status, 200)
    t.deepEqual((await server.post(`${path}-delete`, [a, b])).body, { deleted: 0 })
  })

  test(`${what}: what cannot be a key is a missing record`, async (t) => {
    const before = await model.count()
    const odd = [null, true, {}, [], [1], '', 'abc', '01', '1.0', 1.5, -0, -1, 1e300, '1 OR 1=1', { id: 1 }]
    const { status, body } = await server.post(`${path}-delete`, odd)
    t.is(status, 200)
    t.deepEqual(body, { deleted: 0 })
    t.is(await model.count(), before)
  })

  test(`${what}: bulk delete of [] deletes nothing, and asks the database nothing`, async (t) => {
    const before = await model.count()
    server.statements.length = 0
    const { status, body } = await server.post(`${path}-delete`, [])
    t.is(status, 200)
    t.deepEqual(body, { deleted: 0 })
    t.deepEqual(server.statements, [])
    t.is(await model.count(), before)
  })

  test(`${what}: a thousand records are created and deleted at once, one more is refused`, async (t) => {
    const items = Array.from({ length: 1001 }, (_, index) => ({ name: `n${index}` }))
    const before = await model.count()
    const refused = await server.post(path, items)
    t.is(refused.status, 400)
    t.like(refused.body, {
      title: 'Malformed body.',
      detail: 'The body has more items than the limit of 1000 (bulkItems).',
    })
    t.is(await model.count(), before)
    const { status, body } = await server.post(path, items.slice(0, 1000))
    t.is(status, 201)
    t.is(body.length, 1000)
    t.deepEqual(
      body.map(({ name }: Item) => name),
      items.slice(0, 1000).map(({ name }) => name),
    )
    const keys = body.map(({ id }: Item) => id)
    t.is((await server.post(`${path}-delete`, [...keys, 1])).status, 400)
    t.deepEqual((await server.post(`${path}-delete`, keys)).body, { deleted: 1000 })
    t.is(await model.count(), before)
  })
}

test('the limit of bulk items is the option bulkItems', async (t) => {
  const names = ['a', 'b', 'c', 'd'].map((name) => ({ name }))
  t.is((await server.post('/api/limited/bulk', names.slice(0, 3))).status, 201)
  t.is(
    (await server.post('/api/limited/bulk', names)).body.detail,
    'The body has more items than the limit of 3 (bulkItems).',
  )
  t.is((await server.post('/api/limited/bulk-delete', [1, 1, 1, 1])).status, 400)
})

test('records without any value are created too, where the model needs none', async (t) => {
  const served = await openStage(({ sequelize }, app) => {
    const Note = sequelize.define('note', { text: DataTypes.STRING }, { timestamps: false })
    app.use(crudRouter(Note, { operations: Operations.AllWithBulk }))
    return { Note }
  })
  t.teardown(served.close)
  for (const bodies of [[{}], [{}, {}], [{ text: null }], [{ text: 'x' }, {}]]) {
    const { status, body } = await served.post('/api/notes/bulk', bodies)
    t.is(status, 201, JSON.stringify(body))
    t.is(body.length, bodies.length)
  }
  t.is(await served.Note.count(), 6)
})

test('a Problem about fields that a hook throws gets the place of its new record, and undoes all', async (t) => {
  const status = 400
  const served = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('team', { name: DataTypes.STRING }, { timestamps: false })
    const name = { type: DataTypes.STRING(20), allowNull: false, unique: true }
    const Player = sequelize.define('player', { name }, { timestamps: false })
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
    const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
    const beforeCreate = ({ instance }: { readonly instance: Model }): void => {
      if (instance.get('name') === 'bad')
        throw new Problem({ status, code: 'validation', errors: { name: ['is bad.'] } })
    }
    app.use(crudRouter(Player, { operations, hooks: { beforeCreate } }))
    app.use(crudRouter(Team, { operations, relations: { players: { write: true } } }))
    return { Team, Player }
  })
  t.teardown(served.close)
  const bulk = await served.post('/api/players/bulk', [{ name: 'good' }, { name: 'bad' }])
  t.is(bulk.status, status)
  t.deepEqual(bulk.body.errors, { '[1].name': ['is bad.'] })
  t.is(await served.Player.count(), 0)
  const players = [{ name: 'good' }, { name: 'bad' }]
  const below = await served.post('/api/teams', { name: 'a', players })
  t.is(below.status, status)
  t.deepEqual(below.body.errors, { 'players[1].name': ['is bad.'] })
  const team = await served.post('/api/teams', { name: 'b' })
  const patched = await served.patch(`/api/teams/${team.body.id}`, { players })
  t.is(patched.status, status)
  t.deepEqual(patched.body.errors, { 'players[1].name': ['is bad.'] })
  const put = await served.send('PUT', '/api/players/bulk?by=name', { json: [{ name: 'new' }, { name: 'bad' }] })
  t.is(put.status, status, put.text)
  t.deepEqual(put.body.errors, { '[1].name': ['is bad.'] })
  t.is(await served.Player.count(), 0)
})

test('records with BIGINT keys come back in order', async (t) => {
  const { status, body } = await server.post('/api/big/bulk', [{ name: 'b' }, { name: 'a' }])
  t.is(status, 201)
  t.deepEqual(
    body.map(({ name }: Item) => name),
    ['b', 'a'],
  )
  t.is(typeof body[0].id, 'number')
  t.is((await server.get(`/api/big/${body[1].id}`)).body.name, 'a')
  const one = await server.post('/api/big', { name: 'one' })
  t.is(one.headers.get('location'), `/api/big/${one.body.id}`)
  t.is((await server.get(`/api/big/${one.body.id}`)).body.name, 'one')
  const keys = [body[0].id, String(body[1].id), '9223372036854775807', '9223372036854775808']
  t.deepEqual((await server.post('/api/big/bulk-delete', keys)).body, { deleted: 2 })
})

test('records with UUID keys come back in order, and keys count in any case', async (t) => {
  const { body } = await server.post('/api/uuid/bulk', [{ name: 'b' }, { name: 'a' }, { name: 'c' }])
  t.deepEqual(
    body.map(({ name }: Item) => name),
    ['b', 'a', 'c'],
  )
  t.is((await server.get(`/api/uuid/${body[1].id}`)).body.name, 'a')
  const keys = [body[0].id, body[0].id.toUpperCase(), body[1].id.toUpperCase(), 'nope']
  t.deepEqual((await server.post('/api/uuid/bulk-delete', keys)).body, { deleted: 2 })
  t.is(await Uuid.count(), 1)
})

test('records with text keys come back in order, and keys are exact', async (t) => {
  const sent = ['zebra', 'apple', 'Über/µ %'].map((slug) => ({ slug, name: slug }))
  const { status, body } = await server.post('/api/slug/bulk', sent)
  t.is(status, 201)
  t.deepEqual(
    body.map(({ slug, name }: Item) => ({ slug, name })),
    sent,
  )
  const none = await server.post('/api/slug/bulk-delete', ['ZEBRA', 'zebra ', 'appl', '%', "' OR '1'='1"])
  t.deepEqual(none.body, { deleted: 0 })
  t.deepEqual((await server.post('/api/slug/bulk-delete', ['zebra', 'zebra', 'Über/µ %'])).body, { deleted: 2 })
  t.is(await Slug.count(), 1)
})

test('instance hooks run for every record of a bulk create, within the transaction, and what they change is stored', async (t) => {
  trace.length = 0
  const { status, body } = await server.post('/api/traced/bulk', [{ name: 'a' }, { name: 'b' }])
  t.is(status, 201)
  for (const name of ['a', 'b']) {
    t.deepEqual(
      trace.filter((line) => line.includes(` ${name}`)),
      ['beforeValidate', 'afterValidate', 'beforeCreate', 'beforeSave', 'afterCreate', 'afterSave'].map(
        (hook) => `${hook} ${name}`,
      ),
    )
  }
  t.is(trace.length, 12)
  t.deepEqual(
    body.map(({ name, slug, title }: Item) => [name, slug, title]),
    [
      ['a', 'slug-a', 'title-a'],
      ['b', 'slug-b', 'title-b'],
    ],
  )
  trace.length = 0
  const keys = body.map(({ id }: Item) => id)
  t.deepEqual((await server.post('/api/traced/bulk-delete', keys)).body, { deleted: 2 })
  t.deepEqual(trace.sort(), ['afterDestroy a', 'afterDestroy b', 'beforeDestroy a', 'beforeDestroy b'])
})

for (const hook of ONE_HOOKS.filter((name) => !name.endsWith('Destroy'))) {
  test(`an error from ${hook} for one record of a bulk create creates none`, async (t) => {
    const before = await Traced.count()
    heard.length = 0
    const { status, text } = await server.post('/api/traced/bulk', [{ name: 'a' }, { name: hook }, { name: 'c' }])
    t.is(status, 500)
    t.notRegex(text, /secret/)
    t.deepEqual(
      heard.splice(0).map((error) => (error as Error).message),
      [`secret: ${hook}`],
    )
    t.is(await Traced.count(), before)
  })
}

for (const hook of ['beforeDestroy', 'afterDestroy']) {
  test(`an error from ${hook} for one record of a bulk delete deletes none`, async (t) => {
    const { body } = await server.post('/api/traced/bulk', [{ name: 'a' }, { name: hook }])
    const before = await Traced.count()
    heard.length = 0
    const { status } = await server.post(
      '/api/traced/bulk-delete',
      body.map(({ id }: Item) => id),
    )
    t.is(status, 500)
    t.is(heard.splice(0).length, 1)
    t.is(await Traced.count(), before)
  })
}

test('bulk hooks run once for a bulk request, within the transaction, and see all records before they are validated', async (t) => {
  trace.length = 0
  const { status, body } = await server.post('/api/bulktraced/bulk', [{ name: 'a' }, { name: 'b' }])
  t.is(status, 201)
  t.deepEqual(
    body.map(({ name, batch }: Item) => [name, batch]),
    [
      ['a', 2],
      ['b', 2],
    ],
  )
  const keys = body.map(({ id }: Item) => id)
  t.deepEqual((await server.post('/api/bulktraced/bulk-delete', keys)).body, { deleted: 2 })
  t.deepEqual(trace, ['beforeBulkCreate 2', 'afterBulkCreate 2', 'beforeBulkDestroy', 'afterBulkDestroy'])
})

test('an error from afterBulkCreate creates nothing', async (t) => {
  const before = await BulkTraced.count()
  const { status } = await server.post('/api/bulktraced/bulk', [{ name: 'a' }, { name: 'afterBulkCreate' }])
  t.is(status, 500)
  t.is(heard.splice(0).length, 1)
  t.is(await BulkTraced.count(), before)
})

test('a foreign key of one item that points nowhere creates nothing', async (t) => {
  const owner = (await server.post('/api/owner', { name: 'Jan' })).body
  const before = await Kept.count()
  const { status } = await server.post('/api/kept/bulk', [{ ownerId: owner.id }, { ownerId: 999_999 }])
  t.is(status, 409)
  t.is(await Kept.count(), before)
})

test('a record of a bulk delete that others still point at keeps all of them', async (t) => {
  const owners = (await server.post('/api/owner/bulk', [{ name: 'a' }, { name: 'b' }, { name: 'c' }])).body
  await server.post('/api/kept', { ownerId: owners[1].id })
  const keys = owners.map(({ id }: Item) => id)
  const { status, body } = await server.post('/api/owner/bulk-delete', keys)
  t.is(status, 409)
  t.is(body.title, 'Conflict')
  t.is(await Owner.count({ where: { id: keys } }), 3)
})

test('bulk delete of a paranoid model marks the rows and leaves them', async (t) => {
  const Paranoid = sequelize.model('paranoid')
  const { body } = await server.post('/api/paranoid/bulk', [{ name: 'x' }, { name: 'y' }])
  const keys = body.map(({ id }: Item) => id)
  t.deepEqual((await server.post('/api/paranoid/bulk-delete', keys)).body, { deleted: 2 })
  const rows = await Paranoid.findAll({ where: { id: keys }, paranoid: false })
  t.is(rows.length, 2)
  for (const row of rows) t.true(row.get('deletedAt') instanceof Date)
})

test('the items of one bulk create have one instant', async (t) => {
  const { body } = await server.post(
    '/api/plain/bulk',
    Array.from({ length: 50 }, (_, index) => ({ name: `i${index}` })),
  )
  t.is(new Set(body.flatMap(({ createdAt, updatedAt }: Item) => [createdAt, updatedAt])).size, 1)
})

/** The statements that write, and those around them. */
function written(): readonly string[] {
  return server.statements.filter((sql) => !/: SELECT/.test(sql))
}

test('a bulk create is one statement where the database gives back what it has stored', async (t) => {
  // By mysql2 the first write tells whether the server is MariaDB.
  await server.post('/api/plain', { name: 'before' })
  server.statements.length = 0
  const sent = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? { name: 'a', level: 5 } : { name: 'b' }))
  const { status, body } = await server.post('/api/plain/bulk', sent)
  t.is(status, 201)
  t.deepEqual(
    body.map(({ name, level }: Item) => ({ name, level })),
    sent.map(({ name, level = null }) => ({ name, level })),
  )
  const returns = !(await versionOf(server.name)).startsWith('MySQL')
  // Instances are read again.
  t.is(server.statements.length === 1, isFast && returns)
})

test('a bulk create of more values than a statement takes is several statements in one transaction', async (t) => {
  const records = Array.from({ length: 1000 }, (_, code) => ({ code, n3: code }))
  server.statements.length = 0
  const { status, body } = await server.post('/api/wide/bulk', records)
  t.is(status, 201)
  t.deepEqual(
    body.map(({ code, n3, n4 }: Item) => [code, n3, n4]),
    records.map(({ code }) => [code, code, 4]),
  )
  const inserts = written().filter((sql) => /INSERT/.test(sql)).length
  // 70 numbers, a code and two stamps: 448 rows at once on SQLite, 897 on PostgreSQL.
  if (isFast) t.is(inserts, { sqlite: 3, postgres: 2, mariadb: 1, mysql: 1 }[server.name])
  t.is(await Wide.count(), 1000)
  const taken = await server.post('/api/wide/bulk', [
    ...records.slice(0, 999).map(({ code }) => ({ code: code + 1000 })),
    { code: 999 },
  ])
  t.is(taken.status, 409)
  t.deepEqual(taken.body.errors, { code: ['is already taken.'] })
  t.is(await Wide.count(), 1000, 'all or nothing')
})

test('a constructor of the host’s sees every new record', async (t) => {
  t.is((await server.post('/api/constructed', { name: 'a' })).body.name, 'a made')
  const { body } = await server.post('/api/constructed/bulk', [{ name: 'b' }, { name: 'c' }])
  t.deepEqual(
    body.map(({ name }: Item) => name),
    ['b made', 'c made'],
  )
})

test('nothing in this file was unexpected', (t) => {
  t.deepEqual(heard, [])
})
