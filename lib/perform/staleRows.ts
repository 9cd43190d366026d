// A response shows records and related records as they are after the whole request. Rows are read again if a later write
// of the request, or its hooks, may have changed what they show.

import type { Outcome, Row, WrittenRecord } from '../../types/outcome.js'
import type { Plan, Projection } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { NestedResult, ResultRecord, WriteResult } from '../../types/work.js'
import { MAX_LOOKUP_VALUES, splitIntoChunks } from '../common/chunks.js'
import { indexOfOwnColumn } from '../common/columns.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { maxRecordsOf } from '../common/largeColumns.js'
import { outcomeRows } from '../common/outcomeRows.js'
import { readWritten } from './read.js'
import { buildIdentityPredicate, identityText } from './recordIdentity.js'
import { type StatementContext, storeInSameTransaction } from './store.js'
import type { WriteSequence } from './writeSequence.js'

type NestedValue = NestedResult['value']
type CurrentRows = ReadonlyMap<Outcome, readonly Row[]>

/** Returns the result of a write and its nested writes with current rows. The store must be in a transaction. */
export async function refreshResult(
  store: StatementContext,
  whole: WriteResult,
  sequence: WriteSequence,
): Promise<WriteResult> {
  const current = await readStaleRows(store, iterateOutcomes(whole), sequence)
  if (current.size === 0) return whole
  const refreshed = new Map<WriteResult, WriteResult>()
  const refresh = (result: WriteResult): WriteResult =>
    getOrCreate(refreshed, result, () => ({
      ...result,
      outcome: withCurrentRows(result.outcome, current),
      parts: result.parts.map((part) => ({ ...part, result: refresh(part.result) })),
      nested: result.nested.map((each) => ({ ...each, value: refreshValue(each.value) })),
    }))
  const refreshRecord = (record: ResultRecord): ResultRecord => ({ ...record, result: refresh(record.result) })
  const refreshValue = (value: NestedValue): NestedValue => {
    if (value !== null && 'result' in value) return refreshRecord(value)
    return isCollection(value) ? value.map(refreshRecord) : value
  }
  return refresh(whole)
}

/** Returns the records of a batch with current rows. */
export async function refreshParts(
  store: StatementContext,
  parts: readonly WrittenRecord[],
  sequence: WriteSequence,
): Promise<readonly WrittenRecord[]> {
  return withCurrentParts(parts, await readStaleRows(store, iterateParts(store.resource, parts), sequence))
}

/** An outcome, and the plan and the resource whose records its rows are. */
type PlannedOutcome = readonly [resource: Resource, plan: Plan, outcome: Outcome]

function* iterateOutcomes({
  work: { resource, plan },
  outcome,
  parts,
  nested,
}: WriteResult): Generator<PlannedOutcome> {
  if (outcome.kind === 'parts') yield* iterateParts(resource, outcome.parts)
  else yield [resource, plan, outcome]
  for (const { result } of parts) yield* iterateOutcomes(result)
  for (const { value } of nested) {
    if (value !== null && 'result' in value) yield* iterateOutcomes(value.result)
    if (isCollection(value)) for (const { result } of value) yield* iterateOutcomes(result)
  }
}

function* iterateParts(resource: Resource, parts: readonly WrittenRecord[]): Generator<PlannedOutcome> {
  for (const { plan, outcome } of parts) yield [resource, plan, outcome]
}

/** Reads the rows of stale outcomes again. Records of one projection are read together. */
async function readStaleRows(
  store: StatementContext,
  all: Iterable<PlannedOutcome>,
  sequence: WriteSequence,
): Promise<CurrentRows> {
  const stale = new Map<Projection, { readonly resource: Resource; readonly outcomes: Set<Outcome> }>()
  for (const [resource, plan, outcome] of all) {
    if (!('projection' in plan) || !sequence.isStale(resource, outcome, plan.projection)) continue
    getOrCreate(stale, plan.projection, () => ({ resource, outcomes: new Set<Outcome>() })).outcomes.add(outcome)
  }
  const current = new Map<Outcome, readonly Row[]>()
  for (const [projection, { resource, outcomes }] of stale) {
    const known = [...outcomes].flatMap(outcomeRows)
    const rows = await readAgain(storeInSameTransaction(store, resource), projection, known)
    let start = 0
    for (const outcome of outcomes) {
      const end = start + outcomeRows(outcome).length
      current.set(outcome, rows.slice(start, end))
      start = end
    }
  }
  return current
}

function withCurrentRows(outcome: Outcome, current: CurrentRows): Outcome {
  if (outcome.kind === 'parts') return { ...outcome, parts: withCurrentParts(outcome.parts, current) }
  const rows = current.get(outcome)
  if (outcome.kind === 'records') return { ...outcome, rows: rows ?? outcome.rows }
  return outcome.kind === 'record' ? { ...outcome, row: rows?.[0] ?? outcome.row } : outcome
}

function withCurrentParts(parts: readonly WrittenRecord[], current: CurrentRows): readonly WrittenRecord[] {
  return parts.map((part) => {
    const row = current.get(part.outcome)?.[0]
    return row === undefined ? part : { ...part, outcome: { ...part.outcome, row } }
  })
}

function isCollection(value: NestedValue): value is readonly ResultRecord[] {
  return Array.isArray(value)
}

/** Reads rows again, in the same order. A row whose record the request has deleted stays as it is. */
async function readAgain(
  store: StatementContext,
  { columns }: Projection,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const { transaction, resource } = store
  const { keys } = resource
  const positions = keys.map(({ name }) => indexOfOwnColumn(columns, name))
  if (transaction === undefined || positions.includes(-1)) return rows
  const keyPartsOf = (row: Row): Row => positions.map((position) => row[position])
  const found = new Map<string, Row>()
  for (const some of splitIntoChunks(rows, Math.min(maxRecordsOf(columns), MAX_LOOKUP_VALUES))) {
    const where = buildIdentityPredicate(keys, some.map(keyPartsOf))
    for (const row of await readWritten(store, where, columns, some.length, transaction))
      found.set(identityText(keys, keyPartsOf(row)), row)
  }
  return rows.map((row) => {
    const current = found.get(identityText(keys, keyPartsOf(row)))
    // Embedded collections follow the columns.
    return current === undefined ? row : [...current, ...row.slice(columns.length)]
  })
}
