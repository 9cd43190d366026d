import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelOptions, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
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
  name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
  level: { type: DataTypes.INTEGER, validate: { min: 1, max: 100 } },
  email: { type: DataTypes.STRING, validate: { isEmail: true } },
  active: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: true },
  notes: DataTypes.TEXT,
}

// The ways an update can take: one statement, attribute validators, instances for one reason or another.
const VARIANTS: readonly (readonly [what: string, model: ModelStatic<Model>])[] = [
  ['a plain model', define('plain', { ...FIELDS, email: DataTypes.STRING })],
  ['a model with an e-mail validator', define('mailed', FIELDS)],
  ['a model with hooks', define('hooked', FIELDS, { hooks: { beforeUpdate: () => undefined } })],
  ['a model that validates as a whole', define('whole', FIELDS, { validate: { always: () => undefined } })],
  [
    'a model with time stamps of other names',
    define('renamed', FIELDS, { createdAt: 'made_at', updatedAt: false, underscored: true }),
  ],
  ['a model without time stamps', define('timeless', FIELDS, { timestamps: false })],
  ['a model of snake_case columns', define('snaked', FIELDS, { underscored: true, tableName: 'snaked_things' })],
  ['a paranoid model', define('paranoid', FIELDS, { paranoid: true })],
  ['a model with a version', define('versioned', FIELDS, { version: true })],
  [
    'a model with a getter',
    define('gotten', {
      ...FIELDS,
      upper: {
        type: DataTypes.VIRTUAL(DataTypes.STRING),
        get() {
          return String(this.get('name')).toUpperCase()
        },
      },
    }),
  ],
]
for (const [, model] of VARIANTS) mount(model)

const Virtual = define(
  'virtual',
  { name: DataTypes.STRING, hint: DataTypes.VIRTUAL(DataTypes.STRING) },
  { timestamps: false },
)
mount(Virtual)

const Addressed = define('addressed', { name: DataTypes.STRING, address: DataTypes.JSON })
mount(Addressed)

const Shaped = define('shaped', {
  login: { type: DataTypes.STRING, allowNull: false },
  password: { type: DataTypes.STRING, allowNull: false },
  role: { type: DataTypes.STRING, defaultValue: 'user' },
  hidden: { type: DataTypes.STRING, defaultValue: 'hidden' },
  badge: DataTypes.STRING,
})
mount(Shaped, {
  fields: {
    login: { exclude: 'update' },
    password: { only: ['create', 'update'] },
    role: { only: ['update', 'response'] },
    hidden: { exclude: true },
    badge: { rules: { required: true } },
  },
})

const trace: string[] = []
const Traced = define('traced', {
  name: DataTypes.STRING,
  slug: DataTypes.STRING,
  seen: DataTypes.STRING,
})
const UPDATE_HOOKS = [
  'beforeValidate',
  'afterValidate',
  'beforeSave',
  'beforeUpdate',
  'afterUpdate',
  'afterSave',
] as const
for (const hook of UPDATE_HOOKS) {
  Traced.addHook(hook, (instance: Model, options: { transaction?: unknown }) => {
    trace.push(`${hook}${options.transaction === undefined || options.transaction === null ? ' alone' : ''}`)
    if (instance.get('name') === hook) throw new Error(`secret: ${hook}`)
    if (hook === 'beforeUpdate') instance.set('slug', `${instance.get('name')}-slug`)
    if (hook === 'beforeSave') instance.set('seen', `${instance.previous('name')}>${instance.get('name')}`)
  })
}
mount(Traced)

