import type { Request } from './express.js'
import type { FieldType, JsonValue } from './field.js'
import type { Row } from './outcome.js'
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

/** What of a group was asked for, and no other members. */
export interface Group {
  /** What its records have in common, nested as in selections; dates by their parts: `{ createdAt: { month: '2026-11' } }`. */
  readonly group?: { readonly [name: string]: JsonValue }
  readonly count?: number
  /** By the paths of fields, nested: the number of records that have a value. */
  readonly counts?: { readonly [name: string]: JsonValue }
  /** The number of values. */
  readonly distinct?: { readonly [name: string]: JsonValue }
  /** Numbers, or text where a number would lose digits; null over no value, like all below. */
  readonly sum?: { readonly [name: string]: JsonValue }
  readonly avg?: { readonly [name: string]: JsonValue }
  readonly min?: { readonly [name: string]: JsonValue }
  readonly max?: { readonly [name: string]: JsonValue }
}

/** The answer of an action with several records. */
export interface Items<Item = Readonly<Record<string, unknown>>> {
  readonly items: readonly Item[]
}

/** What aggregates answer. */
export type GroupPage<Item = Group> = Page<Item>

/** What a list by cursor answers. */
export interface CursorPage<Item = Readonly<Record<string, unknown>>> {
  readonly items: readonly Item[]
  /** The `cursor` of the next page; null on the last one. */
  readonly nextCursor: string | null
  readonly pageSize: number
}

/** What a list by `after` or `before` answers. */
export interface KeysetPage<Item = Readonly<Record<string, unknown>>> {
  readonly items: readonly Item[]
  readonly pageSize: number
  /** What `after` takes for the next page, null on the last one. `before` takes it as well. */
  readonly nextCursor: string | null
  /** What `before` takes for the page before, null on the first one. `after` takes it as well. */
  readonly previousCursor: string | null
}

/** What `count=true` answers. */
export interface CountResult {
  readonly count: number
}

/** What bulk delete answers. */
export interface BulkDeleteResult {
  readonly deleted: number
}

/** What an upsert answers. */
export interface UpsertResult {
  readonly created: number
  readonly updated: number
}

/** What setting and adding links answers. */
export interface LinkResult {
  readonly linked: number
  /** Absent where links were only added. */
  readonly unlinked?: number
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

/** A column of a table: its name, and its value in a row. */
export interface Cell {
  readonly name: string
  readonly type: FieldType
  readonly value: (row: Row) => JsonValue
}

/** Records that are read while they are written. */
export interface Exported {
  /** What a file of them is called, without its ending. */
  readonly name: string
  /** The format that was asked for by name; null where it is for `Accept` to say. */
  readonly format: string | null
  readonly batches: AsyncIterable<readonly Row[]>
  readonly record: (row: Row) => JsonRecord
  readonly cells: readonly Cell[]
  /** Whether records hold collections, for which a table has no place. */
  readonly hasCollections: boolean
  /** Whether a last line says how many records there are. */
  readonly isCounted: boolean
  /** Whether text that a spreadsheet would take for a formula stays as it is. */
  readonly keepsFormulas: boolean
}

/** What a reply says, in whatever format it goes out. */
export type Content =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'record'; readonly value: JsonRecord }
  | { readonly kind: 'records'; readonly value: readonly JsonRecord[] }
  | { readonly kind: 'page'; readonly value: Page<JsonRecord> }
  | { readonly kind: 'cursorPage'; readonly value: CursorPage<JsonRecord> }
  /** `totalCount` is in the first page for agents alone. */
  | { readonly kind: 'keysetPage'; readonly value: KeysetPage<JsonRecord> & { readonly totalCount?: number } }
  | { readonly kind: 'count'; readonly value: CountResult }
  | { readonly kind: 'deleted'; readonly value: BulkDeleteResult }
  | { readonly kind: 'upserted'; readonly value: UpsertResult }
  | { readonly kind: 'linked'; readonly value: LinkResult }
  /** The records of an action. */
  | { readonly kind: 'items'; readonly value: Items<JsonRecord> }
  | { readonly kind: 'export'; readonly value: Exported }
  /** The reply of a behaviour in place of the usual one, or the value that an action answers. */
  | { readonly kind: 'document'; readonly value: unknown }

/** The kinds of replies whose bodies `format` makes: records and lists, those of actions among them. */
type FormattedKind = 'record' | 'records' | 'page' | 'cursorPage' | 'keysetPage' | 'items'

/** A reply of records before `format`: `body` is what would be sent without it. */
export type UnformattedReply = {
  readonly [kind in FormattedKind]: {
    readonly kind: kind
    readonly body: Extract<Content, { readonly kind: kind }>['value']
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
  }
}[FormattedKind]

/** Makes the body of a JSON reply of records. What it throws is answered 500. */
export type FormatFunction = (context: { readonly reply: UnformattedReply; readonly request: Request }) => unknown

/** An answer that is no problem. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly content: Content
  /** Whether the reply is sent even to clients that have it by its entity tag; it is not unless told. */
  readonly isAlwaysSent?: boolean
  /** The most bytes that may be sent; as many as there are unless told. */
  readonly responseBytes?: number
  /** Makes the body that is sent in place of the content; absent where the content itself is sent. */
  readonly format?: FormatFunction
}

/** The values of the parameter `format`, which asks for the records of a list as a file. */
export type ExportFormat = 'csv' | 'jsonl'
