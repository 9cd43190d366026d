import type { Outcome, Row } from '../../types/outcome.js'
import type { BulkDeletePlan, DeletePlan, GetPlan, KeyValue, UpdatePlan } from '../../types/plan.js'
import { comparedParts, type KeyFields, keyColumns, keyName, planKeyName, storedKeyOf } from '../common/keys.js'
import { both } from '../common/predicates.js'
import { Problem } from '../common/problem.js'
import { isSpelled } from '../sequelize/columnTypes.js'
import { identified, identityName, keyIdentityName } from './identified.js'
import { some } from './read.js'
import { existing } from './refusal.js'
import type { Store } from './store.js'
import { isEmpty } from './written.js'

type Addressed = GetPlan | UpdatePlan | DeletePlan

/**
 * Executes a plan for one record. Other programs may have stored both spellings of a UUID key: the record with the
 * key's own spelling takes precedence.
 */
export async function forOneRecord<P extends Addressed, T>(
  store: Store,
  plan: P,
  carryOut: (plan: P) => Promise<T>,
): Promise<T> {
  const { keys } = store.resource
  if (plan.key === undefined || !isSpelledKey(store)) return carryOut(plan)
  const spelled = comparedParts(keys, plan.key)
  try {
    return await carryOut(ofRecord(keys, plan, spelled))
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not-found' || error.errors !== undefined) throw error
    const stored = await existing(store, { kind: plan.kind, where: plan.where })
    if (stored === null || identityName(keys, stored) === identityName(keys, spelled)) throw error
    return carryOut(ofRecord(keys, plan, stored))
  }
}

/** Executes a plan for several records, choosing one spelling of each key. */
export async function forRecords(
  store: Store,
  plan: BulkDeletePlan,
  carryOut: (plan: BulkDeletePlan) => Promise<Outcome>,
): Promise<Outcome> {
  const { keys } = store.resource
  if (isEmpty(plan.where) || !isSpelledKey(store)) return carryOut(plan)
  const rows = await some(store, plan.where, keyColumns(keys), mostRows(keys, plan.keys.length))
  const chosen = rowsOf(keys, rows)
  const records = plan.keys.map(chosen).filter((row) => row !== undefined)
  return carryOut(
    records.length === rows.length ? plan : { ...plan, where: both(plan.where, identified(keys, records)) },
  )
}

/** Whether the table may contain two spellings of a key. */
export function isSpelledKey({ dialect, model, resource: { keys } }: Store): boolean {
  return keys.some((field) => isSpelled(dialect, model, field))
}

/** Narrows a plan to the record of a row. The row begins with the parts of its key. */
export function ofRecord<P extends Addressed>(keys: KeyFields, plan: P, row: Row): P {
  const identity = identified(keys, [row.slice(0, keys.length)])
  const where = both(plan.where, identity)
  return { ...plan, key: storedKeyOf(keys, row), where, ...('identity' in plan ? { identity } : {}) }
}

/** Maximum number of rows that match the keys, counting both spellings. */
export function mostRows(keys: KeyFields, count: number): number {
  return count * 2 ** keys.filter(({ valueType }) => valueType.type === 'uuid').length
}

/** Finds the row of a key, preferring the key's own spelling. Rows begin with the parts of their keys. */
export function rowsOf(keys: KeyFields, rows: readonly Row[]): (key: KeyValue) => Row | undefined {
  const partsOf = (row: Row): Row => row.slice(0, keys.length)
  const spelled = new Map(rows.map((row) => [identityName(keys, partsOf(row)), row]))
  const named = new Map(rows.map((row) => [keyName(keys, partsOf(row)), row]))
  return (key) => spelled.get(keyIdentityName(keys, key)) ?? named.get(planKeyName(keys, key))
}
