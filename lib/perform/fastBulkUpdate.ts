// Fast path: several updates of one request as one UPDATE with a table of values, or as one UPDATE each and one SELECT.

import type { Transaction } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { Projection, UpdatePlan } from '../../types/plan.js'
import type { StoredColumns, ValuesTable } from '../../types/valuesTable.js'
import { isFast } from '../common/fastPaths.js'
import { type KeyFields, keyColumns, keyText, matchKeys, planKeyText } from '../common/keys.js'
import { conversionOf } from '../sequelize/columnTypes.js'
import { hasPartialUnique, hasScope } from '../sequelize/model.js'
import { chooseWriteExecutor, isReturnable } from './executor.js'
import { updateExisting } from './fastWrite.js'
import { readWritten } from './read.js'
import { isWithoutChanges, racedWriteError } from './refusal.js'
import { readComparedValues } from './sql/encode.js'
import type { StatementRequestOf } from './sql/request.js'
import { columnValues } from './sql/row.js'
import { Statement } from './sql/statement.js'
import { writeValuesTableUpdate } from './sql/valuesTableUpdate.js'
import { fetchRows } from './statements/execute.js'
import { createRowUpdate, createUpdateRequest, type RowUpdate } from './statements/rows.js'
import type { StatementContext } from './store.js'
import { loadTraitsForRecord } from './tableTraits.js'
import { canHaveTwoSpellings } from './uuidSpellings.js'
import { readUpdated } from './writtenRows.js'

/**
 * Runs several updates with fewer statements. Returns null if the updates must run one by one. Updates must not
 * influence each other: no unique columns, no default scope and no triggers. Triggers of MySQL cannot write the table
 * whose change runs them, so MySQL and MariaDB are not asked for triggers.
 */
export async function tryUpdateTogether(
  store: StatementContext,
  plans: readonly UpdatePlan[],
): Promise<readonly Outcome[] | null> {
  const [first] = plans
  const { resource, model, dialect, transaction } = store
  if (!isFast || first === undefined || plans.length < 2 || transaction === undefined) return null
  if (dialect.valuesTable === null && dialect.returnsUpdated) return null
  const { projection } = first
  if (!isReturnable(store, projection) || hasScope(model) || hasPartialUnique(model)) return null
  const alone = new Set([...resource.keys, ...resource.uniques.flat()].map(({ name }) => name))
  const isPlainUpdate = (plan: UpdatePlan): boolean =>
    chooseWriteExecutor(store, plan) === 'statements' &&
    !isWithoutChanges(store, plan) &&
    hasSameColumns(plan.projection, projection) &&
    ![...plan.changes.keys()].some((name) => alone.has(name))
  if (!plans.every(isPlainUpdate)) return null
  return dialect.valuesTable === null
    ? updateAndReadTogether(store, plans, projection, transaction)
    : updateInOneStatement(store, plans, projection, transaction)
}

/**
 * Runs one UPDATE that returns the records. The database reads all rows before it writes the first, in any order. Rows
 * are matched by key, so each stored key must equal the text that the client sent.
 */
async function updateInOneStatement(
  store: StatementContext,
  plans: readonly UpdatePlan[],
  projection: Projection,
  transaction: Transaction,
): Promise<readonly Outcome[] | null> {
  const { resource, model, dialect } = store
  const { keys: fields } = resource
  const { valuesTable } = dialect
  if (valuesTable === null) return null
  const statement = new Statement(store, () => valuesTable.columns(model))
  const table = await fetchRows(store, { statement, transaction, isOnPrimary: true })
  if (!fields.every((field) => valuesTable.isExact(table, field))) return null
  const updates = plans.map((plan) => createRowUpdate(store, plan))
  const rows = await updateByValuesTable(store, table, updates, withKeys(projection, fields), transaction)
  if (rows === null) return null
  const byKey = groupByKey(fields, projection, rows)
  const outcomes: Outcome[] = []
  for (const plan of plans) {
    const row = byKey.get(planKeyText(fields, plan.key))
    if (row === undefined) throw await racedWriteError(store, plan, transaction)
    outcomes.push({ kind: 'record', row })
  }
  return outcomes
}

