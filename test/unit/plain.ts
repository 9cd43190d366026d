import test from 'ava'
import { toPlainValue } from '../../lib/common/plainValue.js'
import type { JsonValue } from '../../types/field.js'

const decode = (value: unknown): JsonValue => (typeof value === 'number' ? value : String(value))

test('what one record has of another is a number, a boolean or a text, whatever the driver makes of it', (t) => {
  const field = { valueType: { type: 'integer' }, decode } as const
  t.is(toPlainValue(field, 7), 7)
  t.is(toPlainValue(field, true), true)
  t.is(toPlainValue(field, false), false)
  t.is(toPlainValue(field, 'a'), 'a')
  t.is(toPlainValue(field, 9007199254740993n), '9007199254740993')
  t.is(toPlainValue(field, Buffer.from('key')), 'key')
})

test('what one record has of another’s instant is a date, of a date and of a text', (t) => {
  const toIso = (value: unknown): JsonValue => new Date(value instanceof Date ? value : String(value)).toISOString()
  const field = { valueType: { type: 'datetime' }, decode: toIso } as const
  const instant = new Date('2026-11-23T10:00:00.123Z')
  t.deepEqual(toPlainValue(field, instant), instant)
  t.deepEqual(toPlainValue(field, '2026-11-23 10:00:00.123 +00:00'), instant)
})
