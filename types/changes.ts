import type { Value } from './field.js'

/** What a validated body becomes: attribute name to value. No entry, leave; null, clear; a value, write. */
export type Changes = ReadonlyMap<string, Value>

/** What is wrong with a body: messages by JSON name, and the attributes that are without a value because of it. */
export interface Invalid {
  readonly errors: Readonly<Record<string, readonly string[]>>
  readonly failed: ReadonlySet<string>
}
