import type { Row } from '../../types/outcome.js'
import type { BulkDeletePlan, KeyValue, Predicate, UpdatePlan } from '../../types/plan.js'
import type { Element, Faults, Planned, ReplacedBranch, Work } from '../../types/work.js'
import {
  type KeyFields,
  keyColumns,
  keyName,
  keyOfValues,
  planKeyName,
  planKeyParts,
  withKeys,
} from '../common/keys.js'
import { fault } from '../common/messages.js'
import { plainOf } from '../common/plain.js'
import { both, isNull, joinedTo } from '../common/predicates.js'
import { type ProblemCode, problem } from '../common/problem.js'
import { equalsStored, errorsOfStated } from './equality.js'
import { identified } from './identified.js'
import { locked, some } from './read.js'
import type { Store } from './store.js'
import { behind } from './ties.js'

/** What there is of the records of one owner, and which of the elements are about them. */
interface Found {
  readonly branch: ReplacedBranch
  readonly store: Store
  /** What is stored of each by its key: the parts of that, and the version. */
  readonly stored: ReadonlyMap<string, Row>
  readonly keys: ReadonlyMap<Element, KeyValue>
  readonly created: readonly Element[]
  /** Those that name records of others, or none. */
  readonly strangers: readonly Element[]
  /** The elements that state another owner. */
  readonly faults: Faults
}

/** What the records of one owner become. */
export interface Exchange extends Found {
  readonly updates: ReadonlyMap<Element, Planned<UpdatePlan>>
  readonly creation: Awaited<ReturnType<ReplacedBranch['create']>> | null
  readonly kept: readonly Element[]
  readonly removal: Awaited<ReturnType<ReplacedBranch['remove']>> | null
}

/** What an attempt at a request has removed because its bodies do not have it. */
export class Removals {
  #count = 0

