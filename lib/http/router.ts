import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Model, ModelStatic } from 'sequelize'
import type { Carrier, KnownNames } from '../../types/carrier.js'
import type { ResourceInfo } from '../../types/info.js'
import type { CrudDefaults, CrudOptions } from '../../types/options.js'
import type { OwnRoutes } from '../../types/ownRoutes.js'
import type { Notifier } from '../../types/push.js'
import type { OperationName, Resource } from '../../types/resource.js'
import { CrudConfigError } from '../common/errors.js'
import { inOrder } from '../common/inOrder.js'
import { logError } from '../common/log.js'
import { problem } from '../common/problem.js'
import { unreadable } from '../common/unreadable.js'
import { assertDefaults } from '../compile/defaults.js'
import { compile, type Entry, TABLES, type Tables, takeBack } from '../compile/index.js'
import { mount } from '../compile/mounted.js'
import { handlerOf } from '../handler.js'
import { entriesOf, type Operation, type OperationTable, type PathMethod } from '../operations.js'
import { ownRoutesOf } from '../ownRoutes.js'
import { MEDIA_TYPES, refuseEmpty } from '../parse/body.js'
import { ACCEPT_QUERY, type BodyParsers, isQuery, TAKES_QUERY } from '../parse/queried.js'
import { type Close, closerOf } from '../push/close.js'
import { notifierOf } from '../push/notifier.js'
import { type Handlers, keepWay, type Told } from './calls.js'
import { asksForFile, FORMATS, type Format } from './formats.js'
import { addNested } from './nested.js'
import { queriedHandlers } from './queried.js'
import { respondProblem, setHeaders } from './respond.js'
import { sharedHandlers } from './shared.js'

/** What goes beside routes: the compiled resource, and the way to push changes that were not made by them, if any. */
interface Mounted<M extends Model, O> extends Carrier<M, O>, OwnRoutes {
  readonly resource: ResourceInfo
  readonly notify: Notifier | null
  /**
   * New requests are answered 503 with `Retry-After`, and those under way end, in `within` milliseconds at most [10,000]: then exports
   * that are still being read are cut. After that relation paths ask the resource no more. Its hub's path is free at once, and the
   * promise is fulfilled when the clients have heard of what was written before and are disconnected. The first call decides.
   */
  readonly close: Close
}

/** An Express router that carries its compiled resource, and in its type the model and the options. */
export type CrudRouter<M extends Model = Model, O = object> = Router & Mounted<M, O>

/** The handlers of a resource, for hosts that write their own route table. Those of operations that are off answer 404. */
export type CrudController<M extends Model = Model, O = object> = {
  readonly [operation in OperationName]: RequestHandler
} & Mounted<M, O>

/** Options as they were written, so that types can be inferred from them, of which every name is known. */
// They tell nothing of the model, which is given first: a scope of no model in particular would make it any.
type Written<M extends Model, O> = O & CrudOptions<NoInfer<M>> & NoInfer<KnownNames<O, CrudOptions<M>>>

interface Route {
  readonly path: string
  readonly operations: readonly (readonly [name: OperationName, row: Operation])[]
}

/** The paths below the resource's own, with what they do. Fixed paths come before the key, which could be their word. */
function routesOf(table: OperationTable): readonly Route[] {
  const rows = entriesOf(table)
  const paths = [...new Set(rows.map(([, { path }]) => path))]
  const ofKey = (path: string): boolean => path.startsWith('/:')
  return [...paths.filter((path) => !ofKey(path)), ...paths.filter(ofKey)].map((path) => ({
    path,
    operations: rows.filter(([, row]) => row.path === path),
  }))
}

/**
 * A router with the JSON REST API of a model: GET and POST on `/api/{plural}`, GET, PATCH and DELETE on
 * `/api/{plural}/{id}`, and the bulk routes where they are enabled.
 *
 * @throws CrudConfigError for wrong options, with a stable code
 */
export function crudRouter<M extends Model, const O extends CrudOptions<NoInfer<M>> = object>(
  model: ModelStatic<M>,
  options?: Written<M, O>,
): CrudRouter<M, O> {
  return routerWith(TABLES, model, options)
}

/** The tables that a resource is compiled by, and what replies can be written in. */
interface RouterTables extends Tables {
  readonly formats?: readonly Format[]
}

