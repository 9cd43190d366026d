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

/** Wire value of an attribute of the changed record, or undefined if the change does not contain the attribute. */
export function readChangeValue({ columns, row }: Change, attribute: string): JsonValue | undefined {
  return row === null ? undefined : readOwnValue(columns, row, attribute)
}

/**
 * Returns the frozen record as GET would show it to the subscribers, or null if the subscribers may not see the record.
 * Conditions of rooms are evaluated in the statement that reads the record.
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
      // Another write may have changed the record since this change. Rooms that a condition defines receive the current
      // record.
      readKnown: (projection) => (within === null ? projectChange(change, projection) : null),
      condition: () => {
        // The record may have left the subscribers' scope.
        const limits = planSubscriptionScope(resource, subscription, valueFor)
        return limits === false ? false : addCondition(addCondition(matchRecord(resource, change.key), limits), within)
      },
    },
  )
  return freezeDeep(record)
}

const columnPositions = new WeakMap<readonly Column[], WeakMap<Projection, readonly number[]>>()

/** Values of the projection's columns, read from the change. Returns null if the change lacks a column. */
function projectChange({ columns, row }: Change, projection: Projection): Row | null {
  if (row === null) return null
  const known = columnPositions.get(columns) ?? new WeakMap<Projection, readonly number[]>()
  columnPositions.set(columns, known)
  const positions = known.get(projection) ?? findColumnPositions(columns, projection)
  known.set(projection, positions)
  return positions.includes(-1) ? null : positions.map((place) => row[place])
}

/**
 * Positions of the projection's columns in a change. Flattened columns depend on the subscriber, so they are never read
 * from the change.
 */
function findColumnPositions(columns: readonly Column[], projection: Projection): readonly number[] {
  return projection.columns.map(({ joins, field }) => (joins.length > 0 ? -1 : indexOfOwnColumn(columns, field.name)))
}

function freezeDeep(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freezeDeep(member)
  return Object.freeze(value)
}
