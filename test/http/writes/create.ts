import ava from 'ava'
import Joi from 'joi'
import { DataTypes, literal, type Model, type ModelAttributes, type ModelStatic, ValidationError } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import type { Answer } from '../../support/server.js'
import { versionOf } from '../../support/servers.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage()
const { app, sequelize } = server
const heard: unknown[] = []

/** Mounts a model with every operation; its table is made before the first test. */
function mount(model: ModelStatic<Model>, options: CrudOptions = {}): void {
  app.use(crudRouter(model, { operations: Operations.AllWithBulk, onError: (error) => heard.push(error), ...options }))
}

// Values on the wire: one attribute of every type, in a model that takes the short way and in one that Sequelize's instances
// write because it has a hook.

function everyType(): ModelAttributes {
  return {
    text: DataTypes.TEXT,
    string: DataTypes.STRING,
    short: DataTypes.STRING(10),
    char: DataTypes.CHAR(5),
    integer: DataTypes.INTEGER,
    // PostgreSQL has none smaller.
    tiny: databaseName === 'postgres' ? DataTypes.SMALLINT : DataTypes.TINYINT,
    small: DataTypes.SMALLINT,
    big: DataTypes.BIGINT,
    float: DataTypes.FLOAT,
    double: DataTypes.DOUBLE,
    price: DataTypes.DECIMAL(10, 2),
    wide: DataTypes.DECIMAL(20, 4),
    bare: DataTypes.DECIMAL,
    priceText: DataTypes.DECIMAL(10, 2),
    wideNumber: DataTypes.DECIMAL(20, 4),
    flag: DataTypes.BOOLEAN,
    moment: DataTypes.DATE(3),
    day: DataTypes.DATEONLY,
    time: DataTypes.TIME,
    uuid: DataTypes.UUID,
    status: DataTypes.ENUM('pending', 'shipped', 'Delivered'),
    bytes: DataTypes.BLOB,
    json: DataTypes.JSON,
  }
}

const DECIMALS: CrudOptions = { fields: { priceText: { decimal: 'string' }, wideNumber: { decimal: 'number' } } }
const Plain = sequelize.define('Plain', everyType(), { name: { plural: 'plain', singular: 'plain' } })
const Hooked = sequelize.define('Hooked', everyType(), {
  name: { plural: 'hooked', singular: 'hooked' },
  hooks: { beforeSave: () => undefined },
})
mount(Plain, DECIMALS)
mount(Hooked, DECIMALS)

// Input is strict about JSON types and about what the column holds, and every rule has its message.

const Ruled = sequelize.define(
  'Ruled',
  {
    name: { type: DataTypes.STRING(50), allowNull: false, validate: { len: [2, 50] } },
    nick: DataTypes.STRING(10),
    code: { type: DataTypes.STRING(20), validate: { is: /^[A-Z]+$/ } },
    motto: DataTypes.TEXT,
    level: { type: DataTypes.INTEGER, validate: { min: 1, max: 100 } },
    rank: { type: DataTypes.INTEGER, validate: { min: 0 } },
    points: { type: DataTypes.INTEGER, validate: { max: 10 } },
    email: { type: DataTypes.STRING, validate: { isEmail: true } },
    ratio: DataTypes.DOUBLE,
  },
  { name: { plural: 'ruled', singular: 'ruled' } },
)
mount(Ruled, { fields: { motto: { rules: { minLength: 3, maxLength: 5 } }, ratio: { rules: { min: 0.5, max: 1.5 } } } })

const Needy = sequelize.define('Needy', {
  plain: { type: DataTypes.STRING, allowNull: false },
  flag: { type: DataTypes.BOOLEAN, allowNull: false },
  defaulted: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 7 },
  nullable: DataTypes.STRING,
  forced: DataTypes.STRING,
  count: { type: DataTypes.INTEGER, allowNull: false },
})
mount(Needy, { route: 'needy', fields: { forced: { rules: { required: true } } } })

// Shapes.

const Account = sequelize.define('Account', {
  login: { type: DataTypes.STRING(40), allowNull: false },
  password: { type: DataTypes.STRING(40), allowNull: false },
  role: { type: DataTypes.STRING(20), allowNull: false, defaultValue: 'user' },
  invite: DataTypes.STRING(20),
  internal: { type: DataTypes.STRING, defaultValue: 'hidden' },
  bio: DataTypes.TEXT,
})
mount(Account, {
  fields: {
    password: { only: ['create', 'update'] },
    role: { exclude: ['create', 'update'] },
    invite: { only: ['create', 'response', 'list'], exclude: 'list' },
    internal: { exclude: true },
    bio: { exclude: 'list' },
  },
})

// Defaults.

let serial = 0
const Defaulted = sequelize.define('Defaulted', {
  fixed: { type: DataTypes.STRING, defaultValue: 'fixed' },
  zero: { type: DataTypes.INTEGER, defaultValue: 0 },
  off: { type: DataTypes.BOOLEAN, defaultValue: false },
  made: { type: DataTypes.INTEGER, defaultValue: () => ++serial },
  uuid: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4 },
  now: { type: DataTypes.DATE(3), defaultValue: DataTypes.NOW },
  list: { type: DataTypes.JSON, defaultValue: [] },
  given: DataTypes.STRING,
})
const Expressed = sequelize.define('Expressed', {
  sum: { type: DataTypes.INTEGER, defaultValue: literal('(40 + 2)') },
  lower: { type: DataTypes.STRING, defaultValue: literal("(lower('ABC'))") },
  given: DataTypes.STRING,
})
mount(Defaulted)
mount(Expressed)

// Setters, getters and virtual attributes.