/** The same with other tables than the package's own. */
export function routerWith<M extends Model, O>(
  tables: RouterTables,
  model: ModelStatic<M>,
  options: CrudOptions<M> = {},
): CrudRouter<M, O> {
  const resource = compile(model, options, { name: 'crudRouter', unfit: {}, tables })
  const routes = { ...options, tables }
  const first = listOf(options.use)
  keepWay(resource, { first, handlers: (told) => handlersOf(resource, tables, told) })
  const own = ownRoutesOf(resource, tables.operations)
  const router = Router({ mergeParams: true })
  try {
    if (options.configure === undefined) {
      addRoutes(router, resource.route === '/' ? '' : resource.route, resource, routes)
    } else {
      // A router of its own, so that what the host adds to it sees no other requests than this resource's.
      const inner = Router({ mergeParams: true })
      options.configure(inner, own)
      addRoutes(inner, '', resource, routes)
      router.use(resource.route, inner)
    }
  } catch (error) {
    takeBack(resource)
    closerOf(resource)().catch((failed: unknown) => logError(failed))
    const reason = error instanceof Error ? error.message : String(error)
    const option = options.configure === undefined ? 'route' : 'configure'
    throw Object.assign(new CrudConfigError('INVALID_OPTION', `${model.name}: ${option}: ${reason}`), { cause: error })
  }
  mount(resource)
  return Object.assign(router, { resource, notify: notifierOf(resource), close: closerOf(resource), ...own })
}

/**
 * The same behaviour as handlers, each with `use` before it. Those with a record read its key from `req.params.id`.
 *
 * @throws CrudConfigError for wrong options, with a stable code, and for `configure`, since there is no router
 */
export function crudController<M extends Model, const O extends CrudOptions<NoInfer<M>> = object>(
  model: ModelStatic<M>,
  options?: Written<M, O>,
): CrudController<M, O> {
  return controllerWith(model, options)
}

function controllerWith<M extends Model, O>(model: ModelStatic<M>, options: CrudOptions<M> = {}): CrudController<M, O> {
  const resource = compile(model, options, CONTROLLER)
  const first = listOf(options.use)
  const plain = handlersOf(resource, TABLES)
  keepWay(resource, { first, handlers: (told) => handlersOf(resource, TABLES, told) })
  const handlers = first.length === 0 ? plain : withFirst(first, plain)
  mount(resource)
  return Object.freeze({
    ...handlers,
    resource,
    notify: notifierOf(resource),
    close: closerOf(resource),
    ...ownRoutesOf(resource, TABLES.operations),
  })
}

const CONTROLLER: Entry = {
  name: 'crudController',
  unfit: { configure: 'it makes no router' },
  routeless: 'a crudController makes no router',
}

function withFirst(first: readonly RequestHandler[], handlers: Handlers): Handlers {
  const entries = Object.entries(handlers).map(([name, handler]) => [name, inOrder([...first, handler])])
  return Object.fromEntries(entries) as Handlers
}

/**
 * `crudRouter` and `crudController` with shared defaults; what a call says itself wins.
 *
 * @throws CrudConfigError for wrong defaults, and for options that resources do not share
 */
export function createCrud(defaults: CrudDefaults = {}): {
  crudRouter: typeof crudRouter
  crudController: typeof crudController
} {
  assertDefaults(defaults)
  const { io, ...shared } = defaults
  const merged = <M extends Model>(options: CrudOptions<M> = {}): CrudOptions<M> => {
    // What is no object is for the router to refuse.
    if (typeof options !== 'object' || options === null || Array.isArray(options)) return options
    const { push, limits, policies } = options
    return {
      ...shared,
      ...options,
      ...(io === undefined || !push ? {} : { push: { io, ...(push === true ? {} : push) } }),
      ...(defaults.limits === undefined ? {} : { limits: { ...defaults.limits, ...limits } }),
      ...(defaults.policies === undefined ? {} : { policies: { ...defaults.policies, ...policies } }),
    }
  }
  return {
    crudRouter: (model, options) => routerWith(TABLES, model, merged(options)),
    crudController: (model, options) => controllerWith(model, merged(options)),
  }
}

const parsers = new WeakMap<Resource, BodyParsers>()

/** What reads the bodies of a resource. */
function parsersOf(resource: Resource): BodyParsers {
  const known = parsers.get(resource)
  if (known !== undefined) return known
  const limit = resource.limits.bodySize
  // Whoever calls it has looked at the content type; by one that it cannot read it would leave the body out.
  const json = express.json({ type: () => true, limit, strict: false, verify: refuseEmpty })
  const made = { json, text: express.text({ type: () => true, limit, verify: refuseEmpty }) }
  parsers.set(resource, made)
  return made
}

