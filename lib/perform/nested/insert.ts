import type { Outcome } from '../../../types/outcome.js'
import type { ChildInserts, NestedResult, ResultRecord, Work, WriteResult, WrittenPart } from '../../../types/work.js'
import type { Store } from '../store.js'
import type { WorkExecution } from './diff.js'
import { collectErrors } from './errors.js'
import { findLinkedRecords } from './joinRows.js'
import { linkNewParents, linkTargetsOf } from './links.js'
import { addParentKeys, bindingValuesOf, referencedValuesOf, storeOfWork } from './parentKeys.js'

/** Inserts and links the children of new records that are already written. */
export async function insertChildren(
  store: Store,
  { resource, plan, nestedWrites = [] }: Pick<Work, 'resource' | 'plan' | 'nestedWrites'>,
  outcome: Outcome,
  means: WorkExecution,
): Promise<Pick<WriteResult, 'nested' | 'parts'>> {
  const held: NestedResult[] = []
  const parts: WrittenPart[] = []
  await collectErrors(nestedWrites, async (branch, isDoomed) => {
    const values = referencedValuesOf({ plan }, outcome, branch.binding)
    if (branch.kind === 'linked') {
      if (isDoomed) await findLinkedRecords(store, branch, linkTargetsOf(branch))
      else held.push(...(await linkNewParents(store, branch, values, means.write, parts)))
      return
    }
    if (branch.kind === 'replaced')
      throw new TypeError(`a new record of ${resource.name} replaces those of ${branch.json}`)
    if (isDoomed) return
    const done = await insertInto(storeOfWork(store, branch), branch, values, means)
    if (done !== null) parts.push({ result: done, caller: branch.caller })
    held.push(...nestedResultsOf(branch, done))
  })
  return { nested: held, parts }
}

async function insertInto(
  store: Store,
  { work, binding, groups }: ChildInserts,
  values: readonly unknown[],
  { execute }: WorkExecution,
): Promise<WriteResult | null> {
  if (work.plan.records.length === 0) return null
  const owners = new Map(groups.flatMap((group, owner) => (group ?? []).map((index) => [index, owner] as const)))
  const ties = work.plan.records.map((_, index) => bindingValuesOf(binding, values[owners.get(index) ?? -1]))
  return execute(store, { ...work, plan: addParentKeys(work, ties) })
}

function nestedResultsOf({ groups, json, many }: ChildInserts, done: WriteResult | null): readonly NestedResult[] {
  return groups.flatMap((group, owner): NestedResult[] => {
    if (group === undefined) return []
    const shown = done === null ? [] : (group ?? []).map((index): ResultRecord => ({ result: done, index }))
    return [{ parentIndex: owner, json, value: many ? shown : (shown[0] ?? null) }]
  })
}
