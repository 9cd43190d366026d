// Reads the records that may be linked, and the rows of the join model.

import type { Field } from '../../../types/field.js'
import type { Row } from '../../../types/outcome.js'
import type { KeyValue, Predicate, UpdatePlan } from '../../../types/plan.js'
import type { LinkChange, LinkTarget, PlannedPart } from '../../../types/work.js'
import { errorsAt, refuse } from '../../common/bodyErrors.js'
import { MAX_LOOKUP_VALUES, splitIntoChunks } from '../../common/chunks.js'
import { ownColumn } from '../../common/columns.js'
import { matchChildren } from '../../common/foreignKeyBinding.js'
import { getOrCreate } from '../../common/getOrCreate.js'
import {
  isKeyValue,
  type KeyFields,
  keyColumns,
  keyText,
  lastKeyOfRow,
  matchKeyRange,
  matchKeys,
  seekAfterKey,
} from '../../common/keys.js'
import { toPlainValue } from '../../common/plainValue.js'
import { addCondition, matchNull, matchStoredValues } from '../../common/predicates.js'
import { problem } from '../../common/problem.js'
import { readLocked, readUnscoped, readVisible } from '../read.js'
import { buildIdentityPredicate } from '../recordIdentity.js'
import { findExisting } from '../refusal.js'
import { type StatementContext, storeInSameTransaction } from '../store.js'
import { markRaced } from '../transaction.js'
import { createRowLookup, maxRowsOf } from '../uuidSpellings.js'
import { limitPlan } from './diff.js'
import { readTargetTexts, storedValueText } from './linkTargets.js'
import { bindingValuesOf } from './parentKeys.js'

/** A record to be linked, and the value that the join model's foreign key refers to. */
export interface LinkedRecord {
  readonly linkTarget: LinkTarget
  readonly value: unknown
}

/** Records to be linked, by the text of their referenced key. */
export type LinkedRecords = ReadonlyMap<string, LinkedRecord>

/** Rows of the join model, by the linked record's key. A linked record usually has one row. */
export type JoinRows = ReadonlyMap<string, readonly Row[]>

/** A deleted join row that is restored. */
export interface RestoredLink {
  readonly target: LinkTarget
  readonly row: Row
  readonly planned: PlannedPart<UpdatePlan>
}

/** No limit on the number of rows. */
const ALL_ROWS = 2 ** 31 - 1

/**
 * Whether concurrent changes to one parent's links are serialized. A unique index makes the serialization unnecessary,
 * unless the request replaces all links.
 */
export function isSerialized({ mode, isUnique }: Pick<LinkChange, 'mode' | 'isUnique'>): boolean {
  return mode === 'set' || !isUnique
}

/**
 * Reads the records to be linked, without duplicates.
 * @throws Problem 404 if the request names a single key and the caller may not see its record
 * @throws Problem 400 with positions if the caller may not see some of several records
 */
export async function findLinkedRecords(
  parentStore: StatementContext,
  linkChange: LinkChange,
  all: readonly LinkTarget[],
): Promise<LinkedRecords> {
  const { resource, targetCondition, target, isOne, isUnique } = linkChange
  const { keys } = resource
  const store = storeInSameTransaction(parentStore, linkChange.resource)
  const found: Row[] = []
  const requestedKeys = [...new Set(all.flatMap(({ key }) => key ?? []))]
  // Without a unique index, two requests may create one link from opposite sides. Each request locks its parent and the
  // linked records, which serializes both requests.
  const read = isUnique ? readVisible : readLocked
  for (const some of splitIntoChunks(requestedKeys)) {
    const rows = await read(
      store,
      addCondition(matchKeys(keys, some), targetCondition),
      keyColumns([...keys, target]),
      maxRowsOf(keys, some.length),
    )
    found.push(...rows)
  }
  const rowOf = createRowLookup(keys, found)
  const pairs = new Map<string, LinkedRecord>()
  const missing: LinkTarget[] = []
  for (const each of all) {
    const row = each.key === undefined ? undefined : rowOf(each.key)
    if (row === undefined) {
      missing.push(each)
      continue
    }
    const value = row[keys.length]
    const name = storedValueText(target, value)
    if (!pairs.has(name)) pairs.set(name, { linkTarget: each, value })
  }
  if (missing.length > 0 && isOne) throw problem('not-found')
  refuse('validation', errorsAt(resource, placesOf(missing), 'not-found'))
  return pairs
}

/** Reads the parent's links to the given records, as far as the caller may see the links. */
export async function readJoinRows(
  store: StatementContext,
  linkChange: LinkChange,
  value: unknown,
  pairs: LinkedRecords,
): Promise<JoinRows> {
  const { joinModelResource, key, binding, joinRowCondition } = linkChange
  const found = new Map<string, Row[]>()
  if (value === null || value === undefined) return found
  const own = addCondition(matchChildren(binding, value), joinRowCondition)
  const versions = joinModelResource.fields.filter(({ name }) => name === joinModelResource.version)
  const columns = keyColumns([...joinModelResource.keys, key, ...versions])
  for (const each of splitIntoChunks([...pairs.values()])) {
    const where = addCondition(own, matchForeignKey(key, valuesOfAll(each)))
    const rows = await (isSerialized(linkChange) ? readLocked : readVisible)(store, where, columns, ALL_ROWS)
    await addToGroups(found, { store, linkChange, records: pairs }, rows)
  }
  return found
}

