import test from 'ava'
import fc from 'fast-check'
import {
  compareDecimals,
  daySpan,
  isStorableText,
  readDate,
  readDateTime,
  readDecimal,
  readInteger,
  readScientific,
  readTime,
  readUuid,
  toDecimal,
} from '../../lib/common/values.js'

type Table<T> = readonly (readonly [text: string, expected: T])[]

const DATES: Table<string | null> = [
  ['2024-02-29', '2024-02-29'],
  ['2023-02-29', null],
  ['2000-02-29', '2000-02-29'],
  ['1900-02-29', null],
  ['2024-02-30', null],
  ['2024-04-31', null],
  ['2024-12-31', '2024-12-31'],
  ['0001-01-01', '0001-01-01'],
  ['0000-01-01', null],
  ['9999-12-31', '9999-12-31'],
  ['2024-00-10', null],
  ['2024-13-10', null],
  ['2024-01-00', null],
  ['2024-1-1', null],
  ['20240101', null],
  ['2024-W01-1', null],
  ['+012024-01-01', null],
  ['2024-01-01T00:00', null],
  ['2024-01-01\n', null],
  ['', null],
]

test('a date is a real day of the calendar, written YYYY-MM-DD', (t) => {
  for (const [text, expected] of DATES) t.is(readDate(text), expected, text)
})

