import test from 'ava'
import fc from 'fast-check'
import { createDecoder } from '../../../lib/codec/codecs.js'
import type { JsonValue, ValueType } from '../../../types/field.js'

type Row = readonly [valueType: ValueType, raw: unknown, expected: JsonValue]

const INTEGER: ValueType = { type: 'integer' }
const BIGINT: ValueType = { type: 'bigint' }
const MONEY: ValueType = { type: 'decimal', precision: 20, scale: 2, jsonType: 'string' }
const PRICE: ValueType = { type: 'decimal', precision: 10, scale: 2, jsonType: 'number' }
const COUNT: ValueType = { type: 'decimal', precision: 20, scale: 0, jsonType: 'string' }
const UNDECLARED: ValueType = { type: 'decimal', jsonType: 'string' }
const FLOAT: ValueType = { type: 'float' }
const SINGLE: ValueType = { type: 'float', single: true }
const CHAR: ValueType = { type: 'string', maxLength: 5, padded: true }
const BOOLEAN: ValueType = { type: 'boolean' }
const DATETIME: ValueType = { type: 'datetime' }
const DATE: ValueType = { type: 'date' }
const TIME: ValueType = { type: 'time' }
const UUID: ValueType = { type: 'uuid' }
const STRING: ValueType = { type: 'string' }
const BLOB: ValueType = { type: 'blob' }
const JSON_TYPE: ValueType = { type: 'json' }

// What the four drivers, raw or through Sequelize, return for one and the same stored value.
const SAME: readonly (readonly [valueType: ValueType, raws: readonly unknown[], expected: JsonValue])[] = [
  [INTEGER, [42, 42n, '42'], 42],
  [BIGINT, [9007199254740991, 9007199254740991n, '9007199254740991'], 9007199254740991],
  [BIGINT, [9007199254740993n, '9007199254740993'], '9007199254740993'],
  [BIGINT, [-9223372036854775808n, '-9223372036854775808'], '-9223372036854775808'],
  [BOOLEAN, [true, 1, 1n, '1', 'true', 't', 'T', Buffer.from([1])], true],
  [BOOLEAN, [false, 0, 0n, '0', 'false', 'f', Buffer.from([0])], false],
  [MONEY, [5000, 5000n, '5000', '5000.00', '5000.0', '5e3'], '5000.00'],
  [MONEY, [-0.5, '-0.50', '-5e-1', '-0.5'], '-0.50'],
  [PRICE, [19.99, '19.99', '19.9900'], 19.99],
  [UNDECLARED, [5000, '5000', '5000.00', '5000.000'], '5000'],
  [FLOAT, [1.5, '1.5', '1.5e0'], 1.5],
  [SINGLE, [0.1, '0.1', Math.fround(0.1), String(Math.fround(0.1))], 0.1],
  [CHAR, ['ab', 'ab   ', Buffer.from('ab')], 'ab'],
  [
    DATETIME,
    [
      new Date('2024-01-15T12:30:45.123Z'),
      1705321845123,
      '2024-01-15 12:30:45.123 +00:00',
      '2024-01-15 14:30:45.123 +02:00',
      '2024-01-15 12:30:45.123',
      '2024-01-15 12:30:45.123000',
      '2024-01-15 12:30:45.123+00',
      '2024-01-15 12:30:45.123+0000',
      '2024-01-15T12:30:45.123Z',
      '2024-01-15T07:30:45.123-05:00',
    ],
    '2024-01-15T12:30:45.123Z',
  ],
  [
    DATE,
    ['2024-01-15', new Date('2024-01-15T00:00:00Z'), '2024-01-15 00:00:00', '2024-01-15T00:00:00.000Z'],
    '2024-01-15',
  ],
  [TIME, ['12:30:45', '12:30:45.000000', '12:30:45+00', '12:30:45.5Z'], '12:30:45'],
  [
    UUID,
    ['C2D29867-3D0B-D497-9191-18A9D8EE7830', 'c2d29867-3d0b-d497-9191-18a9d8ee7830'],
    'c2d29867-3d0b-d497-9191-18a9d8ee7830',
  ],
  [STRING, ['Zażółć', Buffer.from('Zażółć')], 'Zażółć'],
  [BLOB, [Buffer.from('Zażółć'), new Uint8Array(Buffer.from('Zażółć')), 'Zażółć'], 'WmHFvMOzxYLEhw=='],
]

