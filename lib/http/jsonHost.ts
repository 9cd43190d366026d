import express, { type Response } from 'express'
import type { Call } from '../../types/call.js'
import { isNamed } from '../parse/match.js'
import { isQuery } from '../parse/queried.js'
import { type Tagging, type TagOf, WEAK } from './formats/tag.js'
import type { Outgoing } from './outgoing.js'

/** The host's JSON settings: settings of its Express application, and replaced response methods. */
export interface JsonHost {
  /** Null if entity tags are disabled. */
  readonly tagging: Tagging | null
  /** The settings `json replacer`, `json spaces` and `json escape`; null if the application has none of them. */
  readonly style: JsonStyle | null
  /** Sends through the host's own method. Null if the package sends. */
  readonly instead: ((value: unknown) => void) | null
  /** Whether the client already has the response. Null if the request is not conditional. */
  readonly isFresh: (() => boolean) | null
}

export interface JsonStyle {
  readonly replacer: ((this: unknown, key: string, value: unknown) => unknown) | undefined
  readonly spaces: number | string | undefined
  readonly escapes: boolean
}

/** Returns the JSON settings for a call. `isAlwaysSent` never answers 304. */
export type JsonHostOf<O> = (call: Call, out: O, isAlwaysSent: boolean) => JsonHost

/** JSON without an Express application: weak entity tags, compared with `If-None-Match`. */
export const plainJson: JsonHostOf<Outgoing> = (call, out, isAlwaysSent) => {
  return { tagging: WEAK, style: null, instead: null, isFresh: isAlwaysSent ? null : () => isKnown(call, out) }
}

/** JSON by the settings of an Express application. */
export const expressJson: JsonHostOf<Response> = (call, res, isAlwaysSent) => {
  const { app, req } = res
  const tagOf: unknown = app.get('etag fn')
  const [replacer, spaces, escapes] = [app.get('json replacer'), app.get('json spaces'), app.get('json escape')]
  const known = call.headers['if-none-match']
  // Express ignores `If-None-Match` if the request has `Cache-Control: no-cache`, which addresses caches and not the origin. It also
  // ignores QUERY, although QUERY is as safe as GET.
  const isHeld = known !== undefined && (isQuery(call) || call.headers['cache-control'] !== undefined)
  const isFresh = (): boolean => !isAlwaysSent && (isHeld ? isKnown(call, res) : req.fresh)
  // If the host has set a content type, Express adds its charset.
  const isPlain = isOwn(res) && !res.hasHeader('Content-Type') && !res.hasHeader('Transfer-Encoding')
  const instead = (value: unknown): void => {
    if (isHeld || isAlwaysSent) Object.defineProperty(req, 'fresh', { configurable: true, get: isFresh })
    res.json(value)
  }
  return {
    tagging: typeof tagOf === 'function' ? { tagOf: tagOf as TagOf, isOfHost: tagOf === app.get('etag') } : null,
    style: replacer || spaces || escapes ? { replacer, spaces, escapes: Boolean(escapes) } : null,
    instead: isPlain ? null : instead,
    isFresh: isAlwaysSent || (known ?? call.headers['if-modified-since']) === undefined ? null : isFresh,
  }
}

function isKnown(call: Call, out: Outgoing): boolean {
  const { method, headers } = call
  const known = headers['if-none-match']
  if (known === undefined || out.statusCode !== 200) return false
  if (method !== 'GET' && method !== 'HEAD' && !isQuery(call)) return false
  return isNamed(String(out.getHeader('ETag') ?? ''), known)
}

/** Whether a response uses Express' original methods. Methods of another copy of Express count as replaced. */
function isOwn({ json, send, set }: Response): boolean {
  const { response } = express
  return json === response.json && send === response.send && set === response.set
}
