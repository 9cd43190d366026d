// Tracks which push conditions records meet before and after a write. Clients with the same condition share a room.

import type { Transaction } from 'sequelize'
import type { Plan, Predicate } from '../../../types/plan.js'
import type { Tracking } from '../../../types/rooms.js'
import type { Work } from '../../../types/work.js'
import { chunksOf } from '../../common/chunks.js'
import { ownColumn, ownValue } from '../../common/columns.js'
import { keyColumns, keyName, planKeyName } from '../../common/keys.js'
import { identified } from '../identified.js'
import { mostRows } from '../spelled.js'
import { statementReader } from '../statements/read.js'
import type { Store } from '../store.js'
import { isEmpty } from '../written.js'
import { conditionsMet } from './evaluate.js'

/** Records that a plan may change. */
interface Target {
  readonly where: Predicate
  readonly count: number
}

/**
 * Locks the records of a plan and records their state before the write. Returns null if nothing is tracked. `by` is the
 * whole plan if `plan` is a part of it.
 */
export function noteBefore(store: Store, plan: Plan, by: Plan = plan): Promise<void> | null {
  const { resource, order, transaction } = store
  const { tracked } = resource.behaviours
  if (tracked === null || order === undefined || transaction === undefined) return null
  const target = targetOf(store, plan)
  if (target === null || isEmpty(target.where)) return null
  const tracking = tracked(by)
  return tracking === null ? null : note(store, transaction, target, tracking)
}

/** Whether the state before the write is tracked. The write must then be one transaction. */
export function isTracked({ resource, plan, branches = [], within = [] }: Work): boolean {
  if (plan.kind === 'action' && !plan.action.isTransactional) return false
  const nested = branches.map((branch) => (branch.kind === 'linked' ? branch.between : branch.resource))
  const others = new Set([...(TRACKED.has(plan.kind) ? [resource] : []), ...nested, ...within])
  return [...others].some(({ behaviours: { tracked } }) => tracked !== null && tracked(plan) !== null)
}

/** Plans that may change existing records. */
const TRACKED: ReadonlySet<Plan['kind']> = new Set([
  'update',
  'delete',
  'bulkDelete',
  'bulkUpdate',
  'replace',
  'upsert',
  'action',
])

function targetOf({ resource, order }: Store, plan: Plan): Target | null {
  const { keys } = resource
  switch (plan.kind) {
    case 'update':
    case 'delete': {
      const isNoted = order !== undefined && order.before.of(resource, planKeyName(keys, plan.key)) !== null
      return isNoted ? null : { where: plan.where, count: mostRows(keys, 1) }
    }
    case 'bulkDelete':
      return { where: plan.where, count: mostRows(keys, plan.keys.length) }
    case 'bulkUpdate':
      return { where: plan.all.where, count: mostRows(keys, plan.items.length) }
    default:
      return null
  }
}

/** Maximum number of records per evaluation statement. */
const RECORDS = 100

async function note(
  store: Store,
  transaction: Transaction,
  { where, count }: Target,
  { conditions, fields }: Tracking,
): Promise<void> {
  const { resource, order } = store
  const { keys } = resource
  const columns = keyColumns([...keys, ...fields])
  const inOrder = keys.map((key) => ({ column: ownColumn(key), direction: 'asc' }) as const)
  const window = { where, columns, order: inOrder, limit: count }
  const rows = await statementReader.rows(store, window, { transaction, lock: true, main: true })
  const asked = new Set(conditions.map(({ name }) => name))
  for (const some of chunksOf(rows, RECORDS)) {
    const met = await conditionsMet(store, identified(keys, some), conditions)
    for (const row of some) {
      const name = keyName(keys, row)
      const values = new Map(fields.map((field) => [field.name, ownValue(columns, row, field.name)] as const))
      order?.before.note(resource, name, { asked, met: met.get(name) ?? NONE, values })
    }
  }
}

const NONE: ReadonlySet<string> = new Set()
