import type { Request } from './express.js'
import type { FieldType, JsonValue } from './field.js'
import type { Row } from './outcome.js'
import type { ProblemCode } from './problem.js'

/** The response of a numbered page. */
export interface Page<Item = Readonly<Record<string, unknown>>> {
  readonly items: readonly Item[]
  /** The number of records; null if the page was requested without a total. */
  readonly totalCount: number | null
  /** The number of the page, from 1. */
  readonly page: number
  readonly pageSize: number
  /** The number of pages; null if `totalCount` is null. */
  readonly totalPages: number | null
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
}

/** A group of records. Only requested members are present. */
export interface Group {
  /** The group's common values, nested as in `select`; parts of dates as `{ createdAt: { month: '2026-11' } }`. */
  readonly group?: { readonly [name: string]: JsonValue }
  readonly count?: number
  /** Numbers of non-null values, nested by the paths of their fields. */
  readonly counts?: { readonly [name: string]: JsonValue }
  /** Numbers of distinct values. */
  readonly distinct?: { readonly [name: string]: JsonValue }
  /**
   * Sums as numbers, or as text if a number would lose digits. `sum`, `avg`, `min` and `max` are null if there are no
   * values.
   */
  readonly sum?: { readonly [name: string]: JsonValue }
  readonly avg?: { readonly [name: string]: JsonValue }
  readonly min?: { readonly [name: string]: JsonValue }
  readonly max?: { readonly [name: string]: JsonValue }
}

/** The response of an action that returns several records. */
export interface Items<Item = Readonly<Record<string, unknown>>> {
  readonly items: readonly Item[]
}

/** The response of an aggregation. */
export type GroupPage<Item = Group> = Page<Item>

/** The response of a cursor page. */
export interface CursorPage<Item = Readonly<Record<string, unknown>>> {
  readonly items: readonly Item[]
  /** The value of `cursor` for the next page; null on the last page. */
  readonly nextCursor: string | null
  readonly pageSize: number
}

/** The response of a page by `after` or `before`. */
export interface KeysetPage<Item = Readonly<Record<string, unknown>>> {
  readonly items: readonly Item[]
  readonly pageSize: number
  /** The value of `after` for the next page; null on the last page. `before` accepts it as well. */
  readonly nextCursor: string | null
  /** The value of `before` for the previous page; null on the first page. `after` accepts it as well. */
  readonly previousCursor: string | null
}

/** The response to `count=true`. */
export interface CountResult {
  readonly count: number
}

/** The response of a bulk delete. */
export interface BulkDeleteResult {
  readonly deleted: number
}

/** The response of an upsert. */
export interface UpsertResult {
  readonly created: number
  readonly updated: number
}

/** The response of setting or adding links. */
export interface LinkResult {
  readonly linked: number
  /** The number of removed links; absent if links were only added. */
  readonly unlinked?: number
}

/** The body of every error, `application/problem+json` (RFC 9457 section 3). */
export interface ProblemBody {
  /** A URI that identifies the problem type. */
  readonly type: string
  readonly title: string
  readonly status: number
  /** The code of the problem. Codes of this package never change; hosts may have codes of their own. */
  readonly code: ProblemCode | (string & {})
  readonly detail?: string
  /** Messages by body property or query parameter. */
  readonly errors?: Readonly<Record<string, readonly string[]>>
}

/** A record as JSON. */
export type JsonRecord = { [name: string]: JsonValue }

/** A column of an exported table: its name, its type, and the function that reads its value from a row. */
export interface Cell {
  readonly name: string
  readonly type: FieldType
  readonly value: (row: Row) => JsonValue
}

/** Records of an export, read while the response is sent. */
export interface ExportContent {
  /** The file name without its extension. */
  readonly name: string
  /** The export format of the parameter `format`; null if `Accept` decides. */
  readonly format: string | null
  readonly batches: AsyncIterable<readonly Row[]>
  readonly record: (row: Row) => JsonRecord
  readonly cells: readonly Cell[]
  /** Whether records have collections, which a table cannot show. */
  readonly hasCollections: boolean
  /** Whether the last line of the export states the number of records. */
  readonly isCounted: boolean
  /** Whether text that a spreadsheet would run as a formula is not escaped. */
  readonly keepsFormulas: boolean
}

/** The content of a reply, independent of its format. */
export type Content =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'record'; readonly value: JsonRecord }
  | { readonly kind: 'records'; readonly value: readonly JsonRecord[] }
  | { readonly kind: 'page'; readonly value: Page<JsonRecord> }
  | { readonly kind: 'cursorPage'; readonly value: CursorPage<JsonRecord> }
  /** `totalCount` is set only on the first page of a list that an agent reads. */
  | { readonly kind: 'keysetPage'; readonly value: KeysetPage<JsonRecord> & { readonly totalCount?: number } }
  | { readonly kind: 'count'; readonly value: CountResult }
  | { readonly kind: 'deleted'; readonly value: BulkDeleteResult }
  | { readonly kind: 'upserted'; readonly value: UpsertResult }
  | { readonly kind: 'linked'; readonly value: LinkResult }
  /** The records that an action returns. */
  | { readonly kind: 'items'; readonly value: Items<JsonRecord> }
  | { readonly kind: 'export'; readonly value: ExportContent }
  /** A value that is sent unchanged: the result of the option `format`, or the value that an action returns. */
  | { readonly kind: 'document'; readonly value: unknown }

/** The kinds of replies that `format` changes: replies with records and lists, also of actions. */
type FormattedKind = 'record' | 'records' | 'page' | 'cursorPage' | 'keysetPage' | 'items'

/**
 * A reply with records, as the option `format` receives it. `body` is the body that would be sent without the option.
 */
export type UnformattedReply = {
  readonly [kind in FormattedKind]: {
    readonly kind: kind
    readonly body: Extract<Content, { readonly kind: kind }>['value']
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
  }
}[FormattedKind]

/** Returns the body of a JSON reply with records. If the function throws, the reply is a 500. */
export type FormatFunction = (context: { readonly reply: UnformattedReply; readonly request: Request }) => unknown

/** A successful reply. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly content: Content
  /** Whether the reply is sent even if `If-None-Match` matches. Default false. */
  readonly isAlwaysSent?: boolean
  /** The largest size of the body in bytes. Default: no limit. */
  readonly responseBytes?: number
  /** Creates the body from the content. Absent: the body is the content itself. */
  readonly format?: FormatFunction
}

/** The values of the parameter `format`, which requests a list as a file. */
export type ExportFormat = 'csv' | 'jsonl'
