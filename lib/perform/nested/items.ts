import type { Row } from '../../../types/outcome.js'
import type { UpdatePlan } from '../../../types/plan.js'
import type {
  ItemNestedWrites,
  NestedResult,
  NestedWrite,
  Work,
  WriteResult,
  WrittenPart,
} from '../../../types/work.js'
import { hasErrors, mergeErrors } from '../../common/bodyErrors.js'
import { keyColumns, matchKeys } from '../../common/keys.js'
import type { ItemPlan, ItemsChildren } from '../items.js'
import { readLocked } from '../read.js'
import { identityText, keyIdentityText } from '../recordIdentity.js'
import { lockByInstances } from '../refusal.js'
import { markNestedChecked, newWorksIn } from '../scoped/scopeChecks.js'
import type { StatementContext } from '../store.js'
import { maxRowsOf } from '../uuidSpellings.js'
import type { Diff, WorkExecution } from './diff.js'
import { collectErrors, errorsOfWorks, hasNestedErrors, hasWorkErrors, withErrorsOfWorks } from './errors.js'
import { collectMissingKeys, insertChildren, linkChangesIn, nestedWritesOfNew } from './insert.js'
import { findLinkedRecords } from './joinRows.js'
import { linkTargetsOf } from './links.js'
import { assertNoConflict, executeDiffs, type ParentValues, planAllDiffs, planPendingWrites } from './parent.js'

/** Nested children of a batch, and the results of their writes. */
interface ItemChildren extends ItemsChildren {
  readonly works: () => readonly Work[]
  readonly nestedResults: () => Pick<WriteResult, 'nested' | 'parts'>
}

/**
 * Creates the functions that write the children of a batch. All children are planned and checked before the first
 * write.
 */
export function createItemChildren(itemWrites: readonly ItemNestedWrites[], execution: WorkExecution): ItemChildren {
  const nested: NestedResult[] = []
  const parts: WrittenPart[] = []
  const nestedWrites = new Map<number, readonly NestedWrite[]>()
  const diffs = new Map<number, readonly Diff[]>()
  const all: Diff[] = []
  const allNestedWrites = (): readonly NestedWrite[] => [...nestedWrites.values()].flat()
  const allWorks = (): readonly Work[] => all.flatMap((diff) => diff.works)
  const news: number[] = []
  const newWritesAt = (index: number): readonly NestedWrite[] =>
    news.flatMap((place) => (place > index ? (nestedWrites.get(place) ?? []) : []))

  return {
    works: () => [
      ...allNestedWrites().flatMap((nestedWrite) => (nestedWrite.kind === 'new' ? [nestedWrite.work] : [])),
      ...allWorks(),
    ],
    writtenSize: execution.writtenSize,
    nestedResults: () => ({ nested, parts }),
    planDiffs: async (store, items) => {
      for (const [index, item] of items.entries()) {
        const own = itemWrites[index]
        if (item.kind === 'create') news.push(index)
        nestedWrites.set(index, (item.kind === 'create' ? own?.forNew : await own?.planExisting(item.key)) ?? [])
      }
      const parents = await findParents(store, items, nestedWrites)
      const parentKeys = items.flatMap((item) => (item.kind === 'create' ? [] : [item.key]))
      const found = await withErrorsOfWorks(
        () => itemWorks(store, items, nestedWrites),
        () => planAllDiffs(store, parents, { ...execution, parentKeys }),
      )
      for (const [place, { index }] of parents.entries()) diffs.set(index, found.diffs[place] ?? [])
      all.push(...found.all)
    },
    versions: () => all.flatMap(({ versionChecks }) => versionChecks),
    planPendingWrites: async (store) => [
      ...allNestedWrites().flatMap((nestedWrite) => (nestedWrite.kind === 'new' ? newWorksIn(nestedWrite.work) : [])),
      ...(await planPendingWrites(store, all)),
    ],
    assertNoConflict: () => assertNoConflict(all),
    collectErrors: async (store, isRefused) => {
      const diffErrors = mergeErrors(all.map((diff) => diff.errors))
      const isInvalid =
        isRefused || allNestedWrites().some(hasNestedErrors) || allWorks().some(hasWorkErrors) || hasErrors(diffErrors)
      if (!isInvalid) return {}
      const missing = await collectMissingKeys(store, [...allNestedWrites(), ...nestedWritesOfNew(allWorks())])
      return { ...(await errorsOfWorks(store, allWorks(), allNestedWrites())), ...diffErrors, ...missing }
    },
    writeChildren: async (store, index, plan, outcome) => {
      const came =
        plan.kind === 'create'
          ? await withMissingKeys(
              () => {
                const own = (nestedWrites.get(index) ?? []).map(markNestedChecked)
                return insertChildren(store, { resource: store.resource, plan, nestedWrites: own }, outcome, execution)
              },
              store,
              () => newWritesAt(index),
            )
          : await executeDiffs(diffs.get(index) ?? [], { index, plan, outcome }, execution)
      nested.push(...came.nested.map((each) => ({ ...each, parentIndex: index })))
      parts.push(...came.parts)
    },
  }
}

