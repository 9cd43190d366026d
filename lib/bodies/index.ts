import type { Intent } from '../../types/intent.js'
import type { Caller } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import type { ParentLink } from '../../types/view.js'
import type { Work } from '../../types/work.js'
import { planFor } from '../read.js'
import { bodiesOf } from './bodies.js'
import { planBodies, planPart } from './planBodies.js'
import { collectCheckedResources, createPolicyChecks } from './policyChecks.js'
import { findRelations } from './relations.js'
import { Session } from './session.js'

/**
 * Plans an intent for a caller, including nested records in its bodies. Each nested record is planned by its own resource, like a separate
 * request.
 *
 * @throws Problem for invalid input and for refused callers
 */
export async function planWork(
  resource: Resource,
  intent: Intent,
  caller: Caller,
  call: Session['call'],
  link: ParentLink | null = null,
): Promise<Work> {
  const bodies = resource.nestedRelations.length === 0 ? [] : bodiesOf(intent)
  const relations = findRelations(resource, caller, bodies)
  if (relations === null) return planFor(resource, intent, caller, call, link)
  const session = createSession(caller, resource.limits, call, intent)
  await session.preauthorize(relations, bodies, intent.kind === 'create' || intent.kind === 'bulkCreate')
  const places = intent.kind === 'bulkCreate' ? bodies.map((_, index) => `[${index}]`) : undefined
  const work = await planBodies(session, { resource, caller, relations, places }, intent)
  return {
    ...work,
    nestedResources: resource.nestedResources(),
    policyChecks: createPolicyChecks(session, () => collectCheckedResources(resource)),
  }
}

/** Creates the state that the parts of one request share. */
export function createSession(caller: Caller, limits: Limits, call: Session['call'], intent?: Intent): Session {
  const named = intent !== undefined && 'unknownNames' in intent ? { unknownNames: intent.unknownNames } : {}
  // Responses to upserts and links contain counts instead of records.
  const minimal = intent === undefined || !('minimal' in intent) || intent.minimal
  return new Session(caller, limits, { call, part: planPart, minimal, ...named })
}

export { type ConnectingAttribute, removeConnectingAttributes } from './connectingAttributes.js'
export { parseLinkTarget, planLinkChange } from './links.js'
export { createPolicyChecks, readNestedProjections, repeatPolicyChecks } from './policyChecks.js'
export { bindingOf, type LinkedRelation, resolveLinkedRelation } from './relations.js'
export type { Session } from './session.js'
