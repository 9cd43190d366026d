// Before a request writes, the condition of the caller's scope is asked for the values that the request gives, over the records as
// they are: nobody is admitted by what the same request makes.

import type { Changes } from '../../../types/changes.js'
import type { Field } from '../../../types/field.js'
import type { BulkCreatePlan, CreatePlan, Predicate, UpdatePlan } from '../../../types/plan.js'
import { errorsAt, hasErrors } from '../../common/bodyErrors.js'
import { chunksOf } from '../../common/chunks.js'
import { type Problem, type ProblemErrors, problem } from '../../common/problem.js'
import { queryRows } from '../../sequelize/run.js'
import { escapeValue, quote, quoteTable, writeCondition } from '../../sequelize/sql.js'
import { errorsOfPlan } from '../newRecords.js'
import { changed, conditionOf, existing, refusalOf } from '../refusal.js'
import { inlineOperands } from '../statement/operands.js'
import type { Store } from '../store.js'
import { encodeStored } from '../stored.js'
import { limited } from '../transaction.js'
import { faultsOf, NOTHING } from '../validation.js'
import { WhereWriter } from '../where.js'
import { foreseeable, readBy } from './foresee.js'

type Storing = CreatePlan | BulkCreatePlan | UpdatePlan

/** The refusal of a record that is outside of the caller's scope as it is stored. */
export function unstorable(errors: ProblemErrors = {}): Problem {
  const detail = 'You may not store this record.'
  return problem('forbidden', hasErrors(errors) ? { detail, errors } : { detail })
}

/**
 * Refuses a write of one resource whose values the scope does not admit. What is wrong with the record, its version and its values
 * comes first.
 *
 * @throws Problem 404, 428, 412, 400 or 403
 */
export async function assertStorable(store: Store, plan: Storing): Promise<void> {
  const failing = await failingOf(store, plan)
  if (failing.length === 0) return
  const errors =
    'key' in plan ? await errorsOfChange(store, plan) : await limited(store, () => errorsOfPlan(store, plan))
  if (hasErrors(errors)) throw problem('validation', { errors })
  if (plan.kind !== 'bulkCreate') throw unstorable()
  const places = failing.map((index) => `[${index}]`)
  throw unstorable(errorsAt(store.resource, places, 'scope'))
}

async function errorsOfChange(store: Store, plan: UpdatePlan): Promise<ProblemErrors> {
  const { precondition, invalid, before } = plan
  if (precondition?.where === null) throw precondition.refusal()
  if ((await existing(store, { kind: plan.kind, where: conditionOf(plan) })) === null)
    throw await refusalOf(store, plan)
  return faultsOf(store, invalid ?? NOTHING, await changed(store, plan), { isPrepared: before !== null })
}

/** The places of the records that the scope does not admit with the values of a plan. */
export async function failingOf(store: Store, plan: Storing): Promise<readonly number[]> {
  const { scope, isAsked } = plan
  if (scope === undefined || isAsked) return []
  return failingAmong(store, scope, valuesIn(plan))
}

/** Values of each record that are known before it is stored. Keys of owners that the same request creates are left out. */
function valuesIn(plan: Storing): readonly Changes[] {
  if (plan.kind === 'create') return [new Map([...plan.changes, ...plan.upkeep])]
  if (plan.kind !== 'bulkCreate') return [plan.changes]
  const { records, upkeep, owned = [] } = plan
  return records.map((changes) => {
    return new Map([...changes, ...upkeep].filter(([name]) => !owned.includes(name)))
  })
}

/** The most records that one statement asks for. */
const TOGETHER = 100

/** The same of records by their values. */
async function failingAmong(store: Store, scope: Predicate, records: readonly Changes[]): Promise<readonly number[]> {
  const groups = new Map<
    string,
    { readonly condition: Predicate; readonly fields: readonly Field[]; readonly places: number[] }
  >()
  const { fields } = store.resource
  for (const [place, values] of records.entries()) {
    const known = fields.filter(({ name, virtual }) => !virtual && values.has(name))
    const name = known.map((field) => field.name).join()
    const group = groups.get(name)
    if (group !== undefined) group.places.push(place)
    else {
      const condition = foreseeable(scope, new Set(known.map((field) => field.name)))
      const read = readBy(condition)
      groups.set(name, { condition, fields: known.filter((field) => read.has(field.name)), places: [place] })
    }
  }
  const failing: number[] = []
  for (const { condition, fields: read, places } of groups.values()) {
    if (condition.kind === 'always') continue
    if (condition.kind === 'never') failing.push(...places)
    else
      for (const some of chunksOf(places, TOGETHER))
        failing.push(...(await unmet(store, { condition, read }, records, some)))
  }
  return failing.sort((one, other) => one - other)
}

const ROWS = '_n'
const PLACE = '_i'

/** Rows of values stand for the records, with the types of their columns. */
async function unmet(
  store: Store,
  { condition, read }: { readonly condition: Predicate; readonly read: readonly Field[] },
  records: readonly Changes[],
  places: readonly number[],
): Promise<readonly number[]> {
  const { model, dialect, sequelize, transaction } = store
  const [rows, place] = [quote(model, ROWS), quote(model, PLACE)]
  const columns = read.map(({ column }) => quote(model, column))
  const typed = `SELECT ${[...columns, `0 AS ${place}`].join(', ')} FROM ${quoteTable(model)} WHERE 1 = 0`
  const values = places.map((index) => {
    return `SELECT ${[...read.map((field) => sqlValue(store, field, records[index])), index].join(', ')}`
  })
  const writer = new WhereWriter(dialect, inlineOperands(model))
  const met = writeCondition(model, writer.where(condition, { model, alias: ROWS, joins: false }), ROWS)
  const sql = `SELECT ${rows}.${place} AS ${place} FROM (${[typed, ...values].join(' UNION ALL ')}) AS ${rows} WHERE ${met}`
  const found = await limited(store, () => queryRows(sequelize, { sql, transaction, writes: true }))
  const admitted = new Set(found.map((row) => Number(row[PLACE])))
  return places.filter((index) => !admitted.has(index))
}

const NUMBER = /^-?\d+(\.\d+)?$/

/** A value as SQL text, of the type of its column. */
function sqlValue(store: Store, field: Field, values: Changes | undefined): string {
  const stored = encodeStored(store, field, values?.get(field.name))
  if (stored === null) return 'NULL'
  const { type } = field.valueType
  const isNumber = type === 'integer' || type === 'bigint' || type === 'decimal' || type === 'float'
  if (isNumber && NUMBER.test(String(stored))) return String(stored)
  return store.dialect.literal(escapeValue(store.model, stored), type)
}
