import type { ComputedContext } from '../../types/computed.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { Plan, Projection } from '../../types/plan.js'
import type { Done } from '../../types/work.js'
import { resolveComputed, type ShownRows, showsComputed } from './computed.js'
import { heldRows } from './held.js'

/** Whether the reply to a plan shows a computed field of its own records. */
export function showsComputedIn(plan: Plan): boolean {
  return projectionsOf(plan).some(showsComputed)
}

/** The projections of the records in a reply. The reply to an upsert has only numbers. */
function projectionsOf(plan: Plan): readonly Projection[] {
  switch (plan.kind) {
    case 'bulkUpdate':
      return plan.items.map(({ projection }) => projection)
    case 'replace':
      return [plan.update.projection, ...(plan.create === null ? [] : [plan.create.projection])]
    case 'action':
      return plan.show === null ? [] : [plan.show.projection]
    default:
      return 'projection' in plan ? [plan.projection] : []
  }
}

/** The rows of the records in a reply, in order. Rows of an export are read later. */
export function shownRows(done: Done): readonly ShownRows[] {
  const { plan } = done.work
  return plan.kind === 'upsert' ? [] : [...ownRows(plan, done.outcome), ...heldRows(done)]
}

function ownRows(plan: Plan, outcome: Outcome): readonly ShownRows[] {
  if (outcome.kind === 'parts') return outcome.parts.flatMap((part) => ownRows(part.plan, part.outcome))
  if (outcome.kind === 'acted')
    return outcome.shown === null ? [] : [[outcome.shown.plan.projection, outcome.shown.rows]]
  if (outcome.kind === 'count' || outcome.kind === 'deleted' || outcome.kind === 'export') return []
  if (!('projection' in plan)) return []
  return [[plan.projection, outcome.kind === 'record' ? [outcome.row] : outcome.rows]]
}

/**
 * The batches of an export with resolved computed fields. The first one is resolved at once, while an error response is
 * still possible.
 */
export async function resolvedBatches(
  projection: Projection,
  batches: AsyncIterable<readonly Row[]>,
  context: ComputedContext,
): Promise<AsyncIterable<readonly Row[]>> {
  const pages = pagesOf(projection, batches, context)
  return following(pages, await pages.next())
}

type Pages = AsyncGenerator<readonly Row[], void, undefined>

async function* pagesOf(
  projection: Projection,
  batches: AsyncIterable<readonly Row[]>,
  context: ComputedContext,
): Pages {
  for await (const rows of batches) {
    await resolveComputed([[projection, rows]], context)
    yield rows
  }
}

async function* following(pages: Pages, first: IteratorResult<readonly Row[], void>): Pages {
  try {
    if (first.done !== true) yield first.value
    yield* pages
  } finally {
    await pages.return()
  }
}
