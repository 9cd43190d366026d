import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Policy, PolicyRef } from '../../types/identity.js'
import type { CrudOptions } from '../../types/options.js'
import type { Caller } from '../../types/plan.js'
import type { Behaviour, OperationName, Resource } from '../../types/resource.js'
import { stoodFor } from '../common/actions.js'
import { CrudConfigError } from '../common/errors.js'
import { isList } from '../common/listing.js'
import { isRefusal, problem } from '../common/problem.js'
import { each, either, isFlag, isFunction, isName, option, rows } from '../config/checks.js'
import { unknownName } from '../config/suggest.js'
import { allOf, authenticated } from '../identity/policies.js'
import { entriesOf, OPERATIONS, type Operation, type OperationTable, type PolicyOption } from '../operations.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> extends OperationPolicies {
    /** Decides on every operation that has no policy of its own. */
    readonly authorizePolicy?: PolicyRef
    /** Who may list deleted records. Default: whoever is not anonymous, when any policy is set; else anyone. */
    readonly includeDeletedPolicy?: PolicyRef
    /** Whether the mount throws if no policy covers an operation. Default false, and true for `routers` of `createCrud`. */
    readonly requirePolicies?: boolean
    /** What names of policies stand for. */
    readonly policies?: { readonly [name: string]: Policy }
  }
}

/** The policies of single operations; bulk operations ask that of their single one. */
export type OperationPolicies = { readonly [option in PolicyOption]?: PolicyRef }

const OWN = new Set(Object.values(OPERATIONS).map((operation) => operation.policy))
const NAMES = ['authorizePolicy', ...OWN, 'includeDeletedPolicy'] as const

/** The policy of each operation; none for those that are open. */
interface Policies {
  readonly operations: ReadonlyMap<OperationName, Policy>
  /** The policies of actions' own, by name. */
  readonly actions: ReadonlyMap<string, Policy>
  readonly includeDeleted: Policy | null
}

/**
 * Operations ask a policy before anything else. What crosses into the resource by a relation path asks its list policy,
 * and where there are no lists the one of GET by id.
 */
export const policy: BehaviourDefinition = {
  options: {
    ...rows(NAMES, option(either(isFunction, isName), 'a policy or the name of one', { guards: true })),
    requirePolicies: option(isFlag, 'a boolean', { guards: true }),
    policies: option(each(isFunction), 'an object of policies by name', { guards: true }),
  },
  routesOnly: true,
  prepare: ({ model, operations }, options) => {
    const given = new Map(
      NAMES.filter((name) => options[name] !== undefined).map((name) => [
        name,
        resolve(model.name, name, options[name], options.policies ?? {}),
      ]),
    )
    const isRequired = options.requirePolicies === true
    const actions = actionPoliciesIn(model.name, options)
    if (given.size + actions.size === 0 && !isRequired) return null
    const policies: Policies = { ...policiesOf(operations, given, isRequired), actions }
    const uncovered = isRequired ? uncoveredIn(operations, given) : new Map<OperationName, readonly PolicyOption[]>()
    const others = Object.entries(options.actions ?? {}).filter(([name]) => !actions.has(name))
    return {
      facts: { asksIdentity: true, restricts: true },
      documented: {
        policies: new Set(policies.operations.keys()),
        guarded: new Set([
          ...actions.keys(),
          ...others.flatMap(([name, action]) => (policies.operations.has(stoodFor(action)) ? [name] : [])),
        ]),
      },
      uncovered,
      uncoveredActions: others.flatMap(([name, action]) => (uncovered.has(stoodFor(action)) ? [name] : [])),
      behaviour: () => behaviourOf(policies),
    }
  },
}

/** Where policies are required, nobody may what none covers: by what other resources write, or by pushes. */
const nobody: Policy = () => false

function policiesOf(
  table: OperationTable,
  given: ReadonlyMap<string, Policy>,
  isRequired: boolean,
): Omit<Policies, 'actions'> {
  const operations = new Map<OperationName, Policy>()
  for (const [name, row] of entriesOf(table)) {
    const otherwise = otherwiseOf(row, given) ?? (isRequired ? nobody : undefined)
    // What decides for both is asked once.
    const decide = [...new Set(namesOf(row).flatMap((each) => given.get(each) ?? otherwise ?? []))]
    const [only] = decide
    if (only !== undefined) operations.set(name, decide.length === 1 ? only : allOf(...decide))
  }
  return { operations, includeDeleted: given.get('includeDeletedPolicy') ?? authenticated }
}

