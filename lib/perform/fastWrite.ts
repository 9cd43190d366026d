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
import { keyColumns, keyIn, keyOfValues, withKeys } from '../common/keys.js'
import { problem } from '../common/problem.js'
import { isFast } from '../common/speed.js'
import { isReturnable, type WritePlan, writesBy } from './executor.js'
import { validateAll } from './newRecords.js'
import { get, some } from './read.js'
import { conditionOf, existing, isRestore, isThere, racedRefusalOf, refusalOf, refused } from './refusal.js'
import {
  deleteRows,
  insertReturning,
  type RowUpdate,
  rowUpdateOf,
  updateReturning,
  updateRows,
} from './statements/rows.js'
import { type Store, within } from './store.js'
import { fieldsOf, insertableRows, type NewRow, stampsOf } from './stored.js'
import { forgetTable, notWritten, tableOf, tableOfOne } from './table.js'
import { alone, inTransaction, isJoined, racing } from './transaction.js'
import { accepted, NOTHING, passes, validate, validated } from './validation.js'
import { reported, written } from './written.js'

/**
 * Runs a write as one statement. Returns null if instances are required: host code takes part, a value is an SQL
 * expression, or the database does not return stored values. `built` has the instances of new records.
 */
export async function tryFast(store: Store, plan: WritePlan, built: readonly Model[] = []): Promise<Outcome | null> {
  if (writesBy(store, plan) === 'instances' || (!isFast && !leavesKey(store, built))) return null
  switch (plan.kind) {
    case 'create':
      return create(store, plan, built)
    case 'bulkCreate':
      return bulkCreate(store, plan, built)
    case 'update':
    case 'restore':
      return racing(store, () => update(store, plan))
    case 'delete':
      return racing(store, () => remove(store, plan))
    case 'bulkDelete':
      return bulkDelete(store, plan)
  }
}

/** Whether the table generates a key that an instance would not receive. The fast path is then required. */
function leavesKey({ resource: { keys } }: Store, built: readonly Model[]): boolean {
  const left = keys.filter(({ assigned }) => !assigned)
  return built.some((instance) => left.some(({ name }) => instance.getDataValue(name as never) === undefined))
}

const UNCHANGED: Changes = new Map()

async function create(
  store: Store,
  { changes, upkeep, projection, instant }: CreatePlan,
  instances: readonly Model[],
): Promise<Outcome | null> {
  // Validated here, because `save` would validate inside its transaction.
  await validated(store, async () => {
    for (const instance of instances) await validate(instance, accepted(store, changes, upkeep))
  })
  const rows = returnsInserted(store, projection) ? insertableRows(store, instances, instant) : null
  if (rows === null) return null
  const fields = store.resource.fields.filter((_, at) => rows.some((row) => row[at] !== undefined))
  const [inserted] = await insertAll(store, rows, fields, projection)
  return inserted === undefined ? null : { kind: 'record', row: inserted }
}

/** Inserts all records with one statement, or several if there are too many values. */
async function bulkCreate(
  store: Store,
  { records, upkeep, projection, instant }: BulkCreatePlan,
  instances: readonly Model[],
): Promise<Outcome | null> {
  if (!returnsInserted(store, projection)) return null
  const optionsOf = (index: number): object => ({
    hooks: false,
    skip: accepted(store, records[index] ?? UNCHANGED, upkeep),
  })
  await validated(store, () => validateAll(store, instances, optionsOf))
  const rows = insertableRows(store, instances, instant)
  const fields = rows && fieldsOf(store, rows, await tableOf(store))
  return rows && fields && { kind: 'records', rows: await insertAll(store, rows, fields, projection) }
}

function returnsInserted(store: Store, projection: Projection): boolean {
  return store.dialect.returnsInserted && isReturnable(store, projection)
}

