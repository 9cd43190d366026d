import type { Transaction } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, Projection } from '../../../types/plan.js'
import type { TableTraits } from '../../../types/table.js'
import { keyIn, keyOfValues, withKeys } from '../../common/keys.js'
import { isReturnable, isUneven } from '../executor.js'
import { saveAll, saveNew } from '../instances/create.js'
import { allBuiltFor, builtFor, validateAll } from '../newRecords.js'
import { get } from '../read.js'
import { refreshed, type Store } from '../store.js'
import { fieldsOf, insertableRow, type NewRow } from '../stored.js'
import { forgetTable, notWritten, tableOf } from '../table.js'
import { alone, inTransaction } from '../transaction.js'
import { validate, validated } from '../validation.js'
import { insertReturning } from './rows.js'

/** One INSERT that returns the record; what cannot be written or given back so is handed over as an instance. */
export async function create(given: Store, plan: CreatePlan): Promise<Outcome> {
  const { projection, instant } = plan
  await tableOf(given)
  const store = refreshed(given)
  const instance = await builtFor(store, plan)
  // Outside `save`, whose own validation would be part of its transaction.
  await validated(store, () => validate(instance))
  const row = insertableRow(store, instance, instant)
  if (row === null || !returnsInserted(store, projection)) return saveNew(store, plan, instance)
  return insert(store, row, projection)
}

async function insert(store: Store, row: NewRow, projection: Projection): Promise<Outcome> {
  const table = await tableOf(store)
  if (table.writesLess) {
    return inTransaction(store, async (transaction) => {
      return { kind: 'record', row: await insertChecked(store, table, row, projection, transaction) }
    })
  }
  const fields = store.resource.fields.filter((_, at) => row[at] !== undefined)
  const [inserted] = await alone(store, (transaction) => {
    return insertReturning(store, [row], fields, projection, transaction)
  })
  if (inserted !== undefined) return { kind: 'record', row: inserted }
  forgetTable(store)
  throw notWritten()
}

/** One INSERT of all records, likewise; several where the database does not take as many values at once. */
export async function bulkCreate(given: Store, plan: BulkCreatePlan): Promise<Outcome> {
  const { records, projection, instant } = plan
  if (records.length === 0) return { kind: 'records', rows: [] }
  const table = await tableOf(given)
  const store = refreshed(given)
  const instances = await allBuiltFor(store, plan)
  if (!returnsInserted(store, projection) || isUneven(store, instances, table)) return saveAll(store, plan, instances)
  await validated(store, () => validateAll(store, instances, { hooks: false }))
  const rows = instances.map((instance) => insertableRow(store, instance, instant))
  if (!rows.every((row) => row !== null)) return saveAll(store, plan, instances)
  const fields = fieldsOf(store, rows, table)
  if (fields === null) return saveAll(store, plan, instances)
  return insertAll(store, rows, fields, projection)
}

function returnsInserted(store: Store, projection: Projection): boolean {
  return store.dialect.returnsInserted && isReturnable(store, projection)
}

async function insertAll(
  store: Store,
  rows: readonly NewRow[],
  fields: readonly Field[],
  projection: Projection,
): Promise<Outcome> {
  const table = await tableOf(store)
  // Each row of a view is looked for by itself.
  const most = table.countsInserted ? Math.max(1, Math.floor(store.dialect.mostValues / fields.length)) : 1
  const insertPart = async (part: readonly NewRow[], transaction: Transaction): Promise<readonly Row[]> => {
    const [only] = part
    if (!table.countsInserted && only !== undefined) {
      return [await insertChecked(store, table, only, projection, transaction)]
    }
    const inserted = await insertReturning(store, part, fields, projection, transaction)
    if (inserted.length === part.length) return inserted
    forgetTable(store)
    throw notWritten()
  }
  if (rows.length <= most && !table.writesLess) {
    return { kind: 'records', rows: await alone(store, (transaction) => insertPart(rows, transaction)) }
  }
  return inTransaction(store, async (transaction) => {
    const inserted: Row[] = []
    for (let start = 0; start < rows.length; start += most) {
      inserted.push(...(await insertPart(rows.slice(start, start + most), transaction)))
    }
    return { kind: 'records', rows: inserted }
  })
}

/** One INSERT into a table that may skip it. @throws Problem 409 where it does */
async function insertChecked(
  store: Store,
  table: TableTraits,
  row: NewRow,
  projection: Projection,
  transaction: Transaction,
): Promise<Row> {
  const fields = store.resource.fields.filter((_, at) => row[at] !== undefined)
  const insertRow = async (): Promise<Row> => {
    const [inserted] = await insertReturning(store, [row], fields, projection, transaction)
    if (inserted === undefined) throw notWritten()
    return inserted
  }
  if (table.countsInserted) return insertRow()
  // A view returns the values that it was given, whatever its trigger does with them.
  const { keys } = store.resource
  const find = (key: unknown): Promise<Row | null> =>
    get(store, { where: withKeys(keys, [key]), projection }, { transaction, unscoped: true })
  const wasThere =
    (await find(
      keyOfValues(
        keys,
        keys.map((key) => row[store.resource.fields.indexOf(key)]),
      ),
    )) !== null
  const inserted = await insertRow()
  const key = keyIn(keys, projection.columns, inserted)
  if (key === undefined) return inserted
  const found = wasThere ? null : await find(key)
  if (found === null) throw notWritten()
  return found
}
