import type { Field } from '../../../types/field.js'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, Projection } from '../../../types/plan.js'
import { isReturnable, isUneven } from '../executor.js'
import { saveAll, saveNew } from '../instances/create.js'
import { allBuiltFor, builtFor, validateAll } from '../newRecords.js'
import { fieldsOf, plainRow, plainRows } from '../newRows.js'
import type { Store } from '../store.js'
import { insertableRow, type NewRow } from '../stored.js'
import { alone, inTransaction, limited } from '../transaction.js'
import { validate } from '../validation.js'
import { insertReturning } from './rows.js'
import { insertOne } from './rowWrites.js'

/** One INSERT that returns the record; what cannot be written or given back so is handed over as an instance. */
export async function create(store: Store, plan: CreatePlan): Promise<Outcome> {
  const { projection, instant, changes, upkeep, invalid } = plan
  if (invalid === null && returnsInserted(store, projection)) {
    const row = plainRow(store, changes, upkeep, instant)
    if (row !== null) return insert(store, row, projection)
  }
  const instance = await builtFor(store, plan)
  // Outside `save`, whose own validation would be part of its transaction.
  if (store.resource.validation !== 'rules') await limited(store, () => validate(instance))
  const row = insertableRow(store, instance, instant)
  if (row === null || !returnsInserted(store, projection)) return saveNew(store, plan, instance)
  return insert(store, row, projection)
}

async function insert(store: Store, row: NewRow, projection: Projection): Promise<Outcome> {
  const inserted = await insertOne(store, row, projection)
  if (inserted === undefined) throw new TypeError('an INSERT returned no row')
  return { kind: 'record', row: inserted }
}

/** One INSERT of all records, likewise; several where the database does not take as many values at once. */
export async function bulkCreate(store: Store, plan: BulkCreatePlan): Promise<Outcome> {
  const { records, projection, instant, upkeep, invalid } = plan
  if (records.length === 0) return { kind: 'records', rows: [] }
  if (invalid.size === 0 && returnsInserted(store, projection)) {
    const rows = plainRows(store, records, upkeep, instant)
    const fields = rows && fieldsOf(store, rows)
    if (rows && fields) return insertAll(store, rows, fields, projection)
  }
  const instances = await allBuiltFor(store, plan)
  if (!returnsInserted(store, projection) || isUneven(store, instances)) return saveAll(store, plan, instances)
  if (store.resource.validation !== 'rules') await limited(store, () => validateAll(store, instances, { hooks: false }))
  const rows = instances.map((instance) => insertableRow(store, instance, instant))
  if (!rows.every((row) => row !== null)) return saveAll(store, plan, instances)
  const fields = fieldsOf(store, rows)
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
  const size = Math.max(1, Math.floor(store.dialect.mostValues / fields.length))
  if (rows.length <= size) {
    const own = await alone(store, (transaction) => insertReturning(store, rows, fields, projection, transaction))
    return { kind: 'records', rows: own }
  }
  return inTransaction(store, async (transaction) => {
    const inserted: Row[] = []
    for (let start = 0; start < rows.length; start += size) {
      const part = rows.slice(start, start + size)
      inserted.push(...(await insertReturning(store, part, fields, projection, transaction)))
    }
    return { kind: 'records', rows: inserted }
  })
}
