import type { Attributes, Model, Transaction } from 'sequelize'
import type { Request } from './express.js'
import type { Computation, Field, MemberType } from './field.js'
import type { Identity } from './identity.js'
import type { AttributeName } from './names.js'
import type { JsonTypeOf } from './shapes.js'

/** A field whose values the application computes. */
export interface ComputedField<M extends Model = Model> {
  /** The type of the field's values. `array` is an array of texts. A date-time may be a `Date`. */
  readonly type: MemberType
  /** Whether the field's values may be null. Default false. */
  readonly nullable?: boolean
  /** The attributes that `resolve` reads. They are selected whether or not the reply shows them. Default: none. */
  readonly needs?: readonly AttributeName<M>[]
  /**
   * Returns the values of all records of a reply, or promises of values, in record order. It is called once per reply,
   * or once per page of an export. In writes it runs within the transaction. A wrong number or type of values is a 500
   * and rolls the write back.
   */
  readonly resolve: ComputedResolver<M>
  /**
   * Whether the values depend on the caller. If so, replies are private, and push events omit the field. Default false.
   */
  readonly perCaller?: boolean
}

/** Computes the values of a field for several records, in record order. */
export type ComputedResolver<M extends Model = Model> = (
  records: readonly ComputedRecord<M>[],
  context: ComputedContext,
) => readonly unknown[] | Promise<readonly unknown[]>

/** The attributes of a record that `needs` names. Dates and date-times are texts, as in replies. */
export type ComputedRecord<M extends Model = Model> = {
  readonly [attribute in AttributeName<M>]: JsonTypeOf<Attributes<M>[attribute], unknown>
}

/** The context of a computation. */
export interface ComputedContext {
  /** The request of the reply; null in push events. */
  readonly request: Request | null
  /** The identity of the caller; null for anonymous callers and in push events. */
  readonly identity: Identity | null
  /** The transaction of a write; null in reads. */
  readonly transaction: Transaction | null
}

/** A compiled computed field. */
export interface CompiledComputedField extends Field {
  readonly computed: CompiledComputation
}

export interface CompiledComputation extends Computation {
  readonly resolve: (records: readonly object[], context: ComputedContext) => unknown
}