test('one stored value is one JSON value, whichever driver returns it', (t) => {
  for (const [valueType, raws, expected] of SAME) {
    for (const raw of raws) t.deepEqual(createDecoder(valueType)(raw), expected, `${valueType.type} ${String(raw)}`)
  }
})

test('null and undefined are null for every type', (t) => {
  for (const type of ['string', 'integer', 'bigint', 'decimal', 'float', 'boolean', 'datetime', 'date'] as const) {
    t.is(createDecoder({ type })(null), null)
    t.is(createDecoder({ type })(undefined), null)
  }
  for (const type of ['time', 'uuid', 'enum', 'json', 'blob'] as const) {
    t.is(createDecoder({ type })(null), null)
    t.is(createDecoder({ type }, { jsonAsText: true })(undefined), null)
  }
})

const DECIMALS: readonly Row[] = [
  [MONEY, 1e21, '1000000000000000000000.00'],
  [MONEY, 1e-7, '0.00'],
  [MONEY, -0.001, '0.00'],
  [MONEY, 0.30000000000000004, '0.30'],
  [MONEY, '0.125', '0.13'],
  [MONEY, '-0.125', '-0.13'],
  [MONEY, '9.995', '10.00'],
  [MONEY, '999999999999999999.99', '999999999999999999.99'],
  [MONEY, 'NaN', null],
  [MONEY, '-Infinity', null],
  [MONEY, 'much', 'much'],
  [MONEY, Number.NaN, null],
  [COUNT, 12, '12'],
  [COUNT, '12.5', '13'],
  [COUNT, '-0.4', '0'],
  [UNDECLARED, '-0.00', '0'],
  [UNDECLARED, '0.000000123', '0.000000123'],
  [PRICE, Number.POSITIVE_INFINITY, null],
  [PRICE, 'much', 'much'],
]

test('decimals have their declared places and no exponent', (t) => {
  for (const [valueType, raw, expected] of DECIMALS) t.is(createDecoder(valueType)(raw), expected, String(raw))
})

test('a number in a decimal column reads as the text that the other databases return', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: -(10 ** 14), max: 10 ** 14 }), (cents) => {
      const text = (cents / 100).toFixed(2).replace(/^-(0\.00)$/, '$1')
      return createDecoder(MONEY)(cents / 100) === text && createDecoder(MONEY)(text) === text
    }),
  )
  t.pass()
})

test('date-times in SQLite’s layout read as the instants they are, leap days and month ends included', (t) => {
  const decode = createDecoder(DATETIME)
  const instants = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(instants, (instant) => {
      const iso = instant.toISOString()
      return decode(`${iso.replace('T', ' ').slice(0, 23)} +00:00`) === iso && decode(instant) === iso
    }),
  )
  for (const day of ['2024-02-29', '2024-01-31', '2024-04-30', '2024-12-31', '2024-02-28']) {
    t.is(decode(`${day} 00:00:00.000 +00:00`), `${day}T00:00:00.000Z`)
  }
})

