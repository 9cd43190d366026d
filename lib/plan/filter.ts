import type { CountPredicate, Hop, Predicate } from '../../types/plan.js'
import type { Comparison, FilterNode, Path, Quantified, Quantifier } from '../../types/query.js'
import { columnOf, ownColumn } from '../common/columns.js'
import { echoed } from '../common/echo.js'
import { KEY_HINT, RELATED_KEY_HINT } from '../common/hints.js'
import { itemIn } from '../common/members.js'
import { junction } from '../common/predicates.js'
import { invalidQuery } from '../common/problem.js'
import { type Visits, visit } from '../common/visit.js'
import { operatorInfo } from '../language/operators.js'
import { comparisonOf } from './comparison.js'
import { type Context, computedReason, suggestion, unknownField } from './context.js'
import { type Destination, fieldsAt, follow, mayBeNull, type Root } from './path.js'
import type { Place } from './tally.js'

type Collection = Extract<Destination, { kind: 'collection' }>
type Items = Extract<Destination, { kind: 'items' }>

/**
 * Resolves a filter for this resource and caller. Null if only ignored unknown fields were named.
 *
 * @throws Problem `unknown-field` or `invalid-query`, with the clause's position
 */
export function planFilter(context: Context, node: FilterNode): Predicate | null {
  return new FilterPlanner(context).plan(node, context.root)
}

/** Whether a comparison searches text in a way that a plain index does not support. */
function isPattern({ operator, ignoreCase }: Pick<Comparison, 'operator' | 'ignoreCase'>): boolean {
  const { text, positive, negated } = operatorInfo(operator)
  return ignoreCase || (text && (negated || positive !== 'startsWith'))
}