const Owner = define('owner', { name: DataTypes.STRING })
const unique = {
  email: { type: DataTypes.STRING(80), unique: true },
  row: { type: DataTypes.INTEGER, field: 'seat_row' },
  number: { type: DataTypes.INTEGER, field: 'seat_number' },
  pin: { type: DataTypes.STRING(20), unique: true },
}
const index = (name: string) => [{ unique: true, name, fields: ['seat_row', 'seat_number'] }]
const PlainSeat = define('plainseat', unique, { indexes: index('plain_seat') })
const HookedSeat = define('hookedseat', unique, {
  indexes: index('hooked_seat'),
  hooks: { beforeSave: () => undefined },
})
for (const seat of [PlainSeat, HookedSeat]) {
  seat.belongsTo(Owner, { as: 'owner', foreignKey: 'ownerId' })
  mount(seat, { fields: { pin: { exclude: ['response', 'list', 'query'] } } })
}
mount(Owner)

const Judged = define(
  'judged',
  {
    low: { type: DataTypes.INTEGER, field: 'low_mark' },
    high: DataTypes.INTEGER,
    even: {
      type: DataTypes.INTEGER,
      validate: {
        isEven(value: number) {
          if (value % 2 !== 0) throw new Error('must be even.')
        },
      },
    },
  },
  {
    validate: {
      range(this: Model) {
        if (Number(this.get('low')) > Number(this.get('high'))) throw new Error('low is above high.')
      },
    },
  },
)
mount(Judged)

const Doubled = define('doubled', {
  secret: {
    type: DataTypes.STRING,
    set(value: string) {
      this.setDataValue('secret', `hashed(${value})`)
    },
  },
  other: DataTypes.STRING,
})
mount(Doubled)

const Scoped = define(
  'scoped',
  { name: DataTypes.STRING, active: DataTypes.BOOLEAN, secret: DataTypes.STRING },
  { defaultScope: { where: { active: true }, attributes: { exclude: ['secret'] } } },
)
const HookScoped = define(
  'hookscoped',
  { name: DataTypes.STRING, active: DataTypes.BOOLEAN, secret: DataTypes.STRING },
  {
    defaultScope: { where: { active: true }, attributes: { exclude: ['secret'] } },
    hooks: { afterUpdate: () => undefined },
  },
)
mount(Scoped)
mount(HookScoped)

// A scope that hides by another table: only the records of active owners are there.
const Tenant = define('tenant', { active: DataTypes.BOOLEAN })
const Joined = define('joined', { name: DataTypes.STRING })
Joined.belongsTo(Tenant, { as: 'tenant', foreignKey: 'tenantId' })
Joined.addScope(
  'defaultScope',
  { include: [{ model: Tenant, as: 'tenant', where: { active: true }, required: true }] },
  { override: true },
)
mount(Tenant)
mount(Joined)

await sequelize.sync()
ava.after.always(() => server.close())

async function made(model: ModelStatic<Model>, values: Record<string, unknown>): Promise<string> {
  const { body, status, text } = await server.post(`/api/${model.name}`, values)
  if (status !== 201) throw new Error(text)
  return `/api/${model.name}/${body.id}`
}

const JAN = { name: 'Jan Kowalski', level: 42, email: 'jan@test.pl', notes: 'tall' }

/** Moves a record's updatedAt into the past, so that any later one is a change without waiting for it. */
async function age(t: ExecutionContext, model: ModelStatic<Model>, path: string): Promise<string> {
  const past = new Date('2020-01-02T03:04:05.000Z')
  const column = model.getAttributes().updatedAt?.field ?? 'updatedAt'
  const queries = sequelize.getQueryInterface()
  const [table, name] = [String(model.getTableName()), column].map((each) => queries.quoteIdentifier(each))
  const replacements = [past, Number(path.split('/').at(-1))]
  await sequelize.query(`UPDATE ${table} SET ${name} = ? WHERE id = ?`, { replacements })
  const { body } = await server.get(path)
  t.is(body.updatedAt, past.toISOString())
  return body.createdAt
}

test('a JSON attribute is one value: a patch replaces it as a whole, with the null that is in it', async (t) => {
  const path = await made(Addressed, {
    name: 'Jan',
    address: { city: 'Gdynia', street: { name: 'Morska', number: 7 } },
  })
  const address = { street: { name: null } }
  const { status, body } = await server.patch(path, { address })
  t.is(status, 200)
  t.like(body, { name: 'Jan' })
  t.deepEqual(body.address, address)
  t.deepEqual((await server.get(path)).body, body)
})

