import { type RequestHandler, Router } from 'express'
import type { Model, ModelStatic } from 'sequelize'
import type { ActionNames } from '../../types/action.js'
import type { ComputedOptions, KnownNames, RouterTypeInfo } from '../../types/carrier.js'
import type { ResourceInfo } from '../../types/info.js'
import type { CrudOptions, FieldOptions, OptionsWithComputed } from '../../types/options.js'
import type { OwnRoutes } from '../../types/ownRoutes.js'
import type { Notifier } from '../../types/push.js'
import type { OperationName, Resource } from '../../types/resource.js'
import type { MaskOptions } from '../behaviour/mask.js'
import { CrudConfigError } from '../common/errors.js'
import { logError } from '../common/log.js'
import { type CompileTables, compile, type EntryPoint, TABLES, undoModelChanges } from '../compile/index.js'
import type { PathMethod } from '../operations.js'
import { createOwnRoutes } from '../ownRoutes.js'
import { methodNames } from '../parse/methods.js'
import { isQueryMethod } from '../parse/queryMethod.js'
import { type Close, createClose } from '../push/close.js'
import { createNotifier } from '../push/notifier.js'
import { combineHandlers } from './combineHandlers.js'
import { FORMATS, type Format } from './formats.js'
import { createActionHandlers, createHandlers, createMethodNotAllowedHandler, toRequestHandler } from './handlers.js'
import { setLeadingHandlers } from './internalCall.js'
import { createMalformedPathHandler } from './malformedPath.js'
import { addNestedRoutes } from './nested.js'
import { pathsOf } from './paths.js'
import { mountAndPublish } from './publishMount.js'
import { skipOtherPaths } from './skipOtherPaths.js'

/**
 * The members of routers and handlers in addition to the routes: the compiled resource, `notify` for changes outside
 * the routes, and `close`.
 */
export interface Mounted<M extends Model, O> extends RouterTypeInfo<M, O>, OwnRoutes {
  readonly resource: ResourceInfo
  readonly notify: Notifier | null
  /**
   * Shuts the resource down. New requests get 503 with `Retry-After`. In-flight requests get `within` milliseconds
   * (default: 10,000) to end, after which running exports are aborted. Relation paths do not use a closed resource. The
   * path of the resource's push hub is free at once. The promise resolves after pending push events are sent and clients
   * are disconnected. Later calls return the promise of the first call.
   */
  readonly close: Close
}

/** An Express router with its compiled resource. The type carries the model and the options. */
export type CrudRouter<M extends Model = Model, O = object> = Router & Mounted<M, O>

/**
 * The handlers of a resource, for hosts with a route table of their own. Handlers of disabled operations answer 404.
 */
export type CrudController<M extends Model = Model, O = object> = {
  readonly [operation in OperationName]: RequestHandler
} & {
  /** The handlers of the actions, by name. Handlers of record actions read the key from `req.params.id`. */
  readonly actions: { readonly [action in ActionNames<O>]: RequestHandler }
} & Mounted<M, O>

/** The options as the host wrote them, for type inference. Unknown names are compile errors. */
// The model is inferred from the first argument only. Otherwise a scope without a model type would widen the model to
// any.
export type Written<M extends Model, O> = O &
  OptionsWithComputed<NoInfer<M>> &
  NoInfer<KnownNames<O, CrudOptions<M> & ComputedOptions<O, FieldOptions, string | MaskOptions>>>

/**
 * Creates a router with the JSON REST API of a model. The routes are GET and POST on `/api/{plural}`, GET, PATCH and
 * DELETE on `/api/{plural}/{id}`, and the bulk routes if enabled.
 *
 * @throws CrudConfigError for wrong options, with a stable code
 */
export function crudRouter<M extends Model, const O extends OptionsWithComputed<NoInfer<M>> = object>(
  model: ModelStatic<M>,
  options?: Written<M, O>,
): CrudRouter<M, O> {
  return createRouter(TABLES, model, options)
}

/** The tables for compiling a resource, and its response formats. */
interface RouterTables extends CompileTables {
  readonly formats?: readonly Format[]
}

/** Like `crudRouter`, with other tables of operations, behaviours and dialects. */
export function createRouter<M extends Model, O>(
  tables: RouterTables,
  model: ModelStatic<M>,
  options: CrudOptions<M> = {},
): CrudRouter<M, O> {
  const resource = compile(model, options, { name: 'crudRouter', unsupported: {}, tables })
  const { formats = FORMATS } = tables
  const first = toHandlers(options.use)
  const routes = { first, formats }
  setLeadingHandlers(resource, first)
  const own = createOwnRoutes(resource, tables.operations)
  const router = Router({ mergeParams: true })
  try {
    if (options.configure === undefined) {
      const base = resource.route === '/' ? '' : resource.route
      addRoutes(router, base, resource, routes)
      skipOtherPaths(router, base)
    } else {
      // An inner router limits the host's middleware to requests of this resource.
      const inner = Router({ mergeParams: true })
      options.configure(inner, own)
      addRoutes(inner, '', resource, routes)
      router.use(resource.route, inner)
    }
  } catch (error) {
    undoModelChanges(resource)
    createClose(resource)().catch((failed: unknown) => logError(failed))
    const reason = error instanceof Error ? error.message : String(error)
    const option = options.configure === undefined ? 'route' : 'configure'
    throw Object.assign(new CrudConfigError('INVALID_OPTION', `${model.name}: ${option}: ${reason}`), { cause: error })
  }
  mountAndPublish('crudRouter', resource)
  return Object.assign(router, { resource, notify: createNotifier(resource), close: createClose(resource), ...own })
}