class FilterPlanner {
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  get #parameter(): string {
    return `${this.#context.prefix}filter`
  }

  #place({ offset }: FilterNode): Place {
    return { parameter: this.#parameter, offset }
  }

  plan(node: FilterNode, root: Root): Predicate | null {
    return visit(FilterPlanner.#planned, node, this, root)
  }

  static readonly #planned: Visits<FilterNode, [self: FilterPlanner, root: Root], Predicate | null> = {
    and: ({ nodes }, self, root) =>
      junction(
        'and',
        nodes.map((node) => self.plan(node, root)),
      ),
    or: ({ nodes }, self, root) =>
      junction(
        'or',
        nodes.map((node) => self.plan(node, root)),
      ),
    comparison: (node, self, root) => self.#comparison(node, node.path, root),
    quantified: (node, self, root) => self.#quantified(node, root),
  }

  /** Compares the destination of a path, or of its remainder behind a collection. */
  #comparison(node: Comparison, path: Path, root: Root): Predicate | null {
    const to = follow(this.#context, root, path, this.#place(node))
    switch (to.kind) {
      case 'field':
        return this.#field(node, to, root)
      case 'unknown':
        return this.#unknown(node, to)
      case 'every':
        return this.#unknown(node)
      case 'relation':
        return this.#relation(node, to.hops, root)
      case 'collection':
        return this.#collection(node, to, root)
      case 'items':
        return this.#items(node, to, root)
    }
  }

  /** Error for an unknown field, or null while unknown fields are ignored. With `to`, a hint for the last name of the path. */
  #unknown({ path: { segments }, offset }: Comparison | Quantified, to?: Destination): null {
    if (this.#context.unknownFields === 'ignore') return null
    const hint = to === undefined ? '' : this.#hint(to, segments)
    throw unknownField(this.#parameter, segments.join('.'), offset, hint)
  }

  #hint(to: Destination, written: readonly string[]): string {
    const name = written.at(-1)?.toLowerCase()
    const reach = to.at?.reach ?? null
    const key =
      to.at === null ? undefined : fieldsAt(to.at).find((each) => each.isKey && each.json.toLowerCase() === name)
    if (key?.targets.has(reach === null ? 'response' : 'list') && this.#context.view.readable(key, reach)) {
      return reach === null ? KEY_HINT : RELATED_KEY_HINT
    }
    return computedReason(this.#context, to) || suggestion(this.#context, to, written, ({ filterable }) => filterable)
  }

  #field(node: Comparison, to: Extract<Destination, { kind: 'field' }>, root: Root): Predicate | null {
    const { hops, field, reach } = to
    if (!field.filterable || !this.#context.view.readable(field, reach)) return this.#unknown(node, to)
    const predicate = comparisonOf(node, columnOf(hops, field), mayBeNull(hops, field), (message) =>
      this.#fault(node, message),
    )
    const place = this.#place(node)
    this.#context.tally.path(root, hops, place)
    this.#context.tally.comparison(root, isPattern(node), place)
    return predicate
  }

  /** Compares the items of an array, or their number. */
  #items(node: Comparison, to: Items, root: Root): Predicate | null {
    const { hops, field, item, reach, word } = to
    if (!field.filterable || !this.#context.view.readable(field, reach)) return this.#unknown(node)
    const fault = (message: string): Error => this.#fault(node, message)
    const place = this.#place(node)
    this.#context.tally.items(root, hops, place)
    if (word === 'count') return { kind: 'itemCount', hops, item: itemIn(item), ...this.#numbers(node, node) }
    const condition = comparisonOf(node, ownColumn(item), true, fault)
    this.#context.tally.comparison({ ...root, collections: root.collections + 1 }, isPattern(node), place)
    return { kind: 'items', quantifier: word, hops, item: itemIn(item), condition }
  }

  #relation(node: Comparison, hops: readonly Hop[], root: Root): Predicate {
    const isNullTest = (node.operator === 'eq' || node.operator === 'ne') && node.operands[0]?.isNull
    if (!isNullTest) throw this.#fault(node, 'a relation can only be compared with null, by "=" or "!="')
    this.#context.tally.path(root, hops, this.#place(node))
    return { kind: 'absent', hops, negated: node.operator === 'ne' }
  }

  #collection(node: Comparison, to: Collection, root: Root): Predicate | null {
    const { word, rest } = to
    if (word === 'count') return rest === null ? this.#count(node, to, root, null, node) : this.#unknown(node)
    if (rest === null) return this.#unknown(node)
    const condition = this.#comparison(node, rest, to.element)
    return condition === null ? null : this.#some(word ?? 'any', node, to, root, condition)
  }

  #quantified(node: Quantified, root: Root): Predicate | null {
    const to = follow(this.#context, root, node.path, this.#place(node))
    if (to.kind === 'field' && this.#isArray(to)) {
      const [name] = node.path.segments.slice(-1)
      throw this.#fault(node, `an array has no conditions in parentheses; write ${echoed(String(name))}.Any=value`)
    }
    if (to.kind !== 'collection') return this.#unknown(node)
    if (to.word !== null || to.rest !== null) return this.#through(node, to, root)
    const condition = this.plan(node.condition, to.element)
    if (condition === null) return null
    if (node.count === null) return this.#some(node.quantifier, node, to, root, condition)
    return this.#count(node, to, root, condition, node.count)
  }

  /** Whether a path ends at an array whose items the caller may query. */
  #isArray({ field, reach }: Extract<Destination, { kind: 'field' }>): boolean {
    return field.item !== undefined && field.filterable && this.#context.view.readable(field, reach)
  }

  /** Plans a quantifier on a collection behind another collection: `Teams.Players.Any(...)`. */
  #through(node: Quantified, to: Collection, root: Root): Predicate | null {
    const { word, rest } = to
    if (word === 'count' || rest === null) return this.#unknown(node)
    const condition = this.#quantified({ ...node, path: rest }, to.element)
    return condition === null ? null : this.#some(word ?? 'any', node, to, root, condition)
  }

  #some(
    quantifier: Quantifier,
    node: Comparison | Quantified,
    { hops, hop }: Collection,
    root: Root,
    condition: Predicate,
  ): Predicate {
    if (quantifier === 'count') throw new TypeError('a count is no quantified predicate')
    this.#context.tally.collection(root, hops, hop, this.#place(node))
    return { kind: 'quantified', quantifier, hops, hop, condition }
  }

  #count(
    node: Comparison | Quantified,
    { hops, hop }: Collection,
    root: Root,
    condition: Predicate | null,
    { operator, operands }: Pick<Comparison, 'operator' | 'operands'>,
  ): Predicate {
    const numbers = this.#numbers(node, { operator, operands })
    this.#context.tally.collection(root, hops, hop, this.#place(node))
    return { kind: 'count', hops, hop, condition, ...numbers }
  }

  /** Values for a comparison with the number of elements or items. */
  #numbers(
    node: Comparison | Quantified,
    { operator, operands }: Pick<Comparison, 'operator' | 'operands'>,
  ): Pick<CountPredicate, 'operator' | 'values' | 'negated'> {
    const { text, token, positive, negated } = operatorInfo(operator)
    if (text) throw this.#fault(node, `the operator "${token}" cannot be used with a number of elements`)
    const values = operands.map(({ text: digits }) => {
      const number = /^[+-]?\d+$/.test(digits) ? Number(digits) : Number.NaN
      if (Number.isNaN(number)) throw this.#fault(node, `"${echoed(digits)}" is not a whole number`)
      // Collections are never that large, and not every database accepts larger numbers.
      return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number))
    })
    return { operator: positive, values, negated }
  }

  #fault({ path, offset }: Comparison | Quantified, message: string): Error {
    return invalidQuery(this.#parameter, `${echoed(path.segments.join('.'))} at position ${offset}: ${message}.`)
  }
}
