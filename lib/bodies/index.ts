import type { Intent } from '../../types/intent.js'
import type { Caller } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import type { OwnerLink } from '../../types/view.js'
import type { Work } from '../../types/work.js'
import { planFor } from '../read.js'
import { bodiesOf } from './bodies.js'
import { askedWithin, hearingOf, heldWithin } from './hearing.js'
import { part, planned } from './planned.js'
import { relationsIn } from './relations.js'
import { Session } from './session.js'

/**
 * Plans an intent for a caller, including nested records in its bodies. Each nested record is planned by its own resource, like a separate
 * request.
 *
 * @throws Problem for invalid input and for refused callers
 */
export async function workFor(
  resource: Resource,
  intent: Intent,
  caller: Caller,
  tell: Session['tell'],
  link: OwnerLink | null = null,
): Promise<Work> {
  const bodies = resource.holds.length === 0 ? [] : bodiesOf(intent)
  const relations = relationsIn(resource, caller, bodies)
  if (relations === null) return planFor(resource, intent, caller, tell, link)
  const session = sessionOf(caller, resource.limits, tell, intent)
  await session.survey(relations, bodies, intent.kind === 'create' || intent.kind === 'bulkCreate')
  const places = intent.kind === 'bulkCreate' ? bodies.map((_, index) => `[${index}]`) : undefined
  const work = await planned(session, { resource, caller, relations, places }, intent)
  return { ...work, within: heldWithin(resource), hearing: hearingOf(session, () => askedWithin(resource)) }
}

/** Creates the state that the parts of one request share. */
export function sessionOf(caller: Caller, limits: Limits, tell: Session['tell'], sent?: Intent): Session {
  const named = sent !== undefined && 'unknown' in sent ? { unknown: sent.unknown } : {}
  return new Session(caller, limits, { tell, part, minimal: !answersRecords(sent), ...named })
}

/** Whether the response of a write contains the written records. Responses to upserts and links contain counts. */
function answersRecords(sent: Intent | undefined): boolean {
  return sent !== undefined && 'minimal' in sent && !sent.minimal
}

export { askAgain, hearingOf, shownWithin } from './hearing.js'
export { linkedBranch, wantedBy } from './links.js'
export { type Linking, linkingOf, tieOf } from './relations.js'
export type { Session } from './session.js'
export { type End, withoutEnds } from './stated.js'
