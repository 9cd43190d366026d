import type { Model, Transaction } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { Column, DeletePlan, Precondition, Predicate, Projection, UpdatePlan } from '../../types/plan.js'
import { projectOwnFields } from '../common/columns.js'
import { problem } from '../common/problem.js'
import { chooseReadExecutor, isWrittenByInstances } from './executor.js'
import { applyChanges, loadLocked } from './instances/load.js'
import { readRecord } from './read.js'
import type { StatementContext } from './store.js'
import { forgetTableTraits, skippedWriteError } from './tableTraits.js'
import { markRaced } from './transaction.js'
import { buildPartial, validationProblem } from './validation.js'

type ConditionalPlan = Pick<UpdatePlan | DeletePlan, 'where' | 'precondition'>

/** Combines a write's condition with its precondition. */
export function fullConditionOf({ where, precondition }: ConditionalPlan): Predicate {
  const and = precondition?.where ?? null
  return and === null ? where : { kind: 'and', nodes: [where, and] }
}

/**
 * Whether an update is invalid, lacks its required version, or writes no column. Virtual attributes count only if
 * instances write the record, because only code of the host uses them.
 */
export function isWithoutChanges(store: StatementContext, plan: UpdatePlan): boolean {
  const { precondition, changes, serverValues, invalid } = plan
  if (invalid !== null || precondition?.where === null) return true
  if (serverValues.values.size > 0 || serverValues.increments.length > 0) return false
  if (store.resource.fields.some(({ name, virtual }) => !virtual && changes.has(name))) return false
  return changes.size === 0 || !isWrittenByInstances(store, plan)
}

/**
 * Returns the unchanged record of an update that writes nothing.
 * @throws Problem for an invalid update, after a missing record and a failed precondition
 */
export async function readRefused(store: StatementContext, plan: UpdatePlan): Promise<Outcome> {
  const { invalid } = plan
  const row = await readOrRefuse(store, plan)
  if (invalid !== null) throw await validationProblem(store, invalid, await prepareChanged(store, plan), plan)
  return { kind: 'record', row, isWritten: false }
}

/**
 * Returns the unchanged record of a write.
 * @throws Problem if the record is missing or does not meet the precondition
 */
export async function readOrRefuse(
  store: StatementContext,
  plan: Pick<UpdatePlan, 'where' | 'projection'> & {
    readonly kind: string
    readonly precondition?: Precondition | null
  },
): Promise<Row> {
  const { precondition = null } = plan
  const row = await findExisting(store, plan)
  if (row === null) throw problem('not-found')
  if (precondition === null) return row
  const where = fullConditionOf({ ...plan, precondition })
  const isMet = precondition.where !== null && (await findExisting(store, { ...plan, where })) !== null
  if (!isMet) throw precondition.createError()
  return row
}

/** Returns a function that builds the changed instance for the model's validators. */
export async function prepareChanged(store: StatementContext, plan: UpdatePlan): Promise<() => Model> {
  const { changes, serverValues } = plan
  const { validation } = store.resource
  if (validation === 'attributes') return () => buildPartial(store, plan)
  const instance = await loadLocked(store, plan.where, plan.kind === 'restore')
  return () => applyChanges(store, instance, changes, serverValues)
}

/**
 * Returns the reason why a write met no record: a missing record, a failed precondition, or a table that skipped the
 * write.
 */
export async function missedWriteError(
  store: StatementContext,
  plan: ConditionalPlan & { readonly kind: string },
  transaction?: Transaction,
): Promise<Error> {
  if (!(await canReadRecord(store, plan, plan.where, transaction))) return problem('not-found')
  if (plan.precondition !== null && !(await canReadRecord(store, plan, fullConditionOf(plan), transaction))) {
    return plan.precondition.createError()
  }
  return skippedWriteError()
}

/**
 * Like `missedWriteError`, for tables that do not skip writes. If the record exists now, it was created meanwhile and
 * the write is repeated.
 */
export async function racedWriteError(
  store: StatementContext,
  plan: ConditionalPlan & { readonly kind: string },
  transaction?: Transaction,
): Promise<Error> {
  if (!(await canReadRecord(store, plan, plan.where, transaction))) return problem('not-found')
  if (plan.precondition !== null) return plan.precondition.createError()
  const refusal = skippedWriteError()
  forgetTableTraits(store)
  markRaced(refusal)
  return refusal
}

/**
 * Whether the record of a write can be read. PostgreSQL does not lock records that row level security protects from
 * changes.
 */
export async function canReadRecord(
  store: StatementContext,
  plan: { readonly kind: string },
  where: Predicate,
  transaction: Transaction | undefined = store.transaction,
): Promise<boolean> {
  const within = transaction === undefined ? {} : { transaction, lock: store.dialect.readsSnapshots }
  const row = await readRecord(
    store,
    { where, projection: keyProjection(store) },
    { includeDeleted: plan.kind === 'restore', isFromPrimary: true, ...within },
  )
  return row !== null
}

/** Reads the record of a write, and locks the record inside a transaction. Returns null if the record is missing. */
export async function findExisting(
  store: StatementContext,
  plan: Pick<ConditionalPlan, 'where'> & {
    readonly kind: string
    readonly projection?: Projection
    readonly isLocked?: boolean
  },
  transaction: Transaction | undefined = store.transaction,
): Promise<Row | null> {
  const { where, projection = keyProjection(store), isLocked = false } = plan
  // PostgreSQL cannot lock the nullable side of a join. A locked record is locked again only to read past a snapshot.
  const lock =
    projection.columns.every(({ joins }) => joins.length === 0) && (!isLocked || store.dialect.readsSnapshots)
  const within = {
    includeDeleted: plan.kind === 'restore',
    isFromPrimary: true,
    ...(transaction === undefined ? {} : { transaction, lock }),
  }
  return readRecord(store, { where, projection }, within)
}

/**
 * Locks the record of a write until the transaction ends.
 * @throws Problem 404 if the record is missing
 * @throws Problem 409 if PostgreSQL's row level security prevents the lock
 */
export async function lockForWrite(
  store: StatementContext,
  { kind, where }: Pick<ConditionalPlan, 'where'> & { readonly kind: string },
  fields: readonly Field[],
): Promise<Row> {
  const projection = projectOwnFields(fields)
  const isLocked = await lockByInstances(store, projection.columns, where)
  const row = await findExisting(store, { kind, where, projection, isLocked })
  if (row === null) throw await racedWriteError(store, { kind, where, precondition: null })
  return row
}

/** Locks a record through an instance if find hooks of the host take part. Returns whether they do. */
export async function lockByInstances(
  store: StatementContext,
  columns: readonly Column[],
  where: Predicate,
): Promise<boolean> {
  const hasFindHooks = chooseReadExecutor(store, columns) === 'instances'
  if (hasFindHooks) await loadLocked(store, where, false)
  return hasFindHooks
}

function keyProjection({ resource: { keys } }: StatementContext): Projection {
  return projectOwnFields(keys)
}