const Person = sequelize.define('Person', {
  first: DataTypes.STRING,
  last: DataTypes.STRING,
  secret: {
    type: DataTypes.STRING,
    // Not idempotent, like a hash: whoever runs it twice shows.
    set(value: string | null) {
      this.setDataValue('secret', value === null ? null : `hashed(${value})`)
    },
  },
  shout: {
    type: DataTypes.STRING,
    get() {
      const stored: unknown = this.getDataValue('shout')
      return typeof stored === 'string' ? stored.toUpperCase() : null
    },
  },
  full: {
    type: DataTypes.VIRTUAL(DataTypes.STRING),
    get() {
      return `${this.get('first')} ${this.get('last')}`
    },
    set(value: string) {
      const [first, last] = value.split(' ')
      this.set({ first, last })
    },
  },
  initials: {
    type: DataTypes.VIRTUAL(DataTypes.STRING),
    get() {
      return [this.get('first'), this.get('last')].map((name) => String(name).charAt(0)).join('')
    },
  },
  passphrase: DataTypes.VIRTUAL(DataTypes.STRING),
})
mount(Person)

// Validators of the model.

const Validated = sequelize.define(
  'Validated',
  {
    site: { type: DataTypes.STRING, validate: { isUrl: { msg: 'must be a URL.' } } },
    even: {
      type: DataTypes.INTEGER,
      validate: {
        isEven(value: number) {
          if (value % 2 !== 0) throw new Error('must be even.')
        },
      },
    },
    slow: {
      type: DataTypes.STRING,
      validate: {
        async isFree(value: string) {
          await new Promise((resolve) => setImmediate(resolve))
          if (value === 'taken') throw new Error('is not free.')
        },
      },
    },
    from_day: { type: DataTypes.DATEONLY, field: 'day_from' },
    toDay: DataTypes.DATEONLY,
    email: { type: DataTypes.STRING, validate: { isEmail: true } },
  },
  {
    validate: {
      order(this: Model) {
        const [from, to] = [this.get('from_day'), this.get('toDay')]
        if (typeof from === 'string' && typeof to === 'string' && from > to) throw new Error('ends before it begins.')
      },
    },
  },
)
mount(Validated)

// Conflicts.

const Team = sequelize.define('Team', { name: DataTypes.STRING })
const Seat = sequelize.define(
  'Seat',
  {
    email: { type: DataTypes.STRING(80), unique: true },
    row: { type: DataTypes.INTEGER, field: 'seat_row' },
    number: { type: DataTypes.INTEGER, field: 'seat_number' },
    token: { type: DataTypes.STRING(40), unique: 'hall_token' },
    hall: { type: DataTypes.STRING(40), unique: 'hall_token' },
    pin: { type: DataTypes.STRING(40), unique: true },
  },
  { indexes: [{ unique: true, name: 'one_seat', fields: ['seat_row', 'seat_number'] }] },
)
Seat.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
mount(Team)
mount(Seat, { fields: { token: { exclude: true }, pin: { exclude: true } } })

// A key that the client chooses, and columns in another style than their attributes.

const Country = sequelize.define(
  'Country',
  {
    iso_code: { type: DataTypes.STRING(2), primaryKey: true, field: 'ISO' },
    DisplayName: { type: DataTypes.STRING, field: 'display_name' },
  },
  { underscored: true },
)
mount(Country)

// A key that an expression makes, in the function that each database has for it.

const Minted = sequelize.define('Minted', {
  id: {
    type: DataTypes.STRING(64),
    primaryKey: true,
    defaultValue: {
      sqlite: literal('(lower(hex(randomblob(8))))'),
      mysql: literal('(UUID())'),
      mariadb: literal('(UUID())'),
      postgres: literal('md5(random()::text)'),
    }[databaseName],
  },
  name: DataTypes.STRING,
})
mount(Minted)

// A record that says more than it has.

const Flat = sequelize.define('Flat', { name: DataTypes.STRING, place: DataTypes.JSON })
Flat.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
mount(Flat, { flatten: ['team', 'place'] })

const Coarse = sequelize.define('Coarse', { moment: DataTypes.DATE, price: DataTypes.DECIMAL(10, 2) })
mount(Coarse)

const Schemed = sequelize.define('Schemed', { amount: DataTypes.INTEGER, tags: DataTypes.JSON, note: DataTypes.STRING })
mount(Schemed, {
  fields: {
    amount: { schema: Joi.number().integer().multiple(5).required().messages({ 'number.multiple': 'go by fives.' }) },
    tags: { schema: Joi.array().items(Joi.string()).max(2) },
    note: { schema: Joi.string().trim().default('none') },
  },
})

const Booking = sequelize.define(
  'Booking',
  { tenant: { type: DataTypes.INTEGER, defaultValue: 1 }, place: DataTypes.STRING(5) },
  { timestamps: false, indexes: [{ unique: true, fields: ['tenant', 'place'] }] },
)
mount(Booking, { fields: { tenant: { exclude: ['create', 'update', 'response'] } } })

await sequelize.sync()
ava.after.always(() => server.close())

function assertInvalid(t: { deepEqual(a: unknown, b: unknown): boolean }, answer: Answer, errors: unknown): void {
  t.deepEqual(answer.body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
    title: 'One or more validation errors occurred.',
    code: 'validation',
    status: 400,
    errors,
  })
}

