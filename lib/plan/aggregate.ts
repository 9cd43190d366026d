import type { Field } from '../../types/field.js'
import type { Aggregation, ListIntent } from '../../types/intent.js'
import type { AggregatePlan, Column, Join, Member, OrderKey, Predicate } from '../../types/plan.js'
import type { GroupNode, GroupSortNode, HavingNode, MeasureNode, Path } from '../../types/query.js'
import { nounForAll } from '../codec/codecs.js'
import { columnOf, optionalField, ownColumn } from '../common/columns.js'
import { internalError } from '../common/internalError.js'
import { isArrayField, jsonMemberOf } from '../common/jsonMembers.js'
import { joinPredicates } from '../common/predicates.js'
import { invalidQuery } from '../common/problem.js'
import { truncateEcho } from '../common/truncateEcho.js'
import { type Visitors, visit } from '../common/visitor.js'
import { didYouMean } from '../config/suggest.js'
import { findUnit } from '../language/measures.js'
import { planComparison } from './comparison.js'
import {
  type Context,
  createUnknownFieldProblem,
  explainComputedField,
  MAX_GUESSED_LENGTH,
  suggestField,
} from './context.js'
import { flattenedAliasesOf } from './flatten.js'
import { resolveForCaller } from './path.js'

type Aggregated = Pick<AggregatePlan, 'groups' | 'having' | 'order' | 'projection'>

/**
 * Plans the groups, measures, `having` and order of an aggregate.
 * @throws Problem for unknown names, fields and invalid values
 */
export function planAggregate(context: Context, { aggregation }: Pick<ListIntent, 'aggregation'>): Aggregated {
  if (aggregation === null) throw internalError('an aggregate request has neither measures nor groups')
  return new AggregatePlanner(context).plan(aggregation)
}

class AggregatePlanner {
  readonly #context: Context
  readonly #columns: Column[] = []
  /** Groups and measures of the request, by the lower-case names of their paths, which `sort` refers to. */
  readonly #requested = new Map<string, { readonly name: string; readonly column: Column }>()

  constructor(context: Context) {
    this.#context = context
  }

