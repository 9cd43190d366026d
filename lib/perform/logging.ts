import type { Request } from '../../types/express.js'
import type { Resource } from '../../types/resource.js'
import { report } from '../common/report.js'
import { reportLogging } from '../sequelize/logging.js'
import { storeOf } from './store.js'

/** Does the work of a request. Errors of the host's `logging` meanwhile go to `onError`, and change nothing else. */
export function withLogging<T>(resource: Resource, request: Request, work: () => T): T {
  return reportLogging(storeOf(resource).sequelize, (error) => report(error, request, resource.onError), work)
}
