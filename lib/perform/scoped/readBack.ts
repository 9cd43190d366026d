// Records that a request has stored are read back under the conditions of the caller's scopes before the commit.

import type { Transaction } from 'sequelize'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { Plan, Predicate } from '../../../types/plan.js'
import type { Branch, Done, Work } from '../../../types/work.js'
import { allErrors, errorsAt, hasErrors } from '../../common/bodyErrors.js'
import { chunksOf } from '../../common/chunks.js'
import { placeOfOwn } from '../../common/columns.js'
import { keyColumns } from '../../common/keys.js'
import { both, hasApart } from '../../common/predicates.js'
import type { ProblemErrors } from '../../common/problem.js'
import { inSavepoint, isWrite } from '../../sequelize/savepoint.js'
import { identified, identityName } from '../identified.js'
import { statementReader } from '../statements/read.js'
import { beside, type Store, within } from '../store.js'
import { inTransaction, joinedBy } from '../transaction.js'
import { unstorable } from './ask.js'

/** Whether the condition of a scope is part of a work, so that what it stores must be read back. */
export function isScoped({ plan, branches = [], items = [] }: Pick<Work, 'plan' | 'branches' | 'items'>): boolean {
  return scopesIn(plan) || [...branches, ...items.flatMap(({ fresh }) => fresh)].some(isScopedBranch)
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
 * Does a work whose scopes have conditions, all of it or nothing: within the transaction of a host a refusal goes back to a savepoint.
 * The statement that reads back sees commits of others.
 *
 * @throws Problem 403 for records that are outside of the caller's scope as they are stored
 */
export function heldToScopes(store: Store, work: (store: Store) => Promise<Done>): Promise<Done> {
  const held = async (transaction: Transaction): Promise<Done> => {
    const inside = within(store, transaction)
    const done = await work(inside)
    await readBack(inside, done)
    return done
  }
  const joined = joinedBy(store)
  if (joined !== undefined && !isWrite(joined)) return inSavepoint(joined, held)
  return inTransaction(store, held, { isRepeatable: true, seesCommitted: true })
}

/** A record that was stored, with the condition that it must meet. */
interface Stored {
  readonly condition: Predicate
  /** The parts of its key. */
  readonly key: Row
  /** Null for the only record of a request. */
  readonly place: string | null
}

async function readBack(store: Store, done: Done): Promise<void> {
  const missing: string[] = []
  const errors: ProblemErrors[] = []
  for (const { work, stored } of storedIn(done)) {
    const inside = beside(store, work.resource)
    // A record whose links are changed is not written itself.
    if (work.plan.kind === 'get' && work.plan.scope !== undefined) await assertMet(inside, work.plan.where, 1)
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
  const outside: Stored[] = []
  for (const some of chunksOf(stored)) {
    const where = both(
      identified(
        keys,
        some.map(({ key }) => key),
      ),
      { kind: 'apart', condition },
    )
    const names = await namesOf(store, where, some.length)
    outside.push(...some.filter(({ key }) => !names.has(identityName(keys, key))))
  }
  return outside
}

/** The names of the records that meet a condition, whatever else hides them. By a statement of our own: no hook of the host has a say in it. */
async function namesOf(store: Store, where: Predicate, limit: number): Promise<ReadonlySet<string>> {
  const { keys } = store.resource
  const { transaction } = store
  if (transaction === undefined) throw new TypeError(`${store.resource.name}: records are read back in a transaction`)
  const window = { where, columns: keyColumns(keys), order: [], limit }
  const rows = await statementReader.rows(store, window, { transaction, unscoped: true, deleted: true, main: true })
  return new Set(rows.map((row) => identityName(keys, row)))
}

/** Refuses records that do not meet a condition any more. @throws Problem 403 */
export async function assertMet(store: Store, where: Predicate, count: number): Promise<void> {
  if ((await namesOf(store, where, count)).size < count) throw unstorable()
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
  return rowsOf(outcome).map((row, index) => {
    const key = keys.map(({ name }) => row[placeOfOwn(projection.columns, name)])
    if (key.includes(undefined)) throw new TypeError(`a record of ${plan.kind} was read without its key`)
    return { condition, key, place: placeOf(index) }
  })
}

function rowsOf(outcome: Outcome): readonly Row[] {
  if (outcome.kind === 'record') return [outcome.row]
  return outcome.kind === 'records' ? outcome.rows : []
}