/** The policies that actions have of their own. @throws CrudConfigError for a name that nobody defined */
function actionPoliciesIn(model: string, { actions = {}, policies = {} }: CrudOptions): ReadonlyMap<string, Policy> {
  const own = Object.entries(actions).flatMap(([name, { policy: ref }]) =>
    ref === undefined ? [] : [[name, resolve(model, `actions.${name}.policy`, ref, policies)] as const],
  )
  return new Map(own)
}

/** The policies of an operation's own. */
function namesOf({ policy: own, and }: Operation): readonly PolicyOption[] {
  return and === undefined ? [own] : [own, and]
}

/** The policy of an operation that has none of its own; undefined for one that everybody may use. */
function otherwiseOf({ orPolicy, unset }: Operation, given: ReadonlyMap<string, Policy>): Policy | undefined {
  const instead = orPolicy === undefined ? undefined : given.get(orPolicy)
  return instead ?? given.get('authorizePolicy') ?? (unset === null ? undefined : authenticated)
}

/** The operations that are not covered, with the policies that they lack. */
function uncoveredIn(
  table: OperationTable,
  given: ReadonlyMap<string, Policy>,
): ReadonlyMap<OperationName, readonly PolicyOption[]> {
  const open = entriesOf(table).filter(([, row]) => otherwiseOf(row, given) === undefined)
  const lacking = open.map(([name, row]) => [name, namesOf(row).filter((each) => !given.has(each))] as const)
  return new Map(lacking.filter(([, lacks]) => lacks.length > 0))
}

function resolve(
  model: string,
  name: string,
  given: PolicyRef | undefined,
  policies: NonNullable<CrudOptions['policies']>,
): Policy {
  if (typeof given === 'function') return given
  const word = String(given)
  const found = Object.hasOwn(policies, word) ? policies[word] : undefined
  if (typeof found === 'function') return found
  const named = Object.keys(policies)
  if (named.length > 0) throw unknownName('UNKNOWN_POLICY', `${model}: ${name}: the policy`, word, named)
  const missing = `${model}: ${name}: the policy "${word}" does not exist. Define it in the option "policies", or use a function.`
  throw new CrudConfigError('UNKNOWN_POLICY', missing)
}

function behaviourOf({ operations, actions, includeDeleted }: Policies): Behaviour {
  return {
    admit: (resource, operation, caller, action) => {
      const own = action === undefined ? undefined : actions.get(action)
      return demand(own ?? operations.get(operation) ?? null, resource, operation, caller, action)
    },
    amend: (resource, plan, caller) => {
      // Not for the request itself, but for what may come of it.
      if (plan.kind === 'create' && plan.operation === 'replace' && plan.refusal === undefined) {
        const refusal = refusalOf(demand(operations.get('create') ?? null, resource, 'replace', caller))
        return refusal.then((known) => (known === null ? plan : { ...plan, refusal: known }))
      }
      if (plan.kind === 'restore' && plan.operation === 'create') {
        const refusal = refusalOf(demand(operations.get('restore') ?? null, resource, 'restore', caller))
        return refusal.then((known) => (known === null ? plan : { ...plan, where: { kind: 'never' } }))
      }
      if (!isList(plan) || !plan.includeDeleted) return plan
      return demand(includeDeleted, resource, 'getList', caller).then(() => plan)
    },
    reach: async (resource, caller) => {
      const operation = resource.operations.has('getList') ? 'getList' : 'getById'
      const admits = await asked(operations.get(operation) ?? null, resource, operation, caller)
      return admits ? null : false
    },
  }
}

/** What a policy says, or is going to say. */
function decided(
  decide: Policy | null,
  resource: Resource,
  operation: OperationName,
  { request, identity }: Caller,
  action?: string,
): unknown {
  const asked = { request, identity, operation, resource }
  return decide === null || decide(action === undefined ? asked : { ...asked, action })
}

/** Nothing but `true` admits: a forgotten return or a truthy object does not. */
async function asked(...question: Parameters<typeof decided>): Promise<boolean> {
  return (await decided(...question)) === true
}

/** Why the caller may not; null where they may. What fails is no refusal. */
async function refusalOf(asking: Promise<void>): Promise<Error | null> {
  try {
    await asking
    return null
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

async function demand(...question: Parameters<typeof decided>): Promise<void> {
  if (!(await asked(...question))) throw denied(question[3])
}

/** 401 with a challenge for anonymous callers (RFC 9110 section 15.5.2), 403 for those who are known. */
function denied({ identity }: Caller): Error {
  if (identity !== null) return problem('forbidden', { detail: 'You may not do this.' })
  return problem('unauthorized', { detail: 'Say who you are.', headers: { 'WWW-Authenticate': 'Bearer' } })
}
