import express, { type Response } from 'express'
import type { Call } from '../../types/call.js'
import { isNamed } from '../parse/match.js'
import { isQuery } from '../parse/queried.js'
import { type Tagging, type TagOf, WEAK } from './formats/tag.js'
import type { Outgoing } from './outgoing.js'

/** How the host wants JSON: the settings of its application, and what it has put in the place of Express' own methods. */
export interface JsonHost {
  /** Null for no entity tags. */
  readonly tagging: Tagging | null
  /** The settings `json replacer`, `json spaces` and `json escape`; null if the application has none of them. */
  readonly style: JsonStyle | null
  /** What sends in the package's place; null where nothing does. */
  readonly instead: ((value: unknown) => void) | null
  /** Whether the client has what is about to be sent; null where it has not asked. */
  readonly isFresh: (() => boolean) | null
}

export interface JsonStyle {
  readonly replacer: ((this: unknown, key: string, value: unknown) => unknown) | undefined
  readonly spaces: number | string | undefined
  readonly escapes: boolean
}

/** How JSON is sent in the answer to a call. `isAlwaysSent`: even to a client who has it by its tag. */
export type JsonHostOf<O> = (call: Call, out: O, isAlwaysSent: boolean) => JsonHost

/** Where there are no settings: weak tags, held against `If-None-Match`. */
export const plainJson: JsonHostOf<Outgoing> = (call, out, isAlwaysSent) => {
  return { tagging: WEAK, style: null, instead: null, isFresh: isAlwaysSent ? null : () => isKnown(call, out) }
}

/** By the settings of an Express application. */
export const expressJson: JsonHostOf<Response> = (call, res, isAlwaysSent) => {
  const { app, req } = res
  const tagOf: unknown = app.get('etag fn')
  const [replacer, spaces, escapes] = [app.get('json replacer'), app.get('json spaces'), app.get('json escape')]
  const known = call.headers['if-none-match']
  // Express would send the whole body to whoever has it already where the request has `Cache-Control: no-cache`, which is for caches
  // and not for the origin. Of QUERY, which is as safe as GET, it does not know at all.
  const isHeld = known !== undefined && (isQuery(call) || call.headers['cache-control'] !== undefined)
  const isFresh = (): boolean => !isAlwaysSent && (isHeld ? isKnown(call, res) : req.fresh)
  // Express adds its charset to a content type of the host's.
  const isPlain = isOwn(res) && !res.hasHeader('Content-Type') && !res.hasHeader('Transfer-Encoding')
  const instead = (value: unknown): void => {
    if (isHeld || isAlwaysSent) Object.defineProperty(req, 'fresh', { configurable: true, get: isFresh })
    res.json(value)
  }
  return {
    tagging: isTagOf(tagOf) ? { tagOf, isOfHost: tagOf === app.get('etag') } : null,
    style: replacer || spaces || escapes ? { replacer, spaces, escapes: Boolean(escapes) } : null,
    instead: isPlain ? null : instead,
    isFresh: isAlwaysSent || (known ?? call.headers['if-modified-since']) === undefined ? null : isFresh,
  }
}

function isTagOf(setting: unknown): setting is TagOf {
  return typeof setting === 'function'
}

function isKnown(call: Call, out: Outgoing): boolean {
  const { method, headers } = call
  const known = headers['if-none-match']
  if (known === undefined || out.statusCode !== 200) return false
  if (method !== 'GET' && method !== 'HEAD' && !isQuery(call)) return false
  return isNamed(String(out.getHeader('ETag') ?? ''), known)
}

/** Whether a response sends by Express' own methods. Those of another copy of Express are called. */
function isOwn({ json, send, set }: Response): boolean {
  const { response } = express
  return json === response.json && send === response.send && set === response.set
}
