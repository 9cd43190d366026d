import type { Row } from '../../../types/outcome.js'
import type { GetPlan, KeyValue, Plan, Predicate, UpdatePlan } from '../../../types/plan.js'
import type {
  Done,
  Faults,
  Held,
  Keys,
  LinkedBranch,
  Part,
  Planned,
  StatedKey,
  Ties,
  Wanted,
  Work,
} from '../../../types/work.js'
import { allErrors, errorsAt, refuse } from '../../common/bodyErrors.js'
import { chunksOf } from '../../common/chunks.js'
import { ofOwn } from '../../common/columns.js'
import { keyName, planKeyJson } from '../../common/keys.js'
import { both, hasApart } from '../../common/predicates.js'
import { Problem, problem } from '../../common/problem.js'
import { areTaken, isTaken } from '../failure.js'
import { identified } from '../identified.js'
import { get } from '../read.js'
import { lockedRecord } from '../refusal.js'
import { failingOf, unstorable } from '../scoped/ask.js'
import { assertAllMet, type Places } from '../scoped/readBack.js'
import { beside, type Store } from '../store.js'
import { contested } from '../time.js'
import { markRaced } from '../transaction.js'
import { type Diff, limitedTo, put, type Storing, type Write } from './diff.js'
import { equalsStored, errorsOfStated } from './equality.js'
import { isFaulty } from './errors.js'
import {
  apart,
  isInOrder,
  linkedTo,
  NO_PAGES,
  type Pages,
  type Pair,
  pairsOf,
  pointingAt,
  type Revival,
  sortedLinks,
} from './linkRows.js'
import { tied, tiesOf } from './ties.js'

/** The planned changes of one owner's links. */
export interface Relinking {
  readonly branch: LinkedBranch
  /** Store of the join model. */
  readonly store: Store
  readonly created: readonly Pair[]
  readonly revived: readonly Revival[]
  /** Links to remove, in pages. A page is read after the previous one is deleted. */
  readonly removed: Pages
  /** Existing join rows whose own fields the request changes. */
  readonly changed: readonly { readonly wanted: Wanted; readonly row: Row }[]
  /** Number of new links. */
  readonly linked: number
  /** Errors of foreign keys in bodies that differ from the link's. */
  readonly faults: Faults
}

/** Changes only the links of a record. The store must be in a transaction. */
export async function relinkOne(store: Store, work: Work<GetPlan>, write: Write): Promise<Done> {
  const [branch] = work.branches ?? []
  if (branch?.kind !== 'linked') throw new TypeError(`nothing of ${work.resource.name} is to be linked`)
  const row = await ownerOf(store, work, branch)
  const [value] = row
  const relinking = await relinkingOf(store, branch, value, branch.groups[0] ?? [])
  refuse('validation', { ...branch.faults, ...relinking.faults })
  const parts: Part[] = []
  const { unlinked, kept } = await relink(relinking, value, write, parts)
  if (branch.mode === 'remove' && kept > 0) throw problem('not-found')
  const links = { linked: relinking.linked, unlinked }
  return { work, outcome: { kind: 'record', row }, held: [], parts, links }
}

/** The owner's key that join rows refer to. The owner is locked if links are serialized. @throws Problem 404 */
async function ownerOf(store: Store, { plan }: Work<GetPlan>, branch: LinkedBranch): Promise<Row> {
  const { tie, key, isUnique, groups } = branch
  const there = async (): Promise<Row> => {
    const row = await get(store, { where: plan.where, projection: ofOwn([tie.source]) })
    if (row === null) throw problem('not-found')
    return row
  }
  if (!isInOrder(branch)) return there()
  // If both sides are locked, the order is the same whichever side is the owner.
  if (!isUnique && tie.key.name > key.name) {
    await there()
    await pairsOf(store, branch, groups[0] ?? [])
  }
  return lockedRecord(store, plan, [tie.source])
}

/** Plans the changes of an existing record's links. */
export async function diffLinks(owner: Store, branch: LinkedBranch, own: unknown): Promise<Diff> {
  const wanted = branch.groups[0] ?? []
  const relinking = await relinkingOf(owner, branch, own, wanted)
  return {
    branch,
    errors: relinking.faults,
    works: [],
    storing: () => newLinks(relinking, own),
    versions: [],
    execute: async (value, { write }, parts) => {
      await relink(relinking, value, write, parts)
      return keysOf(branch, wanted)
    },
  }
}

/** The join rows to insert for an existing owner. Invalid ones are omitted here: the write reports their errors. */
async function newLinks({ branch, created }: Relinking, own: unknown): Promise<readonly Storing[]> {
  if (created.length === 0) return []
  const { work } = await branch.create(created.map(({ wanted }) => wanted))
  const ties = created.map(({ value }) => rowTies(branch, own, value))
  return isFaulty(work) ? [] : [{ ...work, plan: { ...tied(work, ties), owned: [] } }]
}

/** The foreign keys of a join row. */
function rowTies({ tie, key }: LinkedBranch, owner: unknown, value: unknown): Ties[number] {
  return new Map([...tiesOf(tie, owner), ...tiesOf({ ...tie, key, fixed: new Map() }, value)])
}

