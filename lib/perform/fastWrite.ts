// Fast path: writes by one SQL statement, without loading or saving Sequelize instances.

import type { Model, Transaction } from 'sequelize'
import type { Changes } from '../../types/changes.js'
import type { Field } from '../../types/field.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type {
  BulkCreatePlan,
  BulkDeletePlan,
  CreatePlan,
  DeletePlan,
  Predicate,
  Projection,
  UpdatePlan,
} from '../../types/plan.js'
import type { TableTraits } from '../../types/table.js'
import { isFast } from '../common/fastPaths.js'
import { encodeKey, keyColumns, keyOfRow, matchKeys } from '../common/keys.js'
import { problem } from '../common/problem.js'
import { type EncodedRow, encodeRows, insertedFieldsOf, timestampValues } from './encodedRows.js'
import { chooseWriteExecutor, isReturnable, type WritePlan } from './executor.js'
import { validateAll } from './newRecords.js'
import { readRecord, readVisible } from './read.js'
import {
  canReadRecord,
  findExisting,
  fullConditionOf,
  missedWriteError,
  racedWriteError,
  readRefused,
} from './refusal.js'
import {
  createRowUpdate,
  deleteRows,
  insertReturning,
  type RowUpdate,
  updateReturning,
  updateRows,
} from './statements/rows.js'
import type { StatementContext } from './store.js'
import { forgetTableTraits, loadTableTraits, loadTraitsForRecord, skippedWriteError } from './tableTraits.js'
import { inTransaction, isInTransaction, retryRaced, runSingleStatement } from './transaction.js'
import { hasValidChanges, NO_ERRORS, validateInTime, validateNew } from './validation.js'
import { deleteAndReport, readUpdated } from './writtenRows.js'

/**
 * Runs a write as one statement. Returns null if instances are required: host code takes part, a value is an SQL
 * expression, or the database does not return stored values. `built` contains the instances of new records.
 */
export async function tryWriteByStatement(
  store: StatementContext,
  plan: WritePlan,
  built: readonly Model[] = [],
): Promise<Outcome | null> {
  if (chooseWriteExecutor(store, plan) === 'instances' || (!isFast && !hasDatabaseKey(store, built))) return null
  switch (plan.kind) {
    case 'create':
      return insertOne(store, plan, built)
    case 'bulkCreate':
      return insertMany(store, plan, built)
    case 'update':
    case 'restore':
      return retryRaced(store, () => updateOne(store, plan))
    case 'delete':
      return retryRaced(store, () => deleteOne(store, plan))
    case 'bulkDelete':
      return deleteMany(store, plan)
  }
}

/**
 * Whether the table generates a key that an instance would not receive. Only a statement returns the key, so the write
 * needs a statement even if fast paths are disabled.
 */
function hasDatabaseKey({ resource: { keys } }: StatementContext, built: readonly Model[]): boolean {
  const generated = keys.filter(({ assigned }) => !assigned)
  return built.some((instance) => generated.some(({ name }) => instance.getDataValue(name as never) === undefined))
}

const NO_CHANGES: Changes = new Map()

async function insertOne(
  store: StatementContext,
  { changes, serverValues, projection, instant }: CreatePlan,
  instances: readonly Model[],
): Promise<Outcome | null> {
  // Validation runs before the transaction starts. `save` would validate inside its transaction.
  await validateInTime(store, async () => {
    for (const instance of instances) await validateNew(store, instance, { changes, serverValues })
  })
  const rows = canReturnInserted(store, projection) ? encodeRows(store, instances, instant) : null
  if (rows === null) return null
  const fields = store.resource.fields.filter((_, at) => rows.some((row) => row[at] !== undefined))
  const [inserted] = await insertInParts(store, rows, fields, projection)
  return inserted === undefined ? null : { kind: 'record', row: inserted }
}

/** Inserts all records with one statement, or with several if there are too many values. */
async function insertMany(
  store: StatementContext,
  { records, serverValues, parentKeys, projection, instant }: BulkCreatePlan,
  instances: readonly Model[],
): Promise<Outcome | null> {
  if (!canReturnInserted(store, projection)) return null
  const validateRecord = (instance: Model, index: number): Promise<void> | null =>
    validateNew(store, instance, { changes: records[index] ?? NO_CHANGES, serverValues, parentKeys })
  await validateInTime(store, () => validateAll(store, instances, validateRecord))
  const rows = encodeRows(store, instances, instant)
  const fields = rows && insertedFieldsOf(store, rows, await loadTableTraits(store))
  return rows && fields && { kind: 'records', rows: await insertInParts(store, rows, fields, projection) }
}

function canReturnInserted(store: StatementContext, projection: Projection): boolean {
  return store.dialect.returnsInserted && isReturnable(store, projection)
}

