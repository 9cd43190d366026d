import type { Field } from '../../../types/field.js'
import type { Column, Join, OrderKey, Predicate } from '../../../types/plan.js'

/** Condition, columns and order of a read. */
interface ReadRequest {
  readonly where: Predicate | null
  readonly columns: readonly Column[]
  readonly order: readonly OrderKey[]
}

/**
 * How the values of sort keys are read after the columns. `exact` reads all sort keys without loss. `shared` reads only
 * sort keys that the columns do not contain, which is cheaper and exact for safe integers.
 */
export type KeyReading = 'none' | 'exact' | 'shared'

interface SelectRequest extends ReadRequest {
  readonly kind: 'select'
  /** Limit and offset. Empty: one row. */
  readonly window: readonly unknown[]
  /** Whether the statement also reads the total number of rows. */
  readonly total: boolean
  readonly keys: KeyReading
  /** Whether to ignore the model's default scope. */
  readonly unscoped: boolean
  /** Whether to include rows that a paranoid model hides. */
  readonly includeDeleted: boolean
  readonly lock: boolean
}

/** SELECT of a collection's records for several parents, limited per parent. */
interface EmbedRequest extends ReadRequest {
  readonly kind: 'embed'
  readonly join: Join
  readonly joinRow: Join | undefined
  /** The parents' keys as one value, and the limit plus one. */
  readonly window: readonly unknown[]
}

interface CountRequest {
  readonly kind: 'count'
  readonly where: Predicate | null
  readonly includeDeleted: boolean
}

/** SELECT of groups of rows. */
interface AggregateRequest extends ReadRequest {
  readonly kind: 'aggregate'
  /** Number of leading columns that form the groups. */
  readonly groups: number
  readonly having: Predicate | null
  readonly window: readonly unknown[]
  /** Whether to read only the number of groups. */
  readonly total: boolean
  readonly includeDeleted: boolean
}

/** An INSERT that returns columns of the row itself. */
interface InsertRequest {
  readonly kind: 'insert'
  readonly fields: readonly Field[]
  /** Values in the order of `fields`. */
  readonly rows: readonly (readonly unknown[])[]
  readonly returning: readonly Column[]
}

interface UpdateRequest {
  readonly kind: 'update'
  readonly fields: readonly Field[]
  readonly values: readonly unknown[]
  /** Fields to increment by one. */
  readonly increments: readonly Field[]
  readonly where: Predicate
  /** Whether the UPDATE applies to rows that a paranoid model hides. */
  readonly includeDeleted: boolean
  readonly returning: readonly Column[]
}

interface DeleteRequest {
  readonly kind: 'delete'
  readonly where: Predicate
}

/** Statement to write, with its values. */
export type StatementRequest =
  | SelectRequest
  | EmbedRequest
  | CountRequest
  | AggregateRequest
  | InsertRequest
  | UpdateRequest
  | DeleteRequest

/** Requests of one kind. */
export type StatementRequestOf<K extends StatementRequest['kind']> = Extract<StatementRequest, { kind: K }>

/** Defaults: one row without order, under the model's default scope. */
export const DEFAULT_SELECT: Readonly<Omit<SelectRequest, 'where' | 'columns'>> = Object.freeze({
  kind: 'select',
  order: [],
  window: [],
  total: false,
  keys: 'none',
  unscoped: false,
  includeDeleted: false,
  lock: false,
})
