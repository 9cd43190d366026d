import type { Transaction } from 'sequelize'
import type { JsonValue } from '../../types/field.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { BulkDeletePlan, Predicate, Projection, UpdatePlan } from '../../types/plan.js'
import { encodeKey, keyColumns, matchKeys, planKeyText } from '../common/keys.js'
import { problem } from '../common/problem.js'
import { readRecord, readWritten } from './read.js'
import type { StatementContext } from './store.js'

/**
 * Reads back an updated record. Locks the record if the UPDATE possibly changed nothing, because MySQL would read an
 * old snapshot without a lock.
 */
export async function readUpdated(
  store: StatementContext,
  { identity, projection }: UpdatePlan,
  transaction: Transaction,
  mayBeOld: boolean,
): Promise<Outcome> {
  const within = { transaction, unscoped: true, lock: mayBeOld && store.dialect.readsSnapshots }
  const row = await readRecord(store, { where: identity, projection }, within)
  if (row === null) throw problem('not-found')
  return { kind: 'record', row }
}

export type RecordRemoval = (plan: BulkDeletePlan, transaction: Transaction) => Promise<number>

/** Deletes locked records and returns the deleted records. */
export async function deleteAndReport(
  store: StatementContext,
  plan: BulkDeletePlan,
  { columns }: Projection,
  transaction: Transaction,
  remove: RecordRemoval,
): Promise<Outcome> {
  const { keys: fields } = store.resource
  const read = [...columns, ...keyColumns(fields)]
  const keyOfRow = (row: Row): JsonValue | undefined => encodeKey(fields, row.slice(columns.length))
  const found = await readWritten(store, plan.where, read, plan.keys.length, transaction, true)
  if (found.length === 0) return NOTHING_DELETED
  const keys = found.map(keyOfRow)
  const where: Predicate = { kind: 'and', nodes: [plan.where, matchKeys(fields, keys)] }
  const count = await remove({ ...plan, where }, transaction)
  // The model's default scope or a hook of the host may have kept some records.
  const remaining = count === found.length ? [] : await readWritten(store, plan.where, read, keys.length, transaction)
  const gone = new Map(found.map((row) => [String(keyOfRow(row)), row.slice(0, columns.length)]))
  for (const row of remaining) gone.delete(String(keyOfRow(row)))
  const rows = plan.keys.map((each) => gone.get(planKeyText(fields, each))).filter((row) => row !== undefined)
  return { kind: 'deleted', count, rows }
}

export const NOTHING_DELETED: Outcome = Object.freeze({ kind: 'deleted', count: 0, rows: [] })

/** Whether a condition matches no record, because its list of keys is empty. */
export function hasNoKeys(where: Predicate): boolean {
  return where.kind === 'never' || (where.kind === 'and' && where.nodes.some(hasNoKeys))
}
