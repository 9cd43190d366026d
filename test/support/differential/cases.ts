// Generates arbitrary list requests.

import fc, { type Arbitrary } from 'fast-check'
import type { Condition } from './condition.js'
import { Conditions, type Place, type Range } from './conditions.js'
import type { Operand } from './operands.js'
import type { SortKey } from './oracle.js'
import { type Column, type Table, type TableName, tableNamed } from './schema.js'
import type { World } from './world.js'

/** How the rows of a case are read: only keys, numbered pages, keyset pages, or selected fields. */
export type Reading = 'keys' | 'pages' | 'keyset' | 'select'

export interface Case {
  readonly table: Table
  /** Whether the request includes soft-deleted records. */
  readonly includeDeleted: boolean
  readonly condition: Condition | null
  readonly parameters: readonly Parameter[]
  readonly sort: readonly SortKey[]
  readonly reading: Reading
  /** Number of pages into which the rows are divided. */
  readonly pages: number
  readonly select: readonly Pick<SortKey, 'relations' | 'column'>[]
  /** Seed for variations of the request that must not change the response. */
  readonly style: number
}

export interface Parameter {
  readonly column: Column
  readonly operand: Operand
}

/** Kinds of requests that a test generates. */
export interface Topic {
  readonly range: Range
  readonly condition: 'always' | 'often' | 'seldom'
  readonly parameters: boolean
  /** Maximum number of sort keys. */
  readonly sortKeys: number
  readonly readings: readonly [Reading, ...Reading[]]
}

const ROOTS: readonly { readonly weight: number; readonly name: TableName }[] = [
  { weight: 10, name: 'Item' },
  { weight: 4, name: 'Part' },
  { weight: 2, name: 'Store' },
  { weight: 2, name: 'Tag' },
  { weight: 1, name: 'Mark' },
  { weight: 1, name: 'Seal' },
  { weight: 1, name: 'Region' },
]

export function casesOf(world: World, topic: Topic): Arbitrary<Case> {
  const conditions = new Conditions(world, topic.range)
  const roots = ROOTS.map(({ weight, name }) => ({
    weight,
    arbitrary: caseOf(tableNamed(name), conditions, topic),
  }))
  return fc.oneof(...roots)
}

function caseOf(table: Table, conditions: Conditions, topic: Topic): Arbitrary<Case> {
  const { range, condition, sortKeys, readings } = topic
  const place = conditions.place(table, range.pathDepth)
  return fc.record({
    table: fc.constant(table),
    includeDeleted: table.softDelete ? fc.boolean() : fc.constant(false),
    condition:
      condition === 'always'
        ? conditions.of(table)
        : fc.option(conditions.of(table), { freq: condition === 'often' ? 5 : 1 }),
    parameters: topic.parameters ? parametersOf(table, conditions) : fc.constant([]),
    sort: fc.array(sortKeyOf(place), { maxLength: sortKeys }),
    reading: fc.constantFrom(...readings),
    pages: fc.integer({ min: 1, max: 4 }),
    select: fc.array(place, { minLength: 1, maxLength: 6 }),
    style: fc.nat(),
  })
}

function sortKeyOf(place: Arbitrary<Place>): Arbitrary<SortKey> {
  return fc
    .record({ place, descending: fc.boolean() })
    .map(({ place: { relations, column }, descending }) => ({ relations, column, descending }))
}

/** Generates parameters for distinct fields. */
function parametersOf(table: Table, conditions: Conditions): Arbitrary<readonly Parameter[]> {
  const columns = fc.uniqueArray(fc.constantFrom(...table.columns), { minLength: 1, maxLength: 2 })
  return columns.chain((chosen) => fc.tuple(...chosen.map((column) => parameterOf(table, column, conditions))))
}

/** Generates a parameter for a field. An empty parameter would count as missing. */
function parameterOf(table: Table, column: Column, conditions: Conditions): Arbitrary<Parameter> {
  return conditions
    .operand(table, column)
    .filter((operand) => operand.kind !== 'null' && operand.text !== '')
    .map((operand) => ({ column, operand }))
}
