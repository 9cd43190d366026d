import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { ScopeFunction } from '../../types/identity.js'
import type { SingleIntent } from '../../types/intent.js'
import type { SinglePlan } from '../../types/plan.js'
import type { Behaviour, FixedValues, ResolvedScope, Resource } from '../../types/resource.js'
import { mapBodies, removeMembers } from '../common/compositeWrites.js'
import { PRIVATE_HEADERS } from '../common/headers.js'
import { isListPlan } from '../common/listPlan.js'
import { normalizeName } from '../common/normalizedName.js'
import { keepOmittedFields } from '../common/omittedFields.js'
import { addCondition, matchScope } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { isSameValue } from '../common/sameValue.js'
import { isFunction, option } from '../config/checks.js'
import { contextOf, evaluateOncePerCaller, type Question } from './question.js'
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
  const evaluate = async (...question: Question): Promise<ResolvedScope> =>
    readScope(question[0], await scopeOf(contextOf(...question)))
  const evaluateOnce = evaluateOncePerCaller(evaluate)
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
    visibleRecords: async (resource, caller) => matchScope(await evaluate(resource, 'getList', caller)),
    resolveScope: (resource, caller, operation = 'getList', action) => evaluate(resource, operation, caller, action),
    headers: PRIVATE_HEADERS,
  }
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
  return mapBodies(intent, (body) =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !isOtherSpelling(name))),
  )
}

/**
 * Adds the scope's values to bodies of new records. A body with other values is refused. Updates ignore the attributes.
 */
function acceptIntent(intent: SingleIntent, fixed: FixedValues): SingleIntent {
  return intent.kind === 'update'
    ? removeMembers(intent, new Set(fixed.map(([{ json }]) => json)))
    : mapBodies(intent, (body) => addFixedValues(body, fixed))
}

function addFixedValues(
  body: Readonly<Record<string, unknown>>,
  fixed: FixedValues,
): Readonly<Record<string, unknown>> {
  const values = fixed.map(([field, value]) => [field, field.decode(value)] as const)
  for (const [field, value] of values) {
    const given = Object.hasOwn(body, field.json) ? body[field.json] : value
    // A value of another JSON type is refused, although some types accept numbers and texts.
    if (typeof given === typeof value && isSameValue(field, given, value)) continue
    throw problem('forbidden', { detail: `You may not create a record with this ${field.json}.` })
  }
  // The values are part of the body, because the validation may require them.
  return Object.fromEntries([...Object.entries(body), ...values.map(([{ json }, value]) => [json, value])])
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