async function insertAll(
  store: Store,
  rows: readonly NewRow[],
  fields: readonly Field[],
  projection: Projection,
): Promise<readonly Row[]> {
  const table = await tableOf(store)
  // Rows of a view are inserted one by one, and each is looked up.
  const most = table.countsInserted ? Math.max(1, Math.floor(store.dialect.mostValues / fields.length)) : 1
  const insertPart = async (part: readonly NewRow[], transaction: Transaction): Promise<readonly Row[]> => {
    const [only] = part
    if (!table.countsInserted && only !== undefined) return [await insertSought(store, only, projection, transaction)]
    const inserted = await insertReturning(store, part, fields, projection, transaction)
    if (inserted.length === part.length) return inserted
    if (!table.writesLess) forgetTable(store)
    throw notWritten()
  }
  if (rows.length <= most && !table.writesLess) return alone(store, (transaction) => insertPart(rows, transaction))
  return inTransaction(store, async (transaction) => {
    const inserted: Row[] = []
    for (let start = 0; start < rows.length; start += most) {
      inserted.push(...(await insertPart(rows.slice(start, start + most), transaction)))
    }
    return inserted
  })
}

/**
 * Inserts one row into a view. A view returns the given values even if its trigger skips the row, so the row is looked
 * up. @throws Problem 409 if the row was skipped
 */
async function insertSought(store: Store, row: NewRow, projection: Projection, transaction: Transaction): Promise<Row> {
  const { keys, fields } = store.resource
  const find = (key: unknown): Promise<Row | null> =>
    get(store, { where: withKeys(keys, [key]), projection }, { transaction, unscoped: true })
  const given = keyOfValues(
    keys,
    keys.map((key) => row[fields.indexOf(key)]),
  )
  const wasThere = (await find(given)) !== null
  const written = fields.filter((_, at) => row[at] !== undefined)
  const [inserted] = await insertReturning(store, [row], written, projection, transaction)
  if (inserted === undefined) throw notWritten()
  const key = keyIn(keys, projection.columns, inserted)
  if (key === undefined) return inserted
  const found = wasThere ? null : await find(key)
  if (found === null) throw notWritten()
  return found
}

/** Runs an UPDATE that returns the record, or an UPDATE followed by a read. */
async function update(store: Store, plan: UpdatePlan): Promise<Outcome> {
  const { changes, projection } = plan
  const isValid = store.resource.validation === 'rules' || (await passes(store, changes))
  if (!isValid) return refused(store, { ...plan, invalid: NOTHING })
  const write = rowUpdateOf(store, plan)
  const table = await tableOfOne(store)
  if (table.writesLess) return updateChecked(store, plan, write, table)
  const isKnown = isReturnable(store, projection)
  if (store.dialect.returnsUpdated && isKnown) {
    const row = await alone(store, (transaction) => updateReturning(store, write, projection, transaction))
    if (row === undefined) throw await racedRefusalOf(store, plan)
    return { kind: 'record', row }
  }
  // The read uses the transaction's connection, because another server may not have the change yet. It also lets a find
  // hook hide the record, in which case nothing is written.
  return inTransaction(store, async (transaction) => {
    const count = await updateRows(store, write, transaction)
    // MySQL counts changed rows, and possibly no value changed. An incremented version always changes.
    const isMissing =
      count === 0 &&
      (write.increments.length > 0 ||
        (await existing(store, { kind: plan.kind, where: write.where }, transaction)) === null)
    if (isMissing) throw await missing(store, plan, write, transaction)
    // A trigger may move the record out of the caller's scope. The answer is then 404 and the write is rolled back.
    const isOwn = isKnown && !isJoined(store) && !isRestore(plan)
    return written(store, isOwn ? { ...plan, identity: plan.where } : plan, transaction, count === 0)
  })
}

/** The reason why an UPDATE met no record on MySQL. Without increments the record was already looked up. */
async function missing(
  store: Store,
  plan: UpdatePlan,
  { increments }: RowUpdate,
  transaction?: Transaction,
): Promise<Error> {
  const isKnown = plan.precondition === null && increments.length === 0
  return isKnown ? problem('not-found') : racedRefusalOf(store, plan, transaction)
}

