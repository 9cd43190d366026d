import type { Call } from '../../types/call.js'
import type { Content, ExportFormat } from '../../types/reply.js'
import { internalError } from '../common/internalError.js'
import { urlOf } from '../parse/queryMethod.js'
import { csv } from './formats/csv.js'
import { json } from './formats/json.js'
import { jsonl, ndjson } from './formats/jsonl.js'
import type { JsonSettings } from './jsonHost.js'
import type { OutgoingResponse } from './outgoing.js'

/** The content of a reply with a body. */
export type BodyContent = Exclude<Content, { kind: 'nothing' }>

/** The call of a reply, the host's JSON settings, and the size limit. */
export interface SendContext {
  readonly call: Call
  readonly json: JsonSettings
  /** The maximum size in bytes of a response that is built as a whole. */
  readonly limit: number
}

/** A response format. */
export interface Format {
  /** The value of the parameter `format`; absent if only `Accept` selects the format. */
  readonly name?: ExportFormat
  /** The media type that the client must accept. */
  readonly mediaType: string
  /** Parameters of the media type besides `charset`. The client's `Accept` may contain them. */
  readonly parameters?: string
  /** The kinds of content that the format can write. */
  readonly kinds: ReadonlySet<BodyContent['kind']>
  /** Whether the format is one JSON record per line. Default: false. */
  readonly hasRecords?: true
  /** Whether the response is sent as a whole, with an entity tag if the host enables entity tags. */
  readonly hasEntityTag: boolean
  /**
   * Returns the headers of the format, before the first byte is sent. @throws Problem for content that the format
   * cannot write
   */
  readonly headers?: (content: BodyContent) => Readonly<Record<string, string>>
  /**
   * Writes the content after status and common headers are set, possibly in several asynchronous pieces. An error
   * breaks the response off and is reported to `onError`. A response that is built as a whole is rejected above the
   * limit.
   */
  readonly send: (out: OutgoingResponse, content: BodyContent, sending: SendContext) => void | Promise<void>
}

/**
 * The table of formats. The first format writes all kinds of content. It is the default for clients that accept no
 * other format.
 */
export const FORMATS: readonly Format[] = Object.freeze([json, csv, jsonl, ndjson])

/** Returns the names of the export formats. */
export function formatNames(formats: readonly Format[]): readonly string[] {
  return formats.flatMap(({ name }) => name ?? [])
}

/** Selects the format of a reply: the client's preferred format among those that can write the content. */
export function selectFormat(formats: readonly Format[], call: Call, content: BodyContent): Format {
  const writers: Format[] = []
  for (const format of formats) if (format.kinds.has(content.kind)) writers.push(format)
  if (writers.length === 1 && writers[0] !== undefined) return writers[0]
  const [first, ...others] = writers
  if (first === undefined) throw internalError(`no response format can write a response of kind "${content.kind}"`)
  const named = content.kind === 'export' ? content.value.format : null
  if (named !== null) return [first, ...others].find(({ name }) => name === named) ?? first
  call.addHeaders({ Vary: 'Accept' })
  return preferredFormat(call, [first, ...others]) ?? first
}

/** Returns the format that the client's `Accept` prefers; undefined if the client accepts none. */
function preferredFormat(call: Call, formats: readonly Format[]): Format | undefined {
  // Every format is UTF-8. Without the parameters, `text/csv; charset=utf-8` in `Accept` would not match.
  const types = formats.map(({ mediaType, parameters }) =>
    [mediaType, 'charset=utf-8', parameters ?? []].flat().join('; '),
  )
  const accepted = call.accepts(types)
  return accepted === false ? undefined : formats[types.indexOf(accepted)]
}

/** Whether a list request prefers a file of records to JSON, by `format` or by `Accept`. */
export function isFileRequested(formats: readonly Format[], call: Call): boolean {
  const url = urlOf(call)
  // A cheap test first: the name of the parameter is `format`, or contains a percent sign.
  const [target = ''] = /[?&](?:format|\w*%)/.test(url) ? url.split('#', 1) : []
  const start = target.indexOf('?')
  const format = start < 0 ? null : new URLSearchParams(target.slice(start)).get('format')
  if (format !== null && format !== '') return true
  // `*/*` selects the first format.
  const { accept = '*/*' } = call.headers
  if (accept === '*/*') return false
  const lists = formats.filter(({ kinds }) => kinds.has('page') || kinds.has('export'))
  return preferredFormat(call, lists)?.kinds.has('export') === true
}
