// Tracks which push conditions records meet before and after a write. Clients with equal conditions share a room.

import type { Transaction } from 'sequelize'
import type { KeyValue, Plan, Predicate } from '../../../types/plan.js'
import type { Resource } from '../../../types/resource.js'
import type { Tracking } from '../../../types/rooms.js'
import type { Work } from '../../../types/work.js'
import { splitIntoChunks } from '../../common/chunks.js'
import { ownColumn, readOwnValue } from '../../common/columns.js'
import { keyColumns, keyText, planKeyText } from '../../common/keys.js'
import { hasHooks } from '../../sequelize/model.js'
import { buildIdentityPredicate } from '../recordIdentity.js'
import { statementReader } from '../statements/read.js'
import type { StatementContext } from '../store.js'
import { maxRowsOf } from '../uuidSpellings.js'
import { hasNoKeys } from '../writtenRows.js'
import { evaluateConditions } from './evaluate.js'

/** Records that a plan may change. */
interface TrackedRecords {
  readonly where: Predicate
  readonly count: number
}

/**
 * Locks the records of a plan and notes their state before the write. Returns null if nothing is tracked. `by` is the
 * whole plan if `plan` is a part of it.
 */
export function noteStateBefore(store: StatementContext, plan: Plan, by: Plan = plan): Promise<void> | null {
  const { resource, commitOrder, transaction } = store
  if (resource.behaviours.selectTracking === null || commitOrder === undefined || transaction === undefined) return null
  const target = trackedRecordsOf(store, plan)
  if (target === null || hasNoKeys(target.where)) return null
  const tracking = selectTracking(resource, by)
  return tracking === null ? null : noteRecords(store, transaction, target, tracking)
}

/** Whether a write's records are tracked. A tracked write must be one transaction. */
export function isTracked({ resource, plan, nestedWrites = [], nestedResources = [] }: Work): boolean {
  if (plan.kind === 'action' && !plan.action.isTransactional) return false
  const nested = nestedWrites.map((nestedWrite) =>
    nestedWrite.kind === 'linked' ? nestedWrite.joinModelResource : nestedWrite.resource,
  )
  const others = new Set([...(TRACKED_KINDS.has(plan.kind) ? [resource] : []), ...nested, ...nestedResources])
  return [...others].some((other) => selectTracking(other, plan) !== null)
}

/** Hooks of a model that may change any value of a record. */
const UPDATE_HOOKS = ['beforeValidate', 'beforeSave', 'beforeUpdate', 'afterUpdate', 'afterSave']

function selectTracking({ behaviours, model }: Resource, plan: Plan): Tracking | null {
  return behaviours.selectTracking?.(plan, hasHooks(model, UPDATE_HOOKS)) ?? null
}

/** Plans that may change existing records. */
const TRACKED_KINDS: ReadonlySet<Plan['kind']> = new Set([
  'update',
  'delete',
  'bulkDelete',
  'bulkUpdate',
  'replace',
  'upsert',
  'action',
])

function trackedRecordsOf({ resource, commitOrder }: StatementContext, plan: Plan): TrackedRecords | null {
  const { keys } = resource
  const isNoted = (key: KeyValue): boolean =>
    commitOrder !== undefined && commitOrder.before.get(resource, planKeyText(keys, key)) !== null
  switch (plan.kind) {
    case 'update':
    case 'delete':
      return isNoted(plan.key) ? null : { where: plan.where, count: maxRowsOf(keys, 1) }
    case 'bulkDelete':
      return plan.keys.every(isNoted) ? null : { where: plan.where, count: maxRowsOf(keys, plan.keys.length) }
    case 'bulkUpdate':
      return { where: plan.combined.where, count: maxRowsOf(keys, plan.items.length) }
    default:
      return null
  }
}

/** Maximum number of records per statement that evaluates conditions. */
const RECORDS_PER_STATEMENT = 100

async function noteRecords(
  store: StatementContext,
  transaction: Transaction,
  { where, count }: TrackedRecords,
  { conditions, fields }: Tracking,
): Promise<void> {
  const { resource, commitOrder } = store
  const { keys } = resource
  const columns = keyColumns([...keys, ...fields])
  const inOrder = keys.map((key) => ({ column: ownColumn(key), direction: 'asc' }) as const)
  const window = { where, columns, order: inOrder, limit: count }
  const rows = await statementReader.readRows(store, window, { transaction, lock: true, isFromPrimary: true })
  const evaluated = new Set(conditions.map(({ name }) => name))
  for (const some of splitIntoChunks(rows, RECORDS_PER_STATEMENT)) {
    const met = await evaluateConditions(store, buildIdentityPredicate(keys, some), conditions)
    for (const row of some) {
      const name = keyText(keys, row)
      const values = new Map(fields.map((field) => [field.name, readOwnValue(columns, row, field.name)] as const))
      commitOrder?.before.note(resource, name, { evaluated, met: met.get(name) ?? NO_NAMES, values })
    }
  }
}

const NO_NAMES: ReadonlySet<string> = new Set()
