import type { Model } from 'sequelize'
import type { Outcome, Part } from '../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, Precondition, UpdatePlan } from '../../types/plan.js'
import type { Work } from '../../types/work.js'
import { BodyErrors, hasErrors, refuse } from '../common/bodyErrors.js'
import { chunksOf } from '../common/chunks.js'
import { withKeys } from '../common/keys.js'
import { mostAtOnce } from '../common/largeColumns.js'
import type { ProblemErrors } from '../common/problem.js'
import { WrittenSize } from '../common/responseSize.js'
import { buildInstance } from './build.js'
import { keyIdentityName } from './identified.js'
import { allLoaded, set } from './instances/load.js'
import { refuseVersions, type Versioned } from './nested/diff.js'
import { inPlace } from './nested/errors.js'
import { assertAllStorable } from './scoped/ask.js'
import type { Store } from './store.js'
import { faultsOf, NOTHING, partialOf } from './validation.js'

/** One of several writes in one transaction. */
export type Item = CreatePlan | UpdatePlan

export type Write = (store: Store, item: Item) => Promise<Outcome>

/** Does several at once, within their transaction; null where each must be done by itself. */
export type WriteTogether = (store: Store, items: readonly Item[]) => Promise<readonly Outcome[] | null>

/** What decides on the preconditions of updates, as it was read under the lock of their transaction. */
export type Stored = ReadonlyMap<Item, unknown>

/** The children that the bodies of items hold. They are written with the items. */
export interface Children {
  /** Counts the bytes of the records in the answer. */
  readonly size: WrittenSize
  /** Plans their diffs. @throws Problem 404 or 403 */
  readonly find: (store: Store, items: readonly Item[]) => Promise<void>
  readonly versions: () => readonly Versioned[]
  /** The writes that are known before the first of them. */
  readonly storing: (store: Store) => Promise<readonly Work<CreatePlan | BulkCreatePlan | UpdatePlan>[]>
  /** All errors of their values, if some have errors, or if the request is refused anyway. */
  readonly errors: (isRefused: boolean) => Promise<ProblemErrors>
  /** Writes the children of an item, after it. */
  readonly follow: (store: Store, index: number, item: Item, outcome: Outcome) => Promise<void>
}

/**
 * All writes or none, by a store that is in a transaction. Before the first, all versions fit and all bodies are valid; what
 * one of these finds is told of every item.
 *
 * @throws Problem 428, 412 or 400, with the places of the items; 400 where the records are too large for one answer
 */
export async function writeAll(
  store: Store,
  { items, stored }: { readonly items: readonly Item[]; readonly stored: Stored },
  write: Write,
  children: Children | null,
  together: WriteTogether | null = null,
): Promise<Outcome> {
  await children?.find(store, items)
  refuseVersions(versionsOf(store, items, stored))
  refuseVersions(children?.versions() ?? [])
  const errors = await faultsOfItems(store, items)
  refuse('validation', { ...errors, ...(await children?.errors(hasErrors(errors))) })
  await assertStorableItems(store, items, children)
  const parts: Part[] = []
  const size = children?.size ?? new WrittenSize(store.resource.limits.responseBytes)
  const isMany = items.some(
    ({ kind, projection: { columns } }) => kind !== 'create' && items.length > mostAtOnce(columns),
  )
  const outcomes = together === null || isMany ? null : await together(store, items)
  for (const [index, plan] of items.entries()) {
    const outcome = outcomes?.[index] ?? (await inPlace(store, index, plan, () => write(store, asked(plan))))
    if (outcome.kind !== 'record') throw new TypeError(`the write of one record came out as ${outcome.kind}`)
    // What is too large to be answered is not written: all of this is undone.
    size.add(plan.projection, [outcome.row], [plan.changes])
    await children?.follow(store, index, plan, outcome)
    parts.push({ plan, outcome })
  }
  return { kind: 'parts', parts }
}

/** An item whose condition need not be asked again among those that are written by then. */
function asked(item: Item): Item {
  return item.scope === undefined ? item : { ...item, isAsked: true }
}

/** Before the first of them is written. @throws Problem 403 with the places of all */
async function assertStorableItems(store: Store, items: readonly Item[], children: Children | null): Promise<void> {
  const works = items.map((plan, index): Work<Item> => {
    return { resource: store.resource, plan, pointers: [], places: [`[${index}]`] }
  })
  await assertAllStorable(store, [...works, ...((await children?.storing(store)) ?? [])])
}

function versionsOf({ resource }: Store, items: readonly Item[], stored: Stored): readonly Versioned[] {
  return items.flatMap((item, index) => {
    const precondition = preconditionOf(item)
    return precondition === null ? [] : [{ resource, place: `[${index}]`, precondition, stored: stored.get(item) }]
  })
}

export function preconditionOf(item: Item): Precondition | null {
  return item.kind === 'create' ? null : item.precondition
}

async function faultsOfItems(store: Store, items: readonly Item[]): Promise<ProblemErrors> {
  const isAsked = store.resource.validation !== 'rules'
  if (!isAsked && items.every(({ invalid }) => invalid === null)) return {}
  const errors = new BodyErrors()
  let at = 0
  for (const part of chunksOf(items, store.resource.instancesAtOnce)) {
    const makerOf = await makers(store, part)
    for (const item of part) {
      const index = at++
      const round = { isPrepared: item.before !== null }
      errors.add(await faultsOf(store, item.invalid ?? NOTHING, makerOf(item), round), `[${index}].`)
    }
  }
  return errors.all
}

/** What makes the instances that the model's validators would see, if nothing were wrong. */
async function makers(store: Store, items: readonly Item[]): Promise<(item: Item) => () => Model> {
  const { keys: fields, validation } = store.resource
  const isPartial = validation === 'rules' || validation === 'attributes'
  const keys = items.flatMap((item) => (item.kind === 'create' ? [] : [item.key]))
  const loaded =
    isPartial || keys.length === 0 ? new Map<string, Model>() : await allLoaded(store, withKeys(fields, keys))
  return (item) => () => {
    const { changes } = item
    if (item.kind === 'create') return buildInstance(store, item.changes, item.upkeep)
    const instance = loaded.get(keyIdentityName(fields, item.key))
    return instance === undefined ? partialOf(store, changes) : set(store, instance, changes, item.upkeep)
  }
}
