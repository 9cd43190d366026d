import { yieldToEventLoop } from '../../common/eventLoop.js'
import { assertResponseSize } from '../../common/responseSize.js'
import type { Format, SendContext } from '../formats.js'
import type { JsonStyle } from '../jsonHost.js'
import type { OutgoingResponse } from '../outgoing.js'
import { isLarge, stringifyInPieces } from './jsonPieces.js'
import { createWriter, isDestroyed } from './stream.js'
import { createTag, createTagOfPieces } from './tag.js'

/** The JSON format. It writes the bytes that `res.json` would write with the settings of the host's application. */
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
  hasEntityTag: true,
  send: (out, { value }, sending) =>
    isLarge(value) ? sendInPieces(out, value, sending) : sendWhole(out, value, sending),
})

function sendWhole(out: OutgoingResponse, value: unknown, { call, json: host, limit }: SendContext): void {
  const { style, sendByHost } = host
  // Only a limit below MAX_WHOLE_BYTES can be exceeded here, because larger values are sent in pieces.
  if ((style !== null || sendByHost !== null) && limit < MAX_WHOLE_BYTES) {
    assertResponseSize(Buffer.byteLength(JSON.stringify(value)), limit)
  }
  if (sendByHost !== null) {
    sendByHost(value)
    return
  }
  const body = Buffer.from(style === null ? JSON.stringify(value) : stringifyWithStyle(value, style))
  if (style === null) assertResponseSize(body.length, limit)
  if (hasNoTagYet(out, body.length)) {
    const tag = host.tagging === null ? null : createTag(host.tagging, body)
    if (tag !== null) out.setHeader('ETag', tag)
  }
  if (host.isFresh === null || !isEndedUnmodified(out, host.isFresh)) out.end(call.method === 'HEAD' ? undefined : body)
}

const MAX_WHOLE_BYTES = 1024 * 1024

/** The number of characters that are written before the event loop runs other work. */
const PIECE_LENGTH = 64 * 1024

/** Writes a large response in pieces, so that other work runs in between. Sending starts when the size is known. */
async function sendInPieces(
  out: OutgoingResponse,
  value: unknown,
  { call, json: host, limit }: SendContext,
): Promise<void> {
  const { style, sendByHost } = host
  const isPlain = style === null && sendByHost === null
  let pieces: Buffer[] = []
  let size = 0
  let text = ''
  const takePiece = (): void => {
    const piece = Buffer.from(text)
    size += piece.length
    assertResponseSize(size, limit)
    if (isPlain) pieces.push(piece)
    text = ''
  }
  for (const each of stringifyInPieces(value)) {
    text += each
    if (text.length < PIECE_LENGTH) continue
    takePiece()
    await yieldToEventLoop()
    if (isDestroyed(out)) return
  }
  takePiece()
  if (sendByHost !== null) {
    sendByHost(value)
    return
  }
  if (style !== null) {
    pieces = [Buffer.from(stringifyWithStyle(value, style))]
    size = pieces[0]?.length ?? 0
  }
  if (hasNoTagYet(out, size)) {
    const tag = host.tagging === null ? null : await createTagOfPieces(host.tagging, pieces)
    if (tag !== null) out.setHeader('ETag', tag)
  }
  if (host.isFresh !== null && isEndedUnmodified(out, host.isFresh)) return
  if (call.method !== 'HEAD') {
    const write = createWriter(out)
    for (const piece of pieces) await write(piece)
  }
  if (!isDestroyed(out)) out.end()
}

function stringifyWithStyle(value: unknown, style: JsonStyle): string {
  const text = JSON.stringify(value, style.replacer, style.spaces)
  return style.escapes ? text.replace(/[<>&]/g, (sign) => HTML_ESCAPES[sign] ?? sign) : text
}

const HTML_ESCAPES: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' }

/** Sets the content headers. Returns true if the response has no entity tag yet. */
function hasNoTagYet(out: OutgoingResponse, size: number): boolean {
  out.setHeader('Content-Type', 'application/json; charset=utf-8')
  out.setHeader('Content-Length', size)
  return !out.getHeader('ETag')
}

/** Ends the response with 304 if the client has this version. Returns whether the response was ended. */
function isEndedUnmodified(out: OutgoingResponse, isFresh: () => boolean): boolean {
  if (!isFresh()) return false
  out.statusCode = 304
  for (const name of ['Content-Type', 'Content-Length']) out.removeHeader(name)
  out.end()
  return true
}
