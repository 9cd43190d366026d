import type { KeysetPage } from '../../types/reply.js'
import { inBody, keyOf, keyPath, keyText, queryText, segmentOf } from './address.js'
import { liveOf } from './live.js'
import { ProblemError } from './problemError.js'
import { relatedOf } from './related.js'
import { type Answer, headersOf, jsonOf, type Send, sender, streamOf } from './send.js'
import type { Shapes, ShapesFor } from './shapes.js'
import { etagOf, remember } from './tags.js'
import type { CallOptions, Client, ClientOptions, Key, Methods, OptionsFor } from './types.js'

type Required<O> = object extends O ? [options?: O] : [options: O]
type Parameters = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, unknown>>

/**
 * A client of a resource at an address, `/api/players` or with an origin. Its type is that of the router, which is
 * imported as a type alone: `resource<typeof players>('/api/players')`; or what `clientTypes` wrote, or the interface of a row.
 *
 * Methods resolve with what the service answers, as JSON has it, and reject with a `ProblemError`. The tag of a version that
 * came with a record is remembered beside it, and sent as `If-Match` when that record is written.
 *
 * @throws TypeError for an address with a query or fragment
 */
export function resource<R = Row>(
  address: string,
  ...[options]: Required<OptionsFor<ShapesFor<R>>>
): Client<ShapesFor<R>> {
  if (/[?#]/.test(address)) throw new TypeError(`an address has no query and no fragment: ${address}`)
  const settings: ClientOptions = options ?? {}
  return methodsOf(address.replace(/\/+$/, ''), settings) as unknown as Client<ShapesFor<R>>
}

/** The calls of one resource, and what its versions are known by. */
class Calls {
  readonly address: string
  readonly settings: ClientOptions
  readonly send: Send
  readonly #names: readonly string[]
  /** Whether some record that was read has a version: then all have one. */
  #areVersionsKept: boolean

  constructor(address: string, settings: ClientOptions) {
    this.address = address
    this.settings = settings
    this.send = sender(address, settings)
    this.#names = [settings.key ?? 'id'].flat()
    this.#areVersionsKept = settings.versions === true
  }

  async json<T>(...given: globalThis.Parameters<Send>): Promise<T> {
    return jsonOf<T>(await this.send(...given))
  }

  read<T>(path: string, parameters: Parameters, options: CallOptions = {}): Promise<T> {
    return this.json<T>({ method: 'GET', path, query: queryText(parameters), ...options })
  }

  /** The record of an answer, with its tag remembered. */
  async record(sent: Promise<Answer>): Promise<never> {
    const answer = await sent
    const body = jsonOf<Row | undefined>(answer)
    if (body === undefined) return {} as never
    if (remember(body, answer.response.headers.get('etag'))) this.#areVersionsKept = true
    return body as never
  }

  /** Where a write goes, and under which version. */
  aim(target: unknown, options: CallOptions, isWrite = true): { path: string; options: CallOptions } {
    if (typeof target !== 'object' || target === null || Array.isArray(target)) {
      return { path: `/${keyPath(target)}`, options }
    }
    const path = `/${keyPath(keyOf(target, this.#names))}`
    const ifMatch = options.ifMatch ?? this.#headerIn(options, 'If-Match') ?? etagOf(target) ?? undefined
    if (ifMatch === undefined && this.#areVersionsKept && isWrite) {
      throw new TypeError(
        'this record has no version tag: it is a copy, or of a list. Read it by get, give it one by withTag, or say { ifMatch }',
      )
    }
    return { path, options: ifMatch === undefined ? options : { ...options, ifMatch } }
  }

  async write(method: string, target: unknown, more: { readonly body?: unknown }, given: CallOptions): Promise<Answer> {
    const { path, options } = this.aim(target, given)
    return this.send({ method, path, ...more, ...options })
  }

  /** A create that is sent again must not be one more. */
  once(options: CallOptions): CallOptions {
    const isKeyless = options.idempotencyKey === undefined && this.#headerIn(options, 'Idempotency-Key') === null
    return this.settings.idempotency === true && isKeyless
      ? { ...options, idempotencyKey: crypto.randomUUID() }
      : options
  }

  /** A header that the caller has given, for this call or for all of them. */
  #headerIn(options: CallOptions, name: string): string | null {
    return headersOf(this.settings.headers, options.headers).get(name)
  }
}

function methodsOf(address: string, settings: ClientOptions): Methods<Shapes> {
  const calls = new Calls(address, settings)
  const reads = readsOf(calls)
  return {
    ...reads,
    ...writesOf(calls),
    related: (target, relation) =>
      relatedOf(`${calls.aim(target, {}, false).path}/${segmentOf(relation, 'relation')}`, calls.send, (options) =>
        calls.once(options),
      ),
    live: liveOf({ address, settings, list: (parameters, options) => reads.list(parameters, options) }),
    query: queriesOf(calls, reads),
  }
}

type Reads = Pick<Methods<Shapes>, 'list' | 'pages' | 'all' | 'count' | 'get' | 'aggregate' | 'export'>

function readsOf(calls: Calls): Reads {
  async function* pages(
    parameters: Parameters = {},
    options: CallOptions = {},
  ): AsyncGenerator<KeysetPage<never>, void> {
    const { page: _, count: __, ...rest } = parameters
    for (let after: string | null = ''; after !== null; ) {
      const page: KeysetPage<never> | null = await calls.read('', { ...rest, after }, options)
      // A proxy may answer anything. Without a cursor the first page would be asked for again and again.
      if (page?.nextCursor === undefined) throw new ProblemError(200, { title: 'The answer is no page.' }, null)
      yield page
      after = page.nextCursor
    }
  }

  return {
    list: (parameters: Parameters = {}, options?: CallOptions): Promise<never> => calls.read('', parameters, options),
    pages,
    async *all(parameters, options) {
      for await (const { items } of pages(parameters, options)) yield* items
    },
    count: async (parameters = {}, options) => {
      const answer = await calls.read<{ count: number } | null>('', { ...parameters, count: true }, options)
      if (typeof answer?.count !== 'number') throw new ProblemError(200, { title: 'The answer is no count.' }, null)
      return answer.count
    },
    get: async (key: Key, parameters: Parameters = {}, options: CallOptions = {}): Promise<never> =>
      calls.record(calls.send({ method: 'GET', path: `/${keyPath(key)}`, query: queryText(parameters), ...options })),
    aggregate: (parameters, options) => calls.read('', parameters, options),
    export: async (format, parameters = {}, options = {}) => {
      const query = queryText({ ...parameters, format })
      return streamOf(
        await calls.send({ method: 'GET', path: '', query, accept: '*/*', isStream: true, ...options }),
        options.signal,
      )
    },
  }
}

type Writes = Pick<
  Methods<Shapes>,
  'create' | 'update' | 'replace' | 'delete' | 'restore' | 'bulkCreate' | 'bulkUpdate' | 'bulkDelete' | 'upsert'
>

function writesOf(calls: Calls): Writes {
  return {
    create: (body, options = {}) =>
      calls.record(calls.send({ method: 'POST', path: '', body, ...calls.once(options) })),
    update: (target, body, options = {}) => calls.record(calls.write('PATCH', target, { body }, options)),
    replace: (target, body, options = {}) => calls.record(calls.write('PUT', target, { body }, options)),
    delete: async (target, options = {}) => void (await calls.write('DELETE', target, {}, options)),
    restore: async (target, options = {}) => {
      const aimed = calls.aim(target, options, false)
      return calls.record(calls.send({ method: 'POST', path: `${aimed.path}/restore`, ...aimed.options }))
    },
    bulkCreate: (body, options = {}) => calls.json({ method: 'POST', path: '/bulk', body, ...calls.once(options) }),
    bulkUpdate: (body, options = {}) => calls.json({ method: 'PATCH', path: '/bulk', body, ...options }),
    bulkDelete: (keys, options = {}) =>
      calls.json({ method: 'POST', path: '/bulk-delete', body: keys.map(inBody), ...options }),
    upsert: (body, by, options = {}) =>
      calls.json({ method: 'PUT', path: '/bulk', query: queryText({ by }), body, ...options }),
  }
}

function queriesOf(calls: Calls, { list, get }: Reads): Methods<Shapes>['query'] {
  const { address } = calls
  return {
    list: (parameters) => query([address, 'list', parameters ?? {}], (options) => list(parameters, options)),
    get: (key) => query([address, 'get', keyText(key)], (options) => get(key, {}, options)),
    infinite: (parameters) => ({
      queryKey: [address, 'infinite', parameters ?? {}],
      queryFn: ({ signal, pageParam }) =>
        calls.read('', { ...parameters, after: pageParam }, signal === undefined ? {} : { signal }),
      structuralSharing: false,
      initialPageParam: '',
      getNextPageParam: ({ nextCursor }) => nextCursor,
    }),
  }
}

function query<T>(queryKey: readonly unknown[], ask: (options: CallOptions) => Promise<T>) {
  return {
    queryKey,
    queryFn: ({ signal }: { readonly signal?: AbortSignal }) => ask(signal === undefined ? {} : { signal }),
    structuralSharing: false as const,
  }
}
