import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { chance, oneOf, several, weighted } from './choose.js'
import type { Making } from './making.js'
import type { Header } from './request.js'
import { oddText } from './words.js'

export function tagText(making: Making): string {
  const { random } = making
  const tag = (): string =>
    oneOf(random, [
      'W/"0"',
      '"0"',
      '0',
      'W/"1"',
      'W/1',
      '"2"',
      '*',
      'W/"99"',
      '""',
      'W/',
      'W/"-1"',
      'w/"0"',
      '"a,b"',
      'W/"1e1"',
    ])
  if (!making.odd(1)) return oneOf(random, ['*', '*', '*', '*', 'W/"0"', '"0", W/"1"'])
  return weighted(random, [
    [6, tag],
    [2, () => several(random, 2, 4, tag).join(', ')],
    [0.3, () => several(random, 45, 60, tag).join(',')],
    [0.5, () => headerText(oddText(random))],
  ])
}

/** What may stand in a header at all: the rest is for mutations of the bytes. */
export function headerText(text: string): string {
  return text
    .slice(0, 2000)
    .replace(/[^\t\x20-\xff]/g, '?')
    .trim()
}

const PREFER = [
  'handling=strict',
  'handling=lenient',
  'return=minimal',
  'handling="strict"',
  'handling',
  'x=y, handling=lenient',
  ';;,',
]
const ACCEPT = [
  '*/*',
  'application/json',
  'text/html',
  'application/xml;q=0.9',
  'application/problem+json',
  '',
  'x',
  'text/csv',
]

/** Headers that any request may have. */
export function commonHeaders(making: Making): Header[] {
  const { random, caller } = making
  const headers: Header[] = Object.entries(caller.headers)
  const add = (share: number, name: string, value: () => string): void => {
    if (chance(random, share)) headers.push([name, value()])
  }
  add(0.1, 'accept', () => oneOf(random, ACCEPT))
  add(0.12, 'prefer', () => oneOf(random, PREFER))
  add(0.08, 'if-none-match', () => tagText(making))
  add(0.02, 'if-match', () => tagText(making))
  add(0.02, 'x-http-method-override', () => oneOf(random, ['DELETE', 'PATCH', 'GET']))
  add(0.02, 'x-forwarded-for', () => headerText(oddText(random)))
  add(0.02, 'range', () => 'bytes=0-10')
  add(0.02, 'if-modified-since', () => 'Thu, 01 Jan 2099 00:00:00 GMT')
  add(0.02, 'accept-encoding', () => 'gzip, br')
  add(making.odd(0.5) ? 0.05 : 0, 'authorization', () =>
    oneOf(random, ['Basic cm9vdDpyb290', 'Bearer', 'Bearer  ', 'bearer x', 'Negotiate']),
  )
  add(0.01, 'cookie', () => 'token=root; tenantId=2')
  return headers
}

/** The key under which a write is done once: the same for requests that are alike. */
export function onceHeader({ random, odd, caller }: Making): Header[] {
  if (!chance(random, 0.2)) return []
  const key = `${caller.name}-${Math.floor(random() * 2 ** 20).toString(36)}`
  const text = odd(0.1) ? headerText(oddText(random)) : oneOf(random, [`"${key}"`, key])
  return [['idempotency-key', text]]
}

const TYPES = [
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonl',
  ],
  ...[
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json;charset=x',
    'json',
    '',
    '*/*',
  ],
  ...['application/problem+json', 'APPLICATION/JSON', 'application/json, text/plain', 'application/json;;;'],
]

export function contentType({ random, odd }: Making, isPatch: boolean): Header[] {
  if (odd(0.05)) return []
  if (odd(0.1)) return [['content-type', oneOf(random, TYPES)]]
  return [['content-type', isPatch && chance(random, 0.5) ? 'application/merge-patch+json' : 'application/json']]
}

const ENCODINGS: readonly (readonly [name: string, encode: (body: Buffer) => Buffer])[] = [
  ['gzip', (body) => gzipSync(body)],
  ['deflate', (body) => deflateSync(body)],
  ['br', (body) => brotliCompressSync(body)],
  ['identity', (body) => body],
]

/** A body as it goes over the wire, mostly as it is. */
export function contentEncoding(
  { random, odd }: Making,
  body: Buffer,
): { readonly headers: Header[]; readonly body: Buffer } {
  if (!odd(0.12)) return { headers: [], body }
  const [name, encode] = oneOf(random, ENCODINGS)
  return weighted(random, [
    [4, () => ({ headers: [['content-encoding', name]], body: encode(body) })],
    [2, () => ({ headers: [['content-encoding', name]], body })],
    [1, () => ({ headers: [['content-encoding', name]], body: encode(body).subarray(0, -3) })],
    [1, () => ({ headers: [['content-encoding', 'gzip']], body: gzipSync(Buffer.alloc(3_000_000, 'a')) })],
    [1, () => ({ headers: [['content-encoding', oneOf(random, ['zstd', 'x', 'gzip, gzip', '', 'GZIP'])]], body })],
  ])
}
