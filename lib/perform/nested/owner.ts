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

/** The branches of an owner's body, and for each the value by which its records refer to the owner. */
export interface OwnerValues {
  readonly branches: readonly Branch[]
  readonly values: readonly unknown[]
}

/**
 * Patches a record and replaces what it has with what the body holds. Its row is locked first: of two who replace one
 * collection at once the second finds what the first has left, whole. All checks come before the first write.
 *
 * @throws Problem 404, 403, 428, 412, 400, in this order, with the places of the elements
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
 * Plans all that the bodies of an owner's records will store, however deep it is: nobody is admitted to it by what is written above it.
 * Empty where no scope has a condition.
 *
 * @throws Problem as the write does
 */
export async function storingOf(store: Store, diffs: readonly Diff[], means: Means): Promise<readonly Storing[]> {
  if (knownBefore(store) === null) return []
  const storing: Storing[] = []
  for (const diff of diffs) {
    for (const work of await diff.storing()) storing.push(work, ...(await storingWithin(store, work, means)))
  }
  return storing
}

/** The same of what the body of a record that is there holds. What a new one holds is known by its own work. */
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
    // What is removed is counted when it is.
    const apart = { ...means, removals: new Removals() }
    const [diffs = []] = await diffsOf(inside, [{ branches, values }], apart)
    refuseVersions(diffs.flatMap(({ versions }) => versions))
    // What is invalid is refused with all errors, where it is to be written.
    const isInvalid = diffs.some(({ works, errors }) => works.some(isFaulty) || hasErrors(errors))
    return isInvalid ? [] : storingOf(inside, diffs, apart)
  })
}

/**
 * Plans the diffs of some owners, whose records have been locked.
 *
 * @throws Problem 404 or 400 with the places of elements that are about records of others, and 403
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

/** A record that was written, and its place among those of its request. */
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

/** The values by which the records of each branch refer to the owner, and the one that decides its precondition, read under its lock. */
function lockedOwner(store: Store, plan: UpdatePlan, branches: readonly Branch[]): Promise<Row> {
  const decides = plan.precondition?.field ?? store.resource.key
  return lockedRecord(store, plan, [...branches.map(({ tie }) => tie.source), decides])
}

function refuseOwner({ precondition }: UpdatePlan, stored: unknown): void {
  if (precondition !== null && (precondition.where === null || !precondition.isMet(stored)))
    throw precondition.refusal()
}
