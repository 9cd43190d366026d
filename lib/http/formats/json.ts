import { assertResponseSize } from '../../common/responseSize.js'
import { nextTurn } from '../../common/turns.js'
import type { Format, Sending } from '../formats.js'
import type { JsonStyle } from '../jsonHost.js'
import type { Outgoing } from '../outgoing.js'
import { isHeavy, jsonPieces } from './jsonPieces.js'
import { isGone, write } from './stream.js'
import { tagBy, tagOfPieces } from './tag.js'

/** Writes the same bytes as `res.json`, with the host application's settings. */
export const json: Format = Object.freeze<Format>({
  mediaType: 'application/json',
  kinds: new Set([
    ...([
      'record',
      'records',
      'page',
      'cursorPage',
      'keysetPage',
      'count',
      'deleted',
      'upserted',
      'linked',
      'items',
    ] as const),
    'document',
  ]),
  tagged: true,
  send: (out, { value }, sending) => (isHeavy(value) ? sendHeavy(out, value, sending) : sendLight(out, value, sending)),
})

function sendLight(out: Outgoing, value: unknown, { call, json: host, limit }: Sending): void {
  const { style, instead } = host
  // The limit only matters for smaller values: a value that is not heavy never exceeds LIGHT_BYTES.
  if ((style !== null || instead !== null) && limit < LIGHT_BYTES) {
    assertResponseSize(Buffer.byteLength(JSON.stringify(value)), limit)
  }
  if (instead !== null) {
    instead(value)
    return
  }
  const text = style === null ? JSON.stringify(value) : textOf(value, style)
  const body = Buffer.from(text)
  if (style === null) assertResponseSize(body.length, limit)
  if (begins(out, body.length)) {
    const tag = host.tagging === null ? null : tagBy(host.tagging, body)
    if (tag !== null) out.setHeader('ETag', tag)
  }
  if (host.isFresh !== null && isOver(out, host.isFresh)) return
  if (call.method === 'HEAD') out.end()
  // Node joins text in the encoding of the headers with these, and sends both at once.
  else if (body.length === text.length) out.end(text, 'latin1')
  else out.end(body)
}

const LIGHT_BYTES = 1024 * 1024

/** Characters that are written before the event loop runs other work. */
const PIECE = 64 * 1024

/** Writes a large response in pieces, so that other work runs in between. Sending starts when the size is known. */
async function sendHeavy(out: Outgoing, value: unknown, { call, json: host, limit }: Sending): Promise<void> {
  const { style, instead } = host
  const isKept = style === null && instead === null
  let pieces: Buffer[] = []
  let size = 0
  let text = ''
  const take = (): void => {
    const piece = Buffer.from(text)
    size += piece.length
    assertResponseSize(size, limit)
    if (isKept) pieces.push(piece)
    text = ''
  }
  for (const each of jsonPieces(value)) {
    text += each
    if (text.length < PIECE) continue
    take()
    await nextTurn()
    if (isGone(out)) return
  }
  take()
  if (instead !== null) {
    instead(value)
    return
  }
  if (style !== null) {
    pieces = [Buffer.from(textOf(value, style))]
    size = pieces[0]?.length ?? 0
  }
  if (begins(out, size)) {
    const tag = host.tagging === null ? null : await tagOfPieces(host.tagging, pieces)
    if (tag !== null) out.setHeader('ETag', tag)
  }
  if (host.isFresh !== null && isOver(out, host.isFresh)) return
  if (call.method !== 'HEAD') await write(out, pieces)
  if (!isGone(out)) out.end()
}

function textOf(value: unknown, style: JsonStyle): string {
  const text = JSON.stringify(value, style.replacer, style.spaces)
  return style.escapes ? text.replace(/[<>&]/g, (sign) => ESCAPED[sign] ?? sign) : text
}

const ESCAPED: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' }

/** Sets the content headers. Returns true if the response has no entity tag yet. */
function begins(out: Outgoing, size: number): boolean {
  out.setHeader('Content-Type', 'application/json; charset=utf-8')
  out.setHeader('Content-Length', size)
  return !out.getHeader('ETag')
}

/** Ends the response with 304 if the client has this version. Returns whether it did. */
function isOver(out: Outgoing, isFresh: () => boolean): boolean {
  if (!isFresh()) return false
  out.statusCode = 304
  for (const name of ['Content-Type', 'Content-Length']) out.removeHeader(name)
  out.end()
  return true
}
