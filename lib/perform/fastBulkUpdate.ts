// Fast path: several updates of one request as one UPDATE with a table of values.

import type { Transaction } from 'sequelize'
import type { Outcome, Row } from '../../types/outcome.js'
import type { Projection, UpdatePlan } from '../../types/plan.js'
import { isFast } from '../common/fastPaths.js'
import { keyColumns, keyText, planKeyText } from '../common/keys.js'
import { hasScope } from '../sequelize/model.js'
import { hasPartialUnique } from '../sequelize/uniques.js'
import { chooseWriteExecutor, isReturnable } from './executor.js'
import { isWithoutChanges, racedWriteError } from './refusal.js'
import { readComparedValues } from './statement/encode.js'
import type { StatementRequestOf } from './statement/request.js'
import { columnValues } from './statement/row.js'
import { Statement } from './statement/statement.js'
import { writeValuesTableUpdate } from './statement/valuesTableUpdate.js'
import { fetchRows } from './statements/execute.js'
import { createRowUpdate, createUpdateRequest, type RowUpdate } from './statements/rows.js'
import type { StatementContext } from './store.js'

/**
 * Runs several updates as one UPDATE that returns the records. Returns null if the updates must run one by one. The
 * database reads all rows before it writes the first, in any order. Updates must therefore not influence each other: no
 * unique columns, no default scope and no triggers. Rows are matched by key, so each stored key must equal the text
 * that the client sent.
 */
export async function tryUpdateTogether(
  store: StatementContext,
  plans: readonly UpdatePlan[],
): Promise<readonly Outcome[] | null> {
  const [first] = plans
  const { resource, model, dialect, transaction } = store
  const { valuesTable } = dialect
  if (!isFast || first === undefined || plans.length < 2 || transaction === undefined || valuesTable === null)
    return null
  const { projection } = first
  if (!isReturnable(store, projection) || hasScope(model) || hasPartialUnique(model)) return null
  const alone = new Set([...resource.keys, ...resource.uniques.flat()].map(({ name }) => name))
  const isPlainUpdate = (plan: UpdatePlan): boolean =>
    chooseWriteExecutor(store, plan) === 'statements' &&
    !isWithoutChanges(store, plan) &&
    hasSameColumns(plan.projection, projection) &&
    ![...plan.changes.keys()].some((name) => alone.has(name))
  const { keys: fields } = resource
  if (!plans.every(isPlainUpdate)) return null
  const statement = new Statement(store, () => valuesTable.columns(model))
  const table = await fetchRows(store, { statement, transaction, isOnPrimary: true })
  if (!fields.every((field) => valuesTable.isExact(table, field))) return null
  const { columns } = projection
  const returned = { ...projection, columns: [...columns, ...keyColumns(fields)] }
  const updates = plans.map((plan) => createRowUpdate(store, plan))
  const rows = await updateByValuesTable(store, updates, returned, transaction)
  if (rows === null) return null
  const byKey = new Map(rows.map((row) => [keyText(fields, row.slice(columns.length)), row.slice(0, columns.length)]))
  const outcomes: Outcome[] = []
  for (const plan of plans) {
    const row = byKey.get(planKeyText(fields, plan.key))
    if (row === undefined) throw await racedWriteError(store, plan, transaction)
    outcomes.push({ kind: 'record', row })
  }
  return outcomes
}

function hasSameColumns({ columns: own }: Projection, { columns }: Projection): boolean {
  return (
    own.length === columns.length &&
    own.every(({ joins, field }, at) => joins.length === 0 && field === columns[at]?.field)
  )
}

/**
 * Runs one UPDATE in which each row has its own values. Returns rows in any order. Returns null if the updates differ
 * in more than values, or if the dialect has no table of values.
 */
async function updateByValuesTable(
  store: StatementContext,
  updates: readonly RowUpdate[],
  { columns }: Projection,
  transaction: Transaction,
): Promise<readonly Row[] | null> {
  const { valuesTable, maxValues } = store.dialect
  const [first, ...others] = updates.map((update) => createUpdateRequest(store, update, columns))
  if (first === undefined || valuesTable === null) return null
  const values = alignValues(store, first, others)
  if (values === null) return null
  const rows: Row[] = []
  const size = Math.max(2, Math.floor(maxValues / (values[0]?.length ?? 1)))
  for (let start = 0; start < values.length; start += size) {
    const part = values.slice(start, start + size)
    const statement = new Statement(
      store,
      (operands) => writeValuesTableUpdate(store, first, { table: valuesTable, rows: part }, operands),
      false,
    )
    const written = await fetchRows(store, { statement, transaction, isOnPrimary: true })
    for (const row of written) rows.push(columnValues(row, columns))
  }
  return rows
}

/**
 * Returns the values of each update in the order of the statement's parameters. Returns null if the updates differ in
 * more than values.
 */
function alignValues(
  { dialect, model }: StatementContext,
  first: StatementRequestOf<'update'>,
  others: readonly StatementRequestOf<'update'>[],
): readonly (readonly unknown[])[] | null {
  const shape = readComparedValues(dialect, model, first.where)
  if (shape === null) return null
  const rows = [[...first.values, ...shape.values]]
  for (const other of others) {
    const own = readComparedValues(dialect, model, other.where)
    const isAlike =
      own !== null &&
      isSameList(own.shape, shape.shape) &&
      isSameList(other.fields, first.fields) &&
      isSameList(other.increments, first.increments) &&
      other.includeDeleted === first.includeDeleted
    if (!isAlike) return null
    rows.push([...other.values, ...own.values])
  }
  return rows
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index])
}
