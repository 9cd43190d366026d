import type { Outcome } from '../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, DeletePlan, UpdatePlan } from '../../types/plan.js'
import type { WritePlan } from './executor.js'
import { tryFast } from './fastWrite.js'
import { bulkDelete } from './instances/bulkDelete.js'
import { saveAll, saveNew } from './instances/create.js'
import { remove } from './instances/remove.js'
import { update } from './instances/update.js'
import { allBuiltFor, builtFor } from './newRecords.js'
import { isIdle, refusalOf, refused } from './refusal.js'
import { refreshed, type Store } from './store.js'
import { tableOf } from './table.js'
import { isEmpty, NOTHING } from './written.js'

/**
 * Executes a write of one resource. It uses Sequelize instances with hooks, or one SQL statement if no code of the host
 * takes part.
 * @throws Problem for rejected writes; errors of the database unchanged
 */
export async function write(store: Store, plan: WritePlan): Promise<Outcome> {
  switch (plan.kind) {
    case 'create':
      return writeNew(store, plan)
    case 'bulkCreate':
      return writeAllNew(store, plan)
    case 'update':
    case 'restore':
      return writeChanges(store, plan)
    case 'delete':
      return writeRemoval(store, plan)
    case 'bulkDelete':
      if (isEmpty(plan.where)) return NOTHING
      return (await tryFast(store, plan)) ?? bulkDelete(store, plan)
  }
}

async function writeNew(given: Store, plan: CreatePlan): Promise<Outcome> {
  await tableOf(given)
  const store = refreshed(given)
  const instance = await builtFor(store, plan)
  return (await tryFast(store, plan, [instance])) ?? saveNew(store, plan, instance)
}

async function writeAllNew(given: Store, plan: BulkCreatePlan): Promise<Outcome> {
  if (plan.records.length === 0) return { kind: 'records', rows: [] }
  await tableOf(given)
  const store = refreshed(given)
  const instances = await allBuiltFor(store, plan)
  return (await tryFast(store, plan, instances)) ?? saveAll(store, plan, instances)
}

async function writeChanges(store: Store, plan: UpdatePlan): Promise<Outcome> {
  if (isIdle(store, plan)) return refused(store, plan)
  return (await tryFast(store, plan)) ?? update(store, plan)
}

async function writeRemoval(store: Store, plan: DeletePlan): Promise<Outcome> {
  if (plan.precondition?.where === null) throw await refusalOf(store, plan)
  return (await tryFast(store, plan)) ?? remove(store, plan)
}
