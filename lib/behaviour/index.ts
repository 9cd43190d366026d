import type { Behaviour } from '../../types/behaviour.js'
import type { Hooks } from '../../types/hooks.js'
import type { ScopeFunction } from '../../types/identity.js'
import type { Publisher } from '../../types/push.js'
import { type AuditStamps, audit } from './audit.js'
import { concurrency } from './concurrency.js'
import { hooks } from './hooks.js'
import { type Mask, mask } from './mask.js'
import { type Policies, policy } from './policy.js'
import { push } from './push.js'
import { scope } from './scope.js'
import { type DeletedMark, softDelete } from './softDelete.js'

/** What compile found out about a resource's optional behaviours; null for those it does without. */
export interface BehaviourSettings {
  readonly policies: Policies | null
  readonly scope: ScopeFunction | null
  readonly deletedMark: DeletedMark | null
  readonly version: string | null
  readonly stamps: AuditStamps | null
  readonly masks: ReadonlyMap<string, Mask> | null
  readonly hooks: Hooks | null
  readonly push: Publisher | null
}

type Row = (settings: BehaviourSettings, jsonNames: ReadonlyMap<string, string>) => Behaviour | null

/**
 * The ordered table. Who may comes first; what is taken out of bodies comes before what is put into them; what marks a
 * record as deleted comes before what adds to that mark; the host's hooks come last and see everything.
 */
const TABLE: readonly Row[] = [
  ({ policies }) => (policies === null ? null : policy(policies)),
  ({ masks }, jsonNames) => (masks === null ? null : mask(masks, jsonNames)),
  (settings) => (settings.scope === null ? null : scope(settings.scope)),
  ({ deletedMark }) => (deletedMark === null ? null : softDelete(deletedMark)),
  ({ version }) => (version === null ? null : concurrency(version)),
  ({ stamps }) => (stamps === null ? null : audit(stamps)),
  (settings) => (settings.hooks === null ? null : hooks(settings.hooks)),
  (settings) => (settings.push === null ? null : push(settings.push)),
]

export function behavioursFor(
  settings: BehaviourSettings,
  jsonNames: ReadonlyMap<string, string>,
): readonly Behaviour[] {
  return TABLE.map((row) => row(settings, jsonNames)).filter((behaviour) => behaviour !== null)
}

export type { AuditStamps, DeletedMark, Mask, Policies }
