// The answers that the documents show behind their requests, and how they are compared with replies.

import type { ExecutionContext } from 'ava'
import type { Reply } from './curl.js'
import type { Block } from './markdown.js'

/** The blocks that show what the request before them answers. */
export const ANSWERS: ReadonlySet<string> = new Set(['json', 'http'])

/** A status line, some of the headers and the body; or the body alone, which is then that of any status. */
export function splitAnswer({ language, text }: Block): { head: readonly string[]; body: string } {
  if (language === 'json') return { head: [], body: text }
  const [head = '', body = ''] = text.split('\n\n')
  return { head: head.split('\n').filter((line) => line !== ''), body }
}

// Instants and tokens differ in every run.
const instant = /"(createdAt|updatedAt|deletedAt)":"\d{4}-\d\d-\d\dT[\d:.]+Z"/g
const token = /"token":"eyJ[\w.-]+"/g

/** A JSON body with one text for everything that differs from run to run. */
export function parseStable(body: string): unknown {
  if (body.trim() === '') return null
  return JSON.parse(JSON.stringify(JSON.parse(body)).replace(instant, '"$1":"now"').replace(token, '"token":"eyJ"'))
}

/** Asserts that a reply is the documented answer: members and their order, and the status and headers that are shown. */
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
