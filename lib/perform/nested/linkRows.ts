// Reads links: the records that may be linked, and the rows of the join model.

import type { Field } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { KeyValue, Predicate, UpdatePlan } from '../../../types/plan.js'
import type { LinkedBranch, Planned, Wanted } from '../../../types/work.js'
import { errorsAt, refuse } from '../../common/bodyErrors.js'
import { chunksOf, IN_ONE_STATEMENT } from '../../common/chunks.js'
import { ownColumn } from '../../common/columns.js'
import {
  afterKey,
  betweenKeys,
  isKeyValue,
  type KeyFields,
  keyColumns,
  keyName,
  lastKeyIn,
  withKeys,
} from '../../common/keys.js'
import { plainOf } from '../../common/plain.js'
import { both, joinedTo } from '../../common/predicates.js'
import { problem } from '../../common/problem.js'
import { owned } from '../../common/ties.js'
import { identified } from '../identified.js'
import { hidden, locked, some } from '../read.js'
import { existing } from '../refusal.js'
import { mostRows, rowsOf } from '../spelled.js'
import { beside, type Store } from '../store.js'
import { markRaced } from '../transaction.js'
import { limitedTo } from './diff.js'
import { nameOf, targetNames } from './linkTargets.js'
import { tiesOf } from './ties.js'

/** A record to be linked, and the value that the join model's foreign key refers to. */
export interface Pair {
  readonly wanted: Wanted
  readonly value: unknown
}

/** Records to be linked, by the text of their referenced key. */
export type Pairs = ReadonlyMap<string, Pair>

/** Rows of the join model, by the linked record's key. There is usually one per record. */
export type Linked = ReadonlyMap<string, readonly Row[]>

/** A deleted join row that is restored. */
export interface Revival {
  readonly wanted: Wanted
  readonly row: Row
  readonly planned: Planned<UpdatePlan>
}

/** No limit on the number of rows. */
const ALL = 2 ** 31 - 1

/**
 * Whether concurrent changes to one owner's links are serialized. They are unless a unique index prevents duplicate
 * links.
 */
export function isInOrder({ mode, isUnique }: Pick<LinkedBranch, 'mode' | 'isUnique'>): boolean {
  return mode === 'set' || !isUnique
}

/**
 * Reads the records to be linked, each once.
 * @throws Problem if the caller may not see some: 404 for a single key, 400 with positions for several
 */
export async function pairsOf(owner: Store, branch: LinkedBranch, all: readonly Wanted[]): Promise<Pairs> {
  const { resource, meetable, target, isOne, isUnique } = branch
  const { keys } = resource
  const store = beside(owner, branch.resource)
  const found: Row[] = []
  const wanted = [...new Set(all.flatMap(({ key }) => key ?? []))]
  // Without a unique index, a request that links from the other side locks its owner. Locking the records serializes
  // both.
  const read = isUnique ? some : locked
  for (const some of chunksOf(wanted)) {
    const rows = await read(
      store,
      both(withKeys(keys, some), meetable),
      keyColumns([...keys, target]),
      mostRows(keys, some.length),
    )
    found.push(...rows)
  }
  const rowOf = rowsOf(keys, found)
  const pairs = new Map<string, Pair>()
  const missing: Wanted[] = []
  for (const each of all) {
    const row = each.key === undefined ? undefined : rowOf(each.key)
    if (row === undefined) {
      missing.push(each)
      continue
    }
    const value = row[keys.length]
    const name = nameOf(target, value)
    if (!pairs.has(name)) pairs.set(name, { wanted: each, value })
  }
  if (missing.length > 0 && isOne) throw problem('not-found')
  refuse('validation', errorsAt(resource, placesOf(missing), 'not-found'))
  return pairs
}

/** The owner's links to the given records, as far as the caller may see them. */
export async function linkedTo(store: Store, branch: LinkedBranch, value: unknown, pairs: Pairs): Promise<Linked> {
  const { between, key, tie, guard } = branch
  const found = new Map<string, Row[]>()
  if (value === null || value === undefined) return found
  const own = both(owned(tie, value), guard)
  const versions = between.fields.filter(({ name }) => name === between.version)
  const columns = keyColumns([...between.keys, key, ...versions])
  for (const each of chunksOf([...pairs.values()])) {
    const where = both(own, pointingAt(key, valuesIn(each)))
    const rows = await (isInOrder(branch) ? locked : some)(store, where, columns, ALL)
    await sortInto(found, { store, branch, pairs }, rows)
  }
  return found
}