async function insertInParts(
  store: StatementContext,
  rows: readonly EncodedRow[],
  fields: readonly Field[],
  projection: Projection,
): Promise<readonly Row[]> {
  const table = await loadTableTraits(store)
  // The database does not count the inserted rows of a view. Each row is inserted alone and looked up.
  const most = table.countsInserted ? Math.max(1, Math.floor(store.dialect.maxValues / fields.length)) : 1
  const insertPart = async (part: readonly EncodedRow[], transaction: Transaction): Promise<readonly Row[]> => {
    const [only] = part
    if (!table.countsInserted && only !== undefined) return [await insertAndFind(store, only, projection, transaction)]
    const inserted = await insertReturning(store, part, fields, projection, transaction)
    if (inserted.length === part.length) return inserted
    if (!table.canSkipWrites) forgetTableTraits(store)
    throw skippedWriteError()
  }
  if (rows.length <= most && !table.canSkipWrites)
    return runSingleStatement(store, (transaction) => insertPart(rows, transaction))
  return inTransaction(store, async (transaction) => {
    const inserted: Row[] = []
    for (let start = 0; start < rows.length; start += most) {
      inserted.push(...(await insertPart(rows.slice(start, start + most), transaction)))
    }
    return inserted
  })
}

/**
 * Inserts one row into a view and looks it up. A view returns the given values even if its trigger skips the row.
 * @throws Problem 409 if the row was skipped
 */
async function insertAndFind(
  store: StatementContext,
  row: EncodedRow,
  projection: Projection,
  transaction: Transaction,
): Promise<Row> {
  const { keys, fields } = store.resource
  const findByKey = (key: unknown): Promise<Row | null> =>
    readRecord(store, { where: matchKeys(keys, [key]), projection }, { transaction, unscoped: true })
  const given = encodeKey(
    keys,
    keys.map((key) => row[fields.indexOf(key)]),
  )
  const wasThere = (await findByKey(given)) !== null
  const written = fields.filter((_, at) => row[at] !== undefined)
  const [inserted] = await insertReturning(store, [row], written, projection, transaction)
  if (inserted === undefined) throw skippedWriteError()
  const key = keyOfRow(keys, projection.columns, inserted)
  if (key === undefined) return inserted
  const found = wasThere ? null : await findByKey(key)
  if (found === null) throw skippedWriteError()
  return found
}

/** Runs an UPDATE that returns the record, or an UPDATE followed by a read. */
async function updateOne(store: StatementContext, plan: UpdatePlan): Promise<Outcome> {
  const { projection } = plan
  if (!(await hasValidChanges(store, plan))) return readRefused(store, { ...plan, invalid: NO_ERRORS })
  const write = createRowUpdate(store, plan)
  const table = await loadTraitsForRecord(store)
  if (table.canSkipWrites) return updateOneChecked(store, plan, write, table)
  const isKnown = isReturnable(store, projection)
  if (store.dialect.returnsUpdated && isKnown) {
    const row = await runSingleStatement(store, (transaction) => updateReturning(store, write, projection, transaction))
    if (row === undefined) throw await racedWriteError(store, plan)
    return { kind: 'record', row }
  }
  // The read uses the transaction's connection, because a replica may lag behind the write. If a find hook hides the
  // record, the transaction is rolled back.
  return inTransaction(store, async (transaction) => {
    const count = await updateExisting(store, plan, write, transaction)
    // If a trigger moves the record out of the caller's scope, the write is rolled back and the server answers 404.
    const isOwn = isKnown && !isInTransaction(store) && plan.kind !== 'restore'
    return readUpdated(store, isOwn ? { ...plan, identity: plan.where } : plan, transaction, count === 0)
  })
}

/**
 * Runs an UPDATE of an existing record, and returns the number of changed rows.
 * @throws Problem if the record is missing
 */
export async function updateExisting(
  store: StatementContext,
  plan: UpdatePlan,
  write: RowUpdate,
  transaction: Transaction,
): Promise<number> {
  const count = await updateRows(store, write, transaction)
  // MySQL counts only rows whose values change, so the count for an unchanged record is 0. An incremented version
  // always changes.
  const isMissing =
    count === 0 &&
    (write.increments.length > 0 ||
      (await findExisting(store, { kind: plan.kind, where: write.where }, transaction)) === null)
  if (isMissing) throw await missingRecordError(store, plan, write, transaction)
  return count
}

/**
 * Returns the error for an UPDATE that met no record on MySQL. Without increments, a query has already shown that the
 * record is missing.
 */
async function missingRecordError(
  store: StatementContext,
  plan: UpdatePlan,
  { increments }: RowUpdate,
  transaction: Transaction,
): Promise<Error> {
  const isKnown = plan.precondition === null && increments.length === 0
  return isKnown ? problem('not-found') : racedWriteError(store, plan, transaction)
}

