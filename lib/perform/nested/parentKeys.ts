import type { Outcome } from '../../../types/outcome.js'
import type { BulkCreatePlan, PlainValue } from '../../../types/plan.js'
import type { BindingValues, ForeignKeyBinding, Work } from '../../../types/work.js'
import { indexOfOwnColumn } from '../../common/columns.js'
import { assertSameForeignKeys, NO_REFERENCED_VALUE } from '../../common/foreignKeyBinding.js'
import { internalError } from '../../common/internalError.js'
import { outcomeRows } from '../../common/outcomeRows.js'
import { toPlainValue } from '../../common/plainValue.js'
import { problem } from '../../common/problem.js'
import { type StatementContext, storeOf } from '../store.js'

/**
 * Adds foreign keys to the plan of new children.
 * @throws Problem 403 if the children's resource sets another parent itself, for example by a scope
 */
export function addParentKeys({ plan, resource }: Work<BulkCreatePlan>, bindingValues: BindingValues): BulkCreatePlan {
  for (const each of bindingValues) assertSameForeignKeys(resource, plan.serverValues, each)
  const records = plan.records.map((changes, index) => new Map([...changes, ...(bindingValues[index] ?? [])]))
  return { ...plan, records }
}

export function bindingValuesOf({ key, fixed }: ForeignKeyBinding, value: unknown): BindingValues[number] {
  // A record without a value in the referenced key cannot have children.
  if (value === null || value === undefined) {
    throw problem('conflict', { detail: NO_REFERENCED_VALUE })
  }
  const set: Iterable<readonly [string, PlainValue | null]> = [...fixed].map(([{ name }, each]) => [name, each])
  return new Map([[key.name, toPlainValue(key, value)], ...set])
}

/** Returns the values of the referenced key, one per record. */
export function referencedValuesOf(
  { plan }: Pick<Work, 'plan'>,
  outcome: Outcome,
  { source }: ForeignKeyBinding,
): readonly unknown[] {
  const columns = 'projection' in plan ? plan.projection.columns : []
  const index = indexOfOwnColumn(columns, source.name)
  return outcomeRows(outcome).map((row) => row[index])
}

/** Returns the store of a work's resource, in the same transaction. */
export function storeOfWork(
  { transaction, commitOrder }: StatementContext,
  { resource }: Pick<Work, 'resource'>,
): StatementContext {
  if (transaction === undefined)
    throw internalError(`nested records of ${resource.name} are written outside a transaction`)
  return { ...storeOf(resource), transaction, commitOrder }
}
