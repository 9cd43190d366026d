import type { BeyondPredicate, Bookmark, OrderKey, PlainValue, Predicate, SeekPlan } from '../../types/plan.js'
import { both } from '../common/predicates.js'

/** A partition of the rows after a cursor, with its own order. */
export interface Segment {
  readonly where: Predicate | null
  readonly order: readonly OrderKey[]
}

type Walk = Pick<SeekPlan, 'where' | 'order' | 'back' | 'from'>

/** The order in the direction of the walk. */
export function walked({ order, back }: Walk): readonly OrderKey[] {
  return back
    ? order.map(({ column, direction }) => ({ column, direction: direction === 'asc' ? 'desc' : 'asc' }))
    : order
}

/** All rows after the cursor of a walk, as one condition. */
export function allBehind(walk: Walk): Predicate | null {
  return walk.from === null ? walk.where : both(walk.where, beyond(walked(walk), walk.from))
}

/**
 * The rows after the cursor, in partitions to be read one after the other. If the first sort key is nullable, its nulls
 * are a partition: an index serves each partition, but not "less than x, or null".
 */
export function segmentsOf(walk: Walk): readonly Segment[] {
  const { where, from } = walk
  const order = walked(walk)
  const [first, ...others] = order
  if (from === null || first === undefined) return [{ where, order }]
  const { column, direction } = first
  if (!column.nullable) return [{ where: both(where, beyond(order, from)), order }]
  const held: OrderKey = { column: { ...column, nullable: false }, direction }
  const [value, ...further] = from.values
  const nulls = (behind: Predicate | null): Segment => ({
    where: both(both(where, { kind: 'null', column, negated: false }), behind),
    order: others,
  })
  const within: Bookmark = { ...from, values: further }
  if (value === null) {
    const rest = nulls(beyond(others, within))
    if (direction === 'desc') return [rest]
    return [rest, { where: both(where, { kind: 'null', column, negated: true }), order: [held, ...others] }]
  }
  const valued: Segment = { where: both(where, beyond([held, ...others], from)), order: [held, ...others] }
  return direction === 'asc' ? [valued] : [valued, nulls(null)]
}

function beyond(order: readonly OrderKey[], { values, inclusive }: Bookmark): BeyondPredicate {
  const held = values.filter((value): value is Exclude<typeof value, null> => value !== null)
  const keys = order.map(({ column, direction }, index) => ({
    column,
    direction,
    isNull: (values[index] ?? null) === null,
  }))
  return { kind: 'beyond', keys, inclusive, values: held satisfies readonly PlainValue[] }
}
