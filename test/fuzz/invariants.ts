// What holds between the rows of all tables whenever nobody writes.

import { TABLES, type Table, tableNamed } from './tables.js'
import type { Row, Truth } from './truth.js'

/** How many things were held, and what of them is not so. */
export interface Held {
  readonly held: number
  readonly faults: readonly string[]
}

/** What only one row may have. */
const SINGLE: readonly (readonly [table: Table['name'], columns: readonly string[]])[] = [
  ['Player', ['email']],
  ['Training', ['playerId', 'skillId']],
]

export function invariants(truth: Truth): Held {
  const faults: string[] = []
  let held = 0
  for (const table of TABLES) {
    const references = table.columns.filter(({ refers }) => refers !== null)
    for (const [key, row] of truth.rows(table.name)) {
      for (const { name, refers } of references) {
        held += 1
        const value = row[name] ?? null
        const isThere = value === null || refers === null || truth.rows(tableNamed(refers).name).has(String(value))
        if (!isThere) faults.push(`${table.name} ${key}: ${name} ${value} points nowhere`)
      }
      held += 1
      if (table.versioned && !(Number(row.rowVersion) >= 0))
        faults.push(`${table.name} ${key}: version ${row.rowVersion}`)
    }
  }
  for (const [name, columns] of SINGLE) {
    const seen = new Set<string>()
    for (const [key, row] of truth.rows(name)) {
      const text = textOf(row, columns)
      held += 1
      if (text !== null && seen.has(text)) faults.push(`${name} ${key}: ${columns.join(', ')} ${text} is there twice`)
      if (text !== null) seen.add(text)
    }
  }
  return { held, faults }
}

/** Nulls are equal to nothing. */
function textOf(row: Row, columns: readonly string[]): string | null {
  const values = columns.map((name) => row[name] ?? null)
  return values.includes(null) ? null : JSON.stringify(values.map(String))
}
