import type { Transaction } from 'sequelize'
import type { Outcome } from '../../../types/outcome.js'
import type { Projection, UpdatePlan } from '../../../types/plan.js'
import type { TableTraits } from '../../../types/table.js'
import { keyColumns, keyName, planKeyName } from '../../common/keys.js'
import { problem } from '../../common/problem.js'
import { hasScope } from '../../sequelize/model.js'
import { hasPartialUnique } from '../../sequelize/uniques.js'
import { isReturnable } from '../executor.js'
import { conditionOf, existing, isIdle, isRestore, isThere, racedRefusalOf, refusalOf, refused } from '../refusal.js'
import { Statement } from '../statement/statement.js'
import type { Store } from '../store.js'
import { stampsOf } from '../stored.js'
import { tableOfOne } from '../table.js'
import { alone, inTransaction, isJoined, racing } from '../transaction.js'
import { NOTHING, passes } from '../validation.js'
import { written } from '../written.js'
import { executionOf, rowsOf } from './execute.js'
import { type RowUpdate, updateAmong, updateReturning, updateRows } from './rows.js'

/** One UPDATE that returns the record, or one with a read behind it. */
export function update(store: Store, plan: UpdatePlan): Promise<Outcome> {
  return racing(store, () => updateOnce(store, plan))
}

async function updateOnce(store: Store, plan: UpdatePlan): Promise<Outcome> {
  const { changes, projection } = plan
  if (isIdleHere(store, plan)) return refused(store, plan)
  const isValid = store.resource.validation === 'rules' || (await passes(store, changes))
  if (!isValid) return refused(store, { ...plan, invalid: NOTHING })
  const write = writeOf(store, plan)
  const table = await tableOfOne(store)
  if (table.writesLess) return updateChecked(store, plan, write, table)
  const isKnown = isReturnable(store, projection)
  if (store.dialect.returnsUpdated && isKnown) {
    const row = await alone(store, (transaction) => updateReturning(store, write, projection, transaction))
    if (row === undefined) throw await racedRefusalOf(store, plan)
    return { kind: 'record', row }
  }
  // The record is read on the connection that has written it: another one may lead to a server that does not have it yet. And a hook
  // around reads may refuse to show the record, and then nothing is written.
  return inTransaction(store, async (transaction) => {
    const count = await updateRows(store, write, transaction)
    // MySQL counts the rows that changed, and perhaps none had to: where a version rises, one has.
    const isMissing =
      count === 0 &&
      (write.increments.length > 0 ||
        (await existing(store, { kind: plan.kind, where: write.where }, transaction)) === null)
    if (isMissing) throw await missing(store, plan, write, transaction)
    // A trigger may move the record out of the caller's scope: the answer is then 404, and the write is rolled back.
    const isOwn = isKnown && !isJoined(store) && !isRestore(plan)
    return written(store, isOwn ? { ...plan, identity: plan.where } : plan, transaction, count === 0)
  })
}

/** Why an UPDATE on MySQL met no record: without increments the record was looked for already. */
async function missing(
  store: Store,
  plan: UpdatePlan,
  { increments }: RowUpdate,
  transaction?: Transaction,
): Promise<Error> {
  const isKnown = plan.precondition === null && increments.length === 0
  return isKnown ? problem('not-found') : racedRefusalOf(store, plan, transaction)
}

/** An UPDATE of a table that may skip it. @throws Problem 409 where it does */
function updateChecked(store: Store, plan: UpdatePlan, write: RowUpdate, table: TableTraits): Promise<Outcome> {
  return inTransaction(store, async (transaction) => {
    if (!(await isThere(store, plan, write.where, transaction))) throw await refusalOf(store, plan, transaction)
    const count = await updateRows(store, write, transaction)
    if (count === 0 && table.countsFound) throw await refusalOf(store, plan, transaction)
    return written(store, plan, transaction, count === 0)
  })
}

/** A virtual attribute by itself is for the host's setters, hooks and validators, and here are none. */
function isIdleHere({ resource: { fields } }: Store, plan: UpdatePlan): boolean {
  return isIdle(plan, () => fields.some((field) => plan.changes.has(field.name) && !field.virtual))
}

function writeOf(store: Store, plan: UpdatePlan): RowUpdate {
  const { changes, upkeep, instant } = plan
  const values = new Map(changes)
  for (const [name, value] of stampsOf(store, 'update', instant)) values.set(name, value)
  for (const [name, value] of upkeep.values) values.set(name, value)
  return { where: conditionOf(plan), values, increments: upkeep.increments, deleted: isRestore(plan) }
}

/**
 * Several updates by one UPDATE that returns the records; null where each must be written by itself. The database reads all of them
 * before it writes the first, in an order of its own. So nothing is written so that could be in the way of another of them: nothing
 * unique, nothing under a default scope, which may look at other records, and nothing where a trigger may change them. The rows are told apart
 * by their keys, which must be as they were sent.
 */
export async function updateAll(store: Store, plans: readonly UpdatePlan[]): Promise<readonly Outcome[] | null> {
  const [first] = plans
  const { resource, model, dialect, transaction } = store
  const { items } = dialect
  if (first === undefined || plans.length < 2 || transaction === undefined || items === null) return null
  const { projection } = first
  if (!isReturnable(store, projection) || hasScope(model) || hasPartialUnique(model)) return null
  const alone = new Set([...resource.keys, ...resource.uniques.flat()].map(({ name }) => name))
  const isEasy = (plan: UpdatePlan): boolean =>
    !isIdleHere(store, plan) &&
    readsSame(plan.projection, projection) &&
    ![...plan.changes.keys()].some((name) => alone.has(name))
  const { keys: fields } = resource
  if (!plans.every(isEasy)) return null
  const statement = new Statement(store, () => items.columns(model))
  const table = await rowsOf(store, executionOf(statement, transaction, true))
  if (!fields.every((field) => items.keeps(table, field))) return null
  const { columns } = projection
  const told = { ...projection, columns: [...columns, ...keyColumns(fields)] }
  const updates = plans.map((plan) => writeOf(store, plan))
  const rows = await updateAmong(store, updates, told, transaction)
  if (rows === null) return null
  const byKey = new Map(rows.map((row) => [keyName(fields, row.slice(columns.length)), row.slice(0, columns.length)]))
  const outcomes: Outcome[] = []
  for (const plan of plans) {
    const row = byKey.get(planKeyName(fields, plan.key))
    if (row === undefined) throw await racedRefusalOf(store, plan, transaction)
    outcomes.push({ kind: 'record', row })
  }
  return outcomes
}

/** Whether projections read the same columns of the record itself. */
function readsSame({ columns: own }: Projection, { columns }: Projection): boolean {
  return (
    own.length === columns.length &&
    own.every(({ hops, field }, at) => hops.length === 0 && field === columns[at]?.field)
  )
}
