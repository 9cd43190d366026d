// Reads stored records back under the caller's scope conditions, before the commit.

import type { Transaction } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { Column, Plan, Predicate } from '../../../types/plan.js'
import type { Branch, Done, Work } from '../../../types/work.js'
import { allErrors, errorsAt, hasErrors } from '../../common/bodyErrors.js'
import { chunksOf } from '../../common/chunks.js'
import { fieldNamed, ownColumn, placeOfOwn } from '../../common/columns.js'
import { keyColumns } from '../../common/keys.js'
import { both, hasApart } from '../../common/predicates.js'
import type { ProblemErrors } from '../../common/problem.js'
import { keysOf } from '../../sequelize/model.js'
import { inSavepoint, isWrite } from '../../sequelize/savepoint.js'
import { identified, identityName } from '../identified.js'
import { statementReader } from '../statements/read.js'
import { beside, type Store, within } from '../store.js'
import { inTransaction, joinedBy } from '../transaction.js'
import { unstorable } from './ask.js'
import { beginRequest, knownBefore } from './before.js'
import { type PathPart, pathParts, withParts } from './paths.js'

/**
 * Whether a work may have a scope condition, so that its records must be read back. For plans that are made during the
 * write, only the resource is known.
 */
export function isScoped({ plan, branches = [], within = [] }: Pick<Work, 'plan' | 'branches' | 'within'>): boolean {
  return scopesIn(plan) || branches.some(isScopedBranch) || within.some(({ behaviours }) => behaviours.confine !== null)
}

function scopesIn(plan: Plan): boolean {
  switch (plan.kind) {
    case 'bulkUpdate':
      return plan.all.scope !== undefined
    case 'upsert':
      return plan.any.scope !== undefined || plan.items.some(({ create }) => create.scope !== undefined)
    case 'replace':
      return plan.update.scope !== undefined || plan.create?.scope !== undefined
    default:
      return 'scope' in plan && plan.scope !== undefined
  }
}

function isScopedBranch(branch: Branch): boolean {
  if (branch.kind === 'new') return isScoped(branch.work)
  const met = branch.kind === 'linked' ? [branch.guard, branch.meetable] : [branch.guard]
  return met.some((condition) => condition !== null && hasApart(condition))
}

/**
 * Runs a work with scope conditions in a transaction. In a transaction of the host, an error rolls back to a savepoint.
 * The records are read back in the state of the latest commits.
 * @throws Problem 403 if stored records are outside the caller's scope
 */
export function heldToScopes(store: Store, work: (store: Store) => Promise<Done>): Promise<Done> {
  const held = async (transaction: Transaction): Promise<Done> => {
    const inside = within(store, transaction)
    beginRequest(transaction)
    const done = await work(inside)
    await readBack(inside, done)
    return done
  }
  const joined = joinedBy(store)
  if (joined !== undefined && !isWrite(joined)) return inSavepoint(joined, held)
  return inTransaction(store, held, { isRepeatable: true, seesCommitted: true })
}

/** A stored record, and the condition that it must meet. */
interface Stored {
  readonly condition: Predicate
  /** Parts of its key. */
  readonly key: Row
  /** null for the only record of a request. */
  readonly place: string | null
}

async function readBack(store: Store, done: Done): Promise<void> {
  const missing: string[] = []
  const errors: ProblemErrors[] = []
  for (const { work, stored } of storedIn(done)) {
    const inside = beside(store, work.resource)
    // If only a record's links change, the record itself is not written.
    if (work.plan.kind === 'get' && work.plan.scope !== undefined) await assertMet(inside, work.plan.where)
    for (const condition of new Set(stored.map((each) => each.condition))) {
      const some = stored.filter((each) => each.condition === condition)
      const outside = await unmetBy(inside, condition, some)
      for (const { place } of outside) {
        if (place === null) missing.push('')
        else errors.push(errorsAt(work.resource, [place], 'scope'))
      }
    }
  }
  const all = allErrors(errors)
  if (missing.length > 0 || hasErrors(all)) throw unstorable(all)
}

async function unmetBy(store: Store, condition: Predicate, stored: readonly Stored[]): Promise<readonly Stored[]> {
  const { keys } = store.resource
  const starts = startsOf(store, condition)
  const columns = keyColumns([...keys, ...starts.map(({ field }) => field)])
  const outside: Stored[] = []
  for (const some of chunksOf(stored)) {
    const rows = await rowsMeeting(store, { condition, columns, stored: some })
    outside.push(...some.filter(({ key }) => !rows.has(identityName(keys, key))))
    outside.push(...(await admittedByThemselves(store, condition, starts, rows, some)))
  }
  return outside
}

/** Rows of the records that meet a condition, by key text. */
async function rowsMeeting(
  store: Store,
  {
    condition,
    columns,
    stored,
  }: { readonly condition: Predicate; readonly columns: readonly Column[]; readonly stored: readonly Stored[] },
): Promise<ReadonlyMap<string, Row>> {
  const { keys } = store.resource
  const all = identified(
    keys,
    stored.map(({ key }) => key),
  )
  const rows = await rowsOf(store, both(all, { kind: 'apart', condition }), columns, stored.length)
  return new Map(rows.map((row) => [identityName(keys, row.slice(0, keys.length)), row]))
}

/** A part of a condition with its foreign key field. */
interface Start extends PathPart {
  readonly field: Field
}

function startsOf({ resource: { fields } }: Store, condition: Predicate): readonly Start[] {
  return pathParts(condition).map((part) => {
    return { ...part, field: fieldNamed(fields, keysOf(part.association).foreignKey) }
  })
}

