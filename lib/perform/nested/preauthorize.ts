import type { JsonValue } from '../../../types/field.js'
import type { Predicate } from '../../../types/plan.js'
import type { ChildReplacement, LinkChange, NestedWrite, Work } from '../../../types/work.js'
import { projectOwnFields } from '../../common/columns.js'
import { readRecord } from '../read.js'
import { type StatementContext, storeInSameTransaction } from '../store.js'
import { resolveItems } from '../upsert.js'
import { hasWorkErrors } from './errors.js'
import { keysOfRows, type LinkDiff, linkTargetsOf, planLinkDiff, planRowUpdate } from './links.js'

/**
 * Evaluates the policies of foreseeable link changes before the transaction starts, because a policy may be slow or
 * need its own connection. The transaction does not evaluate a policy again.
 */
export async function preauthorize(store: StatementContext, work: Work): Promise<void> {
  // The policies for new records follow from the body alone and were evaluated while planning.
  if (work.plan.kind === 'create' || work.plan.kind === 'bulkCreate' || hasWorkErrors(work)) return
  try {
    await preauthorizeWork(store, work)
  } catch {
    // The write reports errors and denials itself, in its own order.
  }
}

async function preauthorizeWork(store: StatementContext, { plan, nestedWrites = [], items = [] }: Work): Promise<void> {
  if (plan.kind === 'get' || plan.kind === 'update') await preauthorizeParent(store, plan.where, nestedWrites)
  if (plan.kind === 'bulkUpdate') {
    for (const [index, { key, where }] of plan.items.entries()) {
      await preauthorizeParent(store, where, (await items[index]?.planExisting(key)) ?? [])
    }
  }
  const [itemWrites] = items
  if (plan.kind === 'replace' && itemWrites !== undefined) {
    const { key, where } = plan.update
    const isThere = await preauthorizeParent(store, where, await itemWrites.planExisting(key))
    if (!isThere) await preauthorizeNew(itemWrites.forNew)
  }
  // An item names equal relations in its bodies for an update and for a creation. If `forNew` has no links, an update
  // has no links either.
  if (plan.kind === 'upsert' && items.some(({ forNew }) => forNew.some(hasLinkPolicies))) {
    const found = await resolveItems(store, plan)
    for (const [index, item] of found.items.entries()) {
      if (item.kind === 'create') await preauthorizeNew(items[index]?.forNew ?? [])
      else await preauthorizeParent(store, item.where, (await items[index]?.planExisting(item.key)) ?? [])
    }
  }
}

/** Whether a policy applies to links of the record or of nested records. */
function hasLinkPolicies(nestedWrite: NestedWrite): boolean {
  if (nestedWrite.kind === 'linked') return nestedWrite.joinModelResource.behaviours.admit !== null
  return nestedWrite.resource.nestedRelations.length > 0
}

/**
 * Evaluates the policies for a record's links and for links of nested records. Returns false if the record is missing.
 */
async function preauthorizeParent(
  store: StatementContext,
  where: Predicate,
  nestedWrites: readonly NestedWrite[],
): Promise<boolean> {
  const open = nestedWrites.filter(hasLinkPolicies)
  if (open.length === 0) return true
  const row = await readRecord(
    store,
    { where, projection: projectOwnFields(open.map(({ binding }) => binding.source)) },
    { isFromPrimary: true },
  )
  if (row === null) return false
  for (const [index, nestedWrite] of open.entries()) {
    if (nestedWrite.kind === 'linked')
      await preauthorizeLinkDiff(await planLinkDiff(store, nestedWrite, row[index], nestedWrite.groups[0] ?? []))
    if (nestedWrite.kind === 'replaced')
      await preauthorizeElements(store, nestedWrite, nestedWrite.binding.source.decode(row[index]) ?? null)
  }
  return true
}

/**
 * Evaluates the link policies of a body's elements. Does nothing if clients may choose keys, because only the
 * transaction can determine which elements are new.
 */
async function preauthorizeElements(
  parentStore: StatementContext,
  replacement: ChildReplacement,
  value: JsonValue,
): Promise<void> {
  if (replacement.hasClientKeys) return
  for (const element of replacement.elements) {
    const key = element.isUnchanged ? null : element.keyOf(value)
    if (key === null || key === undefined) continue
    const { plan, nestedWrites = [] } = (await replacement.update(element, key)).work
    await preauthorizeParent(storeInSameTransaction(parentStore, replacement.resource), plan.where, nestedWrites)
  }
}

/** Evaluates the policies for the links of a new record, which are all inserted. */
async function preauthorizeNew(nestedWrites: readonly NestedWrite[]): Promise<void> {
  for (const nestedWrite of nestedWrites) {
    if (nestedWrite.kind === 'new') await preauthorizeNew(nestedWrite.work.nestedWrites ?? [])
    if (nestedWrite.kind === 'linked') await preauthorizeLinkInserts(nestedWrite)
  }
}

async function preauthorizeLinkInserts(linkChange: LinkChange): Promise<void> {
  const targets = linkTargetsOf(linkChange)
  if (targets.length > 0 && hasLinkPolicies(linkChange)) await linkChange.create(targets)
}

/** Evaluates the policies for planned link changes. The plan has already evaluated the policy for restored rows. */
async function preauthorizeLinkDiff({ linkChange, removed, created, changed }: LinkDiff): Promise<void> {
  const gone = keysOfRows(linkChange, [...removed.first.values()].flat())
  if (gone.length > 0) await linkChange.remove(gone)
  if (created.length > 0) await linkChange.create(created.map(({ linkTarget }) => linkTarget))
  for (const { linkTarget, row } of changed) await planRowUpdate(linkChange, linkTarget, row)
}