const HONEST: readonly Row[] = [
  [DATETIME, '2024-02-30 12:00:00.000 +00:00', null],
  [DATETIME, '2023-02-29 12:00:00.000 +00:00', null],
  [DATETIME, '2024-04-31 12:00:00.000 +00:00', null],
  [DATETIME, '0000-00-00 00:00:00', null],
  [DATETIME, 'soon', null],
  [DATETIME, '2024-01-15', '2024-01-15T00:00:00.000Z'],
  [DATETIME, new Date(Number.NaN), null],
  [DATETIME, Number.POSITIVE_INFINITY, null],
  [INTEGER, 'five', 'five'],
  [INTEGER, 5.5, 5.5],
  [INTEGER, Number.NaN, null],
  [INTEGER, 2 ** 53, '9007199254740992'],
  [INTEGER, 1e21, '1000000000000000000000'],
  [INTEGER, true, 1],
  [FLOAT, Number.NaN, null],
  [FLOAT, 'Infinity', null],
  [FLOAT, 'x', 'x'],
  [FLOAT, '', ''],
  [BOOLEAN, 2, true],
  [BOOLEAN, 'maybe', 'maybe'],
  [DATE, 'soon', null],
  [DATE, '0000-00-00', null],
  [DATE, 20240115, null],
  [DATE, '0044-03-15 BC', '-000043-03-15'],
  [DATE, '20000-01-01', '+020000-01-01'],
  [DATETIME, '0044-03-15 12:00:00+00 BC', '-000043-03-15T12:00:00.000Z'],
  [DATE, new Date(Number.NaN), null],
  [TIME, '-12:00:00', '-12:00:00'],
  [TIME, '838:59:59', '838:59:59'],
  [TIME, '12:30', '12:30:00'],
  [STRING, 5, 5],
  [{ type: 'enum', values: ['a'] }, 'gone', 'gone'],
  [UUID, Buffer.from('x'), 'x'],
  [BLOB, '', ''],
  [JSON_TYPE, Symbol('s'), null],
]

test('a float of four bytes is the shortest number that the column would hold so, and one that the column takes', (t) => {
  const decode = createDecoder(SINGLE)
  for (const shown of [0, 0.3, -2.5, 123456.79, 16777216, 1e-45, 3.4028234663852886e38]) {
    t.is(decode(Math.fround(shown)), shown)
  }
  const property = fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (number) => {
    const shown = Number(decode(number))
    return Math.fround(shown) === number && String(shown).length <= String(number).length
  })
  t.notThrows(() => fc.assert(property))
})

test('what is no value of its type is shown as it is stored, and null where it cannot be shown', (t) => {
  for (const [valueType, raw, expected] of HONEST) t.deepEqual(createDecoder(valueType)(raw), expected, String(raw))
})

test('JSON is parsed only where the driver has left it as text', (t) => {
  const asText = createDecoder(JSON_TYPE, { jsonAsText: true })
  const parsed = createDecoder(JSON_TYPE, { jsonAsText: false })
  t.deepEqual(asText('{"a":[1,null]}'), { a: [1, null] })
  t.deepEqual(asText({ a: 1 }), { a: 1 })
  t.is(asText('"5"'), '5')
  t.is(asText('not json'), null)
  t.is(asText('null'), null)
  t.is(parsed('5'), '5')
  t.is(parsed('{"a":1}'), '{"a":1}')
  t.deepEqual(parsed({ a: 1 }), { a: 1 })
})

test('JSON that a serialiser would change or refuse is made plain', (t) => {
  const decode = createDecoder(JSON_TYPE)
  t.deepEqual(decode([new Date(0), 5n, 2n ** 60n, Buffer.from('ab'), Number.NaN, undefined]), [
    '1970-01-01T00:00:00.000Z',
    5,
    '1152921504606846976',
    'YWI=',
    null,
    null,
  ])
  const hostile = createDecoder(JSON_TYPE, { jsonAsText: true })('{"__proto__":{"admin":true}}')
  t.is(JSON.stringify(hostile), '{"__proto__":{"admin":true}}')
  t.is(Reflect.get(Object(hostile), 'admin'), undefined)
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  t.notThrows(() => createDecoder(JSON_TYPE, { jsonAsText: true })(deep))
})

test('every JSON value comes back from its text', (t) => {
  const decode = createDecoder(JSON_TYPE, { jsonAsText: true })
  fc.assert(fc.property(fc.json(), (text) => JSON.stringify(decode(text)) === JSON.stringify(JSON.parse(text))))
  t.pass()
})

test('no decoder throws, whatever it is given', (t) => {
  const types = [
    'string',
    'integer',
    'bigint',
    'float',
    'boolean',
    'datetime',
    'date',
    'time',
    'uuid',
    'json',
    'blob',
  ] as const
  const decoders = [
    ...types.map((type) => createDecoder({ type })),
    ...[MONEY, PRICE, UNDECLARED].map((type) => createDecoder(type)),
  ]
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withTypedArray: true, withNullPrototype: true }),
      (raw) => {
        for (const decode of decoders) JSON.stringify(decode(raw))
      },
    ),
  )
  t.pass()
})
