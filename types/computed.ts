import type { Attributes, Model, Transaction } from 'sequelize'
import type { Request } from './express.js'
import type { Computation, Field, MemberType } from './field.js'
import type { Identity } from './identity.js'
import type { AttributeName } from './names.js'
import type { Wire } from './shapes.js'

/** A field whose values the application computes. */
export interface ComputedField<M extends Model = Model> {
  /** The type of its values; an `array` is one of texts. A date-time may be a `Date`. */
  readonly type: MemberType
  /** Whether its values may be null. Default false. */
  readonly nullable?: boolean
  /** The attributes that its records have. They are read whether or not the reply shows them. Default: none. */
  readonly needs?: readonly AttributeName<M>[]
  /**
   * Gives the values of all records of a reply, in their order. It is called once a reply, in exports once a page, and in a write within
   * its transaction. Anything but one value of the type for each record is answered 500, and undoes the write.
   */
  readonly resolve: ComputedResolver<M>
  /** Whether its values depend on the caller: replies are private then, and push leaves the field out. Default false. */
  readonly perCaller?: boolean
}

/** Computes the values of some records, in their order. */
export type ComputedResolver<M extends Model = Model> = (
  records: readonly ComputedRecord<M>[],
  context: ComputedContext,
) => readonly unknown[] | Promise<readonly unknown[]>

/** The attributes of a record that `needs` names, and no others, as replies show them: dates and date-times are texts. */
export type ComputedRecord<M extends Model = Model> = {
  readonly [attribute in AttributeName<M>]: Wire<Attributes<M>[attribute], unknown>
}

/** The circumstances of a computation. */
export interface ComputedContext {
  /** Null in push. */
  readonly request: Request | null
  /** Null for anonymous callers, and in push. */
  readonly identity: Identity | null
  /** The transaction of a write; null in everything that only reads. */
  readonly transaction: Transaction | null
}

/** A computed field, compiled. */
export interface ComputingField extends Field {
  readonly computed: Computed
}

export interface Computed extends Computation {
  readonly resolve: (records: readonly object[], context: ComputedContext) => unknown
}
