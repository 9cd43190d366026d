import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { ScopeFunction } from '../../types/identity.js'
import type { SingleIntent } from '../../types/intent.js'
import type { Caller, Projection, SinglePlan } from '../../types/plan.js'
import type { Behaviour, Confinement, Fixed, OperationName, Resource } from '../../types/resource.js'
import { withoutAbsent } from '../common/absent.js'
import { withOwn } from '../common/columns.js'
import { folded } from '../common/folded.js'
import { isList } from '../common/listing.js'
import { isObject } from '../common/object.js'
import { both, within } from '../common/predicates.js'
import { problem } from '../common/problem.js'
import { Remembered } from '../common/remembered.js'
import { isFunction, option } from '../config/checks.js'
import { readScope } from './scopeAnswer.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /** Limits every operation to the records with these values, or that meet this condition. */
    readonly scope?: ScopeFunction<M>
  }
}

/**
 * Limits reads and writes to the records with the caller's values, which new records get. Records outside the scope are
 * answered like missing ones.
 */
export const scope: BehaviourDefinition = {
  options: { scope: option(isFunction, 'a function', { guards: true }) },
  prepare: ({ model }, { scope: scopeOf }) => {
    if (scopeOf === undefined) return null
    if (Object.hasOwn(model.getAttributes(), 'where')) warnOfWhere(model.name)
    return {
      facts: { asksIdentity: true, restricts: true },
      documented: { scoped: true },
      behaviour: () => behaviourOf(scopeOf),
    }
  },
}

function warnOfWhere(name: string): void {
  process.emitWarning(
    `${name}: an object of the scope with "where" has a condition there, not a value of the attribute "where". Name that attribute in ` +
      'the condition, or in fixed: { fixed: { where: 1 }, where: condition }.',
    { code: 'CRUD_SCOPE_WHERE' },
  )
}

function behaviourOf(scopeOf: ScopeFunction): Behaviour {
  const known = new Remembered<Promise<Confinement>>()
  // Evaluates the scope once per request and operation, for all hooks.
  const answerFor = (
    resource: Resource,
    operation: OperationName,
    caller: Caller,
    action?: string,
  ): Promise<Confinement> => {
    const before = known.of(caller)
    if (before !== undefined) return before
    const answer = ask(scopeOf, resource, operation, caller, action)
    known.set(caller, answer)
    return answer
  }
  return {
    admit: async (resource, operation, caller, action) => {
      await answerFor(resource, operation, caller, action)
    },
    accept: async (resource, intent, caller) => {
      const { fixed } = await answerFor(resource, 'create', caller)
      // Another field may have the JSON name of an excluded attribute.
      const named = fixed.filter(([field]) => resource.byName.get(field.json.toLowerCase()) === field)
      return accepted(withoutAlike(intent, resource, named), named)
    },
    amend: async (resource, plan, caller) => amended(resource, plan, await answerFor(resource, 'getList', caller)),
    // Uses the scope of lists, also if a resource is reached from itself: a wider scope for creating must not show
    // more.
    reach: async (resource, caller) => within(await ask(scopeOf, resource, 'getList', caller)),
    confine: (resource, caller, operation = 'getList', action) => ask(scopeOf, resource, operation, caller, action),
    headers: { Vary: 'Authorization', 'Cache-Control': 'private' },
  }
}

async function ask(
  scopeOf: ScopeFunction,
  resource: Resource,
  operation: OperationName,
  { request, identity }: Caller,
  action?: string,
): Promise<Confinement> {
  const asked = { request, identity, operation, resource }
  return readScope(resource, await scopeOf(action === undefined ? asked : { ...asked, action }))
}

/** Ignores other spellings of the scope's attributes, like all names that bodies cannot write. */
function withoutAlike(intent: SingleIntent, { byName }: Resource, fixed: Fixed): SingleIntent {
  if (fixed.length === 0) return intent
  const names = new Set(fixed.map(([{ json }]) => folded(json)))
  const isAlike = (name: string): boolean => names.has(folded(name)) && byName.get(name.toLowerCase())?.json !== name
  const own = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !isAlike(name)))
  if (intent.kind === 'create' || intent.kind === 'update') return { ...intent, body: own(intent.body) }
  if (intent.kind !== 'bulkCreate') return intent
  return { ...intent, bodies: intent.bodies.map((body) => (isObject(body) ? own(body) : body)) }
}

/** The scope sets its attributes on new records. Bodies that contradict it are refused. */
function accepted(intent: SingleIntent, fixed: Fixed): SingleIntent {
  switch (intent.kind) {
    case 'create':
      return { ...intent, body: fixedBody(intent.body, fixed) }
    case 'bulkCreate':
      return { ...intent, bodies: intent.bodies.map((body) => (isObject(body) ? fixedBody(body, fixed) : body)) }
    case 'update': {
      const names = new Set(fixed.map(([{ json }]) => json))
      return { ...intent, body: Object.fromEntries(Object.entries(intent.body).filter(([name]) => !names.has(name))) }
    }
    default:
      return intent
  }
}

function fixedBody(body: Readonly<Record<string, unknown>>, fixed: Fixed): Readonly<Record<string, unknown>> {
  const values = new Map(fixed.map(([field, value]) => [field.json, field.decode(value)]))
  for (const [name, value] of values) {
    if (!Object.hasOwn(body, name) || body[name] === value) continue
    throw problem('forbidden', { detail: `You may not create a record with this ${name}.` })
  }
  // Added to the body for the validation, which may require it.
  return Object.fromEntries([...Object.entries(body), ...values])
}

function amended({ keys }: Resource, plan: SinglePlan, confinement: Confinement): SinglePlan {
  const { fixed, where: condition } = confinement
  const limit = within(confinement)
  if (limit === null) return plan
  const stored = condition === null ? {} : { scope: condition }
  // The key, for finding the stored record again.
  const projected = (projection: Projection): Projection =>
    condition === null ? projection : withOwn(projection, keys)
  if (plan.kind === 'create' || plan.kind === 'bulkCreate') {
    const upkeep = new Map([...plan.upkeep, ...fixed.map(([{ name }, value]) => [name, value] as const)])
    return { ...plan, ...stored, upkeep, projection: projected(plan.projection) }
  }
  // The parts of an action's plan find and show records themselves.
  if (plan.kind === 'action') return { ...plan, limit }
  // Written twice for the types: only a list may have no condition.
  if (isList(plan)) {
    return { ...plan, where: both(plan.where, limit) }
  }
  const where = both(plan.where, limit)
  if (plan.kind === 'delete' || plan.kind === 'bulkDelete') return { ...plan, where }
  if (plan.kind === 'get') return { ...plan, ...stored, where }
  const own = fixed.map(([field]) => field)
  const limited = { ...plan, ...stored, where, projection: projected(plan.projection) }
  return limited.kind === 'update' ? withoutAbsent(limited, own) : limited
}
