// Random values of every type, for rows and for filters. Difficult values come first.

import fc, { type Arbitrary } from 'fast-check'
import { type Column, RANKS, type Value } from './schema.js'

/** Texts that a database, pattern language, collation or filter grammar might misinterpret. */
const TEXTS: readonly string[] = [
  ...['', ' ', 'a', 'A', 'b', 'ab', 'aB', 'AB', 'abc', 'ABC', 'abc ', 'abc  ', ' abc', 'abcx', 'xabc', 'ABC '],
  ...['null', 'NULL', 'undefined', 'true', '0', '00', '-0', '1', '1e3', '10', '9', '2024-01-01', '__proto__'],
  ...['%', '_', '%%', '100%', '100x', '1000', 'a%b', 'a_b', 'axb', '%a', 'a%', '_a', '|%', '|_', '\\%', '\\_'],
  ...['*', '**', 'a*b', '*a', 'a*', '?', 'a?b', '[', ']', '[a]', 'a[b', '[^a]', '[a-z]', '^', '^a', '$', '-'],
  ...['\\', '\\\\', 'a\\b', '\\a', 'a\\', '|', '||', 'a|b', '|a', 'a|', ',', 'a,b', '(', ')', '(a)', 'a)', ';', 'a;b'],
  ...[
    "'",
    "''",
    "a'b",
    "' OR 1=1 --",
    '"',
    'a"b',
    '`',
    '--',
    '/*',
    '#',
    '$1',
    '$$',
    ':a',
    '??',
    '@x',
    '&',
    'a+b',
    'a&b=c',
  ],
  ...[
    '=',
    '==',
    '=in=',
    'in=a',
    'out=a;b',
    '=a',
    'a=b',
    '<',
    '>',
    '>=',
    '!',
    '!a',
    '!=',
    '=*',
    '/',
    '/i',
    'a/i',
    'a/I',
    'a /i',
  ],
  ...[
    '\t',
    '\n',
    'a\t',
    'a\nb',
    'a\r\nb',
    '\u00a0',
    '\u200b',
    'a\u200bb',
    '\ufeff',
    '\u2028',
    'a\u0001b',
    '\ue0000\ue001',
  ],
  ...['😀', 'a😀b', '😀😀', '😁', '👩‍👩‍👧', '\uffff', '\u{10ffff}', '漢字', '漢', 'عربي'],
  ...[
    'e',
    'E',
    'é',
    'É',
    'e\u0301',
    '\u0301',
    'café',
    'cafe',
    'CAFÉ',
    'cafe\u0301',
    'ß',
    'ss',
    'SS',
    'straße',
    'STRASSE',
  ],
  ...['Łódź', 'łódź', 'Lodz', 'ä', 'Ä', 'æ', 'ae', 'i', 'I', 'x'.repeat(120)],
]

const LETTERS = ['a', 'b', 'A', 'B', 'c', ' ', '%', '_', '*', '\\', 'é', 'É', 'ß', '😀', '1'] as const

const text: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...LETTERS), { maxLength: 4 }).map((letters) => letters.join('')) },
)

function integer({ bounds: [min, max] }: Column): Arbitrary<bigint> {
  const inside = (value: bigint): boolean => value >= min && value <= max
  const nasty = [
    min,
    min + 1n,
    max,
    max - 1n,
    0n,
    -1n,
    1n,
    2n ** 53n - 1n,
    2n ** 53n,
    2n ** 53n + 1n,
    -(2n ** 53n) - 1n,
  ]
  return fc.oneof(fc.constantFrom(...nasty.filter(inside)), fc.bigInt({ min: -9n, max: 9n }))
}

/**
 * Decimals with at most fifteen digits, because SQLite stores decimals as floating point and would round longer
 * decimals.
 */
const DECIMALS: Readonly<Record<number, readonly string[]>> = {
  2: ['0.00', '0.01', '-0.01', '0.10', '0.30', '99999999.99', '-99999999.99', '5000.00', '1.15', '2.50'],
  4: ['0.0000', '0.0001', '-0.0001', '0.1000', '0.3000', '99999999999.9999', '-99999999999.9999', '5000.0000'],
}

function decimal({ places }: Column): Arbitrary<string> {
  const nasty = DECIMALS[places] ?? []
  const small = fc.integer({ min: -99_999, max: 99_999 }).map((digits) => withPlaces(BigInt(digits), places))
  return fc.oneof(fc.constantFrom('12345678.25'.padEnd(9 + places, '0'), ...nasty), small)
}

function withPlaces(digits: bigint, places: number): string {
  const sign = digits < 0n ? '-' : ''
  const all = String(digits < 0n ? -digits : digits).padStart(places + 1, '0')
  return `${sign}${all.slice(0, -places)}.${all.slice(-places)}`
}

