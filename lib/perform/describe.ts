import type { Model, ModelStatic } from 'sequelize'
import type { Field } from '../../types/field.js'
import type { Column, ComparePredicate, Hop, OrderKey, Predicate } from '../../types/plan.js'
import { type Dialect, isWide, traitsOf } from './dialect/index.js'
import { comparedDate } from './sequelize.js'

/**
 * A plan's shape and values, apart: requests with the same key run the same SQL text and differ only in `values`.
 * `slots` says where the values of each predicate begin, so that whoever writes the text puts placeholders in step.
 */
export interface Description {
  readonly key: string
  readonly values: readonly unknown[]
  readonly slots: ReadonlyMap<Predicate, number>
}

/** Collects the shape and the values of the parts of one plan. */
export class Describer {
  readonly #dialect: Dialect
  readonly #model: ModelStatic<Model>
  readonly #values: unknown[] = []
  readonly #slots = new Map<Predicate, number>()
  // A guard is one object however many paths meet it, and its values are bound once.
  readonly #joined = new Set<string>()
  #key = ''

  constructor(dialect: Dialect, model: ModelStatic<Model>) {
    this.#dialect = dialect
    this.#model = model
  }

  /** Text that tells shapes apart: the kind of page, the projection's key. */
  text(part: string): this {
    this.#key += `${part};`
    return this
  }

  where(predicate: Predicate | null): this {
    if (predicate !== null) this.#predicate(predicate, this.#model, true)
    return this.text('')
  }

  columns(columns: readonly Column[]): this {
    for (const { hops } of columns) if (hops.length > 0) this.#hops(hops, true)
    return this
  }

  order(keys: readonly OrderKey[]): this {
    for (const { column, direction } of keys) this.#key += `${this.#column(column, true)} ${direction},`
    return this.text('')
  }

  done(): Description {
    return { key: this.#key, values: this.#values, slots: this.#slots }
  }

  /** `joined` is whether paths start at the root, where each hop is joined once, its guard with it. */
  #predicate(node: Predicate, model: ModelStatic<Model>, joined: boolean): void {
    switch (node.kind) {
      case 'and':
      case 'or':
        this.#key += `${node.kind}(`
        for (const child of node.nodes) this.#predicate(child, model, joined)
        this.#key += ')'
        return
      case 'compare': {
        const { column, operator, values, ignoreCase, negated } = node
        this.#key += `${this.#column(column, joined)}${negated ? '!' : ''}${operator}${ignoreCase ? '/i' : ''}${isWide(values) ? '/w' : ''}${values.length},`
        if (this.#slots.has(node)) return
        this.#slots.set(node, this.#values.length)
        const owner = column.hops.at(-1)?.relation.association.target ?? model
        for (const value of values) {
          this.#values.push(encodeValue(this.#dialect, owner, column.field, node, value))
        }
        return
      }
      case 'null':
        this.#key += `${this.#column(node.column, joined)}${node.negated ? '!' : ''}null,`
        return
      case 'absent':
        this.#key += `${this.#hops(node.hops, joined)}${node.negated ? '!' : ''}absent,`
        return
      case 'never':
      case 'always':
        this.#key += `${node.kind},`
        return
      case 'quantified':
        this.#key += `${this.#hops(node.hops, joined)}${node.quantifier}(`
        this.#element(node.hop, node.condition)
        this.#key += ')'
        return
      case 'count':
        this.#key += `${this.#hops(node.hops, joined)}count${node.negated ? '!' : ''}${node.operator}${node.values.length}(`
        if (!this.#slots.has(node)) {
          this.#slots.set(node, this.#values.length)
          this.#values.push(...node.values)
        }
        this.#element(node.hop, node.condition)
        this.#key += ')'
        return
    }
  }

  #element(hop: Hop, condition: Predicate | null): void {
    this.#key += this.#hops([hop], false)
    if (condition !== null) this.#predicate(condition, hop.relation.association.target, false)
  }

  #column({ hops, field }: Column, joined: boolean): string {
    return hops.length === 0 ? field.name : `${this.#hops(hops, joined)}${field.name}`
  }

  #hops(hops: readonly Hop[], joined: boolean): string {
    let path = ''
    for (const { relation, guard } of hops) {
      path += `${relation.name}.`
      if (guard === null || (joined && this.#joined.has(path))) continue
      if (joined) this.#joined.add(path)
      this.#key += `${path}[`
      this.#predicate(guard, relation.association.target, false)
      this.#key += ']'
    }
    return path
  }
}

/** A value as it is bound. */
function encodeValue(
  dialect: Dialect,
  model: ModelStatic<Model>,
  field: Field,
  node: ComparePredicate,
  value: unknown,
): unknown {
  if (typeof value === 'string') {
    return field.valueType.type === 'string' ? dialect.text(node.operator, traitsOf(node)).encode(value) : value
  }
  if (typeof value === 'boolean') return dialect.boolean(value)
  if (typeof value === 'number' && field.valueType.single === true) return asSingle(value)
  return value instanceof Date ? comparedDate(model, field, value) : value
}

/** A number as a column of four bytes would hold it: no stored 0.3 equals the 0.3 of eight bytes. */
function asSingle(value: number): number {
  const single = Math.fround(value)
  return Number.isFinite(single) ? single : value
}
