import type { KeysetPage } from '../../types/reply.js'
import { bodyKey, keyOf, keyPath, keyText, queryText, toSegment } from './address.js'
import { etagOf, rememberTag } from './entityTags.js'
import { createLive } from './live.js'
import { ProblemError } from './problemError.js'
import { createRelated } from './related.js'
import { createSend, mergeHeaders, openStream, parseJson, type Send, type SuccessResponse } from './send.js'
import type { Shapes, ShapesFor } from './shapes.js'
import type { CallOptions, Client, ClientOptions, Key, ListParameters, Methods, OptionsFor } from './types.js'

type Required<O> = object extends O ? [options?: O] : [options: O]
type Parameters = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, unknown>>

/**
 * Creates the client of a resource at an address such as `/api/players`, optionally with an origin. The type comes from
 * a router that is imported as a type only: `resource<typeof players>('/api/players')`. A type from `clientTypes` or
 * the interface of a row works as well.
 *
 * Methods resolve with the JSON of the response and reject with a `ProblemError`. The client stores the entity tag of
 * each returned record and sends it as `If-Match` when the record is written.
 *
 * @throws TypeError for an address with a query or fragment
 */
export function resource<R = Row>(
  address: string,
  ...[options]: Required<OptionsFor<ShapesFor<R>>>
): Client<ShapesFor<R>> {
  if (/[?#]/.test(address)) throw new TypeError(`The address must not have a query or fragment: ${address}`)
  const settings: ClientOptions = options ?? {}
  return createMethods(address.replace(/\/+$/, ''), settings) as unknown as Client<ShapesFor<R>>
}

function createMethods(address: string, settings: ClientOptions): Methods<Shapes> {
  const send = createSend(address, settings)
  const names = [settings.key ?? 'id'].flat()
  const versions = { areVersioned: settings.versions === true }

  async function sendForJson<T>(...given: globalThis.Parameters<Send>): Promise<T> {
    return parseJson<T>(await send(...given))
  }

  /** Reads the record of a response, and stores its entity tag. */
  function readRecord(answer: SuccessResponse): Row {
    const body = parseJson<Row | undefined>(answer)
    if (body === undefined) return {}
    if (rememberTag(body, answer.response.headers.get('etag'))) versions.areVersioned = true
    return body
  }

  /** A header from the options of the call, or from the options of the client. */
  function headerOf(options: CallOptions, name: string): string | null {
    return mergeHeaders(settings.headers, options.headers).get(name)
  }

  /** Path and conditional headers of a call on one record. */
  function addressRecord(
    target: unknown,
    options: CallOptions,
    isWrite = true,
  ): { path: string; options: CallOptions } {
    if (typeof target !== 'object' || target === null || Array.isArray(target)) {
      return { path: `/${keyPath(target)}`, options }
    }
    const path = `/${keyPath(keyOf(target, names))}`
    const ifMatch = options.ifMatch ?? headerOf(options, 'If-Match') ?? etagOf(target) ?? undefined
    if (ifMatch === undefined && versions.areVersioned && isWrite) {
      throw new TypeError(
        'The record has no version tag. Read it with get, add the tag with withTag, or pass { ifMatch }.',
      )
    }
    return { path, options: ifMatch === undefined ? options : { ...options, ifMatch } }
  }

  async function write(method: string, target: unknown, more: { body?: unknown; suffix?: string }, given: CallOptions) {
    const { path, options } = addressRecord(target, given)
    const { suffix = '', ...rest } = more
    return send({ method, path: `${path}${suffix}`, ...rest, ...options })
  }

  /** Adds an idempotency key, so that a retry does not create a second record. */
  function withIdempotencyKey(options: CallOptions): CallOptions {
    const isKeyless = options.idempotencyKey === undefined && headerOf(options, 'Idempotency-Key') === null
    return settings.idempotency === true && isKeyless ? { ...options, idempotencyKey: crypto.randomUUID() } : options
  }

  const read = <T>(path: string, parameters: Parameters, options: CallOptions = {}): Promise<T> =>
    sendForJson<T>({ method: 'GET', path, query: queryText(parameters), ...options })

  async function* pages(
    parameters: Parameters = {},
    options: CallOptions = {},
  ): AsyncGenerator<KeysetPage<never>, void> {
    const { page: _, count: __, ...rest } = parameters
    for (let after: string | null = ''; after !== null; ) {
      const page: KeysetPage<never> | null = await read('', { ...rest, after }, options)
      const next: unknown = page?.nextCursor
      // The response may come from a proxy or cache. Without a new cursor, the loop would request one page forever.
      if (page === null || next === after || (next !== null && typeof next !== 'string'))
        throw new ProblemError(200, { title: 'The response is not a page.' }, null)
      yield page
      after = next
    }
  }

  async function* all(parameters?: Parameters, options?: CallOptions): AsyncGenerator<never, void> {
    for await (const { items } of pages(parameters, options)) yield* items
  }

  const list = (parameters: Parameters = {}, options?: CallOptions): Promise<never> => read('', parameters, options)
  const get = async (key: Key, parameters: Parameters = {}, options: CallOptions = {}): Promise<never> => {
    return readRecord(
      await send({ method: 'GET', path: `/${keyPath(key)}`, query: queryText(parameters), ...options }),
    ) as never
  }
  const live = createLive({ address, settings, list: (parameters, options) => list(parameters, options) })
  const sendForRecord = async (response: Promise<SuccessResponse>): Promise<never> =>
    readRecord(await response) as never

  return {
    list,
    pages,
    all,
    count: async (parameters: ListParameters = {}, options) => {
      const answer = await read<{ count: number } | null>('', { ...parameters, count: true }, options)
      if (typeof answer?.count !== 'number')
        throw new ProblemError(200, { title: 'The response is not a count.' }, null)
      return answer.count
    },
    get,
    create: (body, options = {}) =>
      sendForRecord(send({ method: 'POST', path: '', body, ...withIdempotencyKey(options) })),
    update: async (target, body, options = {}) => sendForRecord(write('PATCH', target, { body }, options)),
    replace: async (target, body, options = {}) => sendForRecord(write('PUT', target, { body }, options)),
    delete: async (target, options = {}) => void (await write('DELETE', target, {}, options)),
    restore: async (target, options = {}) => {
      const aimed = addressRecord(target, options, false)
      return sendForRecord(send({ method: 'POST', path: `${aimed.path}/restore`, ...aimed.options }))
    },
    bulkCreate: (body, options = {}) =>
      sendForJson({ method: 'POST', path: '/bulk', body, ...withIdempotencyKey(options) }),
    bulkUpdate: (body, options = {}) => sendForJson({ method: 'PATCH', path: '/bulk', body, ...options }),
    bulkDelete: (keys, options = {}) =>
      sendForJson({ method: 'POST', path: '/bulk-delete', body: keys.map(bodyKey), ...options }),
    upsert: (body, by, options = {}) =>
      sendForJson({ method: 'PUT', path: '/bulk', query: queryText({ by }), body, ...options }),
    aggregate: (parameters, options) => read('', parameters, options),
    export: async (format, parameters = {}, options = {}) => {
      const query = queryText({ ...parameters, format })
      return openStream(
        await send({ method: 'GET', path: '', query, accept: '*/*', isStream: true, ...options }),
        options.signal,
      )
    },
    related: (target, relation) =>
      createRelated(
        `${addressRecord(target, {}, false).path}/${toSegment(relation, 'relation')}`,
        send,
        withIdempotencyKey,
      ),
    live,
    query: {
      list: (parameters) => query([address, 'list', parameters ?? {}], (options) => list(parameters, options)),
      get: (key) => query([address, 'get', keyText(key)], (options) => get(key, {}, options)),
      infinite: (parameters) => ({
        queryKey: [address, 'infinite', parameters ?? {}],
        queryFn: ({ signal, pageParam }) => read('', { ...parameters, after: pageParam }, { signal }),
        structuralSharing: false,
        initialPageParam: '',
        getNextPageParam: ({ nextCursor }) => nextCursor,
      }),
    },
  }
}

function query<T>(queryKey: readonly unknown[], send: (options: CallOptions) => Promise<T>) {
  return {
    queryKey,
    queryFn: ({ signal }: { readonly signal?: AbortSignal }) => send({ signal }),
    structuralSharing: false as const,
  }
}
