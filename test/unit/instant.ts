import { createRequire } from 'node:module'
import test from 'ava'
import fc from 'fast-check'
import { fasterReader, isoTextOf } from '../../lib/common/instant.js'

const DATES = fc.date({ noInvalidDate: true })
const NEAR = fc.integer({ min: -6_000, max: 2_000_000_000 }).map((seconds) => new Date(seconds * 1000 + 7))

test('the text of a date is what toISOString gives, far from today too', (t) => {
  fc.assert(
    fc.property(fc.oneof(DATES, NEAR), (date) => isoTextOf(date) === date.toISOString()),
    { numRuns: 20_000 },
  )
  for (const time of [0, -1, 1, 86_400_000, -86_400_000, 8.64e15, -8.64e15, -62_167_219_200_001, 253_402_300_800_000]) {
    t.is(isoTextOf(new Date(time)), new Date(time).toISOString())
  }
})

test('more days than are remembered have their texts', (t) => {
  for (let day = 0; day < 5000; day += 1) {
    const date = new Date(day * 86_400_000 + 1)
    t.is(isoTextOf(date), date.toISOString())
  }
})

/** What Sequelize does with what MySQL gives. */
const sequelizes = (text: string): Date => new Date(`${text} +00:00`)

const DIGITS = fc.integer({ min: 0, max: 99 }).map((number) => String(number).padStart(2, '0'))
const TEXTS = fc
  .tuple(
    fc.integer({ min: 0, max: 9999 }),
    DIGITS,
    DIGITS,
    DIGITS,
    DIGITS,
    DIGITS,
    fc.stringMatching(/^(?:\.\d{1,6})?$/),
  )
  .map(([year, month, day, hours, minutes, seconds, rest]) => {
    return `${String(year).padStart(4, '0')}-${month}-${day} ${hours}:${minutes}:${seconds}${rest}`
  })
const REAL = fc.tuple(DATES, fc.integer({ min: 0, max: 7 })).map(([date, places]) =>
  date
    .toISOString()
    .replace('T', ' ')
    .slice(0, 19 + places)
    .replace(/[.Z]+$/, ''),
)

test('a faster reader reads every text as the one that it stands for', (t) => {
  const read = fasterReader(sequelizes, '')
  t.not(read, null)
  fc.assert(
    fc.property(fc.oneof(TEXTS, REAL), (text) => Object.is(Number(read?.(text)), sequelizes(text).getTime())),
    { numRuns: 20_000 },
  )
})

test('a faster reader reads what PostgreSQL writes as its driver does', (t) => {
  const { types } = createRequire(import.meta.url)('pg') as {
    readonly types: { getTypeParser(type: number): (text: string) => unknown }
  }
  const usual = types.getTypeParser(1184)
  const read = fasterReader(usual, '+00')
  t.not(read, null)
  // It leaves out zeros at the end of a fraction.
  const written = REAL.map((text) => `${text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')}+00`)
  fc.assert(
    fc.property(written, (text) => Object.is(Number(read?.(text)), Number(usual(text)))),
    { numRuns: 20_000 },
  )
})

test('a faster reader of texts with an offset leaves other offsets to the one that it stands for', (t) => {
  const asked: string[] = []
  const usual = (text: string): Date => {
    asked.push(text)
    return new Date(`${text.replace(' ', 'T')}:00`)
  }
  const read = fasterReader(usual, '+00')
  asked.length = 0
  t.deepEqual(read?.('2024-05-06 07:08:09.01+00'), new Date('2024-05-06T07:08:09.010Z'))
  t.deepEqual(asked, [])
  const others = [
    '2024-05-06 07:08:09.010+02',
    '2024-02-29 07:08:09+00',
    'infinity',
    '2024-05-06 07:08:09',
    '0044-03-15 12:00:00+00 BC',
  ]
  for (const text of others) read?.(text)
  t.deepEqual(asked, others)
})

test('there is no faster reader for one that answers anything else', (t) => {
  t.is(
    fasterReader((text) => text, ''),
    null,
  )
  t.is(
    fasterReader((text) => sequelizes(text).getTime(), ''),
    null,
  )
  t.is(
    fasterReader((text) => new Date(`${text} +02:00`), ''),
    null,
  )
  t.is(
    fasterReader((text) => new Date(`${text.slice(0, 19)} +00:00`), ''),
    null,
  )
  t.is(
    fasterReader((text) => new (class extends Date {})(sequelizes(text)), ''),
    null,
  )
  t.is(
    fasterReader(() => null, ''),
    null,
  )
})
