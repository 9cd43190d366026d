import test from 'ava'
import { plainOf } from '../../lib/common/plain.js'
import type { JsonValue } from '../../types/field.js'

const decode = (value: unknown): JsonValue => (typeof value === 'number' ? value : String(value))

test('what one record has of another is a number, a boolean or a text, whatever the driver makes of it', (t) => {
  const field = { valueType: { type: 'integer' }, decode } as const
  t.is(plainOf(field, 7), 7)
  t.is(plainOf(field, true), true)
  t.is(plainOf(field, false), false)
  t.is(plainOf(field, 'a'), 'a')
  t.is(plainOf(field, 9007199254740993n), '9007199254740993')
  t.is(plainOf(field, Buffer.from('key')), 'key')
})

test('what one record has of another’s instant is a date, of a date and of a text', (t) => {
  const toIso = (value: unknown): JsonValue => new Date(value instanceof Date ? value : String(value)).toISOString()
  const field = { valueType: { type: 'datetime' }, decode: toIso } as const
  const instant = new Date('2026-11-23T10:00:00.123Z')
  t.deepEqual(plainOf(field, instant), instant)
  t.deepEqual(plainOf(field, '2026-11-23 10:00:00.123 +00:00'), instant)
})
