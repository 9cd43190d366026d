// Finds the example responses that documents show after requests, and compares them with actual responses.

import type { ExecutionContext } from 'ava'
import type { Reply } from './curl.js'
import type { Block } from './markdown.js'

/** Languages of code blocks that show the response to the request before them. */
export const ANSWERS: ReadonlySet<string> = new Set(['json', 'http'])

/**
 * Splits an example response into lines before the body, and the body. A JSON block is a body alone and allows any
 * status.
 */
export function splitAnswer({ language, text }: Block): { head: readonly string[]; body: string } {
  if (language === 'json') return { head: [], body: text }
  const [head = '', body = ''] = text.split('\n\n')
  return { head: head.split('\n').filter((line) => line !== ''), body }
}

// Instants and tokens differ in every run.
const instant = /"(createdAt|updatedAt|deletedAt)":"\d{4}-\d\d-\d\dT[\d:.]+Z"/g
const token = /"token":"eyJ[\w.-]+"/g

/** Parses a JSON body. Parts that differ from run to run are replaced by constants. */
export function parseStable(body: string): unknown {
  if (body.trim() === '') return null
  return JSON.parse(JSON.stringify(JSON.parse(body)).replace(instant, '"$1":"now"').replace(token, '"token":"eyJ"'))
}

/**
 * Asserts that a response equals the example response. The shown status and headers, and the members with their order,
 * must be equal.
 */
export function assertAnswer(t: ExecutionContext, reply: Reply, answer: Block, command: string): void {
  const { head, body } = splitAnswer(answer)
  t.deepEqual(parseStable(reply.text), parseStable(body), `${answer.place}: ${command}`)
  t.is(JSON.stringify(parseStable(reply.text)), JSON.stringify(parseStable(body)), answer.place)
  const [status, ...headers] = head
  if (status !== undefined) t.is(`HTTP/1.1 ${reply.status} ${reply.statusText}`, status, answer.place)
  for (const header of headers) {
    const [name = '', value] = header.split(/: (.*)/)
    t.is(reply.headers[name.toLowerCase()], value, `${answer.place}: ${name}`)
  }
}