/**
 * Returns the REST API of `crudRouter` as separate handlers, each preceded by the handlers of `use`. Handlers of a
 * single record read the key from `req.params.id`.
 *
 * @throws CrudConfigError for wrong options, with a stable code, and for `configure`, which needs a router
 */
export function crudController<M extends Model, const O extends OptionsWithComputed<NoInfer<M>> = object>(
  model: ModelStatic<M>,
  options?: Written<M, O>,
): CrudController<M, O> {
  return createController(model, options)
}

/** Like `crudController`, without type inference from the options. */
export function createController<M extends Model, O>(
  model: ModelStatic<M>,
  options: CrudOptions<M> = {},
): CrudController<M, O> {
  const resource = compile(model, options, CONTROLLER)
  const first = toHandlers(options.use)
  const plain = createHandlers(resource, FORMATS)
  setLeadingHandlers(resource, first)
  const handlers = first.length === 0 ? plain : prependHandlers(first, plain)
  const actions = createActionHandlers(resource, FORMATS)
  mountAndPublish('crudController', resource)
  return Object.freeze({
    ...handlers,
    actions: Object.freeze(first.length === 0 ? actions : prependHandlers(first, actions)),
    resource,
    notify: createNotifier(resource),
    close: createClose(resource),
    ...createOwnRoutes(resource, TABLES.operations),
  })
}

const CONTROLLER: EntryPoint = {
  name: 'crudController',
  unsupported: { configure: 'it creates no router' },
  noRoutesReason: 'a crudController creates no router',
}

function prependHandlers<H extends Readonly<Record<string, RequestHandler>>>(
  first: readonly RequestHandler[],
  handlers: H,
): { readonly [name in keyof H]: RequestHandler } {
  const entries = Object.entries(handlers).map(([name, handler]) => [name, combineHandlers([...first, handler])])
  return Object.fromEntries(entries) as { readonly [name in keyof H]: RequestHandler }
}

function addRoutes(
  router: Router,
  base: string,
  resource: Resource,
  { first, formats }: { readonly first: readonly RequestHandler[]; readonly formats: readonly Format[] },
): void {
  const handlers = createHandlers(resource, formats)
  const actions = createActionHandlers(resource, formats)
  for (const { path: below, operations, action, methods, laterMethods } of pathsOf(resource)) {
    const acting = action === undefined ? undefined : actions[action.name]
    const query = operations.find(([, { queried }]) => queried)
    const path = below === '/' && base !== '' ? base : base + below
    const broken = createMalformedPathHandler(path)
    const others = createMethodNotAllowedHandler(resource, [...methods, ...laterMethods])
    const notAllowed = toRequestHandler(resource, [], others)
    const before = [
      ...(laterMethods.length > 0 ? [skipMethods(laterMethods)] : []),
      ...(first.length > 0 ? [combineHandlers(first)] : []),
    ]
    const addRoute = (at: string | RegExp, ahead: readonly RequestHandler[]): void => {
      const route = router.route(at)
      for (const handler of ahead) route.all(handler)
      for (const [name, { method }] of operations) route[method](handlers[name])
      if (action !== undefined && acting !== undefined) route[action.method](acting)
      if (query !== undefined) route.all(handleQueryOnly(handlers[query[0]]))
      route.all(notAllowed)
    }
    if (broken !== null) addRoute(broken.pattern, [broken.handler, ...before])
    addRoute(path, before)
  }
  addNestedRoutes(router, base, resource, { first, formats })
}

function toHandlers(use: CrudOptions['use'] = []): readonly RequestHandler[] {
  return typeof use === 'function' ? [use] : use
}

/**
 * Handles QUERY by comparing the method's name. Express has a `query` route method only on versions of Node that know
 * the method.
 */
function handleQueryOnly(handler: RequestHandler): RequestHandler {
  return (req, res, next) => (isQueryMethod(req) ? handler(req, res, next) : next())
}

/** Skips to a later route for some methods, before any handler of this route runs. */
function skipMethods(methods: readonly PathMethod[]): RequestHandler {
  const names = new Set(methodNames(methods))
  return (req, _res, next) => next(names.has(req.method) ? 'route' : undefined)
}