const DOUBLES: readonly number[] = [
  ...[0, -0, 0.1, 0.2, 0.3, 0.1 + 0.2, 1 / 3, 1.5, -1.5, 1e-7, 1e21, 2 ** 53, 123456789.125],
  ...[Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 2.2250738585072014e-308],
]

/** Numbers that MySQL's four-byte FLOAT stores exactly. */
const SINGLES: readonly number[] = [0, -0, 0.1, 0.3, 1.5, -1.5, 1000.5, 16777216, 0.1234567, 3.4e38, -3.4e38, 1e-10]

const INSTANTS: readonly string[] = [
  ...['1000-01-01T00:00:00.000Z', '1000-01-01T23:59:59.999Z', '9999-12-31T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
  ...['1969-12-31T23:59:59.999Z', '1970-01-01T00:00:00.000Z', '1900-02-28T12:00:00.000Z', '2000-02-29T00:00:00.001Z'],
  ...['2024-02-28T23:59:59.999Z', '2024-02-29T00:00:00.000Z', '2024-02-29T00:00:00.001Z', '2024-02-29T10:30:00.000Z'],
  ...['2024-02-29T23:59:59.999Z', '2024-03-01T00:00:00.000Z', '2024-03-31T01:30:00.000Z', '2038-01-19T03:14:08.000Z'],
]

const DAYS: readonly string[] = [
  ...['1000-01-01', '1582-10-10', '1900-02-28', '1970-01-01', '2000-02-29', '2024-02-28', '2024-02-29', '2024-03-01'],
  '9999-12-31',
]

const TIMES: readonly string[] = ['00:00:00', '00:00:01', '09:30:00', '12:00:00', '12:00:59', '23:59:00', '23:59:59']

const CODES: readonly string[] = [
  ...['00000000-0000-0000-0000-000000000000', '0b1c2d3e-0000-4000-8000-000000000001'],
  ...['0b1c2d3e-0000-4000-8000-00000000000a', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
]

/** Generates values that a column may contain. */
export function storedValues(column: Column): Arbitrary<Value> {
  switch (column.kind) {
    case 'text':
      return text
    case 'integer':
      return integer(column)
    case 'decimal':
      return decimal(column)
    case 'float':
      return column.short
        ? fc.constantFrom(...SINGLES)
        : fc.oneof(
            fc.constantFrom(...DOUBLES),
            fc.integer({ min: -40, max: 40 }).map((quarters) => quarters / 4),
          )
    case 'boolean':
      return fc.boolean()
    case 'enum':
      return fc.constantFrom(...RANKS)
    case 'uuid':
      return fc.oneof(fc.constantFrom(...CODES), fc.uuid())
    case 'datetime': {
      const instants = INSTANTS.map((instant) => Date.parse(instant))
      return fc.constantFrom(
        ...(column.milliseconds ? instants : instants.map((at) => at - (((at % 1000) + 1000) % 1000))),
      )
    }
    case 'date':
      return fc.constantFrom(...DAYS)
    case 'time':
      return fc.constantFrom(...TIMES)
  }
}

/** Values that detect inexact comparisons: values close to a given value, and values far from all others. */
export function neighbours({ kind, places, bounds: [min, max], short }: Column, value: Value): Value[] {
  switch (kind) {
    case 'text': {
      const characters = [...String(value)]
      const [from, to] = [Math.floor(characters.length / 3), Math.ceil((characters.length * 2) / 3)]
      const parts = [characters.slice(from, to), characters.slice(0, to), characters.slice(from), [...characters, ' ']]
      return [...parts.map((part) => part.join('')), String(value).toUpperCase(), String(value).toLowerCase()]
    }
    case 'integer':
      return [BigInt(value) + 1n, BigInt(value) - 1n, min - 1n, max + 1n, 10n ** 20n, -(10n ** 20n)]
    case 'decimal': {
      const digits = BigInt(String(value).replace('.', ''))
      const near = [withPlaces(digits + 1n, places), withPlaces(digits - 1n, places)]
      return [...near, `${value}5`, `${value}00001`, '100000000000000000000.5', '-100000000000000000000.5']
    }
    case 'float':
      return short
        ? [-Number(value), 2e38, 0.15, 7]
        : [-Number(value), Number(value) / 2, Number(value) + 2 ** -20, 1e300]
    case 'datetime':
      return [
        Number(value) + 1,
        Number(value) - 1,
        Date.parse('0001-01-01T00:00:00.000Z'),
        Date.parse('2024-06-01T12:00:00Z'),
      ].map((at) => Math.min(at, Date.parse('9999-12-31T23:59:59.999Z')))
    case 'date':
      return ['0001-01-01', '2024-03-02', '1999-12-31']
    case 'time':
      return ['00:00:02', '23:58:59', '12:01:00']
    case 'uuid':
      return ['0b1c2d3e-0000-4000-8000-000000000002']
    case 'boolean':
      return [!value]
    case 'enum':
      return [...RANKS]
  }
}
