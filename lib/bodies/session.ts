import type { Intent, Named } from '../../types/intent.js'
import type { BulkCreatePlan, BulkDeletePlan, Caller, GetPlan, Plan, UpdatePlan } from '../../types/plan.js'
import type { OperationName, Resource } from '../../types/resource.js'
import type { Limits } from '../../types/settings.js'
import type { View } from '../../types/view.js'
import type { Asked, Planned } from '../../types/work.js'
import { isObject } from '../common/object.js'
import { problem } from '../common/problem.js'
import { sizedBody } from '../common/sizedBody.js'
import { assertWritable } from '../common/ties.js'
import { type Body, choosesKeys, isKept, memberOf, namesRecord } from './members.js'
import { unexpected } from './plans.js'
import { type Holding, type Linking, type Relations, relationsIn } from './relations.js'

/** The caller of one operation on a resource, with the result of the policy check. */
interface Party {
  readonly caller: Caller
  answer: Promise<void> | null
  isIn: boolean
}

/** A part of a request, planned like a separate request to its resource. */
export interface Part {
  readonly operation: OperationName
  readonly intent: Intent
  /** Places of the part's bodies in the request. Absent for a part without bodies. */
  readonly places?: readonly string[]
  /** Whether the part's bodies may not contain nested records. Default: they may. */
  readonly isAlone?: boolean
}

/** Plan types of parts, by kind. */
interface Kinds {
  readonly get: GetPlan
  readonly update: UpdatePlan
  readonly restore: UpdatePlan
  readonly bulkCreate: BulkCreatePlan
  readonly bulkDelete: BulkDeletePlan
}

/** Plans a part of a request. Parts can contain parts. */
type PlanPart = (session: Session, resource: Resource, part: Part) => Promise<Planned<Plan>>

/** State that all parts of one request share: the caller, completed policy checks and record limits. */
export class Session {
  readonly caller: Caller
  readonly tell: (headers: View['headers']) => void
  /** Limits of the resource that received the request. */
  readonly limits: Limits
  /** Treatment of unknown names, if the request states it. Undefined leaves it to each resource. */
  readonly unknown: Named['unknown']
  /** Whether the response omits the written records. */
  readonly minimal: boolean
  readonly #parties = new Map<Resource, Map<OperationName, Party>>()
  #records = 0
  #excess: Error | null = null

  readonly #part: PlanPart

  constructor(
    caller: Caller,
    limits: Limits,
    { tell, part, unknown, minimal }: Named & Pick<Session, 'tell' | 'minimal'> & { readonly part: PlanPart },
  ) {
    this.caller = caller
    this.limits = limits
    this.tell = tell
    this.unknown = unknown
    this.minimal = minimal
    this.#part = part
  }

  /** Plans a part of the request and checks the kind of its plan. */
  async part<K extends keyof Kinds>(resource: Resource, kind: K, part: Part): Promise<Planned<Kinds[K]>> {
    const { caller, work } = await this.#part(this, resource, part)
    const { plan } = work
    if (!isOf(plan, kind)) throw unexpected(resource, plan)
    return { caller, work: { ...work, plan } }
  }

  /** Caller for one operation on a resource. The scope is evaluated once for each such caller. */
  callerOf(resource: Resource, operation: OperationName): Caller {
    return this.#party(resource, operation).caller
  }

  /** Evaluates the policy of an operation, once per request. @throws Problem 401 or 403 */
  async admit(resource: Resource, operation: OperationName): Promise<void> {
    const party = this.#party(resource, operation)
    party.answer ??= admitted(resource, operation, party.caller)
    await party.answer
    party.isIn = true
  }

  /** Policy checks that the caller has passed so far. */
  get asked(): Asked {
    return [...this.#parties].flatMap(([{ name }, parties]) =>
      [...parties].flatMap(([operation, { isIn }]) => (isIn ? [[name, operation] as const] : [])),
    )
  }

