import type { Request, RequestHandler } from 'express'
import type { OperationName, Resource } from '../../types/resource.js'
import { entriesOf, type Operation, type OperationTable } from '../operations.js'
import { isMeant, isTold } from '../parse/meant.js'
import type { Handlers } from './calls.js'
import { asksForFile, type Format } from './formats.js'

type Row = readonly [name: OperationName, row: Operation]

/** Whether an operation shares its method and path with another one, from which requests tell it apart. */
function isApart({ intent, byFormat }: Operation): boolean {
  return byFormat === true || isTold(intent)
}

/**
 * The handlers of operations that share method and path with others: each hands a request on to that of the operation which it
 * is for. What is told apart by itself has a handler of its own as well, where something else answers the rest.
 */
export function sharedHandlers(
  resource: Resource,
  table: OperationTable,
  handlers: Handlers,
  formats: readonly Format[],
): Handlers {
  const enabled = entriesOf(table).filter(([name]) => resource.operations.has(name))
  const shared = enabled.flatMap(([name, row]) => {
    const around = enabled.filter(([, { method, path }]) => method === row.method && path === row.path)
    if (isApart(row) && around.some(([, other]) => !isApart(other))) return []
    const others = around.filter(([other, each]) => other !== name && isApart(each))
    return others.length === 0 ? [] : [[name, oneOf(resource, handlers, { name, others, formats })] as const]
  })
  return { ...handlers, ...Object.fromEntries(shared) }
}

interface Shared {
  readonly name: OperationName
  readonly others: readonly Row[]
  readonly formats: readonly Format[]
}

/** A file is one whatever else the request says, which is then refused. */
function oneOf(resource: Resource, handlers: Handlers, { name, others, formats }: Shared): RequestHandler {
  const inOrder = others.toSorted(
    ([, one], [, other]) => Number(other.byFormat ?? false) - Number(one.byFormat ?? false),
  )
  const varies = others.some(([, { byFormat }]) => byFormat)
  const isAsked = ({ byFormat, intent }: Operation, req: Request): boolean =>
    byFormat ? asksForFile(formats, req) : isMeant(intent, resource, req)
  return (req, res, next) => {
    if (varies) res.vary('Accept')
    const [meant = name] = inOrder.find(([, row]) => isAsked(row, req)) ?? []
    return handlers[meant](req, res, next)
  }
}
