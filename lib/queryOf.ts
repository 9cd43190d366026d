import type { FindOptions, Model, ModelStatic } from 'sequelize'
import type { CrudOptions } from '../types/options.js'
import type { Resource } from '../types/resource.js'
import { compile } from './compile/index.js'
import { readQuery } from './parse/list.js'
import { findOptions, storeOf } from './perform/index.js'
import { OPEN } from './plan/context.js'
import { planList } from './plan/list.js'

/** The query language of a resource without its routes. */
export interface ResourceQuery {
  readonly resource: Resource
  /**
   * The options for `Model.findAll` that answer a list request: `where`, `include`, `order`, `attributes`, `limit` and
   * `offset`, from the parameters of the query language by name. Cursor mode gives the page's size without the one
   * record more; count mode gives no window.
   *
   * @throws Problem (400) for whatever the list route would refuse
   */
  readonly toFindOptions: (query: Readonly<Record<string, unknown>>) => FindOptions
}

/** Compiles a model's query language, by the same options as `crudRouter`. @throws CrudConfigError */
export function queryOf<M extends Model>(model: ModelStatic<M>, options: CrudOptions<M> = {}): ResourceQuery {
  const resource = compile(model, options)
  return Object.freeze({
    resource,
    toFindOptions: (query: Readonly<Record<string, unknown>>): FindOptions => {
      const planned = planList(resource, readQuery(resource, query), OPEN)
      const store = storeOf(resource)
      const { where } = planned
      if (planned.kind === 'count') {
        const { limit, offset, ...rest } = findOptions(store, { where, columns: [], order: [], limit: 0, offset: 0 })
        return rest
      }
      const { order, pageSize, projection } = planned
      const offset = planned.kind === 'page' ? (planned.page - 1) * pageSize : 0
      return findOptions(store, { where, columns: projection.columns, order, limit: pageSize, offset })
    },
  })
}
