import type { JsonValue } from '../../../types/field.js'
import type { Predicate } from '../../../types/plan.js'
import type { Branch, LinkedBranch, ReplacedBranch, Work } from '../../../types/work.js'
import { ofOwn } from '../../common/columns.js'
import { get } from '../read.js'
import { beside, type Store } from '../store.js'
import { settled } from '../upsert.js'
import { isFaulty } from './errors.js'
import { type Relinking, relinkingOf, rowKeys, updateOf, wantedOf } from './links.js'

/**
 * Evaluates the policies of link changes before the transaction starts, as far as they are known: a policy may be slow
 * and may need its own connection. Inside the transaction, policies that were already evaluated are not evaluated
 * again.
 */
export async function preauthorize(store: Store, work: Work): Promise<void> {
  // The policies for new records follow from the body alone and were evaluated while planning.
  if (work.plan.kind === 'create' || work.plan.kind === 'bulkCreate' || isFaulty(work)) return
  try {
    await ahead(store, work)
  } catch {
    // The write reports errors and denials itself, in its own order.
  }
}

async function ahead(store: Store, { plan, branches = [], items = [] }: Work): Promise<void> {
  if (plan.kind === 'get' || plan.kind === 'update') await askOwner(store, plan.where, branches)
  if (plan.kind === 'bulkUpdate') {
    for (const [index, { key, where }] of plan.items.entries()) {
      await askOwner(store, where, (await items[index]?.there(key)) ?? [])
    }
  }
  const [holds] = items
  if (plan.kind === 'replace' && holds !== undefined) {
    const { key, where } = plan.update
    const isThere = await askOwner(store, where, await holds.there(key))
    if (!isThere) await askNew(holds.fresh)
  }
  // Every body has the same members, so if new records have no links, existing ones have none.
  if (plan.kind === 'upsert' && items.some(({ fresh }) => fresh.some(isOpen))) {
    const found = await settled(store, plan)
    for (const [index, item] of found.items.entries()) {
      if (item.kind === 'create') await askNew(items[index]?.fresh ?? [])
      else await askOwner(store, item.where, (await items[index]?.there(item.key)) ?? [])
    }
  }
}

/** Whether a policy applies to links of the record or of nested records. */
function isOpen(branch: Branch): boolean {
  if (branch.kind === 'linked') return branch.between.behaviours.admit !== null
  return branch.resource.holds.length > 0
}

/**
 * Evaluates the policies for a record's links and for links of nested records. Returns false if the record is missing.
 */
async function askOwner(store: Store, where: Predicate, branches: readonly Branch[]): Promise<boolean> {
  const open = branches.filter(isOpen)
  if (open.length === 0) return true
  const row = await get(store, { where, projection: ofOwn(open.map(({ tie }) => tie.source)) }, { main: true })
  if (row === null) return false
  for (const [index, branch] of open.entries()) {
    if (branch.kind === 'linked') await ask(await relinkingOf(store, branch, row[index], branch.groups[0] ?? []))
    if (branch.kind === 'replaced') await askElements(store, branch, branch.tie.source.decode(row[index]) ?? null)
  }
  return true
}

/** If clients may choose keys, only the transaction can tell whether an element is new. */
async function askElements(owner: Store, branch: ReplacedBranch, value: JsonValue): Promise<void> {
  if (branch.isChosen) return
  for (const element of branch.elements) {
    const key = element.isKept ? null : element.keyOf(value)
    if (key === null || key === undefined) continue
    const { plan, branches = [] } = (await branch.update(element, key)).work
    await askOwner(beside(owner, branch.resource), plan.where, branches)
  }
}

/** All links of a new record are new. */
async function askNew(branches: readonly Branch[]): Promise<void> {
  for (const branch of branches) {
    if (branch.kind === 'new') await askNew(branch.work.branches ?? [])
    if (branch.kind === 'linked') await askCreation(branch)
  }
}

async function askCreation(branch: LinkedBranch): Promise<void> {
  const wanted = wantedOf(branch)
  if (wanted.length > 0 && isOpen(branch)) await branch.create(wanted)
}

/** The policy for restoring a row was evaluated when the row was found. */
async function ask({ branch, removed, created, changed }: Relinking): Promise<void> {
  const gone = rowKeys(branch, [...removed.first.values()].flat())
  if (gone.length > 0) await branch.remove(gone)
  if (created.length > 0) await branch.create(created.map(({ wanted }) => wanted))
  for (const { wanted, row } of changed) await updateOf(branch, wanted, row)
}
