// Computes expected results in memory, as the specification says. The code imports nothing of lib/, not even
// indirectly. The order of texts depends on the database, and textOrder.ts learns it from sorted lists. Texts are
// compared only with stored texts, whose position in these lists is known.

import type { Operator } from '../../../types/query.js'
import type { Compare, Condition } from './condition.js'

import { compareValues, jsonOf } from './kinds.js'
import type { Operand } from './operands.js'
import type { Column, Relation, Table, Value } from './schema.js'
import { keyOf, type Row, relatedRecord, relatedTo, valueIn } from './world.js'

/**
 * Returns the rank of a text in the database's order of a column. Texts that the database treats as equal share a rank.
 */
export type TextOrder = (column: Column, text: string) => number

export interface SortKey {
  readonly relations: readonly Relation[]
  readonly column: Column
  readonly descending: boolean
}

export class Oracle {
  readonly #rank: TextOrder

  constructor(rank: TextOrder) {
    this.#rank = rank
  }

  /** Whether a row meets a condition. A comparison with null is false. */
  meets(row: Row, condition: Condition): boolean {
    switch (condition.kind) {
      case 'and':
        return condition.nodes.every((node) => this.meets(row, node))
      case 'or':
        return condition.nodes.some((node) => this.meets(row, node))
      case 'compare':
        return this.#compares(condition, valueAt(row, condition.relations, condition.column))
      case 'absent':
        return (follow(row, condition.relations) === null) !== condition.negated
      case 'elements': {
        const elements = elementsOf(row, condition.relations, condition.collection)
        const isMet = (element: Row): boolean => this.meets(element, condition.condition)
        if (condition.quantifier === 'all') return elements.every(isMet)
        return elements.some(isMet) === (condition.quantifier === 'any')
      }
      case 'count': {
        const { condition: inner, operator, numbers } = condition
        const elements = elementsOf(row, condition.relations, condition.collection)
        const count = inner === null ? elements.length : elements.filter((each) => this.meets(each, inner)).length
        const [first = 0n] = numbers
        if (operator === 'in' || operator === 'notIn') return numbers.includes(BigInt(count)) === (operator === 'in')
        return isOrderedBySign(operator, BigInt(count) < first ? -1 : BigInt(count) > first ? 1 : 0)
      }
    }
  }

  /**
   * Sorts rows in list order. Ascending sorts have null first. Equal rows are sorted by key, in the direction of the
   * last sort key.
   */
  sorted(table: Table, rows: readonly Row[], keys: readonly SortKey[], direction: 'asc' | 'desc' = 'asc'): Row[] {
    const isDescending = keys.at(-1)?.descending ?? direction === 'desc'
    const all = [...keys, { relations: [], column: table.key, descending: isDescending }]
    const values = new Map(
      rows.map((row) => [row, all.map(({ relations, column }) => valueAt(row, relations, column))]),
    )
    return rows.toSorted((a, b) => {
      for (const [index, { column, descending }] of all.entries()) {
        const order = this.#order(column, values.get(a)?.[index] ?? null, values.get(b)?.[index] ?? null)
        if (order !== 0) return descending ? -order : order
      }
      return 0
    })
  }

