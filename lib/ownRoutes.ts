import type { Request, RequestHandler } from 'express'
import type { FindOptions } from 'sequelize'
import type { OwnRoutes } from '../types/ownRoutes.js'
import type { Caller } from '../types/plan.js'
import type { OperationName, Resource } from '../types/resource.js'
import { hiddenFrom } from './bind/index.js'
import { isList } from './common/listing.js'
import { unknownName } from './config/suggest.js'
import { findOptionsOf } from './findOptions.js'
import { respondError, setHeaders } from './http/respond.js'
import { callerOf } from './identity/identity.js'
import type { OperationTable } from './operations.js'
import { modeOfQuery, readQuery } from './parse/list.js'
import { columnsKnown, storeOf } from './perform/index.js'
import { planFor } from './read.js'

/** A resource's way of treating its callers, for routes that are not its own. */
export function ownRoutesOf(resource: Resource, table: OperationTable): OwnRoutes {
  return {
    guard: (operation) => guardOf(resource, known(resource, table, operation)),
    findOptions: (request, query = {}) => optionsFor(resource, request, query),
  }
}

function known({ name }: Resource, table: OperationTable, operation: OperationName): OperationName {
  if (Object.hasOwn(table, operation)) return operation
  throw unknownName('UNKNOWN_OPERATION', `${name}: guard: the operation`, String(operation), Object.keys(table))
}

function guardOf(resource: Resource, operation: OperationName): RequestHandler {
  return (req, res, next) => {
    setHeaders(res, resource.behaviours.headers)
    admitted(resource, operation, req).then(
      () => next(),
      (error: unknown) => respondError(req, res, error, resource.onError),
    )
  }
}

/** The caller of a request, who may do this. @throws Problem 401 or 403, or whatever the host's functions throw */
async function admitted(resource: Resource, operation: OperationName, request: Request): Promise<Caller> {
  const identity = resource.identity === null ? null : await callerOf(resource.identity, request)
  const caller: Caller = { request, identity, instant: new Date() }
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

/** As for paths into the resource: where there are no lists, the policy of single records decides. */
function operationOf(resource: Resource, query: Readonly<Record<string, unknown>>): OperationName {
  if (modeOfQuery(resource, query) === 'aggregate') return 'aggregate'
  return resource.operations.has('getList') ? 'getList' : 'getById'
}

const WINDOWED: readonly string[] = ['page', 'pageSize', 'cursor', 'after', 'before']
