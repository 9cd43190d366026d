// Breaks requests at random: their parts, of which HTTP still sees where each ends, or the bytes as a whole.

import { below } from '../support/differential/random.js'
import { chance, oneOf, type Random, weighted } from './choose.js'
import type { Parts } from './request.js'
import { oddText, specialName } from './words.js'

/** @param writes whether a reading request may become another one */
export function mutated(random: Random, parts: Parts, writes: boolean): Parts {
  let changed = parts
  while (chance(random, 0.12)) changed = mutatedPart(random, changed, writes)
  return changed
}

function mutatedPart(random: Random, parts: Parts, writes: boolean): Parts {
  const { target, headers, body } = parts
  return weighted(random, [
    [6, () => ({ ...parts, target: targetOf(random, target) })],
    [body === null ? 0 : 6, () => ({ ...parts, body: spoilt(random, body ?? Buffer.alloc(0)) })],
    [1, () => ({ ...parts, headers: headersOf(random, headers) })],
    [
      writes ? 0.3 : 0,
      () => ({ ...parts, method: oneOf(random, ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS']) }),
    ],
  ])
}

const PIECES = [
  ...[
    '%',
    '%00',
    '%0a',
    '%0d%0a',
    '%C3%28',
    '%ED%A0%80',
    '%F0%9F%98%80',
    '%25',
    '%2F',
    '%5C',
    '&',
    '=',
    '?',
    '#',
    '[',
    ']',
    '[]=',
  ],
  ...[
    '(',
    ')',
    '((',
    '))',
    ',',
    '|',
    ';',
    '.',
    '..',
    '/',
    '//',
    '\\',
    '!',
    '*',
    '$',
    '^',
    '<',
    '>',
    '>=',
    '==',
    '=in=',
    '/i',
  ],
  ...[
    'null',
    '__proto__',
    'constructor',
    'any.',
    'count',
    'filter=',
    '&filter=id=1',
    '&page=0',
    '&count=true',
    '+',
    "'",
    '"',
    '`',
  ],
]

/** What a request line can hold: printable ASCII without the blank. */
function targetOf(random: Random, target: string): string {
  const [at, to] = range(random, target.length)
  const changed = weighted(random, [
    [3, () => target.slice(0, at) + oneOf(random, PIECES) + target.slice(at)],
    [2, () => target.slice(0, at) + target.slice(to)],
    [1, () => target.slice(0, at) + target.slice(at, to).repeat(2) + target.slice(to)],
    [1, () => target.slice(0, at)],
    [1, () => target.slice(0, at) + String.fromCharCode(0x21 + below(random, 94)) + target.slice(at + 1)],
    [0.3, () => target.replace(/=[^&]*/, (found) => found.repeat(4))],
    [
      0.3,
      () =>
        `${target}${target.includes('?') ? '&' : '?'}${encodeURI(specialName(random).replace(/[\ud800-\udfff]/g, ''))}=1`,
    ],
  ])
  const line = changed.replace(/[^\x21-\x7e]/g, '').slice(0, 12_000)
  return /^(?:\/|https?:)/.test(line) ? line : `/${line}`
}

function headersOf(random: Random, headers: Parts['headers']): Parts['headers'] {
  const at = below(random, headers.length + 1)
  const [name, value] = headers[at] ?? ['accept', '*/*']
  const others = headers.filter((_, index) => index !== at)
  const text = (): string =>
    oddText(random)
      .slice(0, 500)
      .replace(/[^\t\x20-\x7e]/g, '?')
      .trim()
  return weighted(random, [
    [2, () => others],
    [2, () => [...headers, [name, value] as const]],
    [2, () => [...others, [name, value.slice(0, below(random, value.length + 1)).trim()] as const]],
    [2, () => [...others, [name, text()] as const]],
    [1, () => [...others, [name, `${value}, ${value}`] as const]],
  ])
}

/** Bytes flipped, cut off, left out, repeated and put in. */
export function spoilt(random: Random, bytes: Buffer): Buffer {
  const [at, to] = range(random, bytes.length)
  const [before, inside, behind] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)]
  return weighted(random, [
    [3, () => Buffer.concat([before, Buffer.from([below(random, 256)]), bytes.subarray(at + 1)])],
    [2, () => Buffer.concat([before, behind])],
    [2, () => Buffer.concat([before, inside, inside, behind])],
    [1, () => before],
    [1, () => Buffer.concat([before, Buffer.from(oddText(random)), bytes.subarray(at)])],
    [
      1,
      () =>
        Buffer.concat([
          before,
          Buffer.from(oneOf(random, ['"', '{', '}', '[', ']', ',', ':', '\\', '\\u0000', '\r\n', '\r\n\r\n', '\0'])),
          bytes.subarray(at),
        ]),
    ],
    [0.5, () => Buffer.concat([inside, before, behind])],
  ])
}

function range(random: Random, length: number): readonly [at: number, to: number] {
  const at = below(random, length + 1)
  return [at, Math.min(length, at + 1 + below(random, chance(random, 0.8) ? 8 : length + 1))]
}
