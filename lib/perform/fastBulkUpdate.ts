// Fast path: several updates of one request as one UPDATE with a table of values.

import type { Transaction } from 'sequelize'
import type { Outcome, Row } from '../../types/outcome.js'
import type { Projection, UpdatePlan } from '../../types/plan.js'
import { keyColumns, keyName, planKeyName } from '../common/keys.js'
import { isFast } from '../common/speed.js'
import { hasScope } from '../sequelize/model.js'
import { hasPartialUnique } from '../sequelize/uniques.js'
import { isReturnable, writesBy } from './executor.js'
import { isIdle, racedRefusalOf } from './refusal.js'
import { writeAmong } from './statement/among.js'
import { comparedIn } from './statement/encode.js'
import type { RequestOf } from './statement/request.js'
import { valuesOf } from './statement/row.js'
import { Statement } from './statement/statement.js'
import { rowsOf } from './statements/execute.js'
import { type RowUpdate, rowUpdateOf, updateOf } from './statements/rows.js'
import type { Store } from './store.js'

/**
 * Runs several updates as one UPDATE that returns the records. Returns null if they must be written one by one.
 * The database reads all rows before it writes the first, in any order. Updates must therefore not influence each
 * other: no unique columns, no default scope and no triggers. The keys must be stored in the form in which they were
 * sent, because rows are matched by key.
 */
export async function tryFastTogether(store: Store, plans: readonly UpdatePlan[]): Promise<readonly Outcome[] | null> {
  const [first] = plans
  const { resource, model, dialect, transaction } = store
  const { items } = dialect
  if (!isFast || first === undefined || plans.length < 2 || transaction === undefined || items === null) return null
  const { projection } = first
  if (!isReturnable(store, projection) || hasScope(model) || hasPartialUnique(model)) return null
  const alone = new Set([...resource.keys, ...resource.uniques.flat()].map(({ name }) => name))
  const isEasy = (plan: UpdatePlan): boolean =>
    writesBy(store, plan) === 'statements' &&
    !isIdle(store, plan) &&
    readsSame(plan.projection, projection) &&
    ![...plan.changes.keys()].some((name) => alone.has(name))
  const { keys: fields } = resource
  if (!plans.every(isEasy)) return null
  const statement = new Statement(store, () => items.columns(model))
  const table = await rowsOf(store, { statement, transaction, writes: true })
  if (!fields.every((field) => items.keeps(table, field))) return null
  const { columns } = projection
  const told = { ...projection, columns: [...columns, ...keyColumns(fields)] }
  const updates = plans.map((plan) => rowUpdateOf(store, plan))
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

/** Whether two projections read the same own columns. */
function readsSame({ columns: own }: Projection, { columns }: Projection): boolean {
  return (
    own.length === columns.length &&
    own.every(({ hops, field }, at) => hops.length === 0 && field === columns[at]?.field)
  )
}

/**
 * Runs one UPDATE in which each row has its own values. Rows are returned in any order. Returns null if the updates
 * differ in more than values, or if the dialect does not support it.
 */
async function updateAmong(
  store: Store,
  updates: readonly RowUpdate[],
  { columns }: Projection,
  transaction: Transaction,
): Promise<readonly Row[] | null> {
  const { items, mostValues } = store.dialect
  const [first, ...others] = updates.map((update) => updateOf(store, update, columns))
  if (first === undefined || items === null) return null
  const values = valuesInOrder(store, first, others)
  if (values === null) return null
  const rows: Row[] = []
  const size = Math.max(2, Math.floor(mostValues / (values[0]?.length ?? 1)))
  for (let start = 0; start < values.length; start += size) {
    const part = values.slice(start, start + size)
    const statement = new Statement(
      store,
      (operands) => writeAmong(store, first, { items, rows: part }, operands),
      false,
    )
    const written = await rowsOf(store, { statement, transaction, writes: true })
    for (const row of written) rows.push(valuesOf(row, columns))
  }
  return rows
}

/** The values of each update in the order of the statement, or null if the updates differ in more than values. */
function valuesInOrder(
  { dialect, model }: Store,
  first: RequestOf<'update'>,
  others: readonly RequestOf<'update'>[],
): readonly (readonly unknown[])[] | null {
  const shape = comparedIn(dialect, model, first.where)
  if (shape === null) return null
  const rows = [[...first.values, ...shape.values]]
  for (const other of others) {
    const own = comparedIn(dialect, model, other.where)
    const isAlike =
      own !== null &&
      isEqual(own.shape, shape.shape) &&
      isEqual(other.fields, first.fields) &&
      isEqual(other.increments, first.increments) &&
      other.deleted === first.deleted
    if (!isAlike) return null
    rows.push([...other.values, ...own.values])
  }
  return rows
}

function isEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index])
}