function handlersOf(resource: Resource, { operations, formats = FORMATS }: RouterTables, told: Told = {}): Handlers {
  const { json: parser, text: lines } = parsersOf(resource)
  const handlers = entriesOf(operations).map(([name, row]) => [
    name,
    resource.operations.has(name) ? handlerOf(resource, { ...told, name, row, parser, lines, formats }) : off,
  ])
  const shared = sharedHandlers(resource, operations, Object.fromEntries(handlers) as Handlers, formats)
  return queriedHandlers(resource, operations, shared, parsersOf(resource))
}

/** An operation that the host switched off stays off, wherever its handler is mounted. */
const off: RequestHandler = (_req, res) => respondProblem(res, problem('not-found'))

function addRoutes(
  router: Router,
  base: string,
  resource: Resource,
  { tables, use }: { readonly tables: RouterTables; readonly use?: CrudOptions['use'] },
): void {
  const handlers = handlersOf(resource, tables)
  const first = listOf(use)
  const enabledOf = ({ operations }: Route): Route['operations'] =>
    operations.filter(([name]) => resource.operations.has(name))
  const routes = routesOf(tables.operations)
  const record = routes.find(({ path }) => path === '/:id')
  for (const each of routes) {
    const enabled = enabledOf(each)
    if (enabled.length === 0) continue
    // The last word of a fixed path is a record's key as well, where keys are text.
    const couldBeKey =
      resource.keys.length === 1 && resource.key.valueType.type === 'string' && /^\/[^:/]+$/.test(each.path)
    const own = methodsOf(enabled)
    const query = enabled.find(([, { queried }]) => queried)
    const passed =
      couldBeKey && record !== undefined ? methodsOf(enabledOf(record)).filter((each) => !own.includes(each)) : []
    const path = each.path === '/' && base !== '' ? base : base + each.path
    const broken = unreadable(path)
    const before = [...(passed.length > 0 ? [passOn(passed)] : []), ...(first.length > 0 ? [inOrder(first)] : [])]
    const add = (at: string | RegExp, ahead: readonly RequestHandler[]): void => {
      const route = router.route(at)
      for (const handler of ahead) route.all(handler)
      for (const [name, { method }] of enabled) route[method](handlers[name])
      if (query !== undefined) route.all(onlyQuery(handlers[query[0]]))
      route.all(otherwise(resource, [...own, ...passed]))
    }
    if (broken !== null) add(broken.pattern, [broken.handler, ...before])
    add(path, before)
  }
  const { operations, formats = FORMATS } = tables
  const served = {
    operations,
    formats,
    isFile: (req: Request) => asksForFile(formats, req),
    parsersOf,
    otherwise: (methods: readonly PathMethod[]) => otherwise(resource, methods),
  }
  addNested(router, base, resource, { first, served })
}

function listOf(use: CrudOptions['use'] = []): readonly RequestHandler[] {
  return typeof use === 'function' ? [use] : use
}

function methodsOf(operations: Route['operations']): readonly PathMethod[] {
  const methods = operations.map(([, { method }]) => method)
  return [...new Set([...methods, ...(operations.some(([, { queried }]) => queried) ? QUERY : [])])]
}

const QUERY: readonly PathMethod[] = TAKES_QUERY ? ['query'] : []

/** By its name and not as a route of its own, which Express has where Node knows the method. */
function onlyQuery(handler: RequestHandler): RequestHandler {
  return (req, res, next) => (isQuery(req) ? handler(req, res, next) : next())
}

/** Leaves the route to a later one that has the method, before anything of this one has run. */
function passOn(methods: readonly PathMethod[]): RequestHandler {
  const names = new Set(namesOf(methods))
  return (req, _res, next) => next(names.has(req.method) ? 'route' : undefined)
}

function namesOf(methods: readonly PathMethod[]): readonly string[] {
  return methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
}

/** What a path answers to the methods it does not have: OPTIONS with what it has, 405 to the others. */
function otherwise(resource: Resource, methods: readonly PathMethod[]): RequestHandler {
  const allow = [...namesOf(methods), 'OPTIONS'].join(', ')
  return (req: Request, res: Response) => {
    setHeaders(res, resource.behaviours.headers)
    res.setHeader('Allow', allow)
    if (methods.includes('patch')) res.setHeader('Accept-Patch', MEDIA_TYPES.join(', '))
    if (methods.includes('query')) res.setHeader('Accept-Query', ACCEPT_QUERY)
    if (req.method === 'OPTIONS') {
      res.status(204).end()
      return
    }
    respondProblem(res, problem('method-not-allowed', { detail: `${req.method} is not among ${allow}.` }))
  }
}
