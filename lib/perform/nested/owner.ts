import type { Outcome, Row } from '../../../types/outcome.js'
import type { UpdatePlan } from '../../../types/plan.js'
import type { Branch, Done, Held, Part, Work } from '../../../types/work.js'
import { allErrors, hasErrors, refuse } from '../../common/bodyErrors.js'
import { lockedRecord } from '../refusal.js'
import { asked, assertAllStorable } from '../scoped/ask.js'
import { knownBefore } from '../scoped/before.js'
import { type Store, storeOf, within } from '../store.js'
import { diffChildren, inPlace } from './children.js'
import { type Diff, type Means, Removals, refuseVersions, type Storing } from './diff.js'
import { attributed, collecting, errorsOf, isFaulty, withErrorsOf } from './errors.js'
import { diffLinks } from './links.js'
import { valuesOf } from './ties.js'

/** Branches of an owner's body, each with the owner's key that its records refer to. */
export interface OwnerValues {
  readonly branches: readonly Branch[]
  readonly values: readonly unknown[]
}

/**
 * Updates a record and replaces its nested elements. The owner's row is locked first, so that concurrent replacements
 * of a collection run one after the other. All checks run before the first write.
 * @throws Problem 404, 403, 428, 412, 400, in this order, with the positions of the elements
 */
export async function updateOwner(store: Store, work: Work<UpdatePlan>, means: Means): Promise<Done> {
  const { plan, branches = [] } = work
  const values = await lockedOwner(store, plan, branches)
  const [diffs = []] = await diffsOf(store, [{ branches, values }], means)
  refuseOwner(plan, values.at(-1))
  refuseVersions(diffs.flatMap(({ versions }) => versions))
  const works = [work, ...diffs.flatMap((diff) => diff.works)]
  const errors = allErrors(diffs.map((diff) => diff.errors))
  if (hasErrors(errors) || works.some(isFaulty)) refuse('validation', { ...(await errorsOf(works)), ...errors })
  await assertAllStorable(store, [work, ...(await storingOf(store, diffs, means))])
  return withErrorsOf(
    () => works,
    async () => {
      const outcome = await attributed(store, work, () => means.write(store, asked(work)))
      if (outcome.kind === 'record') means.size.add(plan.projection, [outcome.row], [plan.changes])
      return { work, outcome, ...(await executeDiffs(diffs, { index: 0, plan, outcome }, means)) }
    },
  )
}

/**
 * Plans all nested writes at any depth, to check scopes before the first write: a record must not be admitted by a row
 * that the same request writes. Empty if no scope has a condition.
 * @throws Problem like the write
 */
export async function storingOf(store: Store, diffs: readonly Diff[], means: Means): Promise<readonly Storing[]> {
  if (knownBefore(store) === null) return []
  const storing: Storing[] = []
  for (const diff of diffs) {
    for (const work of await diff.storing()) storing.push(work, ...(await storingWithin(store, work, means)))
  }
  return storing
}

/** Plans the writes below an existing record. A new record's work already contains its nested writes. */
async function storingWithin(
  { transaction }: Store,
  { resource, plan, branches = [], places = [] }: Storing,
  means: Means,
): Promise<readonly Storing[]> {
  const isNew = plan.kind === 'create' || plan.kind === 'bulkCreate'
  if (isNew || branches.length === 0 || transaction === undefined) return []
  const inside = within(storeOf(resource), transaction)
  return inPlace({ place: places[0] ?? '' }, async () => {
    const values = await lockedOwner(inside, plan, branches)
    // Removals are counted when they are executed.
    const apart = { ...means, removals: new Removals() }
    const [diffs = []] = await diffsOf(inside, [{ branches, values }], apart)
    refuseVersions(diffs.flatMap(({ versions }) => versions))
    // Invalid works are rejected later, with all errors.
    const isInvalid = diffs.some(({ works, errors }) => works.some(isFaulty) || hasErrors(errors))
    return isInvalid ? [] : storingOf(inside, diffs, apart)
  })
}

/**
 * Plans the diffs of owners, whose records must be locked.
 * @throws Problem 404 or 400 with the positions of elements that name other owners' records, and 403
 */
export async function diffsOf(
  store: Store,
  owners: readonly OwnerValues[],
  { removals }: Means,
): Promise<readonly (readonly Diff[])[]> {
  const held = owners.flatMap(({ branches, values }) =>
    branches.flatMap((branch, index) => (branch.kind === 'replaced' ? [[branch, values[index]] as const] : [])),
  )
  const children = await diffChildren(store, held, removals)
  const links = await collecting(owners, ({ branches, values }) => diffAllLinks(store, branches, values))
  const byBranch = new Map(children.map((diff) => [diff.branch, diff]))
  return owners.map(({ branches }, index) => [
    ...branches.flatMap((branch) => byBranch.get(branch) ?? []),
    ...(links[index] ?? []),
  ])
}

async function diffAllLinks(
  store: Store,
  branches: readonly Branch[],
  values: readonly unknown[],
): Promise<readonly Diff[]> {
  const linked = branches.flatMap((branch, index) => {
    if (branch.kind === 'new') throw new TypeError(`a record of ${store.resource.name} is new to its ${branch.json}`)
    return branch.kind === 'linked' ? [{ branch, value: values[index] }] : []
  })
  return collecting(linked, ({ branch, value }) => diffLinks(store, branch, value))
}

/** A written record, and its index in the request. */
interface Owner {
  readonly index: number
  readonly plan: UpdatePlan
  readonly outcome: Outcome
}

/** Executes the diffs of an owner. */
export async function executeDiffs(
  diffs: readonly Diff[],
  { index, plan, outcome }: Owner,
  means: Means,
): Promise<Pick<Done, 'held' | 'parts'>> {
  const held: Held[] = []
  const parts: Part[] = []
  for (const diff of diffs) {
    const { json, tie } = diff.branch
    const [value] = valuesOf({ plan }, outcome, tie)
    held.push({ owner: index, json, value: await diff.execute(value, means, parts) })
  }
  return { held, parts }
}

/** Locks an owner and reads the keys that its branches refer to, followed by the value for its precondition. */
function lockedOwner(store: Store, plan: UpdatePlan, branches: readonly Branch[]): Promise<Row> {
  const decides = plan.precondition?.field ?? store.resource.key
  return lockedRecord(store, plan, [...branches.map(({ tie }) => tie.source), decides])
}

function refuseOwner({ precondition }: UpdatePlan, stored: unknown): void {
  if (precondition !== null && (precondition.where === null || !precondition.isMet(stored)))
    throw precondition.refusal()
}
