import type { JsonValue } from './field.js'
import type { ProblemCode } from './problem.js'

/** What a list by number answers. */
export interface Page<Item = Readonly<Record<string, unknown>>> {
  readonly items: readonly Item[]
  /** Null where the page was asked for without a total. */
  readonly totalCount: number | null
  /** From 1. */
  readonly page: number
  readonly pageSize: number
  /** Null where `totalCount` is. */
  readonly totalPages: number | null
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
}

/** What a list by cursor answers. */
export interface CursorPage<Item = Readonly<Record<string, unknown>>> {
  readonly items: readonly Item[]
  /** The `cursor` of the next page; null on the last one. */
  readonly nextCursor: string | null
  readonly pageSize: number
}

/** What `count=true` answers. */
export interface CountResult {
  readonly count: number
}

/** What bulk delete answers. */
export interface BulkDeleteResult {
  readonly deleted: number
}

/** The body of every error, `application/problem+json` (RFC 9457 section 3). */
export interface ProblemBody {
  /** A URI that tells the kind of problem. */
  readonly type: string
  readonly title: string
  readonly status: number
  /** What the problem is, for programs: one of this package's codes, which never change, or the host's own. */
  readonly code: ProblemCode | (string & {})
  readonly detail?: string
  /** Messages by property, or by query parameter. */
  readonly errors?: Readonly<Record<string, readonly string[]>>
}

/** A record as it goes over the wire. */
export type JsonRecord = { [name: string]: JsonValue }

/** What a reply says, in whatever format it goes out. */
export type Content =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'record'; readonly value: JsonRecord }
  | { readonly kind: 'records'; readonly value: readonly JsonRecord[] }
  | { readonly kind: 'page'; readonly value: Page<JsonRecord> }
  | { readonly kind: 'cursorPage'; readonly value: CursorPage<JsonRecord> }
  | { readonly kind: 'count'; readonly value: CountResult }
  | { readonly kind: 'deleted'; readonly value: BulkDeleteResult }
  /** What a behaviour says in the stead of the reply. */
  | { readonly kind: 'document'; readonly value: object }

/** An answer that is no problem. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly content: Content
}
