import type { OperationName } from '../lib/operations.js'
import type { Action } from './action.js'
import type { Field } from './field.js'
import type {
  Direction,
  FilterNode,
  GroupNode,
  GroupSortNode,
  HavingNode,
  MeasureNode,
  Path,
  SortNode,
} from './query.js'
import type { Total } from './settings.js'

/** What `Prefer: handling` has to do with a reply, which says so. */
export interface Preference {
  /** What it asked for and got; null where nothing was applied. */
  readonly applied: 'lenient' | 'strict' | null
  /** Whether another preference could have had another answer. */
  readonly varies: boolean
}

/** What a request asks for of groups of records, as written. */
export interface Aggregation {
  /** Each once; none where the groups alone are wanted. */
  readonly measures: readonly MeasureNode[]
  /** None where all records are one group. */
  readonly groups: readonly GroupNode[]
  readonly having: HavingNode | null
  readonly sort: readonly GroupSortNode[]
}

/** A page behind, or before, the place in a token; null where it starts. */
export interface Seek {
  readonly parameter: 'after' | 'before'
  readonly token: string | null
}

/** How a collection in `select` is to be filtered, sorted and cut: what `players.filter`, `.sort` and `.limit` say. */
export interface Shape {
  /** The path to the collection as it stands in the names of the parameters, in lower case: `players`. */
  readonly path: string
  /** The first of the parameters. */
  readonly parameter: string
  readonly filter: FilterNode | null
  readonly sort: readonly SortNode[] | null
  readonly limit: number | null
}

/** What a list request asks for, as written: names in paths are not looked up, values are text. */
export interface ListIntent {
  readonly kind: 'list'
  readonly mode: 'page' | 'count' | 'cursor' | 'seek' | 'select' | 'aggregate' | 'export'
  readonly page: number
  readonly pageSize: number
  readonly total: Total
  readonly filter: FilterNode | null
  readonly sort: readonly SortNode[] | null
  readonly sortBy: string | null
  readonly sortDirection: Direction | null
  readonly select: readonly Path[] | null
  /** What is said of collections that `select` names. */
  readonly shapes: readonly Shape[]
  /** The most records of collections, where that is less than the limit; absent for the limit. */
  readonly embedTotal?: number
  /** The texts that the records' keys must be among, each once; null for any key. */
  readonly keys: readonly string[] | null
  /** The words that a record must have, each once; null where nothing is searched for. */
  readonly search: readonly string[] | null
  /** The key behind the last page's token; null on the first page, undefined outside cursor mode. */
  readonly after: string | null | undefined
  /** The format that an export is asked for in by its name; null where it is for `Accept` to say. */
  readonly format: string | null
  /** Whether the last line of an export, or the first page by `after`, has the number of all records. Default false. */
  readonly isCounted?: boolean
  /** Where `after` or `before` goes on from; null outside their mode. */
  readonly seek: Seek | null
  /** Null in every mode but `aggregate`. */
  readonly aggregation: Aggregation | null
  readonly includeDeleted: boolean
  /** Typed field parameters, in the order of the URL. It is by their fields that they are known to be parameters. */
  readonly parameters: readonly (readonly [field: Field, text: string])[]
  /** What an unknown name does to this request. */
  readonly unknownFields: 'reject' | 'ignore'
  readonly preference: Preference
}

/** What of one record is asked for. */
export interface Selecting {
  /** Null for the whole response. */
  readonly select: readonly Path[] | null
  readonly shapes: readonly Shape[]
  /** The most records of collections, where that is less than the limit; absent for the limit. */
  readonly embedTotal?: number
  readonly unknownFields: ListIntent['unknownFields']
  /** Nothing was preferred where nothing is selected. */
  readonly preference: Preference
}

export interface GetIntent extends Selecting {
  readonly kind: 'get'
  readonly key: string
}

/** What all writes have whose replies hold records. */
interface Writing {
  /** Whether `Prefer: return=minimal` wants the reply without them. */
  readonly minimal: boolean
}

/** What a write has whose bodies may be held to the names that there are. */
export interface Named {
  /** Refuses names that mean nothing, whatever the resource lets pass; absent where it is for the resource to say. */
  readonly unknown?: 'reject'
}

export interface CreateIntent extends Writing, Named {
  readonly kind: 'create'
  readonly body: Readonly<Record<string, unknown>>
}

/** The entity tags of `If-Match`: any, or these versions. Tags that are no version are left out and match nothing. */
export type Match = '*' | readonly string[]

export interface UpdateIntent extends Writing, Named {
  readonly kind: 'update'
  readonly key: string
  readonly match: Match | null
  readonly body: Readonly<Record<string, unknown>>
}

export interface DeleteIntent {
  readonly kind: 'delete'
  readonly key: string
  readonly match: Match | null
}

export interface BulkCreateIntent extends Writing, Named {
  readonly kind: 'bulkCreate'
  /** What each of them is, where it is another operation. */
  readonly operation?: OperationName
  readonly bodies: readonly unknown[]
}

type Body = Readonly<Record<string, unknown>>

/** A body that may change a record or make one, as either would have come alone; an error where it may not make one. */
export interface EitherBody {
  readonly update: Body
  readonly create: Body | Error
}

export interface ReplaceIntent extends Writing, EitherBody {
  readonly kind: 'replace'
  readonly key: string
  /** What the body has under the key's name; undefined for nothing. */
  readonly named: readonly unknown[]
  readonly match: Match | null
  /** Whether `If-None-Match: *` wants a record that does not exist yet. */
  readonly isNew: boolean
}

/** One body of several, with what a single request has in its path and its headers. */
export interface Item {
  /** What it has under the key's name; undefined for nothing. */
  readonly key: unknown
  /** What it has under the version's name, where records have one; undefined for nothing. */
  readonly version: unknown
  readonly body: Readonly<Record<string, unknown>>
}

export interface BulkUpdateIntent extends Writing {
  readonly kind: 'bulkUpdate'
  /** In the order of the body; null for what is no object. */
  readonly items: readonly (Item | null)[]
}

export interface UpsertItem extends EitherBody {
  /** What it has under the version's name, where records have one; undefined for nothing. */
  readonly version: unknown
}

export interface UpsertIntent {
  readonly kind: 'upsert'
  /** The parameter `by`, names separated by commas; null without it. */
  readonly by: string | null
  /** In the order of the body; null for what is no object. */
  readonly items: readonly (UpsertItem | null)[]
}

export interface BulkDeleteIntent {
  readonly kind: 'bulkDelete'
  readonly keys: readonly unknown[]
}

export interface RestoreIntent extends Writing {
  readonly kind: 'restore'
  readonly key: string
}

/** A call of an action. */
export interface ActionIntent extends Writing, Selecting {
  readonly kind: 'action'
  readonly action: Action
  /** Null for an action of the collection. */
  readonly key: string | null
  readonly match: Match | null
  /** The members of the body, or the parameters. */
  readonly input: Readonly<Record<string, unknown>>
}

/** What behaviours rewrite: of several bodies in one request each by itself, as if it had come alone. */
export type SingleIntent =
  | GetIntent
  | ListIntent
  | CreateIntent
  | UpdateIntent
  | DeleteIntent
  | BulkCreateIntent
  | BulkDeleteIntent
  | RestoreIntent

export type Intent = SingleIntent | BulkUpdateIntent | ReplaceIntent | UpsertIntent | ActionIntent
