import { ProblemError, readProblem } from './problemError.js'
import { isAfterWrite, noteWrite } from './readYourWrites.js'
import type { CallOptions, ClientOptions } from './types.js'

/** A request, before retries. */
export interface ClientRequest extends CallOptions {
  readonly method: string
  /** Path below the resource's address. */
  readonly path: string
  readonly query?: string
  readonly body?: unknown
  readonly accept?: string
  /** Whether the caller of `send` reads the response body as a stream. */
  readonly isStream?: boolean
}

/** A successful response with the text of its body. `text` is empty for a stream, whose body is unread. */
export interface SuccessResponse {
  readonly response: Response
  readonly text: string
}

export type Send = (call: ClientRequest) => Promise<SuccessResponse>

/** Longest wait before a retry, in milliseconds. If a server requests a longer wait, the request fails. */
export const LONGEST_WAIT = 30_000
const FIRST_WAIT = 200

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Creates the function that sends requests to a resource. Only requests that are safe to repeat are retried. */
export function createSend(address: string, options: ClientOptions): Send {
  const { retries = 2, token, headers: always } = options
  const request = options.fetch ?? ((...given: Parameters<typeof fetch>) => fetch(...given))

  /** Builds the options for `fetch`. Errors of the application's own functions are thrown unchanged. */
  async function buildRequest(call: ClientRequest): Promise<RequestInit & { readonly headers: Headers }> {
    const { method, body, accept = 'application/json', signal } = call
    const headers = mergeHeaders(always, call.headers)
    if (!headers.has('Accept')) headers.set('Accept', accept)
    if (body !== undefined) headers.set('Content-Type', 'application/json')
    if (call.ifMatch !== undefined) headers.set('If-Match', call.ifMatch)
    // A string of structured fields (RFC 8941, section 3.3.3).
    const { idempotencyKey } = call
    if (idempotencyKey !== undefined) headers.set('Idempotency-Key', `"${idempotencyKey.replace(/["\\]/g, '\\$&')}"`)
    if (READS.has(method) && isAfterWrite(address, options)) headers.append('Prefer', 'read=primary')
    const bearerToken = await token?.()
    if (bearerToken) headers.set('Authorization', `Bearer ${bearerToken}`)
    return {
      method,
      headers,
      // A redirect is an error, because it could send the token to another address.
      redirect: 'error',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    }
  }

  return async (call) => {
    const { path, query = '', signal } = call
    const whole = `${address}${path}${query === '' ? '' : `?${query}`}`
    for (let remaining = retries; ; remaining -= 1) {
      signal?.throwIfAborted()
      const given = await rejectOnAbort(buildRequest(call), signal)
      const outcome = await rejectOnAbort(
        sendOnce(() => request(whole, given), call.isStream),
        signal,
      ).finally(() => {
        // A failed or aborted write may still have been committed.
        if (!READS.has(call.method)) noteWrite(address)
      })
      signal?.throwIfAborted()
      if (!(outcome instanceof ProblemError)) return outcome
      const wait = retryDelay(outcome, retries - remaining)
      if (remaining <= 0 || wait === null || !isRepeatable(call.method, given.headers, outcome)) throw outcome
      await pause(wait, signal)
    }
  }
}

/** Merges headers of a call and of the client. Headers of the call take precedence. Case is ignored. */
export function mergeHeaders(always: CallOptions['headers'], own: CallOptions['headers']): Headers {
  const headers = new Headers(always)
  for (const [name, value] of Object.entries(own ?? {})) headers.set(name, value)
  return headers
}

/** Sends a request without retries. A connection that breaks within the response body is a network failure. */
async function sendOnce(send: () => Promise<Response>, isStream = false): Promise<SuccessResponse | ProblemError> {
  try {
    const response = await send()
    if (!response.ok) return await readProblem(response)
    return { response, text: isStream ? '' : await response.text() }
  } catch (error) {
    return new ProblemError(0, {}, null, error)
  }
}

/**
 * Rejects with the signal's reason when the signal aborts, because not every `fetch` and `token` function supports
 * signals.
 */
function rejectOnAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Whether a failed request is safe to repeat. */
function isRepeatable(method: string, headers: Headers, { status, code }: ProblemError): boolean {
  const isSafe = READS.has(method) || headers.has('Idempotency-Key')
  if (status === 0) return isSafe
  // A repeated request would probably exceed the timeout again.
  const isBusy = status === 429 || (status === 503 && code !== 'timeout')
  return isBusy && (isSafe || headers.has('If-Match'))
}

/** Milliseconds before the next attempt. Null if the server requests more than `LONGEST_WAIT`. */
function retryDelay({ response }: ProblemError, tried: number): number | null {
  const retryAfter = readRetryAfter(response)
  if (Number.isNaN(retryAfter)) return FIRST_WAIT * 2 ** tried * (0.5 + Math.random() / 2)
  // A random delay prevents clients with an equal Retry-After from returning at the same moment.
  return retryAfter > LONGEST_WAIT ? null : retryAfter + Math.random() * FIRST_WAIT
}

/**
 * Reads Retry-After, which has seconds or a date (RFC 9110, section 10.2.3). Returns milliseconds from now, or NaN without
 * the header.
 */
export function readRetryAfter(response: Response | null | undefined): number {
  const text = response?.headers.get('retry-after') ?? ''
  const until = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Math.max(0, until)
}

/** Waits. Rejects with the signal's reason when the signal aborts. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(finish, milliseconds)
    function finish(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', finish)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    signal?.addEventListener('abort', finish)
  })
}

/**
 * Parses the JSON of a response. Undefined for a response without a body. @throws ProblemError for a body that is not
 * JSON
 */
export function parseJson<T>({ response, text }: SuccessResponse): T {
  if (response.status === 204 || response.headers.get('content-length') === '0') return undefined as T
  try {
    // The type is not checked at run time.
    return JSON.parse(text)
  } catch (error) {
    throw new ProblemError(response.status, { title: 'The response is not JSON.' }, response, error)
  }
}

/** Byte stream of a response. A broken connection is a `ProblemError`. An abort rejects with the signal's reason. */
export function openStream({ response }: SuccessResponse, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  const reader = response.body?.getReader()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const chunk = await rejectOnAbort(Promise.resolve(reader?.read()), signal)
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
