import type { Outcome } from '../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan } from '../../types/plan.js'
import type { WritePlan } from './executor.js'
import { tryWriteByStatement } from './fastWrite.js'
import { bulkDeleteInstances } from './instances/bulkDelete.js'
import { saveNewInstance, saveNewInstances } from './instances/create.js'
import { removeRecord } from './instances/remove.js'
import { updateRecord } from './instances/update.js'
import { buildNewInstance, buildNewInstances } from './newRecords.js'
import { isWithoutChanges, missedWriteError, readRefused } from './refusal.js'
import { type StatementContext, withCurrentDialect } from './store.js'
import { loadTableTraits } from './tableTraits.js'
import { hasNoKeys, NOTHING_DELETED } from './writtenRows.js'

/**
 * Executes a write of one resource. Uses one SQL statement if no code of the host takes part, otherwise Sequelize
 * instances with hooks.
 * @throws Problem for rejected writes
 * @throws errors of the database, unchanged
 */
export async function executeWrite(store: StatementContext, plan: WritePlan): Promise<Outcome> {
  switch (plan.kind) {
    case 'create':
      return writeNew(store, plan)
    case 'bulkCreate':
      return writeAllNew(store, plan)
    case 'update':
    case 'restore':
      if (isWithoutChanges(store, plan)) return readRefused(store, plan)
      return (await tryWriteByStatement(store, plan)) ?? updateRecord(store, plan)
    case 'delete':
      if (plan.precondition?.where === null) throw await missedWriteError(store, plan)
      return (await tryWriteByStatement(store, plan)) ?? removeRecord(store, plan)
    case 'bulkDelete':
      if (hasNoKeys(plan.where)) return NOTHING_DELETED
      return (await tryWriteByStatement(store, plan)) ?? bulkDeleteInstances(store, plan)
  }
}

async function writeNew(given: StatementContext, plan: CreatePlan): Promise<Outcome> {
  await loadTableTraits(given)
  const store = withCurrentDialect(given)
  const instance = await buildNewInstance(store, plan)
  return (await tryWriteByStatement(store, plan, [instance])) ?? saveNewInstance(store, plan, instance)
}

async function writeAllNew(given: StatementContext, plan: BulkCreatePlan): Promise<Outcome> {
  if (plan.records.length === 0) return { kind: 'records', rows: [] }
  await loadTableTraits(given)
  const store = withCurrentDialect(given)
  const instances = await buildNewInstances(store, plan)
  return (await tryWriteByStatement(store, plan, instances)) ?? saveNewInstances(store, plan, instances)
}
