import type { Field } from '../../../types/field.js'
import type { Column, Hop, OrderKey, PlainValues, Predicate } from '../../../types/plan.js'
import type { ValueTraits } from '../../sequelize/dialect/index.js'

/** Where the values of a part stand among those of its statement, and what of them decides the text. */
export interface Slots extends ValueTraits {
  readonly first: number
  readonly count: number
}

/** What is read, of what, in which order. */
export interface Reading<V> {
  readonly where: Predicate<V> | null
  readonly columns: readonly Column<V>[]
  readonly order: readonly OrderKey<V>[]
}

/**
 * How the values of the order's keys are read, behind the columns: not at all; without loss; or as far as the columns do not say
 * them already, which is less work, and without loss for whole numbers that JavaScript counts.
 */
export type KeyReading = 'none' | 'exact' | 'shared'

export const KEY_READINGS: readonly KeyReading[] = ['none', 'exact', 'shared']

interface Select<V, S> extends Reading<V> {
  readonly kind: 'select'
  /** The most rows, and how many of them are passed over; without any, one row. */
  readonly window: S
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
interface Embed<V, S> extends Reading<V> {
  readonly kind: 'embed'
  readonly hop: Hop<V>
  /** The owners' keys as one value, and one record more than are wanted of each. */
  readonly window: S
}

interface Count<V> {
  readonly kind: 'count'
  readonly where: Predicate<V> | null
  readonly deleted: boolean
}

/** Groups of rows. */
interface Aggregate<V, S> extends Reading<V> {
  readonly kind: 'aggregate'
  /** How many of the columns, the first ones, the groups are made by. */
  readonly groups: number
  readonly having: Predicate<V> | null
  readonly window: S
  /** Whether their number is read instead of them. */
  readonly total: boolean
  readonly deleted: boolean
}

/** The columns that it returns are the row's own. */
interface Insert<V, S> {
  readonly kind: 'insert'
  readonly fields: readonly Field[]
  readonly values: S
  readonly returning: readonly Column<V>[]
}

interface Update<V, S> {
  readonly kind: 'update'
  readonly fields: readonly Field[]
  readonly values: S
  /** The fields that rise by one. */
  readonly increments: readonly Field[]
  readonly where: Predicate<V>
  /** Whether the rows are ones that a paranoid model hides. */
  readonly deleted: boolean
  /** Whether it is written for several rows at once, each with values of its own: see `Statement.among`. */
  readonly among: boolean
  readonly returning: readonly Column<V>[]
}

interface Delete<V> {
  readonly kind: 'delete'
  readonly where: Predicate<V>
}

/** `V` is how values to compare with are held, and `S` those that are stored, limits among them. */
type Any<V, S> = Select<V, S> | Embed<V, S> | Count<V> | Aggregate<V, S> | Insert<V, S> | Update<V, S> | Delete<V>

/** What a statement is to do, values and all. */
export type Request = Any<PlainValues, readonly unknown[]>

/** A request without its values: all that the text of a statement is written from. */
export type Outline = Any<Slots, Slots>

export type OutlinePredicate = Predicate<Slots>

/** One row in no order, under the model's default scope. */
export const SELECT: Readonly<Omit<Extract<Request, { kind: 'select' }>, 'where' | 'columns'>> = Object.freeze({
  kind: 'select',
  order: [],
  window: [],
  total: false,
  keys: 'none',
  unscoped: false,
  deleted: false,
  lock: false,
})
