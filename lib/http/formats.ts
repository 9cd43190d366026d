import type { Request, Response } from 'express'
import type { Content } from '../../types/reply.js'
import { urlOf } from '../parse/queried.js'
import { csv } from './formats/csv.js'
import { json } from './formats/json.js'
import { jsonl, ndjson } from './formats/jsonl.js'

/** What a reply says where it says anything. */
export type Said = Exclude<Content, { kind: 'nothing' }>

/** A way to write replies. */
export interface Format {
  /** What `format` calls it, where an export can be asked for in it so. */
  readonly name?: string
  /** What the client has to accept. */
  readonly mediaType: string
  /** The kinds of replies that it can write. */
  readonly kinds: ReadonlySet<Said['kind']>
  /** Whether it is sent by Express as a whole, which then adds an entity tag. */
  readonly tagged: boolean
  /** Headers that a reply of this format has, known before its first byte. @throws Problem for a reply that it cannot write */
  readonly headers?: (content: Said) => Readonly<Record<string, string>>
  /**
   * Writes it to the response, whose status and headers are set but for those of its own. It may write in pieces and
   * take its time: what it throws cuts the response off, and `onError` hears of it. An answer that is built as a whole is refused where it
   * has more bytes than `limit`.
   */
  readonly send: (res: Response, content: Said, limit: number) => void | Promise<void>
}

/** The table of formats. The first writes all kinds, and what the client accepts none for. */
export const FORMATS: readonly Format[] = Object.freeze([json, csv, jsonl, ndjson])

const writers = new WeakMap<readonly Format[], Map<Said['kind'], readonly Format[]>>()

/** Those that can write a kind of replies; for all but exports that is mostly one. */
function writersOf(formats: readonly Format[], kind: Said['kind']): readonly Format[] {
  const known = writers.get(formats)?.get(kind)
  if (known !== undefined) return known
  const byKind = writers.get(formats) ?? new Map<Said['kind'], readonly Format[]>()
  const found = formats.filter(({ kinds }) => kinds.has(kind))
  byKind.set(kind, found)
  writers.set(formats, byKind)
  return found
}

/** The format of a reply: the one that the client likes best of those that can write it. */
export function formatFor(formats: readonly Format[], req: Request, res: Response, content: Said): Format {
  const writers = writersOf(formats, content.kind)
  if (writers.length === 1 && writers[0] !== undefined) return writers[0]
  const [first, ...others] = writers
  if (first === undefined) throw new TypeError(`there is no format for ${content.kind}`)
  const named = content.kind === 'export' ? content.value.format : null
  if (named !== null) return [first, ...others].find(({ name }) => name === named) ?? first
  res.vary('Accept')
  const accepted = req.accepts([first, ...others].map(({ mediaType }) => mediaType))
  return others.find(({ mediaType }) => mediaType === accepted) ?? first
}

/** Whether a request for a list wants a file of its records: by `format`, or since it likes that better than JSON. */
export function asksForFile(formats: readonly Format[], req: Request): boolean {
  const url = urlOf(req)
  // A name may be written in other ways, but not without any of its letters or a sign that stands for one.
  const [target = ''] = /format|%/.test(url) ? url.split('#', 1) : []
  const start = target.indexOf('?')
  const format = start < 0 ? null : new URLSearchParams(target.slice(start)).get('format')
  if (format !== null && format !== '') return true
  // Whoever takes anything gets what stands first.
  const { accept = '*/*' } = req.headers
  if (accept === '*/*') return false
  const lists = formats.filter(({ kinds }) => kinds.has('page') || kinds.has('export'))
  const accepted = req.accepts(lists.map(({ mediaType }) => mediaType))
  return lists.some(({ kinds, mediaType }) => kinds.has('export') && mediaType === accepted)
}
