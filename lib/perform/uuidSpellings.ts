import type { Outcome, Row } from '../../types/outcome.js'
import type { BulkDeletePlan, DeletePlan, GetPlan, KeyValue, UpdatePlan } from '../../types/plan.js'
import { comparableKeyParts, type KeyFields, keyColumns, keyText, planKeyText, storedKeyOfRow } from '../common/keys.js'
import { addCondition } from '../common/predicates.js'
import { Problem } from '../common/problem.js'
import { hasTwoUuidSpellings } from '../sequelize/columnTypes.js'
import { readVisible } from './read.js'
import { buildIdentityPredicate, identityText, keyIdentityText } from './recordIdentity.js'
import { findExisting } from './refusal.js'
import type { StatementContext } from './store.js'
import { hasNoKeys } from './writtenRows.js'

type SingleRecordPlan = GetPlan | UpdatePlan | DeletePlan

/**
 * Executes a plan for one record. Plans without a UUID key are executed unchanged. Other programs may have stored both
 * spellings of a UUID key. The record with the key's exact spelling takes precedence.
 */
export async function withKeySpelling<P extends SingleRecordPlan, T>(
  store: StatementContext,
  plan: P,
  carryOut: (plan: P) => Promise<T>,
): Promise<T> {
  const { keys } = store.resource
  if (plan.key === undefined || !canHaveTwoSpellings(store)) return carryOut(plan)
  const spelled = comparableKeyParts(keys, plan.key)
  try {
    return await carryOut(narrowToRecord(keys, plan, spelled))
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'not-found' || error.errors !== undefined) throw error
    const stored = await findExisting(store, { kind: plan.kind, where: plan.where })
    if (stored === null || identityText(keys, stored) === identityText(keys, spelled)) throw error
    return carryOut(narrowToRecord(keys, plan, stored))
  }
}

/** Executes a plan for several records. Chooses one spelling of each key. */
export async function withKeySpellings(
  store: StatementContext,
  plan: BulkDeletePlan,
  carryOut: (plan: BulkDeletePlan) => Promise<Outcome>,
): Promise<Outcome> {
  const { keys } = store.resource
  if (hasNoKeys(plan.where) || !canHaveTwoSpellings(store)) return carryOut(plan)
  const rows = await readVisible(store, plan.where, keyColumns(keys), maxRowsOf(keys, plan.keys.length))
  const chosen = createRowLookup(keys, rows)
  const records = plan.keys.map(chosen).filter((row) => row !== undefined)
  return carryOut(
    records.length === rows.length
      ? plan
      : { ...plan, where: addCondition(plan.where, buildIdentityPredicate(keys, records)) },
  )
}

/** Whether the table may contain two spellings of a key. */
export function canHaveTwoSpellings({ dialect, model, resource: { keys } }: StatementContext): boolean {
  return keys.some((field) => hasTwoUuidSpellings(dialect, model, field))
}

/** Narrows a plan to the record of a row. The first values of the row are the parts of the key. */
export function narrowToRecord<P extends SingleRecordPlan>(keys: KeyFields, plan: P, row: Row): P {
  const identity = buildIdentityPredicate(keys, [row.slice(0, keys.length)])
  const where = addCondition(plan.where, identity)
  return { ...plan, key: storedKeyOfRow(keys, row), where, ...('identity' in plan ? { identity } : {}) }
}

/** Returns the maximum number of rows that match the keys, including both spellings of each UUID. */
export function maxRowsOf(keys: KeyFields, count: number): number {
  return count * 2 ** keys.filter(({ valueType }) => valueType.type === 'uuid').length
}

/**
 * Returns a function that finds the row of a key, preferably in the key's exact spelling. The first values of a row are
 * the parts of its key.
 */
export function createRowLookup(keys: KeyFields, rows: readonly Row[]): (key: KeyValue) => Row | undefined {
  const keyPartsOf = (row: Row): Row => row.slice(0, keys.length)
  const spelled = new Map(rows.map((row) => [identityText(keys, keyPartsOf(row)), row]))
  const named = new Map(rows.map((row) => [keyText(keys, keyPartsOf(row)), row]))
  return (key) => spelled.get(keyIdentityText(keys, key)) ?? named.get(planKeyText(keys, key))
}