  plan({ measures, groups, having, sort }: Aggregation): Aggregated {
    const tree = new MemberTree()
    for (const node of groups) this.#addGroup(node, tree)
    const grouped = [...this.#columns]
    for (const node of measures) this.#addMeasure(node, tree)
    const members: readonly Member[] = tree.members()
    const order = sort.flatMap((node) => this.#resolveSortKey(node))
    const remaining = grouped.filter((column) => !order.some((key) => key.column === column))
    return {
      groups: grouped.length,
      having: having === null ? null : visit(HAVING_PLANNERS, having, this),
      // All group columns are appended to the order, so that the order is total and pages never overlap.
      order: [...order, ...remaining.map((column): OrderKey => ({ column, direction: 'asc' }))],
      projection: { columns: this.#columns, members, readableColumns: new Set(this.#columns.keys()) },
    }
  }

  #addGroup(node: GroupNode, tree: MemberTree): void {
    const derivedOf = (field: Field): Field | null => (node.unit === null ? field : (field.derive?.(node.unit) ?? null))
    const isUsable = (field: Field): boolean =>
      derivedOf(field) !== null && !field.getter && !isArrayField(field) && field.operators.has('eq')
    const to = this.#resolveField('group', node.path, isUsable)
    if (to === null) return
    const { joins, field } = to
    const derived = derivedOf(field)
    if (derived === null || !isUsable(field)) {
      const how = node.unit === null ? 'records cannot be grouped by' : `${node.unit}() cannot be used with`
      throw this.#createProblem('group', node, `${how} ${this.#kindOf(field)}`)
    }
    const column = columnOf(joins, derived)
    const own = [field.json, ...(jsonMemberOf(field)?.path ?? [])]
    const last = node.unit === null ? own : [...own, node.unit]
    this.#add(column, node.unit, node.path)
    const path = ['group', ...joins.map(({ relation }) => relation.json), ...last]
    if (tree.add(path, this.#columns.length - 1, derived)) return
    throw this.#createProblem('group', node, 'the parameter "group" contains it twice')
  }

  #addMeasure(node: MeasureNode, tree: MemberTree): void {
    const column = this.#resolveMeasure('aggregate', node)
    if (column === null) return
    this.#add(column, node.measure, node.path)
    const { path } = node
    const names = path === null ? [] : [...column.joins.map(({ relation }) => relation.json), column.field.json]
    const member = node.measure === 'count' && path !== null ? 'counts' : node.measure
    if (tree.add([member, ...names], this.#columns.length - 1, column.field)) return
    throw this.#createProblem('aggregate', node, 'the parameter "aggregate" contains it twice')
  }

  /**
   * Returns the column of a measure, which may occur only in `sort` or `having`. Returns null for an unknown field if
   * unknown fields are ignored.
   */
  #resolveMeasure(parameter: string, node: MeasureNode): Column | null {
    const { measure, path } = node
    if (path === null) {
      const rows = this.#context.root.resource.key.derive?.('rows')
      if (rows === null || rows === undefined)
        throw internalError('the records of the resource cannot be counted by their key')
      return ownColumn(rows)
    }
    const to = this.#resolveField(parameter, path, (field) => (field.derive?.(measure) ?? null) !== null)
    if (to === null) return null
    const derived = to.field.derive?.(measure) ?? null
    if (derived === null)
      throw this.#createProblem(parameter, node, `${measure}() cannot be used with ${this.#kindOf(to.field)}`)
    // A count over no records is 0, not null.
    return { joins: to.joins, field: derived, nullable: derived.nullable }
  }

  /** Resolves a path to a field that the caller may read in lists and filter by. Errors suggest usable fields. */
  #resolveField(
    parameter: string,
    path: Path,
    isUsable: (field: Field) => boolean,
  ): { readonly field: Field; readonly joins: readonly Join[] } | null {
    const { root, view, queryCost, unknownFields } = this.#context
    const place = { parameter, offset: path.offset }
    const to = resolveForCaller(this.#context, root, path, place)
    const isOpen = (field: Field): boolean => field.filterable && field.targets.has('list')
    if (to.kind === 'field' && isOpen(to.field) && view.readable(to.field, to.access)) {
      queryCost.addPath(root, to.joins, place)
      return to
    }
    if (unknownFields === 'ignore') return null
    const isCandidate = (field: Field): boolean => isOpen(field) && isUsable(field)
    const hint = explainComputedField(this.#context, to) || suggestField(this.#context, to, path.segments, isCandidate)
    throw createUnknownFieldProblem(parameter, path.segments.join('.'), path.offset, hint)
  }

  #add(column: Column, word: string | null, path: Path | null): void {
    this.#columns.push(column)
    const name = measureNameOf(word, path)
    this.#requested.set(measureNameOf(word, this.#unflatten(path)).toLowerCase(), { name, column })
  }

  /** Returns the path for which a flattened name stands: `team.name` for `teamName`. Returns other paths unchanged. */
  #unflatten(path: Pick<Path, 'segments'> | null): Pick<Path, 'segments'> | null {
    const [name = '', ...others] = path?.segments ?? []
    const { resource, access } = this.#context.root
    if (access !== null || others.length > 0) return path
    const alias = flattenedAliasesOf(resource).get(name.toLowerCase())
    return alias === undefined
      ? path
      : { segments: [...alias.steps.map(({ relation }) => relation.json), alias.field.json] }
  }

  /** Plans a sort key. Only groups and measures of the request can be sort keys, even if a field has the name. */
  #resolveSortKey({ word, path, direction, offset }: GroupSortNode): OrderKey[] {
    const bare = word === null && path.segments.length === 1 ? path.segments[0]?.toLowerCase() : undefined
    const name = measureNameOf(word, path)
    const key = measureNameOf(word, this.#unflatten(path)).toLowerCase()
    const requested = (bare === 'count' ? this.#requested.get('count') : undefined) ?? this.#requested.get(key)
    if (requested !== undefined) return [{ column: requested.column, direction }]
    if (this.#context.unknownFields === 'ignore') return []
    const text = path.segments.join('.')
    const written = word === null ? text : `${word}(${text})`
    const hint = written.length > MAX_GUESSED_LENGTH ? '' : didYouMean(name, this.#similarNames(name))
    const message = `"${truncateEcho(written)}" at position ${offset} is neither a group nor a measure of this request.${hint}`
    throw invalidQuery('sort', message)
  }

  /** Returns the names of the request's measures with an equal function. Other measures are never suggested. */
  #similarNames(name: string): readonly string[] {
    const wordOf = (each: string): string => each.slice(0, each.indexOf('(') + 1)
    return [...this.#requested.values()].map((each) => each.name).filter((each) => wordOf(each) === wordOf(name))
  }

  planHaving(node: Extract<HavingNode, { kind: 'comparison' }>): Predicate | null {
    const column = this.#resolveMeasure('having', node.path)
    if (column === null) return null
    return planComparison(node, column, column.nullable, (message) => this.#createProblem('having', node.path, message))
  }

  #createProblem(parameter: string, node: MeasureNode | GroupNode, message: string): Error {
    const word = 'measure' in node ? node.measure : node.unit
    const path = node.path?.segments.join('.')
    const name = word === null ? path : path === undefined ? word : `${word}(${path})`
    return invalidQuery(parameter, `${truncateEcho(String(name))} at position ${node.offset}: ${message}.`)
  }

  #kindOf(field: Field): string {
    const { getter, derived, valueType } = field
    if (derived !== undefined) return isArrayField(field) ? 'arrays in JSON' : 'members of JSON'
    return getter ? 'computed fields' : nounForAll(valueType)
  }
}

const HAVING_PLANNERS: Visitors<HavingNode, [self: AggregatePlanner], Predicate | null> = {
  and: ({ nodes }, self) => planJunction('and', nodes, self),
  or: ({ nodes }, self) => planJunction('or', nodes, self),
  comparison: (node, self) => self.planHaving(node),
  quantified: () => {
    throw internalError('the parameter "having" contains Any, All or None')
  },
}

function planJunction(kind: 'and' | 'or', nodes: readonly HavingNode[], self: AggregatePlanner): Predicate | null {
  return joinPredicates(
    kind,
    nodes.map((node) => visit(HAVING_PLANNERS, node, self)),
  )
}

/** Returns the name of a measure or group, such as `avg(level)` or `team.name`. */
function measureNameOf(word: string | null, path: Pick<Path, 'segments'> | null): string {
  const text = path?.segments.join('.')
  if (word === null) return text ?? ''
  return text === undefined ? word : `${(findUnit(word) ?? word).toLowerCase()}(${text})`
}

/** Builds nested members from columns and their paths. */
class MemberTree {
  readonly #nodes = new Map<string, MemberTree | Member>()

  /** Adds the value of a column at a path. Returns false if another value occupies part of the path. */
  add([name = '', ...rest]: readonly string[], index: number, field: Field): boolean {
    const known = this.#nodes.get(name)
    if (rest.length === 0) {
      if (known === undefined) this.#nodes.set(name, { kind: 'value', json: name, index, field: optionalField(field) })
      return known === undefined
    }
    const tree = known ?? new MemberTree()
    if (!(tree instanceof MemberTree)) return false
    this.#nodes.set(name, tree)
    return tree.add(rest, index, field)
  }

  members(): Member[] {
    return [...this.#nodes].map(([json, node]) =>
      node instanceof MemberTree ? { kind: 'object', json, members: node.members() } : node,
    )
  }
}
