import type { Outcome, Row } from '../../types/outcome.js'
import type { UpdatePlan } from '../../types/plan.js'
import type { Branch, Done, Element, Held, Part, Shown, Work } from '../../types/work.js'
import { keyIn, planKeyName } from '../common/keys.js'
import { both } from '../common/predicates.js'
import { Problem, problem } from '../common/problem.js'
import { isTooLarge, type WrittenSize } from '../common/responseSize.js'
import { blamed } from './blame.js'
import { type Exchange, exchangesOf, faultsIn, owned, type Removals, refuseVersions, worksOf } from './exchange.js'
import { faultsOfAll, isFaulty, telling } from './faults.js'
import { identified } from './identified.js'
import { keysOf, type Relinking, relink, relinkingOf } from './links.js'
import { manyByKey } from './read.js'
import { lockedRecord } from './refusal.js'
import type { Store } from './store.js'
import { tied, tiesOf, valuesOf } from './ties.js'
import { toldTogether } from './told.js'

/** How the parts of a write are carried out. */
export interface Means {
  /** Carries out what a plan says of its own records alone. */
  readonly write: (store: Store, work: Work) => Promise<Outcome>
  /** The same with what these hold of others. */
  readonly grow: (store: Store, work: Work) => Promise<Done>
  readonly removals: Removals
  /** Counts the bytes of the records in the answer. */
  readonly size: WrittenSize
}

/** What becomes of what an owner has, as it was found out before anything is written. */
export interface Filling {
  readonly exchanges: readonly Exchange[]
  readonly relinkings: readonly Relinking[]
}

/** What the body of an owner holds, and the values by which that is tied to its record, branch by branch. */
export interface Filled {
  readonly branches: readonly Branch[]
  readonly values: readonly unknown[]
}

/**
 * Patches a record and replaces what it has with what the body holds. Its row is locked first: of two who replace one
 * collection at once the second finds what the first has left, whole. All checks come before the first write.
 *
 * @throws Problem 404, 403, 428, 412, 400, in this order, with the places of the elements
 */
export async function refill(store: Store, work: Work<UpdatePlan>, means: Means): Promise<Done> {
  const { plan, branches = [] } = work
  const values = await lockedOwner(store, plan, branches)
  const [filling = NONE] = await fillingsOf(store, [{ branches, values }], means)
  const { exchanges } = filling
  refuseOwner(plan, values.at(-1))
  refuseVersions(exchanges)
  const works = worksOf(exchanges)
  const faults = faultsIn(exchanges)
  if (Object.keys(faults).length > 0 || [work, ...works].some(isFaulty)) {
    throw problem('validation', { errors: { ...(await faultsOfAll([work, ...works])), ...faults } })
  }
  return telling(
    () => [work, ...works],
    async () => {
      const outcome = await blamed(store, work, () => means.write(store, work))
      if (outcome.kind === 'record') means.size.add(plan.projection, [outcome.row], [plan.changes])
      return { work, outcome, ...(await fill(filling, { index: 0, plan, outcome }, means)) }
    },
  )
}

const NONE: Filling = Object.freeze({ exchanges: [], relinkings: [] })

/**
 * Finds out what becomes of what some owners have, whose records have been locked.
 *
 * @throws Problem 404 or 400 with the places of elements that are about records of others, and 403
 */
export async function fillingsOf(
  store: Store,
  owners: readonly Filled[],
  { removals }: Means,
): Promise<readonly Filling[]> {
  const held = owners.map(({ branches, values }) =>
    branches.flatMap((branch, index) => (branch.kind === 'replaced' ? [[branch, values[index]] as const] : [])),
  )
  const exchanges = await exchangesOf(store, held.flat(), removals)
  const relinkings = await toldTogether(owners, ({ branches, values }) => relinkingsOf(store, branches, values))
  let at = 0
  return relinkings.map((own, index): Filling => {
    const start = at
    at += held[index]?.length ?? 0
    return { exchanges: exchanges.slice(start, at), relinkings: own }
  })
}

async function relinkingsOf(
  store: Store,
  branches: readonly Branch[],
  values: readonly unknown[],
): Promise<readonly Relinking[]> {
  const linked = branches.flatMap((branch, index) => {
    if (branch.kind === 'new') throw new TypeError(`a record of ${store.resource.name} is new to its ${branch.json}`)
    return branch.kind === 'linked' ? [{ branch, value: values[index] }] : []
  })
  return toldTogether(linked, ({ branch, value }) => relinkingOf(store, branch, value, branch.groups[0] ?? []))
}

