import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../../types/field.js'
import type {
  Column,
  ComparePredicate,
  Hop,
  OrderKey,
  PlainValue,
  PlainValues,
  Predicate,
} from '../../../types/plan.js'
import { storedOf, wireText } from '../../common/members.js'
import { spellingsOf } from '../../common/spellings.js'
import { type Visits, visit } from '../../common/visit.js'
import { conversionOf } from '../../sequelize/columnTypes.js'
import { comparedDate } from '../../sequelize/dates.js'
import { type Dialect, traitsOf, valueTraitsOf } from '../../sequelize/dialect/index.js'
import type { Reading, Request } from './outline.js'
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
        this.tokens.push(request.keys)
        this.#condition(request.where, this.#model)
        this.#reading(request)
        this.#slots(request.window)
        return
      case 'aggregate':
        this.#flags(request.total, request.deleted)
        this.#condition(request.where, this.#model)
        this.#columns(request.columns)
        this.tokens.push(request.groups)
        this.#condition(request.having, this.#model)
        this.#order(request.order)
        this.#slots(request.window)
        return
      case 'embed':
        this.#hop(request.hop)
        this.#condition(request.where, request.hop.relation.association.target)
        this.#reading(request)
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
        this.#flags(request.deleted, request.among)
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

  #reading({ columns, order }: Omit<Reading<PlainValues>, 'where'>): void {
    this.#columns(columns)
    this.tokens.push(order.length)
    for (const key of order) this.#orderKey(key)
  }

  #orderKey({ column, direction }: OrderKey): void {
    this.#column(column)
    this.tokens.push(direction)
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
    compare: (given, self, model) => {
      const node = inSpellings(given)
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
    tuples: ({ fields, values, exact }, self, model) => {
      self.#fields(fields)
      const fieldAt = (index: number): Field | undefined => fields[index % fields.length]
      self.#slots(
        values.map((value, index) => {
          const field = fieldAt(index)
          return field === undefined ? value : encodeValue(self.#dialect, model, field, value)
        }),
      )
      self.#condition(exact, model)
    },
    owned: ({ relation, key, values, guard }, self) => {
      const { source } = relation.association
      self.tokens.push(relation, key)
      self.#slots(values.map((value) => encodeValue(self.#dialect, source, key, value)))
      self.#guard(guard, relation.link?.model ?? source)
    },
    count: (node, self) => {
      self.#hops(node.hops)
      self.#hop(node.hop)
      self.tokens.push(node.operator)
      self.#flags(node.negated)
      self.#slots(node.values)
      self.#condition(node.condition, node.hop.relation.association.target)
    },
    match: (node, self) => {
      self.#fields(node.fields)
      self.#slots(node.values)
    },
    beyond: (node, self) => {
      self.#flags(node.inclusive)
      self.tokens.push(node.keys.length)
      for (const key of node.keys) {
        self.#orderKey(key)
        self.#flags(key.isNull)
      }
      self.#slots(node.values)
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

  #order(keys: readonly OrderKey[]): void {
    this.tokens.push(keys.length)
    for (const key of keys) this.#orderKey(key)
  }

  /** A field of the record itself, as most are, stands for its column. */
  #column({ hops, field, nullable, counted }: Column): void {
    if (hops.length === 0 && counted === undefined && nullable === field.nullable) {
      this.tokens.push(field)
      return
    }
    this.#hops(hops)
    this.#flags(counted !== undefined)
    if (counted === undefined) this.tokens.push(field, nullable ? 1 : 0)
    else this.#hop(counted)
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
    this.#flags(negated, ignoreCase, node.asJoined === true, traits.wide, traits.long)
    const isText = storedOf(column.field).valueType.type === 'string'
    const text = isText ? this.#dialect.text[operator](traitsOf(node, traits)) : null
    this.tokens.push(this.values.length, values.length)
    for (const value of values) {
      const isEncoded = text !== null && typeof value === 'string'
      this.values.push(isEncoded ? text.encode(value) : encodeValue(this.#dialect, model, column.field, value))
    }
  }
}

/** The comparison with UUIDs of clients in both spellings that databases keep as text: an index leads to each. */
function inSpellings(node: ComparePredicate): ComparePredicate {
  const { column, operator, asJoined = false } = node
  if (asJoined || column.counted !== undefined || column.field.valueType.type !== 'uuid') return node
  if (operator !== 'eq' && operator !== 'in') return node
  const values = node.values.flatMap((value) => spellingsOf(column.field, value))
  return { ...node, operator: values.length === 1 ? 'eq' : 'in', values }
}

/** A value as it is bound. */
function encodeValue(dialect: Dialect, model: ModelStatic<Model>, field: Field, value: PlainValue): unknown {
  if (typeof value === 'boolean') return dialect.boolean(value)
  const isSingle = typeof value === 'number' && field.valueType.single === true
  if (isSingle) return conversionOf(dialect, model, field) === null ? asSingle(value) : value
  if (!(value instanceof Date)) return value
  return field.stored === undefined ? comparedDate(model, field, value) : wireText(value)
}

/** A number as a column of four bytes would hold it: no stored 0.3 equals the 0.3 of eight bytes. */
function asSingle(value: number): number {
  const single = Math.fround(value)
  return Number.isFinite(single) ? single : value
}
