import type { Changes } from '../../types/changes.js'
import type { Field, Value } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, PlainValue, UpdatePlan } from '../../types/plan.js'
import type { ForeignKeyCheck, Work } from '../../types/work.js'
import { hasErrors } from '../common/bodyErrors.js'
import { ownColumn, projectOwnFields } from '../common/columns.js'
import { isPlainValue } from '../common/plainValue.js'
import { addCondition, matchAnyValue, matchStoredValues } from '../common/predicates.js'
import { type ProblemErrors, problem } from '../common/problem.js'
import { hasTwoUuidSpellings } from '../sequelize/columnTypes.js'
import { addMissingReferences, missingReferenceProblem } from './foreignKeyProblem.js'
import { collectPlanErrors } from './newRecords.js'
import { readVisible } from './read.js'
import { findExisting, fullConditionOf, missedWriteError, prepareChanged } from './refusal.js'
import { type StatementContext, storeInSameTransaction } from './store.js'
import { inTransaction, withWriteTimeout } from './transaction.js'
import { maxRowsOf } from './uuidSpellings.js'
import { collectValueErrors, NO_ERRORS } from './validation.js'

type ReferencingPlan = CreatePlan | BulkCreatePlan | UpdatePlan

/**
 * Checks that the caller may see the records that the foreign keys of a write reference. Runs the write if the check
 * passes. A hidden record is reported like a missing record.
 */
export function writeWithForeignKeyChecks<P extends ReferencingPlan, T>(
  store: StatementContext,
  { plan, foreignKeyChecks }: Work<P>,
  write: (store: StatementContext, plan: P) => Promise<T>,
): Promise<T> {
  // An invalid plan is not checked: the write reports its validation errors first.
  return foreignKeyChecks.length === 0 || isInvalidPlan(plan)
    ? write(store, plan)
    : writeIfChecked(store, plan, foreignKeyChecks, write)
}

async function writeIfChecked<P extends ReferencingPlan, T>(
  store: StatementContext,
  given: P,
  checks: readonly ForeignKeyCheck[],
  write: (store: StatementContext, plan: P) => Promise<T>,
): Promise<T> {
  const { failing, spellings } = await findFailedChecks(store, given, checks)
  const plan = useStoredSpellings(given, spellings)
  if (failing.length === 0) return write(store, plan)
  if ('key' in plan) return assertUnchanged(store, plan, failing, (inside) => write(inside, plan))
  throw await foreignKeyCheckError(
    store,
    plan,
    fieldsOfChecks(failing),
    await withWriteTimeout(store, () => collectPlanErrors(store, plan)),
  )
}

/** UUIDs in the spelling of the referenced key, by field name and by lower-case UUID. */
type UuidSpellings = ReadonlyMap<string, ReadonlyMap<string, Value>>

/**
 * Returns the plan with each UUID foreign key in the spelling of the referenced key. A text column distinguishes the
 * upper-case and lower-case spellings of a UUID.
 */
function useStoredSpellings<P extends ReferencingPlan>(plan: P, spellings: UuidSpellings): P
function useStoredSpellings(plan: ReferencingPlan, spellings: UuidSpellings): ReferencingPlan {
  if (spellings.size === 0) return plan
  const respellChanges = (changes: Changes): Changes =>
    new Map([...changes].map(([name, value]) => [name, spellings.get(name)?.get(String(value).toLowerCase()) ?? value]))
  return plan.kind === 'bulkCreate'
    ? { ...plan, records: plan.records.map(respellChanges) }
    : { ...plan, changes: respellChanges(plan.changes) }
}

function isInvalidPlan(plan: ReferencingPlan): boolean {
  switch (plan.kind) {
    case 'create':
      return plan.invalid !== null
    case 'bulkCreate':
      return plan.invalid.size > 0
    default:
      return plan.invalid !== null || plan.precondition?.where === null
  }
}

async function foreignKeyCheckError(
  store: StatementContext,
  plan: ReferencingPlan,
  failing: readonly Field[],
  errors: ProblemErrors,
): Promise<Error> {
  if (hasErrors(errors)) return problem('validation', { errors })
  // The database checks the foreign keys whose targets have neither a scope nor soft delete.
  return missingReferenceProblem(store.resource, await addMissingReferences(store, plan, failing))
}

/**
 * Allows an update to repeat the stored foreign key of a hidden record. The caller must be allowed to read the foreign
 * key, because guesses would otherwise reveal its value.
 */
