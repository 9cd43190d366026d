import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Policy, PolicyRef } from '../../types/identity.js'
import type { CrudOptions } from '../../types/options.js'
import type { Caller } from '../../types/plan.js'
import type { Behaviour, OperationName } from '../../types/resource.js'
import { equivalentOperation } from '../common/actions.js'
import { NO_PERMISSION, NOT_AUTHENTICATED } from '../common/denials.js'
import { CrudConfigError } from '../common/errors.js'
import { PRIVATE_HEADERS } from '../common/headers.js'
import { isListPlan } from '../common/listPlan.js'
import { isRefusal, problem } from '../common/problem.js'
import { isTrue } from '../common/promise.js'
import { either, everyMember, isFlag, isFunction, isName, option, repeatRow } from '../config/checks.js'
import { createUnknownNameError } from '../config/suggest.js'
import { allOf, authenticated } from '../identity/policies.js'
import { OPERATIONS, type Operation, type OperationTable, operationEntries, type PolicyOption } from '../operations.js'
import { contextOf, type Question } from './question.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> extends OperationPolicies {
    /** The policy of every operation without a policy of its own. */
    readonly authorizePolicy?: PolicyRef
    /**
     * The policy of listing deleted records. Default: all callers who are not anonymous if any policy is set, otherwise
     * everybody.
     */
    readonly includeDeletedPolicy?: PolicyRef
    /** Whether mounting throws if an operation has no policy. Default false, and true for `routers` of `createCrud`. */
    readonly requirePolicies?: boolean
    /** Policies by name, for use in the other options. */
    readonly policies?: { readonly [name: string]: Policy }
  }
}

/** The policies of single operations. A bulk operation uses the policy of the operation on one record. */
export type OperationPolicies = { readonly [option in PolicyOption]?: PolicyRef }

const POLICY_OPTIONS = new Set(Object.values(OPERATIONS).map((operation) => operation.policy))
const OPTION_NAMES = ['authorizePolicy', ...POLICY_OPTIONS, 'includeDeletedPolicy'] as const

/** The policies by operation. An operation without a policy is open. */
interface Policies {
  readonly operations: ReadonlyMap<OperationName, Policy>
  /** The actions' own policies, by name. */
  readonly actions: ReadonlyMap<string, Policy>
  readonly includeDeleted: Policy | null
}

/**
 * Evaluates the policy of an operation before anything else. A relation path to the resource evaluates the policy of
 * lists, or of GET by id if lists are disabled.
 */
export const policy: BehaviourDefinition = {
  options: {
    ...repeatRow(
      OPTION_NAMES,
      option(either(isFunction, isName), 'a policy or the name of one', { isRestrictive: true }),
    ),
    requirePolicies: option(isFlag, 'a boolean', { isRestrictive: true }),
    policies: option(everyMember(isFunction), 'an object of policies by name', { isRestrictive: true }),
  },
  isRouteOnly: true,
  prepare: ({ model, operations }, options) => {
    const given = new Map(
      OPTION_NAMES.filter((name) => options[name] !== undefined).map((name) => [
        name,
        resolvePolicy(model.name, name, options[name], options.policies ?? {}),
      ]),
    )
    const isRequired = options.requirePolicies === true
    const actions = resolveActionPolicies(model.name, options)
    if (given.size + actions.size === 0 && !isRequired) return null
    const policies: Policies = { ...resolvePolicies(operations, given, isRequired), actions }
    const uncovered = isRequired ? findUncovered(operations, given) : new Map<OperationName, readonly PolicyOption[]>()
    const others = Object.entries(options.actions ?? {}).filter(([name]) => !actions.has(name))
    return {
      facts: { needsIdentity: true, isRestricted: true },
      documented: {
        policies: new Set(policies.operations.keys()),
        actionsWithPolicy: new Set([
          ...actions.keys(),
          ...others.flatMap(([name, action]) => (policies.operations.has(equivalentOperation(action)) ? [name] : [])),
        ]),
      },
      operationsWithoutPolicy: uncovered,
      actionsWithoutPolicy: others.flatMap(([name, action]) =>
        uncovered.has(equivalentOperation(action)) ? [name] : [],
      ),
      behaviour: () => ({
        ...createBehaviour(policies),
        ...(hasGuardedReads(operations, policies, options) ? { headers: PRIVATE_HEADERS } : {}),
      }),
    }
  },
}

/**
 * Denies operations that have no policy although `requirePolicies` is set. Mounting checks only enabled operations, but
 * nested writes and push events also use disabled operations.
 */
const denyAll: Policy = () => false

function resolvePolicies(
  table: OperationTable,
  given: ReadonlyMap<string, Policy>,
  isRequired: boolean,
): Omit<Policies, 'actions'> {
  const operations = new Map<OperationName, Policy>()
  for (const [name, row] of operationEntries(table)) {
    const otherwise = fallbackPolicyOf(row, given) ?? (isRequired ? denyAll : undefined)
    // A policy that applies twice to an operation is evaluated once.
    const decide = [...new Set(policyOptionsOf(row).flatMap((each) => given.get(each) ?? otherwise ?? []))]
    const [only] = decide
    if (only !== undefined) operations.set(name, decide.length === 1 ? only : allOf(...decide))
  }
  return { operations, includeDeleted: given.get('includeDeletedPolicy') ?? authenticated }
}

