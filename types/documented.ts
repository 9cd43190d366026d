import type { OperationName } from '../lib/operations.js'
import type { Deprecation } from './deprecated.js'

/** Facts about a resource that only OpenAPI and AsyncAPI documents use. */
export interface Documented {
  /** The operations with a policy. */
  readonly policies: ReadonlySet<OperationName>
  /** The names of the actions with a policy. */
  readonly actionsWithPolicy: ReadonlySet<string>
  /** The permission (or role) that each masked attribute requires; null without a mask. */
  readonly masks: ReadonlyMap<string, MaskPermissions>
  /** Whether the visible records depend on the caller. */
  readonly isScoped: boolean
  /** Whether writes without an `Idempotency-Key` are refused. */
  readonly requiresIdempotencyKey: boolean
  /** The JSON names of fields whose body values are checked by a schema of the host. */
  readonly hostSchemaFields: ReadonlySet<string>
  /** The effect of an unknown body property. */
  readonly unknownProperties: 'ignore' | 'reject'
  /** The deprecation of the resource; null if the resource is not deprecated. */
  readonly deprecated: Deprecation | null
}

export interface MaskPermissions {
  readonly read: string | null
  readonly write: string | null
}