/**
 * Records that meet the condition only because of rows that the same request has written.
 * A part over a foreign key counts as met in two cases: it was met before the request, or it leads to a record that the
 * request creates. If a hook or the database set the foreign key, the part must be met without the request's rows.
 */
async function admittedByThemselves(
  store: Store,
  condition: Predicate,
  starts: readonly Start[],
  rows: ReadonlyMap<string, Row>,
  stored: readonly Stored[],
): Promise<readonly Stored[]> {
  const { keys } = store.resource
  const groups = new Map<string, { readonly parts: ReadonlyMap<Predicate, Predicate>; readonly stored: Stored[] }>()
  for (const each of stored) {
    const row = rows.get(identityName(keys, each.key))
    if (row === undefined) continue
    const parts = starts.flatMap((start, index): [Predicate, Predicate][] => {
      const part = countedPart(store, start, row[keys.length + index])
      return part === start.node ? [] : [[start.node, part]]
    })
    if (parts.length === 0) continue
    const name = JSON.stringify(
      parts.map(([node, { kind }]) => [starts.findIndex((start) => start.node === node), kind]),
    )
    const group = groups.get(name) ?? { parts: new Map(parts), stored: [] }
    groups.set(name, group)
    group.stored.push(each)
  }
  const outside: Stored[] = []
  for (const { parts, stored: some } of groups.values()) {
    const counted = { condition: withParts(condition, parts), columns: keyColumns(keys), stored: some }
    const met = await rowsMeeting(store, counted)
    outside.push(...some.filter(({ key }) => !met.has(identityName(keys, key))))
  }
  return outside
}

const NEVER: Predicate = Object.freeze({ kind: 'never' })

/** The part of the condition, adjusted for a record with this foreign key. */
function countedPart(store: Store, { node, association, field }: Start, value: unknown): Predicate {
  const before = knownBefore(store)
  if (before === null || value === null || value === undefined) return node
  const text = String(field.decode(value))
  const wasMet = before.wasMet(node, text)
  if (wasMet === true || before.creates(association.target, keysOf(association).targetKey, text)) return node
  return wasMet === false ? NEVER : both(node, before.withoutWritten(node, store.model))
}

/** Rows that meet a condition, including hidden ones. It uses our own statement, so no hook of the host takes part. */
function rowsOf(store: Store, where: Predicate, columns: readonly Column[], limit: number): Promise<readonly Row[]> {
  const { transaction } = store
  if (transaction === undefined) throw new TypeError(`${store.resource.name}: records are read back in a transaction`)
  const within = { transaction, unscoped: true, deleted: true, main: true }
  return statementReader.rows(store, { where, columns, order: [], limit }, within)
}

/** Checks a record that an action has saved. @throws Problem 403 if it does not meet the condition */
export async function assertAdmitted(store: Store, condition: Predicate, key: Row): Promise<void> {
  if ((await unmetBy(store, condition, [{ condition, key, place: null }])).length > 0) throw unstorable()
}

/** @throws Problem 403 if no record meets the condition any more */
async function assertMet(store: Store, where: Predicate): Promise<void> {
  if ((await rowsOf(store, where, keyColumns(store.resource.keys), 1)).length === 0) throw unstorable()
}

/**
 * Positions of records in the request, by the value of an attribute. null for records that the request does not name.
 */
export type Places = ReadonlyMap<unknown, string | null>

/** @throws Problem 403 with the positions of records that do not meet the condition any more */
export async function assertAllMet(store: Store, field: Field, where: Predicate, all: Places): Promise<void> {
  const rows = await rowsOf(store, where, [ownColumn(field)], all.size)
  if (rows.length >= all.size) return
  const met = new Set(rows.map(([value]) => String(field.decode(value))))
  const places = [...all].flatMap(([value, place]) => (met.has(String(field.decode(value))) ? [] : place || []))
  throw unstorable(errorsAt(store.resource, places, 'scope'))
}

function* storedIn(done: Done, isPart = false): Iterable<{ readonly work: Work; readonly stored: readonly Stored[] }> {
  yield { work: done.work, stored: storedBy(done, isPart) }
  for (const part of done.parts) yield* storedIn(part.done, true)
}

function storedBy({ work, outcome }: Done, isPart: boolean): readonly Stored[] {
  const { plan, places } = work
  if (outcome.kind === 'parts') {
    return outcome.parts.flatMap((part, index) => {
      return storedAs(work, part.plan, part.outcome, () => (plan.kind === 'replace' ? null : `[${index}]`))
    })
  }
  const placeOf = (index: number): string | null => {
    if (isPart) return places?.[index] || null
    return plan.kind === 'bulkCreate' ? `[${index}]` : null
  }
  return storedAs(work, plan, outcome, placeOf)
}

function storedAs(
  { resource: { keys } }: Work,
  plan: Plan,
  outcome: Outcome,
  placeOf: (index: number) => string | null,
): readonly Stored[] {
  if (plan.kind === 'get' || !('scope' in plan) || plan.scope === undefined) return []
  const { scope: condition, projection } = plan
  return rowsIn(outcome).map((row, index) => {
    const key = keys.map(({ name }) => row[placeOfOwn(projection.columns, name)])
    if (key.includes(undefined)) throw new TypeError(`a record of ${plan.kind} was read without its key`)
    return { condition, key, place: placeOf(index) }
  })
}

function rowsIn(outcome: Outcome): readonly Row[] {
  if (outcome.kind === 'record') return [outcome.row]
  return outcome.kind === 'records' ? outcome.rows : []
}