for (const [what, model] of VARIANTS) {
  test(`${what}: a key that is absent leaves the field, null clears it, a value writes it`, async (t) => {
    const path = await made(model, JAN)
    const { status, body } = await server.patch(path, { level: null, notes: 'taller' })
    t.is(status, 200)
    t.like(body, { name: 'Jan Kowalski', level: null, email: 'jan@test.pl', notes: 'taller', active: true })
    t.deepEqual((await server.get(path)).body, body)
    const cleared = await server.patch(path, { email: null, notes: null, active: false })
    t.like(cleared.body, { name: 'Jan Kowalski', level: null, email: null, notes: null, active: false })
    const written = await server.patch(path, { ...JAN, active: true })
    t.like(written.body, { ...JAN, active: true })
    t.deepEqual((await server.get(path)).body, written.body)
  })

  test(`${what}: the response of PATCH has the members of the Response, in its order`, async (t) => {
    const path = await made(model, JAN)
    const { body } = await server.patch(path, { level: 7 })
    t.deepEqual(Object.keys(body), Object.keys((await server.get(path)).body))
  })

  test(`${what}: an empty PATCH succeeds and changes nothing`, async (t) => {
    const path = await made(model, JAN)
    const before = (await server.get(path)).body
    for (const nothing of [{}, { nope: 1 }, { id: 5, createdAt: null }]) {
      const { status, body } = await server.patch(path, nothing)
      t.is(status, 200)
      t.deepEqual(body, before)
    }
    t.deepEqual((await server.get(path)).body, before)
  })

  test(`${what}: a PATCH to what is there already is 200`, async (t) => {
    const path = await made(model, JAN)
    for (const _ of [1, 2]) {
      const { status, body } = await server.patch(path, JAN)
      t.is(status, 200)
      t.like(body, JAN)
    }
  })

  test(`${what}: PATCH moves updatedAt, even where no value changed, and never createdAt`, async (t) => {
    const path = await made(model, JAN)
    if (model.getAttributes().updatedAt === undefined) {
      const { body } = await server.get(path)
      t.false('updatedAt' in body)
      t.is((await server.patch(path, { level: 9, madeAt: '2001-01-01T00:00:00Z' })).body.madeAt, body.madeAt)
      return
    }
    for (const change of [{ level: 43 }, { level: 43 }]) {
      const createdAt = await age(t, model, path)
      const { body } = await server.patch(path, { ...change, createdAt: '2001-01-01', updatedAt: '2001-01-01' })
      t.is(body.createdAt, createdAt)
      t.true(body.updatedAt >= body.createdAt)
      t.is((await server.get(path)).body.updatedAt, body.updatedAt)
    }
  })

  test(`${what}: rules hold for what is present, all at once, and nothing is written`, async (t) => {
    const path = await made(model, JAN)
    const before = (await server.get(path)).body
    const { status, body } = await server.patch(path, { name: 'x', level: 101, active: 'yes', notes: 5 })
    t.is(status, 400)
    t.deepEqual(body, {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
      title: 'One or more validation errors occurred.',
      code: 'validation',
      status: 400,
      errors: {
        name: ['must be between 2 and 50 characters.'],
        level: ['must be between 1 and 100.'],
        active: ['must be a boolean.'],
        notes: ['must be a string.'],
      },
    })
    t.deepEqual((await server.patch(path, { name: null, active: null })).body.errors, {
      name: ['cannot be null.'],
      active: ['cannot be null.'],
    })
    t.deepEqual((await server.get(path)).body, before)
  })

  test(`${what}: two PATCHes of different fields at once both hold`, async (t) => {
    const path = await made(model, JAN)
    const answers = await Promise.all([
      server.patch(path, { level: 1 }),
      server.patch(path, { notes: 'both' }),
      server.patch(path, { active: false }),
    ])
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    t.like((await server.get(path)).body, { level: 1, notes: 'both', active: false })
  })

  test(`${what}: a missing record is 404, whether or not the body is right`, async (t) => {
    for (const body of [{}, { level: 5 }, { level: 'high' }]) {
      const answer = await server.patch(`/api/${model.name}/999999`, body)
      t.is(answer.status, 404)
      t.is(answer.body.title, 'Not Found')
    }
  })
}

