// Generates random conditions on the rows of a world (world.ts).

import fc, { type Arbitrary } from 'fast-check'
import { operatorInfoOf } from '../../../lib/language/operators.js'
import type { Operator } from '../../../types/query.js'
import { COMPLEMENTS, EQUALITY, ORDER, PARTS } from '../operators.js'
import { type Condition, isOrder, mayBeNull } from './condition.js'
import { type Operand, operandOf } from './operands.js'
import { foldAscii } from './oracle.js'
import type { Column, Kind, Relation, Table } from './schema.js'

import { type Tables, valueIn, valuesIn } from './world.js'

/** Limits for the conditions that a test generates. */
export interface Range {
  /** Maximum number of relations in a path. `far`: whether most paths cross a relation. */
  readonly pathDepth: number
  readonly far: boolean
  readonly collections: boolean
}

/** A column at the end of a path over to-one relations. */
export interface Place {
  readonly relations: readonly Relation[]
  readonly table: Table
  readonly column: Column
}

function operatorsOf(kind: Kind): readonly Operator[] {
  if (kind === 'text') return [...EQUALITY, ...ORDER, ...PARTS]
  return kind === 'boolean' || kind === 'enum' || kind === 'uuid' ? EQUALITY : [...EQUALITY, ...ORDER]
}

const NULL: Arbitrary<Operand> = fc.constant({ kind: 'null' })

export class Conditions {
  readonly #world: Tables
  readonly #range: Range
  readonly #known = new Map<string, Arbitrary<Condition>>()
  readonly #operands = new Map<Column, Arbitrary<Operand>>()

  constructor(world: Tables, range: Range) {
    this.#world = world
    this.#range = range
  }

  of(table: Table): Arbitrary<Condition> {
    return this.#condition(table, 3, this.#range.pathDepth)
  }

