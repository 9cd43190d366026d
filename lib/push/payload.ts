import type { JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, Projection } from '../../types/plan.js'
import type { ReadChange } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import { ownValue, placeOfOwn } from '../common/columns.js'
import { both } from '../common/predicates.js'
import { recordFor, recordWith } from '../read.js'
import { confinedTo, type Subscription, viewOn } from './subscription.js'

/** The value of a record's own attribute on the wire; undefined where the change does not know it. */
export function valueIn({ columns, row }: ReadChange, attribute: string): JsonValue | undefined {
  return ownValue(columns, row, attribute)
}

/** The record as a GET would show it to the subscribers, frozen; null where it would show none. */
export async function payloadOf(
  resource: Resource,
  subscription: Subscription,
  change: ReadChange,
): Promise<JsonValue | null> {
  const valueFor = (attribute: string): JsonValue | undefined => valueIn(change, attribute)
  const record = await recordFor(resource, subscription.shape, viewOn(resource, subscription, valueFor), {
    known: (projection) => rowIn(change, projection),
    where: () => {
      // By now it may have left the scope that chose the subscribers.
      const limits = confinedTo(resource, subscription, valueFor)
      return limits === false ? false : both(recordWith(resource, change.key), limits)
    },
  })
  return frozen(record)
}

const indexes = new WeakMap<readonly Column[], WeakMap<Projection, readonly number[]>>()

/** The projection's values out of the change; null where it does not have them all. */
function rowIn({ columns, row }: ReadChange, projection: Projection): Row | null {
  const known = indexes.get(columns) ?? new WeakMap<Projection, readonly number[]>()
  indexes.set(columns, known)
  const places = known.get(projection) ?? placesIn(columns, projection)
  known.set(projection, places)
  return places.includes(-1) ? null : places.map((place) => row[place])
}

/** What other records are flattened into a record depends on the subscriber, so that only a read of its own tells. */
function placesIn(columns: readonly Column[], projection: Projection): readonly number[] {
  return projection.columns.map(({ hops, field }) => (hops.length > 0 ? -1 : placeOfOwn(columns, field.name)))
}

function frozen(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}
