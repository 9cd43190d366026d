import type { Outcome } from '../../../types/outcome.js'
import type {
  BulkCreatePlan,
  BulkDeletePlan,
  CreatePlan,
  Plan,
  Precondition,
  Predicate,
  UpdatePlan,
} from '../../../types/plan.js'
import type { Resource } from '../../../types/resource.js'
import type {
  ChildReplacement,
  ErrorsByPlace,
  NestedResult,
  NestedWrite,
  PlannedPart,
  Work,
  WriteResult,
  WrittenPart,
} from '../../../types/work.js'
import { errorsAt, mergeErrors, refuse } from '../../common/bodyErrors.js'
import { addCondition } from '../../common/predicates.js'
import type { Problem } from '../../common/problem.js'
import type { WrittenSize } from '../../common/responseSize.js'
import type { StatementContext } from '../store.js'
import type { WriteSequence } from '../writeSequence.js'
import { attributeErrors } from './errors.js'

/** Executes a plan without its nested writes. */
export type WorkWriter = (store: StatementContext, work: Work) => Promise<Outcome>

/** Helpers for executing the parts of a write. */
export interface WorkExecution {
  readonly write: WorkWriter
  /** Executes a plan with its nested writes. */
  readonly execute: (store: StatementContext, work: Work) => Promise<WriteResult>
  readonly removals: RemovalCounter
  /** Counts the bytes of the response, and throws a Problem above the limit. */
  readonly writtenSize: WrittenSize
  /** The order of all writes, to find rows that a later write makes stale. */
  readonly sequence: WriteSequence
}

/**
 * Planned changes of one relation of one parent, checked before the first write. Relations of the children are planned
 * again when the children are written, because hooks may change records meanwhile.
 */
export interface Diff {
  readonly nestedWrite: NestedWrite
  /** Elements without a record, which a 404 names. */
  readonly missing: ErrorsByPlace
  /** The denial of a deletion. Missing records are reported before it. */
  readonly denial: Problem | null
  /** Errors that are known only after the parent was read. */
  readonly errors: ErrorsByPlace
  /** A conflict that is reported if nothing else is wrong. */
  readonly conflict: Problem | null
  /** Writes whose values may be invalid. */
  readonly works: readonly Work[]
  /** Plans the writes, with foreign keys to the parent, so that scopes can be checked. */
  readonly planPendingWrites: () => Promise<readonly PendingWrite[]>
  readonly versionChecks: readonly VersionCheck[]
  /** Deletes or unlinks, updates, then inserts or links the children. Returns the relation's value for the response. */
  readonly execute: (value: unknown, execution: WorkExecution, parts: WrittenPart[]) => Promise<NestedResult['value']>
}

/** Counts the children that a request deletes because its bodies omit them. */
export class RemovalCounter {
  #count = 0

  /** @throws Problem if the request deletes more than the limit */
  add(
    count: number,
    { remainingDeletes, createLimitError }: Pick<ChildReplacement, 'remainingDeletes' | 'createLimitError'>,
  ): void {
    this.#count += count
    if (this.#count > remainingDeletes) throw createLimitError()
  }
}

/** Executes one part of a diff without its nested writes, and appends the result to `parts`. */
export async function executePlanned(
  store: StatementContext,
  { work, caller }: PlannedPart<Plan>,
  write: WorkWriter,
  parts: WrittenPart[],
): Promise<WriteResult> {
  const outcome = await attributeErrors(store, work, () => write(store, work))
  const done: WriteResult = { work, outcome, nested: [], parts: [] }
  parts.push({ result: done, caller })
  return done
}

/** A write whose scope conditions are checked before the first write. */
export type PendingWrite = Work<CreatePlan | BulkCreatePlan | UpdatePlan>

/** Precondition and stored version of a record that will be changed. */
export interface VersionCheck {
  readonly resource: Resource
  readonly place: string
  readonly precondition: Precondition
  readonly stored: unknown
}

/**
 * Checks the preconditions of all records.
 * @throws Problem 428 with the positions of records without a version
 * @throws Problem 412 with the positions of records whose version has changed
 */
export function assertVersions(all: readonly VersionCheck[]): void {
  const name = all[0]?.precondition.field.json
  const errorsFor = (those: readonly VersionCheck[], code: 'version' | 'stale'): ErrorsByPlace =>
    mergeErrors(those.map(({ resource, place }) => errorsAt(resource, [place], code)))
  const missing = all.filter(({ precondition }) => precondition.where === null)
  const send = `Send the version that you last read with each record, as "${name}".`
  refuse('precondition-required', errorsFor(missing, 'version'), send)
  const stale = all.filter(({ precondition, stored }) => !precondition.isMet(stored))
  const again = `Some records have changed. Read them again and send their current versions as "${name}".`
  refuse('precondition-failed', errorsFor(stale, 'stale'), again)
}

/** Adds a condition to a plan. */
export function limitPlan<P extends UpdatePlan | BulkDeletePlan>(
  planned: PlannedPart<P>,
  and: Predicate | null,
): PlannedPart<P> {
  const { work } = planned
  return { ...planned, work: { ...work, plan: { ...work.plan, where: addCondition(work.plan.where, and) } } }
}
