import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import type { Model, ModelStatic } from 'sequelize'
import type { CrudDefaults, CrudOptions } from '../types/options.js'
import type { Notifier } from '../types/push.js'
import type { OperationName, Resource } from '../types/resource.js'
import { compile } from './compile/index.js'
import { mount } from './compile/relations.js'
import { handlerOf } from './handler.js'
import { MEDIA_TYPES, refuseEmpty } from './parse/body.js'
import { problem } from './problem.js'
import { notifierOf } from './push/notifier.js'
import { respondProblem, setHeaders } from './respond.js'

/** What goes beside routes: the compiled resource, and the way to push changes that were not made by them, if any. */
interface Mounted {
  readonly resource: Resource
  readonly notify: Notifier | null
}

/** An Express router that carries its compiled resource. */
export type CrudRouter = Router & Mounted

/** The handlers of a resource, for hosts that write their own route table. Those of operations that are off answer 404. */
export type CrudController = { readonly [operation in OperationName]: RequestHandler } & Mounted

type Method = 'get' | 'post' | 'patch' | 'delete'

interface Route {
  readonly path: string
  readonly methods: readonly (readonly [method: Method, operation: OperationName])[]
}

/** The route table: paths below the resource's own, methods and what they do. Fixed paths come before the key. */
const ROUTES: readonly Route[] = [
  {
    path: '/',
    methods: [
      ['get', 'getList'],
      ['post', 'create'],
    ],
  },
  { path: '/bulk', methods: [['post', 'bulkCreate']] },
  { path: '/bulk-delete', methods: [['post', 'bulkDelete']] },
  {
    path: '/:id',
    methods: [
      ['get', 'getById'],
      ['patch', 'update'],
      ['delete', 'delete'],
    ],
  },
  { path: '/:id/restore', methods: [['post', 'restore']] },
]

/**
 * A router with the JSON REST API of a model: GET and POST on `/api/{plural}`, GET, PATCH and DELETE on
 * `/api/{plural}/{id}`, and the bulk routes where they are enabled.
 *
 * @throws CrudConfigError for wrong options, with a stable code
 */
export function crudRouter<M extends Model>(model: ModelStatic<M>, options: CrudOptions<M> = {}): CrudRouter {
  const resource = compile(model, options)
  const router = Router({ mergeParams: true })
  if (options.configure === undefined) {
    addRoutes(router, resource.route, resource, options)
  } else {
    // A router of its own, so that what the host adds to it sees no other requests than this resource's.
    const inner = Router({ mergeParams: true })
    options.configure(inner)
    addRoutes(inner, '', resource, options)
    router.use(resource.route, inner)
  }
  mount(resource)
  return Object.assign(router, { resource, notify: notifierOf(resource) })
}

/** The same behaviour as handlers. Those with a record read its key from `req.params.id`. */
export function crudController<M extends Model>(model: ModelStatic<M>, options: CrudOptions<M> = {}): CrudController {
  const resource = compile(model, options)
  const handlers = handlersOf(resource)
  mount(resource)
  return Object.freeze({ ...handlers, resource, notify: notifierOf(resource) })
}

/** `crudRouter` and `crudController` with shared defaults; what a call says itself wins. */
export function createCrud(defaults: CrudDefaults = {}): {
  crudRouter: typeof crudRouter
  crudController: typeof crudController
} {
  const { io, ...shared } = defaults
  const merged = <M extends Model>(options: CrudOptions<M> = {}): CrudOptions<M> => ({
    ...shared,
    ...options,
    ...(io === undefined || !options.push ? {} : { push: { io, ...(options.push === true ? {} : options.push) } }),
    ...(defaults.limits === undefined ? {} : { limits: { ...defaults.limits, ...options.limits } }),
    ...(defaults.policies === undefined ? {} : { policies: { ...defaults.policies, ...options.policies } }),
  })
  return {
    crudRouter: (model, options) => crudRouter(model, merged(options)),
    crudController: (model, options) => crudController(model, merged(options)),
  }
}

function handlersOf(resource: Resource): Record<OperationName, RequestHandler> {
  const limit = resource.limits.bodySize
  const parser = express.json({ type: [...MEDIA_TYPES], limit, strict: false, verify: refuseEmpty })
  const of = (operation: OperationName): RequestHandler =>
    resource.operations.has(operation) ? handlerOf(resource, operation, parser) : off
  return {
    getById: of('getById'),
    getList: of('getList'),
    create: of('create'),
    update: of('update'),
    delete: of('delete'),
    bulkCreate: of('bulkCreate'),
    bulkDelete: of('bulkDelete'),
    restore: of('restore'),
  }
}

/** An operation that the host switched off stays off, wherever its handler is mounted. */
const off: RequestHandler = (_req, res) => respondProblem(res, problem('not-found'))

function addRoutes<M extends Model>(router: Router, base: string, resource: Resource, options: CrudOptions<M>): void {
  const handlers = handlersOf(resource)
  const first = options.use === undefined ? [] : typeof options.use === 'function' ? [options.use] : options.use
  for (const { path, methods } of ROUTES) {
    const enabled = methods.filter(([, operation]) => resource.operations.has(operation)).map(([method]) => method)
    if (enabled.length === 0) continue
    const route = router.route(path === '/' && base !== '' ? base : base + path)
    const passed = path.startsWith('/bulk') ? recordMethodsOf(resource) : []
    if (passed.length > 0) route.all(passOn(passed))
    if (first.length > 0) route.all(...first)
    for (const [method, operation] of methods) if (enabled.includes(method)) route[method](handlers[operation])
    route.all(otherwise(resource, [...enabled, ...passed]))
  }
}

/** The methods of the record that a bulk route's last word is the key of; none where it cannot be one. */
function recordMethodsOf({ key, operations }: Resource): readonly Method[] {
  if (key.valueType.type !== 'string') return []
  const record = ROUTES.find(({ path }) => path === '/:id')
  return (record?.methods ?? []).filter(([, operation]) => operations.has(operation)).map(([method]) => method)
}

/** Leaves the route to a later one that has the method, before anything of this one has run. */
function passOn(methods: readonly Method[]): RequestHandler {
  const names = new Set(namesOf(methods))
  return (req, _res, next) => next(names.has(req.method) ? 'route' : undefined)
}

function namesOf(methods: readonly Method[]): readonly string[] {
  return methods.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]))
}

/** What a path answers to the methods it does not have: OPTIONS with what it has, 405 to the others. */
function otherwise(resource: Resource, methods: readonly Method[]): RequestHandler {
  const allow = [...namesOf(methods), 'OPTIONS'].join(', ')
  return (req: Request, res: Response) => {
    setHeaders(res, resource.behaviours.headers)
    res.setHeader('Allow', allow)
    if (methods.includes('patch')) res.setHeader('Accept-Patch', MEDIA_TYPES.join(', '))
    if (req.method === 'OPTIONS') {
      res.status(204).end()
      return
    }
    respondProblem(res, problem('method-not-allowed', { detail: `${req.method} is not among ${allow}.` }))
  }
}
