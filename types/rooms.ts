import type { Field, JsonValue } from './field.js'
import type { Predicate } from './predicate.js'

/** A part of a scope's condition as its function returned it: a text in the filter language, or values of an attribute by its name. */
export type ConditionSource = string | Readonly<Record<string, readonly (string | number | boolean | null)[]>>

/** A condition with a name: equal names, equal conditions. */
export interface NamedCondition {
  readonly name: string
  readonly condition: Predicate
}

/** What push needs to know of records before they are written. */
export interface Tracking {
  /** The conditions by which clients share rooms. */
  readonly conditions: readonly NamedCondition[]
  /** The attributes whose values choose rooms. */
  readonly fields: readonly Field[]
}

/** A record as it was before a write. */
export interface RecordBefore {
  /** The names of all conditions that were evaluated. */
  readonly asked: ReadonlySet<string>
  /** The names of the conditions that the record met. */
  readonly met: ReadonlySet<string>
  /** The values of the tracked attributes. */
  readonly values: ReadonlyMap<string, JsonValue | undefined>
}

/** Records as they were before a write, by the name of their key. */
export interface RecordsBefore {
  /** Keeps the first note of each record. */
  readonly note: (resource: object, key: string, before: RecordBefore) => void
  readonly of: (resource: object, key: string) => RecordBefore | null
}