/** Links of a parent in pages, because all links may not fit into memory. */
export interface JoinRowPages {
  readonly first: JoinRows
  /**
   * Key range of the page, for the DELETE. Without the range, PostgreSQL would scan all links if it has no statistics.
   */
  readonly bounds: Predicate | null
  /** Reads the next page. null: this page is the last. */
  readonly next: (() => Promise<JoinRowPages>) | null
}

/**
 * Compares the parent's links with a replacement set. `others` has the links to remove. `found` has the links to keep,
 * and may have further links.
 */
export async function splitJoinRows(
  parentStore: StatementContext,
  linkChange: LinkChange,
  value: unknown,
  pairs: LinkedRecords,
): Promise<{ readonly found: JoinRows; readonly others: JoinRowPages }> {
  if (value === null || value === undefined) return { found: new Map(), others: NO_PAGES }
  const rows = await readJoinRowPage(parentStore, linkChange, value, null)
  const found =
    rows.length < MAX_LOOKUP_VALUES
      ? await groupJoinRows(parentStore, linkChange, pairs, rows)
      : await readJoinRows(storeInSameTransaction(parentStore, linkChange.joinModelResource), linkChange, value, pairs)
  return { found, others: await readOtherJoinRows(parentStore, linkChange, value, pairs, rows) }
}

export const NO_PAGES: JoinRowPages = Object.freeze({
  first: new Map<string, readonly Row[]>(),
  bounds: null,
  next: null,
})

/**
 * Returns the sort key for paging through links: the foreign key to the linked record if an index covers it, otherwise
 * the join row's key.
 */
function pagingKeysOf({ isUnique, joinModelResource, key }: LinkChange): KeyFields {
  return isUnique ? [key] : joinModelResource.keys
}

/** Reads a sorted page of the parent's links that the caller may see. */
function readJoinRowPage(
  parentStore: StatementContext,
  linkChange: LinkChange,
  value: unknown,
  after: KeyValue | null,
): Promise<readonly Row[]> {
  const { joinModelResource, key, binding, joinRowCondition } = linkChange
  const by = pagingKeysOf(linkChange)
  // A row without a foreign key links no record.
  const links = addCondition(matchChildren(binding, value), matchNull(key, true))
  const own = addCondition(links, joinRowCondition)
  const where = addCondition(own, after === null ? null : seekAfterKey(by, after))
  return readLocked(
    storeInSameTransaction(parentStore, joinModelResource),
    where,
    keyColumns([...joinModelResource.keys, key]),
    MAX_LOOKUP_VALUES,
    by,
  )
}

/**
 * Returns the links of a page that the replacement set lacks, and a function that reads the next page. Omits links to
 * records that the caller may not see.
 */
async function readOtherJoinRows(
  parentStore: StatementContext,
  linkChange: LinkChange,
  value: unknown,
  pairs: LinkedRecords,
  rows: readonly Row[],
): Promise<JoinRowPages> {
  const { joinModelResource, key } = linkChange
  const by = pagingKeysOf(linkChange)
  const found = await groupJoinRows(parentStore, linkChange, pairs, rows)
  for (const name of pairs.keys()) found.delete(name)
  const columns = keyColumns([...joinModelResource.keys, key])
  const start = lastKeyOfRow(by, columns, rows[0] ?? [])
  const last = lastKeyOfRow(by, columns, rows.at(-1) ?? [])
  const bounds = isKeyValue(start) && isKeyValue(last) ? matchKeyRange(by, start, last) : null
  const isFull = rows.length === MAX_LOOKUP_VALUES
  const next =
    isFull && isKeyValue(last)
      ? async () =>
          readOtherJoinRows(
            parentStore,
            linkChange,
            value,
            pairs,
            await readJoinRowPage(parentStore, linkChange, value, last),
          )
      : null
  return { first: await selectVisibleLinks(parentStore, linkChange, found), bounds, next }
}

async function groupJoinRows(
  parentStore: StatementContext,
  linkChange: LinkChange,
  pairs: LinkedRecords,
  rows: readonly Row[],
): Promise<Map<string, Row[]>> {
  const found = new Map<string, Row[]>()
  await addToGroups(
    found,
    { store: storeInSameTransaction(parentStore, linkChange.joinModelResource), linkChange, records: pairs },
    rows,
  )
  return found
}

interface JoinRowGrouping {
  readonly store: StatementContext
  readonly linkChange: LinkChange
  readonly records: LinkedRecords
}

