import type { FindOptions, Model, ModelStatic } from 'sequelize'
import type { Identity } from '../types/identity.js'
import type { ResourceInfo } from '../types/info.js'
import type { CrudOptions } from '../types/options.js'
import type { Caller } from '../types/plan.js'
import { BEHAVIOURS } from './behaviours.js'
import { NO_REQUEST } from './common/noRequest.js'
import { compile, type EntryPoint } from './compile/index.js'
import { isPlainObject } from './config/inherited.js'
import { buildFindOptions } from './findOptions.js'
import { readQuery } from './parse/list.js'
import { storeOf } from './perform/index.js'
import { hiddenFieldsOf } from './plan/index.js'
import { planListSync } from './read.js'

/** The query language of a resource without routes. */
export interface ResourceQuery {
  readonly resource: ResourceInfo
  /**
   * Returns options for `Model.findAll` for a list request: `where`, `include`, `order`, `attributes`, `limit` and
   * `offset`. `query` has the parameters of the query language by name. In cursor mode `limit` is the page size,
   * without the extra record of a route. Count mode sets no `limit` and no `offset`.
   *
   * @throws Problem (400) for any query that the list route would reject
   */
  readonly toFindOptions: (query: Readonly<Record<string, unknown>>, identity?: Identity | null) => FindOptions
}

/**
 * Compiles the query language of a model, with the options of `crudRouter`. Masks apply to the given identity (default:
 * anonymous). Deleted records stay hidden. Paths into a resource with policies or a scope do not exist. Policies in
 * `options` are not evaluated, because the host runs the query.
 *
 * @throws CrudConfigError for wrong options, and for options that need a request or routes: `scope` (add it to `where`
 * yourself), `use`, `configure`, `hooks`
 */
export function queryOf<M extends Model>(model: ModelStatic<M>, options: CrudOptions<NoInfer<M>> = {}): ResourceQuery {
  const resource = compile(model, withoutRouteOptions(options), QUERY)
  return Object.freeze({
    resource,
    toFindOptions: (query: Readonly<Record<string, unknown>>, identity: Identity | null = null): FindOptions => {
      const caller: Caller = { request: NO_REQUEST, identity, instant: new Date() }
      const hidden = hiddenFieldsOf(caller, resource)
      const planned = planListSync(resource, readQuery(resource, query, hidden), caller)
      return buildFindOptions(storeOf(resource), planned, planned.where, hidden)
    },
  })
}

const QUERY: EntryPoint = {
  name: 'queryOf',
  givesRows: true,
  unsupported: {
    scope: 'it has no request for which a scope could be evaluated. Add the condition to "where" yourself',
    singleton: 'it has no request that could determine the key. Add the condition to "where" yourself',
    use: 'it handles no requests',
    configure: 'it creates no router',
    hooks: 'it writes nothing',
  },
}

/** Removes the options that only routes and push use. */
function withoutRouteOptions<M extends Model>(options: CrudOptions<M>): CrudOptions<M> {
  // The compilation reports invalid options.
  if (!isPlainObject(options)) return options
  const routeOnly = new Set(BEHAVIOURS.flatMap((row) => (row.isRouteOnly ? Object.keys(row.options) : [])))
  return Object.fromEntries(Object.entries(options).filter(([name]) => !routeOnly.has(name))) as CrudOptions<M>
}
