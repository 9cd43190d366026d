import type { Plan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { Sent } from '../../types/resource.js'
import type { Done, Faults, LinkedBranch, Wanted, Work } from '../../types/work.js'
import {
  type End,
  hearingOf,
  type Linking,
  linkedBranch,
  linkingOf,
  sessionOf,
  wantedBy,
  withoutEnds,
} from '../bodies/index.js'
import { ofOwn } from '../common/columns.js'
import { planKeyParts, withKeys } from '../common/keys.js'
import { problem } from '../common/problem.js'
import { around, carriedOut, inOne } from '../handle.js'
import { readArray, readOptionalObject } from '../parse/body.js'
import { readKeyOf } from '../plan/index.js'
import type { NestedRequest } from './request.js'

type Mode = LinkedBranch['mode']

/** Links one record, or unlinks it with `remove`. */
export function one(mode: Exclude<Mode, 'set'>): (request: NestedRequest) => Promise<Reply> {
  return async (request) => {
    const { call, link, target } = request
    // A join model without a resource accepts no values.
    const body = mode === 'remove' || link === null ? null : await readOptionalObject(link.resource, call)
    const linking = linkingOf(request.owner.resource, request.relation)
    const wanted = wantedBy(target.resource, String(call.params.key ?? ''), '', body)
    const { own, faults } = withoutKeys(request, linking, wanted)
    const reply = await linked(request, linking, { mode, isOne: true, groups: [[own]], faults })
    return { ...reply, status: 204, content: { kind: 'nothing' } }
  }
}

/** Links the records of an array of keys. With `set`, all other links are removed. */
export function several(mode: Exclude<Mode, 'remove'>): (request: NestedRequest) => Promise<Reply> {
  return async (request) => {
    const { call, owner, target } = request
    const keys = await readArray(owner.resource, call, { of: 'keys' })
    const wanted = keys.map((key, index) => wantedBy(target.resource, key, `[${index}]`))
    const linking = linkingOf(owner.resource, request.relation)
    const reply = await linked(request, linking, { mode, isOne: false, groups: [wanted], faults: {} })
    if (reply.content.kind !== 'linked') return reply
    const { linked: made, unlinked = 0 } = reply.content.value
    return {
      ...reply,
      content: { kind: 'linked', value: mode === 'set' ? { linked: made, unlinked } : { linked: made } },
    }
  }
}

type Change = Pick<LinkedBranch, 'mode' | 'isOne' | 'groups'> & { readonly faults: Faults }

function linked(request: NestedRequest, linking: Linking, change: Change): Promise<Reply> {
  const { resource, caller } = request.owner
  return inOne({ resource, operation: 'update', caller, call: request.call }, (planned) =>
    linkedWithin(request, linking, change, planned),
  )
}

async function linkedWithin(
  request: NestedRequest,
  linking: Linking,
  change: Change,
  planned: (plan: Plan) => void,
): Promise<Reply> {
  const { owner, ownerId, target, call } = request
  const { resource, caller } = owner
  const session = sessionOf(caller, resource.limits, (headers) => call.tell(headers))
  session.adopt(target.resource, 'getById', target.caller)
  await resource.canValidate
  const key = readKeyOf(resource.keys, ownerId)
  if (key === null) throw problem('not-found')
  const first = {
    kind: 'get',
    key,
    where: withKeys(resource.keys, [key]),
    projection: ofOwn([linking.tie.source]),
  } as const
  const plan = (await resource.behaviours.amend?.(resource, first, caller)) ?? first
  planned(plan)
  const branches = [await linkedBranch(session, linking, change)]
  const sees = [target.resource, linking.between]
  const hearing = hearingOf(session, () => sees)
  const work: Work = { resource, plan, pointers: [], branches, sees, within: [linking.between], hearing }
  const sent: Sent = {
    resource,
    operation: 'update',
    intent: { kind: 'update', key: ownerId, match: null, body: {}, minimal: false },
    caller,
    call,
  }
  return around(sent, () => carriedOut(sent, work, replyTo))
}

/** Reply with all changes. The route decides which of them the client sees. */
function replyTo({ links }: Done): Reply {
  if (links === undefined) throw new TypeError('nothing has become of links')
  return { status: 200, headers: {}, content: { kind: 'linked', value: links } }
}

/** Body for a join model row without the keys from the path, and errors for different values of these keys. */
function withoutKeys(
  { owner, ownerId, target }: NestedRequest,
  { between, tie, key, points }: Linking,
  wanted: Wanted,
): { readonly own: Wanted; readonly faults: Faults } {
  if (wanted.body === null) return { own: wanted, faults: {} }
  const source = readKeyOf(owner.resource.keys, ownerId)
  const ends: readonly End[] = [
    { field: tie.key, code: 'owner', value: partOf(owner.resource.keys, source, tie.source) },
    { field: key, code: 'path-key', value: partOf(target.resource.keys, wanted.key ?? null, points) },
    ...[...tie.fixed].map(([field, value]): End => ({ field, code: 'owner', value, isExact: true })),
  ]
  const { body, wrong, stated } = withoutEnds(between, wanted.body, ends, '')
  return { own: { ...wanted, body, stated }, faults: wrong }
}

/** Value of an attribute that is part of a key. Undefined for attributes that only the database knows. */
function partOf(
  keys: Parameters<typeof planKeyParts>[0],
  key: Parameters<typeof planKeyParts>[1] | null,
  field: Linking['points'],
): unknown {
  return key === null ? undefined : planKeyParts(keys, key)[keys.indexOf(field)]
}
