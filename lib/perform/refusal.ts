import type { Model, Transaction } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { Column, DeletePlan, Precondition, Predicate, Projection, UpdatePlan } from '../../types/plan.js'
import { ofOwn } from '../common/columns.js'
import { problem } from '../common/problem.js'
import { needsEach, readsBy } from './executor.js'
import { loaded, set } from './instances/load.js'
import { get } from './read.js'
import type { Store } from './store.js'
import { forgetTable, notWritten } from './table.js'
import { markRaced } from './transaction.js'
import { partialOf, refusal } from './validation.js'

type Conditional = Pick<UpdatePlan | DeletePlan, 'where' | 'precondition'>

/** Combines a write's condition with its precondition. */
export function conditionOf({ where, precondition }: Conditional): Predicate {
  const and = precondition?.where ?? null
  return and === null ? where : { kind: 'and', nodes: [where, and] }
}

/**
 * Whether an update is rejected, or has nothing to write. Virtual attributes are only used by setters, hooks and
 * validators of the host.
 */
export function isIdle(store: Store, plan: UpdatePlan): boolean {
  const { precondition, changes, upkeep, invalid } = plan
  if (invalid !== null || precondition?.where === null) return true
  if (upkeep.values.size > 0 || upkeep.increments.length > 0) return false
  if (store.resource.fields.some(({ name, virtual }) => !virtual && changes.has(name))) return false
  return changes.size === 0 || !needsEach(store, plan)
}

/** The unchanged record of a rejected or empty update. A missing record is reported before validation errors. */
export async function refused(store: Store, plan: UpdatePlan): Promise<Outcome> {
  const { invalid } = plan
  const row = await refuseMissing(store, plan)
  if (invalid !== null) throw await refusal(store, invalid, await changed(store, plan), plan)
  return { kind: 'record', row, isWritten: false }
}

/**
 * The unchanged record under a write's condition. @throws Problem if it is missing, or does not meet the precondition
 */
export async function refuseMissing(
  store: Store,
  plan: Pick<UpdatePlan, 'where' | 'projection'> & {
    readonly kind: string
    readonly precondition?: Precondition | null
  },
): Promise<Row> {
  const { precondition = null } = plan
  const row = await existing(store, plan)
  if (row === null) throw problem('not-found')
  if (precondition === null) return row
  const where = conditionOf({ ...plan, precondition })
  const isMet = precondition.where !== null && (await existing(store, { ...plan, where })) !== null
  if (!isMet) throw precondition.refusal()
  return row
}

/** Builds the instance for the model's validators. */
export async function changed(store: Store, plan: UpdatePlan): Promise<() => Model> {
  const { changes, upkeep } = plan
  const { validation } = store.resource
  if (validation === 'rules' || validation === 'attributes') return () => partialOf(store, changes)
  const instance = await loaded(store, plan.where, isRestore(plan))
  return () => set(store, instance, changes, upkeep)
}

/**
 * The reason why a write met no record: it is missing, does not meet the precondition, or the table has skipped the
 * write.
 */
export async function refusalOf(
  store: Store,
  plan: Conditional & { readonly kind: string },
  transaction?: Transaction,
): Promise<Error> {
  if (!(await isThere(store, plan, plan.where, transaction))) return problem('not-found')
  if (plan.precondition !== null && !(await isThere(store, plan, conditionOf(plan), transaction))) {
    return plan.precondition.refusal()
  }
  return notWritten()
}

/** Like `refusalOf`, for tables that do not skip writes. The record was created meanwhile, so the write is repeated. */
export async function racedRefusalOf(
  store: Store,
  plan: Conditional & { readonly kind: string },
  transaction?: Transaction,
): Promise<Error> {
  if (!(await isThere(store, plan, plan.where, transaction))) return problem('not-found')
  if (plan.precondition !== null) return plan.precondition.refusal()
  const refusal = notWritten()
  forgetTable(store)
  markRaced(refusal)
  return refusal
}

/**
 * Whether the record of a write can be read. PostgreSQL does not lock records that row level security protects from
 * changes.
 */
export async function isThere(
  store: Store,
  plan: { readonly kind: string },
  where: Predicate,
  transaction: Transaction | undefined = store.transaction,
): Promise<boolean> {
  const within = transaction === undefined ? {} : { transaction, lock: store.dialect.readsSnapshots }
  const row = await get(
    store,
    { where, projection: keyOnly(store) },
    { deleted: isRestore(plan), main: true, ...within },
  )
  return row !== null
}

export function isRestore({ kind }: { readonly kind: string }): boolean {
  return kind === 'restore'
}

/** Reads a write's record, and locks it inside a transaction. Returns null if it is missing. */
export async function existing(
  store: Store,
  plan: Pick<Conditional, 'where'> & { readonly kind: string; readonly projection?: Projection },
  transaction: Transaction | undefined = store.transaction,
): Promise<Row | null> {
  const { where, projection = keyOnly(store) } = plan
  // PostgreSQL cannot lock the nullable side of a join.
  const lock = projection.columns.every(({ hops }) => hops.length === 0)
  const within = {
    deleted: isRestore(plan),
    main: true,
    ...(transaction === undefined ? {} : { transaction, lock }),
  }
  return get(store, { where, projection }, within)
}

/**
 * Locks a write's record until the transaction ends.
 * @throws Problem 404 if it is missing, and 409 if PostgreSQL's row level security prevents locking it
 */
export async function lockedRecord(
  store: Store,
  { kind, where }: Pick<Conditional, 'where'> & { readonly kind: string },
  fields: readonly Field[],
): Promise<Row> {
  const projection = ofOwn(fields)
  await lockedByInstances(store, projection.columns, where)
  const row = await existing(store, { kind, where, projection })
  if (row === null) throw await racedRefusalOf(store, { kind, where, precondition: null })
  return row
}

/** Locks the record through an instance if find hooks of the host take part: reading such a record does not lock it. */
export async function lockedByInstances(store: Store, columns: readonly Column[], where: Predicate): Promise<void> {
  if (readsBy(store, columns) === 'instances') await loaded(store, where, false)
}

function keyOnly({ resource: { keys } }: Store): Projection {
  return ofOwn(keys)
}