  /** Records that the caller is already authorized. */
  adopt(resource: Resource, operation: OperationName, caller: Caller): void {
    const known = this.#parties.get(resource) ?? new Map<OperationName, Party>()
    this.#parties.set(resource, known.set(operation, { caller, answer: Promise.resolve(), isIn: false }))
  }

  /** Number of further records that the request may write. */
  get spare(): number {
    return this.limits.bulkItems - this.#records
  }

  overflow(): Error {
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
  async survey(relations: Relations, bodies: readonly unknown[], isNew: boolean): Promise<void> {
    this.#records += bodies.length
    await this.#below(relations, bodies, isNew, 1)
    if (this.#records > this.limits.bulkItems) throw this.overflow()
    if (this.#excess !== null) throw this.#excess
  }

  async #below(
    { holdings, linkings }: Relations,
    bodies: readonly unknown[],
    isNew: boolean,
    level: number,
  ): Promise<void> {
    for (const linking of linkings) await this.#surveyLinks(linking, bodies, isNew)
    for (const holding of holdings) {
      const { target, json } = holding
      this.tell(target.behaviours.headers)
      if (level > this.limits.nestedWrites) {
        this.#excess ??= tooDeep(this.limits.nestedWrites)
        continue
      }
      const all = bodies.flatMap((body) => memberOf(body, json) ?? [])
      // Non-objects count as well, because each would add an error message.
      this.#records += all.length
      const elements = all.filter(isObject)
      for (const element of elements) sizedBody(element)
      const { fresh, old } = isNew ? { fresh: elements, old: [] } : sorted(holding, elements)
      if (fresh.length > 0) {
        assertWritable(target, [holding.tie.key], this.caller)
        await this.admit(target, 'create')
      }
      if (old.some((element) => namesRecord(holding, element)) && !choosesKeys(target, holding.tie))
        await this.admit(target, 'update')
      await this.#belowAll(target, fresh, true, level + 1)
      await this.#belowAll(target, old, false, level + 1)
    }
  }

  async #belowAll(resource: Resource, bodies: readonly unknown[], areNew: boolean, level: number): Promise<void> {
    const relations = relationsIn(resource, this.caller, bodies)
    if (relations !== null) await this.#below(relations, bodies, areNew, level)
  }

  /** For new records, all keys in bodies are new links. */
  async #surveyLinks({ json, target, between, tie, key }: Linking, bodies: readonly unknown[], areNew: boolean) {
    for (const each of [target, between]) this.tell(each.behaviours.headers)
    const { length } = bodies.flatMap((body) => memberOf(body, json) ?? [])
    this.#records += length
    await this.admit(target, 'getById')
    if (!areNew || length === 0) return
    assertWritable(between, [tie.key, key], this.caller)
    await this.admit(between, 'create')
  }

  #party(resource: Resource, operation: OperationName): Party {
    const known = this.#parties.get(resource) ?? new Map<OperationName, Party>()
    this.#parties.set(resource, known)
    const party = known.get(operation) ?? { caller: { ...this.caller }, answer: null, isIn: false }
    known.set(operation, party)
    return party
  }
}

function isOf<K extends keyof Kinds>(plan: Plan, kind: K): plan is Kinds[K] {
  return plan.kind === kind
}

/** Splits elements into new records and possible updates of existing records. */
function sorted(holding: Holding, elements: readonly Body[]): { fresh: readonly Body[]; old: readonly Body[] } {
  const { target, many } = holding
  const isFresh = (element: Body): boolean => many && !namesRecord(holding, element)
  return {
    fresh: elements.filter(isFresh),
    old: elements.filter((element) => !isFresh(element) && !(namesRecord(holding, element) && isKept(target, element))),
  }
}

function tooDeep(limit: number): Error {
  return problem('malformed-body', {
    detail: `The body nests records deeper than the limit of ${limit} (nestedWrites).`,
  })
}

/** Turns synchronous exceptions into rejections, so that the result can be stored. */
async function admitted(resource: Resource, operation: OperationName, caller: Caller): Promise<void> {
  await resource.behaviours.admit?.(resource, operation, caller)
}
