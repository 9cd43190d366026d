import type { Request } from '../../types/express.js'
import type { Resource } from '../../types/resource.js'
import { report } from '../common/report.js'
import { reportLogging } from '../sequelize/logging.js'
import { storeOf } from './store.js'

/**
 * Runs the work of a request. Errors of the host's `logging` function are reported to `onError` and otherwise ignored.
 */
export function withLogging<T>(resource: Resource, request: Request, work: () => T): T {
  return reportLogging(storeOf(resource).sequelize, (error) => report(error, request, resource.onError), work)
}
