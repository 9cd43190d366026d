import type { OperationName } from '../lib/operations.js'
import type { Deprecation } from './deprecated.js'

/** What documents tell of a resource's options, and no request reads. */
export interface Documented {
  /** The operations that ask a policy. */
  readonly policies: ReadonlySet<OperationName>
  /** The actions that ask a policy, by name. */
  readonly guarded: ReadonlySet<string>
  /** Permissions, or roles of these names, by attribute; null where everybody may. */
  readonly masks: ReadonlyMap<string, MaskedBy>
  /** Whether what a caller meets depends on who that is. */
  readonly scoped: boolean
  /** Whether writes without an `Idempotency-Key` are refused. */
  readonly keyed: boolean
  /** The fields, by JSON name, whose values in bodies a schema of the host's own decides on. */
  readonly hosted: ReadonlySet<string>
  /** What a body property that is no attribute does. */
  readonly unknownProperties: 'ignore' | 'reject'
  /** Null where the resource stays. */
  readonly deprecated: Deprecation | null
}

export interface MaskedBy {
  readonly read: string | null
  readonly write: string | null
}
