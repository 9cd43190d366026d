import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { ScopeFunction } from '../../types/identity.js'
import type { SingleIntent } from '../../types/intent.js'
import type { Caller, SinglePlan } from '../../types/plan.js'
import type { Behaviour, FixedValues, OperationName, ResolvedScope, Resource } from '../../types/resource.js'
import { CallerCache } from '../common/callerCache.js'
import { isListPlan } from '../common/listPlan.js'
import { normalizeName } from '../common/normalizedName.js'
import { isObject } from '../common/object.js'
import { keepOmittedFields } from '../common/omittedFields.js'
import { addCondition, matchScope } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { isFunction, option } from '../config/checks.js'
import { readScope } from './readScope.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Limits every operation to records with the returned values, or to records that meet the returned condition. */
    readonly scope?: ScopeFunction<M>
  }
}

/**
 * Limits reads and writes to the records with the caller's values. New records get these values. Records outside the
 * scope are answered like missing records.
 */
export const scope: BehaviourDefinition = {
  options: { scope: option(isFunction, 'a function', { isRestrictive: true }) },
  prepare: ({ model }, { scope: scopeOf }) => {
    if (scopeOf === undefined) return null
    if (Object.hasOwn(model.getAttributes(), 'where')) warnAboutWhere(model.name)
    return {
      facts: { needsIdentity: true, isRestricted: true },
      documented: { isScoped: true },
      behaviour: () => createBehaviour(scopeOf),
    }
  },
}

function warnAboutWhere(name: string): void {
  process.emitWarning(
    `${name}: the model has an attribute "where". In an object that scope returns, "where" is a condition, not a value of this attribute. Compare the attribute in ` +
      'the condition, or set its value in "fixed": { fixed: { where: 1 }, where: condition }.',
    { code: 'CRUD_SCOPE_WHERE' },
  )
}

function createBehaviour(scopeOf: ScopeFunction): Behaviour {
  const known = new CallerCache<Promise<ResolvedScope>>()
  // Evaluates the scope once per request and operation, for all hooks.
  const evaluateOnce = (
    resource: Resource,
    operation: OperationName,
    caller: Caller,
    action?: string,
  ): Promise<ResolvedScope> => {
    const before = known.get(caller)
    if (before !== undefined) return before
    const answer = evaluateScope(scopeOf, resource, operation, caller, action)
    known.set(caller, answer)
    return answer
  }
  return {
    admit: async (resource, operation, caller, action) => {
      await evaluateOnce(resource, operation, caller, action)
    },
    accept: async (resource, intent, caller) => {
      const { fixed } = await evaluateOnce(resource, 'create', caller)
      // Another field may have the JSON name of an excluded attribute.
      const named = fixed.filter(([field]) => resource.byName.get(field.json.toLowerCase()) === field)
      return acceptIntent(removeOtherSpellings(intent, resource, named), named)
    },
    amend: async (resource, plan, caller) => amendPlan(plan, await evaluateOnce(resource, 'getList', caller)),
    // The scope of lists applies, even if a path leads from a resource to itself: a wider scope for creating must not
    // show more records.
    visibleRecords: async (resource, caller) => matchScope(await evaluateScope(scopeOf, resource, 'getList', caller)),
    resolveScope: (resource, caller, operation = 'getList', action) =>
      evaluateScope(scopeOf, resource, operation, caller, action),
    headers: { Vary: 'Authorization', 'Cache-Control': 'private' },
  }
}

async function evaluateScope(
  scopeOf: ScopeFunction,
  resource: Resource,
  operation: OperationName,
  { request, identity }: Caller,
  action?: string,
): Promise<ResolvedScope> {
  const context = { request, identity, operation, resource }
  return readScope(resource, await scopeOf(action === undefined ? context : { ...context, action }))
}

/**
 * Removes other spellings of the scope's attributes from bodies. They are ignored, like all names that bodies cannot
 * write.
 */
function removeOtherSpellings(intent: SingleIntent, { byName }: Resource, fixed: FixedValues): SingleIntent {
  if (fixed.length === 0) return intent
  const names = new Set(fixed.map(([{ json }]) => normalizeName(json)))
  const isOtherSpelling = (name: string): boolean =>
    names.has(normalizeName(name)) && byName.get(name.toLowerCase())?.json !== name
  const filterBody = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !isOtherSpelling(name)))
  if (intent.kind === 'create' || intent.kind === 'update') return { ...intent, body: filterBody(intent.body) }
  if (intent.kind !== 'bulkCreate') return intent
  return { ...intent, bodies: intent.bodies.map((body) => (isObject(body) ? filterBody(body) : body)) }
}

/**
 * Adds the scope's values to bodies of new records. A body with other values is refused. Updates ignore the attributes.
 */
function acceptIntent(intent: SingleIntent, fixed: FixedValues): SingleIntent {
  switch (intent.kind) {
    case 'create':
      return { ...intent, body: addFixedValues(intent.body, fixed) }
    case 'bulkCreate':
      return { ...intent, bodies: intent.bodies.map((body) => (isObject(body) ? addFixedValues(body, fixed) : body)) }
    case 'update': {
      const names = new Set(fixed.map(([{ json }]) => json))
      return { ...intent, body: Object.fromEntries(Object.entries(intent.body).filter(([name]) => !names.has(name))) }
    }
    default:
      return intent
  }
}

function addFixedValues(
  body: Readonly<Record<string, unknown>>,
  fixed: FixedValues,
): Readonly<Record<string, unknown>> {
  const values = new Map(fixed.map(([field, value]) => [field.json, field.decode(value)]))
  for (const [name, value] of values) {
    if (!Object.hasOwn(body, name) || body[name] === value) continue
    throw problem('forbidden', { detail: `You may not create a record with this ${name}.` })
  }
  // The values are part of the body, because the validation may require them.
  return Object.fromEntries([...Object.entries(body), ...values])
}

function amendPlan(plan: SinglePlan, confinement: ResolvedScope): SinglePlan {
  const { fixed, where: condition } = confinement
  const limit = matchScope(confinement)
  if (limit === null) return plan
  const stored = condition === null ? {} : { scope: condition }
  if (plan.kind === 'create' || plan.kind === 'bulkCreate') {
    const serverValues = new Map([...plan.serverValues, ...fixed.map(([{ name }, value]) => [name, value] as const)])
    return { ...plan, ...stored, serverValues }
  }
  // The parts of an action's plan find and show records by themselves.
  if (plan.kind === 'action') return { ...plan, scopeCondition: limit }
  // TypeScript needs this separate branch, because only list plans may have no condition.
  if (isListPlan(plan)) {
    return { ...plan, where: addCondition(plan.where, limit) }
  }
  const where = addCondition(plan.where, limit)
  if (plan.kind === 'delete' || plan.kind === 'bulkDelete') return { ...plan, where }
  const own = fixed.map(([field]) => field)
  const limited = { ...plan, ...stored, where }
  return limited.kind === 'update' ? keepOmittedFields(limited, own) : limited
}