/**
 * Runs an UPDATE for each record, and one SELECT for all of them. Returns null if two records may have keys of equal
 * meaning.
 */
async function updateAndReadTogether(
  store: StatementContext,
  plans: readonly UpdatePlan[],
  projection: Projection,
  transaction: Transaction,
): Promise<readonly Outcome[] | null> {
  const { keys: fields } = store.resource
  if (canHaveTwoSpellings(store) || (await loadTraitsForRecord(store)).canSkipWrites) return null
  let mayBeOld = false
  for (const plan of plans) {
    const count = await updateExisting(store, plan, createRowUpdate(store, plan), transaction)
    mayBeOld ||= count === 0
  }
  const where = matchKeys(
    fields,
    plans.map(({ key }) => key),
  )
  const { columns } = withKeys(projection, fields)
  const lock = mayBeOld && store.dialect.readsSnapshots
  const byKey = groupByKey(
    fields,
    projection,
    await readWritten(store, where, columns, plans.length, transaction, lock),
  )
  const outcomes: Outcome[] = []
  for (const plan of plans) {
    const row = byKey.get(planKeyText(fields, plan.key))
    // A stored key may be written differently than the client's.
    outcomes.push(row === undefined ? await readUpdated(store, plan, transaction, mayBeOld) : { kind: 'record', row })
  }
  return outcomes
}

/** Adds the keys after the columns of a projection. */
function withKeys(projection: Projection, keys: KeyFields): Projection {
  return { ...projection, columns: [...projection.columns, ...keyColumns(keys)] }
}

/** Returns the rows without their keys, by the keys. */
function groupByKey(fields: KeyFields, { columns }: Projection, rows: readonly Row[]): ReadonlyMap<string, Row> {
  return new Map(rows.map((row) => [keyText(fields, row.slice(columns.length)), row.slice(0, columns.length)]))
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
  storedColumns: StoredColumns,
  updates: readonly RowUpdate[],
  { columns }: Projection,
  transaction: Transaction,
): Promise<readonly Row[] | null> {
  const { valuesTable, maxValues } = store.dialect
  const [first, ...others] = updates.map((update) => createUpdateRequest(store, update, columns))
  if (first === undefined || valuesTable === null) return null
  const aligned = alignValues(store, first, others)
  if (aligned === null) return null
  const { values, fields } = aligned
  const casts = fields.map((field) => castOf(store, valuesTable, storedColumns, field))
  if (!casts.every((cast) => cast !== null)) return null
  const rows: Row[] = []
  const size = Math.max(2, Math.floor(maxValues / (values[0]?.length ?? 1)))
  for (let start = 0; start < values.length; start += size) {
    const part = values.slice(start, start + size)
    const statement = new Statement(
      store,
      (operands) => writeValuesTableUpdate(store, first, { table: valuesTable, casts, rows: part }, operands),
      false,
    )
    const written = await fetchRows(store, { statement, transaction, isOnPrimary: true })
    for (const row of written) rows.push(columnValues(row, columns))
  }
  return rows
}

/** Returns null for a column that is compared or read by an expression, because its type is not the declared type. */
function castOf(
  { dialect, model }: StatementContext,
  valuesTable: ValuesTable,
  columns: StoredColumns,
  field: Field,
): string | null {
  return conversionOf(dialect, model, field) === null ? valuesTable.cast(columns, field) : null
}

/** Values of each update, and their fields, in the order of the statement's parameters. */
interface AlignedValues {
  readonly values: readonly (readonly unknown[])[]
  readonly fields: readonly Field[]
}

/** Returns null if the updates differ in more than values. */
function alignValues(
  { dialect, model }: StatementContext,
  first: StatementRequestOf<'update'>,
  others: readonly StatementRequestOf<'update'>[],
): AlignedValues | null {
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
  return { values: rows, fields: [...first.fields, ...shape.fields] }
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index])
}
