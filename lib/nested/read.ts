import type { Intent } from '../../types/intent.js'
import type { PagePlan, Plan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { OperationName } from '../../types/resource.js'
import { planWork } from '../bodies/index.js'
import { ownColumn, projectOwnFields, requireField } from '../common/columns.js'
import { internalError } from '../common/internalError.js'
import { keyOfRow } from '../common/keys.js'
import { isListPlan } from '../common/listPlan.js'
import { addCondition } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { toOriginForm } from '../common/requestTarget.js'
import { replyToIntent } from '../handle.js'
import { parse } from '../parse/index.js'
import { isQueryMethod } from '../parse/queryMethod.js'
import { performRead } from '../perform/index.js'
import { hiddenFieldsOf } from '../plan/index.js'
import { buildParentCondition, type ParentKey, readParentKey, resolveParentLink } from './parent.js'
import type { NestedRequest } from './request.js'

/** Parses the request as an intent for the target. */
export async function parseIntent(
  { call, target: { resource, caller } }: NestedRequest,
  operation: OperationName,
): Promise<Intent> {
  return parse(resource, resource.operationTable[operation], call, hiddenFieldsOf(caller, resource))
}

/** Lists the target's records behind the relation. */
export async function listNested(request: NestedRequest): Promise<Reply> {
  const { target, call, operation } = request
  const key = await readParentKey(request)
  const intent = await parseIntent(request, operation)
  const within = await buildParentCondition(request, key)
  const amendPlan = (plan: Plan): Plan => {
    if (isListPlan(plan)) return { ...plan, where: addCondition(plan.where, within) }
    throw internalError(
      `a behaviour of ${target.resource.name} replaced the plan of a list by one of kind "${plan.kind}"`,
    )
  }
  // Only the `Location` header uses `collection`, and a list has none.
  const address = { url: isQueryMethod(call) ? null : toOriginForm(call.originalUrl), collection: '' }
  return replyToIntent(
    { ...target, operation, call, address, amend: amendPlan, link: resolveParentLink(request, key) },
    intent,
  )
}

/** Replies with the single record behind a relation, like the target's own route. */
export async function readNested(request: NestedRequest): Promise<Reply> {
  const { target, call } = request
  const parentKey = await readParentKey(request)
  const intent = await parseIntent(request, 'getById')
  if (intent.kind !== 'get')
    throw internalError(`a GET request of one record was parsed as "${intent.kind}" instead of "get"`)
  const key = await readNestedKey(request, parentKey)
  if (key === null) {
    // Planning reports an invalid query as 400, whether or not the record exists, like the target's own route.
    await planWork(target.resource, intent, target.caller, call)
    throw problem('not-found')
  }
  const address = { url: toOriginForm(call.originalUrl), collection: '' }
  return replyToIntent({ ...target, operation: 'getById', call, address }, { ...intent, key })
}

/** Returns the key of the record, as written in paths. Returns null if the caller cannot see a record. */
async function readNestedKey(request: NestedRequest, parentKey: ParentKey): Promise<string | null> {
  const { relation, target, call } = request
  const { resource, caller } = target
  const { attributes, association } = relation
  const [only, ...others] = resource.keys
  const isKey = attributes.target === only?.name && others.length === 0 && attributes.fixed().size === 0
  if (isKey && parentKey.json !== null) return String(parentKey.json)
  // If the models allow several records, the record with the lowest primary key is used.
  const first = association.target.primaryKeyAttributes.map((name) => ownColumn(requireField(resource.fields, name)))
  const planned: PagePlan = {
    kind: 'page',
    where: await buildParentCondition(request, parentKey),
    includeDeleted: false,
    order: first.map((column) => ({ column, direction: 'asc' })),
    page: 1,
    pageSize: 1,
    total: 'none',
    projection: projectOwnFields(resource.keys),
    preference: { applied: null, varies: false },
    hasQuery: false,
  }
  const plan = (await resource.behaviours.amend?.(resource, planned, caller)) ?? planned
  const { outcome } = await performRead({ resource, plan, foreignKeyChecks: [] }, call)
  const [row] = outcome.kind === 'page' ? outcome.rows : []
  const key = row === undefined ? undefined : keyOfRow(resource.keys, planned.projection.columns, row)
  return key === undefined ? null : String(key)
}
