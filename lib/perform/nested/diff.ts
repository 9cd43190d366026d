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
import type { Branch, Done, Faults, Held, Part, Planned, ReplacedBranch, Work } from '../../../types/work.js'
import { allErrors, errorsAt, refuse } from '../../common/bodyErrors.js'
import { both } from '../../common/predicates.js'
import type { WrittenSize } from '../../common/responseSize.js'
import type { Store } from '../store.js'
import { attributed } from './errors.js'

/** Executes a plan without its branches. */
export type Write = (store: Store, work: Work) => Promise<Outcome>

/** How the parts of a write are carried out. */
export interface Means {
  readonly write: Write
  /** Executes a plan with its branches. */
  readonly execute: (store: Store, work: Work) => Promise<Done>
  readonly removals: Removals
  /** Counts the bytes of the records in the answer. */
  readonly size: WrittenSize
}

/**
 * The changes of the records behind one relation of one owner, planned and checked before any of them is written. The relations of
 * these records are planned when the records are written.
 */
export interface Diff {
  readonly branch: Branch
  /** Errors that are known only after the owner was read. */
  readonly errors: Faults
  /** The writes whose values may have errors. */
  readonly works: readonly Work[]
  /** Plans the writes as they will be stored, with what makes the records the owner's. */
  readonly storing: () => Promise<readonly Storing[]>
  readonly versions: readonly Versioned[]
  /** Deletes or unlinks, updates, and inserts or links, in this order. Returns the member of the owner in the reply. */
  readonly execute: (value: unknown, means: Means, parts: Part[]) => Promise<Held['value']>
}

/** Counts the records that an attempt at a request deletes because its bodies do not have them. */
export class Removals {
  #count = 0

  /** @throws Problem if there are more than a request may delete */
  add(count: number, { spare, overflow }: Pick<ReplacedBranch, 'spare' | 'overflow'>): void {
    this.#count += count
    if (this.#count > spare) throw overflow()
  }
}

/** Executes a part of a diff without branches, and adds it to the parts that were written. */
export async function put(store: Store, { work, caller }: Planned<Plan>, write: Write, parts: Part[]): Promise<Done> {
  const outcome = await attributed(store, work, () => write(store, work))
  const done: Done = { work, outcome, held: [], parts: [] }
  parts.push({ done, caller })
  return done
}

/** A write that conditions are asked about before the first one. */
export type Storing = Work<CreatePlan | BulkCreatePlan | UpdatePlan>

/** A record that is about to be changed, the version that it must have, and what is stored of that. */
export interface Versioned {
  readonly resource: Resource
  readonly place: string
  readonly precondition: Precondition
  readonly stored: unknown
}

/** @throws Problem 428, then 412, with the places of all records that lack what they need */
export function refuseVersions(all: readonly Versioned[]): void {
  const name = all[0]?.precondition.field.json
  const at = (those: readonly Versioned[], code: 'version' | 'stale'): Faults =>
    allErrors(those.map(({ resource, place }) => errorsAt(resource, [place], code)))
  const missing = all.filter(({ precondition }) => precondition.where === null)
  const send = `Send with each record the version that you last read, as "${name}".`
  refuse('precondition-required', at(missing, 'version'), send)
  const stale = all.filter(({ precondition, stored }) => !precondition.isMet(stored))
  const again = `Some records have changed. Read them again and send their current versions as "${name}".`
  refuse('precondition-failed', at(stale, 'stale'), again)
}

/** A plan with a further condition. */
export function limitedTo<P extends UpdatePlan | BulkDeletePlan>(
  planned: Planned<P>,
  and: Predicate | null,
): Planned<P> {
  const { work } = planned
  return { ...planned, work: { ...work, plan: { ...work.plan, where: both(work.plan.where, and) } } }
}
