import type { ComputedContext } from '../../types/computed.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { Plan, Projection } from '../../types/plan.js'
import type { WriteResult } from '../../types/work.js'
import { hasComputedFields, resolveComputed, type ShownRows } from './computed.js'
import { nestedRowsOf } from './nestedRecords.js'

/** Whether the reply to a plan contains a computed field of its own records. */
export function hasComputedInReply(plan: Plan): boolean {
  return projectionsInReply(plan).some(hasComputedFields)
}

/** Returns the projections of the records in a reply. The reply to an upsert contains only numbers. */
function projectionsInReply(plan: Plan): readonly Projection[] {
  switch (plan.kind) {
    case 'bulkUpdate':
      return plan.items.map(({ projection }) => projection)
    case 'replace':
      return [plan.update.projection, ...(plan.create === null ? [] : [plan.create.projection])]
    case 'action':
      return plan.resultPlan === null ? [] : [plan.resultPlan.projection]
    default:
      return 'projection' in plan ? [plan.projection] : []
  }
}

/** Returns the rows of the records in a reply, in order. Rows of an export are read later. */
export function rowsInReply(done: WriteResult): readonly ShownRows[] {
  const { plan } = done.work
  return plan.kind === 'upsert' ? [] : [...rowsOfOutcome(plan, done.outcome), ...nestedRowsOf(done)]
}

function rowsOfOutcome(plan: Plan, outcome: Outcome): readonly ShownRows[] {
  if (outcome.kind === 'parts') return outcome.parts.flatMap((part) => rowsOfOutcome(part.plan, part.outcome))
  if (outcome.kind === 'action')
    return outcome.returned === null ? [] : [[outcome.returned.plan.projection, outcome.returned.rows]]
  if (outcome.kind === 'count' || outcome.kind === 'deleted' || outcome.kind === 'export') return []
  if (!('projection' in plan)) return []
  return [[plan.projection, outcome.kind === 'record' ? [outcome.row] : outcome.rows]]
}

/**
 * Resolves the computed fields in the batches of an export. The first batch is resolved at once, while an error
 * response is still possible.
 */
export async function resolveBatches(
  projection: Projection,
  batches: AsyncIterable<readonly Row[]>,
  context: ComputedContext,
): Promise<AsyncIterable<readonly Row[]>> {
  const pages = resolvePages(projection, batches, context)
  return prependPage(pages, await pages.next())
}

type RowPages = AsyncGenerator<readonly Row[], void, undefined>

async function* resolvePages(
  projection: Projection,
  batches: AsyncIterable<readonly Row[]>,
  context: ComputedContext,
): RowPages {
  for await (const rows of batches) {
    await resolveComputed([[projection, rows]], context)
    yield rows
  }
}

async function* prependPage(pages: RowPages, first: IteratorResult<readonly Row[], void>): RowPages {
  try {
    if (first.done !== true) yield first.value
    yield* pages
  } finally {
    await pages.return()
  }
}
