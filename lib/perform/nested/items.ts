import type { Row } from '../../../types/outcome.js'
import type { UpdatePlan } from '../../../types/plan.js'
import type { Branch, Done, Held, Holds, LinkedBranch, Part, Work } from '../../../types/work.js'
import { allErrors, hasErrors } from '../../common/bodyErrors.js'
import { keyColumns, withKeys } from '../../common/keys.js'
import { identityName, keyIdentityName } from '../identified.js'
import { locked } from '../read.js'
import { lockedByInstances } from '../refusal.js'
import { askedBranch, newWorks } from '../scoped/ask.js'
import type { Children, Item } from '../several.js'
import { mostRows } from '../spelled.js'
import type { Store } from '../store.js'
import type { Diff, Means } from './diff.js'
import { collecting, errorsOf, isFaulty, isFaultyBranch } from './errors.js'
import { insertChildren } from './insert.js'
import { pairsOf } from './linkRows.js'
import { wantedOf } from './links.js'
import { diffsOf, executeDiffs, type OwnerValues, storingOf } from './owner.js'

/** Nested children of a batch, and the results of their writes. */
interface ItemChildren extends Children {
  readonly works: () => readonly Work[]
  readonly done: () => Pick<Done, 'held' | 'parts'>
}

/** Plans and checks the children of all items first. The children of an item are then written after it. */
export function childrenOfItems(holds: readonly Holds[], means: Means): ItemChildren {
  const held: Held[] = []
  const parts: Part[] = []
  const branches = new Map<number, readonly Branch[]>()
  const diffs = new Map<number, readonly Diff[]>()
  const all = (): readonly Diff[] => [...diffs.values()].flat()
  const every = (): readonly Branch[] => [...branches.values()].flat()
  const works = (): readonly Work[] => all().flatMap((diff) => diff.works)
  const news: number[] = []
  const newBehind = (index: number): readonly Branch[] =>
    news.flatMap((place) => (place > index ? (branches.get(place) ?? []) : []))

  return {
    works: () => [...every().flatMap((branch) => (branch.kind === 'new' ? [branch.work] : [])), ...works()],
    size: means.size,
    done: () => ({ held, parts }),
    find: async (store, items) => {
      for (const [index, item] of items.entries()) {
        const own = holds[index]
        if (item.kind === 'create') news.push(index)
        branches.set(index, (item.kind === 'create' ? own?.fresh : await own?.there(item.key)) ?? [])
      }
      const owners = await ownersOf(store, items, branches)
      const found = await collectingKeys(
        () => diffsOf(store, owners, means),
        store,
        () => newBehind(-1),
      )
      for (const [place, { index }] of owners.entries()) diffs.set(index, found[place] ?? [])
    },
    versions: () => all().flatMap(({ versions }) => versions),
    storing: async (store) => [
      ...every().flatMap((branch) => (branch.kind === 'new' ? newWorks(branch.work) : [])),
      ...(await storingOf(store, all(), means)),
    ],
    errors: async (isRefused) => {
      const told = allErrors(all().map((diff) => diff.errors))
      const isInvalid = isRefused || every().some(isFaultyBranch) || works().some(isFaulty) || hasErrors(told)
      return isInvalid ? { ...(await errorsOf(works(), every())), ...told } : {}
    },
    follow: async (store, index, plan, outcome) => {
      const came =
        plan.kind === 'create'
          ? await collectingKeys(
              () => {
                const own = (branches.get(index) ?? []).map(askedBranch)
                return insertChildren(store, { resource: store.resource, plan, branches: own }, outcome, means)
              },
              store,
              () => newBehind(index),
            )
          : await executeDiffs(diffs.get(index) ?? [], { index, plan, outcome }, means)
      held.push(...came.held.map((each) => ({ ...each, owner: index })))
      parts.push(...came.parts)
    },
  }
}

/** Runs a part of the links. If it fails, missing keys of links that are still to be made are reported as well. */
async function collectingKeys<T>(work: () => Promise<T>, store: Store, branches: () => readonly Branch[]): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const first = (): Promise<unknown> => Promise.reject(error)
    const others = linkedIn(branches()).map((branch) => () => pairsOf(store, branch, wantedOf(branch)))
    await collecting<() => Promise<unknown>, unknown>([first, ...others], (each) => each())
    throw error
  }
}

function linkedIn(branches: readonly Branch[]): readonly LinkedBranch[] {
  return branches.flatMap((branch) => {
    if (branch.kind === 'new') return linkedIn(branch.work.branches ?? [])
    return branch.kind === 'linked' ? [branch] : []
  })
}

interface Owner extends OwnerValues {
  readonly index: number
}

/** Existing records with nested elements, locked, with the values that foreign keys refer to. */
async function ownersOf(
  store: Store,
  items: readonly Item[],
  branches: ReadonlyMap<number, readonly Branch[]>,
): Promise<readonly Owner[]> {
  const { keys } = store.resource
  const owners = items.flatMap((item, index) => {
    const own = branches.get(index) ?? []
    return item.kind === 'create' || own.length === 0 ? [] : [{ index, item, own }]
  })
  if (owners.length === 0) return []
  const sources = [...new Set(owners.flatMap(({ own }) => own.map(({ tie }) => tie.source)))]
  const rows = await lockedOwners(
    store,
    owners.map(({ item }) => item),
    keyColumns([...keys, ...sources]),
  )
  return owners.map(({ index, item, own }) => {
    const row = rows.get(keyIdentityName(keys, item.key)) ?? []
    return { index, branches: own, values: own.map(({ tie }) => row[keys.length + sources.indexOf(tie.source)]) }
  })
}

async function lockedOwners(
  store: Store,
  items: readonly UpdatePlan[],
  columns: ReturnType<typeof keyColumns>,
): Promise<ReadonlyMap<string, Row>> {
  const { keys } = store.resource
  const where = withKeys(
    keys,
    items.map(({ key }) => key),
  )
  const rows = await locked(store, where, columns, mostRows(keys, items.length))
  const named = new Map(rows.map((row) => [identityName(keys, row.slice(0, keys.length)), row]))
  const byName = new Map(items.map((item) => [keyIdentityName(keys, item.key), item]))
  // Locked in the order of keys, which avoids deadlocks.
  for (const name of named.keys()) {
    const item = byName.get(name)
    if (item !== undefined) await lockedByInstances(store, columns, item.where)
  }
  return named
}
