import type { Outcome } from '../../../types/outcome.js'
import type { ReplacePlan } from '../../../types/plan.js'
import type { Work, WriteResult } from '../../../types/work.js'
import { refuse } from '../../common/bodyErrors.js'
import { problem } from '../../common/problem.js'
import { WrittenSize } from '../../common/responseSize.js'
import { performBulkUpdate } from '../bulkUpdate.js'
import type { ItemsChildren, ItemWriter as WriteItem } from '../items.js'
import { performReplace } from '../replace.js'
import { requestHistoryOf } from '../scoped/requestHistory.js'
import { assertAllWithinScope, markScopeChecked, newWorksIn } from '../scoped/scopeChecks.js'
import { refreshResult } from '../staleRows.js'
import type { StatementContext } from '../store.js'
import { withWriteTimeout } from '../transaction.js'
import { performUpsert } from '../upsert.js'
import { withKeySpelling } from '../uuidSpellings.js'
import { WriteSequence } from '../writeSequence.js'
import { RemovalCounter, type WorkExecution, type WorkWriter } from './diff.js'
import { attributeErrors, errorsOfWorks, hasWorkErrors, withErrorsOfWorks } from './errors.js'
import { insertChildren } from './insert.js'
import { createItemChildren } from './items.js'
import { executeLinkChange } from './links.js'
import { updateParent } from './parent.js'

/**
 * Executes a write with its nested writes. The store must be in a transaction. Parents are written first, because
 * children refer to their parents' keys.
 */
export async function executeWork(store: StatementContext, work: Work, write: WorkWriter): Promise<WriteResult> {
  const sequence = new WriteSequence()
  const execution: WorkExecution = {
    write: async (inside, part) => {
      const outcome = await write(inside, part)
      sequence.noteWrite(inside, part.plan, outcome)
      return outcome
    },
    execute: (inside, part) => executePart(inside, part, execution),
    removals: new RemovalCounter(),
    writtenSize: new WrittenSize(store.resource.limits.responseBytes),
    sequence,
  }
  return await refreshResult(store, await execution.execute(store, work), sequence)
}

function executePart(store: StatementContext, work: Work, execution: WorkExecution): Promise<WriteResult> {
  const { plan } = work
  switch (plan.kind) {
    case 'get':
      return withKeySpelling(store, plan, (one) => executeLinkChange(store, { ...work, plan: one }, execution.write))
    case 'update':
      return withKeySpelling(store, plan, (one) => updateParent(store, { ...work, plan: one }, execution))
    case 'replace':
      return replaceOrInsert(store, { ...work, plan }, execution)
    case 'bulkUpdate':
      return executeItems(work, execution, (write, children) => performBulkUpdate(store, plan, write, children))
    case 'upsert':
      return executeItems(work, execution, (write, children) => performUpsert(store, plan, write, children))
    default:
      return insertWithChildren(store, work, execution)
  }
}

async function insertWithChildren(
  store: StatementContext,
  given: Work,
  execution: WorkExecution,
): Promise<WriteResult> {
  const work = await assertNewStorable(store, given)
  const outcome = await attributeErrors(store, work, () => execution.write(store, work))
  const { plan } = work
  if (plan.kind === 'create' && outcome.kind === 'record')
    execution.writtenSize.add(plan.projection, [outcome.row], [plan.changes])
  if (plan.kind === 'bulkCreate' && outcome.kind === 'records')
    execution.writtenSize.add(plan.projection, outcome.rows, plan.records)
  return { work, outcome, ...(await insertChildren(store, work, outcome, execution)) }
}

/**
 * Checks that scopes admit a new record and all its nested records. Returns the work, marked as checked.
 * @throws Problem 400 if values are invalid, or 403 if a scope rejects a record
 */
async function assertNewStorable(store: StatementContext, work: Work): Promise<Work> {
  const { plan } = work
  const isNew = plan.kind === 'create' || plan.kind === 'bulkCreate'
  // A request without scope conditions has no history and needs no check.
  if (!isNew || plan.isScopeChecked === true || requestHistoryOf(store) === null) return work
  try {
    await assertAllWithinScope(store, newWorksIn(work))
  } catch (error) {
    refuse('validation', await withWriteTimeout(store, () => errorsOfWorks(store, [work])))
    throw error
  }
  return markScopeChecked(work)
}

/** Executes a PUT with nested records: updates the record, or creates the record. */
async function replaceOrInsert(
  store: StatementContext,
  work: Work<ReplacePlan>,
  execution: WorkExecution,
): Promise<WriteResult> {
  const { resource, plan, foreignKeyChecks, items: [itemWrites] = [] } = work
  const parts: WriteResult[] = []
  const outcome = await performReplace(store, plan, async (inside, own) => {
    const nestedWrites = own.kind === 'create' ? itemWrites?.forNew : await itemWrites?.planExisting(own.key)
    const part: Work = { resource, plan: own, foreignKeyChecks, nestedWrites: nestedWrites ?? [] }
    if (own.kind === 'create' && hasWorkErrors(part))
      throw problem('validation', { errors: await errorsOfWorks(inside, [part]) })
    const done = await withErrorsOfWorks(
      () => [part],
      () => execution.execute(inside, part),
    )
    parts.push(done)
    return done.outcome
  })
  return { work, outcome, nested: parts.flatMap(({ nested }) => nested), parts: parts.flatMap((done) => done.parts) }
}

/** Executes a batch of records with nested records. */
async function executeItems(
  work: Work,
  execution: WorkExecution,
  carryOut: (write: WriteItem, children: ItemsChildren) => Promise<Outcome>,
): Promise<WriteResult> {
  const { resource, foreignKeyChecks, items = [] } = work
  const children = createItemChildren(items, execution)
  const writeItem: WriteItem = (inside, plan) => execution.write(inside, { resource, plan, foreignKeyChecks })
  const outcome = await withErrorsOfWorks(children.works, () => carryOut(writeItem, children))
  return { work, outcome, ...children.nestedResults() }
}
