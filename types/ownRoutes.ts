import type { FindOptions } from 'sequelize'
import type { OperationName } from '../lib/operations.js'
import type { Request, RequestHandler } from './express.js'

/** What routes of the host's own need to treat callers as the resource's own routes do. */
export interface OwnRoutes {
  /**
   * A middleware that asks identity, policy and scope as that operation does. It answers those whom they refuse, with 401 or
   * 403, and calls `next` for the others.
   *
   * @throws CrudConfigError for a name that is no operation
   */
  readonly guard: (operation: OperationName) => RequestHandler
  /**
   * The options for `Model.findAll` under all that this caller may see: scope, masks, soft delete, and the policies of the
   * list and of paths. `query` has parameters of the list by name. There is a `limit` only where it has `page`, `pageSize` or
   * `cursor`.
   *
   * Rejects with a Problem: 401 and 403 where the list would, 400 for a query that the list would refuse.
   */
  readonly findOptions: (request: Request, query?: Readonly<Record<string, unknown>>) => Promise<FindOptions>
}