test('the e-mail rule checks the format, not the presence', async (t) => {
  for (const model of ['mailed', 'hooked', 'whole']) {
    const path = await made(sequelize.model(model), JAN)
    for (const email of ['jan', 'jan@test.p']) {
      const { status, body } = await server.patch(path, { email })
      t.is(status, 400)
      t.deepEqual(body.errors, { email: ['is not a valid email address.'] })
    }
    t.is((await server.patch(path, { email: null })).body.email, null)
  }
})

test('a PATCH of nothing but a virtual attribute writes nothing, and is 200', async (t) => {
  const path = await made(Virtual, { name: 'Jan', hint: 'x' })
  const { status, body } = await server.patch(path, { hint: 'y' })
  t.is(status, 200)
  t.deepEqual(body, (await server.get(path)).body)
  t.is((await server.patch('/api/virtual/999999', { hint: 'y' })).status, 404)
})

test('fields are in the update shape as exclude and only say', async (t) => {
  const path = await made(Shaped, { login: 'jan', password: 'old', badge: 'b', role: 'admin' })
  t.is((await server.get(path)).body.role, 'user')
  const { status, body } = await server.patch(path, {
    login: 'changed',
    password: 'new',
    role: 'admin',
    hidden: 'shown',
  })
  t.is(status, 200)
  t.like(body, { login: 'jan', role: 'admin', badge: 'b' })
  t.false('password' in body || 'hidden' in body)
  const row = await Shaped.findByPk(body.id)
  t.like(row?.get(), { login: 'jan', password: 'new', role: 'admin', hidden: 'hidden' })
})

test('a required field may be absent from a PATCH, and not null', async (t) => {
  const path = await made(Shaped, { login: 'jan', password: 'pw', badge: 'b' })
  t.is((await server.patch(path, { role: 'x' })).status, 200)
  t.deepEqual((await server.patch(path, { badge: null, password: null })).body.errors, {
    password: ['cannot be null.'],
    badge: ['cannot be null.'],
  })
})

test("Sequelize's hooks run as an update of the host's own runs them, in the transaction, and what they change is stored", async (t) => {
  const own = await Traced.create({ name: 'first' })
  trace.length = 0
  await sequelize.transaction((transaction) => own.update({ name: 'second' }, { transaction }))
  const expected = [...trace]
  t.deepEqual([...new Set(expected)], [...UPDATE_HOOKS])
  const path = await made(Traced, { name: 'first' })
  trace.length = 0
  const { status, body } = await server.patch(path, { name: 'second' })
  t.is(status, 200)
  t.deepEqual(trace, expected)
  t.like(body, { name: 'second', slug: 'second-slug', seen: 'first>second' })
  t.deepEqual((await server.get(path)).body, body)
})

for (const hook of UPDATE_HOOKS) {
  test(`an error from ${hook} is 500 without a word of it, reaches onError, and leaves the record as it was`, async (t) => {
    const path = await made(Traced, { name: 'calm' })
    const before = (await server.get(path)).body
    heard.length = 0
    const { status, body, text } = await server.patch(path, { name: hook })
    t.is(status, 500)
    t.deepEqual(body, {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.6.1',
      title: 'Internal Server Error',
      code: 'internal',
      status: 500,
      detail: 'An unexpected error occurred.',
    })
    t.notRegex(text, /secret/)
    t.is(heard.length, 1)
    t.is((heard[0] as Error).message, `secret: ${hook}`)
    heard.length = 0
    t.deepEqual((await server.get(path)).body, before)
  })
}