test('POST answers 201 with the Response, and the record is there', async (t) => {
  const sent = { name: 'Jan Kowalski', level: 42, email: 'jan@test.pl' }
  const { status, headers, body } = await server.post('/api/ruled', sent)
  t.is(status, 201)
  t.regex(headers.get('content-type') ?? '', /^application\/json/)
  t.is(headers.get('location'), `/api/ruled/${body.id}`)
  t.deepEqual(Object.keys(body), [
    ...['id', 'name', 'nick', 'code', 'motto', 'level', 'rank', 'points', 'email', 'ratio', 'createdAt', 'updatedAt'],
  ])
  t.like(body, { ...sent, nick: null, code: null, motto: null, rank: null, points: null, ratio: null })
  t.deepEqual((await server.get(`/api/ruled/${body.id}`)).body, body)
})

// Each value is written on every way there is, and comes back the same on each.
const WIRE: readonly (readonly [attribute: string, sent: string, got?: string])[] = [
  ['text', '"plain"'],
  ['text', '""'],
  ['text', JSON.stringify('Zażółć gęślą jaźń 😀 \' " \\ ` % _ ; -- \n\r\t \u2028')],
  // What looks like a placeholder to Sequelize, to a driver, or to this package's own statements.
  ['text', JSON.stringify("$1 $$ $name :name ?? ? {0} \\' '' \uE0000\uE001")],
  ['text', JSON.stringify(`${'x'.repeat(5000)};`)],
  ['string', '"1"'],
  ['string', '"null"'],
  ['string', '" padded "'],
  ['short', '"ten chars."'],
  // Ten characters in twenty UTF-16 units.
  ['short', JSON.stringify('😀'.repeat(10))],
  ['char', '"abcde"'],
  ['integer', '0'],
  ['integer', '-0', '0'],
  ['integer', '1e3', '1000'],
  ['integer', '5.0', '5'],
  ['integer', '2147483647'],
  ['integer', '-2147483648'],
  ['tiny', '-128'],
  ['small', '32767'],
  ['big', '0'],
  ['big', '9007199254740991'],
  ['big', '-9007199254740991'],
  ['big', '"9007199254740993"'],
  ['big', '"9223372036854775807"'],
  ['big', '"-9223372036854775808"'],
  ['float', '1.5'],
  ['float', '-0.25'],
  ['double', '0.1'],
  ['double', '1e+300'],
  ['double', '-1.7976931348623157e+308'],
  ['price', '12.34'],
  ['price', '0.1'],
  ['price', '-99999999.99'],
  ['price', '5000'],
  ['wide', '"1234567890.1234"'],
  ['wide', '5000', '"5000.0000"'],
  ['wide', '"-0.5"', '"-0.5000"'],
  ['wide', '"007"', '"7.0000"'],
  ['bare', '42', '"42"'],
  ['bare', '"42"'],
  ['priceText', '"12.3"', '"12.30"'],
  ['priceText', '12.3', '"12.30"'],
  ['wideNumber', '1.5'],
  ['flag', 'true'],
  ['flag', 'false'],
  ['moment', '"2024-02-29T12:34:56.789Z"'],
  ['moment', '"2024-02-29T12:34:56.789+02:00"', '"2024-02-29T10:34:56.789Z"'],
  ['moment', '"2024-02-29T00:30:00-05:30"', '"2024-02-29T06:00:00.000Z"'],
  ['moment', '"2024-02-29T12:34:56.7891234"', '"2024-02-29T12:34:56.789Z"'],
  ['moment', '"2024-02-29 12:34"', '"2024-02-29T12:34:00.000Z"'],
  ['moment', '"2024-02-29"', '"2024-02-29T00:00:00.000Z"'],
  ['moment', '"1969-12-31T23:59:59.999Z"'],
  ['moment', '"9999-12-31T23:59:59.999Z"'],
  ['day', '"2024-02-29"'],
  ['day', '"1000-01-01"'],
  ['time', '"23:59:59"'],
  ['time', '"07:05"', '"07:05:00"'],
  ['uuid', '"0F8FAD5B-D9CB-469F-A165-70867728950E"', '"0f8fad5b-d9cb-469f-a165-70867728950e"'],
  ['status', '"shipped"'],
  ['status', '"Delivered"'],
  ['bytes', '"AAECAwT/"'],
  ['bytes', '""'],
  // MySQL sorts the names, by length first.
  ['json', '{"":"empty","a":[1,2.5,"x",null,{"b":true}],"$1":"?","ż":"😀"}'],
  ['json', '[]'],
  ['json', '{}'],
  ['json', '"text"'],
  ['json', '"5"'],
  ['json', '5'],
  ['json', 'false'],
  ['json', '{"__proto__":{"x":1}}'],
]

const JSON_TYPE = { 'content-type': 'application/json' }

for (const [attribute, sent, got = sent] of WIRE) {
  const shown = sent.length > 60 ? `${sent.slice(0, 60)}...` : sent
  test(`${attribute}: ${shown} is written and read as ${got === sent ? 'it is' : got}`, async (t) => {
    for (const path of ['/api/plain', '/api/hooked']) {
      const body = `{"${attribute}":${sent}}`
      const created = await server.send('POST', path, { body, headers: JSON_TYPE })
      t.is(created.status, 201, `create ${path} ${created.text}`)
      t.is(JSON.stringify(created.body[attribute]), got, `create ${path}`)
      const read = await server.get(`${path}/${created.body.id}`)
      t.is(JSON.stringify(read.body[attribute]), got, `get ${path}`)
      const { id } = (await server.post(path, {})).body
      const patched = await server.send('PATCH', `${path}/${id}`, { body, headers: JSON_TYPE })
      t.is(patched.status, 200, `patch ${path} ${patched.text}`)
      t.is(JSON.stringify(patched.body[attribute]), got, `patch ${path}`)
      const again = await server.send('PATCH', `${path}/${id}`, { body, headers: JSON_TYPE })
      t.is(JSON.stringify(again.body[attribute]), got, `patch again ${path}`)
      const bulk = await server.send('POST', `${path}/bulk`, { body: `[${body},{}]`, headers: JSON_TYPE })
      t.is(bulk.status, 201, `bulk ${path} ${bulk.text}`)
      t.deepEqual(
        bulk.body.map((item: Record<string, unknown>) => JSON.stringify(item[attribute])),
        [got, 'null'],
        `bulk ${path}`,
      )
      const select = await server.get(`${path}?select=${attribute}&filter=&pageSize=1000`)
      t.true(
        select.body.items.some((item: Record<string, unknown>) => JSON.stringify(item[attribute]) === got),
        `select ${path}`,
      )
    }
  })
}