/**
 * Updates a row of a table whose rules or triggers may skip the update.
 * @throws Problem 409 if the update was skipped
 */
function updateOneChecked(
  store: StatementContext,
  plan: UpdatePlan,
  write: RowUpdate,
  table: TableTraits,
): Promise<Outcome> {
  return inTransaction(store, async (transaction) => {
    if (!(await canReadRecord(store, plan, write.where, transaction)))
      throw await missedWriteError(store, plan, transaction)
    const count = await updateRows(store, write, transaction)
    if (count === 0 && table.countsFound) throw await missedWriteError(store, plan, transaction)
    return readUpdated(store, plan, transaction, count === 0)
  })
}

async function deleteOne(store: StatementContext, plan: DeletePlan): Promise<Outcome> {
  const { report } = plan
  const where = fullConditionOf(plan)
  if ((await loadTraitsForRecord(store)).canSkipWrites) return deleteOneChecked(store, plan, where)
  if (report === null) {
    const count = await runSingleStatement(store, (transaction) => deleteOrMarkRows(store, where, plan, transaction))
    if (count === 0) throw await racedWriteError(store, plan)
    return { kind: 'deleted', count, rows: [] }
  }
  return inTransaction(store, async (transaction) => {
    const row = await readRecord(store, { where, projection: report }, { transaction, lock: true })
    const count = await deleteOrMarkRows(store, where, plan, transaction)
    if (count === 0) throw await racedWriteError(store, plan, transaction)
    return { kind: 'deleted', count, rows: row === null ? [] : [row] }
  })
}

/**
 * Deletes a row from a table whose rules or triggers may skip the deletion. Checks afterwards that the caller can no
 * longer read the record.
 * @throws Problem 409 if the deletion was skipped
 */
function deleteOneChecked(store: StatementContext, plan: DeletePlan, where: Predicate): Promise<Outcome> {
  const { report } = plan
  return inTransaction(store, async (transaction) => {
    if (!(await canReadRecord(store, plan, where, transaction))) throw await missedWriteError(store, plan, transaction)
    const row = report === null ? null : await readRecord(store, { where, projection: report }, { transaction })
    await deleteOrMarkRows(store, where, plan, transaction)
    if (await canReadRecord(store, plan, plan.where, transaction))
      throw await missedWriteError(store, plan, transaction)
    return { kind: 'deleted', count: 1, rows: row === null ? [] : [row] }
  })
}

async function deleteMany(store: StatementContext, plan: BulkDeletePlan): Promise<Outcome> {
  const { where, report } = plan
  if ((await loadTableTraits(store)).canSkipWrites) return deleteManyChecked(store, plan)
  if (report !== null) {
    return inTransaction(store, (transaction) =>
      deleteAndReport(store, plan, report, transaction, (found) =>
        deleteOrMarkRows(store, found.where, found, transaction),
      ),
    )
  }
  const count = await runSingleStatement(store, (transaction) => deleteOrMarkRows(store, where, plan, transaction))
  return { kind: 'deleted', count, rows: [] }
}

/**
 * Deletes several rows from a table whose rules or triggers may skip deletions.
 * @throws Problem 409 if a deletion was skipped
 */
function deleteManyChecked(store: StatementContext, plan: BulkDeletePlan): Promise<Outcome> {
  const { where, report, keys } = plan
  const deleteRecords = async (given: BulkDeletePlan, transaction: Transaction): Promise<number> => {
    const joined = { ...store, transaction }
    const columns = keyColumns(store.resource.keys)
    const { length } = await readVisible(joined, given.where, columns, keys.length)
    await deleteOrMarkRows(store, given.where, given, transaction)
    if ((await readVisible(joined, given.where, columns, 1)).length > 0) throw skippedWriteError()
    return length
  }
  return inTransaction(store, async (transaction) => {
    if (report === null)
      return { kind: 'deleted', count: await deleteRecords({ ...plan, where }, transaction), rows: [] }
    return deleteAndReport(store, plan, report, transaction, (found) => deleteRecords(found, transaction))
  })
}

/** Deletes rows or sets their deletion marks, with one statement. Returns the number of rows. */
function deleteOrMarkRows(
  store: StatementContext,
  where: Predicate,
  { softDelete, instant }: Pick<DeletePlan, 'softDelete' | 'instant'>,
  transaction: Transaction,
): Promise<number> {
  if (softDelete === null) return deleteRows(store, where, transaction)
  const values = new Map([...timestampValues(store, 'update', instant), ...softDelete.values])
  return updateRows(store, { where, values, increments: softDelete.increments, deleted: false }, transaction)
}
