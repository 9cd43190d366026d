import type { IncludeOptions, Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type * as plan from '../../types/plan.js'
import { type Visits, visit } from '../common/visit.js'
import { isValueOperator, type ValueOperator } from '../language/operators.js'
import { type Dialect, traitsOf } from '../sequelize/dialect/index.js'
import type { WhereFragment } from '../sequelize/internals.js'
import { keysOf } from '../sequelize/model.js'
import { literal, quote, scoped, selected, writeCondition, writeSelect } from '../sequelize/sql.js'
import { compared, every, isNull, some } from '../sequelize/tree.js'
import { elementSelect, isFirst, linked } from './elements.js'
import { Joins } from './joins.js'
import { pathOf, presentUnder } from './presence.js'
import type { OutlinePredicate, Slots } from './statement/outline.js'

type Column = plan.Column<Slots>
type Hop = plan.Hop<Slots>
type ComparePredicate = plan.ComparePredicate<Slots>
type CountPredicate = plan.CountPredicate<Slots>
type QuantifiedPredicate = plan.QuantifiedPredicate<Slots>

/** How values are written: as placeholders of a statement that is kept, or as themselves. */
export interface Operands {
  /** A value as SQL text. */
  readonly sql: (slot: number) => string
  /** A value to compare a field with, as a member of a Sequelize where tree. */
  readonly member: (slot: number, field: Field) => unknown
}

/** Where column names of a predicate are looked up. */
export interface Scope {
  readonly model: ModelStatic<Model>
  /** The table's alias, unquoted; empty in statements that have none. */
  readonly alias: string
  /** True at the root, where to-one hops are joins; inside subqueries they are subqueries of their own. */
  readonly joins: boolean
}

type Fragment = WhereFragment

/** An operator that compares what is no text. */
function ofValues({ operator }: ComparePredicate | CountPredicate): ValueOperator {
  if (isValueOperator(operator)) return operator
  throw new TypeError(`${operator} compares nothing but text`)
}

/** Writes predicates as Sequelize where and include trees. One writer makes one statement. */
export class WhereWriter {
  readonly #dialect: Dialect
  readonly #operands: Operands
  readonly #joins = new Joins()
  readonly #present = new Set<string>()
  #aliases = 0

  constructor(dialect: Dialect, operands: Operands) {
    this.#dialect = dialect
    this.#operands = operands
  }

  /** The where tree of a statement's condition. The joins it needs are in `include()` afterwards. */
  where(node: OutlinePredicate, scope: Scope): Fragment {
    if (scope.joins) for (const path of presentUnder(node)) this.#present.add(path)
    return this.#predicate(node, scope)
  }

  #predicate(node: OutlinePredicate, scope: Scope): Fragment {
    return visit(WhereWriter.#written, node, this, scope)
  }

  static readonly #written: Visits<OutlinePredicate, [self: WhereWriter, scope: Scope], Fragment> = {
    and: ({ nodes }, self, scope) => every(nodes.map((node) => self.#predicate(node, scope))),
    or: ({ nodes }, self, scope) => some(nodes.map((node) => self.#predicate(node, scope))),
    never: () => literal('1 = 0'),
    always: () => literal('1 = 1'),
    compare: (node, self, scope) => self.#compare(node, scope),
    null: ({ column, negated }, self, scope) => {
      if (!self.#isBehindSubquery(column.hops, scope)) return self.#isNull(column, negated)
      const present = (): Fragment => self.#isNull(atElement(column), true)
      return self.#exists(self.#through(scope, column.hops, present), !negated)
    },
    absent: ({ hops, negated }, self, scope) => self.#absent(hops, scope, negated),
    quantified: (node, self, scope) => self.#quantified(node, scope),
    count: (node, self, scope) => self.#count(node, scope),
  }

  /** A column as SQL text, joining what its path crosses. */
  column({ hops, field }: Column, scope: Scope): string {
    const name = quote(scope.model, field.column)
    if (hops.length > 0) return `${quote(scope.model, this.#joins.add(hops))}.${name}`
    return scope.alias === '' ? name : `${quote(scope.model, scope.alias)}.${name}`
  }

  /** The include tree of every path that was written so far. */
  include(root: Scope): IncludeOptions[] {
    return this.#joins.tree((hop, path, before) => {
      const { association } = hop.relation
      const from = before.length === 0 ? root : { model: association.source, alias: pathOf(before), joins: false }
      const at: Scope = { model: association.target, alias: path, joins: false }
      const conditions = this.#conditions(hop, from, at)
      return {
        association,
        attributes: [],
        // An inner join: not every database sees through function calls that rows without the record are thrown away.
        required: this.#present.has(path),
        ...(conditions.length === 0 ? {} : { where: scoped(association.target, every(conditions)) }),
      }
    })
  }

  /** A statement with short names for the joins whose own are longer than the database takes. */
  shorten(sql: string, { model }: Scope): string {
    return this.#joins.shorten(sql, this.#dialect.longestAlias, (name) => quote(model, name))
  }

  #isBehindSubquery(hops: readonly Hop[], scope: Scope): boolean {
    return hops.length > 0 && !scope.joins
  }

  #compare(node: ComparePredicate, scope: Scope): Fragment {
    const { column, negated } = node
    if (this.#isBehindSubquery(column.hops, scope)) {
      const rows = this.#through(scope, column.hops, (at) => this.#positive({ ...node, column: atElement(column) }, at))
      return this.#exists(rows, negated)
    }
    if (column.field.valueType.type === 'string') {
      const reference = this.column(column, scope)
      const sql = this.#text(node, reference)
      if (!negated) return literal(sql)
      return literal(column.nullable ? `(NOT (${sql}) OR ${reference} IS NULL)` : `NOT (${sql})`)
    }
    const matches = this.#member(node, negated)
    return negated && column.nullable ? some([matches, this.#isNull(column, false)]) : matches
  }

  /** The comparison as SQL text, whether or not it is negated. */
  #positive(node: ComparePredicate, scope: Scope): Fragment {
    const { field } = node.column
    const reference = this.column(node.column, scope)
    if (field.valueType.type === 'string') return literal(this.#text(node, reference))
    const cast = this.#operandsOf(node).map((operand) => this.#dialect.operand(operand, field))
    return literal(this.#dialect.values[ofValues(node)](reference, cast))
  }

  #text(node: ComparePredicate, reference: string): string {
    const { operator, values } = node
    return this.#dialect.text[operator](traitsOf(node, values)).write(reference, this.#operandsOf(node))
  }

  #operandsOf({ values }: ComparePredicate | CountPredicate): readonly string[] {
    return slotsOf(values).map((slot) => this.#operands.sql(slot))
  }

  #member(node: ComparePredicate, negated: boolean): Fragment {
    if (negated && node.operator === 'eq' && node.column.field.valueType.type === 'boolean') {
      // Equality with the other of the two leads into an index, where "unequal" does not.
      const other = literal(`(NOT ${this.#operands.sql(node.values.first)})`)
      return compared(this.#key(node.column), 'eq', other, false)
    }
    const members = slotsOf(node.values).map((slot) => this.#operands.member(slot, node.column.field))
    const value = node.operator === 'in' ? members : members[0]
    return compared(this.#key(node.column), ofValues(node), value, negated)
  }

  #isNull(column: Column, negated: boolean): Fragment {
    return isNull(this.#key(column), negated)
  }

  /** The column's name in a where tree. */
  #key({ hops, field }: Column): string {
    if (hops.length === 0) return field.name
    this.#joins.add(hops)
    return `$${hops.map(({ relation }) => relation.name).join('.')}.${field.column}$`
  }

  #absent(hops: readonly Hop[], scope: Scope, negated: boolean): Fragment {
    if (!scope.joins)
      return this.#exists(
        this.#through(scope, hops, () => literal('1 = 1')),
        !negated,
      )
    const target = hops.at(-1)?.relation.association.target ?? scope.model
    const [key] = target.primaryKeyAttributes
    const column = key === undefined ? undefined : target.getAttributes()[key]
    const name = column?.field ?? key ?? ''
    const reference = `${quote(target, this.#joins.add(hops))}.${quote(target, name)}`
    return literal(`${reference} IS ${negated ? 'NOT ' : ''}NULL`)
  }

  #quantified(node: QuantifiedPredicate, scope: Scope): Fragment {
    const { quantifier } = node
    const rows = this.#elements('1', node, scope, (inner) => {
      const where = this.#predicate(node.condition, inner)
      // Whatever is not true of an element breaks `all`, null included.
      return quantifier === 'all' ? literal(`(${writeCondition(inner.model, where, inner.alias)}) IS NOT TRUE`) : where
    })
    return this.#exists(rows, quantifier !== 'any')
  }

  #count(node: CountPredicate, scope: Scope): Fragment {
    const { condition, negated } = node
    const rows = this.#elements('COUNT(*)', node, scope, (inner) =>
      condition === null ? null : this.#predicate(condition, inner),
    )
    const comparison = this.#dialect.values[ofValues(node)](`(${rows})`, this.#operandsOf(node))
    return literal(`${negated ? 'NOT ' : ''}(${comparison})`)
  }

  /** The SELECT of a relation's elements, correlated to the record of `scope`. */
  #elements(
    what: string,
    { hops, hop }: QuantifiedPredicate | CountPredicate,
    scope: Scope,
    condition: (inner: Scope) => Fragment | null,
  ): string {
    const conditions = (inner: Scope): Fragment[] => {
      const guard = hop.guard === null ? null : this.#predicate(hop.guard, inner)
      return [guard, condition(inner)].filter((part) => part !== null)
    }
    const correlate = (link: (source: Scope) => string): Fragment => {
      if (hops.length === 0) return literal(link(scope))
      const source = { model: hops.at(-1)?.relation.association.target ?? scope.model, joins: false }
      if (scope.joins) return literal(link({ ...source, alias: this.#joins.add(hops) }))
      return this.#exists(
        this.#through(scope, hops, (inner) => literal(link(inner))),
        false,
      )
    }
    return elementSelect(what, hop.relation.association, {
      correlate,
      conditions,
      linkConditions: (link) => (hop.linkGuard === null ? [] : [this.#predicate(hop.linkGuard, link)]),
      alias: () => this.#alias(),
    })
  }

  /** The SELECT of the record at the end of to-one hops, correlated to the record of `scope`. */
  #through(scope: Scope, hops: readonly Hop[], condition: (inner: Scope) => Fragment): string {
    const [hop, ...rest] = hops
    if (hop === undefined) throw new TypeError('a path without hops has no subquery')
    const { association } = hop.relation
    const inner: Scope = { model: association.target, alias: this.#alias(), joins: false }
    const where = [
      literal(linked(association, scope, inner)),
      // A hasOne may be one of several rows, told apart by fixed attributes.
      ...keysOf(association).scope,
      ...this.#conditions(hop, scope, inner),
      rest.length === 0 ? condition(inner) : this.#exists(this.#through(inner, rest, condition), false),
    ]
    return writeSelect(inner.model, {
      attributes: selected('1'),
      tableAs: inner.alias,
      where: every(where),
    })
  }

  /** What the row of `at` has to meet that a to-one hop leads to from the record of `from`. */
  #conditions({ relation, guard }: Hop, from: Scope, at: Scope): Fragment[] {
    const guards = (scope: Scope): Fragment[] => (guard === null ? [] : [this.#predicate(guard, scope)])
    if (!relation.doubtful || at.model.primaryKeyAttributes.length === 0) return guards(at)
    const row: Scope = { ...at, alias: this.#alias() }
    return [...guards(at), isFirst(relation.association, from, at, row, guards(row))]
  }

  #exists(rows: string, negated: boolean): Fragment {
    return literal(negated ? `NOT EXISTS (${rows})` : this.#dialect.exists(rows))
  }

  #alias(): string {
    this.#aliases += 1
    return `_q${this.#aliases}`
  }
}

function slotsOf({ first, count }: Slots): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

function atElement(column: Column): Column {
  return { ...column, hops: [] }
}
