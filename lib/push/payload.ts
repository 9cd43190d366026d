import type { JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, Predicate, Projection } from '../../types/plan.js'
import type { Change } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import { indexOfOwnColumn, readOwnValue } from '../common/columns.js'
import { addCondition } from '../common/predicates.js'
import { matchRecord, readRecordFor } from '../read.js'
import { combineConditions } from './conditionRooms.js'
import { createSubscriberView, planSubscriptionScope, type Subscription } from './subscription.js'

/** Wire value of the record's own attribute, or undefined if the change does not contain it. */
export function readChangeValue({ columns, row }: Change, attribute: string): JsonValue | undefined {
  return row === null ? undefined : readOwnValue(columns, row, attribute)
}

/**
 * The record as GET would show it to the subscribers, frozen. Returns null if they may not see it. With conditions, the
 * record and the conditions are read in one statement.
 */
export async function buildPayload(
  resource: Resource,
  subscription: Subscription,
  change: Change,
  conditions: readonly Predicate[],
): Promise<JsonValue | null> {
  const within = combineConditions(conditions)
  const valueFor = (attribute: string): JsonValue | undefined => readChangeValue(change, attribute)
  const record = await readRecordFor(
    resource,
    subscription.shape,
    createSubscriberView(resource, subscription, valueFor),
    {
      // Another write may have changed the record since. Rooms by condition get the record as it is now.
      readKnown: (projection) => (within === null ? projectChange(change, projection) : null),
      condition: () => {
        // The record may have left the scope that chose the subscribers.
        const limits = planSubscriptionScope(resource, subscription, valueFor)
        return limits === false ? false : addCondition(addCondition(matchRecord(resource, change.key), limits), within)
      },
    },
  )
  return freezeDeep(record)
}

const columnPositions = new WeakMap<readonly Column[], WeakMap<Projection, readonly number[]>>()

/** The projection's values from the change, or null if the change lacks one. */
function projectChange({ columns, row }: Change, projection: Projection): Row | null {
  if (row === null) return null
  const known = columnPositions.get(columns) ?? new WeakMap<Projection, readonly number[]>()
  columnPositions.set(columns, known)
  const places = known.get(projection) ?? findColumnPositions(columns, projection)
  known.set(projection, places)
  return places.includes(-1) ? null : places.map((place) => row[place])
}

/** Flattened columns depend on the subscriber, so they are never taken from the change. */
function findColumnPositions(columns: readonly Column[], projection: Projection): readonly number[] {
  return projection.columns.map(({ joins, field }) => (joins.length > 0 ? -1 : indexOfOwnColumn(columns, field.name)))
}

function freezeDeep(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freezeDeep(member)
  return Object.freeze(value)
}
