import type { Call } from '../../types/call.js'
import type { Intent, UnknownNameHandling } from '../../types/intent.js'
import type { BulkCreatePlan, BulkDeletePlan, Caller, GetPlan, Plan, UpdatePlan } from '../../types/plan.js'
import type { OperationName, Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import type { PassedPolicies, PlannedPart } from '../../types/work.js'
import { assertKeysWritable } from '../common/foreignKeyBinding.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { checkMemberCount } from '../common/memberCount.js'
import { isObject } from '../common/object.js'
import { problem } from '../common/problem.js'
import { type Body, hasClientKeys, hasElementKey, isUnchanged, memberOf } from './members.js'
import { unexpectedPlanError } from './plans.js'
import { type BodyRelations, findRelations, type LinkedRelation, type NestedRelation } from './relations.js'

/** The caller of one operation on a resource, with the result of its policy check. */
interface AuthorizedCaller {
  readonly caller: Caller
  authorization: Promise<void> | null
  isAuthorized: boolean
}

/** A part of a request, planned like a separate request to its resource. */
export interface RequestPart {
  readonly operation: OperationName
  readonly intent: Intent
  /** The places of the part's bodies in the request; absent for a part without bodies. */
  readonly places?: readonly string[]
  /** Whether the part's bodies may not contain nested records. Default false. */
  readonly isFlat?: boolean
}

/** The plan types of parts, by kind. */
interface PlanByKind {
  readonly get: GetPlan
  readonly update: UpdatePlan
  readonly restore: UpdatePlan
  readonly bulkCreate: BulkCreatePlan
  readonly bulkDelete: BulkDeletePlan
}

/** Plans a part of a request. A part may contain further parts. */
type PartPlanner = (session: Session, resource: Resource, part: RequestPart) => Promise<PlannedPart<Plan>>

/** The state that all parts of one request share: the caller, completed policy checks and record limits. */
export class Session {
  readonly caller: Caller
  /** The call whose response gets the headers of all parts. */
  readonly call: Pick<Call, 'addHeaders'>
  /** The limits of the resource that received the request. */
  readonly limits: Limits
  /** The treatment of unknown names, if the request states it. Undefined: each resource decides. */
  readonly unknownNames: UnknownNameHandling['unknownNames']
  /** Whether the response omits the written records. */
  readonly minimal: boolean
  readonly #callers = new Map<Resource, Map<OperationName, AuthorizedCaller>>()
  #recordCount = 0
  #limitError: Error | null = null

  readonly #planPart: PartPlanner

  constructor(
    caller: Caller,
    limits: Limits,
    {
      call,
      part,
      unknownNames,
      minimal,
    }: UnknownNameHandling & Pick<Session, 'call' | 'minimal'> & { readonly part: PartPlanner },
  ) {
    this.caller = caller
    this.limits = limits
    this.call = call
    this.unknownNames = unknownNames
    this.minimal = minimal
    this.#planPart = part
  }

  /** Plans a part of the request and checks the kind of its plan. */
  async planPart<K extends keyof PlanByKind>(
    resource: Resource,
    kind: K,
    part: RequestPart,
  ): Promise<PlannedPart<PlanByKind[K]>> {
    const { caller, work } = await this.#planPart(this, resource, part)
    const { plan } = work
    if (!isPlanOfKind(plan, kind)) throw unexpectedPlanError(resource, plan)
    return { caller, work: { ...work, plan } }
  }

  /**
   * Returns the caller for one operation on a resource. The scope is evaluated once for each resource and operation.
   */
  callerOf(resource: Resource, operation: OperationName): Caller {
    return this.#authorizedCaller(resource, operation).caller
  }

  /** Evaluates the policy of an operation, once per request. @throws Problem 401 or 403 */
  async admit(resource: Resource, operation: OperationName): Promise<void> {
    const party = this.#authorizedCaller(resource, operation)
    party.authorization ??= admitAsync(resource, operation, party.caller)
    await party.authorization
    party.isAuthorized = true
  }

  /** The policy checks that the caller has passed so far. */
  get passedPolicies(): PassedPolicies {
    return [...this.#callers].flatMap(([{ name }, parties]) =>
      [...parties].flatMap(([operation, { isAuthorized }]) => (isAuthorized ? [[name, operation] as const] : [])),
    )
  }

  /**
   * Registers a policy check that the caller has passed outside this session. `passedPolicies` omits the check until a
   * part calls `admit`.
   */
  markAuthorized(resource: Resource, operation: OperationName, caller: Caller): void {
    const known = this.#callers.get(resource) ?? new Map<OperationName, AuthorizedCaller>()
    this.#callers.set(resource, known.set(operation, { caller, authorization: Promise.resolve(), isAuthorized: false }))
  }

  /** The number of further records that the request may write. */
  get remainingRecords(): number {
    return this.limits.bulkItems - this.#recordCount
  }

  createLimitError(): Error {
    const limit = this.limits.bulkItems
    return problem('malformed-body', {
      detail: `The request writes more records than the limit of ${limit} (bulkItems).`,
    })
  }

  /**
   * Evaluates all policies that the bodies require, before any record is read.
   *
   * @throws Problem 403, or 400 if the bodies exceed a limit
   */
  async preauthorize(relations: BodyRelations, bodies: readonly unknown[], isNew: boolean): Promise<void> {
    this.#recordCount += bodies.length
    await this.#preauthorizeNested(relations, bodies, isNew, 1)
    if (this.#recordCount > this.limits.bulkItems) throw this.createLimitError()
    if (this.#limitError !== null) throw this.#limitError
  }

  async #preauthorizeNested(
    { nested, linked }: BodyRelations,
    bodies: readonly unknown[],
    isNew: boolean,
    level: number,
  ): Promise<void> {
    for (const linking of linked) await this.#preauthorizeLinks(linking, bodies, isNew)
    for (const relation of nested) {
      const { target, json } = relation
      this.call.addHeaders(target.behaviours.headers)
      if (level > this.limits.nestedWrites) {
        this.#limitError ??= nestingError(this.limits.nestedWrites)
        continue
      }
      const all = bodies.flatMap((body) => memberOf(body, json) ?? [])
      // Elements that are not objects count as well, because each of them adds an error message.
      this.#recordCount += all.length
      const elements = all.filter(isObject)
      for (const element of elements) checkMemberCount(element)
      const { added, old } = isNew ? { added: elements, old: [] } : splitElements(relation, elements)
      if (added.length > 0) {
        assertKeysWritable(target, [relation.binding.key], this.caller)
        await this.admit(target, 'create')
      }
      if (old.some((element) => hasElementKey(relation, element)) && !hasClientKeys(target, relation.binding))
        await this.admit(target, 'update')
      await this.#preauthorizeBodies(target, added, true, level + 1)
      await this.#preauthorizeBodies(target, old, false, level + 1)
    }
  }

  async #preauthorizeBodies(
    resource: Resource,
    bodies: readonly unknown[],
    areNew: boolean,
    level: number,
  ): Promise<void> {
    const relations = findRelations(resource, this.caller, bodies)
    if (relations !== null) await this.#preauthorizeNested(relations, bodies, areNew, level)
  }

  /** Evaluates the policies for links in bodies. All keys in bodies of new records are new links. */
  async #preauthorizeLinks(
    { json, target, joinModelResource, binding, key }: LinkedRelation,
    bodies: readonly unknown[],
    areNew: boolean,
  ) {
    for (const each of [target, joinModelResource]) this.call.addHeaders(each.behaviours.headers)
    const { length } = bodies.flatMap((body) => memberOf(body, json) ?? [])
    this.#recordCount += length
    await this.admit(target, 'getById')
    if (!areNew || length === 0) return
    assertKeysWritable(joinModelResource, [binding.key, key], this.caller)
    await this.admit(joinModelResource, 'create')
  }

  #authorizedCaller(resource: Resource, operation: OperationName): AuthorizedCaller {
    const known = getOrCreate(this.#callers, resource, () => new Map())
    return getOrCreate(known, operation, () => ({
      caller: { ...this.caller },
      authorization: null,
      isAuthorized: false,
    }))
  }
}

function isPlanOfKind<K extends keyof PlanByKind>(plan: Plan, kind: K): plan is PlanByKind[K] {
  return plan.kind === kind
}

/** Splits elements into new records and possible updates of existing records. Unchanged records are in neither part. */
function splitElements(
  relation: NestedRelation,
  elements: readonly Body[],
): { added: readonly Body[]; old: readonly Body[] } {
  const { target, many } = relation
  const isNew = (element: Body): boolean => many && !hasElementKey(relation, element)
  return {
    added: elements.filter(isNew),
    old: elements.filter(
      (element) => !isNew(element) && !(hasElementKey(relation, element) && isUnchanged(target, element)),
    ),
  }
}

function nestingError(limit: number): Error {
  return problem('malformed-body', {
    detail: `The body nests records deeper than the limit of ${limit} (nestedWrites).`,
  })
}

/** An async function, so that synchronous exceptions become rejections of the stored promise. */
async function admitAsync(resource: Resource, operation: OperationName, caller: Caller): Promise<void> {
  await resource.behaviours.admit?.(resource, operation, caller)
}
