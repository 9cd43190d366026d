import type { JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, Predicate, Projection } from '../../types/plan.js'
import type { Change } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import { ownValue, placeOfOwn } from '../common/columns.js'
import { both } from '../common/predicates.js'
import { recordFor, recordWith } from '../read.js'
import { allOf } from './conditions.js'
import { confinedTo, type Subscription, viewOn } from './subscription.js'

/** Wire value of the record's own attribute, or undefined if the change does not contain it. */
export function valueIn({ columns, row }: Change, attribute: string): JsonValue | undefined {
  return row === null ? undefined : ownValue(columns, row, attribute)
}

/**
 * The record as GET would show it to the subscribers, frozen. Returns null if they may not see it. With conditions, the
 * record and the conditions are read in one statement.
 */
export async function payloadOf(
  resource: Resource,
  subscription: Subscription,
  change: Change,
  conditions: readonly Predicate[],
): Promise<JsonValue | null> {
  const within = allOf(conditions)
  const valueFor = (attribute: string): JsonValue | undefined => valueIn(change, attribute)
  const record = await recordFor(resource, subscription.shape, viewOn(resource, subscription, valueFor), {
    // Another write may have changed the record since. Rooms by condition get the record as it is now.
    known: (projection) => (within === null ? rowIn(change, projection) : null),
    where: () => {
      // The record may have left the scope that chose the subscribers.
      const limits = confinedTo(resource, subscription, valueFor)
      return limits === false ? false : both(both(recordWith(resource, change.key), limits), within)
    },
  })
  return frozen(record)
}

const indexes = new WeakMap<readonly Column[], WeakMap<Projection, readonly number[]>>()

/** The projection's values from the change, or null if the change lacks one. */
function rowIn({ columns, row }: Change, projection: Projection): Row | null {
  if (row === null) return null
  const known = indexes.get(columns) ?? new WeakMap<Projection, readonly number[]>()
  indexes.set(columns, known)
  const places = known.get(projection) ?? placesIn(columns, projection)
  known.set(projection, places)
  return places.includes(-1) ? null : places.map((place) => row[place])
}

/** Flattened columns depend on the subscriber, so they are never taken from the change. */
function placesIn(columns: readonly Column[], projection: Projection): readonly number[] {
  return projection.columns.map(({ hops, field }) => (hops.length > 0 ? -1 : placeOfOwn(columns, field.name)))
}

function frozen(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}
