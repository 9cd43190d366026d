import type { Field, JsonValue } from '../../types/field.js'
import type { Intent } from '../../types/intent.js'
import type { CreatePlan, PlainValue, Plan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { Resource } from '../../types/resource.js'
import { bindingOf } from '../bodies/index.js'
import { assertSameForeignKeys, NO_REFERENCED_VALUE } from '../common/foreignKeyBinding.js'
import { internalError } from '../common/internalError.js'
import { createMessage } from '../common/messages.js'
import { toPlainValue } from '../common/plainValue.js'
import { Problem, problem } from '../common/problem.js'
import { toOriginForm } from '../common/requestTarget.js'
import { isSameValue } from '../common/sameValue.js'
import { pathOf, replyToIntent } from '../handle.js'
import { isParentKey, type ParentKey, readParentKey } from './parent.js'
import { parseIntent } from './read.js'
import type { NestedRequest } from './request.js'

/** Creates a child of the parent in the path. */
export async function createNested(request: NestedRequest): Promise<Reply> {
  const { parent, target, call } = request
  const { resource } = target
  const intent = await parseIntent(request, 'create')
  const parentKey = await findParentKey(request)
  const isMissing = parentKey instanceof Problem
  const parentKeyValues = isMissing ? [] : parentKeyValuesOf(request, parentKey)
  const { body, wrong } = await addParentKeyToBody(request, intent, parentKeyValues)
  const amendPlan = (plan: Plan): Plan => {
    if (plan.kind === 'create') return addParentKeyToPlan(resource, plan, parentKeyValues, wrong)
    throw internalError(
      `a behaviour of ${resource.name} replaced a plan of kind "create" by one of kind "${plan.kind}"`,
    )
  }
  const address = { url: toOriginForm(call.originalUrl), collection: mountPathOf(request) + collectionPathOf(resource) }
  // The scope and masks of the parent's resource affect the response, because the parent must be visible to the caller.
  const sees = [parent.resource]
  return replyToIntent(
    {
      ...{ ...target, operation: 'create', call, address, amend: amendPlan, dependsOn: sees },
      ...(isMissing ? { refusal: parentKey } : {}),
    },
    { ...intent, kind: 'create', ...body },
  )
}

/**
 * Reads the parent's key. Returns the 404 of a missing parent if the request has an `Idempotency-Key`, because a stored
 * reply is replayed even if the parent has been deleted since. A caller who is refused gets no stored reply.
 */
async function findParentKey(request: NestedRequest): Promise<ParentKey | Problem> {
  const { target, call } = request
  try {
    return await readParentKey(request)
  } catch (error) {
    const isReplayable = target.resource.behaviours.resolveIdempotency && call.headers['idempotency-key'] !== undefined
    if (isReplayable && error instanceof Problem && error.status === 404) return error
    throw error
  }
}

/** Foreign key to the parent, with its value as JSON and as stored. */
interface ParentKeyValue {
  readonly field: Field
  readonly json: JsonValue
  readonly stored: PlainValue | null
}

function parentKeyValuesOf(
  { parent, relation, target }: NestedRequest,
  { json, stored }: ParentKey,
): readonly ParentKeyValue[] {
  // A parent whose referenced key is null cannot have children.
  if (stored === null) throw problem('conflict', { detail: NO_REFERENCED_VALUE })
  const { key, fixed } = bindingOf(parent.resource, relation, target.resource)
  const others = [...fixed].map(([field, value]): ParentKeyValue => {
    return { field, json: value, stored: value === null ? null : toPlainValue(field, value) }
  })
  return [{ field: key, json, stored }, ...others]
}

/**
 * Adds the parent's key to the body, because the target may require the foreign key. Also returns the fields that name
 * another parent.
 */
async function addParentKeyToBody(request: NestedRequest, intent: Intent, parentKeyValues: readonly ParentKeyValue[]) {
  if (intent.kind !== 'create') throw internalError(`a POST request was parsed as "${intent.kind}" instead of "create"`)
  const { byName } = request.target.resource
  // A foreign key that bodies exclude may have the JSON name of another field. The body must not set that field.
  const named = parentKeyValues.filter(({ field }) => byName.get(field.json.toLowerCase()) === field)
  const wrong: Field[] = []
  for (const { field, json } of named) {
    const stated = Object.hasOwn(intent.body, field.json) ? intent.body[field.json] : json
    if (isSameValue(field, stated, json)) continue
    const isKey = field.name === request.relation.attributes.target
    if (!isKey || !(await isParentKey(request, stated))) wrong.push(field)
  }
  const body = { ...intent.body, ...Object.fromEntries(named.map(({ field, json }) => [field.json, json])) }
  return { body: { body, minimal: intent.minimal }, wrong }
}

/**
 * Adds the parent's key to the plan.
 * @throws Problem 403 if the child's resource sets another parent itself, for example by a scope
 */
function addParentKeyToPlan(
  resource: Resource,
  plan: CreatePlan,
  parentKeyValues: readonly ParentKeyValue[],
  wrong: readonly Field[],
): CreatePlan {
  const own = parentKeyValues.map(({ field, stored }) => [field.name, stored] as const)
  assertSameForeignKeys(resource, plan.serverValues, own)
  const serverValues = new Map([...plan.serverValues, ...own])
  if (wrong.length === 0) return { ...plan, serverValues }
  const found = plan.invalid ?? { errors: {}, failed: new Set<string>() }
  const message = [resource.translate(createMessage('owner'))]
  const invalid = {
    errors: { ...found.errors, ...Object.fromEntries(wrong.map(({ json }) => [json, message])) },
    failed: new Set([...found.failed, ...wrong.map(({ name }) => name)]),
  }
  return { ...plan, serverValues, invalid }
}

/** Returns the path of the parent's mount in this request, as the client sees the path. */
function mountPathOf({ parent, call }: NestedRequest): string {
  // The parent's key and the relation follow the mount. Express' base URL is not used, because it differs between
  // mounts. A path that the host has rewritten may be shorter.
  const words = pathOf(call).split('/')
  const own =
    collectionPathOf(parent.resource).split('/').length - 1 + (parent.resource.behaviours.ownKey === null ? 2 : 1)
  return words.slice(0, Math.max(0, words.length - own)).join('/')
}

function collectionPathOf({ route }: Resource): string {
  return route === '/' ? '' : route
}
