import { followsWrite, markWritten } from './fresh.js'
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
  /** The body is read by whoever called, as it arrives. */
  readonly isStream?: boolean
}

/** A response that is a success, with the text of its body; that of a stream is still to come. */
export interface Answer {
  readonly response: Response
  readonly text: string
}

export type Send = (call: Call) => Promise<Answer>

/** Milliseconds. What a server asks for beyond that is the caller's to decide on. */
const LONGEST_WAIT = 30_000
const FIRST_WAIT = 200

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Sends requests to a resource, again where that cannot do anything twice. */
export function sender(address: string, options: ClientOptions): Send {
  const { retries = 2, token, headers: always } = options
  const request = options.fetch ?? ((...given: Parameters<typeof fetch>) => fetch(...given))

  /** All that a request takes but the address. Errors of the host's own functions reach the caller as they are. */
  async function written(call: Call): Promise<RequestInit & { readonly headers: Headers }> {
    const { method, body, accept = 'application/json', signal } = call
    const headers = headersOf(always, call.headers)
    if (!headers.has('Accept')) headers.set('Accept', accept)
    if (body !== undefined) headers.set('Content-Type', 'application/json')
    if (call.ifMatch !== undefined) headers.set('If-Match', call.ifMatch)
    if (call.idempotencyKey !== undefined) headers.set('Idempotency-Key', `"${call.idempotencyKey}"`)
    if (READS.has(method) && followsWrite(address, options)) headers.append('Prefer', 'read=primary')
    const held = await token?.()
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
      signal?.throwIfAborted()
      const given = await untilAborted(written(call), signal)
      const outcome = await untilAborted(
        attempt(() => request(whole, given), call.isStream),
        signal,
      ).finally(() => {
        // A write that failed, or was given up, may have happened.
        if (!READS.has(call.method)) markWritten(address)
      })
      signal?.throwIfAborted()
      if (!(outcome instanceof ProblemError)) return outcome
      const wait = waitFor(outcome, retries - left)
      if (left <= 0 || wait === null || !isRepeatable(call.method, given.headers, outcome)) throw outcome
      await pause(wait, signal)
    }
  }
}

/** The headers of a call in place of those of all calls, whatever their case. */
export function headersOf(always: CallOptions['headers'], own: CallOptions['headers']): Headers {
  const headers = new Headers(always)
  for (const [name, value] of Object.entries(own ?? {})) headers.set(name, value)
  return headers
}

/** A connection that breaks within the body of a success is a network failure: nobody knows the rest. */
async function attempt(send: () => Promise<Response>, isStream = false): Promise<Answer | ProblemError> {
  try {
    const response = await send()
    if (!response.ok) return await problemOf(response)
    return { response, text: isStream ? '' : await response.text() }
  } catch (error) {
    return new ProblemError(0, {}, null, error)
  }
}

/** The outcome of some work, or the reason of the signal as soon as it is aborted: not every `fetch` and `token` heeds signals. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Whether a request that failed so may be sent again, and does nothing twice. */
function isRepeatable(method: string, headers: Headers, { status, code }: ProblemError): boolean {
  const isSafe = READS.has(method) || headers.has('Idempotency-Key')
  if (status === 0) return isSafe
  // What took too long once would cost the same again.
  const isBusy = status === 429 || (status === 503 && code !== 'timeout')
  return isBusy && (isSafe || headers.has('If-Match'))
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

/** The JSON of an answer; undefined where it has no body, because none was asked for. @throws ProblemError for a body that is no JSON */
export function jsonOf<T>({ response, text }: Answer): T {
  if (response.status === 204 || response.headers.get('content-length') === '0') return undefined as T
  try {
    // Its shape is the service's word, as everywhere where JSON comes in.
    return JSON.parse(text)
  } catch (error) {
    throw new ProblemError(response.status, { title: 'The answer is no JSON.' }, response, error)
  }
}

/** The bytes of an answer. A connection that breaks is a `ProblemError` here as well, and an abort the signal's reason. */
export function streamOf({ response }: Answer, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const reader = response.body?.getReader()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const chunk = await untilAborted(Promise.resolve(reader?.read()), signal)
          if (chunk?.value === undefined) controller.close()
          else controller.enqueue(chunk.value)
        } catch (error) {
          reader?.cancel(error).catch(() => undefined)
          signal?.throwIfAborted()
          throw new ProblemError(0, {}, null, error)
        }
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