test('null and absent are null for every type', async (t) => {
  for (const path of ['/api/plain', '/api/hooked']) {
    const names = Object.keys(everyType())
    const nulls = Object.fromEntries(names.map((name) => [name, null]))
    for (const sent of [{}, nulls]) {
      const { status, body } = await server.post(path, sent)
      t.is(status, 201)
      for (const name of names) t.is(body[name], null, name)
    }
  }
})

// The body's text, since JSON.stringify would mend some of it.
const WRONG: readonly (readonly [route: string, body: string, errors: Readonly<Record<string, readonly string[]>>])[] =
  [
    ['plain', '{"text":5}', { text: ['must be a string.'] }],
    ['plain', '{"text":true}', { text: ['must be a string.'] }],
    ['plain', '{"text":{}}', { text: ['must be a string.'] }],
    ['plain', '{"text":["x"]}', { text: ['must be a string.'] }],
    ['plain', '{"text":"a\\u0000b"}', { text: ['must not contain NUL characters or unpaired surrogates.'] }],
    ['plain', '{"text":"\\ud800"}', { text: ['must not contain NUL characters or unpaired surrogates.'] }],
    ['plain', '{"short":"eleven char"}', { short: ['must be at most 10 characters.'] }],
    ['plain', `{"string":"${'x'.repeat(256)}"}`, { string: ['must be at most 255 characters.'] }],
    ['plain', '{"integer":"5"}', { integer: ['must be an integer.'] }],
    ['plain', '{"integer":1.5}', { integer: ['must be an integer.'] }],
    ['plain', '{"integer":true}', { integer: ['must be an integer.'] }],
    ['plain', '{"integer":[5]}', { integer: ['must be an integer.'] }],
    ['plain', '{"integer":""}', { integer: ['must be an integer.'] }],
    ['plain', '{"integer":2147483648}', { integer: ['must be between -2147483648 and 2147483647.'] }],
    ['plain', '{"integer":1e400}', { integer: ['must be a finite number.'] }],
    ...(databaseName === 'postgres'
      ? []
      : [['plain', '{"tiny":128}', { tiny: ['must be between -128 and 127.'] }] as const]),
    ['plain', '{"small":-32769}', { small: ['must be between -32768 and 32767.'] }],
    ['plain', '{"big":"5"}', { big: ['must be an integer.'] }],
    ['plain', '{"big":1.5}', { big: ['must be an integer.'] }],
    ['plain', '{"big":9007199254740993}', { big: ['has more digits than a JSON number keeps; send it as a string.'] }],
    [
      'plain',
      '{"big":"9223372036854775808"}',
      { big: ['must be between -9223372036854775808 and 9223372036854775807.'] },
    ],
    ['plain', '{"float":"1.5"}', { float: ['must be a number.'] }],
    ['plain', '{"double":1e400}', { double: ['must be a finite number.'] }],
    ['plain', '{"price":"12.34"}', { price: ['must be a number.'] }],
    ['plain', '{"price":12.345}', { price: ['must have at most 2 decimal places.'] }],
    ['plain', '{"price":100000000}', { price: ['must be between -99999999.99 and 99999999.99.'] }],
    ['plain', '{"wide":"1e3"}', { wide: ['must be a decimal number.'] }],
    ['plain', '{"wide":"12,5"}', { wide: ['must be a decimal number.'] }],
    [
      'plain',
      '{"wide":1234567890.1234567}',
      { wide: ['has more digits than a JSON number keeps; send it as a string.'] },
    ],
    ['plain', '{"flag":"true"}', { flag: ['must be a boolean.'] }],
    ['plain', '{"flag":1}', { flag: ['must be a boolean.'] }],
    ...[
      '2024-02-30',
      '2023-02-29T00:00:00Z',
      '2024-13-01T00:00:00Z',
      '2024-01-01T24:00:00Z',
      'now',
      '',
      '20240101',
    ].map((text) => ['plain', `{"moment":"${text}"}`, { moment: ['must be a date-time.'] }] as const),
    ['plain', '{"moment":1700000000000}', { moment: ['must be a date-time.'] }],
    ['plain', '{"day":"2024-02-30"}', { day: ['must be a date.'] }],
    ['plain', '{"day":"2024-02-28T00:00:00Z"}', { day: ['must be a date.'] }],
    ['plain', '{"time":"08:60"}', { time: ['must be a time.'] }],
    ['plain', '{"time":"7:05"}', { time: ['must be a time.'] }],
    ['plain', '{"uuid":"0f8fad5b"}', { uuid: ['must be a UUID.'] }],
    ['plain', '{"status":"SHIPPED"}', { status: ['must be one of: pending, shipped, Delivered.'] }],
    ['plain', '{"status":""}', { status: ['must be one of: pending, shipped, Delivered.'] }],
    ['plain', '{"status":5}', { status: ['must be one of: pending, shipped, Delivered.'] }],
    ['plain', '{"bytes":"%%%"}', { bytes: ['must be base64 text.'] }],
    ['plain', '{"bytes":"AAE"}', { bytes: ['must be base64 text.'] }],
    ['plain', '{"bytes":[1,2]}', { bytes: ['must be base64 text.'] }],
    ['plain', '{"json":{"a":"\\u0000"}}', { json: ['must not contain NUL characters or unpaired surrogates.'] }],
    ['ruled', '{}', { name: ['is required.'] }],
    ['ruled', '{"name":null}', { name: ['cannot be null.'] }],
    ['ruled', '{"name":""}', { name: ['must be between 2 and 50 characters.'] }],
    ['ruled', '{"name":"x"}', { name: ['must be between 2 and 50 characters.'] }],
    ['ruled', `{"name":"${'x'.repeat(51)}"}`, { name: ['must be between 2 and 50 characters.'] }],
    ['ruled', '{"name":"Jan","nick":"eleven char"}', { nick: ['must be at most 10 characters.'] }],
    ['ruled', '{"name":"Jan","motto":"ab"}', { motto: ['must be between 3 and 5 characters.'] }],
    ['ruled', '{"name":"Jan","code":"abc"}', { code: ['does not match the required pattern.'] }],
    ['ruled', '{"name":"Jan","level":0}', { level: ['must be between 1 and 100.'] }],
    ['ruled', '{"name":"Jan","level":101}', { level: ['must be between 1 and 100.'] }],
    ['ruled', '{"name":"Jan","level":0.5}', { level: ['must be an integer.', 'must be between 1 and 100.'] }],
    ['ruled', '{"name":"Jan","rank":-1}', { rank: ['must be at least 0.'] }],
    ['ruled', '{"name":"Jan","points":11}', { points: ['must be at most 10.'] }],
    ['ruled', '{"name":"Jan","ratio":1.75}', { ratio: ['must be between 0.5 and 1.5.'] }],
    ...['jan', '@test.pl', 'jan@', 'jan@test', 'jan@@test.pl', 'jan test@test.pl', 'jan@test..pl', ''].map(
      (email) => ['ruled', `{"name":"Jan","email":"${email}"}`, { email: ['is not a valid email address.'] }] as const,
    ),
    [
      'ruled',
      '{"name":5,"nick":"eleven char","code":"a","motto":"toolong","level":"1","rank":-1,"points":11,"email":"x","ratio":"1"}',
      {
        name: ['must be a string.'],
        nick: ['must be at most 10 characters.'],
        code: ['does not match the required pattern.'],
        motto: ['must be between 3 and 5 characters.'],
        level: ['must be an integer.'],
        rank: ['must be at least 0.'],
        points: ['must be at most 10.'],
        email: ['is not a valid email address.'],
        ratio: ['must be a number.'],
      },
    ],
    [
      'needy',
      '{}',
      { plain: ['is required.'], flag: ['is required.'], forced: ['is required.'], count: ['is required.'] },
    ],
    [
      'needy',
      '{"plain":null,"flag":null,"forced":null,"count":null,"defaulted":null}',
      {
        plain: ['cannot be null.'],
        flag: ['cannot be null.'],
        defaulted: ['cannot be null.'],
        forced: ['cannot be null.'],
        count: ['cannot be null.'],
      },
    ],
  ]