test('hooks that are added after mounting run', async (t) => {
  const Late = sequelize.model('plain')
  const path = await made(Late, JAN)
  let calls = 0
  Late.addHook('beforeUpdate', 'late', (instance) => {
    calls += 1
    instance.set('notes', 'late')
  })
  try {
    t.is((await server.patch(path, { level: 9 })).body.notes, 'late')
    t.is(calls, 1)
  } finally {
    Late.removeHook('beforeUpdate', 'late')
  }
})

for (const seat of [PlainSeat, HookedSeat]) {
  test(`${seat.name}: a unique conflict is 409 with the field, and never the value`, async (t) => {
    const taken = `taken-${seat.name}@test.pl`
    await made(seat, { email: taken })
    const path = await made(seat, { email: `free-${seat.name}@test.pl` })
    const { status, body, text } = await server.patch(path, { email: taken })
    t.is(status, 409)
    t.is(body.title, 'Conflict')
    t.deepEqual(body.errors, { email: ['is already taken.'] })
    t.notRegex(text, /test\.pl/)
    t.is((await server.get(path)).body.email, `free-${seat.name}@test.pl`)
  })

  test(`${seat.name}: a composite unique conflict names each of its fields`, async (t) => {
    await made(seat, { row: 4711, number: 815 })
    const path = await made(seat, { row: 4711, number: 816 })
    const { status, body, text } = await server.patch(path, { number: 815 })
    t.is(status, 409)
    t.deepEqual(body.errors, { row: ['is already taken.'], number: ['is already taken.'] })
    t.notRegex(text, /4711|815|seat_/)
  })

  test(`${seat.name}: a field that the caller may write and not read is named in a conflict, without its value`, async (t) => {
    await made(seat, { pin: '1234' })
    const path = await made(seat, {})
    const { status, body, text } = await server.patch(path, { pin: '1234' })
    t.is(status, 409)
    t.deepEqual(body.errors, { pin: ['is already taken.'] })
    t.notRegex(text, /1234/)
  })

  test(`${seat.name}: a foreign key that points nowhere is 409, one that points somewhere is stored, null clears it`, async (t) => {
    const owner = (await server.post('/api/owner', { name: 'Jan' })).body
    const path = await made(seat, { ownerId: owner.id })
    const { status, body } = await server.patch(path, { ownerId: 999_999 })
    t.is(status, 409)
    t.is(body.title, 'Conflict')
    t.is((await server.get(path)).body.ownerId, owner.id)
    t.is((await server.patch(path, { ownerId: null })).body.ownerId, null)
    t.is((await server.patch(path, { ownerId: owner.id })).body.ownerId, owner.id)
  })
}

test("the model's own validators are asked about the record as it will be", async (t) => {
  const path = await made(Judged, { low: 1, high: 5 })
  const { status, body } = await server.patch(path, { low: 7 })
  t.is(status, 400)
  t.deepEqual(body.errors, { range: ['low is above high.'] })
  t.is((await server.patch(path, { low: 7, high: 9 })).status, 200)
  t.deepEqual((await server.patch(path, { even: 3 })).body.errors, { even: ['must be even.'] })
  t.like((await server.get(path)).body, { low: 7, high: 9, even: null })
})

test('a setter of the model runs once for a field that is present, and not for one that is absent', async (t) => {
  const path = await made(Doubled, { secret: 'pw', other: 'x' })
  t.is((await server.patch(path, { other: 'y' })).body.secret, 'hashed(pw)')
  t.is((await server.patch(path, { secret: 'new' })).body.secret, 'hashed(new)')
  t.is((await Doubled.findByPk(path.split('/').at(-1)))?.get('secret'), 'hashed(new)')
})

