import type { Value } from './field.js'

/** What a validated body becomes: attribute name to value. No entry, leave; null, clear; a value, write. */
export type Changes = ReadonlyMap<string, Value>