for (const [route, body, errors] of WRONG) {
  const path = route === 'needy' ? '/needy' : `/api/${route}`
  const shown = body.length > 70 ? `${body.slice(0, 70)}...` : body
  test(`POST ${path} with ${shown} is 400: ${Object.values(errors)[0]?.[0]}`, async (t) => {
    const answer = await server.send('POST', path, { body, headers: JSON_TYPE })
    assertInvalid(t, answer, errors)
  })

  test(`POST ${path}/bulk with ${shown} as its second item names [1]`, async (t) => {
    const good = { ruled: '{"name":"Jan"}', needy: '{"plain":"x","flag":true,"forced":"x","count":1}', plain: '{}' }
    const first = good[route as keyof typeof good]
    const answer = await server.send('POST', `${path}/bulk`, { body: `[${first},${body}]`, headers: JSON_TYPE })
    assertInvalid(
      t,
      answer,
      Object.fromEntries(Object.entries(errors).map(([name, messages]) => [`[1].${name}`, messages])),
    )
  })
}

test('a required text may be blank where no rule forbids it', async (t) => {
  const { status, body } = await server.post('/needy', { plain: '', flag: false, forced: '', count: 0 })
  t.is(status, 201)
  t.like(body, { plain: '', flag: false, forced: '', count: 0, defaulted: 7 })
})

test('an e-mail may be null, and its domain may end in anything', async (t) => {
  t.is((await server.post('/api/ruled', { name: 'Jan', email: null })).status, 201)
  for (const email of ['jan@test.pl', "o'neil+tag@sub.example.museum", 'a@b.example', 'x@y.co']) {
    t.is((await server.post('/api/ruled', { name: 'Jan', email })).status, 201, email)
  }
})

test("an e-mail that only the model's own validator refuses has the same message", async (t) => {
  // validator.js wants two letters in the last label, and no two dots in a row before the @.
  for (const email of ['jan@test.p', 'jan..k@test.pl']) {
    assertInvalid(t, await server.post('/api/ruled', { name: 'Jan', email }), {
      email: ['is not a valid email address.'],
    })
  }
})

test('validation is strict before anything is written', async (t) => {
  const before = await Ruled.count()
  server.statements.length = 0
  await server.post('/api/ruled', { name: 'x' })
  t.deepEqual(server.statements, [])
  t.is(await Ruled.count(), before)
})

