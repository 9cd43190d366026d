// Values of columns, as text for queries and as JSON for bodies.

import { uuidCanary } from './canaries.js'
import { chance, oneOf, weighted } from './choose.js'
import { type Making, someKey } from './making.js'
import { RANKS, TARGETS } from './models.js'
import { type Column, type Kind, type Table, tableNamed } from './tables.js'
import { oddNumber, oddText } from './words.js'

const DAYS = [
  '2024-01-15',
  '2024-02-29',
  '2023-02-29',
  '2024-1-5',
  '0000-01-01',
  '9999-12-31',
  '+012024-01-01',
] as const
const INSTANTS = [
  ...['2024-01-03T12:00:00Z', '2024-01-03T12:00:00.000Z', '2024-01-03 12:00', '2024-01-03T13:00+01:00', '2024-01-03'],
  ...['2024-01-03T24:00:00Z', '2024-01-03T12:00:00.1234567Z', '-000001-01-01T00:00:00Z', '2024-06-30T23:59:60Z'],
] as const
const TIMES = ['01:30:00', '02:30:00', '24:00:00', '1:30', '01:30:00.5', '99:99:99'] as const

/** What reads well as a value of a kind, and what nearly does. */
const TEXTS: Readonly<Record<Kind, readonly [well: readonly string[], nearly: readonly string[]]>> = {
  text: [
    ['zq', 'zqs0x', 'zqs0x1', 'zqc', 'q', 'y', 'badge 3', 'anna', 'bert', 'nothing', 'ZQ'],
    ['=zq', ''],
  ],
  folded: [
    ['land 3', 'LAND 3', 'Land 1', 'land', 'zqs0x'],
    ['land', ''],
  ],
  target: [
    ['player', 'skill', 'Player'],
    ['team', ''],
  ],
  email: [['zqs0', '@test.pl', 'zqs0x1y@test.pl', 'x@y.z', 'TEST.PL'], ['>x']],
  level: [
    ['1', '2', '7', '14', '29', '50', '99'],
    ['1.5', 'x', ''],
  ],
  number: [
    ['1000000017', '1001000000', '1005000000', '0', '1'],
    ['1e9', '1000000017.0'],
  ],
  big: [['5000000001', '5000000003', '11000000017', '1', '9007199254740993'], ['5e9']],
  double: [
    ['0.25', '1.5', '3', '10.75'],
    ['1e1', '.5'],
  ],
  money: [
    ['1000000017.25', '1001000000', '0.25', '1005000000.00'],
    ['1,5', '1e9'],
  ],
  flag: [
    ['true', 'false', 'TRUE'],
    ['1', 'yes'],
  ],
  rank: [
    [...RANKS, 'low'],
    ['none', '0'],
  ],
  day: [DAYS.slice(0, 2), DAYS.slice(2)],
  instant: [INSTANTS.slice(0, 5), INSTANTS.slice(5)],
  time: [TIMES.slice(0, 2), TIMES.slice(2)],
  uuid: [
    [uuidCanary(99, 40), uuidCanary(99, 171)],
    ['0', '{}'],
  ],
  json: [['{}'], ['null']],
  bytes: [['AAAA'], ['null']],
}

/** A value to compare a column with, not yet escaped. */
export function queryValue(making: Making, table: Table, column: Column): string {
  const { random, odd } = making
  if (odd(0.15)) return chance(random, 0.5) ? oddText(random) : oddNumber(random)
  if (odd(0.1)) return oneOf(random, TEXTS[column.kind][1])
  return weighted(random, [
    [10, () => plainText(making, table, column)],
    [3, () => storedText(making, table, column)],
    [column.nullable ? 1 : 0, () => 'null'],
  ])
}

function plainText(making: Making, table: Table, column: Column): string {
  const { random } = making
  if (column.name === 'id') return String(someKey(making, table))
  if (column.name === 'tenantId') return oneOf(random, ['1', '2', '3'])
  return column.refers === null
    ? oneOf(random, TEXTS[column.kind][0])
    : String(someKey(making, tableNamed(column.refers)))
}

/** A value that some row has, or the beginning of a text: who may not see the row learns nothing from asking for it. */
function storedText(making: Making, table: Table, column: Column): string {
  const { random, seeds } = making
  const value = oneOf(random, seeds[table.name]).values[column.name] ?? null
  if (value === null) return plainText(making, table, column)
  const text = value instanceof Date ? value.toISOString() : String(value)
  const isText = column.kind === 'text' || column.kind === 'email'
  return isText && chance(random, 0.5) ? text.slice(0, 1 + Math.floor(random() * text.length)) : text
}

const JSON_VALUES: Readonly<Record<Kind, (making: Making) => unknown>> = {
  text: ({ text }) => text(),
  folded: ({ text }) => text(),
  target: ({ random }) => oneOf(random, TARGETS),
  email: ({ text }) => `${text()}@test.pl`,
  level: ({ random }) => 1 + Math.floor(random() * 100),
  number: ({ number }) => number(),
  big: ({ number }) => number() * 9,
  double: ({ random }) => Math.floor(random() * 40) / 4,
  money: ({ number }) => number() + 0.25,
  flag: ({ random }) => chance(random, 0.5),
  rank: ({ random }) => oneOf(random, RANKS),
  day: () => '2024-02-29',
  instant: () => '2024-02-29T12:30:00.000Z',
  time: () => '09:30:00',
  uuid: ({ random }) => uuidCanary(98, Math.floor(random() * 2 ** 32)),
  json: ({ text, random }) => ({
    note: text(),
    ...oneOf<object>(random, [{ size: 3 }, { size: 'x' }, { deep: { on: true } }, { tags: ['a', 'b'] }, { tags: 'a' }]),
    ...oneOf<object>(random, [{}, { at: '2024-01-03T12:00:00.000Z' }, { at: 5 }, { deep: 1 }, { size: 2 ** 40 }]),
    [oneOf(random, ['a', '__proto__', 'constructor', 'toJSON'])]: [1, { b: null }],
  }),
  bytes: () => 'cGhvdG8=',
}

const OTHERS = [true, false, [], {}, [[]], [null], { id: 1 }, { $gt: 0 }, [1, 2], 0, -1, 1.5, ''] as const

/** A value for a body. */
export function bodyValue(making: Making, column: Column): unknown {
  const { random, odd } = making
  if (odd(0.12)) {
    return weighted<unknown>(random, [
      [2, () => oddText(random)],
      [2, () => Number(oddNumber(random))],
      [2, () => oneOf<unknown>(random, OTHERS)],
      [1, () => null],
    ])
  }
  if (column.nullable && chance(random, 0.1)) return null
  return column.refers === null ? JSON_VALUES[column.kind](making) : someKey(making, tableNamed(column.refers))
}
