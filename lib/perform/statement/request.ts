import type { Field } from '../../../types/field.js'
import type { Column, Hop, OrderKey, Predicate } from '../../../types/plan.js'

/** What is read, of what, in which order. */
interface Reading {
  readonly where: Predicate | null
  readonly columns: readonly Column[]
  readonly order: readonly OrderKey[]
}

/**
 * How the values of the order's keys are read, behind the columns: not at all; without loss; or as far as the columns do not say
 * them already, which is less work, and without loss for whole numbers that JavaScript counts.
 */
export type KeyReading = 'none' | 'exact' | 'shared'

interface Select extends Reading {
  readonly kind: 'select'
  /** The most rows, and how many of them are passed over; without any, one row. */
  readonly window: readonly unknown[]
  /** Whether the number of all rows is read beside the page. */
  readonly total: boolean
  readonly keys: KeyReading
  /** Whether the model's default scope is left out. */
  readonly unscoped: boolean
  /** Whether rows that a paranoid model hides are wanted too. */
  readonly deleted: boolean
  readonly lock: boolean
}

/** The records of a collection of several owners, so many of each. */
interface Embed extends Reading {
  readonly kind: 'embed'
  readonly hop: Hop
  readonly link: Hop | undefined
  /** The owners' keys as one value, and one record more than are wanted of each. */
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
  /** How many of the columns, the first ones, the groups are made by. */
  readonly groups: number
  readonly having: Predicate | null
  readonly window: readonly unknown[]
  /** Whether their number is read instead of them. */
  readonly total: boolean
  readonly deleted: boolean
}

/** The columns that it returns are the row's own. */
interface Insert {
  readonly kind: 'insert'
  readonly fields: readonly Field[]
  /** Each in the order of the fields. */
  readonly rows: readonly (readonly unknown[])[]
  readonly returning: readonly Column[]
}

interface Update {
  readonly kind: 'update'
  readonly fields: readonly Field[]
  readonly values: readonly unknown[]
  /** The fields that rise by one. */
  readonly increments: readonly Field[]
  readonly where: Predicate
  /** Whether the rows are ones that a paranoid model hides. */
  readonly deleted: boolean
  readonly returning: readonly Column[]
}

interface Delete {
  readonly kind: 'delete'
  readonly where: Predicate
}

/** What a statement is to do, values and all. */
export type Request = Select | Embed | Count | Aggregate | Insert | Update | Delete

/** The requests of a kind. */
export type RequestOf<K extends Request['kind']> = Extract<Request, { kind: K }>

/** One row in no order, under the model's default scope. */
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
