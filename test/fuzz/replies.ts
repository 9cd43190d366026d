// What every reply has to be, whatever was asked.

import { AGENTS } from './agents.js'
import { MARK } from './application.js'
import type { RawReply } from './exchange.js'
import { isRecord, parsed } from './parsed.js'
import { pathOf } from './place.js'
import { type FuzzRequest, wordsOf } from './request.js'

/** What speaks of the insides: of databases, files and code. */
const INSIDES =
  /SQLITE_|ER_[A-Z]{4,}|sequelize|node_modules|\.js:\d+|\bat [\w.<>]+ \(|SELECT .* FROM|INSERT INTO|syntax error at or near|ECONN|TypeError|RangeError:/i

/** What is wrong with a reply; empty where nothing is. */
export function faultsOf(request: FuzzRequest, reply: RawReply): string[] {
  const faults: string[] = []
  const { status, headers, body } = reply
  const text = body.toString('utf8')
  // Node answers by itself what is no HTTP, and says nothing in it.
  if (!headers.has(MARK)) {
    const isNodes = [400, 408, 413, 431].includes(status) && body.length === 0
    const isExpress = status === 404 && hasNoPath(request.target)
    return isNodes || isExpress ? [] : [`${status} from elsewhere: ${text.slice(0, 200)}`]
  }
  if (Number.isNaN(status)) faults.push('no status')
  if (reply.surplus !== '') faults.push(`${reply.surplus.length} bytes behind the reply`)
  if (status >= 500 && status !== 503) faults.push(`status ${status}`)
  if (status === 503 && !headers.has('retry-after')) faults.push('503 without Retry-After')
  // What a client says itself may be repeated to it.
  // The protocol of agents has the name of the server in each answer.
  const told = text.replace('"name":"sequelize-crud-router"', '')
  if (INSIDES.test(told) && !INSIDES.test(wordsOf(request)) && !isDocument(request))
    faults.push(`insides: ${INSIDES.exec(told)?.[0]}`)
  if (
    !isDocument(request) &&
    request.taken.every(({ standing }) => standing === 'refused') &&
    status < 300 &&
    body.length > 0
  ) {
    faults.push('an answer to a token that does not hold')
  }
  // Bytes that were spoiled may name a path that nobody serves.
  if (status === 404 && !request.bytes.includes(` ${request.target} `)) return faults
  if (pathOf(request) === AGENTS && !(headers.get('content-type') ?? '').startsWith('application/problem+json')) {
    return [...faults, ...answerFaults(reply, text)]
  }
  if (status >= 400) faults.push(...problemFaults(request, reply, text))
  else if (body.length > 0) faults.push(...bodyFaults(request, reply, text))
  return faults
}

/** What a tool answers: a problem in it is none of the server's own. */
function answerFaults({ status, headers }: RawReply, text: string): string[] {
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/event-stream')) return status === 200 ? [] : [`${status} of type ${type}`]
  if (text === '') return [202, 405].includes(status) ? [] : [`${status} without a body`]
  const message = parsed(text)
  if (!isRecord(message) || message.jsonrpc !== '2.0') return [`an answer that is no message: ${text.slice(0, 200)}`]
  const { error } = message
  if (isRecord(error) && error.code === -32603 && !isOfProtocol(error))
    return [`an internal error: ${text.slice(0, 300)}`]
  const told = toldIn(message)
  return isRecord(told) && Number(told.status) >= 500 && told.status !== 503 ? [`status ${told.status} of a tool`] : []
}

/** The protocol's own library calls it an internal error that a message is none of the protocol's. */
function isOfProtocol({ message }: Readonly<Record<string, unknown>>): boolean {
  const issues = parsed(String(message))
  return Array.isArray(issues) && issues.every((issue) => isRecord(issue) && Array.isArray(issue.path))
}

/** The problem that a tool has answered with; null where it is none. */
export function toldIn(message: unknown): unknown {
  const result = isRecord(message) ? message.result : null
  if (!isRecord(result) || result.isError !== true || !Array.isArray(result.content)) return null
  const [first] = result.content
  return isRecord(first) ? parsed(String(first.text)) : null
}

/** Express by itself finds no route where a target names a host and no path, or no host that a URL can have. */
function hasNoPath(target: string): boolean {
  return (
    /^https?:\/\//i.test(target) &&
    (/^https?:\/\/[^/]*$/i.test(target.replace(/[?#].*$/s, '')) || !URL.canParse(target))
  )
}

function problemFaults({ method }: FuzzRequest, { status, headers }: RawReply, text: string): string[] {
  const type = headers.get('content-type') ?? ''
  if (status === 404 && type.startsWith('text/plain') && (text === 'no such route' || method === 'HEAD')) return []
  const faults = type.startsWith('application/problem+json') ? [] : [`${status} of type ${type}: ${text.slice(0, 200)}`]
  if (status === 401 && !headers.has('www-authenticate')) faults.push('401 without WWW-Authenticate')
  if (status === 405 && !headers.has('allow')) faults.push('405 without Allow')
  if (method === 'HEAD') return faults
  const problem = parsed(text)
  if (!isRecord(problem)) return [...faults, `a problem that is none: ${text.slice(0, 200)}`]
  if (typeof problem.type !== 'string' || problem.type === '') faults.push('a problem without type')
  if (typeof problem.title !== 'string' || problem.title === '') faults.push('a problem without title')
  if (problem.status !== status) faults.push(`a problem of status ${problem.status} with status ${status}`)
  return faults
}

/** Documents name this package, and speak of what may go wrong. */
function isDocument(request: FuzzRequest): boolean {
  const path = pathOf(request)
  return path.startsWith('/docs') || path === '/client.d.ts' || path === '/openapi.json'
}

const FILES = /^(?:text\/csv|application\/jsonl|application\/x-ndjson)/
const PAGES = /^(?:text\/html|text\/plain|text\/css|text\/javascript|application\/json)/

function bodyFaults(request: FuzzRequest, { headers }: RawReply, text: string): string[] {
  const type = headers.get('content-type') ?? ''
  if (isDocument(request)) {
    return PAGES.test(type) ? [] : [`a document of type ${type}`]
  }
  if (FILES.test(type)) return fileFaults(type, text)
  if (!type.startsWith('application/json')) return [`an answer of type ${type}`]
  return parsed(text) === undefined ? [`an answer that is no JSON: ${text.slice(0, 200)}`] : []
}

function fileFaults(type: string, text: string): string[] {
  if (type.startsWith('text/csv'))
    return text.endsWith('\r\n') ? [] : [`a table that ends with ${JSON.stringify(text.slice(-20))}`]
  const wrong = text.split('\n').find((line) => line !== '' && parsed(line) === undefined)
  return wrong === undefined ? [] : [`a line that is no JSON: ${wrong.slice(0, 200)}`]
}
