// Conditions by which clients of push share rooms: which of them records meet, before a write and after it.

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

/** The records of a plan that a write may change. */
interface Target {
  readonly where: Predicate
  readonly count: number
}

/**
 * Notes how the records of a plan are before they are written, and locks them. null: nothing is to be noted.
 *
 * `by` is the plan of the whole, where the plan is a part of it.
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

/** Whether records of a work are to be noted before it, so that it must be one transaction. */
export function isTracked({ resource, plan, branches = [], within = [] }: Work): boolean {
  if (plan.kind === 'action' && !plan.action.isTransactional) return false
  const nested = branches.map((branch) => (branch.kind === 'linked' ? branch.between : branch.resource))
  const others = new Set([...(TRACKED.has(plan.kind) ? [resource] : []), ...nested, ...within])
  return [...others].some(({ behaviours: { tracked } }) => tracked !== null && tracked(plan) !== null)
}

/** Writes that may change records that are there. */
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

/** Records whose conditions one statement evaluates. */
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
