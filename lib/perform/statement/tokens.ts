import type { Field } from '../../../types/field.js'
import type { OrderKey, PositiveOperator, QuantifiedPredicate } from '../../../types/plan.js'
import type { RelationInfo } from '../../../types/relation.js'
import type { KeyReading, OutlinePredicate, Request } from './outline.js'

/** The words that requests are made of, none of them a client's or a host's. */
export type Word =
  | Request['kind']
  | OutlinePredicate['kind']
  | PositiveOperator
  | QuantifiedPredicate['quantifier']
  | OrderKey['direction']
  | KeyReading

/**
 * One of the parts of a request in a row, from which its outline can be read back. Compiled objects stand for
 * themselves: a name could hold whatever mark ended it.
 */
export type Token = Word | number | Field | RelationInfo

/** A request as its tokens, with its values beside them. */
export interface Description {
  readonly tokens: readonly Token[]
  readonly values: readonly unknown[]
}
