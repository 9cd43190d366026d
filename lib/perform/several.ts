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

/** Runs several writes as one statement. Returns null if they must run one by one. */
export type WriteTogether = (store: Store, items: readonly Item[]) => Promise<readonly Outcome[] | null>

/** Values that preconditions of updates are compared with, read under the transaction's locks. */
export type Stored = ReadonlyMap<Item, unknown>

/** Nested children of the items. They are written together with the items. */
export interface Children {
  /** Size of the records in the response. */
  readonly size: WrittenSize
  /** Plans the children's diffs. @throws Problem 404 or 403 */
  readonly find: (store: Store, items: readonly Item[]) => Promise<void>
  readonly versions: () => readonly Versioned[]
  /** Writes that are known before the first write. */
  readonly storing: (store: Store) => Promise<readonly Work<CreatePlan | BulkCreatePlan | UpdatePlan>[]>
  /** Validation errors of the children. Checked only if an item has errors or `isRefused` is true. */
  readonly errors: (isRefused: boolean) => Promise<ProblemErrors>
  /** Writes the children of an item, after the item. */
  readonly follow: (store: Store, index: number, item: Item, outcome: Outcome) => Promise<void>
}

/**
 * Runs all writes or none. The store must be in a transaction. Before the first write all versions and bodies are
 * checked, and errors are collected for all items.
 * @throws Problem 428, 412 or 400 with the items' positions; 400 if the records exceed the response limit
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
    // If the response would be too large, the transaction is rolled back.
    size.add(plan.projection, [outcome.row], [plan.changes])
    await children?.follow(store, index, plan, outcome)
    parts.push({ plan, outcome })
  }
  return { kind: 'parts', parts }
}

/** Marks an item whose scope condition was already checked with the other items. */
function asked(item: Item): Item {
  return item.scope === undefined ? item : { ...item, isAsked: true }
}

/** Checks the scope before the first write. @throws Problem 403 with the positions of all items */
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

/** Returns builders of the instances for the model's validators. */
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