/**
 * Plans the changes of an owner's links. The owner must be locked if links are serialized.
 * @throws Problem 404 or 400 for records that the caller may not see, 409 for links that the caller may not create
 */
export async function relinkingOf(
  owner: Store,
  branch: LinkedBranch,
  value: unknown,
  all: readonly Wanted[],
): Promise<Relinking> {
  const { mode, between } = branch
  const store = beside(owner, between)
  const pairs = await pairsOf(owner, branch, all)
  const { found, others } =
    mode === 'set'
      ? await sortedLinks(owner, branch, value, pairs)
      : { found: await linkedTo(store, branch, value, pairs), others: NO_PAGES }
  if (mode === 'remove' && found.size < pairs.size) throw problem('not-found')
  const fresh = [...pairs].filter(([name]) => !found.has(name)).map(([, pair]) => pair)
  const { created, revived } = await apart(store, branch, value, fresh)
  const changed = [...pairs].flatMap(([name, { wanted }]): Relinking['changed'] => {
    const row = found.get(name)?.[0]
    if (row === undefined || !says(branch, wanted)) return []
    return [{ wanted, row }]
  })
  return {
    branch,
    store,
    created,
    revived,
    removed: mode === 'remove' ? { ...NO_PAGES, first: found } : others,
    changed,
    linked: fresh.length,
    faults: await statedOthers(owner, branch, value, [...pairs.values()]),
  }
}

/** Errors of foreign keys that a link's body states differently. */
async function statedOthers(
  owner: Store,
  { between, tie, target, resource }: LinkedBranch,
  value: unknown,
  pairs: readonly Pair[],
): Promise<Faults> {
  const errors: Faults[] = []
  for (const { wanted, value: pointed } of pairs) {
    const isEqual = ({ end, value: stated }: StatedKey): Promise<boolean> =>
      end === 'owner'
        ? equalsStored(owner, tie.source, value, stated)
        : equalsStored(beside(owner, resource), target, pointed, stated)
    errors.push(await errorsOfStated(between, wanted.stated ?? [], isEqual))
  }
  return allErrors(errors)
}

/** Keys of join rows. */
export function rowKeys({ between }: LinkedBranch, rows: readonly Row[]): readonly KeyValue[] {
  return rows.map((row) => keyName(between.keys, row))
}

function ofRows({ between: { keys } }: LinkedBranch, rows: readonly Row[]): Predicate | null {
  if (!keys.some(({ valueType: { type } }) => type === 'uuid')) return null
  const parts = rows.map((row) => row.slice(0, keys.length))
  return identified(keys, parts)
}

/** Whether a body has fields other than the key and the version. */
function says({ between }: LinkedBranch, { body }: Wanted): boolean {
  const names = new Set(
    between.fields.filter(({ name, isKey }) => isKey || name === between.version).map(({ json }) => json),
  )
  return Object.keys(body ?? {}).some((name) => !names.has(name))
}

/** Writes join rows. */
type Written = (planned: Planned<Plan>) => Promise<Done>

/** Executes the planned changes. Deletes run first, because they free unique values. */
async function relink(relinking: Relinking, value: unknown, write: Write, parts: Part[]): Promise<Removed> {
  const { branch, store, revived, created, changed } = relinking
  const written: Written = (planned) => put(store, planned, write, parts)
  const removed = await removeLinks(relinking, written)
  for (const { planned, wanted, row } of revived) {
    await written(planned)
    if (says(branch, wanted)) await written(unheld(await updateOf(branch, wanted, row)))
  }
  await link(
    branch,
    created.map((pair) => ({ ...pair, owner: value })),
    written,
    store,
  )
  for (const { wanted, row } of changed) {
    const planned = await updateOf(branch, wanted, row)
    refuseVersion(planned, row[branch.between.keys.length + 1])
    // Another request has removed the link meanwhile. The next attempt creates it.
    await written(planned).catch((error: unknown) => {
      throw error instanceof Problem && error.code === 'not-found' ? markRaced(error) : error
    })
  }
  const at = branch.between.keys.length
  await assertTargets(
    branch,
    store,
    new Map([
      ...removed.rows.map((row): [unknown, null] => [row[at], null]),
      ...revived.map(({ row, wanted }): [unknown, string] => [row[at], wanted.place]),
      ...created.map(({ value: target, wanted }): [unknown, string] => [target, wanted.place]),
    ]),
  )
  return removed
}

/** Checks that changed links do not move linked records out of the caller's scope. @throws Problem 403 */
async function assertTargets(branch: LinkedBranch, store: Store, all: Places): Promise<void> {
  const { meetable, target, resource } = branch
  if (!hasApart(meetable)) return
  for (const some of chunksOf([...all])) {
    const values = some.map(([value]) => value)
    await assertAllMet(beside(store, resource), target, both(pointingAt(target, values), meetable), new Map(some))
  }
}

/** Plans the update of a join row. */
export async function updateOf(branch: LinkedBranch, wanted: Wanted, row: Row): Promise<Planned<UpdatePlan>> {
  const planned = await branch.update(wanted, keyName(branch.between.keys, row))
  return limitedTo(planned, ofRows(branch, [row]))
}

