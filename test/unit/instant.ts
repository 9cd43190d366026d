import test from 'ava'
import fc from 'fast-check'
import { createDecoder } from '../../lib/codec/codecs.js'
import { formatIsoDate } from '../../lib/common/instant.js'
import { typeParsersOf } from '../../lib/sequelize/valueParsers.js'

const DATES = fc.date({ noInvalidDate: true })
const NEAR = fc.integer({ min: -6_000, max: 2_000_000_000 }).map((seconds) => new Date(seconds * 1000 + 7))

test('the text of a date is what toISOString gives, far from today too', (t) => {
  fc.assert(
    fc.property(fc.oneof(DATES, NEAR), (date) => formatIsoDate(date) === date.toISOString()),
    { numRuns: 20_000 },
  )
  for (const time of [0, -1, 1, 86_400_000, -86_400_000, 8.64e15, -8.64e15, -62_167_219_200_001, 253_402_300_800_000]) {
    t.is(formatIsoDate(new Date(time)), new Date(time).toISOString())
  }
})

test('more days than are remembered have their texts', (t) => {
  for (let day = 0; day < 5000; day += 1) {
    const date = new Date(day * 86_400_000 + 1)
    t.is(formatIsoDate(date), date.toISOString())
  }
})

test('instants of PostgreSQL are read whatever their year, offset and digits', (t) => {
  const parsers = typeParsersOf({ getTypeParser: () => () => t.fail() })
  const decode = createDecoder({ type: 'datetime' })
  for (const [text, instant] of [
    ['2024-02-29 23:59:59.999999+00', '2024-02-29T23:59:59.999Z'],
    ['2024-05-06 07:08:09.1+05:30', '2024-05-06T01:38:09.100Z'],
    ['2024-05-06 07:08:09+02', '2024-05-06T05:08:09.000Z'],
    ['1890-01-01 00:00:00-00:01:15', '1890-01-01T00:01:15.000Z'],
    ['0044-03-15 12:00:00+00 BC', '-000043-03-15T12:00:00.000Z'],
    ['12024-01-02 03:04:05+00', '+012024-01-02T03:04:05.000Z'],
    ['infinity', null],
    ['-infinity', null],
  ] as const) {
    t.is(decode(parsers?.getTypeParser(1184)(text)), instant, text)
  }
})

test('instants in UTC are read whatever the number of their digits, and with or without a blank', (t) => {
  const decode = createDecoder({ type: 'datetime' })
  for (const digits of ['', '1', '12', '123', '1234', '12345', '123456']) {
    const fraction = digits === '' ? '' : `.${digits}`
    for (const offset of ['+00', ' +00', '+00:00', ' +00:00']) {
      const text = `2024-05-06 07:08:09${fraction}${offset}`
      t.is(decode(text), `2024-05-06T07:08:09.${digits.slice(0, 3).padEnd(3, '0')}Z`, text)
    }
  }
})