/** Returns the items of a batch with their nested writes, at their places. */
function itemWorks(
  { resource }: StatementContext,
  items: readonly ItemPlan[],
  nestedWrites: ReadonlyMap<number, readonly NestedWrite[]>,
): readonly Work[] {
  return items.map((plan, index) => {
    return { resource, plan, foreignKeyChecks: [], places: [`[${index}]`], nestedWrites: nestedWrites.get(index) ?? [] }
  })
}

/**
 * Runs `work`, which creates some links. If `work` fails, also reports missing records of the links that are not
 * created yet.
 */
async function withMissingKeys<T>(
  work: () => Promise<T>,
  store: StatementContext,
  nestedWrites: () => readonly NestedWrite[],
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const rejectFirst = (): Promise<unknown> => Promise.reject(error)
    const others = linkChangesIn(nestedWrites()).map(
      (linkChange) => () => findLinkedRecords(store, linkChange, linkTargetsOf(linkChange)),
    )
    await collectErrors<() => Promise<unknown>, unknown>([rejectFirst, ...others], (each) => each())
    throw error
  }
}

interface ItemParent extends ParentValues {
  readonly index: number
}

/**
 * Locks the existing records that have nested writes. Returns the key values that the children's foreign keys refer to.
 */
async function findParents(
  store: StatementContext,
  items: readonly ItemPlan[],
  nestedWrites: ReadonlyMap<number, readonly NestedWrite[]>,
): Promise<readonly ItemParent[]> {
  const { keys } = store.resource
  const parents = items.flatMap((item, index) => {
    const own = nestedWrites.get(index) ?? []
    return item.kind === 'create' || own.length === 0 ? [] : [{ index, item, own }]
  })
  if (parents.length === 0) return []
  const sources = [...new Set(parents.flatMap(({ own }) => own.map(({ binding }) => binding.source)))]
  const rows = await lockParents(
    store,
    parents.map(({ item }) => item),
    keyColumns([...keys, ...sources]),
  )
  return parents.map(({ index, item, own }) => {
    const row = rows.get(keyIdentityText(keys, item.key)) ?? []
    return {
      index,
      nestedWrites: own,
      values: own.map(({ binding }) => row[keys.length + sources.indexOf(binding.source)]),
    }
  })
}

async function lockParents(
  store: StatementContext,
  items: readonly UpdatePlan[],
  columns: ReturnType<typeof keyColumns>,
): Promise<ReadonlyMap<string, Row>> {
  const { keys } = store.resource
  const where = matchKeys(
    keys,
    items.map(({ key }) => key),
  )
  const rows = await readLocked(store, where, columns, maxRowsOf(keys, items.length))
  const named = new Map(rows.map((row) => [identityText(keys, row.slice(0, keys.length)), row]))
  const byName = new Map(items.map((item) => [keyIdentityText(keys, item.key), item]))
  // Rows are locked in the order of keys, which avoids deadlocks.
  for (const name of named.keys()) {
    const item = byName.get(name)
    if (item !== undefined) await lockByInstances(store, columns, item.where)
  }
  return named
}