/** A record that was written, and its place among those of its request. */
interface Owner {
  readonly index: number
  readonly plan: UpdatePlan
  readonly outcome: Outcome
}

/** Writes what was found out of what an owner is to have. */
export async function fill(
  { exchanges, relinkings }: Filling,
  { index, plan, outcome }: Owner,
  means: Means,
): Promise<Pick<Done, 'held' | 'parts'>> {
  const held: Held[] = []
  const parts: Part[] = []
  for (const exchange of exchanges) {
    const { json, many: isMany, elements, tie } = exchange.branch
    const [value] = valuesOf({ plan }, outcome, tie)
    const shown = await carryOut(exchange, value, means, parts)
    const all = elements.map((element) => shown.get(element)).filter((each) => each !== undefined)
    held.push({ owner: index, json, value: isMany ? all : (all[0] ?? null) })
  }
  for (const relinking of relinkings) {
    const { json, tie, groups } = relinking.branch
    await relink(relinking, valuesOf({ plan }, outcome, tie)[0], means.write, parts)
    held.push({ owner: index, json, value: keysOf(relinking.branch, groups[0] ?? []) })
  }
  return { held, parts }
}

/** What the owner is pointed at by, branch by branch, and what decides on its precondition, under its lock. */
function lockedOwner(store: Store, plan: UpdatePlan, branches: readonly Branch[]): Promise<Row> {
  const decides = plan.precondition?.field ?? store.resource.key
  return lockedRecord(store, plan, [...branches.map(({ tie }) => tie.source), decides])
}

function refuseOwner({ precondition }: UpdatePlan, stored: unknown): void {
  if (precondition !== null && (precondition.where === null || !precondition.isMet(stored)))
    throw precondition.refusal()
}

/** Writes what was found out: first what goes, so that what it was unique by is free. */
async function carryOut(
  exchange: Exchange,
  value: unknown,
  { write, grow, size }: Means,
  parts: Part[],
): Promise<ReadonlyMap<Element, Shown>> {
  const { branch, store, removal, updates, creation, created } = exchange
  const shown = new Map<Element, Shown>()
  if (removal !== null) {
    const { work, caller } = removal
    const outcome = await blamed(store, work, () => write(store, work))
    parts.push({ done: { work, outcome, held: [], parts: [] }, caller })
  }
  for (const [element, { work, caller }] of updates) {
    const where = both(work.plan.where, owned(branch.tie, value))
    const done = await inPlace(element, () => grow(store, { ...work, plan: { ...work.plan, where } }))
    parts.push({ done, caller })
    shown.set(element, { done, index: 0 })
  }
  if (creation !== null) {
    const { work, caller } = creation
    const ties = created.map(() => tiesOf(branch.tie, value))
    const done = await grow(store, { ...work, plan: tied(work, ties) })
    parts.push({ done, caller })
    for (const [index, element] of created.entries()) shown.set(element, { done, index })
  }
  for (const [element, each] of await keptOnes(exchange, size)) shown.set(element, each)
  return shown
}

/** What is refused of one element is told with its place. */
async function inPlace<T>({ place }: Element, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Problem) || error.errors !== undefined || error.status >= 500 || isTooLarge(error))
      throw error
    const { status, code, detail } = error
    const errors = { [place]: [detail ?? error.title] }
    throw new Problem({ status, code, ...(detail === undefined ? {} : { detail }), errors, headers: error.headers })
  }
}

async function keptOnes(
  { branch, store, kept, keys, stored }: Exchange,
  size: WrittenSize,
): Promise<ReadonlyMap<Element, Shown>> {
  const { keys: fields } = branch.resource
  const { transaction } = store
  if (kept.length === 0 || transaction === undefined) return new Map()
  const named = kept.map((element) => keys.get(element) ?? '')
  const { work } = await branch.show(named)
  const { projection } = work.plan
  const { columns } = projection
  const parts = named.map((key) => (stored.get(planKeyName(fields, key)) ?? []).slice(0, fields.length))
  const only = identified(fields, parts)
  const rows = await manyByKey(store, named, columns, transaction, (read) => size.add(projection, read), only)
  const done: Done = { work, outcome: { kind: 'records', rows }, held: [], parts: [] }
  const places = new Map(rows.map((row, index) => [String(keyIn(fields, columns, row)), index]))
  return new Map(
    kept.flatMap((element): [Element, Shown][] => {
      const index = places.get(planKeyName(fields, keys.get(element)))
      return index === undefined ? [] : [[element, { done, index }]]
    }),
  )
}