  #order(column: Column, a: Value | null, b: Value | null): number {
    if (a === null || b === null) return (a === null ? 0 : 1) - (b === null ? 0 : 1)
    if (column.kind !== 'text') return compareValues(column.kind, a, b)
    return this.#rank(column, String(a)) - this.#rank(column, String(b))
  }

  #compares({ column, operator, operands, ignoreCase }: Compare, value: Value | null): boolean {
    switch (operator) {
      case 'eq':
      case 'in':
        return operands.some((operand) => this.#equals(column, value, operand, ignoreCase))
      case 'ne':
      case 'notIn':
        return !operands.some((operand) => this.#equals(column, value, operand, ignoreCase))
      case 'contains':
      case 'startsWith':
      case 'endsWith':
        return hasPart(operator, value, operands, ignoreCase)
      case 'notContains':
        return !hasPart('contains', value, operands, ignoreCase)
      case 'notStartsWith':
        return !hasPart('startsWith', value, operands, ignoreCase)
      case 'notEndsWith':
        return !hasPart('endsWith', value, operands, ignoreCase)
      case 'gt':
      case 'gte':
      case 'lt':
      case 'lte':
        return value !== null && operands.some((operand) => this.#isOrdered(column, operator, value, operand))
    }
  }

  #equals(column: Column, value: Value | null, operand: Operand, ignoreCase: boolean): boolean {
    if (value === null || operand.kind === 'null') return value === null && operand.kind === 'null'
    if (operand.kind === 'day') return Number(value) >= operand.start && Number(value) < operand.end
    if (column.kind !== 'text') return compareValues(column.kind, value, operand.value) === 0
    // Equality compares characters, independent of the collation.
    return fold(String(value), ignoreCase) === fold(String(operand.value), ignoreCase)
  }

  #isOrdered(column: Column, operator: Operator, value: Value, operand: Operand): boolean {
    if (operand.kind === 'null') return false
    if (operand.kind === 'value') return isOrderedBySign(operator, this.#order(column, value, operand.value))
    const sign = Number(value) < operand.start ? -1 : Number(value) >= operand.end ? 1 : 0
    return isOrderedBySign(operator, sign)
  }
}

function isOrderedBySign(operator: Operator, sign: number): boolean {
  switch (operator) {
    case 'eq':
      return sign === 0
    case 'ne':
      return sign !== 0
    case 'gt':
      return sign > 0
    case 'gte':
      return sign >= 0
    case 'lt':
      return sign < 0
    case 'lte':
      return sign <= 0
    default:
      throw new RangeError(`${operator} is no comparison of two numbers`)
  }
}

function hasPart(
  operator: 'contains' | 'startsWith' | 'endsWith',
  value: Value | null,
  operands: readonly Operand[],
  ignoreCase: boolean,
): boolean {
  if (value === null) return false
  const text = fold(String(value), ignoreCase)
  return operands.some((operand) => {
    const part = operand.kind === 'null' ? 'null' : fold(operand.text, ignoreCase)
    if (operator === 'contains') return text.includes(part)
    return operator === 'startsWith' ? text.startsWith(part) : text.endsWith(part)
  })
}

function fold(text: string, ignoreCase: boolean): string {
  return ignoreCase ? foldAscii(text) : text
}

/** Folds case as `/i` does on every database: ASCII letters only. */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

function follow(row: Row, relations: readonly Relation[]): Row | null {
  let found: Row | null = row
  for (const relation of relations) found = found === null ? null : relatedRecord(found, relation)
  return found
}

function valueAt(row: Row, relations: readonly Relation[], column: Column): Value | null {
  const found = follow(row, relations)
  return found === null ? null : valueIn(found, column)
}

function elementsOf(row: Row, relations: readonly Relation[], collection: Relation): readonly Row[] {
  const found = follow(row, relations)
  return found === null ? [] : relatedTo(found, collection)
}

/** A member of a selected record. A relation without a record is null. */
export type Selected = string | number | boolean | null | { [name: string]: Selected }

/** Expected members of a row for the paths of `select`. */
export function selectedOf(row: Row, paths: readonly Pick<SortKey, 'relations' | 'column'>[]): Selected {
  const record: { [name: string]: Selected } = {}
  for (const { relations, column } of paths) select(record, row, relations, column)
  return record
}

function select(record: { [name: string]: Selected }, row: Row, relations: readonly Relation[], column: Column): void {
  const [relation, ...rest] = relations
  if (relation === undefined) {
    record[column.name] = jsonOf(column, valueIn(row, column))
    return
  }
  const next = relatedRecord(row, relation)
  const known = record[relation.name]
  const nested = typeof known === 'object' && known !== null ? known : {}
  record[relation.name] = next === null ? null : nested
  if (next !== null) select(nested, next, rest, column)
}

export function keysOf(rows: readonly Row[], { key }: Table): unknown[] {
  return rows.map((row) => jsonOf(key, keyOf(row)))
}