  /** @throws Problem where that is more than a request may */
  add(count: number, { spare, overflow }: Pick<ReplacedBranch, 'spare' | 'overflow'>): void {
    this.#count += count
    if (this.#count > spare) throw overflow()
  }
}

/** What a body holds of the records behind a relation, and the value by which these point at their owner. */
export type Holding = readonly [branch: ReplacedBranch, value: unknown]

/**
 * Finds out what becomes of each record, for all that one or several bodies hold.
 *
 * @throws Problem 404 with the places of all elements that are about records of others, 400 with those of elements whose records
 * another body or collection leaves out, then 403
 */
export async function exchangesOf(
  owner: Store,
  holdings: readonly Holding[],
  removals: Removals,
): Promise<readonly Exchange[]> {
  const all: Found[] = []
  for (const [branch, value] of holdings) all.push(await foundOf(owner, branch, value))
  const strangers = all.flatMap(({ store, strangers }) => strangers.map((element) => [store, element] as const))
  refuse(strangers, { problem: 'not-found', message: 'foreign-key' })
  refuse(
    all.flatMap((found) => contested(found, all)),
    { problem: 'validation', message: 'removed' },
  )
  const exchanges: Exchange[] = []
  for (const found of all) exchanges.push(await exchangeOf(found, removals))
  return exchanges
}

/** The works that these come to. */
export function worksOf(exchanges: readonly Exchange[]): readonly Work[] {
  return exchanges.flatMap(({ updates, creation }) =>
    [...updates.values(), ...(creation === null ? [] : [creation])].map(({ work }) => work),
  )
}

async function foundOf(ownerStore: Store, branch: ReplacedBranch, value: unknown): Promise<Found> {
  const store = behind(ownerStore, branch)
  const { resource, elements, many: isMany, tie } = branch
  const stored = await ownedBy(store, branch, value)
  const { keys: fields } = resource
  const [only] = stored.keys()
  const rowOf = finderIn(stored, branch)
  const keys = new Map<Element, KeyValue>()
  const created: Element[] = []
  const unknown: Element[] = []
  const named = new Map<Element, KeyValue>()
  const owner = tie.source.decode(value) ?? null
  for (const element of elements) {
    const key = element.keyOf(owner)
    if (key !== null && key !== undefined) named.set(element, key)
    if (key === null && !isMany && only !== undefined) keys.set(element, keyIn(fields, stored.get(only)))
    else if (key === null) created.push(element)
    else {
      const row = key === undefined ? undefined : rowOf(key)
      if (row === undefined) unknown.push(element)
      else keys.set(element, keyIn(fields, row))
    }
  }
  const fresh = await newcomers(store, branch, named, unknown)
  const strangers = unknown.filter((element) => !fresh.includes(element))
  const faults = await statedOthers(ownerStore, branch, value)
  return { branch, store, stored, keys, created: [...created, ...fresh], strangers, faults }
}

/** The errors of elements that state another owner than theirs. Each value is compared once. */
function statedOthers(
  owner: Store,
  { elements, resource, tie: { source } }: ReplacedBranch,
  value: unknown,
): Promise<Faults> {
  const known = new Map<unknown, Promise<boolean>>()
  return errorsOfStated(
    resource,
    elements.flatMap(({ stated }) => stated),
    ({ value: stated }) => {
      const isEqual = known.get(stated) ?? equalsStored(owner, source, value, stated)
      known.set(stated, isEqual)
      return isEqual
    },
  )
}

/** What is wrong with elements that could not be told before their owners were read. */
export function faultsIn(exchanges: readonly Exchange[]): Faults {
  return Object.assign({}, ...exchanges.map(({ faults }) => faults))
}

/** Finds the row of an element's key. All rows belong to one owner, so the part of a key that refers to it is not compared. */
function finderIn(
  stored: Found['stored'],
  { resource: { keys }, tie }: ReplacedBranch,
): (key: KeyValue) => Row | undefined {
  if (keys.length === 1 || !keys.includes(tie.key)) return (key) => stored.get(planKeyName(keys, key))
  const nameOf = (parts: readonly unknown[]): string =>
    JSON.stringify(parts.filter((_, index) => keys[index] !== tie.key))
  const rows = new Map(
    [...stored.values()].map((row) => [nameOf(keys.map(({ decode }, index) => decode(row[index]))), row]),
  )
  return (key) => rows.get(nameOf(planKeyParts(keys, key)))
}

/** The records that are there and left out, by the names of their keys. */
function goneOf({ branch, stored, keys }: Found): ReadonlyMap<string, Row> {
  const fields = branch.resource.keys
  const mentioned = new Set([...keys.values()].map((key) => planKeyName(fields, key)))
  return new Map([...stored].filter(([name]) => !mentioned.has(name)))
}

/** The elements about records that another collection of the same model removes: two relations may lead to one record. */
function contested(found: Found, all: readonly Found[]): readonly (readonly [store: Store, element: Element])[] {
  const { branch, keys, store } = found
  const { model } = branch.resource
  const gone = all.filter((other) => other !== found && other.branch.resource.model === model).map(goneOf)
  if (gone.length === 0) return []
  const isGone = (key: KeyValue): boolean => gone.some((each) => each.has(planKeyName(branch.resource.keys, key)))
  return [...keys].filter(([, key]) => isGone(key)).map(([element]) => [store, element] as const)
}

async function exchangeOf(found: Found, removals: Removals): Promise<Exchange> {
  const { branch, keys, created } = found
  const { keys: fields } = branch.resource
  const rows = [...goneOf(found).values()].map((row) => row.slice(0, fields.length))
  const gone = rows.map((row) => keyIn(fields, row))
  removals.add(gone.length, branch)
  const updates = new Map<Element, Planned<UpdatePlan>>()
  for (const [element, key] of keys) if (!element.isKept) updates.set(element, await branch.update(element, key))
  return {
    ...found,
    updates,
    creation: created.length === 0 ? null : await branch.create(created),
    kept: [...keys.keys()].filter(({ isKept }) => isKept),
    removal: gone.length === 0 ? null : limitedTo(await branch.remove(gone), identified(fields, rows)),
  }
}

/** A plan with a further condition. */
export function limitedTo<P extends UpdatePlan | BulkDeletePlan>(
  planned: Planned<P>,
  and: Predicate | null,
): Planned<P> {
  const { work } = planned
  return { ...planned, work: { ...work, plan: { ...work.plan, where: both(work.plan.where, and) } } }
}

/** The first of what was read of a record are the parts of its key. */
function keyIn(keys: KeyFields, row: Row | undefined): KeyValue {
  const value = row === undefined ? undefined : keyOfValues(keys, row.slice(0, keys.length))
  return typeof value === 'number' || typeof value === 'string' ? value : String(value)
}

/**
 * The owner's records that the caller may meet: the parts of keys, and versions, by the text of the key.
 *
 * @throws Problem where there are more than a request may keep and remove
 */
async function ownedBy(
  store: Store,
  { resource, tie, guard, elements, spare, overflow }: ReplacedBranch,
  value: unknown,
): Promise<Map<string, Row>> {
  const { keys, fields, version } = resource
  if (value === null || value === undefined) return new Map()
  const versions = fields.filter(({ name }) => name === version)
  const where = both(owned(tie, value), guard)
  // Those that are more than the elements are removed: beyond what a request may remove, no more needs to be read.
  const most = elements.length + Math.max(0, spare)
  const rows = await locked(store, where, keyColumns([...keys, ...versions]), most + 1)
  if (rows.length > most) throw overflow()
  return new Map(rows.map((row) => [keyName(keys, row.slice(0, keys.length)), row]))
}

export function owned({ key, fixed }: ReplacedBranch['tie'], value: unknown): Predicate {
  const parts = [...fixed].map(([field, each]) => (each === null ? isNull(field, false) : joinedTo(field, [each])))
  return parts.reduce<Predicate>((all, part) => both(all, part), joinedTo(key, [plainOf(key, value)]))
}

/** Those of the elements whose keys belong to no record yet. */
async function newcomers(
  store: Store,
  { resource, isChosen, guard }: ReplacedBranch,
  named: ReadonlyMap<Element, KeyValue>,
  elements: readonly Element[],
): Promise<readonly Element[]> {
  const keyed = isChosen ? elements.filter((element) => named.has(element)) : []
  if (keyed.length === 0) return []
  const keys = keyed.map((element) => named.get(element))
  const rows = await some(store, both(withKeys(resource.keys, keys), guard), keyColumns(resource.keys), keys.length)
  const taken = new Set(rows.map((row) => keyName(resource.keys, row)))
  return keyed.filter((element) => !taken.has(planKeyName(resource.keys, named.get(element))))
}

/** Refuses a request for those of its elements that have something in common; none, no refusal. */
function refuse(
  elements: readonly (readonly [store: Store, element: Element])[],
  why: {
    readonly problem: ProblemCode
    readonly message: 'foreign-key' | 'removed' | 'version' | 'stale'
    readonly detail?: string
  },
): void {
  if (elements.length === 0) return
  throw problem(why.problem, {
    ...(why.detail === undefined ? {} : { detail: why.detail }),
    errors: Object.fromEntries(
      elements.map(([{ resource }, { place }]) => [place, [resource.tell(fault(why.message))]]),
    ),
  })
}

/** @throws Problem 428, then 412, with the places of all elements that lack what they need */
export function refuseVersions(exchanges: readonly Exchange[]): void {
  const all = exchanges.flatMap((exchange) =>
    [...exchange.updates].flatMap(([element, { work }]) => {
      const { precondition } = work.plan
      return precondition === null ? [] : [{ exchange, element, precondition }]
    }),
  )
  const name = all[0]?.precondition.field.json
  const placesOf = (those: typeof all) => those.map(({ exchange, element }) => [exchange.store, element] as const)
  refuse(placesOf(all.filter(({ precondition }) => precondition.where === null)), {
    problem: 'precondition-required',
    message: 'version',
    detail: `Send with each record the version that you last read, as "${name}".`,
  })
  const isStale = ({ exchange: { branch, keys, stored }, element, precondition }: (typeof all)[number]): boolean => {
    const fields = branch.resource.keys
    return !precondition.isMet(stored.get(planKeyName(fields, keys.get(element)))?.[fields.length])
  }
  refuse(placesOf(all.filter(isStale)), {
    problem: 'precondition-failed',
    message: 'stale',
    detail: `Some records have changed. Read them again and send their current versions as "${name}".`,
  })
}
