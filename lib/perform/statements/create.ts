import type { Transaction } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Outcome, Row } from '../../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, Projection } from '../../../types/plan.js'
import { queryRows } from '../../sequelize/run.js'
import { writeInsertRows } from '../../sequelize/sql.js'
import { isReturnable, isUneven } from '../executor.js'
import { saveAll, saveNew } from '../instances/create.js'
import { allBuiltFor, builtFor, validateAll } from '../newRecords.js'
import { valuesOf } from '../statement/row.js'
import { returningOf } from '../statement/text.js'
import type { Store } from '../store.js'
import { insertableRow } from '../stored.js'
import { alone, limited } from '../transaction.js'
import { validate } from '../validation.js'
import { insertReturning } from './rows.js'

/** One INSERT that returns the record; what cannot be written or given back so is handed over as it was built. */
export async function create(store: Store, plan: CreatePlan): Promise<Outcome> {
  const { projection, instant } = plan
  const instance = await builtFor(store, plan)
  // Outside `save`, whose own validation would be part of its transaction.
  if (store.resource.validation !== 'rules') await limited(store, () => validate(instance))
  const row = insertableRow(store, instance, instant)
  if (row === null || !returnsInserted(store, projection)) return saveNew(store, plan, instance)
  const inserted = await alone(store, (transaction) => insertReturning(store, row, projection, transaction))
  if (inserted === undefined) throw new TypeError('an INSERT returned no row')
  return { kind: 'record', row: inserted }
}

/** One INSERT of all records, likewise. */
export async function bulkCreate(store: Store, plan: BulkCreatePlan): Promise<Outcome> {
  const { records, projection, instant } = plan
  if (records.length === 0) return { kind: 'records', rows: [] }
  const instances = await allBuiltFor(store, plan)
  if (!returnsInserted(store, projection) || isUneven(store, instances)) return saveAll(store, plan, instances)
  if (store.resource.validation !== 'rules') await limited(store, () => validateAll(store, instances, { hooks: false }))
  const rows = instances.map((instance) => insertableRow(store, instance, instant))
  if (!rows.every((row) => row !== null)) return saveAll(store, plan, instances)
  return { kind: 'records', rows: await alone(store, (transaction) => insertAll(store, rows, projection, transaction)) }
}

function returnsInserted(store: Store, projection: Projection): boolean {
  return store.dialect.returnsInserted && isReturnable(store, projection)
}

async function insertAll(
  store: Store,
  rows: readonly ReadonlyMap<Field, unknown>[],
  projection: Projection,
  transaction: Transaction,
): Promise<Row[]> {
  const hashes = rows.map((row) => Object.fromEntries([...row].map(([field, value]) => [field.column, value])))
  const sql = writeInsertRows(store.model, hashes).replace(/^INSERT INTO/, store.dialect.insert)
  const text = `${sql} ${returningOf(store.dialect, store.model, projection.columns)}`
  const inserted = await queryRows(store.sequelize, { sql: text, bind: null, transaction, writes: true })
  return inserted.map((row) => valuesOf(row, projection.columns))
}
