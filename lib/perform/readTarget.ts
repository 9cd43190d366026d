import type { Request } from '../../types/express.js'
import type { Reply } from '../../types/reply.js'
import type { Resource } from '../../types/resource.js'
import { addAppliedPreference } from '../common/appliedPreference.js'
import { reportError } from '../common/report.js'
import { runWithLoggingReport } from '../sequelize/logging.js'
import { isReplicated, runOnPrimary } from '../sequelize/primary.js'
import { storeOf } from './store.js'

/** Server that a request uses. Writes use the primary. Reads use a replica, unless the client prefers the primary. */
export interface ReadTarget {
  readonly isRead: boolean
  readonly isPrimaryPreferred: boolean
}

/**
 * Runs a request with all its statements, also those of a streamed response, on the chosen server. Reports errors of
 * the host's `logging` function to `onError` and ignores them otherwise.
 */
export function withReadTarget<T>(
  resource: Resource,
  request: Request,
  { isRead, isPrimaryPreferred }: ReadTarget,
  work: () => T,
): T {
  const { sequelize } = storeOf(resource)
  const report = (error: unknown): void => reportError(error, request, resource.onError)
  const onTarget = isRead && !isPrimaryPreferred ? work : () => runOnPrimary(sequelize, work)
  return runWithLoggingReport(sequelize, report, onTarget)
}

/**
 * Adds headers to the reply of a read. With replicas, every reply varies by `Prefer`, also replies to requests without
 * `Prefer`.
 */
export function addReadTargetHeaders(
  resource: Resource,
  { isRead, isPrimaryPreferred }: ReadTarget,
  reply: Reply,
): Reply {
  if (!isRead) return reply
  if (isPrimaryPreferred) return { ...reply, headers: addAppliedPreference(reply.headers, 'read=primary') }
  return isReplicated(storeOf(resource).sequelize) ? { ...reply, headers: { ...reply.headers, Vary: 'Prefer' } } : reply
}
