// What every reply has to be, whatever was asked.

import { MARK } from './application.js'
import type { RawReply } from './exchange.js'
import { decoded, type FuzzRequest } from './request.js'

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
  if (INSIDES.test(text) && !INSIDES.test(wordsOf(request))) faults.push(`insides: ${INSIDES.exec(text)?.[0]}`)
  if (request.taken.every(({ standing }) => standing === 'refused') && status < 300 && body.length > 0) {
    faults.push('an answer to a token that does not hold')
  }
  if (status >= 400) faults.push(...problemFaults(request, reply, text))
  else if (body.length > 0) faults.push(...bodyFaults(reply, text))
  return faults
}

/** Express by itself finds no route where a target names a host and no path, or no host that a URL can have. */
function hasNoPath(target: string): boolean {
  return (
    /^https?:\/\//i.test(target) &&
    (/^https?:\/\/[^/]*$/i.test(target.replace(/[?#].*$/s, '')) || !URL.canParse(target))
  )
}

/** What a client says itself may be repeated to it. */
function wordsOf({ target, body }: FuzzRequest): string {
  return `${target}\n${decoded(target)}\n${body?.toString('latin1') ?? ''}`
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

function bodyFaults({ headers }: RawReply, text: string): string[] {
  const type = headers.get('content-type') ?? ''
  if (!type.startsWith('application/json')) return [`an answer of type ${type}`]
  return parsed(text) === undefined ? [`an answer that is no JSON: ${text.slice(0, 200)}`] : []
}

/** Undefined for what is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
