import type { Outcome } from '../../../types/outcome.js'
import type { ReplacePlan } from '../../../types/plan.js'
import type { Done, Work } from '../../../types/work.js'
import { refuse } from '../../common/bodyErrors.js'
import { problem } from '../../common/problem.js'
import { WrittenSize } from '../../common/responseSize.js'
import { bulkUpdate } from '../bulkUpdate.js'
import { isDeadlock } from '../failure.js'
import { replace } from '../replace.js'
import { asked, assertAllStorable, newWorks } from '../scoped/ask.js'
import { knownBefore } from '../scoped/before.js'
import type { Children, Write as WriteItem } from '../several.js'
import { forOneRecord } from '../spelled.js'
import type { Store } from '../store.js'
import { limited, markRaced } from '../transaction.js'
import { upsert } from '../upsert.js'
import { type Means, Removals, type Write } from './diff.js'
import { attributed, errorsOf, isFaulty, withErrorsOf } from './errors.js'
import { insertChildren } from './insert.js'
import { childrenOfItems } from './items.js'
import { relinkOne } from './links.js'
import { updateOwner } from './owner.js'

/**
 * Executes a work with its branches. The store must be in a transaction. Owners are written first, because children
 * refer to their keys.
 */
export async function executeWork(store: Store, work: Work, write: Write): Promise<Done> {
  const means: Means = {
    write,
    execute: (inside, part) => executePart(inside, part, means),
    removals: new Removals(),
    size: new WrittenSize(store.resource.limits.responseBytes),
  }
  try {
    return await means.execute(store, work)
  } catch (error) {
    // Requests that write the same nested records in another order may deadlock with it repeatedly.
    throw isDeadlock(error, store.dialect) ? markRaced(error) : error
  }
}

function executePart(store: Store, work: Work, means: Means): Promise<Done> {
  const { plan } = work
  switch (plan.kind) {
    case 'get':
      return forOneRecord(store, plan, (one) => relinkOne(store, { ...work, plan: one }, means.write))
    case 'update':
      return forOneRecord(store, plan, (one) => updateOwner(store, { ...work, plan: one }, means))
    case 'replace':
      return replaceOrInsert(store, { ...work, plan }, means)
    case 'bulkUpdate':
      return executeItems(work, means, (write, children) => bulkUpdate(store, plan, write, children))
    case 'upsert':
      return executeItems(work, means, (write, children) => upsert(store, plan, write, children))
    default:
      return insertNew(store, work, means)
  }
}

async function insertNew(store: Store, given: Work, means: Means): Promise<Done> {
  const work = await assertedNew(store, given)
  const outcome = await attributed(store, work, () => means.write(store, work))
  countNew(work, outcome, means.size)
  return { work, outcome, ...(await insertChildren(store, work, outcome, means)) }
}

/** A new record's work, after checking the scopes of its own and all nested records. @throws Problem 400 or 403 */
async function assertedNew(store: Store, work: Work): Promise<Work> {
  const { plan } = work
  const isNew = plan.kind === 'create' || plan.kind === 'bulkCreate'
  // Without a scope in the request nothing is known from before it.
  if (!isNew || plan.isAsked === true || knownBefore(store) === null) return work
  try {
    await assertAllStorable(store, newWorks(work))
  } catch (error) {
    refuse('validation', await limited(store, () => errorsOf([work])))
    throw error
  }
  return asked(work)
}

function countNew({ plan }: Work, outcome: Outcome, size: WrittenSize): void {
  if (plan.kind === 'create' && outcome.kind === 'record') size.add(plan.projection, [outcome.row], [plan.changes])
  if (plan.kind === 'bulkCreate' && outcome.kind === 'records') size.add(plan.projection, outcome.rows, plan.records)
}

/** Updates the record with its nested elements, or creates it with them. */
async function replaceOrInsert(store: Store, work: Work<ReplacePlan>, means: Means): Promise<Done> {
  const { resource, plan, pointers, items: [holds] = [] } = work
  const parts: Done[] = []
  const outcome = await replace(store, plan, async (inside, own) => {
    const branches = own.kind === 'create' ? holds?.fresh : await holds?.there(own.key)
    const part: Work = { resource, plan: own, pointers, branches: branches ?? [] }
    if (own.kind === 'create' && isFaulty(part)) throw problem('validation', { errors: await errorsOf([part]) })
    const done = await withErrorsOf(
      () => [part],
      () => means.execute(inside, part),
    )
    parts.push(done)
    return done.outcome
  })
  return { work, outcome, held: parts.flatMap(({ held }) => held), parts: parts.flatMap((done) => done.parts) }
}

/** Several records, each with nested elements. */
async function executeItems(
  work: Work,
  means: Means,
  carryOut: (write: WriteItem, children: Children) => Promise<Outcome>,
): Promise<Done> {
  const { resource, pointers, items = [] } = work
  const children = childrenOfItems(items, means)
  const write: WriteItem = (inside, plan) => means.write(inside, { resource, plan, pointers })
  const outcome = await withErrorsOf(children.works, () => carryOut(write, children))
  return { work, outcome, ...children.done() }
}
