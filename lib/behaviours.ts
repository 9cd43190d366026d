import type { BehaviourDefinition } from '../types/behaviour.js'
import { audit } from './behaviour/audit.js'
import { computed } from './behaviour/computed.js'
import { concurrency } from './behaviour/concurrency.js'
import { deprecation } from './behaviour/deprecation.js'
import { hooks } from './behaviour/hooks.js'
import { idempotency } from './behaviour/idempotency.js'
import { mask } from './behaviour/mask.js'
import { policy } from './behaviour/policy.js'
import { scope } from './behaviour/scope.js'
import { singleton } from './behaviour/singleton.js'
import { softDelete } from './behaviour/softDelete.js'
import { push } from './push/behaviour.js'

/**
 * The ordered table of optional behaviours. Permission checks come first. Behaviours that remove members from bodies
 * come before behaviours that add members. Soft delete comes before behaviours that extend its update. The host's hooks
 * see the final plan. Push comes last, because it only reports writes.
 */
export const BEHAVIOURS: readonly BehaviourDefinition[] = Object.freeze([
  policy,
  mask,
  scope,
  singleton,
  computed,
  softDelete,
  concurrency,
  idempotency,
  audit,
  deprecation,
  hooks,
  push,
])

// Declarations of the behaviours add their options to `CrudOptions` in every program that reads this file.
export type * from './behaviour/audit.js'
export type * from './behaviour/concurrency.js'
export type * from './behaviour/deprecation.js'
export type * from './behaviour/hooks.js'
export type * from './behaviour/idempotency.js'
export type * from './behaviour/mask.js'
export type * from './behaviour/policy.js'
export type * from './behaviour/scope.js'
export type * from './behaviour/singleton.js'
export type * from './behaviour/softDelete.js'
export type * from './push/behaviour.js'
