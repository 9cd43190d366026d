import type { Field, JsonValue } from '../../types/field.js'
import type { Intent } from '../../types/intent.js'
import type { CreatePlan, PlainValue, Plan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { Resource } from '../../types/resource.js'
import { tieOf } from '../bodies/index.js'
import { fault } from '../common/messages.js'
import { plainOf } from '../common/plain.js'
import { problem } from '../common/problem.js'
import { isSameValue } from '../common/same.js'
import { originForm } from '../common/target.js'
import { assertTied } from '../common/ties.js'
import { answer, pathOf } from '../handle.js'
import { isOwnerKey, type OwnerKey, ownerOf } from './owner.js'
import { intentOf } from './read.js'
import type { NestedRequest } from './request.js'

/** Creates a child of the parent in the path. */
export async function create(request: NestedRequest): Promise<Reply> {
  const { owner, target, call } = request
  const { resource } = target
  const intent = await intentOf(request, 'create')
  const ties = tiesOf(request, await ownerOf(request))
  const { body, wrong } = await tied(request, intent, ties)
  const amend = (plan: Plan): Plan => {
    if (plan.kind === 'create') return completed(resource, plan, ties, wrong)
    throw new TypeError(`a behaviour of ${resource.name} has made a create a ${plan.kind}`)
  }
  const address = { url: originForm(call.originalUrl), collection: mountOf(request) + collectionOf(resource) }
  // The result depends on which parents the caller may see.
  const sees = [owner.resource]
  return answer({ ...target, operation: 'create', call, address, amend, sees }, { ...intent, kind: 'create', ...body })
}

/** A foreign key to the parent: its value as JSON, and its stored value. */
interface Tie {
  readonly field: Field
  readonly json: JsonValue
  readonly stored: PlainValue | null
}

function tiesOf({ owner, relation, target }: NestedRequest, { json, stored }: OwnerKey): readonly Tie[] {
  // A parent whose referenced key is null cannot have children.
  if (stored === null) throw problem('conflict', { detail: 'The record has no key that others could refer to.' })
  const { key, fixed } = tieOf(owner.resource, relation, target.resource)
  const others = [...fixed].map(([field, value]): Tie => {
    return { field, json: value, stored: value === null ? null : plainOf(field, value) }
  })
  return [{ field: key, json, stored }, ...others]
}

/** Adds the parent's key to the body, as the target requires it. Also returns fields with the key of another parent. */
async function tied(request: NestedRequest, intent: Intent, ties: readonly Tie[]) {
  if (intent.kind !== 'create') throw new TypeError(`a create was read as a ${intent.kind}`)
  const { byName } = request.target.resource
  // Another field may have the name of an excluded attribute.
  const named = ties.filter(({ field }) => byName.get(field.json.toLowerCase()) === field)
  const wrong: Field[] = []
  for (const { field, json } of named) {
    const stated = Object.hasOwn(intent.body, field.json) ? intent.body[field.json] : json
    if (isSameValue(field, stated, json)) continue
    const isKey = field.name === request.relation.ends.target
    if (!isKey || !(await isOwnerKey(request, stated))) wrong.push(field)
  }
  const body = { ...intent.body, ...Object.fromEntries(named.map(({ field, json }) => [field.json, json])) }
  return { body: { body, minimal: intent.minimal }, wrong }
}

/** Adds the parent's key to the plan. @throws Problem 403 if the caller may only create children of other parents */
function completed(resource: Resource, plan: CreatePlan, ties: readonly Tie[], wrong: readonly Field[]): CreatePlan {
  const own = ties.map(({ field, stored }) => [field.name, stored] as const)
  assertTied(resource, plan.upkeep, own)
  const upkeep = new Map([...plan.upkeep, ...own])
  if (wrong.length === 0) return { ...plan, upkeep }
  const found = plan.invalid ?? { errors: {}, failed: new Set<string>() }
  const message = [resource.tell(fault('owner'))]
  const invalid = {
    errors: { ...found.errors, ...Object.fromEntries(wrong.map(({ json }) => [json, message])) },
    failed: new Set([...found.failed, ...wrong.map(({ name }) => name)]),
  }
  return { ...plan, upkeep, invalid }
}

/** Path of the parent's mount in this request, as the client sees it. */
function mountOf({ owner, call }: NestedRequest): string {
  // The parent's key and the relation follow the mount. Express' base URL differs between mounts.
  const words = pathOf(call).split('/')
  const own = collectionOf(owner.resource).split('/').length - 1 + (owner.resource.behaviours.ownKey === null ? 2 : 1)
  return words.slice(0, words.length - own).join('/')
}

function collectionOf({ route }: Resource): string {
  return route === '/' ? '' : route
}
