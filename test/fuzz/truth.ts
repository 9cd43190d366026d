// What is in the database, and where each canary has ever stood.

import type { Caller } from './callers.js'
import { canariesIn } from './canaries.js'
import type { Models } from './models.js'
import { rowName } from './place.js'
import { admits, mayAskForDeleted, mayRead, maySee } from './rights.js'
import { type Column, TABLES, type Table, type TableName } from './tables.js'
import { rowsOf } from './world.js'

export type Row = Readonly<Record<string, unknown>>

/** The rows of a table by key. */
export type Rows = ReadonlyMap<string, Row>

interface Place {
  readonly table: Table
  readonly column: Column | null
  readonly row: Row
}

export class Truth {
  readonly #models: Models
  #tables: ReadonlyMap<TableName, Rows> = new Map()
  #before: ReadonlyMap<TableName, Rows> = new Map()
  readonly #texts = new WeakMap<Row, string>()
  readonly #places = new Map<string, Map<string, Place>>()
  /** Rows that somebody may have restored since the time before, by name, whatever became of them. */
  #restored: ReadonlySet<string> = new Set()

  constructor(models: Models) {
    this.#models = models
  }

  rows(name: TableName): Rows {
    return this.#tables.get(name) ?? new Map()
  }

  /** Reads tables again; what they were is still known for what stood where. */
  async read(names: Iterable<TableName>): Promise<void> {
    const wanted = new Set(names)
    const tables = new Map(this.#tables)
    for (const table of TABLES.filter(({ name }) => wanted.has(name))) {
      const known = this.rows(table.name)
      const rows = await rowsOf(this.#models, table.name)
      tables.set(
        table.name,
        new Map(rows.map((row) => [String(row.id), this.#seen(table, known.get(String(row.id)), row)])),
      )
    }
    this.#before = this.#tables
    this.#tables = tables
  }

  /** Takes rows, by name, for some that may have been there meanwhile though they are deleted before and after. */
  restored(rows: Iterable<string>): void {
    this.#restored = new Set(rows)
  }

  /** The rows as they were read the time before. */
  rowsBefore(name: TableName): Rows {
    return this.#before.get(name) ?? new Map()
  }

  /** The row as it was known, where it is still that one. */
  #seen(table: Table, known: Row | undefined, row: Row): Row {
    const text = JSON.stringify(row)
    if (known !== undefined && this.#texts.get(known) === text) return known
    this.#texts.set(row, text)
    this.#note(table, row)
    return row
  }

  #note(table: Table, row: Row): void {
    for (const column of [table.key, ...table.columns]) {
      const value = row[column.name]
      if (value === null || value === undefined) continue
      for (const canary of canariesIn(typeof value === 'object' ? JSON.stringify(value) : String(value))) {
        const places = this.#places.get(canary) ?? new Map<string, Place>()
        this.#places.set(canary, places)
        places.set(`${table.name} ${row.id} ${column.name}`, { table, column, row })
      }
    }
  }

  /** Forgets where canaries have stood. */
  forget(): void {
    this.#places.clear()
    this.#tables = new Map()
  }

  /** How many canaries are known. */
  get known(): number {
    return this.#places.size
  }

  isKnown(canary: string): boolean {
    return this.#places.has(canary)
  }

  /** Whether there is a place from where a caller may know it; `deleted` names the table whose deleted rows count. */
  isOpenTo(canary: string, caller: Caller, deleted: TableName | 'all' | null): boolean {
    const places = [...(this.#places.get(canary)?.values() ?? [])]
    return places.some(({ table, column, row }) => {
      if (!mayRead(table, caller) || !admits(table, caller, row)) return false
      if (column !== null && !maySee(column, caller)) return false
      if (deleted === 'all' || !this.#isGone(table.name, row)) return true
      return deleted === table.name && mayAskForDeleted(table, caller)
    })
  }

  /** Whether it was deleted already when its table was read the time before, and still is. */
  #isGone(name: TableName, { id }: Row): boolean {
    if (this.#wasRestored(name, id)) return false
    const versions = [this.rowsBefore(name).get(String(id)), this.rows(name).get(String(id))]
    return versions.every((row) => row !== undefined && isDeleted(row))
  }

  #wasRestored(name: TableName, key: unknown): boolean {
    return this.#restored.size > 0 && this.#restored.has(rowName(name, key))
  }

  /** Where it stands, for people. */
  tell(canary: string): string {
    const places = this.#places.get(canary)?.keys() ?? []
    return `${canary} (${[...places].join('; ') || 'in no row'})`
  }

  /** How many records a caller may find in a table. */
  visible(table: Table, caller: Caller, deletedToo: boolean): number {
    if (!mayRead(table, caller)) return 0
    const mine = (row: Row): boolean =>
      admits(table, caller, row) && (deletedToo || !isDeleted(row) || this.#wasRestored(table.name, row.id))
    const [before, now] = [this.rowsBefore(table.name), this.rows(table.name)]
    // Those that have come or gone since the time before may have been met together.
    const met = new Set([...before, ...now].flatMap(([key, row]) => (mine(row) ? [key] : [])))
    return met.size
  }
}

export function isDeleted(row: Row): boolean {
  return Boolean(row.isDeleted) || (row.isDeleted === undefined && (row.deletedAt ?? null) !== null)
}