/** Links in pages, because an owner may have more links than fit into memory. */
export interface Pages {
  readonly first: Linked
  /** The key range of the page. Without statistics PostgreSQL would scan all links to delete a page by keys. */
  readonly bounds: Predicate | null
  /** Reads the next page, or null on the last page. */
  readonly next: (() => Promise<Pages>) | null
}

/** Compares the owner's links with a replacement set: links to keep, and other links. */
export async function sortedLinks(
  owner: Store,
  branch: LinkedBranch,
  value: unknown,
  pairs: Pairs,
): Promise<{ readonly found: Linked; readonly others: Pages }> {
  if (value === null || value === undefined) return { found: new Map(), others: NO_PAGES }
  const rows = await pageOf(owner, branch, value, null)
  const found =
    rows.length < IN_ONE_STATEMENT
      ? new Map([...(await grouped(owner, branch, pairs, rows))].filter(([name]) => pairs.has(name)))
      : await linkedTo(beside(owner, branch.between), branch, value, pairs)
  return { found, others: await othersIn(owner, branch, value, pairs, rows) }
}

export const NO_PAGES: Pages = Object.freeze({
  first: new Map<string, readonly Row[]>(),
  bounds: null,
  next: null,
})

/**
 * The sort key for paging through links. It is the linked record's key if a unique index covers it, else the join row's
 * key.
 */
function walkedBy({ isUnique, between, key }: LinkedBranch): KeyFields {
  return isUnique ? [key] : between.keys
}

/** A page of the owner's links that the caller may see, sorted. */
function pageOf(owner: Store, branch: LinkedBranch, value: unknown, after: KeyValue | null): Promise<readonly Row[]> {
  const { between, key, tie, guard } = branch
  const by = walkedBy(branch)
  const own = both(owned(tie, value), guard)
  const where = both(own, after === null ? null : afterKey(by, after))
  const versions = between.fields.filter(({ name }) => name === between.version)
  return locked(beside(owner, between), where, keyColumns([...between.keys, key, ...versions]), IN_ONE_STATEMENT, by)
}

/**
 * Links that the replacement set lacks, from one page and lazily from the following pages. Links to records that the
 * caller may not see are omitted.
 */
async function othersIn(
  owner: Store,
  branch: LinkedBranch,
  value: unknown,
  pairs: Pairs,
  rows: readonly Row[],
): Promise<Pages> {
  const { between, key } = branch
  const by = walkedBy(branch)
  const found = await grouped(owner, branch, pairs, rows)
  for (const name of pairs.keys()) found.delete(name)
  const columns = keyColumns([...between.keys, key])
  const start = lastKeyIn(by, columns, rows[0] ?? [])
  const last = lastKeyIn(by, columns, rows.at(-1) ?? [])
  const bounds = isKeyValue(start) && isKeyValue(last) ? betweenKeys(by, start, last) : null
  const isFull = rows.length === IN_ONE_STATEMENT
  const next =
    isFull && isKeyValue(last)
      ? async () => othersIn(owner, branch, value, pairs, await pageOf(owner, branch, value, last))
      : null
  return { first: await meetableOf(owner, branch, found), bounds, next }
}

async function grouped(
  owner: Store,
  branch: LinkedBranch,
  pairs: Pairs,
  rows: readonly Row[],
): Promise<Map<string, Row[]>> {
  const found = new Map<string, Row[]>()
  await sortInto(found, { store: beside(owner, branch.between), branch, pairs }, rows)
  return found
}

interface Sorting {
  readonly store: Store
  readonly branch: LinkedBranch
  readonly pairs: Pairs
}

