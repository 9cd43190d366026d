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

/** What every method takes last. */
export interface CallOptions {
  /** Ends the request, and the waiting between two attempts: the method rejects with the signal's reason. */
  readonly signal?: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  /** For writes: the version that is meant, in place of the one that is remembered; `*` for any. */
  readonly ifMatch?: string
  /** For writes: the same key again does nothing twice, where the resource has `idempotency`. */
  readonly idempotencyKey?: string
}

export interface ClientOptions {
  /** The member of records that is their key, or its parts in the model's order. Default `id`. */
  readonly key?: string | readonly string[]
  /** Asked before each request, and anew whenever a live connection's token has ended. */
  readonly token?: () => string | null | undefined | Promise<string | null | undefined>
  /** The path of the resource's hub. Default: the resource's own path and `/hub`. */
  readonly hub?: string
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** How often a request that does nothing twice is sent again. Default 2. */
  readonly retries?: number
  /** Gives creates an `Idempotency-Key`, for resources with `idempotency`. Default false. */
  readonly idempotency?: boolean
  /** The resource keeps versions (`concurrency`): records without a tag are not written. Default: what its answers tell. */
  readonly versions?: boolean
  /**
   * For services with read replicas: reads that follow a write of this program ask for the primary (`Prefer: read=primary`), during this
   * many seconds; `true` is 10. Default false.
   */
  readonly readYourWrites?: boolean | number
  /** The member that shows the version, where `concurrency` has `inBody`: older events are left out. Default `rowVersion`. */
  readonly version?: string
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** The options that the type of a resource asks for are not optional. */
export type OptionsFor<S> = Omit<ClientOptions, 'key' | 'versions'> &
  (S extends { readonly key: 'id' }
    ? { readonly key?: 'id' }
    : S extends { readonly key: infer K }
      ? string extends K
        ? { readonly key?: K }
        : { readonly key: K }
      : object) &
  (S extends { readonly versions: true } ? { readonly versions: true } : { readonly versions?: boolean })

type Word<Names> = (Names & string) | (string & {})
type Words<Names> = Word<Names> | readonly Word<Names>[]

/** What a list takes, typed parameters by name among it. Lists of words are joined by commas. */
export interface ListParameters<S = Shapes> {
  readonly filter?: string
  readonly sort?: Words<keyof Item<S> | `-${keyof Item<S> & string}`>
  readonly select?: Words<keyof Item<S>>
  readonly page?: number
  readonly pageSize?: number
  readonly search?: string
  readonly keys?: readonly unknown[]
  readonly count?: 'none' | 'exact'
  /** Pages of a keyset: the `nextCursor` or `previousCursor` of another, or an empty text for the first or last one. */
  readonly after?: string
  readonly before?: string
  /** Pages in the order of the key: the `nextCursor` of the one before, or an empty text for the first. */
  readonly cursor?: string
  readonly [parameter: string]: unknown
}

/** What `aggregate` takes: a list's filters, and what is asked for of which groups. */
export interface AggregateParameters<S = Shapes> extends ListParameters<S> {
  /** `count`, `avg(level)`, ... */
  readonly aggregate?: string | readonly string[]
  readonly group?: string | readonly string[]
  readonly having?: string
}

type Item<S> = S extends { readonly item: infer I } ? I : never
type Row<S> = S extends { readonly row: infer R } ? R : never
/** The record of a push. */
type Pushed<S> = S extends { readonly events: { readonly OnCreated: (record: infer R) => void } } ? R : Row<S>
type CreateBody<S> = S extends { readonly create: infer C } ? C : never
type PatchBody<S> = S extends { readonly patch: infer P } ? P : never
type Embedded<S> = S extends { readonly embedded: infer E } ? E : Readonly<Record<string, unknown>>

/** The names of the members that are the key; never where nothing says which these are. */
type KeyName<S> = S extends { readonly key: infer K extends string | readonly string[] }
  ? IsSaid<K> extends true
    ? K extends readonly string[]
      ? K[number]
      : K
    : never
  : never
/** What may be one member or several is not said. */
type IsSaid<K> = [Extract<K, string>] extends [never]
  ? true
  : [Extract<K, readonly string[]>] extends [never]
    ? true
    : false

/** The members that are the key. */
type Keyed<S> = [KeyName<S>] extends [never]
  ? Partial<Row<S>>
  : { readonly [name in KeyName<S>]: MemberOf<Row<S>, name> }

/** The member that has the version of a record, where bodies of several have it. */
type Versioned<S> = S extends { readonly version: infer V extends string }
  ? { readonly [name in V]?: number | string }
  : unknown

/** One of several changes: its key, the version where records have one, and what changes. */
type ChangeOf<S> = PatchBody<S> & Keyed<S> & Versioned<S>
type MemberOf<R, Name> = Name extends keyof R ? R[Name] : string | number

/** A record as it shall be: its key is said by where it is put, and may be repeated. */
type ReplaceBody<S> = ([KeyName<S>] extends [never] ? Partial<CreateBody<S>> : Omit<CreateBody<S>, KeyName<S>>) &
  Partial<Keyed<S>>

/** A record that is there, or is to be: what a new one needs, the service knows. */
type UpsertBody<S> = Partial<CreateBody<S>> & PatchBody<S> & Versioned<S>

/** With `select` an item has what was asked for; what that is, its type does not say. */
type Selected<S, P, Whole> = P extends { readonly select: string | readonly string[] }
  ? Partial<Item<S>> & Partial<Row<S>> & Embedded<S>
  : Whole

/** What a list answers, by what it is asked for. */
type PageOf<P, T> = P extends { readonly after: string } | { readonly before: string }
  ? KeysetPage<T>
  : P extends { readonly cursor: string }
    ? CursorPage<T>
    : Page<T>

export type Key = string | number | bigint | readonly (string | number | bigint)[]
type Target<S> = Key | Row<S> | Item<S>

/** The tables of events that `live` takes. */
export interface LiveHandlers<S = Shapes> {
  readonly onCreated?: (record: Pushed<S>) => void
  readonly onUpdated?: (record: Pushed<S>) => void
  /** The version is that of the record before it went, where `concurrency` has `inBody`. */
  readonly onDeleted?: (key: Key, version?: number) => void
  /** Events may have been missed: list again. */
  readonly onMissed?: () => void
  /** `error` is why a connection could not be opened: `Invalid namespace` for an address without a hub. */
  readonly onState?: (state: LiveState, error?: Error) => void
}

/** `refused`: the server does not let this caller in, and nothing more is tried. */
export type LiveState = 'connecting' | 'live' | 'offline' | 'refused'
export type Stop = () => void

/** What `useQuery` and `useInfiniteQuery` of TanStack Query take. */
export interface Query<T> {
  readonly queryKey: readonly unknown[]
  readonly queryFn: (context: { readonly signal?: AbortSignal }) => Promise<T>
  /** Records keep their identity, and so their tags. */
  readonly structuralSharing: false
}

export interface InfiniteQuery<T> extends Omit<Query<T>, 'queryFn'> {
  readonly queryFn: (context: { readonly signal?: AbortSignal; readonly pageParam: string }) => Promise<T>
  readonly initialPageParam: string
  readonly getNextPageParam: (page: T) => string | null
}

/** The routes of a relation below one record: see the page on relations in the documents. */
export interface Related<T extends object = Readonly<Record<string, unknown>>> {
  list(parameters?: ListParameters, options?: CallOptions): Promise<Page<T>>
  /** The record of a to-one relation. */
  get(parameters?: { readonly select?: string | readonly string[] }, options?: CallOptions): Promise<T>
  create(body: object, options?: CallOptions): Promise<T>
  /** Of a many-to-many. `values` are for the record between the two, where the server has a resource over these. */
  link(key: Key, values?: object, options?: CallOptions): Promise<void>
  unlink(key: Key, options?: CallOptions): Promise<void>
  /** Makes the links exactly these. */
  set(keys: readonly Key[], options?: CallOptions): Promise<Required<LinkResult>>
  /** Makes these besides others. */
  add(keys: readonly Key[], options?: CallOptions): Promise<Pick<LinkResult, 'linked'>>
}

/** `live(handlers)` hears of changes; `live.records` keeps an array that is what the list answers. */
export interface Live<S = Shapes> {
  (handlers: LiveHandlers<S>): Stop
  records(
    parameters: ListParameters<S>,
    onChange: (records: readonly Item<S>[]) => void,
    handlers?: Pick<LiveHandlers<S>, 'onState'> & { readonly onError?: (error: unknown) => void },
  ): Stop
}

/** Every method there can be. Each rejects with a `ProblemError`, or with the reason of its signal. */
export interface Methods<S> {
  list<const P extends ListParameters<S>>(
    parameters?: P,
    options?: CallOptions,
  ): Promise<PageOf<P, Selected<S, P, Item<S>>>>
  /** Pages by `after`, from the first to the last. */
  pages<const P extends ListParameters<S>>(
    parameters?: P,
    options?: CallOptions,
  ): AsyncGenerator<KeysetPage<Selected<S, P, Item<S>>>, void, undefined>
  /** The items of all pages. */
  all<const P extends ListParameters<S>>(
    parameters?: P,
    options?: CallOptions,
  ): AsyncGenerator<Selected<S, P, Item<S>>, void, undefined>
  count(parameters?: ListParameters<S>, options?: CallOptions): Promise<number>
  get<const P extends { readonly select?: Words<keyof Row<S>> }>(
    key: Key,
    parameters?: P,
    options?: CallOptions,
  ): Promise<Selected<S, P, Row<S>>>
  create(body: CreateBody<S>, options?: CallOptions): Promise<Row<S>>
  /** By a record the version that was read is sent along. By a key it is written as it is asked. */
  update(record: Target<S>, changes: PatchBody<S>, options?: CallOptions): Promise<Row<S>>
  replace(record: Target<S>, body: ReplaceBody<S>, options?: CallOptions): Promise<Row<S>>
  delete(record: Target<S>, options?: CallOptions): Promise<void>
  restore(record: Target<S>, options?: CallOptions): Promise<Row<S>>
  bulkCreate(bodies: readonly CreateBody<S>[], options?: CallOptions): Promise<readonly Row<S>[]>
  bulkUpdate(changes: readonly ChangeOf<S>[], options?: CallOptions): Promise<readonly Row<S>[]>
  bulkDelete(keys: readonly Key[], options?: CallOptions): Promise<BulkDeleteResult>
  upsert(bodies: readonly UpsertBody<S>[], by: string | readonly string[], options?: CallOptions): Promise<UpsertResult>
  aggregate(parameters: AggregateParameters<S>, options?: CallOptions): Promise<GroupPage>
  /** The records that match as a stream of bytes. */
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

/** The operation that a method is of, where it is one that can be off. */
interface Needs {
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

/** The methods of a resource: those of operations that are off are not there. */
export type Client<S> = {
  [M in keyof Methods<S> as M extends keyof Needs
    ? Needs[M] extends (S extends { readonly operations: infer O } ? O : string)
      ? M
      : never
    : M]: Methods<S>[M]
}
