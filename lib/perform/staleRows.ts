// A response shows records and related records as they are after the whole request. Rows are read again if a later write
// of the request, or its hooks, may have changed what they show.

import type { Outcome, Row, WrittenRecord } from '../../types/outcome.js'
import type { Plan, Projection } from '../../types/plan.js'
import type { NestedResult, ResultRecord, WriteResult, WrittenPart } from '../../types/work.js'
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

/** Returns the result of a write and its nested writes with current rows. The store must be in a transaction. */
export async function refreshResult(
  store: StatementContext,
  whole: WriteResult,
  sequence: WriteSequence,
): Promise<WriteResult> {
  const refreshed = new Map<WriteResult, WriteResult>()
  const refresh = async (result: WriteResult): Promise<WriteResult> => {
    const known = refreshed.get(result)
    if (known !== undefined) return known
    const { resource, plan } = result.work
    const outcome = await refreshOutcome(storeInSameTransaction(store, resource), plan, result.outcome, sequence)
    const parts: WrittenPart[] = []
    for (const part of result.parts) parts.push({ ...part, result: await refresh(part.result) })
    const nested: NestedResult[] = []
    for (const each of result.nested) nested.push({ ...each, value: await refreshValue(each.value) })
    const current = { ...result, outcome, parts, nested }
    refreshed.set(result, current)
    return current
  }
  const refreshValue = async (value: NestedValue): Promise<NestedValue> => {
    if (value !== null && 'result' in value) return { ...value, result: await refresh(value.result) }
    if (!isCollection(value)) return value
    const records: ResultRecord[] = []
    for (const record of value) records.push({ ...record, result: await refresh(record.result) })
    return records
  }
  return refresh(whole)
}

function isCollection(value: NestedValue): value is readonly ResultRecord[] {
  return Array.isArray(value)
}

async function refreshOutcome(
  store: StatementContext,
  plan: Plan,
  outcome: Outcome,
  sequence: WriteSequence,
): Promise<Outcome> {
  if (outcome.kind === 'parts') return { ...outcome, parts: await refreshParts(store, outcome.parts, sequence) }
  if (!('projection' in plan) || !sequence.isStale(store.resource, outcome, plan.projection)) return outcome
  const rows = await readAgain(store, plan.projection, outcomeRows(outcome))
  if (outcome.kind === 'record') return { ...outcome, row: rows[0] ?? outcome.row }
  return outcome.kind === 'records' ? { ...outcome, rows } : outcome
}

/** Returns the records of a batch with current rows. Records of one projection are read together. */
export async function refreshParts(
  store: StatementContext,
  parts: readonly WrittenRecord[],
  sequence: WriteSequence,
): Promise<readonly WrittenRecord[]> {
  const stale = new Map<Projection, WrittenRecord[]>()
  for (const part of parts) {
    const { projection } = part.plan
    if (sequence.isStale(store.resource, part.outcome, projection)) getOrCreate(stale, projection, () => []).push(part)
  }
  if (stale.size === 0) return parts
  const current = new Map<WrittenRecord, Row>()
  for (const [projection, some] of stale) {
    const rows = await readAgain(
      store,
      projection,
      some.map(({ outcome }) => outcome.row),
    )
    for (const [index, row] of rows.entries()) {
      const part = some[index]
      if (part !== undefined) current.set(part, row)
    }
  }
  return parts.map((part) => {
    const row = current.get(part)
    return row === undefined ? part : { ...part, outcome: { ...part.outcome, row } }
  })
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
