import type { Plan } from '../../types/plan.js'
import { type Problem, problem } from '../common/problem.js'
import { codesOf, layersOf } from './failure.js'

// MySQL and MariaDB: too many tables, too many columns, packet too large, a join beyond `max_join_size`, too many
// placeholders, the thread's stack overrun, selects nested too deep.
const TOO_LARGE: ReadonlySet<unknown> = new Set([1116, 1117, 1153, 1104, 1390, 1436, 1473])

// PostgreSQL's class of program limits that were exceeded.
const PROGRAM_LIMIT = /^54[0-9A-Z]{3}$/

// SQLite has words only. Of more parameters than 65,535 PostgreSQL's driver sends another number than it has told.
const IN_WORDS =
  /^SQLITE_ERROR: (?:at most \d+ tables in a join|Expression tree is too large|parser stack overflow|variable number must be between|too many (?:SQL variables|columns in|terms in|FROM clause terms|references to)|LIKE or GLOB pattern too complex)|^bind message /

/** Whether the database refused a statement because it exceeds a limit of its own. */
function isTooLarge(error: unknown): boolean {
  if (codesOf(error).some((code) => TOO_LARGE.has(code) || PROGRAM_LIMIT.test(String(code)))) return true
  return layersOf(error).some(({ message = '' }) => IN_WORDS.test(message))
}

/** Whether the client has a part in how large a statement is: by a query or a body, not by a key alone. */
function isOfClient(plan: Plan): boolean {
  switch (plan.kind) {
    case 'page':
    case 'count':
    case 'keyset':
      return plan.isAsked
    case 'create':
    case 'update':
    case 'bulkCreate':
    case 'bulkDelete':
      return true
    case 'get':
    case 'delete':
    case 'restore':
      return false
  }
}

/**
 * The Problem that a statement is which the database has found too large, or null where it has not, or where the host
 * alone has made it so.
 */
export function overloadOf(error: unknown, plan: Plan): Problem | null {
  if (!isTooLarge(error) || !isOfClient(plan)) return null
  const isQuery = plan.kind === 'page' || plan.kind === 'count' || plan.kind === 'keyset'
  return problem(isQuery ? 'invalid-query' : 'validation', {
    detail: 'The request asks for more than the database takes.',
  })
}
