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

/** The result of `Prefer: handling` (RFC 7240), for the reply's headers. */
export interface Preference {
  /** The applied preference; null if none was applied. */
  readonly applied: 'lenient' | 'strict' | null
  /** Whether another preference could have changed the response. */
  readonly varies: boolean
}

/** The aggregation of a list request, as parsed. */
export interface Aggregation {
  /** The measures without duplicates. Empty if the request only asks for groups. */
  readonly measures: readonly MeasureNode[]
  /** The group keys. Empty if all records form one group. */
  readonly groups: readonly GroupNode[]
  readonly having: HavingNode | null
  readonly sort: readonly GroupSortNode[]
}

/** A page after or before a cursor token; a null token is the first page. */
export interface Seek {
  readonly parameter: 'after' | 'before'
  readonly token: string | null
}

/** The filter, sort and limit of a collection in `select`: `players.filter`, `.sort` and `.limit`. */
export interface CollectionQuery {
  /** The path to the collection in lower case, as in the parameter names: `players`. */
  readonly path: string
  /** The name of the first parameter in the request for this collection. */
  readonly parameter: string
  readonly filter: FilterNode | null
  readonly sort: readonly SortNode[] | null
  readonly limit: number | null
}

/** A list request as parsed. Paths are not resolved, and values are text. */
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
  /** The parameters of collections that `select` names. */
  readonly collections: readonly CollectionQuery[]
  /** The most records in collections of the whole response; absent for the resource's limit. */
  readonly embedTotal?: number
  /** The keys to filter by, without duplicates; null without `keys`. */
  readonly keys: readonly string[] | null
  /** The words that a record must contain, without duplicates; null without `search`. */
  readonly search: readonly string[] | null
  /** The last key of the previous page; null on the first page, undefined outside cursor mode. */
  readonly after: string | null | undefined
  /** The export format of the parameter `format`; null if `Accept` decides. */
  readonly format: string | null
  /**
   * Whether the last line of an export, or the first page by `after`, has the total number of records. Default false.
   */
  readonly isCounted?: boolean
  /** The start of the page in the modes `seek` and `export`; null in other modes. */
  readonly seek: Seek | null
  /** The aggregation; null outside the mode `aggregate`. */
  readonly aggregation: Aggregation | null
  readonly includeDeleted: boolean
  /** Field parameters in the order of the URL, with the fields that their names resolved to. */
  readonly parameters: readonly (readonly [field: Field, text: string])[]
  /** The effect of an unknown field name in this request. */
  readonly unknownFields: 'reject' | 'ignore'
  readonly preference: Preference
}

/** The selected members of a record. */
export interface SelectionMembers {
  /** The selected paths; null for all members. */
  readonly select: readonly Path[] | null
  readonly collections: readonly CollectionQuery[]
  /** The most records in collections of the whole response; absent for the resource's limit. */
  readonly embedTotal?: number
  readonly unknownFields: ListIntent['unknownFields']
  /** Without a selection and unknown parameters, no preference is applied. */
  readonly preference: Preference
}

export interface GetIntent extends SelectionMembers {
  readonly kind: 'get'
  readonly key: string
}

/** Members of every write whose reply has records. */
interface WriteIntentBase {
  /** Whether `Prefer: return=minimal` asks for a reply without records. */
  readonly minimal: boolean
}

/** Members of a write whose bodies may contain unknown names. */
export interface UnknownNameHandling {
  /** `reject` refuses unknown names whatever the resource allows. Absent: the resource decides. */
  readonly unknownNames?: 'reject'
}

export interface CreateIntent extends WriteIntentBase, UnknownNameHandling {
  readonly kind: 'create'
  readonly body: Readonly<Record<string, unknown>>
}

/**
 * `If-Match` (RFC 9110 section 13.1.1): any version, or the listed ones. Tags of another form are dropped and match
 * nothing.
 */
export type Match = '*' | readonly string[]

export interface UpdateIntent extends WriteIntentBase, UnknownNameHandling {
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

export interface BulkCreateIntent extends WriteIntentBase, UnknownNameHandling {
  readonly kind: 'bulkCreate'
  /** The operation for each record, if it differs from the request's. */
  readonly operation?: OperationName
  readonly bodies: readonly unknown[]
}

type Body = Readonly<Record<string, unknown>>

/**
 * A body that updates or creates a record, parsed for both. `create` is an error if the body cannot create a record.
 */
export interface CreateOrUpdateBody {
  readonly update: Body
  readonly create: Body | Error
}

export interface ReplaceIntent extends WriteIntentBase, CreateOrUpdateBody {
  readonly kind: 'replace'
  readonly key: string
  /** The values of the key's members; undefined for missing members. */
  readonly keyValues: readonly unknown[]
  readonly match: Match | null
  /** Whether `If-None-Match: *` requires that the record does not exist (RFC 9110 section 13.1.2). */
  readonly isCreateOnly: boolean
}

/** One body of a batch, with the key and the version that a single request has in its path and headers. */
export interface BatchItem {
  /** The value of the key's member; undefined if missing. */
  readonly key: unknown
  /** The value of the version's member; undefined if missing or if the resource has no versions. */
  readonly version: unknown
  readonly body: Readonly<Record<string, unknown>>
}

export interface BulkUpdateIntent extends WriteIntentBase {
  readonly kind: 'bulkUpdate'
  /** The elements in the order of the body; null for an element that is not an object. */
  readonly items: readonly (BatchItem | null)[]
}

export interface UpsertItem extends CreateOrUpdateBody {
  /** The value of the version's member; undefined if missing or if the resource has no versions. */
  readonly version: unknown
}

export interface UpsertIntent {
  readonly kind: 'upsert'
  /** The parameter `by`: field names separated by commas; null without the parameter. */
  readonly by: string | null
  /** The elements in the order of the body; null for an element that is not an object. */
  readonly items: readonly (UpsertItem | null)[]
}

export interface BulkDeleteIntent {
  readonly kind: 'bulkDelete'
  readonly keys: readonly unknown[]
}

export interface RestoreIntent extends WriteIntentBase {
  readonly kind: 'restore'
  readonly key: string
}

export interface ActionIntent extends WriteIntentBase, SelectionMembers {
  readonly kind: 'action'
  readonly action: Action
  /** The key of the record; null for an action of the collection. */
  readonly key: string | null
  readonly match: Match | null
  /** The members of the body, or the parameters of a GET. */
  readonly input: Readonly<Record<string, unknown>>
}

/** The intents that behaviours rewrite. A batch is rewritten body by body, like single requests. */
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
