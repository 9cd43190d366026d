import type { Plan } from '../../types/plan.js'
import type { LinkedBranch, Work } from '../../types/work.js'
import { ofOwn } from '../common/columns.js'
import { isFaulty } from './faults.js'
import { chunksOf } from './linkRows.js'
import { type Relinking, relinkingOf } from './links.js'
import { get } from './read.js'
import type { Store } from './store.js'

/**
 * Asks those who have a say in what will become of links, as far as that can be told now: they may take their time, and a
 * connection of their own, before there is a transaction that holds one. What has become of the links by then is found out
 * within it, where what was asked is not asked again.
 */
export async function askAhead(store: Store, work: Work): Promise<void> {
  const { plan, branches = [] } = work
  const linked = branches.filter(isLinked).filter(({ between }) => between.behaviours.admit !== null)
  if (linked.length === 0 || !isOfOne(plan) || isFaulty(work)) return
  try {
    const projection = ofOwn(linked.map(({ tie }) => tie.source))
    const row = await get(store, { where: plan.where, projection }, { main: true })
    if (row === null) return
    for (const [index, branch] of linked.entries()) {
      await ask(await relinkingOf(store, branch, row[index], branch.groups[0] ?? []))
    }
  } catch {
    // What is wrong, and who refuses, the write itself tells in its own order.
  }
}

function isLinked(branch: NonNullable<Work['branches']>[number]): branch is LinkedBranch {
  return branch.kind === 'linked'
}

function isOfOne(plan: Plan): plan is Extract<Plan, { readonly where: object; readonly projection: object }> {
  return plan.kind === 'get' || plan.kind === 'update'
}

/** Who would bring a row back has been asked where it was found. */
async function ask({ branch, removed, created, changed }: Relinking): Promise<void> {
  for (const keys of chunksOf(removed)) await branch.remove(keys)
  if (created.length > 0) await branch.create(created.map(({ wanted }) => wanted))
  for (const { wanted, key } of changed) await branch.update(wanted, key)
}
