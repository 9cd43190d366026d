import type { Plan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { ParsedRequest } from '../../types/resource.js'
import type { ErrorsByPlace, LinkChange, LinkTarget, Work, WriteResult } from '../../types/work.js'
import {
  type ConnectingAttribute,
  createPolicyChecks,
  createSession,
  type LinkedRelation,
  parseLinkTarget,
  planLinkChange,
  removeConnectingAttributes,
  resolveLinkedRelation,
} from '../bodies/index.js'
import { projectOwnFields } from '../common/columns.js'
import { internalError } from '../common/internalError.js'
import { matchKeys, planKeyParts } from '../common/keys.js'
import { performPlan, runInTransaction, wrapReply } from '../handle.js'
import { readArray, readOptionalObject } from '../parse/body.js'
import { readKeyParts, requireKey } from '../plan/index.js'
import type { NestedRequest } from './request.js'

type LinkMode = LinkChange['mode']

/** Creates a handler that links one record, or unlinks it if `mode` is `remove`. */
export function createLinkHandler(mode: Exclude<LinkMode, 'set'>): (request: NestedRequest) => Promise<Reply> {
  return async (request) => {
    const { call, joinModel, target } = request
    // If no resource mounts the join model, the request accepts no values.
    const body = mode === 'remove' || joinModel === null ? null : await readOptionalObject(joinModel.resource, call)
    const linking = resolveLinkedRelation(request.parent.resource, request.relation)
    const linkTarget = parseLinkTarget(target.resource, String(call.params.key ?? ''), '', body)
    const { own, faults } = removePathKeys(request, linking, linkTarget)
    const reply = await changeLinks(request, linking, { mode, isOne: true, groups: [[own]], errors: faults })
    return { ...reply, status: 204, content: { kind: 'nothing' } }
  }
}

/** Creates a handler that links the records of an array of keys. With `set`, all other links are removed. */
export function createBatchLinkHandler(mode: Exclude<LinkMode, 'remove'>): (request: NestedRequest) => Promise<Reply> {
  return async (request) => {
    const { call, parent, target } = request
    const keys = await readArray(parent.resource, call, { of: 'keys' })
    const targets = keys.map((key, index) => parseLinkTarget(target.resource, key, `[${index}]`))
    const linking = resolveLinkedRelation(parent.resource, request.relation)
    const reply = await changeLinks(request, linking, { mode, isOne: false, groups: [targets], errors: {} })
    if (reply.content.kind !== 'linked') return reply
    const { linked: made, unlinked = 0 } = reply.content.value
    return {
      ...reply,
      content: { kind: 'linked', value: mode === 'set' ? { linked: made, unlinked } : { linked: made } },
    }
  }
}

type LinkChangeInput = Pick<LinkChange, 'mode' | 'isOne' | 'groups'> & { readonly errors: ErrorsByPlace }

function changeLinks(request: NestedRequest, linking: LinkedRelation, change: LinkChangeInput): Promise<Reply> {
  const { resource, caller } = request.parent
  return runInTransaction({ resource, operation: 'update', caller, call: request.call }, (planned) =>
    changeLinksInTransaction(request, linking, change, planned),
  )
}

async function changeLinksInTransaction(
  request: NestedRequest,
  linking: LinkedRelation,
  change: LinkChangeInput,
  planned: (plan: Plan) => void,
): Promise<Reply> {
  const { parent, parentId, target, call } = request
  const { resource, caller } = parent
  const session = createSession(caller, resource.limits, call)
  session.markAuthorized(target.resource, 'getById', target.caller)
  await resource.canValidate
  const key = requireKey(resource.keys, parentId)
  const first = {
    kind: 'get',
    key,
    where: matchKeys(resource.keys, [key]),
    projection: projectOwnFields([linking.binding.source]),
  } as const
  const plan = (await resource.behaviours.amend?.(resource, first, caller)) ?? first
  planned(plan)
  const nestedWrites = [await planLinkChange(session, linking, change)]
  const sees = [target.resource, linking.joinModelResource]
  const policyChecks = createPolicyChecks(session, () => sees)
  const work: Work = {
    resource,
    plan,
    foreignKeyChecks: [],
    nestedWrites,
    dependsOn: sees,
    nestedResources: [linking.joinModelResource],
    policyChecks,
  }
  const parsedRequest: ParsedRequest = {
    resource,
    operation: 'update',
    intent: { kind: 'update', key: parentId, match: null, body: {}, minimal: false },
    caller,
    call,
  }
  return wrapReply(parsedRequest, () => performPlan(parsedRequest, work, createLinkReply))
}

/** Creates a reply with the counts of all changes. Each handler selects the counts that its clients see. */
function createLinkReply({ linkCounts }: WriteResult): Reply {
  if (linkCounts === undefined) throw internalError('a request to link records ended without the number of links')
  return { status: 200, headers: {}, content: { kind: 'linked', value: linkCounts } }
}

/** Removes the keys of the path from a join model row's body. Returns errors for body keys with other values. */
function removePathKeys(
  { parent, parentId, target }: NestedRequest,
  { joinModelResource, binding, key, referencedKey }: LinkedRelation,
  linkTarget: LinkTarget,
): { readonly own: LinkTarget; readonly faults: ErrorsByPlace } {
  if (linkTarget.body === null) return { own: linkTarget, faults: {} }
  const source = readKeyParts(parent.resource.keys, parentId)
  const ends: readonly ConnectingAttribute[] = [
    { field: binding.key, code: 'owner', value: keyPartOf(parent.resource.keys, source, binding.source) },
    { field: key, code: 'path-key', value: keyPartOf(target.resource.keys, linkTarget.key ?? null, referencedKey) },
    ...[...binding.fixed].map(
      ([field, value]): ConnectingAttribute => ({ field, code: 'owner', value, isExact: true }),
    ),
  ]
  const { body, wrong, stated } = removeConnectingAttributes(joinModelResource, linkTarget.body, ends, '')
  return { own: { ...linkTarget, body, bodyKeys: stated }, faults: wrong }
}

/**
 * Returns the value of `field` in a key. Returns undefined if `field` is not part of the key: only the database knows
 * the value.
 */
function keyPartOf(
  keys: Parameters<typeof planKeyParts>[0],
  key: Parameters<typeof planKeyParts>[1] | null,
  field: LinkedRelation['referencedKey'],
): unknown {
  return key === null ? undefined : planKeyParts(keys, key)[keys.indexOf(field)]
}