for (const model of [Scoped, HookScoped]) {
  test(`${model.name}: what the default scope hides is 404`, async (t) => {
    const hidden = await model.create({ name: 'hidden', active: false })
    const path = `/api/${model.name}/${hidden.get('id')}`
    t.is((await server.get(path)).status, 404)
    t.is((await server.patch(path, { name: 'x' })).status, 404)
    t.is((await server.patch(path, {})).status, 404)
    t.is((await model.unscoped().findByPk(Number(hidden.get('id'))))?.get('name'), 'hidden')
  })

  test(`${model.name}: a PATCH that moves a record out of the default scope answers with it, once`, async (t) => {
    const path = await made(model, { name: 'leaving', active: true })
    const { status, body } = await server.patch(path, { active: false })
    t.is(status, 200)
    t.like(body, { name: 'leaving', active: false })
    t.is((await server.get(path)).status, 404)
  })

  test(`${model.name}: what the default scope leaves out is in no response, and may be written`, async (t) => {
    const path = await made(model, { name: 'x', active: true, secret: 'one' })
    const { status, body } = await server.patch(path, { secret: 'two' })
    t.is(status, 200)
    t.false('secret' in body)
    t.false('secret' in (await server.get(path)).body)
    t.is((await model.unscoped().findByPk(body.id))?.get('secret'), 'two')
    t.is((await server.get(`/api/${model.name}?filter=Secret=two`)).status, 400)
  })
}

test('what the default scope hides by a join is 404 to every write, and stays as it was', async (t) => {
  const [off, on] = [await Tenant.create({ active: false }), await Tenant.create({ active: true })]
  const hidden = await Joined.create({ name: 'hidden', tenantId: off.get('id') })
  const path = `/api/joined/${hidden.get('id')}`
  t.is((await server.get(path)).status, 404)
  t.is((await server.patch(path, { name: 'x' })).status, 404)
  t.is((await server.delete(path)).status, 404)
  t.deepEqual((await server.post('/api/joined/bulk-delete', [hidden.get('id')])).body, { deleted: 0 })
  t.is((await Joined.unscoped().findByPk(Number(hidden.get('id'))))?.get('name'), 'hidden')
  const shown = await made(Joined, { name: 'shown', tenantId: Number(on.get('id')) })
  t.is((await server.patch(shown, { name: 'renamed' })).body.name, 'renamed')
  t.is((await server.get(shown)).body.name, 'renamed')
  t.is((await server.patch(shown, { tenantId: Number(off.get('id')) })).status, 200)
  t.is((await server.get(shown)).status, 404)
  const ids = [
    await made(Joined, { tenantId: Number(on.get('id')) }),
    await made(Joined, { tenantId: Number(on.get('id')) }),
  ]
  t.is((await server.delete(ids[0] ?? '')).status, 204)
  t.deepEqual((await server.post('/api/joined/bulk-delete', [Number(ids[1]?.split('/').at(-1))])).body, { deleted: 1 })
})

test('deleted records of a paranoid model are 404 to PATCH, and their mark is written by nobody', async (t) => {
  const Paranoid = sequelize.model('paranoid')
  const path = await made(Paranoid, JAN)
  t.is((await server.patch(path, { deletedAt: '2024-01-01T00:00:00Z' })).body.deletedAt, null)
  t.is((await server.get(path)).status, 200)
  await server.delete(path)
  for (const body of [{}, { level: 5 }, { deletedAt: null }, { level: 'x' }]) {
    t.is((await server.patch(path, body)).status, 404)
  }
})

test("Sequelize's own version column rises with each PATCH and is written by nobody", async (t) => {
  const Versioned = sequelize.model('versioned')
  const path = await made(Versioned, JAN)
  t.is((await server.get(path)).body.version, 0)
  t.is((await server.patch(path, { level: 5, version: 70 })).body.version, 1)
  t.is((await server.patch(path, { level: 6 })).body.version, 2)
})

test('a PATCH asks the database once where nothing but the rules has a say', async (t) => {
  const path = await made(sequelize.model('plain'), JAN)
  server.statements.length = 0
  await server.patch(path, { level: 9 })
  const isOneStatement = databaseName === 'sqlite' || databaseName === 'postgres'
  // An instance is loaded first.
  t.is(server.statements.length === 1, isFast && isOneStatement)
})

test('nothing in this file was unexpected', (t) => {
  t.deepEqual(heard, [])
})
