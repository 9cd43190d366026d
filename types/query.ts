import type { DateUnit, MeasureName } from '../lib/language/measures.js'
import type { OperatorName } from '../lib/language/operators.js'

/**
 * What the client wrote in `filter`, `sort` and `select`: syntax only. Names are not looked up and values are
 * still text. Every `offset` is a 0-based UTF-16 offset into the decoded parameter.
 */

/** The comparison operators by name; `lib/language/operators.ts` has their tokens. */
export type Operator = OperatorName

export type Quantifier = 'any' | 'all' | 'none' | 'count'

/** `Team.Players.Count` is three segments, spelled as the client spelled them. */
export interface Path {
  readonly segments: readonly string[]
  readonly offset: number
}

/** One value of a clause, unescaped and trimmed. `isNull` is true for the bare, unescaped word `null`. */
export interface Operand {
  readonly text: string
  readonly isNull: boolean
  readonly offset: number
}

/** `Level>25`. `in` and `notIn` have one operand or more, none only in conditions of hosts; every other operator has exactly one. */
export interface Comparison<P = Path> {
  readonly kind: 'comparison'
  readonly path: P
  readonly operator: Operator
  readonly operands: readonly Operand[]
  readonly ignoreCase: boolean
  readonly offset: number
}

/**
 * `Players.Any(Level>50,Name^A)`. The path is the collection's, without the quantifier word. `count` has a
 * comparison behind the group: `Players.Count(Level>50)>=2`.
 */
export interface Quantified<P = Path> {
  readonly kind: 'quantified'
  readonly path: P
  readonly quantifier: Quantifier
  readonly condition: FilterNode<P>
  readonly count: { readonly operator: Operator; readonly operands: readonly Operand[] } | null
  readonly offset: number
}

/** `and` and `or` are n-ary: `a=1,b=2,c=3` is one node with three children. A node never has fewer than two. */
export interface Junction<P = Path, K extends 'and' | 'or' = 'and' | 'or'> {
  readonly kind: K
  readonly nodes: readonly FilterNode<P>[]
  readonly offset: number
}

/** `P` is what its comparisons compare: paths, or measures in `having`. */
export type FilterNode<P = Path> = Comparison<P> | Quantified<P> | Junction<P, 'and'> | Junction<P, 'or'>

/** `avg(Level)`; without a path `count`. */
export interface MeasureNode {
  readonly measure: MeasureName
  readonly path: Path | null
  readonly offset: number
}

/** `Team.Name`, or a part of a date: `month(CreatedAt)`. */
export interface GroupNode {
  readonly unit: DateUnit | null
  readonly path: Path
  readonly offset: number
}

/** A key of a sort of groups: `avg(Level)`, `month(CreatedAt)`, `Team.Name`; `word` is what stands before the parenthesis. */
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

/** A path of `select`, whose last segment is `*` for every field, or a group of members behind it. */
export interface SelectNode {
  readonly path: Path
  readonly members: readonly SelectNode[] | null
}

export type Direction = 'asc' | 'desc'
