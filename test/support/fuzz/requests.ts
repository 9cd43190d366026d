import { below, randomOf } from '../differential/random.js'
import { bulkBody, keysBody, oddBody, recordBody } from './bodies.js'
import { CALLERS, type Caller } from './callers.js'
import { chance, mixed, oneOf, weighted } from './choose.js'
import { commonHeaders, contentEncoding, contentType, tagText } from './headers.js'
import { type Making, makingOf, someKey } from './making.js'
import { mutated, spoilt } from './mutate.js'
import { encoded, listQuery } from './queries.js'
import { type FuzzRequest, type Header, type Parts, sealed } from './request.js'
import type { Seeds } from './rows.js'
import { SERVED, type Table } from './tables.js'
import { oddNumber, oddText, specialName } from './words.js'

/** Those whose tokens hold. */
export const KNOWN = CALLERS.filter(({ standing }) => standing === 'known')
const STRANGERS = CALLERS.filter(({ standing }) => standing !== 'known')

// What one caller asks others ask soon as well, so that whatever is kept of a request is met by other scopes.
const ALIKE = 0.7
const WINDOW = 400
const FORM: Header = ['content-type', 'application/x-www-form-urlencoded']
const SHAPES = 60

/** What all requests of a run have in common. */
export interface Course {
  readonly seed: number
  readonly seeds: Seeds
  /** Whether requests may change anything. */
  readonly writes: boolean
  /** Who asks, strangers aside. */
  readonly callers: readonly Caller[]
}

/** The request of this number: the same for the same seed. */
export function requestAt({ seed, seeds, writes, callers }: Course, index: number): FuzzRequest {
  const own = randomOf(mixed(seed, index))
  const caller = oneOf(own, chance(own, 0.92) ? callers : STRANGERS)
  const shape = Math.floor(index / WINDOW) * SHAPES + below(own, SHAPES)
  const random = chance(own, ALIKE) ? randomOf(mixed(seed ^ 1, shape)) : own
  const making = makingOf(seed, index, random, caller, seeds)
  const table = oneOf(random, SERVED)
  const parts = writes ? anyRequest(making, table) : reading(making, table)
  const spoil = writes && chance(own, 0.02) ? (bytes: Buffer): Buffer => spoilt(own, bytes) : null
  return sealed(index, caller, mutated(own, parts, writes), parts, spoil)
}

function anyRequest(making: Making, table: Table & { path: string }): Parts {
  return weighted(making.random, [
    [11, () => reading(making, table)],
    [9, () => writing(making, table)],
  ])
}

function reading(making: Making, table: Table & { path: string }): Parts {
  const { random } = making
  const { path } = table
  const headers = commonHeaders(making)
  const method = chance(random, 0.06) ? 'HEAD' : 'GET'
  const query = listQuery(making, table)
  return weighted<Parts>(random, [
    [7, () => ({ method, target: `${path}?${query}`, headers, body: null })],
    [1, () => ({ method: 'QUERY', target: path, headers: [...headers, FORM], body: Buffer.from(query) })],
    [2, () => ({ method, target: `${path}/${keyText(making, table)}`, headers, body: null })],
    [0.2, () => ({ method, target: `${path}/${keyText(making, table)}?${query}`, headers, body: null })],
    [
      making.odd(0.6) ? 0.4 : 0,
      () => ({
        method: oneOf(random, ['OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH']),
        target: oddPath(making, table),
        headers,
        body: null,
      }),
    ],
    [making.odd(0.6) ? 0.6 : 0, () => ({ method, target: oddPath(making, table), headers, body: null })],
  ])
}

function writing(making: Making, table: Table & { path: string }): Parts {
  const { random } = making
  const { path, versioned } = table
  const one = (): string => `${path}/${keyText(making, table)}`
  const tags: readonly Header[] = chance(random, versioned ? 0.9 : 0.1) ? [['if-match', tagText(making)]] : []
  const share = random()
  return weighted(random, [
    [5, () => withBody(making, 'PATCH', one(), recordBody(making, table, share * 0.5), tags)],
    [4, () => withBody(making, 'POST', path, recordBody(making, table, share))],
    [1.5, () => withBody(making, 'POST', `${path}/bulk`, bulkBody(making, table))],
    [1, () => withBody(making, 'POST', `${path}/bulk-delete`, keysBody(making, table))],
    [2, () => ({ method: 'DELETE', target: one(), headers: [...commonHeaders(making), ...tags], body: null })],
    [1.5, () => ({ method: 'POST', target: `${one()}/restore`, headers: commonHeaders(making), body: null })],
    [
      0.5,
      () =>
        withBody(making, oneOf(random, ['PUT', 'DELETE', 'GET', 'POST', 'PATCH', 'MERGE']), oddPath(making, table), {}),
    ],
  ])
}

function withBody(making: Making, method: string, target: string, json: unknown, more: readonly Header[] = []): Parts {
  const text = making.odd(0.12) ? oddBody(making) : JSON.stringify(json)
  const { headers, body } = contentEncoding(making, Buffer.from(text))
  const all = [...commonHeaders(making), ...more, ...contentType(making, method === 'PATCH'), ...headers]
  return { method, target, headers: all, body }
}

function keyText(making: Making, table: Table): string {
  const { random } = making
  if (!making.odd(0.3)) return encodeURIComponent(String(someKey(making, table)))
  return weighted(random, [
    [1, () => encodeURIComponent(String(someKey(making, oneOf(random, SERVED))))],
    [0.7, () => encoded(making, oddText(random))],
    [0.5, () => encoded(making, oddNumber(random))],
    [0.5, () => encoded(making, specialName(random))],
  ])
}

function oddPath(making: Making, { path }: Table & { path: string }): string {
  const { random } = making
  const odd = (): string => encoded(making, oddText(random))
  return weighted(random, [
    [
      3,
      () =>
        `${path}/${oneOf(random, ['bulk', 'bulk-delete', 'hub', 'bulk/', '1/restore', '1/', '/', '1//', '../clubs', '%2e%2e', ''])}`,
    ],
    [2, () => `${path}/${odd()}/${oneOf(random, ['restore', 'players', odd()])}`],
    [1, () => path.toUpperCase()],
    [1, () => `/${path}`],
    [1, () => `${path}${odd()}`],
    [1, () => `${path}?${odd()}`],
    [1, () => `http://elsewhere.test${path}`],
  ])
}
