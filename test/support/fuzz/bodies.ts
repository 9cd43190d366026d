import { chance, oneOf, several, weighted } from './choose.js'
import { type Making, someKey } from './making.js'
import { type Column, SERVED, type Table } from './tables.js'
import { bodyValue } from './values.js'
import { oddText, specialName } from './words.js'

/** A record for POST; `share` is how many of the optional properties it has. */
export function recordBody(making: Making, table: Table, share: number): Record<string, unknown> {
  const { random } = making
  const pairs: [name: string, value: unknown][] = []
  const wants = ({ written, nullable, read, write }: Column): boolean =>
    written && (nullable || read !== null || write !== null ? chance(random, share) : chance(random, 0.95))
  const key = table.key.written ? [table.key] : []
  for (const column of [...key, ...table.columns]) {
    if (wants(column)) pairs.push([column.name, bodyValue(making, column)])
  }
  if (making.odd(0.3)) pairs.push([specialName(random), sly(making)])
  return fromPairs(pairs)
}

/** Also `__proto__` becomes a property of its own, as in the JSON of a client. */
function fromPairs(pairs: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  for (const [name, value] of pairs) {
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return record
}

/** What somebody would send to become what they are not. */
function sly(making: Making): unknown {
  const { random } = making
  return weighted<unknown>(random, [
    [3, () => oneOf<unknown>(random, [1, 2, null, 'anna', 'bert', true, '2020-01-01T00:00:00Z', 99])],
    [1, () => ({ tenantId: 2, isAdmin: true })],
    [1, () => making.text()],
    [1, () => oddText(random)],
  ])
}

export function bulkBody(making: Making, table: Table): unknown {
  const { random } = making
  const most = making.odd(0.04) ? 40 : 4
  return several(random, 0, most, () => recordBody(making, table, 0.3))
}

export function keysBody(making: Making, table: Table): unknown {
  const { random } = making
  return several(random, 0, making.odd(0.04) ? 40 : 4, () =>
    weighted<unknown>(random, [
      [8, () => someKey(making, table)],
      [2, () => String(someKey(making, table))],
      [1, () => someKey(making, oneOf(random, SERVED))],
      [1, () => oneOf<unknown>(random, [null, {}, [], true, 1.5, -1, '', '*', { $ne: 0 }, [1], 1e21])],
      [1, () => oddText(random)],
    ]),
  )
}

const NOT_JSON = [
  '',
  '{',
  '[',
  '{}}',
  'null',
  '5',
  '"text"',
  'true',
  '[]',
  '{}',
  '{"a":}',
  '\u0000',
  '{"name":"\\ud800"}',
  '{"name":"a\\u0000b"}',
]

/** A body that is none of those that the routes take. */
export function oddBody({ random }: Making): string {
  return weighted(random, [
    [6, () => oneOf(random, NOT_JSON)],
    [1, () => '['.repeat(1 + Math.floor(random() * 20_000))],
    [1, () => `{"name":${'['.repeat(5000)}1${']'.repeat(5000)}}`],
    [1, () => `{"name":"${'x'.repeat(Math.floor(random() * 80_000))}"}`],
    [1, () => `{${several(random, 1, 200, () => '"name":"twice"').join(',')}}`],
    [1, () => `{"level":${'9'.repeat(Math.floor(random() * 5000))}}`],
    [1, () => JSON.stringify(oddText(random))],
  ])
}
