import type { Intent } from '../../types/intent.js'
import type { PagePlan, Plan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName } from '../../types/resource.js'
import { workFor } from '../bodies/index.js'
import { fieldNamed, ofOwn, ownColumn } from '../common/columns.js'
import { keyIn } from '../common/keys.js'
import { isList } from '../common/listing.js'
import { both } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { originForm } from '../common/target.js'
import { answer } from '../handle.js'
import { parse } from '../parse/index.js'
import { isQuery } from '../parse/queried.js'
import { perform } from '../perform/index.js'
import { hiddenFrom } from '../plan/index.js'
import { linkTo, type OwnerKey, ownerOf, withinOwner } from './owner.js'
import type { NestedRequest } from './request.js'

/** Parses the request as an intent for the target. */
export async function intentOf(
  { call, target: { resource, caller } }: NestedRequest,
  operation: OperationName,
): Promise<Intent> {
  return parse(resource, resource.table[operation], call, hiddenFrom(caller, resource))
}

/** Lists the target's records behind the relation. */
export async function list(request: NestedRequest): Promise<Reply> {
  const { target, call, operation } = request
  const key = await ownerOf(request)
  const intent = await intentOf(request, operation)
  const within = await withinOwner(request, key)
  const amend = (plan: Plan): Plan => {
    if (isList(plan)) return { ...plan, where: both(plan.where, within) }
    throw new TypeError(`a behaviour of ${target.resource.name} has made a list a ${plan.kind}`)
  }
  // A list has no `Location` header.
  const address = { url: isQuery(call) ? null : originForm(call.originalUrl), collection: '' }
  return answer({ ...target, operation, call, address, amend, link: linkTo(request, key) }, intent)
}

/** Reads the single record behind a relation, with the reply of the target's own route. */
export async function one(request: NestedRequest): Promise<Reply> {
  const { target, call } = request
  const owner = await ownerOf(request)
  const intent = await intentOf(request, 'getById')
  if (intent.kind !== 'get') throw new TypeError(`a GET of one record was read as a ${intent.kind}`)
  const key = await keyBehind(request, owner)
  if (key === null) {
    // Plans first: a bad query gets 400 whether or not the record exists, like on the target's own route.
    await workFor(target.resource, intent, target.caller, (headers) => call.tell(headers))
    throw problem('not-found')
  }
  const address = { url: originForm(call.originalUrl), collection: '' }
  return answer({ ...target, operation: 'getById', call, address }, { ...intent, key })
}

/** Key of the record, as written in paths. Null if the caller cannot see a record. */
async function keyBehind(request: NestedRequest, owner: OwnerKey): Promise<string | null> {
  const { relation, target, call } = request
  const { resource, caller } = target
  const { ends, association } = relation
  const [only, ...others] = resource.keys
  const isKey = ends.target === only?.name && others.length === 0 && ends.fixed().size === 0
  if (isKey && owner.json !== null) return String(owner.json)
  // If the models allow several records, the first by primary key is used.
  const first = association.target.primaryKeyAttributes.map((name) => ownColumn(fieldNamed(resource.fields, name)))
  const planned: PagePlan = {
    kind: 'page',
    where: await withinOwner(request, owner),
    includeDeleted: false,
    order: first.map((column) => ({ column, direction: 'asc' })),
    page: 1,
    pageSize: 1,
    total: 'none',
    projection: ofOwn(resource.keys),
    preference: { applied: null, varies: false },
    isAsked: false,
  }
  const plan = (await resource.behaviours.amend?.(resource, planned, caller)) ?? planned
  const outcome = await perform({ resource, plan, pointers: [] }, call)
  const [row] = outcome.kind === 'page' ? outcome.rows : []
  const key = row === undefined ? undefined : keyIn(resource.keys, planned.projection.columns, row)
  return key === undefined ? null : String(key)
}
