import type {
  BulkDeleteResult,
  CursorPage,
  ExportFormat,
  GroupPage,
  KeysetPage,
  LinkResult,
  Page,
  UpsertResult,
} from '../../types/reply.js'
import type { Shapes } from './shapes.js'

/** Options of a call, the last argument of every method. */
export interface CallOptions {
  /** Aborts the request, and also the wait between attempts. The method rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** For writes: the expected version, or `*` for any version. Replaces the stored version of the record. */
  readonly ifMatch?: string
  /** For writes: requests with one key are executed once, if the resource has `idempotency`. */
  readonly idempotencyKey?: string
}

export interface ClientOptions {
  /** Name of the key member, or names of the key's parts in the model's order. Default: `id`. */
  readonly key?: string | readonly string[]
  /**
   * Returns the token. The client calls it before each request, and when the token of a live connection has expired.
   */
  readonly token?: () => string | null | undefined | Promise<string | null | undefined>
  /** Path of the resource's push hub. Default: the resource's path followed by `/hub`. */
  readonly hub?: string
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Maximum number of retries of a request that is safe to repeat. Default: 2. */
  readonly retries?: number
  /** Adds an `Idempotency-Key` to creates, for resources with `idempotency`. Default: false. */
  readonly idempotency?: boolean
  /**
   * Whether the resource has versions (`concurrency`). If true, a record without a version tag cannot be written.
   * Default: detected from responses.
   */
  readonly versions?: boolean
  /**
   * For services with read replicas: number of seconds after a write in which reads use the primary (`Prefer:
   * read=primary`). `true` is 10 seconds. Default: false.
   */
  readonly readYourWrites?: boolean | number
  /** Name of the version member, for `concurrency` with `inBody`. Older events are ignored. Default: `rowVersion`. */
  readonly version?: string
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** Options of a client. Options that the resource's type needs are required. */
export type OptionsFor<S> = Omit<ClientOptions, 'key' | 'versions'> &
  (S extends { readonly key: infer K } ? ('id' extends K ? { readonly key?: K } : { readonly key: K }) : object) &
  (S extends { readonly versions: true } ? { readonly versions: true } : { readonly versions?: boolean })

type Suggested<Names> = (Names & string) | (string & {})
type SuggestedList<Names> = Suggested<Names> | readonly Suggested<Names>[]

/** Parameters of a list. Field parameters are typed. Arrays are joined by commas. */
export interface ListParameters<S = Shapes> {
  readonly filter?: string
  readonly sort?: SuggestedList<keyof Item<S> | `-${keyof Item<S> & string}`>
  readonly select?: SuggestedList<keyof Item<S>>
  readonly page?: number
  readonly pageSize?: number
  readonly search?: string
  readonly keys?: readonly unknown[]
  readonly count?: 'none' | 'exact'
  /**
   * Cursors of keyset pages: `after` is a `nextCursor`, `before` is a `previousCursor`. An empty `after` requests the
   * first page. An empty `before` is ignored.
   */
  readonly after?: string
  readonly before?: string
  /** Cursor for pages in key order: `nextCursor` of the previous page, or an empty text for the first page. */
  readonly cursor?: string
  /** A parameter has no null, which would be sent as the text "null". Use `filter.isNull` instead. */
  readonly [parameter: string]: string | number | bigint | boolean | object | undefined
}

/** Parameters of `aggregate`: filters, group keys and measures. */
export interface AggregateParameters<S = Shapes> extends ListParameters<S> {
  /** Measures such as `count` or `avg(level)`. */
  readonly aggregate?: string | readonly string[]
  readonly group?: string | readonly string[]
  readonly having?: string
}

type Item<S> = S extends { readonly item: infer I } ? I : never
export type Row<S> = S extends { readonly row: infer R } ? R : never
/** Record of a push event. */
type PushedRecord<S> = S extends { readonly events: { readonly OnCreated: (record: infer R) => void } } ? R : Row<S>
export type CreateBody<S> = S extends { readonly create: infer C } ? C : never
export type PatchBody<S> = S extends { readonly patch: infer P } ? P : never
type Embedded<S> = S extends { readonly embedded: infer E } ? E : Readonly<Record<string, unknown>>

/** Names of the key members. `never` if the names are unknown. */
type KeyName<S> = S extends { readonly key: infer K extends string | readonly string[] }
  ? IsKnownKey<K> extends true
    ? K extends readonly string[]
      ? K[number]
      : K
    : never
  : never
/** Whether the names of the key are known: one name or a list of names, and not a union of both. */
type IsKnownKey<K> = [Extract<K, string>] extends [never]
  ? true
  : [Extract<K, readonly string[]>] extends [never]
    ? true
    : false

/** The key members of a record, with their types. */
type KeyMembers<S> = [KeyName<S>] extends [never]
  ? Partial<Row<S>>
  : { readonly [name in KeyName<S>]: MemberOf<Row<S>, name> }

/** The version member of a record in batches. */
type VersionMember<S> = S extends { readonly version: infer V extends string }
  ? { readonly [name in V]?: number | string }
  : unknown

/** An item of a bulk update: the changes, the key, and the version if the resource has versions. */
type ChangeOf<S> = PatchBody<S> & KeyMembers<S> & VersionMember<S>
type MemberOf<R, Name> = Name extends keyof R ? R[Name] : string | number

/** Body of a replacement. The path contains the key, and the body may repeat the key. */
export type ReplaceBody<S> = ([KeyName<S>] extends [never] ? Partial<CreateBody<S>> : Omit<CreateBody<S>, KeyName<S>>) &
  Partial<KeyMembers<S>>

/** Body of an upsert item. The server checks that a new record has its required members. */
type UpsertBody<S> = Partial<CreateBody<S>> & PatchBody<S> & VersionMember<S>

/** Item of a list. With `select`, its members are unknown. */
type Selected<S, P, Whole> = P extends { readonly select: string | readonly string[] }
  ? Partial<Item<S>> & Partial<Row<S>> & Embedded<S>
  : Whole

/** Page type of a list. The parameters choose the type. */
type PageOf<P, T> = P extends { readonly after: string } | { readonly before: string }
  ? KeysetPage<T>
  : P extends { readonly cursor: string }
    ? CursorPage<T>
    : Page<T>

export type Key = string | number | bigint | readonly (string | number | bigint)[]
type Target<S> = Key | Row<S> | Item<S>

/** Event handlers of `live`. */
export interface LiveHandlers<S = Shapes> {
  readonly onCreated?: (record: PushedRecord<S>) => void
  readonly onUpdated?: (record: PushedRecord<S>) => void
  /** `version` is the record's last version, if `concurrency` has `inBody`. */
  readonly onDeleted?: (key: Key, version?: number) => void
  /** Called when events may have been missed. The application should load the list again. */
  readonly onMissed?: () => void
  /**
   * `error` is the reason of a failed connection, for example `Invalid namespace` for an address without a hub. Default:
   * logs each reason.
   */
  readonly onState?: (state: LiveState, error?: Error) => void
}

/** State of a live connection. `refused`: the server has refused the caller, and the client does not reconnect. */
export type LiveState = 'connecting' | 'live' | 'offline' | 'refused'
export type Stop = () => void

/** Options for `useQuery` and `useInfiniteQuery` of TanStack Query. */
export interface Query<T> {
  readonly queryKey: readonly unknown[]
  readonly queryFn: (context: { readonly signal?: AbortSignal }) => Promise<T>
  /** Keeps the identity of record objects, because entity tags are stored by object. */
  readonly structuralSharing: false
}

export interface InfiniteQuery<T> extends Omit<Query<T>, 'queryFn'> {
  readonly queryFn: (context: { readonly signal?: AbortSignal; readonly pageParam: string }) => Promise<T>
  readonly initialPageParam: string
  readonly getNextPageParam: (page: T) => string | null
}

/** Methods for the routes of a relation below one record. */
export interface Related<T extends object = Readonly<Record<string, unknown>>> {
  list(parameters?: ListParameters, options?: CallOptions): Promise<Page<T>>
  /** Returns the record of a to-one relation. */
  get(parameters?: { readonly select?: string | readonly string[] }, options?: CallOptions): Promise<T>
  create(body: object, options?: CallOptions): Promise<T>
  /**
   * Links a record of a many-to-many relation. `values` are attributes of the join row, if the join model has a
   * resource.
   */
  link(key: Key, values?: object, options?: CallOptions): Promise<void>
  unlink(key: Key, options?: CallOptions): Promise<void>
  /** Replaces all links of the record. */
  set(keys: readonly Key[], options?: CallOptions): Promise<Required<LinkResult>>
  /** Adds links. */
  add(keys: readonly Key[], options?: CallOptions): Promise<Pick<LinkResult, 'linked'>>
}

/** `live(handlers)` calls handlers for events. `live.records` keeps an array equal to the list. */
export interface Live<S = Shapes> {
  (handlers: LiveHandlers<S>): Stop
  records(
    parameters: ListParameters<S>,
    onChange: (records: readonly Item<S>[]) => void,
    handlers?: Pick<LiveHandlers<S>, 'onState'> & { readonly onError?: (error: unknown) => void },
  ): Stop
}

/** All methods of a client. Each method rejects with a `ProblemError`, or with the reason of its signal. */
export interface Methods<S> {
  list<const P extends ListParameters<S>>(
    parameters?: P,
    options?: CallOptions,
  ): Promise<PageOf<P, Selected<S, P, Item<S>>>>
  /** Iterates over all pages, from first to last, with the parameter `after`. */
  pages<const P extends ListParameters<S>>(
    parameters?: P,
    options?: CallOptions,
  ): AsyncGenerator<KeysetPage<Selected<S, P, Item<S>>>, void, undefined>
  /** Iterates over the items of all pages. */
  all<const P extends ListParameters<S>>(
    parameters?: P,
    options?: CallOptions,
  ): AsyncGenerator<Selected<S, P, Item<S>>, void, undefined>
  count(parameters?: ListParameters<S>, options?: CallOptions): Promise<number>
  get<const P extends { readonly select?: SuggestedList<keyof Row<S>> }>(
    key: Key,
    parameters?: P,
    options?: CallOptions,
  ): Promise<Selected<S, P, Row<S>>>
  create(body: CreateBody<S>, options?: CallOptions): Promise<Row<S>>
  /** Updates a record. A record argument sends the version that was read. A key argument sends no version. */
  update(record: Target<S>, changes: PatchBody<S>, options?: CallOptions): Promise<Row<S>>
  replace(record: Target<S>, body: ReplaceBody<S>, options?: CallOptions): Promise<Row<S>>
  delete(record: Target<S>, options?: CallOptions): Promise<void>
  restore(record: Target<S>, options?: CallOptions): Promise<Row<S>>
  bulkCreate(bodies: readonly CreateBody<S>[], options?: CallOptions): Promise<readonly Row<S>[]>
  bulkUpdate(changes: readonly ChangeOf<S>[], options?: CallOptions): Promise<readonly Row<S>[]>
  bulkDelete(keys: readonly Key[], options?: CallOptions): Promise<BulkDeleteResult>
  upsert(bodies: readonly UpsertBody<S>[], by: string | readonly string[], options?: CallOptions): Promise<UpsertResult>
  aggregate(parameters: AggregateParameters<S>, options?: CallOptions): Promise<GroupPage>
  /** Exports the matching records as a byte stream. */
  export(
    format: ExportFormat,
    parameters?: ListParameters<S>,
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array>>
  related<T extends object = Readonly<Record<string, unknown>>>(record: Target<S>, relation: string): Related<T>
  readonly live: Live<S>
  readonly query: {
    list<const P extends ListParameters<S>>(parameters?: P): Query<PageOf<P, Selected<S, P, Item<S>>>>
    get(key: Key): Query<Row<S>>
    infinite<const P extends ListParameters<S>>(parameters?: P): InfiniteQuery<KeysetPage<Selected<S, P, Item<S>>>>
  }
}

/** Operation that a method needs, for methods whose operation can be disabled. */
interface NeededOperations {
  readonly list: 'getList'
  readonly pages: 'getList'
  readonly all: 'getList'
  readonly count: 'getList'
  readonly get: 'getById'
  readonly create: 'create'
  readonly update: 'update'
  readonly replace: 'replace'
  readonly delete: 'delete'
  readonly restore: 'restore'
  readonly bulkCreate: 'bulkCreate'
  readonly bulkUpdate: 'bulkUpdate'
  readonly bulkDelete: 'bulkDelete'
  readonly upsert: 'upsert'
  readonly aggregate: 'aggregate'
  readonly export: 'export'
}

/** Methods of a resource, without methods of disabled operations. */
export type Client<S> = {
  [M in keyof Methods<S> as M extends keyof NeededOperations
    ? NeededOperations[M] extends (S extends { readonly operations: infer O } ? O : string)
      ? M
      : never
    : M]: Methods<S>[M]
}
