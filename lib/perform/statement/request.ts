import type { Field } from '../../../types/field.js'
import type { Column, Hop, OrderKey, Predicate } from '../../../types/plan.js'

/** Condition, columns and order of a read. */
interface Reading {
  readonly where: Predicate | null
  readonly columns: readonly Column[]
  readonly order: readonly OrderKey[]
}

/**
 * How sort key values are read after the columns. `exact`: without loss. `shared`: only those that the columns do not
 * contain, which is cheaper and exact for safe integers.
 */
export type KeyReading = 'none' | 'exact' | 'shared'

interface Select extends Reading {
  readonly kind: 'select'
  /** Limit and offset. Empty: one row. */
  readonly window: readonly unknown[]
  /** Whether the total number of rows is read as well. */
  readonly total: boolean
  readonly keys: KeyReading
  /** Whether to ignore the model's default scope. */
  readonly unscoped: boolean
  /** Whether to include rows that a paranoid model hides. */
  readonly deleted: boolean
  readonly lock: boolean
}

/** Records of a collection for several owners, limited per owner. */
interface Embed extends Reading {
  readonly kind: 'embed'
  readonly hop: Hop
  readonly link: Hop | undefined
  /** The owners' keys as one value, and the limit plus one. */
  readonly window: readonly unknown[]
}

interface Count {
  readonly kind: 'count'
  readonly where: Predicate | null
  readonly deleted: boolean
}

/** Groups of rows. */
interface Aggregate extends Reading {
  readonly kind: 'aggregate'
  /** Number of leading columns that form the groups. */
  readonly groups: number
  readonly having: Predicate | null
  readonly window: readonly unknown[]
  /** Whether only the number of groups is read. */
  readonly total: boolean
  readonly deleted: boolean
}

/** An INSERT that returns columns of the row itself. */
interface Insert {
  readonly kind: 'insert'
  readonly fields: readonly Field[]
  /** Values in the order of `fields`. */
  readonly rows: readonly (readonly unknown[])[]
  readonly returning: readonly Column[]
}

interface Update {
  readonly kind: 'update'
  readonly fields: readonly Field[]
  readonly values: readonly unknown[]
  /** Fields to increment by one. */
  readonly increments: readonly Field[]
  readonly where: Predicate
  /** Whether the rows are hidden by a paranoid model. */
  readonly deleted: boolean
  readonly returning: readonly Column[]
}

interface Delete {
  readonly kind: 'delete'
  readonly where: Predicate
}

/** A statement to be written, with its values. */
export type Request = Select | Embed | Count | Aggregate | Insert | Update | Delete

/** Requests of one kind. */
export type RequestOf<K extends Request['kind']> = Extract<Request, { kind: K }>

/** Defaults: one row without order, under the model's default scope. */
export const SELECT: Readonly<Omit<Select, 'where' | 'columns'>> = Object.freeze({
  kind: 'select',
  order: [],
  window: [],
  total: false,
  keys: 'none',
  unscoped: false,
  deleted: false,
  lock: false,
})
