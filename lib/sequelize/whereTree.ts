// Where trees of Sequelize.

import { Op } from 'sequelize'
import type { ValueOperator } from '../language/operators.js'
import { textOfLiteral, type WhereFragment } from './internals.js'
import { literal } from './sql.js'

const OPERATOR_SYMBOLS: Readonly<Record<ValueOperator, readonly [positive: symbol, opposite: symbol]>> = {
  eq: [Op.eq, Op.ne],
  gt: [Op.gt, Op.lte],
  gte: [Op.gte, Op.lt],
  lt: [Op.lt, Op.gte],
  lte: [Op.lte, Op.gt],
  in: [Op.in, Op.notIn],
}

export function joinAnd(parts: readonly unknown[]): WhereFragment {
  return { [Op.and]: parts } as WhereFragment
}

export function joinOr(parts: readonly WhereFragment[]): WhereFragment {
  return { [Op.or]: [...parts] }
}

/** Joins the conditions of nodes. */
type JoinNodes = <N>(word: 'AND' | 'OR', nodes: readonly N[], write: (node: N) => WhereFragment) => WhereFragment

export const joinTrees: JoinNodes = (word, nodes, write) => {
  const parts = nodes.map(write)
  return word === 'AND' ? joinAnd(parts) : joinOr(parts)
}

/** Joins SQL texts to the text that Sequelize would write for their tree. Joins other conditions to a tree. */
export const joinTexts: JoinNodes = (word, nodes, write) => {
  const parts = nodes.map(write)
  const texts = parts.map(textOfLiteral)
  const isText = texts.length > 0 && texts.every(Boolean)
  return isText ? literal(`(${texts.join(` ${word} `)})`) : joinTrees(word, parts, (part) => part)
}

/** Wraps a condition in `Op.and`. */
export function wrapInAnd(tree: WhereFragment): WhereFragment {
  return Reflect.has(tree, Op.and) ? tree : joinAnd([tree])
}

/**
 * Writes a comparison of a column with a value, or with several values by `in`. As in SQL, a column that is null
 * matches neither a comparison nor its negation. `key` names the column as in where trees.
 */
export function compareColumn(key: string, operator: ValueOperator, value: unknown, negated: boolean): WhereFragment {
  const [positive, opposite] = OPERATOR_SYMBOLS[operator]
  return { [key]: { [negated ? opposite : positive]: value } }
}

export function compareWithNull(key: string, negated: boolean): WhereFragment {
  return { [key]: { [negated ? Op.ne : Op.eq]: null } }
}
