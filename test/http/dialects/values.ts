// The same request, the same bytes: values at the edges of their types, in bodies, answers and filters, over a model
// that takes the short ways and one with hooks, on whichever database runs. Where a database cannot keep a value as
// the others do, the row says what it keeps.

import ava from 'ava'
import { DataTypes, type Model, type ModelAttributes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { keysOf, list } from '../../support/lists.js'
import { type DatabaseName, versionOf } from '../../support/servers.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

// The driver mysql2 speaks to MariaDB as well.
const isMysql = (await versionOf(databaseName)).startsWith('MySQL')

const ENUM = ['a b', "it's", 'x,y', 'q"q', 'Zed', 'a;b', 'a|b', '(p)', 'null', 'ż', '😀', '\\']

function attributes(): ModelAttributes {
  return {
    float: DataTypes.FLOAT,
    real: DataTypes.REAL,
    double: DataTypes.DOUBLE,
    price: DataTypes.DECIMAL(10, 2),
    wide: DataTypes.DECIMAL(30, 10),
    bare: DataTypes.DECIMAL,
    big: DataTypes.BIGINT,
    unsigned: DataTypes.INTEGER.UNSIGNED,
    unsignedBig: DataTypes.BIGINT.UNSIGNED,
    fixed: DataTypes.CHAR(5),
    string: DataTypes.STRING,
    text: DataTypes.TEXT,
    uuid: DataTypes.UUID,
    status: DataTypes.ENUM(...ENUM),
    flag: DataTypes.BOOLEAN,
    day: DataTypes.DATEONLY,
    clock: DataTypes.TIME,
    moment: DataTypes.DATE(3),
    coarse: DataTypes.DATE,
    fine: DataTypes.DATE(6),
    bytes: DataTypes.BLOB,
    json: DataTypes.JSON,
  }
}

// Sequelize says on the console that SQLite and PostgreSQL have no UNSIGNED.
const { warn } = console
console.warn = () => undefined
const served = await openStage(({ sequelize }, app) => {
  const options = { tableName: 'values', timestamps: false }
  const hooks = { beforeSave: () => undefined, beforeFind: () => undefined }
  const Value = sequelize.define('Value', attributes(), options)
  const Hooked = sequelize.define('Hooked', attributes(), { ...options, hooks })
  app.use(crudRouter(Value, { operations: Operations.AllWithBulk, onError: (error) => heard.push(error) }))
  app.use(
    crudRouter(Hooked, {
      operations: Operations.AllWithBulk,
      onError: (error) => heard.push(error),
      route: 'api/hooked',
    }),
  )
  return { Value, Hooked }
})
console.warn = warn
const heard: unknown[] = []
/** PostgreSQL's own types. */
const postgres =
  databaseName !== 'postgres'
    ? null
    : await openStage(({ sequelize }, app) => {
        const Own = sequelize.define(
          'Own',
          {
            jsonb: DataTypes.JSONB,
            numbers: DataTypes.ARRAY(DataTypes.INTEGER),
            texts: DataTypes.ARRAY(DataTypes.STRING),
            span: DataTypes.RANGE(DataTypes.INTEGER),
            blobs: DataTypes.ARRAY(DataTypes.BLOB),
            moments: DataTypes.ARRAY(DataTypes.DATE),
            days: DataTypes.ARRAY(DataTypes.DATEONLY),
            words: DataTypes.TSVECTOR,
            address: DataTypes.INET,
          },
          { timestamps: false },
        )
        app.use(crudRouter(Own, { operations: Operations.AllWithBulk }))
        return { Own }
      })
/** Types given as SQL, and getters. */
const given = await openStage(({ sequelize }, app) => {
  const attributes: ModelAttributes = {
    code: { type: 'VARCHAR(20)', unique: true },
    count: 'INTEGER',
    opening: 'TIME',
    meta: 'JSON',
    parsed: {
      type: 'JSON',
      set(this: Model, value: unknown) {
        this.setDataValue('parsed', JSON.stringify({ set: value }))
      },
    },
    site: { type: DataTypes.STRING, get: () => new URL('https://example.org/a') },
    price: { type: DataTypes.DECIMAL(10, 2), get: () => ({ toJSON: () => '12.5', s: 1, e: 1 }) },
    moment: {
      type: DataTypes.VIRTUAL(DataTypes.DATE),
      get: () => ({ toJSON: () => '2024-01-15T12:30:00.000Z', _i: 5 }),
    },
    nothing: { type: DataTypes.VIRTUAL, get: () => ({ toJSON: () => undefined }) },
    sums: { type: DataTypes.VIRTUAL, get: () => ({ total: 5n }) },
  }
  const options = { tableName: 'given', timestamps: false }
  const hooks = { beforeSave: () => undefined, beforeFind: () => undefined }
  const Given = sequelize.define('Given', attributes, options)
  const Found = sequelize.define('Found', attributes, { ...options, hooks })
  app.use(crudRouter(Given, { operations: Operations.AllWithBulk | Operations.BulkUpdate }))
  app.use(crudRouter(Found, { operations: Operations.AllWithBulk | Operations.BulkUpdate }))
  return { Given, Found }
})
test.after.always(async () => {
  await served.close()
  await given.close()
  await postgres?.close()
})

const PATHS = ['/api/values', '/api/hooked'] as const
const JSON_TYPE = { 'content-type': 'application/json' }

/** What comes back where a database keeps something else than was sent; null where it has no place for it: 400. */
type Kept = Partial<Record<DatabaseName, string | null>>

const shortFloats = (kept: string): Kept => ({ mysql: kept, mariadb: kept })
const wholeSeconds = (kept: string): Kept => ({ mysql: kept, mariadb: kept })
// MySQL keeps JSON in a form of its own, in which short names come first; MariaDB keeps the text.
const inItsOrder = (kept: string): Kept => (isMysql ? { mysql: kept } : {})
const UNSIGNED_ARE_SIGNED: Kept = { postgres: null }
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('base64')

const WIRE: readonly (readonly [attribute: string, sent: string, got?: string | undefined, but?: Kept])[] = [
  ['float', '0.1'],
  ['float', '0.3'],
  ['float', '-0', '0'],
  ['float', '1e-45'],
  ['float', '16777216'],
  ['float', '16777217', '16777217', shortFloats('16777216')],
  ['float', '123456.789', '123456.789', shortFloats('123456.79')],
  ['float', '3.4028234663852886e+38'],
  ['real', '0.1'],
  ['real', '123456.789', '123456.789', { postgres: '123456.79' }],
  ['double', '-0', '0'],
  ['double', '0.1'],
  ['double', '123456789.12345678'],
  ['double', '1.7976931348623157e+308'],
  ['double', '5e-324'],
  ['price', '-0.0', '0'],
  ['price', '0.07'],
  ['price', '-99999999.99'],
  ['wide', '"-0.0000000001"'],
  ['wide', '"-0"', '"0.0000000000"'],
  ['wide', '"12345678901234567890.0123456789"', undefined, { sqlite: '"12345678901234567000.0000000000"' }],
  ['bare', '"12"'],
  // Undeclared, it has ten digits and no places there.
  ['bare', '"12.5"', undefined, { mysql: '"13"', mariadb: '"13"' }],
  ['big', '"9223372036854775807"'],
  ['big', '"-9223372036854775808"'],
  ['big', '"9007199254740993"'],
  ['big', '-9007199254740991'],
  ['unsigned', '0'],
  ['unsigned', '2147483647'],
  ['unsigned', '4294967295', undefined, UNSIGNED_ARE_SIGNED],
  ['unsignedBig', '"9223372036854775807"'],
  ['unsignedBig', '"18446744073709551615"', undefined, { ...UNSIGNED_ARE_SIGNED, sqlite: null }],
  ['fixed', '"abcde"'],
  ['fixed', '"ab"'],
  ['fixed', '" ab"'],
  ['fixed', '"ab  "', '"ab"'],
  ['fixed', '"abcde   "', '"abcde"'],
  ['fixed', '""'],
  ['fixed', '"żółw😀"'],
  ['string', '""'],
  ['string', '" "'],
  ['string', '"blank at the end "'],
  ['string', JSON.stringify('x'.repeat(255))],
  ['string', JSON.stringify('😀'.repeat(255))],
  ['string', JSON.stringify('e\u0301'.repeat(127))],
  ['text', JSON.stringify('😀'.repeat(5000))],
  ['uuid', '"0F8FAD5B-D9CB-469F-A165-70867728950E"', '"0f8fad5b-d9cb-469f-a165-70867728950e"'],
  ...ENUM.map((value) => ['status', JSON.stringify(value)] as const),
  ['flag', 'true'],
  ['flag', 'false'],
  ['day', '"9999-12-31"'],
  ['day', '"0001-01-01"'],
  ['clock', '"00:00:00"'],
  ['clock', '"23:59:59"'],
  ['moment', '"1000-01-01T00:00:00.000Z"'],
  ['moment', '"1969-12-31T23:59:59.999Z"'],
  ['moment', '"2024-02-29T12:34:56.789Z"'],
  ['moment', '"9999-12-31T23:59:59.999Z"'],
  ['coarse', '"2024-02-29T12:34:56.789Z"', undefined, wholeSeconds('"2024-02-29T12:34:56.000Z"')],
  ['fine', '"2024-02-29T12:34:56.789123Z"', '"2024-02-29T12:34:56.789Z"'],
  ['bytes', '""'],
  ['bytes', JSON.stringify(BYTES)],
  ['json', '"null"'],
  ['json', '"5"'],
  ['json', '""'],
  ['json', '" "'],
  ['json', '5'],
  ['json', '-0', '0'],
  ['json', '0.1'],
  ['json', '1e+21'],
  ['json', 'true'],
  ['json', '"2024-01-01"'],
  ['json', '{"b":1,"a":null,"😀":[]}', undefined, inItsOrder('{"a":null,"b":1,"😀":[]}')],
]

/** A value as a filter has it. */
function operand(value: unknown): string {
  return String(value)
    .replace(/[\\,|();/]/g, '\\$&')
    .replace(/^[ =<>]/, '\\$&')
    .replace(/(?<!\\) $/, '\\ ')
    .replace(/^null$/, '\\null')
}

for (const [attribute, sent, same = sent, but = {}] of WIRE) {
  const kept = but[databaseName]
  const got = kept === undefined ? same : kept
  const shown = sent.length > 60 ? `${sent.slice(0, 60)}...` : sent
  const comes = got === null ? 'is 400' : `comes back as ${got === sent ? 'it is' : got}, and is found by that`
  test(`${attribute}: ${shown} ${comes}`, async (t) => {
    for (const path of PATHS) {
      const body = `{"${attribute}":${sent}}`
      const created = await served.send('POST', path, { body, headers: JSON_TYPE })
      t.is(created.status, got === null ? 400 : 201, `${path} ${created.text}`)
      if (got === null) {
        t.deepEqual(Object.keys(created.body.errors), [attribute])
        continue
      }
      const { id } = created.body
      t.is(JSON.stringify(created.body[attribute]), got, `POST ${path}`)
      for (const other of PATHS) {
        const { body: read } = await served.get(`${other}/${id}`)
        t.is(JSON.stringify(read[attribute]), got, `GET ${other} after POST ${path}`)
      }
      const patched = await served.patch(`${path}/${id}`, { [attribute]: created.body[attribute] })
      t.is(JSON.stringify(patched.body[attribute]), got, `PATCH ${path} to what it is`)
      const again = await served.send('POST', `${path}/bulk`, { body: `[${body}]`, headers: JSON_TYPE })
      t.is(JSON.stringify(again.body[0][attribute]), got, `bulk ${path}`)
      const value = operand(created.body[attribute])
      // Exponents are no part of the filter language, JSON and bytes have no operators, and 4096 characters are enough.
      if (['json', 'bytes'].includes(attribute) || /^-?[\d.]+e[+-]\d+$/.test(value) || value.length > 2000) continue
      const filters = [`${attribute}=${value}`, ...(value === '' ? [] : [`${attribute}=in=${value};${value}`])]
      for (const filter of filters) {
        const found = await keysOf(served, path, { filter, pageSize: 1000 })
        t.true(found.includes(id), `${path} ${filter}`)
        t.deepEqual(await keysOf(served, path, { filter: `${attribute}!=${value}`, keys: id }), [])
      }
    }
  })
}

const REFUSED: readonly (readonly [attribute: string, sent: string, message: string])[] = [
  ['big', '"9223372036854775808"', 'must be between -9223372036854775808 and 9223372036854775807.'],
  ['big', '9223372036854775807', 'must be between -9223372036854775808 and 9223372036854775807.'],
  ['big', '9007199254740993', 'has more digits than a JSON number keeps; send it as a string.'],
  ['double', '1e400', 'must be a finite number.'],
  ['float', '3.5e38', 'must be between -3.4028234663852886e+38 and 3.4028234663852886e+38.'],
  ['price', '12.345', 'must have at most 2 decimal places.'],
  ['price', '1e-7', 'must have at most 2 decimal places.'],
  ['wide', '"1e5"', 'must be a decimal number.'],
  ['status', '"zed"', `must be one of: ${ENUM.join(', ')}.`],
  ['status', '"a b "', `must be one of: ${ENUM.join(', ')}.`],
  ['fixed', '"abcdef"', 'must be at most 5 characters.'],
  ['string', JSON.stringify('x'.repeat(256)), 'must be at most 255 characters.'],
  ['string', JSON.stringify('😀'.repeat(256)), 'must be at most 255 characters.'],
  ['string', '"a\\u0000b"', 'must not contain NUL characters or unpaired surrogates.'],
  ['text', '"\\ud83d"', 'must not contain NUL characters or unpaired surrogates.'],
  ['text', '"\\udc00\\ud800"', 'must not contain NUL characters or unpaired surrogates.'],
  ['json', '["\\ud800"]', 'must not contain NUL characters or unpaired surrogates.'],
  ['json', '1e400', 'must contain only finite numbers.'],
  ['json', '{"a":[-1e999]}', 'must contain only finite numbers.'],
  ['day', '"2023-02-29"', 'must be a date.'],
  ['moment', '"0000-01-01T00:00:00Z"', 'must be a date-time.'],
]

for (const [attribute, sent, message] of REFUSED) {
  const shown = sent.length > 60 ? `${sent.slice(0, 60)}...` : sent
  test(`${attribute}: ${shown} is 400 before the database sees it`, async (t) => {
    for (const path of PATHS) {
      const body = `{"${attribute}":${sent}}`
      const { status, body: answer } = await served.send('POST', path, { body, headers: JSON_TYPE })
      t.is(status, 400)
      t.deepEqual(answer.errors, { [attribute]: [message] })
    }
  })
}

test('JSON that is null, and JSON that is the text of it, are told apart', async (t) => {
  for (const path of PATHS) {
    const { body } = await served.post(path, { json: 'null' })
    t.is((await served.get(`${path}/${body.id}`)).body.json, 'null')
    t.is((await served.patch(`${path}/${body.id}`, { json: null })).body.json, null)
    t.is((await served.get(`${path}/${body.id}`)).body.json, null)
    t.is(
      (await served.patch(`${path}/${body.id}`, { json: [null] })).text,
      (await served.get(`${path}/${body.id}`)).text,
    )
  }
})

test('the empty string and null are two values, in answers and in filters', async (t) => {
  const { body: empty } = await served.post('/api/values', { string: '', fixed: '', text: '' })
  const { body: none } = await served.post('/api/values', { string: null })
  for (const attribute of ['string', 'fixed', 'text']) {
    t.is(empty[attribute], '')
    t.is(none[attribute], null)
    for (const path of PATHS) {
      const blank = await keysOf(served, path, { filter: `${attribute}=`, pageSize: 1000 })
      const missing = await keysOf(served, path, { filter: `${attribute}=null`, pageSize: 1000 })
      t.deepEqual([blank.includes(empty.id), blank.includes(none.id)], [true, false])
      t.deepEqual([missing.includes(empty.id), missing.includes(none.id)], [false, true])
    }
  }
})

test('numbers beyond what the column holds are comparisons like any other', async (t) => {
  const { body } = await served.post('/api/values', { unsigned: 7, unsignedBig: 7, big: 7, price: 7, bare: 7 })
  const all: readonly (readonly [filter: string, isFound: boolean])[] = [
    ['unsigned<5000000000', true],
    ['unsigned=5000000000', false],
    ['unsigned=in=7;5000000000', true],
    ['unsigned!=-1', true],
    ['unsigned>-1', true],
    ['unsignedBig<18446744073709551616', true],
    ['unsignedBig=18446744073709551615', false],
    ['unsignedBig=out=18446744073709551615', true],
    ['big>-9223372036854775809', true],
    ['big=9223372036854775808', false],
    ['price<100000000000000000000000000000000', true],
    ['price=7.000', true],
    ['price=7.001', false],
    ['price<7.001', true],
    ['bare=6.6', false],
    ['bare>6.6', true],
    ['bare=in=6.6;7.4', false],
  ]
  for (const path of PATHS) {
    for (const [filter, isFound] of all) {
      const found = await keysOf(served, path, { filter, pageSize: 1000 })
      t.is(found.includes(body.id), isFound, `${path} ${filter}`)
    }
  }
})

if (databaseName !== 'sqlite') {
  test('of two decimals that differ behind many digits each is found alone, by itself and in a list', async (t) => {
    const texts = ['123456789012345678.0001000000', '123456789012345678.0001010000']
    const { body } = await served.post(
      '/api/values/bulk',
      texts.map((wide) => ({ wide })),
    )
    for (const [index, text] of texts.entries()) {
      for (const path of PATHS) {
        for (const filter of [`wide=${text}`, `wide=in=${text};1`, `wide=in=1;${text};2.5`]) {
          t.deepEqual(await keysOf(served, path, { filter }), [body[index].id], `${path} ${filter}`)
        }
      }
    }
  })
}

test('a UUID is found in any case, in a filter, a list of values and a parameter', async (t) => {
  const uuid = 'ABCDEF01-0000-4000-8000-00000000000A'
  const { body } = await served.post('/api/values', { uuid })
  t.is(body.uuid, uuid.toLowerCase())
  for (const path of PATHS) {
    for (const parameters of [{ filter: `uuid=${uuid}` }, { filter: `uuid=in=${uuid.toLowerCase()}` }, { uuid }]) {
      t.deepEqual(await keysOf(served, path, parameters), [body.id])
    }
  }
})

test('blanks that fill up a CHAR are no part of it, in any filter', async (t) => {
  const { body } = await served.post('/api/values', { fixed: 'qx' })
  const rows: readonly (readonly [filter: string, isFound: boolean])[] = [
    ['fixed=qx', true],
    ['fixed=qx\\ ', false],
    ['fixed=in=qx;zz', true],
    ['fixed=in=qx\\ ;zz', false],
    ['fixed!=qx', false],
    ['fixed$x', true],
    ['fixed$x\\ ', false],
    ['fixed=*x\\ ', false],
    ['fixed^q', true],
    ['fixed^qx\\ ', false],
    ['fixed=QX/i', true],
    ['fixed$X/i', true],
    ['fixed=QX', false],
  ]
  for (const path of PATHS) {
    for (const [filter, isFound] of rows) {
      const found = await keysOf(served, path, { filter, pageSize: 1000 })
      t.is(found.includes(body.id), isFound, `${path} ${filter}`)
    }
  }
})

test('what is no UTF-8 in a URL is 400 in a parameter and 404 in a key', async (t) => {
  for (const bytes of ['%ED%A0%80', '%FF', '%C0%80']) {
    t.is((await served.get(`/api/values?filter=string=${bytes}`)).status, 400)
    t.is((await served.get(`/api/values?string=${bytes}`)).status, 400)
  }
  t.is((await served.get('/api/values?filter=string=%00')).status, 400)
  t.is((await list(served, '/api/values', { string: 'a\0' })).status, 400)
})

if (postgres !== null) {
  const OWN: readonly (readonly [attribute: string, sent: unknown, got?: unknown])[] = [
    ['jsonb', 'null'],
    ['jsonb', '5'],
    ['jsonb', [1, { a: null }]],
    ['numbers', [1, -2]],
    ['numbers', []],
    ['numbers', [null]],
    ['texts', ['a', 'b,c', '"q"', '{}', '\\', '😀', '']],
    [
      'span',
      [1, 5],
      [
        { value: 1, inclusive: true },
        { value: 5, inclusive: false },
      ],
    ],
    ['span', []],
    ['blobs', ['AQID', '/w==', '', null]],
    ['blobs', []],
    ['moments', ['2024-01-15T12:30:00.000Z', null]],
    ['moments', ['2024-01-15 14:30:00.123+02:00'], ['2024-01-15T12:30:00.123Z']],
    ['days', ['2024-01-15', null]],
    ['words', "it's", "'it''s'"],
    ['address', '10.0.0.1'],
  ]
  for (const [attribute, sent, got = sent] of OWN) {
    test(`${attribute}: ${JSON.stringify(sent)} is written and read`, async (t) => {
      const { status, body } = await postgres.post('/api/owns', { [attribute]: sent })
      t.is(status, 201)
      t.deepEqual(body[attribute], got)
      t.deepEqual((await postgres.get(`/api/owns/${body.id}`)).body, body)
      t.deepEqual((await postgres.post('/api/owns/bulk', [{ [attribute]: sent }])).body[0][attribute], got)
      await postgres.patch(`/api/owns/${body.id}`, { [attribute]: null })
      t.deepEqual((await postgres.patch(`/api/owns/${body.id}`, { [attribute]: sent })).body, body)
    })
  }

  const WRONG: readonly (readonly [attribute: string, sent: unknown, message?: string])[] = [
    ['blobs', ['x'], 'must be base64 text.'],
    ['blobs', [5], 'must be base64 text.'],
    ['moments', ['soon'], 'must be a date-time.'],
    ['days', ['2024-02-30'], 'must be a date.'],
    ['words', { a: 1 }, 'must be a string.'],
    ['words', ['a'], 'must be a string.'],
    ['words', "'"],
    ['words', 'a:'],
    ['words', 'a\\'],
    ['address', { a: 1 }, 'must be a string.'],
    ['numbers', 'x', 'must be an array.'],
    ['numbers', 5, 'must be an array.'],
    ['numbers', { a: 1 }, 'must be an array.'],
    ['numbers', ['x']],
    ['numbers', [1.5]],
    ['numbers', [3_000_000_000]],
    ['texts', 'x', 'must be an array.'],
    ['span', 'x', 'must be an array.'],
    ['span', { a: 1 }, 'must be an array.'],
    ['span', [1], 'must be an array of a lower and an upper bound.'],
    ['span', [1, 2, 3], 'must be an array of a lower and an upper bound.'],
    ['span', [5, 1]],
    ['span', ['x', 'y']],
  ]
  for (const [attribute, sent, message] of WRONG) {
    test(`${attribute}: ${JSON.stringify(sent)} is of the wrong form: 400`, async (t) => {
      const before = await postgres.Own.count()
      for (const answer of [
        await postgres.post('/api/owns', { [attribute]: sent }),
        await postgres.post('/api/owns/bulk', [{ [attribute]: sent }]),
      ]) {
        t.is(answer.status, 400, answer.text)
        if (message !== undefined) t.deepEqual(Object.values(answer.body.errors), [[message]])
      }
      t.is(await postgres.Own.count(), before)
    })
  }
}

test('nothing in this file was unexpected', (t) => {
  t.deepEqual(heard, [])
})

test('a type that is given as SQL is what it says, and no JSON', async (t) => {
  for (const path of ['/api/givens', '/api/founds']) {
    for (const code of ['123', 'true', '{"a":1}', '"q"', 'plain']) {
      const { status, body } = await given.post(path, { code, count: 5, opening: '09:30:00' })
      t.deepEqual([status, body.code, body.count, body.opening], [201, code, 5, '09:30:00'], path)
      const found = await given.get(`${path}/${body.id}`)
      t.deepEqual(found.body, body)
      t.deepEqual((await given.patch(`${path}/${body.id}`, { opening: body.opening })).body, body)
      t.deepEqual(await keysOf(given, path, { filter: `code=${code.replace(/[,|()]/g, '\\$&')}` }), [body.id])
      t.deepEqual((await given.post(path, { code })).status, 409)
      t.is((await given.delete(`${path}/${body.id}`)).status, 204)
    }
    const { body } = await given.post(path, { code: 'x'.repeat(21), count: 'five' })
    t.deepEqual(body.errors, { code: ['must be at most 20 characters.'], count: ['must be an integer.'] })
  }
})

test('JSON that is given as SQL is any JSON, and goes through setters', async (t) => {
  for (const path of ['/api/givens', '/api/founds']) {
    for (const meta of [{ a: [1, null, "it's"] }, [1, 'a'], [], 'text', '"q"', '', 5, 1.5, true, false, null]) {
      const about = `${path} ${JSON.stringify(meta)}`
      const { status, body, text } = await given.post(path, { meta, parsed: meta })
      t.deepEqual([status, body.meta, body.parsed], [201, meta, { set: meta }], `${about} ${text}`)
      const one = `${path}/${body.id}`
      t.deepEqual((await given.get(one)).body, body, about)
      t.deepEqual((await given.patch(one, { meta: { b: 1 } })).body.meta, { b: 1 })
      t.deepEqual((await given.patch(one, { meta })).body, body, about)
      const [made] = (await given.post(`${path}/bulk`, [{ meta }])).body
      t.deepEqual(made.meta, meta, about)
      const [written] = (await given.patch(`${path}/bulk`, [{ id: made.id, meta, count: 1 }])).body
      t.deepEqual(written.meta, meta, about)
    }
  }
})

test('a type that only SQL knows takes what its column takes, and refuses the rest', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const type = databaseName === 'mariadb' || databaseName === 'mysql' ? 'INET6' : 'INET'
    const attributes = { address: { type }, other: { type } }
    for (const name of ['Host', 'HookedHost']) {
      const model = sequelize.define(name, attributes, { timestamps: false })
      if (name === 'HookedHost') model.addHook('beforeSave', () => undefined)
      app.use(crudRouter(model, { operations: Operations.AllWithBulk | Operations.BulkUpdate }))
    }
  })
  t.teardown(() => stage.close())
  for (const path of ['/api/hosts', '/api/hookedhosts']) {
    const { body: first } = await stage.post(path, { address: '::1' })
    t.is(first.address, '::1')
    for (const address of [['::1'], ['::1', '::2'], [], {}, { a: 1 }, [1, [2, 3]], 5, true]) {
      for (const { status, body, text } of [
        await stage.post(path, { address, other: [] }),
        await stage.post(`${path}/bulk`, [{ address }]),
        await stage.patch(`${path}/${first.id}`, { address }),
        await stage.patch(`${path}/bulk`, [{ id: first.id, address }]),
      ]) {
        t.true(status < 300 || status === 400, `${status} ${JSON.stringify(address)} ${text}`)
        const [stored] = [body].flat()
        const shown = databaseName === 'sqlite' && typeof address === 'object' ? JSON.stringify(address) : address
        if (status < 300) t.deepEqual(stored.address, shown === true ? 1 : shown, text)
      }
    }
  }
})

test('what a getter gives is shown as its toJSON says', async (t) => {
  for (const path of ['/api/givens', '/api/founds']) {
    const { body } = await given.post(path, { code: path })
    const { id } = body
    const shown = { site: 'https://example.org/a', price: 12.5, moment: '2024-01-15T12:30:00.000Z', nothing: null }
    const sums = { total: 5 }
    t.like(body, { ...shown, sums })
    t.like((await given.get(`${path}/${id}`)).body, { ...shown, sums })
    t.like((await given.get(`${path}?sort=-id`)).body.items[0], { id, ...shown, sums })
    t.like((await given.patch(`${path}/bulk`, [{ id, count: 1 }])).body[0], { id, ...shown, sums })
    t.like((await given.post(`${path}/bulk`, [{ count: 1 }])).body[0], { ...shown, sums })
  }
})
