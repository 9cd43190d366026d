import express, { type Response } from 'express'
import type { Call } from '../../types/call.js'
import { hasTag } from '../parse/match.js'
import { isQueryMethod } from '../parse/queryMethod.js'
import { type CreateTag, type Tagging, WEAK_TAGGING } from './formats/tag.js'
import type { OutgoingResponse } from './outgoing.js'

/** The host's JSON settings: the settings of its Express application, and response methods that the host replaced. */
export interface JsonSettings {
  /** How entity tags are created; null if entity tags are disabled. */
  readonly tagging: Tagging | null
  /** The settings `json replacer`, `json spaces` and `json escape`; null if the application has none of them. */
  readonly style: JsonStyle | null
  /** Sends the value by the host's own method; null if the package itself sends the response. */
  readonly sendByHost: ((value: unknown) => void) | null
  /** Returns whether the client already has the response; null if the request is not conditional. */
  readonly isFresh: (() => boolean) | null
}

export interface JsonStyle {
  readonly replacer: ((this: unknown, key: string, value: unknown) => unknown) | undefined
  readonly spaces: number | string | undefined
  readonly escapes: boolean
}

/** Returns the JSON settings for a call. With `isAlwaysSent` the response is never a 304. */
export type ReadJsonSettings<O> = (call: Call, out: O, isAlwaysSent: boolean) => JsonSettings

/** Returns the settings without an Express application: weak entity tags, compared with `If-None-Match`. */
export const readPlainJsonSettings: ReadJsonSettings<OutgoingResponse> = (call, out, isAlwaysSent) => {
  return {
    tagging: WEAK_TAGGING,
    style: null,
    sendByHost: null,
    isFresh: isAlwaysSent ? null : () => isTagKnown(call, out),
  }
}

/** Returns the settings of an Express application. */
export const readExpressJsonSettings: ReadJsonSettings<Response> = (call, res, isAlwaysSent) => {
  const { app, req } = res
  const tagOf: unknown = app.get('etag fn')
  const [replacer, spaces, escapes] = [app.get('json replacer'), app.get('json spaces'), app.get('json escape')]
  const known = call.headers['if-none-match']
  // Express ignores `If-None-Match` in a request with `Cache-Control: no-cache`, although that directive addresses
  // caches and not the origin. Express also ignores `If-None-Match` for QUERY, which is as safe as GET.
  const checksTag = known !== undefined && (isQueryMethod(call) || call.headers['cache-control'] !== undefined)
  const isFresh = (): boolean => !isAlwaysSent && (checksTag ? isTagKnown(call, res) : req.fresh)
  // Express adds its charset to a content type that the host has set, so the response is sent by Express.
  const isPlain = hasExpressMethods(res) && !res.hasHeader('Content-Type') && !res.hasHeader('Transfer-Encoding')
  const sendJson = (value: unknown): void => {
    if (checksTag || isAlwaysSent) Object.defineProperty(req, 'fresh', { configurable: true, get: isFresh })
    res.json(value)
  }
  return {
    tagging: typeof tagOf === 'function' ? { tagOf: tagOf as CreateTag, isOfHost: tagOf === app.get('etag') } : null,
    style: replacer || spaces || escapes ? { replacer, spaces, escapes: Boolean(escapes) } : null,
    sendByHost: isPlain ? null : sendJson,
    isFresh: isAlwaysSent || (known ?? call.headers['if-modified-since']) === undefined ? null : isFresh,
  }
}

function isTagKnown(call: Call, out: OutgoingResponse): boolean {
  const { method, headers } = call
  const known = headers['if-none-match']
  if (known === undefined || out.statusCode !== 200) return false
  if (method !== 'GET' && method !== 'HEAD' && !isQueryMethod(call)) return false
  return hasTag(String(out.getHeader('ETag') ?? ''), known)
}

/** Whether a response has Express' original methods. Methods of another copy of Express count as replaced. */
function hasExpressMethods({ json, send, set }: Response): boolean {
  const { response } = express
  return json === response.json && send === response.send && set === response.set
}
