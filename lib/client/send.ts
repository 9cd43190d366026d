import { ProblemError, problemOf } from './problemError.js'
import type { CallOptions, ClientOptions } from './types.js'

/** A request, before it is known how often it must be sent. */
export interface Call extends CallOptions {
  readonly method: string
  /** Below the resource's own address. */
  readonly path: string
  readonly query?: string
  readonly body?: unknown
  readonly accept?: string
}

export type Send = (call: Call) => Promise<Response>

/** Milliseconds. What a server asks for beyond that is the caller's to decide on. */
const LONGEST_WAIT = 30_000
const FIRST_WAIT = 200

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Sends requests to a resource, again where that cannot do anything twice. */
export function sender(address: string, options: ClientOptions): Send {
  const { retries = 2, token, headers: always } = options
  const request = options.fetch ?? ((...given: Parameters<typeof fetch>) => fetch(...given))

  /** All that a request takes but the address; what the host's own functions throw is the caller's to hear. */
  async function written(call: Call): Promise<RequestInit> {
    const { method, body, accept = 'application/json', signal } = call
    const headers = new Headers({ Accept: accept, ...always, ...call.headers })
    if (body !== undefined) headers.set('Content-Type', 'application/json')
    if (call.ifMatch !== undefined) headers.set('If-Match', call.ifMatch)
    if (call.idempotencyKey !== undefined) headers.set('Idempotency-Key', `"${call.idempotencyKey}"`)
    const held = await token?.()
    signal?.throwIfAborted()
    if (held) headers.set('Authorization', `Bearer ${held}`)
    return {
      method,
      headers,
      // A token must not follow where an answer points.
      redirect: 'error',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }
  }

  return async (call) => {
    const { path, query = '', signal } = call
    const whole = `${address}${path}${query === '' ? '' : `?${query}`}`
    for (let left = retries; ; left -= 1) {
      const given = await written(call)
      const outcome = await attempt(() => request(whole, given), signal)
      if (outcome instanceof Response && outcome.ok) return outcome
      const problem = outcome instanceof Response ? await problemOf(outcome) : outcome
      signal?.throwIfAborted()
      const wait = waitFor(problem, retries - left)
      if (left <= 0 || wait === null || !isRepeatable(call, problem.status)) throw problem
      await pause(wait, signal)
    }
  }
}

async function attempt(send: () => Promise<Response>, signal?: AbortSignal): Promise<Response | ProblemError> {
  try {
    return await send()
  } catch (error) {
    signal?.throwIfAborted()
    return new ProblemError(0, {}, null, error)
  }
}

/** Whether a request that failed so may be sent again, and does nothing twice. */
function isRepeatable({ method, ifMatch, idempotencyKey }: Call, status: number): boolean {
  const isSafe = READS.has(method) || idempotencyKey !== undefined
  if (status === 0) return isSafe
  return (status === 429 || status === 503) && (isSafe || ifMatch !== undefined)
}

/** How many milliseconds to wait; null where the server asks for more than anybody wants to. */
function waitFor({ response }: ProblemError, tried: number): number | null {
  const asked = retryAfterOf(response?.headers.get('retry-after') ?? null)
  if (asked === null) return FIRST_WAIT * 2 ** tried * (0.5 + Math.random() / 2)
  // Whoever was told the same moment must not come all at once.
  return asked > LONGEST_WAIT ? null : asked + Math.random() * FIRST_WAIT
}

/** Seconds or a date (RFC 9110 section 10.2.3), as milliseconds from now. */
function retryAfterOf(text: string | null): number | null {
  if (text === null) return null
  const until = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Number.isNaN(until) ? null : Math.max(0, until)
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, milliseconds)
    function done(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    signal?.addEventListener('abort', done)
  })
}

/** The JSON of an answer; undefined where it has no body, because none was asked for. @throws ProblemError where there is none, and the signal's reason where that ended it */
export async function jsonOf<T>(response: Response, signal?: AbortSignal): Promise<T> {
  try {
    if (response.status === 204 || response.headers.get('content-length') === '0') return undefined as T
    // Its shape is the service's word, as everywhere where JSON comes in.
    return (await response.json()) as T
  } catch (error) {
    signal?.throwIfAborted()
    throw new ProblemError(response.status, { title: 'The answer is no JSON.' }, response, error)
  }
}
