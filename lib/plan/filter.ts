import type { CountPredicate, Join, Predicate } from '../../types/plan.js'
import type { Comparison, FilterNode, Path, Quantified, Quantifier } from '../../types/query.js'
import { columnOf, ownColumn } from '../common/columns.js'
import { KEY_HINT, RELATED_KEY_HINT } from '../common/hints.js'
import { internalError } from '../common/internalError.js'
import { arrayItemOf } from '../common/jsonMembers.js'
import { joinPredicates } from '../common/predicates.js'
import { invalidQuery } from '../common/problem.js'
import { truncateEcho } from '../common/truncateEcho.js'
import { type Visitors, visit } from '../common/visitor.js'
import { operatorInfoOf } from '../language/operators.js'
import { planComparison } from './comparison.js'
import { type Context, createUnknownFieldProblem, explainComputedField, suggestField } from './context.js'
import { type Destination, fieldsOfRoot, type Root, resolveForCaller } from './path.js'
import type { QueryPosition } from './queryCost.js'

type CollectionDestination = Extract<Destination, { kind: 'collection' }>
type ItemsDestination = Extract<Destination, { kind: 'items' }>

/**
 * Plans a filter for this resource and caller. Returns null if the filter names only unknown fields that are ignored.
 * @throws Problem `unknown-field` or `invalid-query`, with the clause's position
 */
export function planFilter(context: Context, node: FilterNode): Predicate | null {
  return new FilterPlanner(context).plan(node, context.root)
}

/** Whether a comparison searches text in a way that a plain index does not support. */
function isTextSearch({ operator, ignoreCase }: Pick<Comparison, 'operator' | 'ignoreCase'>): boolean {
  const { text, positive, negated } = operatorInfoOf(operator)
  return ignoreCase || (text && (negated || positive !== 'startsWith'))
}

class FilterPlanner {
  readonly #context: Context
  readonly #parameter: string

  constructor(context: Context) {
    this.#context = context
    this.#parameter = `${context.prefix}filter`
  }

  #positionOf({ offset }: FilterNode): QueryPosition {
    return { parameter: this.#parameter, offset }
  }

  plan(node: FilterNode, root: Root): Predicate | null {
    return visit(FilterPlanner.#planners, node, this, root)
  }

  static readonly #planners: Visitors<FilterNode, [self: FilterPlanner, root: Root], Predicate | null> = {
    and: ({ nodes }, self, root) =>
      joinPredicates(
        'and',
        nodes.map((node) => self.plan(node, root)),
      ),
    or: ({ nodes }, self, root) =>
      joinPredicates(
        'or',
        nodes.map((node) => self.plan(node, root)),
      ),
    comparison: (node, self, root) => self.#planComparison(node, node.path, root),
    quantified: (node, self, root) => self.#planQuantified(node, root),
  }

  /**
   * Plans a comparison with the field or collection at the end of a path. `path` may be the part of a path behind a
   * collection.
   */
  #planComparison(node: Comparison, path: Path, root: Root): Predicate | null {
    const to = resolveForCaller(this.#context, root, path, this.#positionOf(node))
    switch (to.kind) {
      case 'field':
        return this.#planField(node, to, root)
      case 'unknown':
        return this.#handleUnknown(node, to)
      case 'every':
        return this.#handleUnknown(node)
      case 'relation':
        return this.#planRelation(node, to.joins, root)
      case 'collection':
        return this.#planCollection(node, to, root)
      case 'items':
        return this.#planItems(node, to, root)
    }
  }

