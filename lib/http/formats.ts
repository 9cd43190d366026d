import type { Call } from '../../types/call.js'
import type { Content, ExportFormat } from '../../types/reply.js'
import { urlOf } from '../parse/queried.js'
import { csv } from './formats/csv.js'
import { json } from './formats/json.js'
import { jsonl, ndjson } from './formats/jsonl.js'
import type { JsonHost } from './jsonHost.js'
import type { Outgoing } from './outgoing.js'

/** What a reply says where it says anything. */
export type Said = Exclude<Content, { kind: 'nothing' }>

/** The call of a reply, the JSON settings of the host, and the most bytes of the reply. */
export interface Sending {
  readonly call: Call
  readonly json: JsonHost
  /** The most bytes of an answer that is built as a whole. */
  readonly limit: number
}

/** A way to write replies. */
export interface Format {
  /** Its value of the parameter `format`; absent if only `Accept` can ask for it. */
  readonly name?: ExportFormat
  /** What the client has to accept. */
  readonly mediaType: string
  /** The kinds of replies that it can write. */
  readonly kinds: ReadonlySet<Said['kind']>
  /** Whether it is a sequence of JSON records, a line each. Default: false. */
  readonly hasRecords?: true
  /** Whether it is sent as a whole, with an entity tag where the host has them. */
  readonly tagged: boolean
  /** Headers that a reply of this format has, known before its first byte. @throws Problem for a reply that it cannot write */
  readonly headers?: (content: Said) => Readonly<Record<string, string>>
  /**
   * Writes it, where status and headers are set but for those of its own. It may write in pieces and take its time: what it throws
   * cuts the answer off, and `onError` hears of it. An answer that is built as a whole is refused where it is larger than the limit.
   */
  readonly send: (out: Outgoing, content: Said, sending: Sending) => void | Promise<void>
}

/** The table of formats. The first writes all kinds, and what the client accepts none for. */
export const FORMATS: readonly Format[] = Object.freeze([json, csv, jsonl, ndjson])

/** The names that exports can be asked for by. */
export function formatNames(formats: readonly Format[]): readonly string[] {
  return formats.flatMap(({ name }) => name ?? [])
}

/** The format of a reply: the one that the client likes best of those that can write it. */
export function formatFor(formats: readonly Format[], call: Call, content: Said): Format {
  const writers = formats.filter(({ kinds }) => kinds.has(content.kind))
  if (writers.length === 1 && writers[0] !== undefined) return writers[0]
  const [first, ...others] = writers
  if (first === undefined) throw new TypeError(`there is no format for ${content.kind}`)
  const named = content.kind === 'export' ? content.value.format : null
  if (named !== null) return [first, ...others].find(({ name }) => name === named) ?? first
  call.tell({ Vary: 'Accept' })
  const accepted = call.accepts([first, ...others].map(({ mediaType }) => mediaType))
  return others.find(({ mediaType }) => mediaType === accepted) ?? first
}

/** Whether a request for a list wants a file of its records: by `format`, or since it likes that better than JSON. */
export function asksForFile(formats: readonly Format[], call: Call): boolean {
  const url = urlOf(call)
  // A name may be written in other ways, but not without any of its letters or a sign that stands for one.
  const [target = ''] = /format|%/.test(url) ? url.split('#', 1) : []
  const start = target.indexOf('?')
  const format = start < 0 ? null : new URLSearchParams(target.slice(start)).get('format')
  if (format !== null && format !== '') return true
  // Whoever takes anything gets what stands first.
  const { accept = '*/*' } = call.headers
  if (accept === '*/*') return false
  const lists = formats.filter(({ kinds }) => kinds.has('page') || kinds.has('export'))
  const accepted = call.accepts(lists.map(({ mediaType }) => mediaType))
  return lists.some(({ kinds, mediaType }) => kinds.has('export') && mediaType === accepted)
}
