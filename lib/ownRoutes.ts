import type { FindOptions } from 'sequelize'
import type { Request } from '../types/express.js'
import type { OwnRoutes } from '../types/ownRoutes.js'
import type { Caller } from '../types/plan.js'
import type { OperationName, Resource } from '../types/resource.js'
import { isList } from './common/listing.js'
import { unknownName } from './config/suggest.js'
import { findOptionsOf } from './findOptions.js'
import { callerBy } from './handle.js'
import { guardOf } from './http/guard.js'
import type { OperationTable } from './operations.js'
import { modeOfQuery, readQuery } from './parse/list.js'
import { columnsKnown, storeOf } from './perform/index.js'
import { hiddenFrom } from './plan/index.js'
import { planFor } from './read.js'

/** Policies, scope and identity of a resource, for routes of the host. */
export function ownRoutesOf(resource: Resource, table: OperationTable): OwnRoutes {
  return {
    guard: (operation) => guardOf(resource, known(resource, table, operation), admitted),
    findOptions: (request, query = {}) => optionsFor(resource, request, query),
  }
}

function known({ name }: Resource, table: OperationTable, operation: OperationName): OperationName {
  if (Object.hasOwn(table, operation)) return operation
  throw unknownName('UNKNOWN_OPERATION', `${name}: guard: the operation`, String(operation), Object.keys(table))
}

/** Caller of a request after the policy check. @throws Problem 401 or 403, and any error of the host's functions */
async function admitted(resource: Resource, operation: OperationName, request: Request): Promise<Caller> {
  const caller = await callerBy(resource.identity, { request })
  await resource.behaviours.admit?.(resource, operation, caller)
  return caller
}

async function optionsFor(
  resource: Resource,
  request: Request,
  query: Readonly<Record<string, unknown>>,
): Promise<FindOptions> {
  const caller = await admitted(resource, operationOf(resource, query), request)
  const hidden = hiddenFrom(caller, resource)
  const intent = readQuery(resource, query, hidden)
  const { plan: amended } = await planFor(resource, intent, caller, () => undefined)
  if (!isList(amended)) {
    throw new TypeError(`a behaviour of ${resource.name} has made a list a ${amended.kind}`)
  }
  const store = storeOf(resource)
  await columnsKnown(store)
  const options = findOptionsOf(store, amended, amended.where, hidden)
  const all = amended.includeDeleted ? { ...options, paranoid: false } : options
  if (WINDOWED.some((name) => query[name] !== undefined)) return all
  const { limit, offset, ...whole } = all
  return whole
}

/** Operation whose policy applies. If lists are disabled, the policy of single records applies, like for relation paths. */
function operationOf(resource: Resource, query: Readonly<Record<string, unknown>>): OperationName {
  if (modeOfQuery(resource, query) === 'aggregate') return 'aggregate'
  return resource.operations.has('getList') ? 'getList' : 'getById'
}

const WINDOWED: readonly string[] = ['page', 'pageSize', 'cursor', 'after', 'before']
