import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Reply } from '../../types/reply.js'
import { KEY_HINT } from '../common/hints.js'
import { isObject } from '../common/object.js'
import { VERSION_MISSING, VERSION_OUTDATED } from '../common/preconditions.js'
import { type Problem, problem } from '../common/problem.js'
import { assertResponseSize } from '../common/responseSize.js'
import { versionInTag } from '../common/version.js'

/** An answer of a tool, before it is written as a protocol message. */
export type ToolAnswer = Readonly<Record<string, unknown>>

/**
 * Converts an answer to a protocol result. The result also has the answer as text, for clients that do not read
 * objects.
 */
export function toToolResult(answer: ToolAnswer): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } }
}

/** Replacements for problem details that name HTTP headers. The replacements name tool arguments. */
const DETAILS: ReadonlyMap<unknown, string> = new Map([
  [VERSION_MISSING, 'Give the version from get_record as the argument version.'],
  [VERSION_OUTDATED, 'The record has changed. Read it again with get_record and give its current version.'],
])

export function toErrorResult(refusal: Problem): CallToolResult {
  const body = refusal.toJSON()
  const detail = DETAILS.get(body.detail)
  const text = JSON.stringify(detail === undefined ? body : { ...body, detail })
  // The hint to list keys is replaced, because no tool has an argument for a list of keys.
  return {
    content: [{ type: 'text', text: text.replaceAll(KEY_HINT, ' Use get_record to read a record by key.') }],
    isError: true,
  }
}

/** Reads the value of a reply. Null for a reply without content. @throws Problem if the value exceeds the limit */
export function readReplyValue({ content, responseBytes }: Reply): unknown {
  if (content.kind === 'nothing') return null
  if (responseBytes !== undefined) assertResponseSize(Buffer.byteLength(JSON.stringify(content.value)), responseBytes)
  return content.value
}

/** Converts a reply with a record to an answer. The answer has the version, if the record has a version. */
export function readReplyRecord(reply: Reply): ToolAnswer {
  const record = readReplyValue(reply)
  const version = readReplyVersion(reply)
  return version === null ? { record } : { record, version }
}

/** The version number in the reply's ETag, or null if the ETag has another form. */
function readReplyVersion({ headers }: Reply): number | string | null {
  const [, text = ''] = /^W\/"(.*)"$/.exec(headers.ETag ?? '') ?? []
  const digits = versionInTag(text)
  if (digits === null) return null
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : digits
}

/** Returns the answer. @throws Problem if the answer exceeds `maxBytes` */
export function assertAnswerSize(answer: ToolAnswer, maxBytes: number, remedy = 'select fewer fields'): ToolAnswer {
  const bytes = byteLengthOf(answer)
  if (bytes <= maxBytes) return answer
  throw problem('invalid-query', { detail: `The answer has ${bytes} bytes. The limit is ${maxBytes}: ${remedy}.` })
}

/**
 * Shortens the answer of a completed write, because a completed write must not fail. A record that is too large is
 * reduced to its key.
 */
export function shortenAnswer(answer: ToolAnswer, keys: readonly string[], maxBytes: number): ToolAnswer {
  if (byteLengthOf(answer) <= maxBytes) return answer
  const { record, version } = answer
  const key = isObject(record) ? { record: Object.fromEntries(keys.map((name) => [name, record[name]])) } : {}
  return { ...key, ...(version === undefined ? {} : { version }), tooLarge: true }
}

/** Number of leading items that fit into an answer of `maxBytes` bytes. */
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
