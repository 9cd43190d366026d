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

/** Executes a plan without its nested branches. */
export type Write = (store: Store, work: Work) => Promise<Outcome>

/** Helpers for executing the parts of a write. */
export interface Means {
  readonly write: Write
  /** Executes a plan with its nested branches. */
  readonly execute: (store: Store, work: Work) => Promise<Done>
  readonly removals: Removals
  /** Size of the records in the response. */
  readonly size: WrittenSize
}

/**
 * The planned changes of one relation of one owner, checked before the first write. Deeper relations are planned when
 * their own records are written.
 */
export interface Diff {
  readonly branch: Branch
  /** Errors that are known only after the owner was read. */
  readonly errors: Faults
  /** Writes whose values may be invalid. */
  readonly works: readonly Work[]
  /** Plans the writes with the foreign keys of the owner, for checks of scopes. */
  readonly storing: () => Promise<readonly Storing[]>
  readonly versions: readonly Versioned[]
  /** Deletes or unlinks, updates, then inserts or links. Returns the owner's member in the response. */
  readonly execute: (value: unknown, means: Means, parts: Part[]) => Promise<Held['value']>
}

/** Counts the children that a request deletes because its bodies omit them. */
export class Removals {
  #count = 0

  /** @throws Problem if the request deletes more than the limit */
  add(count: number, { spare, overflow }: Pick<ReplacedBranch, 'spare' | 'overflow'>): void {
    this.#count += count
    if (this.#count > spare) throw overflow()
  }
}

/** Executes a part of a diff without branches, and adds it to the written parts. */
export async function put(store: Store, { work, caller }: Planned<Plan>, write: Write, parts: Part[]): Promise<Done> {
  const outcome = await attributed(store, work, () => write(store, work))
  const done: Done = { work, outcome, held: [], parts: [] }
  parts.push({ done, caller })
  return done
}

/** A write whose scope conditions are checked before the first write. */
export type Storing = Work<CreatePlan | BulkCreatePlan | UpdatePlan>

/** A record that will be changed, with its precondition and its stored version. */
export interface Versioned {
  readonly resource: Resource
  readonly place: string
  readonly precondition: Precondition
  readonly stored: unknown
}

/** @throws Problem 428, then 412, with the positions of all records that fail their precondition */
export function refuseVersions(all: readonly Versioned[]): void {
  const name = all[0]?.precondition.field.json
  const at = (those: readonly Versioned[], code: 'version' | 'stale'): Faults =>
    allErrors(those.map(({ resource, place }) => errorsAt(resource, [place], code)))
  const missing = all.filter(({ precondition }) => precondition.where === null)
  const send = `Send the version that you last read with each record, as "${name}".`
  refuse('precondition-required', at(missing, 'version'), send)
  const stale = all.filter(({ precondition, stored }) => !precondition.isMet(stored))
  const again = `Some records have changed. Read them again and send their current versions as "${name}".`
  refuse('precondition-failed', at(stale, 'stale'), again)
}

/** Adds a condition to a plan. */
export function limitedTo<P extends UpdatePlan | BulkDeletePlan>(
  planned: Planned<P>,
  and: Predicate | null,
): Planned<P> {
  const { work } = planned
  return { ...planned, work: { ...work, plan: { ...work.plan, where: both(work.plan.where, and) } } }
}