test('a field is in the shapes that exclude and only leave it', async (t) => {
  const sent = { login: 'jan', password: 'pw', role: 'admin', invite: 'abc', internal: 'mine', bio: 'long' }
  const { status, body } = await server.post('/api/accounts', sent)
  t.is(status, 201)
  t.deepEqual(Object.keys(body), ['id', 'login', 'role', 'invite', 'bio', 'createdAt', 'updatedAt'])
  t.like(body, { login: 'jan', role: 'user', invite: 'abc', bio: 'long' })
  const row = await Account.findByPk(body.id)
  t.like(row?.get(), { password: 'pw', role: 'user', internal: 'hidden' })
  const list = await server.get('/api/accounts')
  t.deepEqual(Object.keys(list.body.items[0]), ['id', 'login', 'role', 'createdAt', 'updatedAt'])
  const bulk = await server.post('/api/accounts/bulk', [sent])
  t.deepEqual(Object.keys(bulk.body[0]), Object.keys(body))
})

test('a required field that the create shape has is required, one that it lacks is not', async (t) => {
  assertInvalid(t, await server.post('/api/accounts', {}), { login: ['is required.'], password: ['is required.'] })
})

test('defaults of the model fill what is absent, and null is not absent', async (t) => {
  const { body } = await server.post('/api/defaulteds', { given: 'x' })
  t.like(body, { fixed: 'fixed', zero: 0, off: false, list: [], given: 'x' })
  t.is(typeof body.made, 'number')
  t.regex(body.uuid, /^[0-9a-f-]{36}$/)
  t.regex(body.now, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const nulls = { fixed: null, zero: null, off: null, made: null, uuid: null, now: null, list: null }
  t.like((await server.post('/api/defaulteds', nulls)).body, nulls)
  const own = { fixed: 'own', zero: 5, off: true, made: -1, list: ['x'] }
  t.like((await server.post('/api/defaulteds', own)).body, own)
})

test('a default that is a function is called once for each record', async (t) => {
  const first = (await server.post('/api/defaulteds', {})).body.made
  const bulk = (await server.post('/api/defaulteds/bulk', [{}, {}, {}])).body.map(({ made }: { made: number }) => made)
  t.deepEqual(bulk, [first + 1, first + 2, first + 3])
})

test('a default that is an expression is evaluated by the database, alone and in bulk', async (t) => {
  const { status, body } = await server.post('/api/expresseds', { given: 'x' })
  t.is(status, 201)
  t.like(body, { sum: 42, lower: 'abc', given: 'x' })
  const bulk = await server.post('/api/expresseds/bulk', [{}, { sum: 1, lower: 'own' }])
  t.is(bulk.status, 201)
  t.like(bulk.body[0], { sum: 42, lower: 'abc' })
  t.like(bulk.body[1], { sum: 1, lower: 'own' })
})

test('a setter of the model runs once, alone and in bulk', async (t) => {
  const { body } = await server.post('/api/people', { first: 'Jan', secret: 'pw' })
  t.is(body.secret, 'hashed(pw)')
  const bulk = await server.post('/api/people/bulk', [{ secret: 'a' }, { secret: null }, {}])
  t.deepEqual(
    bulk.body.map(({ secret }: { secret: unknown }) => secret),
    ['hashed(a)', null, null],
  )
})

test('a getter of the model makes the response, on every way a record is read', async (t) => {
  const { body } = await server.post('/api/people', { shout: 'quiet', first: 'Jan', last: 'Kowalski' })
  t.is(body.shout, 'QUIET')
  const path = `/api/people/${body.id}`
  t.is((await server.get(path)).body.shout, 'QUIET')
  t.is((await server.patch(path, { shout: 'soft' })).body.shout, 'SOFT')
  const list = await server.get(`/api/people?filter=First=Jan,Last=Kowalski`)
  t.is(list.body.items[0].shout, 'SOFT')
  t.is((await server.get('/api/people?select=Shout&filter=First=Jan,Last=Kowalski')).body.items[0].shout, 'SOFT')
  t.is((await server.post('/api/people/bulk', [{ shout: 'bulk' }])).body[0].shout, 'BULK')
  const row = await Person.findByPk(body.id)
  t.is(row?.getDataValue('shout' as never), 'soft')
})

test('virtual attributes: a getter is read, a setter writes, and what has neither is kept from responses', async (t) => {
  const { body, status } = await server.post('/api/people', { full: 'Anna Nowak', initials: 'XX', passphrase: 'x y z' })
  t.is(status, 201)
  t.like(body, { first: 'Anna', last: 'Nowak', full: 'Anna Nowak', initials: 'AN' })
  t.false('passphrase' in body)
  const patched = await server.patch(`/api/people/${body.id}`, { full: 'Ola Testowa', passphrase: 'a' })
  t.like(patched.body, { first: 'Ola', last: 'Testowa', full: 'Ola Testowa', initials: 'OT' })
  const bulk = await server.post('/api/people/bulk', [{ full: 'Piotr Ski' }])
  t.like(bulk.body[0], { first: 'Piotr', last: 'Ski', full: 'Piotr Ski', initials: 'PS' })
  t.is((await server.post('/api/people', { full: 5 })).body.errors.full[0], 'must be a string.')
})

test("the model's own validators are 400 in the same errors map, under the names of the wire", async (t) => {
  const one = await server.post('/api/validateds', { site: 'nowhere', even: 3, slow: 'taken' })
  t.is(one.status, 400)
  assertInvalid(t, one, { site: ['must be a URL.'], even: ['must be even.'], slow: ['is not free.'] })
  const whole = await server.post('/api/validateds', { fromDay: '2024-02-02', toDay: '2024-01-01' })
  assertInvalid(t, whole, { order: ['ends before it begins.'] })
  const good = { site: 'https://example.com', even: 2, slow: 'free', fromDay: '2024-01-01', toDay: '2024-02-02' }
  const created = await server.post('/api/validateds', good)
  t.is(created.status, 201)
  t.like(created.body, good)
})

test("the model's own validators run for every record of a bulk before any is written", async (t) => {
  const before = await Validated.count()
  const { status, body } = await server.post('/api/validateds/bulk', [
    { even: 2 },
    { even: 3, slow: 'taken' },
    { fromDay: '2024-02-02', toDay: '2024-01-01' },
  ])
  t.is(status, 400)
  t.deepEqual(body.errors, {
    '[1].even': ['must be even.'],
    '[1].slow': ['is not free.'],
    '[2].order': ['ends before it begins.'],
  })
  t.is(await Validated.count(), before)
})

test("the model's own validators never see a value of another type, and say what they find in the others", async (t) => {
  assertInvalid(t, await server.post('/api/validateds', { even: 'x', slow: 'taken' }), {
    even: ['must be an integer.'],
    slow: ['is not free.'],
  })
})

test('a unique conflict is 409 with the field, and never the value', async (t) => {
  await server.post('/api/seats', { email: 'twice@test.pl' })
  const before = await Seat.count()
  const { status, headers, text, body } = await server.post('/api/seats', { email: 'twice@test.pl' })
  t.is(status, 409)
  t.is(headers.get('content-type'), 'application/problem+json')
  t.deepEqual(body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.10',
    title: 'Conflict',
    code: 'conflict',
    status: 409,
    detail: 'A record with these values exists already.',
    errors: { email: ['is already taken.'] },
  })
  t.notRegex(text, /twice/)
  t.is(await Seat.count(), before)
})

