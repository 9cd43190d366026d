import type { DateUnit, MeasureName } from '../lib/language/measures.js'
import type { OperatorName } from '../lib/language/operators.js'

/**
 * The syntax trees of `filter`, `sort` and `select`. Names are not resolved, and values are text. Every `offset` is a
 * 0-based UTF-16 offset in the decoded parameter.
 */

/** The comparison operators by name. Their tokens are in `lib/language/operators.ts`. */
export type Operator = OperatorName

export type Quantifier = 'any' | 'all' | 'none' | 'count'

/** A path as spelled in the request. `Team.Players.Count` has three segments. */
export interface Path {
  readonly segments: readonly string[]
  readonly offset: number
}

/** A value of a comparison, unescaped and trimmed. `isNull` is true for the unescaped word `null`. */
export interface Operand {
  readonly text: string
  readonly isNull: boolean
  readonly offset: number
}

/**
 * A comparison such as `Level>25`. `in` and `notIn` have one or more operands; only conditions of hosts may have none.
 * Other operators have exactly one operand.
 */
export interface Comparison<P = Path> {
  readonly kind: 'comparison'
  readonly path: P
  readonly operator: Operator
  readonly operands: readonly Operand[]
  readonly ignoreCase: boolean
  readonly offset: number
}

/**
 * A quantifier over a collection: `Players.Any(Level>50,Name^A)`. The path leads to the collection, without the
 * quantifier word. `count` has a comparison after the group: `Players.Count(Level>50)>=2`.
 */
export interface Quantified<P = Path> {
  readonly kind: 'quantified'
  readonly path: P
  readonly quantifier: Quantifier
  readonly condition: FilterNode<P>
  readonly count: { readonly operator: Operator; readonly operands: readonly Operand[] } | null
  readonly offset: number
}

/** A conjunction or disjunction. `a=1,b=2,c=3` is one node with three children. A node has at least two children. */
export interface Junction<P = Path, K extends 'and' | 'or' = 'and' | 'or'> {
  readonly kind: K
  readonly nodes: readonly FilterNode<P>[]
  readonly offset: number
}

/** A filter. `P` is the left side of comparisons: a path, or in `having` a measure. */
export type FilterNode<P = Path> = Comparison<P> | Quantified<P> | Junction<P, 'and'> | Junction<P, 'or'>

/** A measure of groups: `avg(Level)`. Only `count` may have no path. */
export interface MeasureNode {
  readonly measure: MeasureName
  readonly path: Path | null
  readonly offset: number
}

/** A group key: `Team.Name`, or a part of a date such as `month(CreatedAt)`. */
export interface GroupNode {
  readonly unit: DateUnit | null
  readonly path: Path
  readonly offset: number
}

/** A sort key of groups: `avg(Level)`, `month(CreatedAt)`, `Team.Name`. `word` is the name before the parenthesis. */
export interface GroupSortNode {
  readonly word: string | null
  readonly path: Path
  readonly direction: Direction
  readonly offset: number
}

export type HavingNode = FilterNode<MeasureNode>

export interface SortNode {
  readonly path: Path
  readonly direction: Direction
  readonly offset: number
}

/** A path of `select`. Its last segment may be `*` (every field) or a group of members. */
export interface SelectNode {
  readonly path: Path
  readonly members: readonly SelectNode[] | null
}

export type Direction = 'asc' | 'desc'
