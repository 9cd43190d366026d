import type { RequestHandler } from 'express'
import type { Action } from '../../types/action.js'
import type { Call } from '../../types/call.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { setResourceHeaders } from '../common/headers.js'
import { problem } from '../common/problem.js'
import { handle, type ResponseWriter, serve } from '../handle.js'
import { type Operation, operationEntries, type PathMethod } from '../operations.js'
import { optionsReply } from '../parse/methods.js'
import { hasSharedRoute, isOperationRequested } from '../parse/operationTests.js'
import { ACCEPT_QUERY, isQueryMethod, readQueryBody, SUPPORTS_QUERY } from '../parse/queryMethod.js'
import { HostCall } from './call.js'
import { type Format, formatNames, isFileRequested } from './formats.js'
import { readExpressJsonSettings } from './jsonHost.js'
import { CallResponse, respondProblem } from './respond.js'

export type Handlers = Readonly<Record<OperationName, RequestHandler>>

/** Creates the handlers of a resource's operations, by name. */
export function createHandlers(resource: Resource, formats: readonly Format[]): Handlers {
  const handlers = operationEntries(resource.operationTable).map(([name, row]) => [
    name,
    resource.operations.has(name) ? createOperationHandler(resource, [name, row], formats) : handleDisabled,
  ])
  return Object.fromEntries(handlers)
}

/** Creates the handlers of a resource's actions, by name. */
export function createActionHandlers(
  resource: Resource,
  formats: readonly Format[],
): Readonly<Record<string, RequestHandler>> {
  const handlers = [...resource.actions].map(([name, action]) => [
    name,
    toRequestHandler(resource, formats, createActionCallHandler(resource, action)),
  ])
  return Object.fromEntries(handlers)
}

/** Answers 404 for a disabled operation, wherever its handler is mounted. */
const handleDisabled: RequestHandler = (_req, res) => respondProblem(res, problem('not-found'))

type OperationRow = readonly [name: OperationName, row: Operation]

/** Handles a call whose path and parameters are already matched. */
export type CallHandler = (call: Call, response: ResponseWriter) => unknown

/** Creates the handler of one operation, and of the operations with an equal method and path. */
function createOperationHandler(resource: Resource, own: OperationRow, formats: readonly Format[]): RequestHandler {
  return toRequestHandler(resource, formats, createCallHandler(resource, own, formats))
}

/** Converts a handler of calls to a handler of Express. */
export function toRequestHandler(resource: Resource, formats: readonly Format[], answer: CallHandler): RequestHandler {
  const names = formatNames(formats)
  const how = { onError: resource.onError, formats }
  return (req, res) => {
    const call = new HostCall(req, res, names)
    return answer(call, new CallResponse(call, res, readExpressJsonSettings, how))
  }
}

export function createCallHandler(resource: Resource, own: OperationRow, formats: readonly Format[]): CallHandler {
  const selectOperation = createOperationSelector(resource, own, formats)
  const isQueried = own[1].queried && SUPPORTS_QUERY
  const handleCall: CallHandler = (call, response) => {
    const operation = selectOperation(call)
    const target = { resource, relation: null, operation, isRead: resource.operationTable[operation].hook === null }
    return serve(target, call, response, () => handle(resource, operation, call))
  }
  if (!isQueried) return handleCall
  return (call, response) => {
    call.addHeaders({ 'Accept-Query': ACCEPT_QUERY })
    if (!isQueryMethod(call)) return handleCall(call, response)
    // The parameters in a QUERY body determine the operation, and thereby the policy.
    return readQueryBody(resource, call).then(
      () => handleCall(call, response),
      (error: unknown) => response.sendError(error),
    )
  }
}

/** Creates the handler of an action's calls. */
export function createActionCallHandler(resource: Resource, action: Action): CallHandler {
  const { name, operation, method } = action
  const target = { resource, relation: null, operation, action: name, isRead: method === 'get' }
  return (call, response) => serve(target, call, response, () => handle(resource, operation, call, { action }))
}

/**
 * Returns the handler of methods that a path does not support. OPTIONS returns the list of methods, and other methods
 * get 405.
 */
export function createMethodNotAllowedHandler(resource: Resource, methods: readonly PathMethod[]): CallHandler {
  return (call, response) => {
    setResourceHeaders(resource, call)
    try {
      return response.reply(optionsReply(call, methods))
    } catch (error) {
      return response.sendError(error)
    }
  }
}

/** Whether parameters or headers select this operation among several with one method and path. */
function hasSelectionRule({ intent, byFormat }: Operation): boolean {
  return byFormat === true || hasSharedRoute(intent)
}

/**
 * Returns a function that selects among the operations with the method and path of the given operation. If the given
 * operation has a selection rule, its handler serves only this operation, because a host can mount the handler alone.
 * An export takes precedence; other conflicting parameters are rejected later.
 */
function createOperationSelector(
  resource: Resource,
  [name, row]: OperationRow,
  formats: readonly Format[],
): (call: Call) => OperationName {
  const around = operationEntries(resource.operationTable).filter(
    ([other, { method, path }]) => resource.operations.has(other) && method === row.method && path === row.path,
  )
  const others = around
    .filter(([other, each]) => other !== name && hasSelectionRule(each))
    .toSorted(([, one], [, other]) => Number(other.byFormat ?? false) - Number(one.byFormat ?? false))
  if (others.length === 0 || (hasSelectionRule(row) && around.some(([, other]) => !hasSelectionRule(other))))
    return () => name
  const varies = others.some(([, { byFormat }]) => byFormat)
  return (call) => {
    if (varies) call.addHeaders({ Vary: 'Accept' })
    const requested = others.find(([, { byFormat, intent }]) =>
      byFormat ? isFileRequested(formats, call) : isOperationRequested(intent, resource, call),
    )
    return requested?.[0] ?? name
  }
}