test('a composite unique conflict names each of its fields as the wire has them', async (t) => {
  await server.post('/api/seats', { row: 4711, number: 815 })
  const { status, body, text } = await server.post('/api/seats', { row: 4711, number: 815 })
  t.is(status, 409)
  t.deepEqual(body.errors, { row: ['is already taken.'], number: ['is already taken.'] })
  t.notRegex(text, /4711|815|seat_|one_seat/)
})

test('a unique conflict never names an excluded field', async (t) => {
  await Seat.create({ token: 'same', hall: 'north', pin: '1234' })
  Seat.addHook('beforeValidate', 'pinned', (seat) => {
    seat.set(seat.get('email') === 'pin@test.pl' ? { pin: '1234' } : { token: 'same' })
  })
  try {
    const composite = await server.post('/api/seats', { hall: 'north' })
    t.is(composite.status, 409)
    t.deepEqual(composite.body.errors, { hall: ['is already taken.'] })
    t.notRegex(composite.text, /token|same/)
    const single = await server.post('/api/seats', { email: 'pin@test.pl' })
    t.is(single.status, 409)
    t.is(single.body.errors, undefined)
    t.notRegex(single.text, /pin|1234/)
  } finally {
    Seat.removeHook('beforeValidate', 'pinned')
  }
})

test('a unique conflict never names a field that is excluded from bodies and answers', async (t) => {
  await server.post('/api/bookings', { place: 'A1' })
  const { status, body } = await server.post('/api/bookings', { place: 'A1' })
  t.is(status, 409)
  t.deepEqual(body.errors, { place: ['is already taken.'] })
})

test('a key that is taken is 409 with the key', async (t) => {
  t.is((await server.post('/api/countries', { isoCode: 'PL', displayName: 'Poland' })).status, 201)
  const { status, body } = await server.post('/api/countries', { isoCode: 'PL' })
  t.is(status, 409)
  t.deepEqual(body.errors, { isoCode: ['is already taken.'] })
})

test("a foreign key that points nowhere is 409, without the database's words", async (t) => {
  const before = await Seat.count()
  const { status, body } = await server.post('/api/seats', { email: 'nowhere@test.pl', teamId: 999_999 })
  t.is(status, 409)
  t.deepEqual(body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.10',
    title: 'Conflict',
    code: 'conflict',
    status: 409,
    detail: 'A record that this one refers to does not exist.',
    errors: { teamId: ['does not exist.'] },
  })
  t.is(await Seat.count(), before)
})

test('a foreign key that points somewhere is stored', async (t) => {
  const team = (await server.post('/api/teams', { name: 'Lakers' })).body
  const { status, body } = await server.post('/api/seats', { email: 'somewhere@test.pl', teamId: team.id })
  t.is(status, 201)
  t.is(body.teamId, team.id)
})

test('attributes and columns of other styles are camelCase on the wire', async (t) => {
  const { status, body, headers } = await server.post('/api/countries', { isoCode: 'DE', displayName: 'Germany' })
  t.is(status, 201)
  t.deepEqual(Object.keys(body), ['isoCode', 'displayName', 'createdAt', 'updatedAt'])
  t.is(headers.get('location'), '/api/countries/DE')
  const wrong = await server.post('/api/countries', { iso_code: 'FR', ISO: 'FR', DisplayName: 'France' })
  assertInvalid(t, wrong, {
    isoCode: ['is required.'],
    iso_code: ['is not a known property. Did you mean isoCode?'],
    DisplayName: ['is not a known property. Did you mean displayName?'],
  })
  t.deepEqual((await server.post('/api/countries', { isoCode: 'FRA' })).body.errors, {
    isoCode: ['must be at most 2 characters.'],
  })
})

