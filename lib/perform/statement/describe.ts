import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type { Column, ComparePredicate, Hop, PlainValue, Predicate } from '../../../types/plan.js'
import { type Visits, visit } from '../../common/visit.js'
import { comparedDate } from '../../sequelize/dates.js'
import { type Dialect, traitsOf, valueTraitsOf } from '../../sequelize/dialect/index.js'
import type { Request } from './outline.js'
import type { Description, Token } from './tokens.js'

/** Takes a request apart into what its statement's text depends on, and its values. `restore` is the way back. */
export function describe(dialect: Dialect, model: ModelStatic<Model>, request: Request): Description {
  const describer = new Describer(dialect, model)
  describer.request(request)
  return describer
}

class Describer implements Description {
  readonly tokens: Token[] = []
  readonly values: unknown[] = []
  readonly #dialect: Dialect
  readonly #model: ModelStatic<Model>
  // A guard is one object however many paths meet it, and its values are bound once.
  readonly #guards = new Map<Predicate, number>()

  constructor(dialect: Dialect, model: ModelStatic<Model>) {
    this.#dialect = dialect
    this.#model = model
  }

  request(request: Request): void {
    this.tokens.push(request.kind)
    switch (request.kind) {
      case 'select':
        this.#flags(request.total, request.unscoped, request.deleted, request.lock)
        this.#condition(request.where, this.#model)
        this.#columns(request.columns)
        this.tokens.push(request.order.length)
        for (const { column, direction } of request.order) {
          this.#column(column)
          this.tokens.push(direction)
        }
        this.#slots(request.window)
        return
      case 'count':
        this.#flags(request.deleted)
        this.#condition(request.where, this.#model)
        return
      case 'insert':
        this.#fields(request.fields)
        this.#columns(request.returning)
        this.#slots(request.values)
        return
      case 'update':
        this.#flags(request.deleted)
        this.#fields(request.fields)
        this.#fields(request.increments)
        this.#predicate(request.where, this.#model)
        this.#columns(request.returning)
        this.#slots(request.values)
        return
      case 'delete':
        this.#predicate(request.where, this.#model)
        return
    }
  }

  #flags(...flags: readonly boolean[]): void {
    for (const flag of flags) this.tokens.push(flag ? 1 : 0)
  }

  #fields(fields: readonly Field[]): void {
    this.tokens.push(fields.length)
    for (const field of fields) this.tokens.push(field)
  }

  /** Values as they are; that they are in place is all that the text depends on. */
  #slots(values: readonly unknown[]): void {
    this.tokens.push(this.values.length, values.length)
    for (const value of values) this.values.push(value)
  }

  #condition(predicate: Predicate | null, model: ModelStatic<Model>): void {
    if (predicate === null) this.tokens.push(0)
    else this.#predicate(predicate, model)
  }

  #predicate(node: Predicate, model: ModelStatic<Model>): void {
    this.tokens.push(node.kind)
    visit(Describer.#described, node, this, model)
  }

  static readonly #described: Visits<Predicate, [self: Describer, model: ModelStatic<Model>], void> = {
    and: ({ nodes }, self, model) => self.#nodes(nodes, model),
    or: ({ nodes }, self, model) => self.#nodes(nodes, model),
    compare: (node, self, model) => {
      self.#column(node.column)
      self.tokens.push(node.operator)
      self.#comparison(node, node.column.hops.at(-1)?.relation.association.target ?? model)
    },
    null: (node, self) => {
      self.#column(node.column)
      self.#flags(node.negated)
    },
    absent: (node, self) => {
      self.#hops(node.hops)
      self.#flags(node.negated)
    },
    never: () => undefined,
    always: () => undefined,
    quantified: (node, self) => {
      self.tokens.push(node.quantifier)
      self.#hops(node.hops)
      self.#hop(node.hop)
      self.#predicate(node.condition, node.hop.relation.association.target)
    },
    count: (node, self) => {
      self.#hops(node.hops)
      self.#hop(node.hop)
      self.tokens.push(node.operator)
      self.#flags(node.negated)
      self.#slots(node.values)
      self.#condition(node.condition, node.hop.relation.association.target)
    },
  }

  #nodes(nodes: readonly Predicate[], model: ModelStatic<Model>): void {
    this.tokens.push(nodes.length)
    for (const node of nodes) this.#predicate(node, model)
  }

  #columns(columns: readonly Column[]): void {
    this.tokens.push(columns.length)
    for (const column of columns) this.#column(column)
  }

  #column({ hops, field, nullable }: Column): void {
    this.#hops(hops)
    this.tokens.push(field, nullable ? 1 : 0)
  }

  #hops(hops: readonly Hop[]): void {
    this.tokens.push(hops.length)
    for (const hop of hops) this.#hop(hop)
  }

  #hop({ relation, guard, linkGuard }: Hop): void {
    const { target } = relation.association
    this.tokens.push(relation)
    this.#guard(guard, target)
    this.#guard(linkGuard, relation.link?.model ?? target)
  }

  /** Numbered at the first path that meets it, and named by its number at the others. */
  #guard(guard: Predicate | null, model: ModelStatic<Model>): void {
    if (guard === null) {
      this.tokens.push(0)
      return
    }
    const known = this.#guards.get(guard)
    const number = known ?? this.#guards.size + 1
    this.tokens.push(number)
    if (known !== undefined) return
    this.#guards.set(guard, number)
    this.#predicate(guard, model)
  }

  #comparison(node: ComparePredicate, model: ModelStatic<Model>): void {
    const { column, operator, negated, ignoreCase, values } = node
    const traits = valueTraitsOf(values)
    this.#flags(negated, ignoreCase, traits.wide, traits.long)
    const isText = column.field.valueType.type === 'string'
    const text = isText ? this.#dialect.text[operator](traitsOf(node, traits)) : null
    this.tokens.push(this.values.length, values.length)
    for (const value of values) {
      const isEncoded = text !== null && typeof value === 'string'
      this.values.push(isEncoded ? text.encode(value) : encodeValue(this.#dialect, model, column.field, value))
    }
  }
}

/** A value as it is bound. */
function encodeValue(dialect: Dialect, model: ModelStatic<Model>, field: Field, value: PlainValue): unknown {
  if (typeof value === 'boolean') return dialect.boolean(value)
  if (typeof value === 'number' && field.valueType.single === true) return asSingle(value)
  return value instanceof Date ? comparedDate(model, field, value) : value
}

/** A number as a column of four bytes would hold it: no stored 0.3 equals the 0.3 of eight bytes. */
function asSingle(value: number): number {
  const single = Math.fround(value)
  return Number.isFinite(single) ? single : value
}
