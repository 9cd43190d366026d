import { chance, oneOf, several, weighted } from './choose.js'
import { type Making, someKey } from './making.js'
import { type Column, SERVED, type Table, tableNamed } from './tables.js'
import { bodyValue } from './values.js'
import { oddText, specialName } from './words.js'

const SHALLOW = 1

/**
 * A record for POST or, with another `aim`, changes of one; `share` is how many of the optional properties it has.
 *
 * @param left the columns that it has nothing of
 */
export function recordBody(
  making: Making,
  table: Table,
  share: number,
  aim: 'create' | 'update' = 'create',
  left: readonly (string | null)[] = [],
  depth = 0,
): Record<string, unknown> {
  const { random } = making
  const pairs: [name: string, value: unknown][] = []
  const isOptional = ({ nullable, read, write }: Column): boolean =>
    aim === 'update' || nullable || read !== null || write !== null
  const wants = (column: Column): boolean => column.written && chance(random, isOptional(column) ? share : 0.97)
  const key = table.key.written && aim === 'create' ? [table.key] : []
  for (const column of [...key, ...table.columns]) {
    if (wants(column) && !left.includes(column.name)) pairs.push([column.name, bodyValue(making, column)])
  }
  if (depth <= SHALLOW && chance(random, 0.2)) pairs.push(...held(making, table, aim, depth))
  if (making.odd(0.3)) pairs.push([specialName(random), sly(making)])
  return fromPairs(pairs)
}

/** Records of a relation, or the keys of those linked. */
function held(making: Making, table: Table, aim: 'create' | 'update', depth: number): [name: string, value: unknown][] {
  const { random } = making
  const open = table.relations.filter(({ write }) => write || making.odd(0.05))
  if (open.length === 0) return []
  const { name, to, many, by, linked } = oneOf(random, open)
  const target = tableNamed(to)
  if (making.odd(0.1)) return [[name, oneOf<unknown>(random, [null, {}, [null], 'x', 5, [[]], [{}], { id: 1 }])]]
  if (linked) return [[name, several(random, 0, 3, () => someKey(making, target))]]
  const element = (): unknown => {
    if (aim === 'create' || chance(random, 0.4)) return recordBody(making, target, 0.3, 'create', [by], depth + 1)
    const id = someKey(making, target)
    const version = target.versioned && chance(random, 0.9) ? { rowVersion: Math.floor(random() * 2) } : {}
    if (chance(random, 0.3)) return { id }
    return { ...recordBody(making, target, 0.2, 'update', [by], depth + 1), id, ...version }
  }
  if (many) return [[name, several(random, 0, 3, element)]]
  return [[name, chance(random, 0.1) && aim === 'update' ? null : element()]]
}

/** Changes of several records, each with its key and, where there are versions, one that may have passed. */
export function changesBody(making: Making, table: Table): readonly unknown[] {
  const { random } = making
  const changes = new Map<unknown, unknown>()
  for (const id of several(random, making.odd(0.2) ? 0 : 1, making.odd(0.04) ? 40 : 3, () => someKey(making, table))) {
    const version = table.versioned
      ? { rowVersion: making.odd(0.1) ? bodyValue(making, table.key) : Math.floor(random() * 1.3) }
      : {}
    const change = { ...recordBody(making, table, 0.25, 'update'), ...(making.odd(0.05) ? {} : { id }), ...version }
    changes.set(making.odd(0.1) ? change : id, change)
  }
  return [...changes.values()]
}

/** Records by a natural key, of which some are there already. */
export function upsertBody(making: Making, table: Table, by: string): readonly unknown[] {
  const { random, seeds } = making
  const items = several(random, 0, making.odd(0.04) ? 40 : 3, () => {
    const record = recordBody(making, table, 0.3)
    const stored = oneOf(random, seeds[table.name]).values[by]
    const version = table.versioned ? { rowVersion: 0 } : {}
    return chance(random, 0.5) ? { ...record, [by]: stored, ...version } : record
  })
  return making.odd(0.1) ? items : items.map((item) => ({ [by]: `${making.text()}@test.pl`, ...item }))
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

export function bulkBody(making: Making, table: Table): readonly unknown[] {
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
      [making.odd(0.5) ? 1 : 0, () => someKey(making, oneOf(random, SERVED))],
      [
        making.odd(0.5) ? 1 : 0,
        () => oneOf<unknown>(random, [null, {}, [], true, 1.5, -1, '', '*', { $ne: 0 }, [1], 1e21]),
      ],
      [making.odd(0.5) ? 1 : 0, () => oddText(random)],
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
