import type { CursorPosition, KeysetPredicate, OrderKey, PlainValue, Predicate, SeekPlan } from '../../types/plan.js'
import { addCondition } from '../common/predicates.js'

/** Condition and order of a partition of the rows after a cursor. */
export interface NullPartition {
  readonly where: Predicate | null
  readonly order: readonly OrderKey[]
}

type Traversal = Pick<SeekPlan, 'where' | 'order' | 'isBackward' | 'position'>

/** Returns the sort order, reversed for a backward page. */
export function traversalOrderOf({ order, isBackward }: Traversal): readonly OrderKey[] {
  return isBackward
    ? order.map(({ column, direction }) => ({ column, direction: direction === 'asc' ? 'desc' : 'asc' }))
    : order
}

/** Builds one condition for all rows after the cursor. */
export function buildKeysetPredicate(walk: Traversal): Predicate | null {
  return walk.position === null
    ? walk.where
    : addCondition(walk.where, createKeysetPredicate(traversalOrderOf(walk), walk.position))
}

/**
 * Splits the rows after the cursor into partitions that are read one after the other. Nulls of a nullable first sort
 * key are a partition. An index serves each partition, but not the condition "less than x, or null".
 */
export function partitionByNulls(walk: Traversal): readonly NullPartition[] {
  const { where, position } = walk
  const order = traversalOrderOf(walk)
  const [first, ...others] = order
  if (position === null || first === undefined) return [{ where, order }]
  const { column, direction } = first
  if (!column.nullable) return [{ where: addCondition(where, createKeysetPredicate(order, position)), order }]
  const nonNullKey: OrderKey = { column: { ...column, nullable: false }, direction }
  const [value, ...further] = position.values
  const createNullsPartition = (behind: Predicate | null): NullPartition => ({
    where: addCondition(addCondition(where, { kind: 'null', column, negated: false }), behind),
    order: others,
  })
  const within: CursorPosition = { ...position, values: further }
  if (value === null) {
    const rest = createNullsPartition(createKeysetPredicate(others, within))
    if (direction === 'desc') return [rest]
    return [
      rest,
      { where: addCondition(where, { kind: 'null', column, negated: true }), order: [nonNullKey, ...others] },
    ]
  }
  const valued: NullPartition = {
    where: addCondition(where, createKeysetPredicate([nonNullKey, ...others], position)),
    order: [nonNullKey, ...others],
  }
  return direction === 'asc' ? [valued] : [valued, createNullsPartition(null)]
}

function createKeysetPredicate(order: readonly OrderKey[], { values, inclusive }: CursorPosition): KeysetPredicate {
  const nonNull = values.filter((value): value is Exclude<typeof value, null> => value !== null)
  const keys = order.map(({ column, direction }, index) => ({
    column,
    direction,
    isNull: (values[index] ?? null) === null,
  }))
  return { kind: 'keyset', keys, inclusive, values: nonNull satisfies readonly PlainValue[] }
}