  /**
   * Returns null if unknown fields are ignored. With `to`, the error contains a hint for the last name of the path.
   * @throws Problem `unknown-field`
   */
  #handleUnknown({ path: { segments }, offset }: Comparison | Quantified, to?: Destination): null {
    if (this.#context.unknownFields === 'ignore') return null
    const hint = to === undefined ? '' : this.#suggest(to, segments)
    throw createUnknownFieldProblem(this.#parameter, segments.join('.'), offset, hint)
  }

  #suggest(to: Destination, written: readonly string[]): string {
    const name = written.at(-1)?.toLowerCase()
    const access = to.lastRoot?.access ?? null
    const key =
      to.lastRoot === null
        ? undefined
        : fieldsOfRoot(to.lastRoot).find((each) => each.isKey && each.json.toLowerCase() === name)
    if (key?.targets.has(access === null ? 'response' : 'list') && this.#context.view.readable(key, access)) {
      return access === null ? KEY_HINT : RELATED_KEY_HINT
    }
    return (
      explainComputedField(this.#context, to) ||
      suggestField(this.#context, to, written, ({ filterable }) => filterable, { hasItemWords: true })
    )
  }

  #planField(node: Comparison, to: Extract<Destination, { kind: 'field' }>, root: Root): Predicate | null {
    const { joins, field, access } = to
    if (!field.filterable || !this.#context.view.readable(field, access)) return this.#handleUnknown(node, to)
    // A relation before the field may have no record.
    const isNullable =
      field.nullable || joins.some(({ relation, condition }) => condition !== null || relation.optional)
    const predicate = planComparison(node, columnOf(joins, field), isNullable, (message) =>
      this.#createProblem(node, message),
    )
    const position = this.#positionOf(node)
    this.#context.queryCost.addPath(root, joins, position)
    this.#context.queryCost.addComparison(root, isTextSearch(node), position)
    return predicate
  }

  /** Plans a comparison with the items of an array, or with the number of items. */
  #planItems(node: Comparison, to: ItemsDestination, root: Root): Predicate | null {
    const { joins, field, item, access, word } = to
    if (!field.filterable || !this.#context.view.readable(field, access)) return this.#handleUnknown(node)
    const fault = (message: string): Error => this.#createProblem(node, message)
    const position = this.#positionOf(node)
    this.#context.queryCost.addItems(root, joins, position)
    if (word === 'count') return { kind: 'itemCount', joins, item: arrayItemOf(item), ...this.#readNumbers(node, node) }
    const condition = planComparison(node, ownColumn(item), true, fault)
    this.#context.queryCost.addComparison({ ...root, collections: root.collections + 1 }, isTextSearch(node), position)
    return { kind: 'items', quantifier: word, joins, item: arrayItemOf(item), condition }
  }

  #planRelation(node: Comparison, joins: readonly Join[], root: Root): Predicate {
    const isNullTest = (node.operator === 'eq' || node.operator === 'ne') && node.operands[0]?.isNull
    if (!isNullTest) throw this.#createProblem(node, 'a relation can only be compared with null, by "=" or "!="')
    this.#context.queryCost.addPath(root, joins, this.#positionOf(node))
    return { kind: 'absent', joins, negated: node.operator === 'ne' }
  }

  #planCollection(node: Comparison, to: CollectionDestination, root: Root): Predicate | null {
    const { word, rest } = to
    if (word === 'count') return rest === null ? this.#planCount(node, to, root, null, node) : this.#handleUnknown(node)
    if (rest === null) return this.#handleUnknown(node)
    const condition = this.#planComparison(node, rest, to.element)
    return condition === null ? null : this.#planQuantifier(word ?? 'any', node, to, root, condition)
  }

  #planQuantified(node: Quantified, root: Root): Predicate | null {
    const to = resolveForCaller(this.#context, root, node.path, this.#positionOf(node))
    if (to.kind === 'field' && this.#isQueryableArray(to)) {
      const [name] = node.path.segments.slice(-1)
      throw this.#createProblem(
        node,
        `an array has no conditions in parentheses; write ${truncateEcho(String(name))}.Any=value`,
      )
    }
    if (to.kind !== 'collection') return this.#handleUnknown(node)
    if (to.word !== null || to.rest !== null) return this.#planNestedCollection(node, to, root)
    const condition = this.plan(node.condition, to.element)
    if (condition === null) return null
    if (node.count === null) return this.#planQuantifier(node.quantifier, node, to, root, condition)
    return this.#planCount(node, to, root, condition, node.count)
  }

  /** Whether a path ends at an array whose items the caller may query. */
  #isQueryableArray({ field, access }: Extract<Destination, { kind: 'field' }>): boolean {
    return field.item !== undefined && field.filterable && this.#context.view.readable(field, access)
  }

  /** Plans a quantifier on a collection behind another collection: `Teams.Players.Any(...)`. */
  #planNestedCollection(node: Quantified, to: CollectionDestination, root: Root): Predicate | null {
    const { word, rest } = to
    if (word === 'count' || rest === null) return this.#handleUnknown(node)
    const condition = this.#planQuantified({ ...node, path: rest }, to.element)
    return condition === null ? null : this.#planQuantifier(word ?? 'any', node, to, root, condition)
  }

  #planQuantifier(
    quantifier: Quantifier,
    node: Comparison | Quantified,
    { joins, join }: CollectionDestination,
    root: Root,
    condition: Predicate,
  ): Predicate {
    if (quantifier === 'count') throw internalError('a condition with Count was resolved like a condition with Any')
    this.#context.queryCost.addCollection(root, joins, join, this.#positionOf(node))
    return { kind: 'quantified', quantifier, joins, join, condition }
  }

  #planCount(
    node: Comparison | Quantified,
    { joins, join }: CollectionDestination,
    root: Root,
    condition: Predicate | null,
    { operator, operands }: Pick<Comparison, 'operator' | 'operands'>,
  ): Predicate {
    const numbers = this.#readNumbers(node, { operator, operands })
    this.#context.queryCost.addCollection(root, joins, join, this.#positionOf(node))
    return { kind: 'count', joins, join, condition, ...numbers }
  }

  /** Parses the values of a comparison with the number of elements or items. */
  #readNumbers(
    node: Comparison | Quantified,
    { operator, operands }: Pick<Comparison, 'operator' | 'operands'>,
  ): Pick<CountPredicate, 'operator' | 'values' | 'negated'> {
    const { text, token, positive, negated } = operatorInfoOf(operator)
    if (text) throw this.#createProblem(node, `the operator "${token}" cannot be used with a number of elements`)
    const values = operands.map(({ text: digits }) => {
      const number = /^[+-]?\d+$/.test(digits) ? Number(digits) : Number.NaN
      if (Number.isNaN(number)) throw this.#createProblem(node, `"${truncateEcho(digits)}" is not a whole number`)
      // No collection is as large as MAX_SAFE_INTEGER, and not every database accepts larger numbers.
      return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number))
    })
    return { operator: positive, values, negated }
  }

  #createProblem({ path, offset }: Comparison | Quantified, message: string): Error {
    return invalidQuery(this.#parameter, `${truncateEcho(path.segments.join('.'))} at position ${offset}: ${message}.`)
  }
}