/** Groups join rows by their linked record. A row begins with its key parts, followed by the foreign key. */
async function addToGroups(
  found: Map<string, Row[]>,
  { store, linkChange, records }: JoinRowGrouping,
  rows: readonly Row[],
): Promise<void> {
  const { joinModelResource, key } = linkChange
  const values = rows.map((row) => row[joinModelResource.keys.length])
  const targets = new Map<string, string>()
  for (const some of splitIntoChunks(values.filter((value) => !records.has(storedValueText(key, value))))) {
    for (const [own, target] of await readTargetTexts(store, linkChange, some)) targets.set(own, target)
  }
  for (const [index, row] of rows.entries()) {
    const own = storedValueText(key, values[index])
    getOrCreate(found, targets.get(own) ?? own, () => []).push(row)
  }
}

/** Returns the links whose records the caller may see, because the caller may not remove other links. */
async function selectVisibleLinks(
  parentStore: StatementContext,
  linkChange: LinkChange,
  links: JoinRows,
): Promise<JoinRows> {
  const { target, targetCondition, joinModelResource } = linkChange
  const store = storeInSameTransaction(parentStore, linkChange.resource)
  const met = new Set<string>()
  const all = [...links.values()].flat().map((row) => ({ value: row[joinModelResource.keys.length] }))
  for (const each of splitIntoChunks(all)) {
    const rows = await readVisible(
      store,
      addCondition(matchForeignKey(target, valuesOfAll(each)), targetCondition),
      [ownColumn(target)],
      each.length,
    )
    for (const [value] of rows) met.add(storedValueText(target, value))
  }
  return new Map([...links].filter(([name]) => met.has(name)))
}

/**
 * Splits new links into links to create and deleted join rows to restore.
 * @throws Problem 403 if the caller may not create a link
 * @throws Problem 409 if a link exists that the caller may not see, because a second link would be a duplicate
 */
export async function separateRestored(
  store: StatementContext,
  linkChange: LinkChange,
  value: unknown,
  added: readonly LinkedRecord[],
): Promise<{ readonly created: readonly LinkedRecord[]; readonly revived: readonly RestoredLink[] }> {
  const { joinModelResource, key, binding, joinRowCondition, isOne } = linkChange
  if (added.length > 0) bindingValuesOf(binding, value)
  if (joinRowCondition === null || added.length === 0) return { created: added, revived: [] }
  const there = new Map<string, Row[]>()
  const pairs = new Map(added.map((pair) => [storedValueText(linkChange.target, pair.value), pair]))
  for (const some of splitIntoChunks(added)) {
    const where = addCondition(matchChildren(binding, value), matchForeignKey(key, valuesOfAll(some)))
    const rows = await readUnscoped(
      store,
      where,
      keyColumns([...joinModelResource.keys, key]),
      ALL_ROWS,
      isSerialized(linkChange),
    )
    await addToGroups(there, { store, linkChange, records: pairs }, rows)
  }
  const created: LinkedRecord[] = []
  const revived: RestoredLink[] = []
  const barred: LinkTarget[] = []
  for (const pair of added) {
    const own = there.get(storedValueText(linkChange.target, pair.value))
    if (own === undefined) {
      created.push(pair)
      continue
    }
    const revival = await findRestorable(store, linkChange, pair, own)
    if (revival === null) barred.push(pair.linkTarget)
    else revived.push(revival)
  }
  if (barred.length > 0) {
    // A caller who may not create links gets 403, which does not reveal that a link exists.
    await linkChange.create(barred)
    // Another request may have created the link since the visible links were read.
    throw markRaced(
      problem('conflict', isOne ? ALREADY_LINKED : { errors: errorsAt(joinModelResource, placesOf(barred), 'unique') }),
    )
  }
  return { created, revived }
}

const ALREADY_LINKED = { detail: 'The two records are already linked, and you may not change this link.' }

/** Returns a deleted join row that the caller may restore, or null. */
async function findRestorable(
  store: StatementContext,
  { joinModelResource, restore }: LinkChange,
  { linkTarget }: LinkedRecord,
  rows: readonly Row[],
): Promise<RestoredLink | null> {
  if (!joinModelResource.softDeletes) return null
  for (const row of rows) {
    const own = buildIdentityPredicate(joinModelResource.keys, [row])
    const planned = limitPlan(await restore(keyText(joinModelResource.keys, row)), own)
    const { kind, where } = planned.work.plan
    if ((await findExisting(store, { kind, where })) !== null) return { target: linkTarget, row, planned }
  }
  return null
}

function placesOf(targets: readonly LinkTarget[]): readonly string[] {
  return targets.map(({ place }) => place)
}

export function matchForeignKey(field: Field, values: readonly unknown[]): Predicate {
  return matchStoredValues(
    field,
    values.map((value) => toPlainValue(field, value)),
  )
}

function valuesOfAll(all: readonly { readonly value: unknown }[]): readonly unknown[] {
  return all.map(({ value }) => value)
}
