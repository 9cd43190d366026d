import type { Model, ModelStatic } from 'sequelize'
import type { BehaviourDefinition, BehaviourSubject, PreparedBehaviour } from '../../types/behaviour.js'
import type { Documented } from '../../types/documented.js'
import type { Field } from '../../types/field.js'
import type { CrudOptions, FieldOptions } from '../../types/options.js'
import type { Predicate, SinglePlan } from '../../types/plan.js'
import type { Reply } from '../../types/reply.js'
import type { Behaviour, BehaviourHooks, Behaviours, Facts, VisibleRecords } from '../../types/resource.js'
import { mergeHeaders } from '../common/headers.js'
import { internalError } from '../common/internalError.js'
import { addCondition } from '../common/predicates.js'
import type { ConfigProblems } from '../config/problems.js'
import type { OperationTable } from '../operations.js'
import { timestampsOf } from '../sequelize/model.js'

export function subjectOf(model: ModelStatic<Model>, route: string, operations: OperationTable): BehaviourSubject {
  return { model, route, operations, timestamps: timestampsOf(model) }
}

/** Prepares the behaviours that the options enable, in the order of the table. */
export function prepareBehaviours(
  table: readonly BehaviourDefinition[],
  subject: BehaviourSubject,
  options: CrudOptions,
  problems: ConfigProblems,
): readonly PreparedBehaviour[] {
  return table.flatMap((definition) => problems.attempt(() => definition.prepare(subject, options)) ?? [])
}

/** Returns the union of the behaviours' facts. */
export function combineFacts(prepared: readonly PreparedBehaviour[]): Facts {
  const none: Facts = {
    needsIdentity: false,
    isRestricted: false,
    softDeletes: false,
    versions: false,
    version: null,
    idempotency: null,
  }
  return Object.freeze(Object.assign({}, none, ...prepared.map(({ facts }) => facts ?? {})))
}

/** Returns the facts about options and fields that only OpenAPI and AsyncAPI documents use. */
export function documentedOf(
  prepared: readonly PreparedBehaviour[],
  fields: readonly Field[],
  { fields: given = {}, unknownProperties = 'ignore' }: CrudOptions,
): Documented {
  const options: Readonly<Record<string, FieldOptions | undefined>> = given
  const hosted = fields.filter(({ name }) => options[name]?.schema !== undefined).map(({ json }) => json)
  const none = {
    policies: new Set<never>(),
    actionsWithPolicy: new Set<never>(),
    masks: new Map<never, never>(),
    isScoped: false,
    requiresIdempotencyKey: false,
    deprecated: null,
  }
  const parts = prepared.map(({ documented }) => documented ?? {})
  return Object.freeze(Object.assign({}, none, ...parts, { hostSchemaFields: new Set(hosted), unknownProperties }))
}

type ValueHook = 'permissions' | 'headers' | 'ownHeaders'

