import type { Row } from '../../../types/outcome.js'
import type { BulkCreatePlan, KeyValue } from '../../../types/plan.js'
import type { Done, Element, Faults, Part, ReplacedBranch, Shown, Work } from '../../../types/work.js'
import { allErrors, errorsAt, refuse } from '../../common/bodyErrors.js'
import {
  type KeyFields,
  keyColumns,
  keyName,
  keyIn as keyOfRow,
  keyOfValues,
  planKeyName,
  planKeyParts,
  withKeys,
} from '../../common/keys.js'
import { both } from '../../common/predicates.js'
import { Problem } from '../../common/problem.js'
import { isTooLarge, type WrittenSize } from '../../common/responseSize.js'
import { owned } from '../../common/ties.js'
import { identified } from '../identified.js'
import { locked, manyByKey, some } from '../read.js'
import { asked, newWorks } from '../scoped/ask.js'
import type { Store } from '../store.js'
import { type Diff, limitedTo, type Means, put, type Removals } from './diff.js'
import { equalsStored, errorsOfStated } from './equality.js'
import { behind, tied, tiesOf } from './ties.js'

/** The stored children of one owner, matched with the elements of the body. */
interface Found {
  readonly branch: ReplacedBranch
  readonly store: Store
  /** Value of the owner's key that the children's foreign keys refer to. */
  readonly value: unknown
  /** Stored children by key text: key parts, then the version. */
  readonly stored: ReadonlyMap<string, Row>
  readonly keys: ReadonlyMap<Element, KeyValue>
  readonly created: readonly Element[]
  /** Elements whose key is unknown or belongs to another owner. */
  readonly strangers: readonly Element[]
  /** Errors of elements that state a different owner. */
  readonly errors: Faults
}

/** The nested elements of a relation, and the owner's key value. */
export type Holding = readonly [branch: ReplacedBranch, value: unknown]

/**
 * Plans the inserts, updates and deletes for the nested elements of one or several bodies.
 * @throws Problem 404 with the positions of elements that name other owners' records; then 400 if an element's record
 * is removed by another collection; then 403
 */
export async function diffChildren(
  owner: Store,
  holdings: readonly Holding[],
  removals: Removals,
): Promise<readonly Diff[]> {
  const all: Found[] = []
  for (const [branch, value] of holdings) all.push(await foundOf(owner, branch, value))
  refuse(
    'not-found',
    allErrors(all.map(({ branch, strangers }) => errorsAt(branch.resource, placesOf(strangers), 'foreign-key'))),
  )
  refuse(
    'validation',
    allErrors(all.map((found) => errorsAt(found.branch.resource, placesOf(contested(found, all)), 'removed'))),
  )
  const diffs: Diff[] = []
  for (const found of all) diffs.push(await diffOf(found, removals))
  return diffs
}

function placesOf(elements: readonly Element[]): readonly string[] {
  return elements.map(({ place }) => place)
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
  const errors = await statedOthers(ownerStore, branch, value)
  return { branch, store, value, stored, keys, created: [...created, ...fresh], strangers, errors }
}

/** Errors of elements that state a different owner. Each stated value is compared once. */
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

/**
 * Finds the stored row of an element's key. All rows belong to one owner, so the foreign key part of a key is not
 * compared.
 */
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

/** Stored children that the body omits, by key text. */
function goneOf({ branch, stored, keys }: Found): ReadonlyMap<string, Row> {
  const fields = branch.resource.keys
  const mentioned = new Set([...keys.values()].map((key) => planKeyName(fields, key)))
  return new Map([...stored].filter(([name]) => !mentioned.has(name)))
}

/** Elements whose records another collection of the same model removes. Two relations may lead to the same record. */
function contested(found: Found, all: readonly Found[]): readonly Element[] {
  const { branch, keys } = found
  const { model } = branch.resource
  const gone = all.filter((other) => other !== found && other.branch.resource.model === model).map(goneOf)
  if (gone.length === 0) return []
  const isGone = (key: KeyValue): boolean => gone.some((each) => each.has(planKeyName(branch.resource.keys, key)))
  return [...keys].filter(([, key]) => isGone(key)).map(([element]) => element)
}

/** The planned changes of one owner's children. */
interface Exchange extends Found {
  readonly updates: ReadonlyMap<Element, Awaited<ReturnType<ReplacedBranch['update']>>>
  readonly creation: Awaited<ReturnType<ReplacedBranch['create']>> | null
  readonly kept: readonly Element[]
  readonly removal: Awaited<ReturnType<ReplacedBranch['remove']>> | null
}

