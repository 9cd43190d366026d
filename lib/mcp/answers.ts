import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Reply } from '../../types/reply.js'
import { KEY_HINT } from '../common/hints.js'
import { isObject } from '../common/object.js'
import { VERSION_MISSING, VERSION_OUTDATED } from '../common/preconditions.js'
import { type Problem, problem } from '../common/problem.js'
import { assertResponseSize } from '../common/responseSize.js'

/** An answer of a tool. */
export type ToolAnswer = Readonly<Record<string, unknown>>

/** An answer as the protocol sends it: as an object, and as text for clients that do not read objects. */
export function toToolResult(answer: ToolAnswer): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } }
}

/** Problem details that name headers, replaced by details that name tool arguments. */
const DETAILS: ReadonlyMap<unknown, string> = new Map([
  [VERSION_MISSING, 'Give the version from get_record as the argument version.'],
  [VERSION_OUTDATED, 'The record has changed. Read it again with get_record and give its current version.'],
])

export function toErrorResult(refusal: Problem): CallToolResult {
  const body = refusal.toJSON()
  const detail = DETAILS.get(body.detail)
  const text = JSON.stringify(detail === undefined ? body : { ...body, detail })
  // No tool has an argument for a list of keys.
  return {
    content: [{ type: 'text', text: text.replaceAll(KEY_HINT, ' Use get_record to read a record by key.') }],
    isError: true,
  }
}

/** The value in a reply, or null for a reply without content. @throws Problem if the value exceeds the limit */
export function readReplyValue({ content, responseBytes }: Reply): unknown {
  if (content.kind === 'nothing') return null
  if (responseBytes !== undefined) assertResponseSize(Buffer.byteLength(JSON.stringify(content.value)), responseBytes)
  return content.value
}

/** Turns a reply with a record into an answer, with the version if the record has one. */
export function readReplyRecord(reply: Reply): ToolAnswer {
  const record = readReplyValue(reply)
  const version = readReplyVersion(reply)
  return version === null ? { record } : { record, version }
}

/** The version number in the reply's ETag, or null if the ETag has another form. */
function readReplyVersion({ headers }: Reply): number | string | null {
  const [, digits] = /^W\/"(\d{1,19})"$/.exec(headers.ETag ?? '') ?? []
  if (digits === undefined) return null
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : digits
}

/** @throws Problem if the answer exceeds `maxBytes` */
export function assertAnswerSize(answer: ToolAnswer, maxBytes: number, remedy = 'select fewer fields'): ToolAnswer {
  const bytes = byteLengthOf(answer)
  if (bytes <= maxBytes) return answer
  throw problem('invalid-query', { detail: `The answer has ${bytes} bytes. The limit is ${maxBytes}: ${remedy}.` })
}

/** The answer of a completed write, which must not fail any more. A record that is too large is reduced to its key. */
export function shortenAnswer(answer: ToolAnswer, keys: readonly string[], maxBytes: number): ToolAnswer {
  if (byteLengthOf(answer) <= maxBytes) return answer
  const { record, version } = answer
  const key = isObject(record) ? { record: Object.fromEntries(keys.map((name) => [name, record[name]])) } : {}
  return { ...key, ...(version === undefined ? {} : { version }), tooLarge: true }
}

/** Number of leading items that fit into `maxBytes`. */
export function countFitting(answer: ToolAnswer, items: readonly unknown[], maxBytes: number): number {
  let bytes = byteLengthOf({ ...answer, items: [] })
  const rest = items.findIndex((item) => {
    bytes += byteLengthOf(item) + 1
    return bytes > maxBytes
  })
  return rest < 0 ? items.length : rest
}

function byteLengthOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '')
}