/** Updates a row of a table that may skip the update. @throws Problem 409 if it was skipped */
function updateChecked(store: Store, plan: UpdatePlan, write: RowUpdate, table: TableTraits): Promise<Outcome> {
  return inTransaction(store, async (transaction) => {
    if (!(await isThere(store, plan, write.where, transaction))) throw await refusalOf(store, plan, transaction)
    const count = await updateRows(store, write, transaction)
    if (count === 0 && table.countsFound) throw await refusalOf(store, plan, transaction)
    return written(store, plan, transaction, count === 0)
  })
}

async function remove(store: Store, plan: DeletePlan): Promise<Outcome> {
  const { report } = plan
  const where = conditionOf(plan)
  if ((await tableOfOne(store)).writesLess) return removeChecked(store, plan, where)
  if (report === null) {
    const count = await alone(store, (transaction) => removeRows(store, where, plan, transaction))
    if (count === 0) throw await racedRefusalOf(store, plan)
    return { kind: 'deleted', count, rows: [] }
  }
  return inTransaction(store, async (transaction) => {
    const row = await get(store, { where, projection: report }, { transaction, lock: true })
    const count = await removeRows(store, where, plan, transaction)
    if (count === 0) throw await racedRefusalOf(store, plan, transaction)
    return { kind: 'deleted', count, rows: row === null ? [] : [row] }
  })
}

/**
 * Deletes a row from a table that may skip the deletion. Checks afterwards that the record is gone, moved or hidden by
 * its mark.
 */
function removeChecked(store: Store, plan: DeletePlan, where: Predicate): Promise<Outcome> {
  const { report } = plan
  return inTransaction(store, async (transaction) => {
    if (!(await isThere(store, plan, where, transaction))) throw await refusalOf(store, plan, transaction)
    const row = report === null ? null : await get(store, { where, projection: report }, { transaction })
    await removeRows(store, where, plan, transaction)
    if (await isThere(store, plan, plan.where, transaction)) throw await refusalOf(store, plan, transaction)
    return { kind: 'deleted', count: 1, rows: row === null ? [] : [row] }
  })
}

async function bulkDelete(store: Store, plan: BulkDeletePlan): Promise<Outcome> {
  const { where, report } = plan
  if ((await tableOf(store)).writesLess) return bulkDeleteChecked(store, plan)
  if (report !== null) {
    return inTransaction(store, (transaction) =>
      reported(store, plan, report, transaction, (found) => removeRows(store, found.where, found, transaction)),
    )
  }
  const count = await alone(store, (transaction) => removeRows(store, where, plan, transaction))
  return { kind: 'deleted', count, rows: [] }
}

/** Deletes several rows from a table that may skip some. */
function bulkDeleteChecked(store: Store, plan: BulkDeletePlan): Promise<Outcome> {
  const { where, report, keys } = plan
  const remove = async (given: BulkDeletePlan, transaction: Transaction): Promise<number> => {
    const joined = within(store, transaction)
    const columns = keyColumns(store.resource.keys)
    const { length } = await some(joined, given.where, columns, keys.length)
    await removeRows(store, given.where, given, transaction)
    if ((await some(joined, given.where, columns, 1)).length > 0) throw notWritten()
    return length
  }
  return inTransaction(store, async (transaction) => {
    if (report === null) return { kind: 'deleted', count: await remove({ ...plan, where }, transaction), rows: [] }
    return reported(store, plan, report, transaction, (found) => remove(found, transaction))
  })
}

/** Deletes or marks rows with one statement. Returns their number. */
function removeRows(
  store: Store,
  where: Predicate,
  { mark, instant }: Pick<DeletePlan, 'mark' | 'instant'>,
  transaction: Transaction,
): Promise<number> {
  if (mark === null) return deleteRows(store, where, transaction)
  const values = new Map([...stampsOf(store, 'update', instant), ...mark.values])
  return updateRows(store, { where, values, increments: mark.increments, deleted: false }, transaction)
}
