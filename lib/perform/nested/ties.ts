import type { Outcome, Row } from '../../../types/outcome.js'
import type { BulkCreatePlan, PlainValue } from '../../../types/plan.js'
import type { Tie, Ties, Work } from '../../../types/work.js'
import { placeOfOwn } from '../../common/columns.js'
import { plainOf } from '../../common/plain.js'
import { problem } from '../../common/problem.js'
import { assertTied } from '../../common/ties.js'
import { type Store, storeOf, within } from '../store.js'

/**
 * A plan for new children with their foreign keys.
 * @throws Problem 403 if the caller may only create records of other owners
 */
export function tied({ plan, resource }: Work<BulkCreatePlan>, ties: Ties): BulkCreatePlan {
  for (const each of ties) assertTied(resource, plan.upkeep, each)
  const records = plan.records.map((changes, index) => new Map([...changes, ...(ties[index] ?? [])]))
  return { ...plan, records }
}

export function tiesOf({ key, fixed }: Tie, value: unknown): Ties[number] {
  // A record without a value in the referenced key cannot have children.
  if (value === null || value === undefined) {
    throw problem('conflict', { detail: 'The record has no key that others could refer to.' })
  }
  const set: Iterable<readonly [string, PlainValue | null]> = [...fixed].map(([{ name }, each]) => [name, each])
  return new Map([[key.name, plainOf(key, value)], ...set])
}

/** Values of the referenced key, one per record. */
export function valuesOf({ plan }: Pick<Work, 'plan'>, outcome: Outcome, { source }: Tie): readonly unknown[] {
  const columns = 'projection' in plan ? plan.projection.columns : []
  const index = placeOfOwn(columns, source.name)
  return rowsOf(outcome).map((row) => row[index])
}

function rowsOf(outcome: Outcome): readonly Row[] {
  if (outcome.kind === 'record') return [outcome.row]
  return outcome.kind === 'records' ? outcome.rows : []
}

/** The store of another resource in the same transaction. */
export function behind({ transaction }: Store, { resource }: Pick<Work, 'resource'>): Store {
  if (transaction === undefined) throw new TypeError(`records of ${resource.name} are written without a transaction`)
  return within(storeOf(resource), transaction)
}
