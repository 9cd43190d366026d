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

/** The handlers of a resource's operations, by their names. */
export function handlersOf(resource: Resource, formats: readonly Format[]): Handlers {
  const handlers = entriesOf(resource.table).map(([name, row]) => [
    name,
    resource.operations.has(name) ? handlerOf(resource, [name, row], formats) : off,
  ])
  return Object.fromEntries(handlers)
}

/** The handlers of a resource's actions, by their names. */
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

/** An operation that the host switched off stays off, wherever its handler is mounted. */
const off: RequestHandler = (_req, res) => respondProblem(res, problem('not-found'))

type Row = readonly [name: OperationName, row: Operation]

/** Answers a call for which a path and its parameters were found. */
export type Answerer = (call: Call, outlet: Outlet) => unknown

/** The handler of one operation, and of those that share its method and path. */
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
    // It says which of several operations the call is for, and so whose policy decides.
    return readQuery(resource, call).then(
      () => served(call, outlet),
      (error: unknown) => outlet.refuse(error),
    )
  }
}

/** Answers the calls of an action. */
export function actionAnswererOf(resource: Resource, action: Action): Answerer {
  const { name, operation, method } = action
  const place = { resource, relation: null, operation, action: name, isRead: method === 'get' }
  return (call, outlet) => serve(place, call, outlet, () => replyTo(resource, operation, call, { action }))
}

/** Answers the methods that a path does not have: OPTIONS by the list of its methods, all others by 405. */
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

/** Whether an operation shares its method and path with another one, from which requests tell it apart. */
function isApart({ intent, byFormat }: Operation): boolean {
  return byFormat === true || isTold(intent)
}

/**
 * Which of the operations that share method and path a call is for. What is told apart by itself has a handler of its own as well,
 * where something else answers the rest. A file is one whatever else the call says, which is then refused.
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
