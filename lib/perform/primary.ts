import type { Request } from '../../types/express.js'
import type { Reply } from '../../types/reply.js'
import type { Resource } from '../../types/resource.js'
import { withPreference } from '../common/applied.js'
import { report } from '../common/report.js'
import { reportLogging } from '../sequelize/logging.js'
import { isReplicated, onPrimary } from '../sequelize/primary.js'
import { storeOf } from './store.js'

/** Where a request reads: a write from the primary, a read from a replica unless it prefers the primary. */
export interface ReadFrom {
  readonly isRead: boolean
  readonly isPreferred: boolean
}

/**
 * Runs a request with all its statements on the right server, including those of a streamed response. Errors of the host's `logging`
 * function are reported to `onError` and otherwise ignored.
 */
export function answeredFrom<T>(
  resource: Resource,
  request: Request,
  { isRead, isPreferred }: ReadFrom,
  work: () => T,
): T {
  const { sequelize } = storeOf(resource)
  return reportLogging(
    sequelize,
    (error) => report(error, request, resource.onError),
    () => (isRead && !isPreferred ? work() : onPrimary(sequelize, work)),
  )
}

/**
 * Adds headers to the reply of such a request. With replicas it varies by `Prefer`, even if this request did not send
 * it.
 */
export function replyFrom(resource: Resource, { isRead, isPreferred }: ReadFrom, reply: Reply): Reply {
  if (!isRead) return reply
  if (isPreferred) return { ...reply, headers: withPreference(reply.headers, 'read=primary') }
  return isReplicated(storeOf(resource).sequelize) ? { ...reply, headers: { ...reply.headers, Vary: 'Prefer' } } : reply
}
