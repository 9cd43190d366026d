import type { Response } from 'express'
import { assertResponseSize } from '../../common/responseSize.js'
import { nextTurn } from '../../common/turns.js'
import { isNamed } from '../../parse/match.js'
import { isQuery } from '../../parse/queried.js'
import type { Format } from '../formats.js'
import { isHeavy, jsonPieces } from './jsonPieces.js'
import { isGone, write } from './stream.js'
import { type TagOf, tagBy, tagOfPieces } from './tag.js'

/** By the host's own Express settings. */
export const json: Format = Object.freeze<Format>({
  mediaType: 'application/json',
  kinds: new Set([
    ...(['record', 'records', 'page', 'cursorPage', 'keysetPage', 'count', 'deleted', 'upserted', 'linked'] as const),
    'document',
  ]),
  tagged: true,
  send: (res, { value }, limit) => (isHeavy(value) ? sendHeavy(res, value, limit) : sendLight(res, value, limit)),
})

/**
 * What `res.json` sends, byte for byte and by the host's own settings, without its detours: they cost as much as the rest of
 * the reply. Where anything could make a difference that only Express knows of, it is `res.json` itself.
 */
function sendLight(res: Response, value: unknown, limit: number): void {
  if (!isPlain(res)) {
    // What is light is smaller than other limits.
    if (limit < LIGHT_BYTES) assertResponseSize(Buffer.byteLength(JSON.stringify(value)), limit)
    holdTag(res)
    res.json(value)
    return
  }
  const body = Buffer.from(JSON.stringify(value))
  assertResponseSize(body.length, limit)
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.setHeader('Content-Length', body.length)
  const tagOf: TagOf | undefined = res.app.get('etag fn')
  if (typeof tagOf === 'function' && !res.getHeader('ETag')) {
    const tag = tagBy(tagOf, body)
    if (tag !== null) res.setHeader('ETag', tag)
  }
  res.end(body)
}

const LIGHT_BYTES = 1024 * 1024

/** Characters that are written before others may run. */
const PIECE = 64 * 1024

/** The same of a large answer, in pieces that let others run. Nothing is sent before its size is known. */
async function sendHeavy(res: Response, value: unknown, limit: number): Promise<void> {
  const pieces: Buffer[] = []
  const isOwn = isPlain(res)
  let size = 0
  let text = ''
  const take = (): void => {
    const piece = Buffer.from(text)
    size += piece.length
    assertResponseSize(size, limit)
    if (isOwn) pieces.push(piece)
    text = ''
  }
  for (const each of jsonPieces(value)) {
    text += each
    if (text.length < PIECE) continue
    take()
    await nextTurn()
    if (isGone(res)) return
  }
  take()
  if (!isOwn) {
    holdTag(res)
    res.json(value)
    return
  }
  res.setHeader('Content-Type', 'application/json; charset=utf-8')
  res.setHeader('Content-Length', size)
  const tagOf: TagOf | undefined = res.app.get('etag fn')
  if (typeof tagOf === 'function' && !res.getHeader('ETag')) {
    const tag = await tagOfPieces(tagOf, pieces)
    if (tag !== null) res.setHeader('ETag', tag)
  }
  await write(res, pieces)
  if (!isGone(res)) res.end()
}

/**
 * Has Express hold its tag against `If-None-Match` whatever `Cache-Control` the request has, which is for caches and not for the
 * origin: with `no-cache` it would send the whole body to whoever has it already. Of QUERY, which is as safe as GET, it does
 * not know at all.
 */
function holdTag(res: Response): void {
  const { req } = res
  const { method, headers } = req
  const known = headers['if-none-match']
  const isGet = method === 'GET' || method === 'HEAD'
  if (known === undefined || (isGet ? headers['cache-control'] === undefined : !isQuery(req))) return
  const isFresh = (): boolean => res.statusCode === 200 && isNamed(String(res.getHeader('ETag') ?? ''), known)
  Object.defineProperty(req, 'fresh', { configurable: true, get: isFresh })
}

/** Whether nobody has a say in the reply but the setting `etag`: no other setting, no earlier header, no condition. */
function isPlain(res: Response): boolean {
  const { app, req } = res
  const { method, headers } = req
  return (
    method !== 'HEAD' &&
    ((method !== 'GET' && !isQuery(req)) ||
      (headers['if-none-match'] === undefined && headers['if-modified-since'] === undefined)) &&
    (res.statusCode === 200 || res.statusCode === 201) &&
    isOwn(res.json, 'json spaces') &&
    isOwn(res.send, 'etag fn') &&
    isOwn(res.set, 'Content-Type cannot be set to an Array') &&
    !app.get('json escape') &&
    !app.get('json replacer') &&
    !app.get('json spaces') &&
    !res.hasHeader('Content-Type') &&
    !res.hasHeader('Transfer-Encoding')
  )
}

const known = new WeakMap<object, boolean>()

/** Whether a method is Express' own, of whichever version and copy, and not what a host put in its place. */
function isOwn(method: object, words: string): boolean {
  const answer = known.get(method)
  if (answer !== undefined) return answer
  const found = String(method).includes(words)
  known.set(method, found)
  return found
}