  /**
   * Generates a column at the end of a path over to-one relations. Text columns are preferred, because they have the
   * most operators.
   */
  place(table: Table, pathDepth: number): Arbitrary<Place> {
    const paths = pathsOf(this.#world, table, pathDepth)
    const far = paths.filter(({ relations }) => relations.length > 0)
    const path =
      this.#range.far && far.length > 0
        ? fc.oneof(fc.constantFrom(...far), fc.constantFrom(...paths))
        : fc.constantFrom(...paths)
    return path.chain((at) => {
      const texts = at.table.columns.filter(({ kind }) => kind === 'text')
      return fc.constantFrom(...at.table.columns, ...texts).map((column) => ({ ...at, column }))
    })
  }

  /** Generates a value to compare a column with. */
  operand(table: Table, column: Column): Arbitrary<Operand> {
    const known = this.#operands.get(column) ?? operandOf(column, valuesIn(this.#world, table.name, column))
    this.#operands.set(column, known)
    return known
  }

  #condition(table: Table, depth: number, pathDepth: number): Arbitrary<Condition> {
    const key = `${table.name} ${depth} ${pathDepth}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made = this.#made(table, depth, pathDepth)
    this.#known.set(key, made)
    return made
  }

  #made(table: Table, depth: number, pathDepth: number): Arbitrary<Condition> {
    const choices: { weight: number; arbitrary: Arbitrary<Condition> }[] = [
      { weight: 6, arbitrary: this.place(table, pathDepth).chain((place) => this.#compare(place)) },
    ]
    const paths = pathsOf(this.#world, table, pathDepth)
    const absent = paths.filter(({ relations }) => relations.length > 0)
    if (absent.length > 0) {
      const negated = fc.boolean()
      const path = fc.constantFrom(...absent)
      const arbitrary = fc.record({ kind: fc.constant('absent' as const), path, negated })
      choices.push({
        weight: 1,
        arbitrary: arbitrary.map(({ path: to, ...rest }) => ({ ...rest, relations: to.relations })),
      })
    }
    const collections = this.#range.collections ? collectionsOf(this.#world, table, pathDepth) : []
    if (collections.length > 0 && depth > 0) {
      const collection = fc.constantFrom(...collections)
      choices.push({ weight: 5, arbitrary: collection.chain((to) => this.#elements(to, depth, pathDepth)) })
      choices.push({ weight: 2, arbitrary: collection.chain((to) => this.#count(to, depth, pathDepth)) })
    }
    if (depth > 0) choices.push({ weight: 4, arbitrary: this.#junction(table, depth, pathDepth) })
    return fc.oneof({ withCrossShrink: true }, ...choices)
  }

  #junction(table: Table, depth: number, pathDepth: number): Arbitrary<Condition> {
    const nodes = fc.array(this.#condition(table, depth - 1, pathDepth), { minLength: 2, maxLength: 3 })
    return fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), nodes })
  }

  #elements({ relations, collection }: Collection, depth: number, left: number): Arbitrary<Condition> {
    const inner = this.#condition(this.#world.table(collection.to), depth - 1, left - relations.length - 1)
    const quantifier = fc.constantFrom('any' as const, 'all' as const, 'none' as const)
    return fc
      .record({ quantifier, condition: inner })
      .map((rest) => ({ kind: 'elements', relations, collection, ...rest }))
  }

  #count({ relations, collection }: Collection, depth: number, left: number): Arbitrary<Condition> {
    const inner = this.#condition(this.#world.table(collection.to), depth - 1, left - relations.length - 1)
    const number = fc.oneof(
      { weight: 9, arbitrary: fc.bigInt({ min: 0n, max: 4n }) },
      { weight: 1, arbitrary: fc.constantFrom(-1n, 2n ** 31n, -(2n ** 63n), 10n ** 20n) },
    )
    return fc
      .record({ condition: fc.option(inner), operator: fc.constantFrom(...EQUALITY, ...ORDER) })
      .chain(({ condition, operator }) =>
        fc
          .array(number, { minLength: 1, maxLength: isList(operator) ? 3 : 1 })
          .map((numbers) => ({ kind: 'count', relations, collection, condition, operator, numbers })),
      )
  }

  #compare(place: Place): Arbitrary<Condition> {
    return fc
      .record({ operator: fc.constantFrom(...operatorsOf(place.column.kind)), folds: fc.nat(2) })
      .chain(({ operator, folds }) =>
        this.#operandsFor(place, operator).map((operands) => {
          const ignoreCase = folds === 0 && this.#mayFold(place, operator, operands)
          return { kind: 'compare', relations: place.relations, column: place.column, operator, operands, ignoreCase }
        }),
      )
  }

  #operandsFor({ table, column, relations }: Place, operator: Operator): Arbitrary<readonly Operand[]> {
    if (column.kind === 'text' && isOrder(operator)) return this.#stored(table, column).map((operand) => [operand])
    const isPart = PARTS.includes(operator)
    const operand = this.operand(table, column).filter(({ kind, ...rest }) => {
      // Substring operators and lists do not allow an empty text.
      return kind === 'null' || !('text' in rest) || rest.text !== '' || (!isPart && !isList(operator))
    })
    const isNullable = EQUALITY.includes(operator) && mayBeNull({ relations, column })
    const any = isNullable ? fc.oneof({ weight: 5, arbitrary: operand }, { weight: 1, arbitrary: NULL }) : operand
    return fc.array(any, { minLength: 1, maxLength: isList(operator) ? 5 : 1 })
  }

  /** Generates a stored text, whose position in the database's order is known. */
  #stored(table: Table, column: Column): Arbitrary<Operand> {
    const texts = valuesIn(this.#world, table.name, column)
    return fc.constantFrom(...texts).map((value) => ({ kind: 'value', value, text: String(value) }))
  }

  /**
   * Whether a comparison with `/i` has one result on all databases. `/i` folds ASCII letters everywhere, and more
   * letters on some databases.
   */
  #mayFold({ table, column }: Place, operator: Operator, operands: readonly Operand[]): boolean {
    if (column.kind !== 'text') return true
    if (isOrder(operator)) return false
    const positive = PARTS.includes(operator) && operator.startsWith('not') ? COMPLEMENTS[operator] : operator
    const texts = operands.flatMap((operand) => (operand.kind === 'value' ? [operand.text] : []))
    // Some requests include deleted rows, so the values of deleted rows count as well.
    const values = this.#world.all(table.name).map((row) => valueIn(row, column))
    return values.every((value) =>
      texts.every(
        (text) =>
          isPartBy(positive, foldAscii(String(value)), foldAscii(text)) ===
          isPartBy(positive, String(value).toLowerCase(), text.toLowerCase()),
      ),
    )
  }
}

function isPartBy(operator: Operator, text: string, part: string): boolean {
  if (operator === 'contains') return text.includes(part)
  if (operator === 'startsWith') return text.startsWith(part)
  return operator === 'endsWith' ? text.endsWith(part) : text === part
}

function isList(operator: Operator): boolean {
  return operatorInfoOf(operator).list
}

interface Path {
  readonly relations: readonly Relation[]
  readonly table: Table
}

/** All paths over a limited number of to-one relations. */
function pathsOf(world: Tables, table: Table, most: number): Path[] {
  const here: Path = { relations: [], table }
  if (most === 0) return [here]
  const further = table.relations
    .filter(({ many }) => !many)
    .flatMap((relation) =>
      pathsOf(world, world.table(relation.to), most - 1).map((path) => ({
        ...path,
        relations: [relation, ...path.relations],
      })),
    )
  return [here, ...further]
}

interface Collection {
  readonly relations: readonly Relation[]
  readonly collection: Relation
}

function collectionsOf(world: Tables, table: Table, most: number): Collection[] {
  if (most === 0) return []
  return pathsOf(world, table, most - 1).flatMap(({ relations, table: at }) =>
    at.relations.filter(({ many }) => many).map((collection) => ({ relations, collection })),
  )
}
