// What requests may have done to the rows: nobody writes what is not theirs, whatever they send.

import type { Caller } from './callers.js'
import { canariesIn, SEED, writerOf } from './canaries.js'
import type { FuzzRequest } from './request.js'
import { admits, mayRestore, maySet, mayWrite } from './rights.js'
import { type Column, type Table, tableNamed } from './tables.js'
import { isDeleted, type Row, type Rows } from './truth.js'

/** @param sent what may have written since `before` */
export function changeFaults(table: Table, before: Rows, after: Rows, sent: readonly FuzzRequest[]): string[] {
  const faults: string[] = []
  const senders = sent.flatMap(({ taken }) => taken)
  const writers = senders.filter((caller) => mayWrite(table, caller) || mayRestore(table, caller))
  for (const [key, row] of after) {
    const old = before.get(key)
    const of = (text: string): string => `${table.name} ${key}: ${text}`
    if (old === undefined || isMadeAgain(table, old, row, sent)) faults.push(...newFaults(table, row).map(of))
    else if (old === row) continue
    else if (!isSame(table, old, row)) faults.push(...changedFaults(table, old, row).map(of))
    else continue
    if (!writers.some((caller) => admits(table, caller, row))) faults.push(of('written by somebody who may not'))
    faults.push(...contentFaults(table, row, old, sent).map(of), ...stampFaults(table, row, old, senders).map(of))
  }
  for (const [key, row] of before) {
    if (after.has(key)) continue
    if (table.softDelete !== null) faults.push(`${table.name} ${key}: gone, and not marked as deleted`)
    if (!writers.some((caller) => admits(table, caller, row)))
      faults.push(`${table.name} ${key}: removed by somebody who may not`)
  }
  return faults
}

/** Whether one request may have removed a row, and another one at the same time made a row with its key. */
function isMadeAgain(table: Table, old: Row, row: Row, sent: readonly FuzzRequest[]): boolean {
  if (table.softDelete !== null || isSame(table, old, row) || newFaults(table, row).length > 0) return false
  return sent
    .filter(({ bytes }) => /^DELETE |bulk-delete|delete_record/.test(bytes.toString('latin1')))
    .some(({ taken }) => taken.some((caller) => admits(table, caller, old)))
}

/** A row that somebody removed takes what points at it along: the database clears those foreign keys. */
function isSame({ columns }: Table, old: Row, row: Row): boolean {
  const cleared = columns.filter(
    ({ refers, name }) => refers !== null && row[name] === null && tableNamed(refers).softDelete === null,
  )
  const nulls = Object.fromEntries(cleared.map(({ name }) => [name, null]))
  return JSON.stringify({ ...old, ...nulls }) === JSON.stringify(row)
}

function newFaults(table: Table, row: Row): string[] {
  const set = table.columns.filter(({ hidden, name }) => hidden && (row[name] ?? null) !== null)
  return [...set.map(({ name }) => `made with ${name}`), ...markFaults(table, row)]
}

function changedFaults(table: Table, old: Row, row: Row): string[] {
  const fixed = [
    ...table.scope,
    'createdAt',
    'createdBy',
    ...table.columns.flatMap(({ hidden, name }) => (hidden ? [name] : [])),
  ]
  const faults = fixed.filter((name) => String(old[name]) !== String(row[name])).map((name) => `another ${name}`)
  if (table.versioned && Number(row.rowVersion) <= Number(old.rowVersion)) {
    faults.push(`version ${old.rowVersion} became ${row.rowVersion}`)
  }
  return [...faults, ...markFaults(table, row)]
}

/** Stamps name one of those who have sent something, at the time. */
function stampFaults({ audited }: Table, row: Row, old: Row | undefined, senders: readonly Caller[]): string[] {
  if (!audited) return []
  const isSender = (name: unknown): boolean =>
    senders.some((caller) => (caller.standing === 'known' ? caller.name === name : name === null))
  const faults = isSender(row.updatedBy ?? null) ? [] : [`updated by ${row.updatedBy}`]
  if (old === undefined && !isSender(row.createdBy ?? null)) faults.push(`created by ${row.createdBy}`)
  if (old !== undefined && timeOf(old.updatedAt) > timeOf(row.updatedAt)) faults.push('updated before it was')
  return faults
}

function markFaults(table: Table, row: Row): string[] {
  const isMarked = table.softDelete === 'mark' && isDeleted(row) !== ((row.deletedAt ?? null) !== null)
  return isMarked ? ['half deleted'] : []
}

/** Every text that somebody wrote since has to be of somebody who may write there. */
function contentFaults(table: Table, row: Row, old: Row | undefined, sent: readonly FuzzRequest[]): string[] {
  return [table.key, ...table.columns].flatMap((column) => {
    const value = row[column.name] ?? null
    if (value === null || (old !== undefined && String(old[column.name]) === String(value))) return []
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    return [...canariesIn(text)].flatMap((canary) => writerFaults(table, column, row, canary, sent))
  })
}

function writerFaults(table: Table, column: Column, row: Row, canary: string, sent: readonly FuzzRequest[]): string[] {
  const mark = writerOf(canary)
  // What was there from the beginning, repeated by a query that was turned into a body.
  if (mark === null || mark === SEED) return []
  const writers = sent.filter(({ caller }) => caller.mark === mark).flatMap(({ taken }) => taken)
  const may = (caller: Caller): boolean =>
    mayWrite(table, caller) && admits(table, caller, row) && maySet(column, caller)
  return writers.some(may) ? [] : [`${canary} in ${column.name}, which its writer may not set there`]
}

function timeOf(stamp: unknown): number {
  return stamp instanceof Date ? stamp.getTime() : new Date(String(stamp)).getTime()
}
