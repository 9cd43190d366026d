import type { FindOptions, Model, ModelStatic } from 'sequelize'
import type { Identity } from '../types/identity.js'
import type { ResourceInfo } from '../types/info.js'
import type { CrudOptions } from '../types/options.js'
import type { Caller } from '../types/plan.js'
import { BEHAVIOURS } from './behaviours.js'
import { NO_REQUEST } from './common/noRequest.js'
import { compile, type Entry } from './compile/index.js'
import { isPlain } from './config/inherited.js'
import { findOptionsOf } from './findOptions.js'
import { readQuery } from './parse/list.js'
import { storeOf } from './perform/index.js'
import { hiddenFrom } from './plan/index.js'
import { planNow } from './read.js'

/** The query language of a resource without its routes. */
export interface ResourceQuery {
  readonly resource: ResourceInfo
  /**
   * The options for `Model.findAll` that answer a list request: `where`, `include`, `order`, `attributes`, `limit` and
   * `offset`, from the parameters of the query language by name. Cursor mode gives the page's size without the one
   * record more; count mode gives no window.
   *
   * @throws Problem (400) for whatever the list route would refuse
   */
  readonly toFindOptions: (query: Readonly<Record<string, unknown>>, identity?: Identity | null) => FindOptions
}

/**
 * Compiles a model's query language, by the same options as `crudRouter`: masks hold for the given identity (anonymous
 * without one), deleted records stay hidden, and a path into a resource that has policies or a scope does not exist.
 * Policies of the options themselves are not asked, since the host runs the query.
 *
 * @throws CrudConfigError for wrong options, and for what needs a request or routes: `scope` (put it into `where` yourself),
 * `use`, `configure`, `hooks`
 */
export function queryOf<M extends Model>(model: ModelStatic<M>, options: CrudOptions<NoInfer<M>> = {}): ResourceQuery {
  const resource = compile(model, queryOnly(options), QUERY)
  return Object.freeze({
    resource,
    toFindOptions: (query: Readonly<Record<string, unknown>>, identity: Identity | null = null): FindOptions => {
      const caller: Caller = { request: NO_REQUEST, identity, instant: new Date() }
      const hidden = hiddenFrom(caller, resource)
      const planned = planNow(resource, readQuery(resource, query, hidden), caller)
      return findOptionsOf(storeOf(resource), planned, planned.where, hidden)
    },
  })
}

const QUERY: Entry = {
  name: 'queryOf',
  givesRows: true,
  unfit: {
    scope: 'it has no request to ask a scope for; put it into where yourself',
    singleton: 'it has no request to ask for a key; put it into where yourself',
    use: 'no request passes it',
    configure: 'it makes no router',
    hooks: 'it writes nothing',
  },
}

/** Without what only routes and hubs do. */
function queryOnly<M extends Model>(options: CrudOptions<M>): CrudOptions<M> {
  // Compiling refuses other values.
  if (!isPlain(options)) return options
  const left = new Set(BEHAVIOURS.flatMap((row) => (row.routesOnly ? Object.keys(row.options) : [])))
  return Object.fromEntries(Object.entries(options).filter(([name]) => !left.has(name))) as CrudOptions<M>
}