function assertUnchanged<T>(
  store: StatementContext,
  plan: UpdatePlan,
  failing: readonly ForeignKeyCheck[],
  write: (store: StatementContext) => Promise<T>,
): Promise<T> {
  const fields = fieldsOfChecks(failing)
  return inTransaction(store, async (transaction) => {
    const inside = { ...store, transaction }
    const where = fullConditionOf(plan)
    const row = await findExisting(
      inside,
      { kind: plan.kind, where, projection: projectOwnFields(fields) },
      transaction,
    )
    if (row === null) throw await missedWriteError(inside, plan, transaction)
    const isUnchanged = ({ field, isReadable }: ForeignKeyCheck, index: number): boolean =>
      isReadable && isSameStoredValue(field, row[index], plan.changes.get(field.name))
    const moved = fieldsOfChecks(failing.filter((each, index) => !isUnchanged(each, index)))
    if (moved.length === 0) return write(inside)
    const make = await prepareChanged(inside, plan)
    throw await foreignKeyCheckError(
      inside,
      plan,
      moved,
      await collectValueErrors(inside, NO_ERRORS, make, { hasHostCode: plan.before !== null }),
    )
  })
}

/** Whether the body repeats a stored value. A stored null is never repeated, not even by the text "null". */
function isSameStoredValue({ decode }: Field, stored: unknown, given: Value | undefined): boolean {
  const decoded = decode(stored)
  return decoded !== null && String(decoded) === String(decode(given))
}

function fieldsOfChecks(checks: readonly ForeignKeyCheck[]): readonly Field[] {
  return checks.map(({ field }) => field)
}

interface FailedChecks {
  /** Foreign keys that reference a record which the caller may not see. */
  readonly failing: readonly ForeignKeyCheck[]
  readonly spellings: UuidSpellings
}

async function findFailedChecks(
  store: StatementContext,
  plan: ReferencingPlan,
  checks: readonly ForeignKeyCheck[],
): Promise<FailedChecks> {
  const failing: ForeignKeyCheck[] = []
  const spellings = new Map<string, ReadonlyMap<string, Value>>()
  const records = plan.kind === 'bulkCreate' ? plan.records : [plan.changes]
  const serverValues = 'key' in plan ? plan.serverValues.values : plan.serverValues
  for (const check of checks) {
    // Values that a behaviour sets are not checked.
    if (serverValues.has(check.field.name)) continue
    const { rows, isComplete } = await readReferenced(store, check, records)
    if (!isComplete && check.isEnforced) failing.push(check)
    else if (check.key.valueType.type === 'uuid') {
      // Lower-case texts sort last, so the lower-case spelling wins if both spellings exist.
      const stored = rows.flatMap(([value]) => (typeof value === 'string' ? [value] : [])).sort()
      spellings.set(check.field.name, new Map(stored.map((value) => [value.toLowerCase(), value])))
    }
  }
  return { failing, spellings }
}

/** Whether a foreign key must be checked before the write, or may need another spelling. */
export function isCheckNeeded({ isEnforced, target, key }: ForeignKeyCheck): boolean {
  return isEnforced || hasTwoUuidSpellings(target.dialect(), target.model, key)
}

interface ReferencedRows {
  readonly rows: readonly Row[]
  /** Whether the caller may see all referenced records. */
  readonly isComplete: boolean
}

/** Reads the keys of the referenced records. The database compares the keys, under its collation. */
async function readReferenced(
  store: StatementContext,
  { field, target, key, condition }: ForeignKeyCheck,
  records: readonly Changes[],
): Promise<ReferencedRows> {
  const given = records
    .map((changes) => changes.get(field.name))
    .filter((value) => value !== undefined && value !== null)
  const values = [...new Map(given.map((value) => [String(field.decode(value)), value])).values()]
  if (values.length === 0) return { rows: [], isComplete: true }
  if (!values.every(isPlainValue)) return { rows: [], isComplete: false }
  const matchReferenced = key.valueType.type === 'uuid' ? matchAnyValue : matchStoredValues
  const readRowsWith = (keys: readonly PlainValue[]): Promise<readonly Row[]> =>
    readVisible(
      storeInSameTransaction(store, target),
      addCondition(matchReferenced(key, keys), condition),
      [ownColumn(key)],
      maxRowsOf([key], keys.length),
    )
  const rows = await readRowsWith(values)
  const met = new Set(rows.map(([value]) => String(key.decode(value))))
  for (const value of values) {
    // If the key is not unique or the collation equates two texts, the first read may have returned another record
    // instead.
    if (!met.has(String(field.decode(value))) && (await readRowsWith([value])).length === 0)
      return { rows, isComplete: false }
  }
  return { rows, isComplete: true }
}
