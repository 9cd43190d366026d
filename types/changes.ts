import type { Value } from './field.js'

/** A validated body: attribute name to value. Null clears the value; an attribute without an entry keeps its value. */
export type Changes = ReadonlyMap<string, Value>

/** The errors of a body: messages by JSON name, and the attributes that have no valid value. */
export interface Invalid {
  readonly errors: Readonly<Record<string, readonly string[]>>
  readonly failed: ReadonlySet<string>
}