/** Resolves the actions' own policies. @throws CrudConfigError for an undefined policy name */
function resolveActionPolicies(
  model: string,
  { actions = {}, policies = {} }: CrudOptions,
): ReadonlyMap<string, Policy> {
  const own = Object.entries(actions).flatMap(([name, { policy: ref }]) =>
    ref === undefined ? [] : [[name, resolvePolicy(model, `actions.${name}.policy`, ref, policies)] as const],
  )
  return new Map(own)
}

/** Whether a policy applies to reads, whose responses a shared cache could give to other callers. */
function hasGuardedReads(
  table: OperationTable,
  policies: Policies,
  { actions = {}, softDelete = false }: CrudOptions,
): boolean {
  return (
    // A policy always applies to lists with deleted records.
    softDelete !== false ||
    operationEntries(table).some(([name, { method }]) => method === 'get' && policies.operations.has(name)) ||
    Object.entries(actions).some(([name, { method }]) => method === 'get' && policies.actions.has(name))
  )
}

/** Returns the policy options of an operation. */
function policyOptionsOf({ policy: own, and }: Operation): readonly PolicyOption[] {
  return and === undefined ? [own] : [own, and]
}

/** Returns the fallback policy of an operation; undefined if the operation is open to everybody. */
function fallbackPolicyOf({ orPolicy, unset }: Operation, given: ReadonlyMap<string, Policy>): Policy | undefined {
  const instead = orPolicy === undefined ? undefined : given.get(orPolicy)
  return instead ?? given.get('authorizePolicy') ?? (unset === null ? undefined : authenticated)
}

/** Returns the operations without a policy, each with the options that can set one. */
function findUncovered(
  table: OperationTable,
  given: ReadonlyMap<string, Policy>,
): ReadonlyMap<OperationName, readonly PolicyOption[]> {
  const open = operationEntries(table).filter(([, row]) => fallbackPolicyOf(row, given) === undefined)
  const lacking = open.map(([name, row]) => [name, policyOptionsOf(row).filter((each) => !given.has(each))] as const)
  return new Map(lacking.filter(([, lacks]) => lacks.length > 0))
}

function resolvePolicy(
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
  if (named.length > 0) throw createUnknownNameError('UNKNOWN_POLICY', `${model}: ${name}: the policy`, word, named)
  const missing = `${model}: ${name}: the policy "${word}" does not exist. Define it in the option "policies", or use a function.`
  throw new CrudConfigError('UNKNOWN_POLICY', missing)
}

function createBehaviour({ operations, actions, includeDeleted }: Policies): Behaviour {
  return {
    admit: (resource, operation, caller, action) => {
      const own = actions.get(action ?? '')
      return assertAllowed(own ?? operations.get(operation) ?? null, resource, operation, caller, action)
    },
    amend: (resource, plan, caller) => {
      // A PUT needs the permission to create only if the record is missing. The plan therefore stores the refusal
      // instead of throwing it.
      if (plan.kind === 'create' && plan.operation === 'replace' && plan.policyError === undefined) {
        const refusal = catchRefusal(assertAllowed(operations.get('create') ?? null, resource, 'replace', caller))
        return refusal.then((known) => (known === null ? plan : { ...plan, policyError: known }))
      }
      if (plan.kind === 'restore' && plan.operation === 'create') {
        const refusal = catchRefusal(assertAllowed(operations.get('restore') ?? null, resource, 'restore', caller))
        return refusal.then((known) => (known === null ? plan : { ...plan, where: { kind: 'never' } }))
      }
      if (!isListPlan(plan) || !plan.includeDeleted) return plan
      return assertAllowed(includeDeleted, resource, 'getList', caller).then(() => plan)
    },
    visibleRecords: async (resource, caller) => {
      const operation = resource.operations.has('getList') ? 'getList' : 'getById'
      const admits = await isAllowed(operations.get(operation) ?? null, resource, operation, caller)
      return admits ? null : false
    },
  }
}

/** Whether a policy allows an operation. Only `true` allows: a forgotten return or a truthy object does not. */
async function isAllowed(decide: Policy | null, ...question: Question): Promise<boolean> {
  return decide === null || isTrue(await decide(contextOf(...question)))
}

/** Returns the error of a refusal; null if the policy allows. Other errors are thrown. */
async function catchRefusal(evaluation: Promise<void>): Promise<Error | null> {
  try {
    await evaluation
    return null
  } catch (error) {
    if (isRefusal(error)) return error
    throw error
  }
}

async function assertAllowed(decide: Policy | null, ...question: Question): Promise<void> {
  if (!(await isAllowed(decide, ...question))) throw denialProblem(question[2])
}

/**
 * Creates the error of a denial: 401 with a challenge for anonymous callers (RFC 9110 section 15.5.2), 403 for
 * identified callers.
 */
function denialProblem({ identity }: Caller): Error {
  if (identity !== null) return problem('forbidden', { detail: NO_PERMISSION })
  return problem('unauthorized', { detail: NOT_AUTHENTICATED, headers: { 'WWW-Authenticate': 'Bearer' } })
}