async function diffOf(found: Found, removals: Removals): Promise<Diff> {
  const { branch, keys, created, stored, errors } = found
  const { resource, many: isMany, elements } = branch
  const rows = [...goneOf(found).values()].map((row) => row.slice(0, resource.keys.length))
  const gone = rows.map((row) => keyIn(resource.keys, row))
  removals.add(gone.length, branch)
  const updates: [Element, Awaited<ReturnType<ReplacedBranch['update']>>][] = []
  for (const [element, key] of keys) if (!element.isKept) updates.push([element, await branch.update(element, key)])
  const fresh = created.length === 0 ? null : await branch.create(created)
  const exchange: Exchange = {
    ...found,
    updates: new Map(updates.map(([element, each]) => [element, { ...each, work: asked(each.work) }])),
    creation: fresh && { ...fresh, work: asked(fresh.work) },
    kept: [...keys.keys()].filter(({ isKept }) => isKept),
    removal: gone.length === 0 ? null : limitedTo(await branch.remove(gone), identified(resource.keys, rows)),
  }
  return {
    branch,
    errors,
    works: [...updates.map(([, { work }]) => work), ...(fresh === null ? [] : [fresh.work])],
    storing: async () => [
      ...updates.map(([, { work }]) => work),
      ...(fresh === null ? [] : newWorks(owning(fresh.work, found))),
    ],
    versions: updates.flatMap(([element, { work }]) => {
      const { precondition } = work.plan
      const row = stored.get(planKeyName(resource.keys, keys.get(element)))
      return precondition === null
        ? []
        : [{ resource, place: element.place, precondition, stored: row?.[resource.keys.length] }]
    }),
    execute: async (value, means, parts) => {
      const shown = await carryOut(exchange, value, means, parts)
      const all = elements.map((element) => shown.get(element)).filter((each) => each !== undefined)
      return isMany ? all : (all[0] ?? null)
    },
  }
}

/** New children with the foreign key of their existing owner. */
function owning(work: Work<BulkCreatePlan>, { branch, value, created }: Found): Work<BulkCreatePlan> {
  if (value === null || value === undefined) return work
  const { owned: _, ...plan } = tied(
    work,
    created.map(() => tiesOf(branch.tie, value)),
  )
  return { ...work, plan }
}

/** The key of a stored row, whose first values are the key parts. */
function keyIn(keys: KeyFields, row: Row | undefined): KeyValue {
  const value = row === undefined ? undefined : keyOfValues(keys, row.slice(0, keys.length))
  return typeof value === 'number' || typeof value === 'string' ? value : String(value)
}

/**
 * Locks the owner's children that the caller may see. Returns key parts and versions by key text.
 * @throws Problem if there are more children than a request may keep and remove
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
  // Children beyond the number of elements are removed, and the number of removals is limited. No more rows need to be
  // read.
  const most = elements.length + Math.max(0, spare)
  const rows = await locked(store, where, keyColumns([...keys, ...versions]), most + 1)
  if (rows.length > most) throw overflow()
  return new Map(rows.map((row) => [keyName(keys, row.slice(0, keys.length)), row]))
}

/** Elements whose client-chosen keys are not taken yet. */
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

/** Executes the planned changes. Deletes run first, because they free unique values. */
async function carryOut(
  exchange: Exchange,
  value: unknown,
  { write, execute, size }: Means,
  parts: Part[],
): Promise<ReadonlyMap<Element, Shown>> {
  const { branch, store, removal, updates, creation, created } = exchange
  const shown = new Map<Element, Shown>()
  if (removal !== null) await put(store, removal, write, parts)
  for (const [element, { work, caller }] of updates) {
    const where = both(work.plan.where, owned(branch.tie, value))
    const done = await inPlace(element, () => execute(store, { ...work, plan: { ...work.plan, where } }))
    parts.push({ done, caller })
    shown.set(element, { done, index: 0 })
  }
  if (creation !== null) {
    const { work, caller } = creation
    const ties = created.map(() => tiesOf(branch.tie, value))
    const done = await execute(store, { ...work, plan: tied(work, ties) })
    parts.push({ done, caller })
    for (const [index, element] of created.entries()) shown.set(element, { done, index })
  }
  for (const [element, each] of await keptOnes(exchange, size)) shown.set(element, each)
  return shown
}

/** Runs the work of an element. A Problem gets the element's position. */
export async function inPlace<T>({ place }: Pick<Element, 'place'>, work: () => Promise<T>): Promise<T> {
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
  const places = new Map(rows.map((row, index) => [String(keyOfRow(fields, columns, row)), index]))
  return new Map(
    kept.flatMap((element): [Element, Shown][] => {
      const index = places.get(planKeyName(fields, keys.get(element)))
      return index === undefined ? [] : [[element, { done, index }]]
    }),
  )
}
