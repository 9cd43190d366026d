import type { Reply } from '../../types/reply.js'
import { KEY_HINT } from '../common/hints.js'
import { VERSION_MISSING, VERSION_PASSED } from '../common/preconditions.js'
import type { Problem } from '../common/problem.js'
import { assertResponseSize } from '../common/responseSize.js'

/** What a tool answers: JSON as text. */
export interface ToolResult {
  readonly [member: string]: unknown
  readonly content: { type: 'text'; text: string }[]
  readonly isError?: true
}

export function told(value: object): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] }
}

/** What is said of headers, in words of arguments. */
const DETAILS: ReadonlyMap<unknown, string> = new Map([
  [VERSION_MISSING, 'Give the version of the record as get_record last gave it, as the argument version.'],
  [VERSION_PASSED, 'The record has changed. Read it again by get_record and give its current version.'],
])

export function refused(problem: Problem): ToolResult {
  const body = problem.toJSON()
  const detail = DETAILS.get(body.detail)
  const text = JSON.stringify(detail === undefined ? body : { ...body, detail })
  // No tool has an argument for keys.
  return { content: [{ type: 'text', text: text.replaceAll(KEY_HINT, ' Take get_record for a key.') }], isError: true }
}

/** What a reply says; null for nothing. @throws Problem where that is larger than it may be */
export function valueIn({ content, responseBytes }: Reply): unknown {
  if (content.kind === 'nothing') return null
  if (responseBytes !== undefined) assertResponseSize(Buffer.byteLength(JSON.stringify(content.value)), responseBytes)
  return content.value
}

/** The number in the tag of a record's version; null for a tag of anything else. */
export function versionIn({ headers }: Reply): number | string | null {
  const [, digits] = /^W\/"(\d{1,19})"$/.exec(headers.ETag ?? '') ?? []
  if (digits === undefined) return null
  return Number.isSafeInteger(Number(digits)) ? Number(digits) : digits
}