/** Combines the functions of several behaviours for one hook. */
const FUNCTIONS: {
  readonly [hook in Exclude<keyof BehaviourHooks, ValueHook>]: (
    all: readonly BehaviourHooks[hook][],
  ) => BehaviourHooks[hook]
} = {
  admit: (all) => (resource, operation, caller, action) =>
    runInOrder(all, undefined, (admit) => admit(resource, operation, caller, action)),
  accept: (all) => (resource, intent, caller) => runInOrder(all, intent, (accept, so) => accept(resource, so, caller)),
  // The first behaviour of the table is the outermost.
  around: (all) => (request, reply) =>
    all.reduceRight<() => Promise<Reply>>((next, around) => () => around(request, next), reply)(),
  amend: (all) => async (resource, plan, caller) => {
    const amendByAll = (given: SinglePlan): Promise<SinglePlan> =>
      runInOrder(all, given, (amend, so) => amend(resource, so, caller))
    const amended = await amendByAll(plan)
    if (amended.kind !== 'create' || amended.revives === undefined) return amended
    // If a create may restore a deleted record, every behaviour also amends the update that restores the record.
    const revives = await amendByAll(amended.revives)
    if (revives.kind !== 'restore')
      throw internalError(`a behaviour replaced a plan of kind "restore" by one of kind "${revives.kind}"`)
    return { ...amended, revives }
  },
  readable: (all) => (field, caller) => all.every((readable) => readable(field, caller)),
  writable: (all) => (field, caller) => all.every((writable) => writable(field, caller)),
  visibleRecords: (all) => (resource, caller) =>
    conjoinVisibleRecords(all.map((visibleRecords) => () => visibleRecords(resource, caller))),
  resolveScope: (all) => async (resource, caller, operation, action) => {
    const parts = await Promise.all(all.map((confine) => confine(resource, caller, operation, action)))
    const where = parts.map((part) => part.where).reduce((sum, each) => addCondition(sum, each), null)
    return { fixed: parts.flatMap(({ fixed }) => fixed), where, sources: parts.flatMap(({ sources }) => sources) }
  },
  staticCondition: (all) => (resource) =>
    all.map((staticCondition) => staticCondition(resource)).reduce((sum, each) => addCondition(sum, each)),
  recordHeaders: (all) => (plan, row) => mergeHeaders(all.map((headers) => headers(plan, row))),
  ownKey: rejectSeveral,
  resolveIdempotency: rejectSeveral,
  serializeWrite: rejectSeveral,
  noteCommitOrder: rejectSeveral,
  expectWrite: rejectSeveral,
  announceWrite: rejectSeveral,
  selectTracking: rejectSeveral,
}

/** Combines a hook that only one behaviour of a resource may implement. */
function rejectSeveral(): never {
  throw internalError('several behaviours implement a hook that only one behaviour may implement')
}

/** Combines the values of several behaviours for one hook. Without behaviours the value is empty. */
const VALUES: { readonly [hook in ValueHook]: (all: readonly BehaviourHooks[hook][]) => BehaviourHooks[hook] } = {
  permissions: (all) => [...new Set(all.flat())].sort(),
  headers: mergeHeaders,
  ownHeaders: mergeHeaders,
}

/** Combines the behaviours of a resource, in the order of the table. */
export function foldBehaviours(behaviours: readonly Behaviour[]): Behaviours {
  const foldHook = <K extends keyof BehaviourHooks>(
    [hook, foldAll]: [K, (all: readonly BehaviourHooks[K][]) => BehaviourHooks[K]],
    isEmptyNull: boolean,
  ): [K, BehaviourHooks[K] | null] => {
    const all = behaviours.map((behaviour) => behaviour[hook]).filter((value) => value !== undefined)
    const [only] = all
    if (all.length === 1 && isEmptyNull && only !== undefined) return [hook, only]
    return [hook, all.length === 0 && isEmptyNull ? null : foldAll(all as readonly BehaviourHooks[K][])]
  }
  return Object.freeze(
    Object.fromEntries([
      ...Object.entries(FUNCTIONS).map((row) => foldHook(row as never, true)),
      ...Object.entries(VALUES).map((row) => foldHook(row as never, false)),
    ]),
  ) as Behaviours
}

/** The conjunction of the conditions of all behaviours; false as soon as one behaviour refuses. */
async function conjoinVisibleRecords(
  parts: readonly (() => VisibleRecords | Promise<VisibleRecords>)[],
): Promise<VisibleRecords> {
  let where: Predicate | null = null
  for (const part of parts) {
    const answer = await part()
    if (answer === false) return false
    where = addCondition(where, answer)
  }
  return where
}

/** Calls the functions in order, each with the result of the previous one. */
async function runInOrder<T, V>(
  functions: readonly T[],
  start: V,
  call: (each: T, value: V) => V | Promise<V>,
): Promise<V> {
  let value = start
  for (const each of functions) value = await call(each, value)
  return value
}
