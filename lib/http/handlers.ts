import type { RequestHandler } from 'express'
import type { Action } from '../../types/action.js'
import type { Call } from '../../types/call.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { tellHeaders } from '../common/headers.js'
import { problem } from '../common/problem.js'
import { type Outlet, replyTo, serve } from '../handle.js'
import { entriesOf, type Operation, type PathMethod } from '../operations.js'
import { isMeant, isTold } from '../parse/meant.js'
import { optionsReply } from '../parse/methods.js'
import { ACCEPT_QUERY, isQuery, readQuery, TAKES_QUERY } from '../parse/queried.js'
import { HostCall } from './call.js'
import { asksForFile, type Format, formatNames } from './formats.js'
import { expressJson } from './jsonHost.js'
import { Answer, respondProblem } from './respond.js'

export type Handlers = Readonly<Record<OperationName, RequestHandler>>

/** Handlers of a resource's operations, by name. */
export function handlersOf(resource: Resource, formats: readonly Format[]): Handlers {
  const handlers = entriesOf(resource.table).map(([name, row]) => [
    name,
    resource.operations.has(name) ? handlerOf(resource, [name, row], formats) : off,
  ])
  return Object.fromEntries(handlers)
}

/** Handlers of a resource's actions, by name. */
export function actionHandlersOf(
  resource: Resource,
  formats: readonly Format[],
): Readonly<Record<string, RequestHandler>> {
  const handlers = [...resource.actions].map(([name, action]) => [
    name,
    handledBy(resource, formats, actionAnswererOf(resource, action)),
  ])
  return Object.fromEntries(handlers)
}

/** A disabled operation answers 404 wherever its handler is mounted. */
const off: RequestHandler = (_req, res) => respondProblem(res, problem('not-found'))

type Row = readonly [name: OperationName, row: Operation]

/** Handles a call whose path and parameters are already matched. */
export type Answerer = (call: Call, outlet: Outlet) => unknown

/** Handler of one operation, and of the operations that share its method and path. */
function handlerOf(resource: Resource, own: Row, formats: readonly Format[]): RequestHandler {
  return handledBy(resource, formats, answererOf(resource, own, formats))
}

function handledBy(resource: Resource, formats: readonly Format[], answer: Answerer): RequestHandler {
  const names = formatNames(formats)
  const how = { onError: resource.onError, formats }
  return (req, res) => {
    const call = new HostCall(req, res, names)
    return answer(call, new Answer(call, res, expressJson, how))
  }
}

export function answererOf(resource: Resource, own: Row, formats: readonly Format[]): Answerer {
  const meant = meantBy(resource, own, formats)
  const isQueried = own[1].queried && TAKES_QUERY
  const served: Answerer = (call, outlet) => {
    const operation = meant(call)
    const place = { resource, relation: null, operation, isRead: resource.table[operation].hook === null }
    return serve(place, call, outlet, () => replyTo(resource, operation, call))
  }
  if (!isQueried) return served
  return (call, outlet) => {
    call.tell({ 'Accept-Query': ACCEPT_QUERY })
    if (!isQuery(call)) return served(call, outlet)
    // The parameters in a QUERY body decide which operation, and thus which policy, applies.
    return readQuery(resource, call).then(
      () => served(call, outlet),
      (error: unknown) => outlet.refuse(error),
    )
  }
}

/** Handler of an action's calls. */
export function actionAnswererOf(resource: Resource, action: Action): Answerer {
  const { name, operation, method } = action
  const place = { resource, relation: null, operation, action: name, isRead: method === 'get' }
  return (call, outlet) => serve(place, call, outlet, () => replyTo(resource, operation, call, { action }))
}

/** Handler of the methods that a path lacks. OPTIONS returns the list of methods, and other methods get 405. */
export function otherAnswerer(resource: Resource, methods: readonly PathMethod[]): Answerer {
  return (call, outlet) => {
    tellHeaders(resource, call)
    try {
      return outlet.reply(optionsReply(call, methods))
    } catch (error) {
      return outlet.refuse(error)
    }
  }
}

/** Whether requests select an operation among others with the same method and path. */
function isApart({ intent, byFormat }: Operation): boolean {
  return byFormat === true || isTold(intent)
}

/**
 * Returns a function that selects one of the operations with the same method and path. An operation with its own selection rule also has a
 * handler of its own. An export takes precedence, and other conflicting parameters are rejected later.
 */
function meantBy(resource: Resource, [name, row]: Row, formats: readonly Format[]): (call: Call) => OperationName {
  const around = entriesOf(resource.table).filter(
    ([other, { method, path }]) => resource.operations.has(other) && method === row.method && path === row.path,
  )
  const others = around
    .filter(([other, each]) => other !== name && isApart(each))
    .toSorted(([, one], [, other]) => Number(other.byFormat ?? false) - Number(one.byFormat ?? false))
  if (others.length === 0 || (isApart(row) && around.some(([, other]) => !isApart(other)))) return () => name
  const varies = others.some(([, { byFormat }]) => byFormat)
  return (call) => {
    if (varies) call.tell({ Vary: 'Accept' })
    const asked = others.find(([, { byFormat, intent }]) =>
      byFormat ? asksForFile(formats, call) : isMeant(intent, resource, call),
    )
    return asked?.[0] ?? name
  }
}