test('every day that JavaScript counts is read, and no other', (t) => {
  const days = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(fc.property(days, (day) => readDate(day.toISOString().slice(0, 10)) !== null))
  const parts = fc.tuple(
    fc.integer({ min: 1, max: 9999 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 31 }),
  )
  fc.assert(
    fc.property(parts, ([year, month, day]) => {
      const text = `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
      const parsed = new Date(`${text}T00:00:00Z`)
      const isReal = !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text)
      return (readDate(text) === text) === isReal
    }),
  )
  t.pass()
})

const DATE_TIMES: Table<string | null> = [
  ['2024-01-15T12:30:45Z', '2024-01-15T12:30:45.000Z'],
  ['2024-01-15T12:30:45', '2024-01-15T12:30:45.000Z'],
  ['2024-01-15 12:30:45', '2024-01-15T12:30:45.000Z'],
  ['2024-01-15t12:30z', '2024-01-15T12:30:00.000Z'],
  ['2024-01-15T12:30', '2024-01-15T12:30:00.000Z'],
  ['2024-01-15', '2024-01-15T00:00:00.000Z'],
  ['2024-01-15T12:30:45.1', '2024-01-15T12:30:45.100Z'],
  ['2024-01-15T12:30:45.123456789Z', '2024-01-15T12:30:45.123Z'],
  ['2024-01-15T12:30:45.9999Z', '2024-01-15T12:30:45.999Z'],
  ['2024-01-15T12:30:45+02:00', '2024-01-15T10:30:45.000Z'],
  ['2024-01-15T12:30:45-05:30', '2024-01-15T18:00:45.000Z'],
  ['2024-01-15T12:30:45+02', '2024-01-15T10:30:45.000Z'],
  ['2024-01-15T23:30-01:00', '2024-01-16T00:30:00.000Z'],
  ['2024-01-15T12:30:45-00:00', '2024-01-15T12:30:45.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['0001-01-01T00:00:00+01:00', null],
  ['9999-12-31T23:59:59-01:00', null],
  ['2024-02-30T12:30:45Z', null],
  ['2023-02-29T12:30:45Z', null],
  ['2024-01-15T24:00:00Z', null],
  ['2024-01-15T12:60:00Z', null],
  ['2024-12-31T23:59:60Z', null],
  ['2024-01-15T12Z', null],
  ['2024-01-15T12:30Z ', null],
  ['2024-01-15T12:30:45,5Z', null],
  ['2024-01-15T12:30:45.Z', null],
  ['2024-01-15T12:30:45.1234567890Z', null],
  ['2024-01-15T12:30.5Z', null],
  ['2024-01-15T12:30:45+0200', null],
  ['2024-01-15T12:30:45+24:00', null],
  ['2024-01-15T12:30:45+02:60', null],
  ['2024-01-15T12:30:45 02:00', null],
  ['2024-01-15  12:30', null],
  ['2024-01-15Z', null],
  ['20240115T123045Z', null],
  ['2024-01-15T123045Z', null],
  ['1705321845000', null],
  ['Mon, 15 Jan 2024 12:30:45 GMT', null],
  ['', null],
]

test('a date-time is ISO 8601 in its extended format, UTC unless it says otherwise', (t) => {
  for (const [text, expected] of DATE_TIMES) t.is(readDateTime(text)?.toISOString() ?? null, expected, text)
})

test('every instant that JavaScript writes is read back', (t) => {
  const instants = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  fc.assert(fc.property(instants, (instant) => readDateTime(instant.toISOString())?.getTime() === instant.getTime()))
  t.pass()
})

test('a day spans its instants, and nothing ends the last day', (t) => {
  const spans: readonly (readonly [day: string, start: string, end: string | null])[] = [
    ['2024-02-29', '2024-02-29T00:00:00.000Z', '2024-03-01T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z', '0001-01-02T00:00:00.000Z'],
    ['9999-12-31', '9999-12-31T00:00:00.000Z', null],
  ]
  for (const [day, start, end] of spans) {
    const span = daySpan(day)
    t.deepEqual([span.start.toISOString(), span.end?.toISOString() ?? null], [start, end], day)
  }
})

const TIMES: Table<string | null> = [
  ['00:00', '00:00:00'],
  ['23:59:59', '23:59:59'],
  ['09:05', '09:05:00'],
  ['24:00', null],
  ['23:60', null],
  ['23:59:60', null],
  ['9:05', null],
  ['09:05:01.5', null],
  ['09:05Z', null],
  ['0905', null],
  ['', null],
]

test('a time of day is HH:MM or HH:MM:SS', (t) => {
  for (const [text, expected] of TIMES) t.is(readTime(text), expected, text)
})

const UUIDS: Table<string | null> = [
  ['C2D29867-3D0B-D497-9191-18A9D8EE7830', 'c2d29867-3d0b-d497-9191-18a9d8ee7830'],
  ['00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000'],
  ['{c2d29867-3d0b-d497-9191-18a9d8ee7830}', null],
  ['c2d298673d0bd497919118a9d8ee7830', null],
  ['c2d29867-3d0b-d497-9191-18a9d8ee783', null],
  ['g2d29867-3d0b-d497-9191-18a9d8ee7830', null],
  ['', null],
]

test('a UUID has the 8-4-4-4-12 form and comes out in lower case', (t) => {
  for (const [text, expected] of UUIDS) t.is(readUuid(text), expected, text)
})

const DECIMALS: Table<string | null> = [
  ['0', '0'],
  ['-0', '0'],
  ['-0.00', '0'],
  ['+5', '5'],
  ['007', '7'],
  ['-007.50', '-7.5'],
  ['1.0', '1'],
  ['0.10', '0.1'],
  ['123456789012345678901234567890.123456789', '123456789012345678901234567890.123456789'],
  ['1e5', null],
  ['.5', null],
  ['5.', null],
  ['1,5', null],
  ['0x10', null],
  ['--1', null],
  ['1_000', null],
  ['Infinity', null],
  ['NaN', null],
  [' 1', null],
  ['١', null],
  ['', null],
]

test('a decimal is digits with a sign and a point, in one form for one number', (t) => {
  for (const [text, expected] of DECIMALS) t.is(readDecimal(text), expected, text)
})

test('an integer is digits with a sign, of any magnitude', (t) => {
  const integers: Table<string | null> = [
    ['42', '42'],
    ['+042', '42'],
    ['-9223372036854775809', '-9223372036854775809'],
    ['5.0', null],
    ['5e3', null],
    ['', null],
  ]
  for (const [text, expected] of integers) t.is(readInteger(text), expected, text)
})

test('scientific notation is written out', (t) => {
  const numbers: Table<string | null> = [
    ['1e+21', '1000000000000000000000'],
    ['1.5e-7', '0.00000015'],
    ['-12.34E1', '-123.4'],
    ['-0e5', '0'],
    ['1.5', null],
    ['e5', null],
    ['1e99999', null],
  ]
  for (const [text, expected] of numbers) t.is(readScientific(text), expected, text)
})

test('every finite number has a decimal that reads back as it', (t) => {
  const numbers = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(numbers, (number) => {
      const text = toDecimal(number)
      // Zero has no sign in a decimal.
      return readDecimal(text) === text && Number(text) === number + 0
    }),
  )
  t.pass()
})

test('decimals order like the numbers they are', (t) => {
  const cents = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n })
  const decimal = (value: bigint): string => {
    const digits = String(value < 0n ? -value : value).padStart(3, '0')
    return readDecimal(`${value < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`) ?? ''
  }
  fc.assert(
    fc.property(
      cents,
      cents,
      (a, b) => Math.sign(compareDecimals(decimal(a), decimal(b))) === (a < b ? -1 : a > b ? 1 : 0),
    ),
  )
  const pairs: readonly (readonly [string, string])[] = [
    ['-2', '-1.5'],
    ['-1', '0'],
    ['0', '0.001'],
    ['0.45', '0.5'],
    ['9', '10'],
    ['1.4', '1.45'],
  ]
  for (const [a, b] of pairs) t.true(compareDecimals(a, b) < 0 && compareDecimals(b, a) > 0, `${a} < ${b}`)
})

test('text with NUL or half a surrogate pair cannot be stored', (t) => {
  const texts: readonly (readonly [string, boolean])[] = [
    ['', true],
    ['Zażółć 😀 \n\t', true],
    ['a\0b', false],
    ['\ud83d', false],
    ['\ude00\ud83d', false],
  ]
  for (const [text, expected] of texts) t.is(isStorableText(text), expected, JSON.stringify(text))
})

test('readers take linear time, whatever stands in front of the fault', (t) => {
  const long = 500_000
  const hostile = [
    '0'.repeat(long),
    `0.${'0'.repeat(long)}1`,
    `${'9'.repeat(long)}x`,
    `1.${'0'.repeat(long)}x`,
    'a'.repeat(long),
  ]
  const started = performance.now()
  for (const text of hostile) {
    readDecimal(text)
    readScientific(text)
    readDateTime(text)
    readUuid(text)
    isStorableText(text)
  }
  t.true(performance.now() - started < 1000)
})