/** Groups join rows by their linked record. A row begins with its key parts, followed by the foreign key. */
async function sortInto(
  found: Map<string, Row[]>,
  { store, branch, pairs }: Sorting,
  rows: readonly Row[],
): Promise<void> {
  const { between, key } = branch
  const values = rows.map((row) => row[between.keys.length])
  const targets = new Map<string, string>()
  for (const some of chunksOf(values.filter((value) => !pairs.has(nameOf(key, value))))) {
    for (const [own, target] of await targetNames(store, branch, some)) targets.set(own, target)
  }
  for (const [index, row] of rows.entries()) {
    const own = nameOf(key, values[index])
    const name = targets.get(own) ?? own
    const known = found.get(name)
    if (known === undefined) found.set(name, [row])
    else known.push(row)
  }
}

/** Links whose records the caller may see. The caller may not remove other links. */
async function meetableOf(owner: Store, branch: LinkedBranch, links: Linked): Promise<Linked> {
  const { target, meetable, between } = branch
  const store = beside(owner, branch.resource)
  const met = new Set<string>()
  const all = [...links.values()].flat().map((row) => ({ value: row[between.keys.length] }))
  for (const each of chunksOf(all)) {
    const rows = await some(store, both(pointingAt(target, valuesIn(each)), meetable), [ownColumn(target)], each.length)
    for (const [value] of rows) met.add(nameOf(target, value))
  }
  return new Map([...links].filter(([name]) => met.has(name)))
}

/**
 * Splits new links into links to create and deleted join rows to restore.
 * @throws Problem 403, or 409 if a link exists that the caller may not see: a second one would be a duplicate
 */
export async function apart(
  store: Store,
  branch: LinkedBranch,
  value: unknown,
  fresh: readonly Pair[],
): Promise<{ readonly created: readonly Pair[]; readonly revived: readonly Revival[] }> {
  const { between, key, tie, guard, isOne } = branch
  if (fresh.length > 0) tiesOf(tie, value)
  if (guard === null || fresh.length === 0) return { created: fresh, revived: [] }
  const there = new Map<string, Row[]>()
  const pairs = new Map(fresh.map((pair) => [nameOf(branch.target, pair.value), pair]))
  for (const some of chunksOf(fresh)) {
    const where = both(owned(tie, value), pointingAt(key, valuesIn(some)))
    const rows = await hidden(store, where, keyColumns([...between.keys, key]), ALL, isInOrder(branch))
    await sortInto(there, { store, branch, pairs }, rows)
  }
  const created: Pair[] = []
  const revived: Revival[] = []
  const barred: Wanted[] = []
  for (const pair of fresh) {
    const own = there.get(nameOf(branch.target, pair.value))
    if (own === undefined) {
      created.push(pair)
      continue
    }
    const revival = await revivalOf(store, branch, pair, own)
    if (revival === null) barred.push(pair.wanted)
    else revived.push(revival)
  }
  if (barred.length > 0) {
    // A caller who may not create links gets 403, which does not reveal that a link exists.
    await branch.create(barred)
    // Another request may have created the link since the visible links were read.
    throw markRaced(problem('conflict', isOne ? TAKEN : { errors: errorsAt(between, placesOf(barred), 'unique') }))
  }
  return { created, revived }
}

const TAKEN = { detail: 'The two records are already linked, and you may not change this link.' }

/** A deleted join row that the caller may restore, or null. */
async function revivalOf(
  store: Store,
  { between, restore }: LinkedBranch,
  { wanted }: Pair,
  rows: readonly Row[],
): Promise<Revival | null> {
  if (!between.softDeletes) return null
  for (const row of rows) {
    const own = identified(between.keys, [row.slice(0, between.keys.length)])
    const planned = limitedTo(await restore(keyName(between.keys, row)), own)
    const { kind, where } = planned.work.plan
    if ((await existing(store, { kind, where })) !== null) return { wanted, row, planned }
  }
  return null
}

function placesOf(wanted: readonly Wanted[]): readonly string[] {
  return wanted.map(({ place }) => place)
}

export function pointingAt(field: Field, values: readonly unknown[]): Predicate {
  return joinedTo(
    field,
    values.map((value) => plainOf(field, value)),
  )
}

function valuesIn(all: readonly { readonly value: unknown }[]): readonly unknown[] {
  return all.map(({ value }) => value)
}
