import type { JsonValue } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { Column, Predicate, Projection } from '../../types/plan.js'
import type { Change } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import { flattenedOf } from '../bind/index.js'
import { ownValue, placeOfOwn } from '../common/columns.js'
import { both } from '../common/predicates.js'
import { hidesRecords, read } from '../perform/index.js'
import { byKey, fullProjection } from '../plan/index.js'
import { recordOf } from '../shape/record.js'
import { confinedTo, type Subscription, viewOn } from './subscription.js'

/** The value of a record's own attribute on the wire; undefined where the change does not know it. */
export function valueIn({ columns, row }: Change, attribute: string): JsonValue | undefined {
  return row === null ? undefined : ownValue(columns, row, attribute)
}

/** The record as a GET would show it to the subscribers, frozen; null where it would show none. */
export async function payloadOf(
  resource: Resource,
  subscription: Subscription,
  change: Change,
): Promise<JsonValue | null> {
  const valueFor = (attribute: string): JsonValue | undefined => valueIn(change, attribute)
  const view = viewOn(resource, subscription, valueFor)
  const projection = fullProjection(resource, subscription.shape, view, flattenedOf(resource))
  const known = hidesRecords(resource) ? null : rowIn(change, projection)
  // By now it may have left the scope that chose the subscribers.
  const limits = known === null && confinedTo(resource, subscription, valueFor)
  const row =
    limits === false ? known : await read(resource, both(recordWith(resource, change.key), limits), projection)
  return row === null ? null : frozen(recordOf(projection, row))
}

/** The record of a key, as long as nobody has deleted it. */
export function recordWith(resource: Resource, key: JsonValue): Predicate {
  const where = byKey(resource.key, typeof key === 'string' || typeof key === 'number' ? [key] : [])
  return both(where, resource.behaviours.standing?.(resource) ?? null)
}

const indexes = new WeakMap<readonly Column[], WeakMap<Projection, readonly number[]>>()

/** The projection's values out of the change; null where it does not have them all. */
function rowIn({ columns, row }: Change, projection: Projection): Row | null {
  if (row === null) return null
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
