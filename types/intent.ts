import type { Field } from './field.js'
import type { Direction, FilterNode, Path, SortNode } from './query.js'
import type { Total } from './settings.js'

/** What `Prefer: handling` has to do with a reply, which says so. */
export interface Preference {
  /** What it asked for and got; null where nothing was applied. */
  readonly applied: 'lenient' | 'strict' | null
  /** Whether another preference could have had another answer. */
  readonly varies: boolean
}

/** What a list request asks for, as written: names in paths are not looked up, values are text. */
export interface ListIntent {
  readonly kind: 'list'
  readonly mode: 'page' | 'count' | 'cursor' | 'select'
  readonly page: number
  readonly pageSize: number
  readonly total: Total
  readonly filter: FilterNode | null
  readonly sort: readonly SortNode[] | null
  readonly sortBy: string | null
  readonly sortDirection: Direction | null
  readonly select: readonly Path[] | null
  /** The texts that the records' keys must be among, each once; null for any key. */
  readonly keys: readonly string[] | null
  /** The key behind the last page's token; null on the first page, undefined outside cursor mode. */
  readonly after: string | null | undefined
  readonly includeDeleted: boolean
  /** Typed field parameters, in the order of the URL. It is by their fields that they are known to be parameters. */
  readonly parameters: readonly (readonly [field: Field, text: string])[]
  /** What an unknown name does to this request. */
  readonly unknownFields: 'reject' | 'ignore'
  readonly preference: Preference
}

export interface GetIntent {
  readonly kind: 'get'
  readonly key: string
}

/** What all writes have whose replies hold records. */
interface Writing {
  /** Whether `Prefer: return=minimal` wants the reply without them. */
  readonly minimal: boolean
}

export interface CreateIntent extends Writing {
  readonly kind: 'create'
  readonly body: Readonly<Record<string, unknown>>
}

/** The entity tags of `If-Match`: any, or these versions. Tags that are no version are left out and match nothing. */
export type Match = '*' | readonly string[]

export interface UpdateIntent extends Writing {
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

export interface BulkCreateIntent extends Writing {
  readonly kind: 'bulkCreate'
  readonly bodies: readonly unknown[]
}

export interface BulkDeleteIntent {
  readonly kind: 'bulkDelete'
  readonly keys: readonly unknown[]
}

export interface RestoreIntent extends Writing {
  readonly kind: 'restore'
  readonly key: string
}

export type Intent =
  | GetIntent
  | ListIntent
  | CreateIntent
  | UpdateIntent
  | DeleteIntent
  | BulkCreateIntent
  | BulkDeleteIntent
  | RestoreIntent