/** Result of removing join rows. */
interface Removed {
  /** Number of removed links. */
  readonly unlinked: number
  /** Number of rows that were not deleted, or that another request deleted first. */
  readonly kept: number
  /** The removed rows, if the scope of their linked records must be checked again. */
  readonly rows: readonly Row[]
}

/** Deletes join rows in chunks. */
async function removeLinks({ branch, removed }: Relinking, written: Written): Promise<Removed> {
  // Several rows may link the same two records.
  const undone = new Set<string>()
  let count = 0
  let kept = 0
  const gone: Row[] = []
  for (let page: Pages | null = removed; page !== null; page = page.next === null ? null : await page.next()) {
    for (const rows of chunksOf([...page.first.values()].flat())) {
      const { outcome } = await written(
        limitedTo(await branch.remove(rowKeys(branch, rows)), both(ofRows(branch, rows), page.bounds)),
      )
      if (hasApart(branch.meetable)) gone.push(...rows)
      kept += rows.length - (outcome.kind === 'deleted' ? outcome.count : 0)
    }
    if (branch.isUnique) count += page.first.size
    else for (const name of page.first.keys()) undone.add(name)
  }
  return { unlinked: Math.max(0, count + undone.size - kept), kept, rows: gone }
}

/** A restored row has no precondition: no client has seen its current version. */
function unheld(planned: Awaited<ReturnType<LinkedBranch['update']>>): typeof planned {
  const { work } = planned
  return { ...planned, work: { ...work, plan: { ...work.plan, precondition: null } } }
}

function refuseVersion({ work: { plan } }: Awaited<ReturnType<LinkedBranch['update']>>, stored: unknown): void {
  const { precondition } = plan
  if (precondition === null) return
  const name = precondition.field.json
  if (precondition.where === null) {
    throw problem('precondition-required', {
      detail: `Send the version of the link that you last read, as "${name}".`,
    })
  }
  if (precondition.isMet(stored)) return
  throw problem('precondition-failed', {
    detail: `The link has changed. Read it again and send its current version as "${name}".`,
  })
}

/** A link to create, with the owner's key. */
interface NewLink extends Pair {
  readonly owner: unknown
}

/** Maximum number of attempts at a link that other requests create and remove. */
const CONTESTS = 12

/** Inserts join rows. If another request creates one of them meanwhile, the write is repeated and finds it. */
async function link(
  branch: LinkedBranch,
  links: readonly NewLink[],
  write: Written,
  store: Store,
  isOwnerNew = false,
): Promise<void> {
  if (links.length === 0) return
  const { between, tie, key } = branch
  const ties = links.map(({ owner, value }) => rowTies(branch, owner, value))
  const { work, caller } = await branch.create(links.map(({ wanted }) => wanted))
  const plan = tied(work, ties)
  const failing = await failingOf(store, [{ ...plan, owned: isOwnerNew ? [tie.key.name] : [] }])
  if (failing.length > 0)
    throw unstorable(
      errorsAt(
        between,
        failing.flatMap((at) => links[at]?.wanted.place || []),
        'scope',
      ),
    )
  try {
    await write({ caller, work: { ...work, plan } })
  } catch (error) {
    if (error instanceof Problem) throw error
    // The next attempt either finds the link or can create it.
    if (areTaken(error, between, [tie.key, key])) throw markRaced(contested(error), CONTESTS)
    throw isTaken(error, between, [tie.key, key, ...tie.fixed.keys()]) ? markRaced(error) : error
  }
}

/** Links records to new owners, which cannot have links yet. */
export async function linkNew(
  owner: Store,
  branch: LinkedBranch,
  values: readonly unknown[],
  write: Write,
  parts: Part[],
): Promise<readonly Held[]> {
  const store = beside(owner, branch.between)
  const known = await pairsOf(owner, branch, wantedOf(branch))
  const keys = new Map([...known.values()].map(({ wanted, value }) => [wanted.key, value]))
  const links = branch.groups.flatMap((group, index) =>
    distinct(group ?? []).map((wanted) => ({ wanted, value: keys.get(wanted.key), owner: values[index] })),
  )
  await link(branch, links, (planned) => put(store, planned, write, parts), store, true)
  await assertTargets(branch, store, new Map(links.map(({ value, wanted }) => [value, wanted.place])))
  return branch.groups.flatMap((group, index): Held[] =>
    group === undefined ? [] : [{ owner: index, json: branch.json, value: keysOf(branch, group) }],
  )
}

/** Elements of all owners. */
export function wantedOf({ groups }: LinkedBranch): readonly Wanted[] {
  return groups.flatMap((group) => group ?? [])
}

function distinct(group: readonly Wanted[]): readonly Wanted[] {
  return [...new Map(group.map((wanted) => [wanted.key, wanted])).values()]
}

/** Keys of a body's linked records, each once, in the order of the body. */
function keysOf({ resource }: LinkedBranch, group: readonly Wanted[]): Keys {
  return { keys: distinct(group).map(({ key }) => planKeyJson(resource.keys, key)) }
}
