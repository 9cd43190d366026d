import test from 'ava'
import { codecOf, readFilterValue } from '../../../lib/codec/codecs.js'
import type { FilterValue, ValueType } from '../../../types/field.js'

const INTEGER: ValueType = { type: 'integer', min: -2147483648n, max: 2147483647n }
const DECIMAL: ValueType = { type: 'decimal', precision: 10, scale: 2, jsonType: 'number' }
const STATUS: ValueType = { type: 'enum', values: ['Pending', 'Shipped', 'shipped', 'In Transit'] }

type Row = readonly [valueType: ValueType, text: string, expected: string | number | boolean | null]

const VALUES: readonly Row[] = [
  [INTEGER, '42', 42],
  [INTEGER, '+42', 42],
  [INTEGER, '-007', -7],
  [INTEGER, '99999999999', 99999999999],
  [INTEGER, '9007199254740991', 9007199254740991],
  [INTEGER, '9007199254740993', '9007199254740993'],
  [{ type: 'bigint' }, '-9223372036854775809', '-9223372036854775809'],
  [INTEGER, '4.0', null],
  [INTEGER, '1e3', null],
  [INTEGER, 'abc', null],
  [INTEGER, '', null],
  [INTEGER, '0x1F', null],
  [DECIMAL, '0.1', '0.1'],
  [DECIMAL, '+010.50', '10.5'],
  [DECIMAL, '99999999999999999999.999', '99999999999999999999.999'],
  [DECIMAL, '1e2', null],
  [DECIMAL, '1,5', null],
  [{ type: 'float' }, '1.5', 1.5],
  [{ type: 'float' }, '-2', -2],
  [{ type: 'float' }, '1e5', null],
  [{ type: 'float' }, 'NaN', null],
  [{ type: 'float' }, '9'.repeat(400), Number.POSITIVE_INFINITY],
  [{ type: 'boolean' }, 'TRUE', true],
  [{ type: 'boolean' }, 'false', false],
  [{ type: 'boolean' }, '1', null],
  [{ type: 'boolean' }, '', null],
  [STATUS, 'pending', 'Pending'],
  [STATUS, 'PENDING', 'Pending'],
  [STATUS, 'shipped', 'shipped'],
  [STATUS, 'Shipped', 'Shipped'],
  [STATUS, 'SHIPPED', 'Shipped'],
  [STATUS, 'in transit', 'In Transit'],
  [STATUS, 'Lost', null],
  [STATUS, 'toString', null],
  [{ type: 'uuid' }, 'C2D29867-3D0B-D497-9191-18A9D8EE7830', 'c2d29867-3d0b-d497-9191-18a9d8ee7830'],
  [{ type: 'uuid' }, 'c2d29867', null],
  [{ type: 'date' }, '2024-02-29', '2024-02-29'],
  [{ type: 'date' }, '2024-02-30', null],
  [{ type: 'date' }, '2024-02-29T00:00', null],
  [{ type: 'time' }, '9:30', null],
  [{ type: 'time' }, '09:30', '09:30:00'],
  [{ type: 'string' }, '', ''],
  [{ type: 'string', maxLength: 2 }, 'longer than the column', 'longer than the column'],
  [{ type: 'string' }, '100%_[*?', '100%_[*?'],
  [{ type: 'string' }, 'a\0b', null],
  [{ type: 'string' }, '\ud83d', null],
  [{ type: 'json' }, '{}', null],
  [{ type: 'blob' }, 'AAAA', null],
]

test('the text of a filter becomes a value of the field’s type, or nothing', (t) => {
  for (const [valueType, text, expected] of VALUES) {
    const wanted: FilterValue | null = expected === null ? null : { kind: 'value', value: expected }
    t.deepEqual(readFilterValue(valueType, text), wanted, `${valueType.type} ${text.slice(0, 40)}`)
  }
})

test('a date-time is an instant, a bare day all of its instants', (t) => {
  const valueType: ValueType = { type: 'datetime' }
  t.deepEqual(readFilterValue(valueType, '2024-01-15 12:30'), {
    kind: 'value',
    value: new Date('2024-01-15T12:30:00Z'),
  })
  t.deepEqual(readFilterValue(valueType, '2024-01-15T12:30:45.5+02:00'), {
    kind: 'value',
    value: new Date('2024-01-15T10:30:45.500Z'),
  })
  t.deepEqual(readFilterValue(valueType, '2024-02-29'), {
    kind: 'day',
    start: new Date('2024-02-29T00:00:00Z'),
    end: new Date('2024-03-01T00:00:00Z'),
  })
  for (const text of ['2024-02-30', '20240115', '20240115T1230', 'yesterday', '']) {
    t.is(readFilterValue(valueType, text), null, text)
  }
})

test('types are named for messages', (t) => {
  const names: readonly (readonly [ValueType, string])[] = [
    [INTEGER, 'a whole number'],
    [{ type: 'bigint' }, 'a whole number'],
    [DECIMAL, 'a decimal number'],
    [{ type: 'float' }, 'a number'],
    [{ type: 'boolean' }, 'true or false'],
    [{ type: 'datetime' }, 'a date-time (ISO 8601)'],
    [{ type: 'date' }, 'a date (YYYY-MM-DD)'],
    [{ type: 'time' }, 'a time (HH:MM:SS)'],
    [{ type: 'uuid' }, 'a UUID'],
    [STATUS, 'one of Pending, Shipped, shipped, In Transit'],
    [{ type: 'string' }, 'text without NUL characters'],
    [{ type: 'json' }, 'JSON'],
    [{ type: 'blob' }, 'binary data'],
  ]
  for (const [valueType, name] of names) t.is(codecOf(valueType).noun(valueType), name)
})
