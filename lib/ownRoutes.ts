import type { FindOptions } from 'sequelize'
import type { Request } from '../types/express.js'
import type { OwnRoutes } from '../types/ownRoutes.js'
import type { Caller } from '../types/plan.js'
import type { OperationName, Resource } from '../types/resource.js'
import { internalError } from './common/internalError.js'
import { isListPlan } from './common/listPlan.js'
import { createUnknownNameError } from './config/suggest.js'
import { buildFindOptions } from './findOptions.js'
import { createCaller } from './handle.js'
import { createGuard } from './http/guard.js'
import type { OperationTable } from './operations.js'
import { modeOfQuery, readQuery } from './parse/list.js'
import { ensureColumnTypes, storeOf } from './perform/index.js'
import { hiddenFieldsOf } from './plan/index.js'
import { planFor } from './read.js'

/** Creates the helpers for routes of the host, which apply the resource's policies, scope and identity. */
export function createOwnRoutes(resource: Resource, table: OperationTable): OwnRoutes {
  return {
    guard: (operation) => createGuard(resource, checkOperation(resource, table, operation), authorizeRequest),
    findOptions: (request, query = {}) => buildOptions(resource, request, query),
  }
}

function checkOperation({ name }: Resource, table: OperationTable, operation: OperationName): OperationName {
  if (Object.hasOwn(table, operation)) return operation
  throw createUnknownNameError(
    'UNKNOWN_OPERATION',
    `${name}: guard: the operation`,
    String(operation),
    Object.keys(table),
  )
}

/**
 * Returns the caller of a request after the policy check. @throws Problem 401 or 403, and any error of the host's
 * functions
 */
async function authorizeRequest(resource: Resource, operation: OperationName, request: Request): Promise<Caller> {
  const caller = await createCaller(resource.identity, { request })
  await resource.behaviours.admit?.(resource, operation, caller)
  return caller
}

async function buildOptions(
  resource: Resource,
  request: Request,
  query: Readonly<Record<string, unknown>>,
): Promise<FindOptions> {
  const caller = await authorizeRequest(resource, policyOperationOf(resource, query), request)
  const hidden = hiddenFieldsOf(caller, resource)
  const intent = readQuery(resource, query, hidden)
  const { plan: amended } = await planFor(resource, intent, caller, null)
  if (!isListPlan(amended)) {
    throw internalError(`a behaviour of ${resource.name} replaced the plan of a list by one of kind "${amended.kind}"`)
  }
  const store = storeOf(resource)
  await ensureColumnTypes(store)
  const options = buildFindOptions(store, amended, amended.where, hidden)
  const all = amended.includeDeleted ? { ...options, paranoid: false } : options
  if (PAGE_PARAMETERS.some((name) => query[name] !== undefined)) return all
  const { limit, offset, ...whole } = all
  return whole
}

/**
 * Returns the operation whose policy applies. If lists are disabled, the policy of single records applies, as for
 * relation paths.
 */
function policyOperationOf(resource: Resource, query: Readonly<Record<string, unknown>>): OperationName {
  if (modeOfQuery(resource, query) === 'aggregate') return 'aggregate'
  return resource.operations.has('getList') ? 'getList' : 'getById'
}

const PAGE_PARAMETERS: readonly string[] = ['page', 'pageSize', 'cursor', 'after', 'before']