test('createdAt and updatedAt are one instant, set by the service, in the response', async (t) => {
  const from = Date.now() - 1000
  const { body } = await server.post('/api/ruled', { name: 'Stamped' })
  t.is(body.createdAt, body.updatedAt)
  t.true(Date.parse(body.createdAt) >= from && Date.parse(body.createdAt) <= Date.now() + 1000)
  t.regex(body.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('a key that an expression makes is in the response and in Location, alone and in bulk', async (t) => {
  const { status, body, headers } = await server.post('/api/minteds', { name: 'one', id: 'mine' })
  t.is(status, 201)
  t.regex(body.id, /^[0-9a-f-]{16,36}$/)
  t.is(headers.get('location'), `/api/minteds/${body.id}`)
  t.is((await server.get(`/api/minteds/${body.id}`)).body.name, 'one')
  const bulk = await server.post('/api/minteds/bulk', [{ name: 'a' }, { name: 'b' }])
  t.is(bulk.status, 201)
  for (const { id, name } of bulk.body) t.is((await server.get(`/api/minteds/${id}`)).body.name, name)
  t.is(new Set(bulk.body.map(({ id }: { id: string }) => id)).size, 2)
})

test('what is flattened into the Response is in that of create, update and bulk create', async (t) => {
  const team = (await server.post('/api/teams', { name: 'Lakers' })).body
  const other = (await server.post('/api/teams', { name: 'Celtics' })).body
  const { status, body } = await server.post('/api/flats', {
    name: 'x',
    teamId: team.id,
    place: { city: 'LA', zip: { code: 90_001 } },
    teamName: 'ignored',
    placeCity: 'ignored',
  })
  t.is(status, 201)
  t.like(body, { name: 'x', teamName: 'Lakers', placeCity: 'LA', placeZipCode: 90_001 })
  t.false('team' in body || 'place' in body)
  const path = `/api/flats/${body.id}`
  t.deepEqual((await server.get(path)).body, body)
  t.is((await server.patch(path, { teamId: other.id })).body.teamName, 'Celtics')
  t.is((await server.patch(path, { teamId: null })).body.teamName, null)
  const bulk = await server.post('/api/flats/bulk', [{ teamId: other.id }, {}])
  t.deepEqual(
    bulk.body.map(({ teamName }: { teamName: string | null }) => teamName),
    ['Celtics', null],
  )
})

test('a response says what is stored, where the column keeps less than was sent', async (t) => {
  // DATE without a precision has no milliseconds on MySQL.
  const sent = { moment: '2024-01-01T00:00:00.789Z', price: 0.1 }
  const { body } = await server.post('/api/coarses', sent)
  const path = `/api/coarses/${body.id}`
  t.deepEqual((await server.get(path)).body, body)
  const bulk = await server.post('/api/coarses/bulk', [sent])
  t.deepEqual((await server.get(`/api/coarses/${bulk.body[0].id}`)).body, bulk.body[0])
  const patched = await server.patch(path, { moment: '2024-01-01T00:00:00.123Z' })
  t.deepEqual((await server.get(path)).body, patched.body)
})

test("the host's own schema replaces the derived one, and its result is what is written", async (t) => {
  const { status, body } = await server.post('/api/schemeds', { amount: '15', tags: ['a'], note: ' x ' })
  t.is(status, 201)
  t.like(body, { amount: 15, tags: ['a'], note: 'x' })
  t.is((await server.post('/api/schemeds', { amount: 5 })).body.note, 'none')
  const wrong = await server.post('/api/schemeds', { amount: 7, tags: ['a', 5, 'c'] })
  t.is(wrong.status, 400)
  t.deepEqual(wrong.body.errors.amount, ['go by fives.'])
  t.deepEqual(Object.keys(wrong.body.errors), ['amount', 'tags[1]', 'tags'])
  t.deepEqual(Object.keys((await server.post('/api/schemeds', {})).body.errors), ['amount'])
})

test('a value that the rules let pass and the column does not take is 400, not 500', async (t) => {
  const { status, text } = await server.post('/api/schemeds', { amount: 3_000_000_000 })
  // SQLite takes integers of any size.
  t.is(status, databaseName === 'sqlite' ? 201 : 400)
  if (status === 400) t.notRegex(text, /range|integer|amount|3000000000/i)
})

test('a ValidationError without items is a 400 without messages', async (t) => {
  Team.addHook('beforeValidate', 'refuse', () => {
    throw new ValidationError('no', [])
  })
  try {
    const { status, body } = await server.post('/api/teams', { name: 'x' })
    t.is(status, 400)
    t.deepEqual(body.errors, {})
  } finally {
    Team.removeHook('beforeValidate', 'refuse')
  }
})

test('a create asks the database once where nothing but the rules has a say', async (t) => {
  // By mysql2 the first write tells whether the server is MariaDB.
  await server.post('/api/plain', { text: 'before' })
  server.statements.length = 0
  await server.post('/api/plain', { text: 'once' })
  // MySQL has no RETURNING, and instances read the record again.
  const returns = !(await versionOf(databaseName)).startsWith('MySQL')
  t.is(server.statements.length === 1, isFast && returns)
})

test('a patch asks the database once, or writes and reads in one transaction where no UPDATE returns rows', async (t) => {
  const { body } = await server.post('/api/plain', { text: 'first' })
  const returns = databaseName === 'sqlite' || databaseName === 'postgres'
  server.statements.length = 0
  t.is((await server.patch(`/api/plain/${body.id}`, { text: 'second' })).status, 200)
  // An instance is loaded first.
  if (isFast) t.is(server.statements.length, returns ? 1 : 4, server.statements.join('\n'))
  // What changes nothing is told as what meets no record.
  t.is((await server.patch(`/api/plain/${body.id}`, { text: 'second' })).status, 200)
  t.is((await server.patch('/api/plain/4711', { text: 'second' })).status, 404)
})

test('nothing in this file was unexpected', (t) => {
  t.deepEqual(heard, [])
})
