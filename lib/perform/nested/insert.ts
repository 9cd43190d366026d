import type { Outcome } from '../../../types/outcome.js'
import type { Done, Held, NewBranch, Part, Shown, Work } from '../../../types/work.js'
import type { Store } from '../store.js'
import type { Means } from './diff.js'
import { collecting } from './errors.js'
import { pairsOf } from './linkRows.js'
import { linkNew, wantedOf } from './links.js'
import { behind, tied, tiesOf, valuesOf } from './ties.js'

/** Inserts and links the nested elements of new records, after these records. */
export async function insertChildren(
  store: Store,
  { resource, plan, branches = [] }: Pick<Work, 'resource' | 'plan' | 'branches'>,
  outcome: Outcome,
  means: Means,
): Promise<Pick<Done, 'held' | 'parts'>> {
  const held: Held[] = []
  const parts: Part[] = []
  await collecting(branches, async (branch, isDoomed) => {
    const values = valuesOf({ plan }, outcome, branch.tie)
    if (branch.kind === 'linked') {
      if (isDoomed) await pairsOf(store, branch, wantedOf(branch))
      else held.push(...(await linkNew(store, branch, values, means.write, parts)))
      return
    }
    if (branch.kind === 'replaced')
      throw new TypeError(`a new record of ${resource.name} replaces those of ${branch.json}`)
    if (isDoomed) return
    const done = await insertInto(behind(store, branch), branch, values, means)
    if (done !== null) parts.push({ done, caller: branch.caller })
    held.push(...heldBy(branch, done))
  })
  return { held, parts }
}

async function insertInto(
  store: Store,
  { work, tie, groups }: NewBranch,
  values: readonly unknown[],
  { execute }: Means,
): Promise<Done | null> {
  if (work.plan.records.length === 0) return null
  const owners = new Map(groups.flatMap((group, owner) => (group ?? []).map((index) => [index, owner] as const)))
  const ties = work.plan.records.map((_, index) => tiesOf(tie, values[owners.get(index) ?? -1]))
  return execute(store, { ...work, plan: tied(work, ties) })
}

function heldBy({ groups, json, many }: NewBranch, done: Done | null): readonly Held[] {
  return groups.flatMap((group, owner): Held[] => {
    if (group === undefined) return []
    const shown = done === null ? [] : (group ?? []).map((index): Shown => ({ done, index }))
    return [{ owner, json, value: many ? shown : (shown[0] ?? null) }]
  })
}
