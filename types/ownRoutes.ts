import type { FindOptions } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Request, RequestHandler } from './express.js'

/** Helpers for the host's own routes, which apply the resource's identity, policies and scope. */
export interface OwnRoutes {
  /**
   * Returns a middleware that evaluates identity, policy and scope of the operation. It answers 401 or 403, or calls
   * `next`.
   *
   * @throws CrudConfigError for an unknown operation
   */
  readonly guard: (operation: OperationName) => RequestHandler
  /**
   * Returns options for `Model.findAll` that select only data that the caller may read. They apply the scope, masks,
   * soft delete, and the policies of the list and its paths. `query` has list parameters by name. `limit` is set only
   * with `page`, `pageSize` or `cursor`.
   *
   * Rejects with a Problem: 401 and 403 as the list does, 400 for an invalid query.
   */
  readonly findOptions: (request: Request, query?: Readonly<Record<string, unknown>>) => Promise<FindOptions>
}
