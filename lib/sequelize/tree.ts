// Where trees of Sequelize.

import { Op } from 'sequelize'
import type { ValueOperator } from '../language/operators.js'
import type { WhereFragment } from './internals.js'

const OPS: Readonly<Record<ValueOperator, readonly [positive: symbol, opposite: symbol]>> = {
  eq: [Op.eq, Op.ne],
  gt: [Op.gt, Op.lte],
  gte: [Op.gte, Op.lt],
  lt: [Op.lt, Op.gte],
  lte: [Op.lte, Op.gt],
  in: [Op.in, Op.notIn],
}

export function every(parts: readonly unknown[]): WhereFragment {
  return { [Op.and]: parts } as WhereFragment
}

export function some(parts: readonly WhereFragment[]): WhereFragment {
  return { [Op.or]: [...parts] }
}

/** The condition wrapped in `Op.and`. */
export function asEvery(tree: WhereFragment): WhereFragment {
  return Reflect.has(tree, Op.and) ? tree : every([tree])
}

/** Condition that compares a column with a value, or with several values by `in`. Null meets no comparison. The column is named as in where trees. */
export function compared(key: string, operator: ValueOperator, value: unknown, negated: boolean): WhereFragment {
  const [positive, opposite] = OPS[operator]
  return { [key]: { [negated ? opposite : positive]: value } }
}

export function isNull(key: string, negated: boolean): WhereFragment {
  return { [key]: { [negated ? Op.ne : Op.eq]: null } }
}
