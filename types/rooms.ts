import type { Field, JsonValue } from './field.js'
import type { Predicate } from './predicate.js'

/**
 * A part of a scope's condition as the scope function returned it: a text in the filter language, or values by
 * attribute name.
 */
export type ConditionSource = string | Readonly<Record<string, readonly (string | number | boolean | null)[]>>

/** A condition with a name. Conditions with equal names are equal. */
export interface NamedCondition {
  readonly name: string
  readonly condition: Predicate
}

/** The data that push events need about records before a write. */
export interface Tracking {
  /** The conditions of rooms to evaluate. */
  readonly conditions: readonly NamedCondition[]
  /** The attributes whose values select rooms. */
  readonly fields: readonly Field[]
}

/** The state of a record before a write. */
export interface RecordBefore {
  /** The names of the evaluated conditions. */
  readonly evaluated: ReadonlySet<string>
  /** The names of the conditions that the record met. */
  readonly met: ReadonlySet<string>
  /** The values of the tracked attributes. */
  readonly values: ReadonlyMap<string, JsonValue | undefined>
}

/** The state of records before a write, by the text of their key. */
export interface RecordsBefore {
  /** Stores the first note of each record. Later notes are ignored. */
  readonly note: (resource: object, key: string, before: RecordBefore) => void
  readonly get: (resource: object, key: string) => RecordBefore | null
}
