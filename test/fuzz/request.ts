import { brotliDecompressSync, unzipSync } from 'node:zlib'
import { ANONYMOUS, type Caller } from './callers.js'
import { canariesIn } from './canaries.js'

export type Header = readonly [name: string, value: string]

/** A request before it is bytes. */
export interface Parts {
  /** What it was made as, for the table of the report. */
  readonly kind: string
  readonly method: string
  /** Path and query, encoded. */
  readonly target: string
  readonly headers: readonly Header[]
  readonly body: Buffer | null
}

export interface FuzzRequest extends Parts {
  readonly index: number
  readonly caller: Caller
  /** Who the application may take the sender for: the token may have come to harm. */
  readonly taken: readonly Caller[]
  /** The whole request as it goes out. */
  readonly bytes: Buffer
  /** Whether these are no longer what HTTP calls a request: where it ends, and whether it is answered, is open. */
  readonly broken: boolean
  /** What of its own words an answer may repeat. */
  readonly canaries: ReadonlySet<string>
}

/**
 * A request as it is sent.
 *
 * @param meant what it was before it was broken: an answer may repeat those words too
 * @param spoil breaks the bytes as a whole, if they are to be broken
 */
export function sealed(
  index: number,
  caller: Caller,
  parts: Parts,
  meant: Parts = parts,
  spoil: ((bytes: Buffer) => Buffer) | null = null,
): FuzzRequest {
  const whole = bytesOf(parts)
  const broken = spoil !== null
  return {
    ...parts,
    index,
    caller,
    taken: !broken && isSignedBy(caller, parts) ? [caller] : [caller, ANONYMOUS],
    bytes: broken ? Buffer.from(spoil(whole)) : whole,
    broken,
    canaries: new Set([...saidIn(parts), ...saidIn(meant)]),
  }
}

function isSignedBy({ headers }: Caller, { headers: sent }: Parts): boolean {
  const tokens = sent.filter(([name]) => name === 'authorization').map(([, value]) => value)
  return tokens.every((token) => token === headers.authorization) && tokens.length === Object.keys(headers).length
}

function saidIn(parts: Parts): ReadonlySet<string> {
  return canariesIn([...parts.headers.flat(), wordsOf(parts)].join('\n'))
}

/** What a client says, as it is sent and decoded: a form has queries in its body, encoded as in a target. */
export function wordsOf({ target, headers, body }: Parts): string {
  const isEncoded = body !== null && headers.some(([name]) => name === 'content-encoding')
  const text = [body ?? '', isEncoded ? unpacked(body) : ''].map((each) => each.toString('latin1')).join('\n')
  return [target, decoded(target), text, decoded(text)].join('\n')
}

/** What a body is before it is made smaller; nothing where it is none that was, or more than bodies may be. */
function unpacked(body: Buffer): Buffer {
  for (const unpack of [unzipSync, brotliDecompressSync]) {
    try {
      return unpack(body, { maxOutputLength: MOST })
    } catch {
      // It may be packed in the other way.
    }
  }
  return Buffer.alloc(0)
}

const MOST = 2 ** 18

/** Undoes percent-encoding as far as it holds, a byte at a time. */
export function decoded(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
}

function bytesOf({ method, target, headers, body }: Parts): Buffer {
  const all = [['host', 'fuzz.test'] as const, ...headers]
  const length = body === null ? [] : [['content-length', String(body.length)] as const]
  const head = [...all, ...length].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${head}\r\n`, 'latin1'), body ?? Buffer.alloc(0)])
}
