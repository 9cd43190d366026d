import type { JsonValue } from '../../types/field.js'
import type { Predicate } from '../../types/plan.js'
import type { Change, ChangeWithValues, PushEvent } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import type { RecordBefore } from '../../types/rooms.js'
import { splitIntoChunks } from '../common/chunks.js'
import { getOrCreate } from '../common/getOrCreate.js'
import type { ClusterSubscriptions } from './cluster.js'
import type { ConditionRoom } from './conditionRooms.js'
import { readChangeValue } from './payload.js'
import { roomNameOf } from './room.js'
import { EVERYBODY, isSameForEverybody, type Subscription, serializeSubscription } from './subscription.js'

/** One event with one payload, and the rooms that receive it. */
export interface Delivery {
  readonly event: PushEvent
  readonly subscription: Subscription
  /** null: all rooms. */
  readonly rooms: ReadonlySet<string> | null
  /**
   * Conditions of the rooms, in the order of `rooms`. The record must meet all conditions when it is read. Empty for
   * rooms that fixed attributes define.
   */
  readonly conditions: readonly Predicate[]
}

/** Plans deliveries to rooms that fixed attributes define. The record's values after the change choose the rooms. */
export function planDeliveriesByValue(
  resource: Resource,
  cluster: ClusterSubscriptions,
  change: ChangeWithValues,
): readonly Delivery[] {
  const { event } = change
  if (isSameForEverybody(resource)) return [{ event, subscription: EVERYBODY, rooms: null, conditions: [] }]
  const deliveries = new Map<string, Delivery & { readonly rooms: Set<string> }>()
  for (const [text, subscription] of cluster.subscriptions()) {
    if (subscription.condition.length > 0) continue
    const values = subscription.fixedAttributes.map((attribute) => readChangeValue(change, attribute))
    if (!hasAllValues(values)) continue
    // The payload is only the key, so all subscriptions share one delivery.
    const view = event === 'OnDeleted' ? '' : text
    const delivery = getOrCreate(deliveries, view, () => ({
      event,
      subscription,
      rooms: new Set<string>(),
      conditions: [],
    }))
    delivery.rooms.add(roomNameOf(text, values))
  }
  return [...deliveries.values()]
}

/** Whether any known subscription has fixed attributes, whose values choose a room. */
export function hasRoomsByValue(cluster: ClusterSubscriptions): boolean {
  for (const [, { fixedAttributes }] of cluster.subscriptions()) if (fixedAttributes.length > 0) return true
  return false
}

/**
 * Rooms that fixed attributes define and that the record has left with this change. A room without fixed attributes
 * keeps its name, so it is never among them.
 */
export function findRoomsLeft(
  cluster: ClusterSubscriptions,
  { values }: RecordBefore,
  change: ChangeWithValues | null,
): ReadonlySet<string> {
  const rooms = new Set<string>()
  for (const [text, { fixedAttributes }] of cluster.subscriptions()) {
    const before = fixedAttributes.map((attribute) => values.get(attribute))
    if (!hasAllValues(before)) continue
    const room = roomNameOf(text, before)
    // A record that no longer exists is in no room.
    const after = change === null ? [] : fixedAttributes.map((attribute) => readChangeValue(change, attribute))
    if (hasAllValues(after) && roomNameOf(text, after) !== room) rooms.add(room)
  }
  return rooms
}

function hasAllValues(values: readonly (JsonValue | undefined)[]): values is readonly JsonValue[] {
  return !values.includes(undefined)
}

/** Maximum number of rooms that share one read of a record. */
const ROOMS_PER_READ = 50

interface ConditionDeliveries {
  readonly deliveries: readonly Delivery[]
  /**
   * Rooms that may have contained the record before the write. The rooms' conditions were not evaluated at that time.
   */
  readonly uncertainRooms: readonly string[]
}

/**
 * Plans deliveries to rooms that a condition defines. `met` has the names of the conditions that the record meets after
 * the change. `met` is empty for a deleted record.
 */
export function planDeliveriesByCondition(
  { event, before, isMove, isFromRoute }: Change,
  rooms: readonly ConditionRoom[],
  met: ReadonlySet<string>,
): ConditionDeliveries {
  const isNew = event === 'OnCreated'
  const hasMetBefore = ({ name }: ConditionRoom): boolean => !isNew && before !== null && before.met.has(name)
  const roomsLeft = rooms.filter((room) => !met.has(room.name) && hasMetBefore(room))
  const inside =
    event === 'OnDeleted' ? [] : rooms.filter((room) => met.has(room.name) && !(isMove && hasMetBefore(room)))
  const isUnknown = ({ name }: ConditionRoom): boolean => !met.has(name) && before?.evaluated.has(name) !== true
  return {
    deliveries: [...toDeletions(roomsLeft), ...groupByView(event, inside)],
    uncertainRooms: isFromRoute && !isNew ? rooms.filter(isUnknown).map(({ room }) => room) : [],
  }
}

function toDeletions(rooms: readonly ConditionRoom[]): readonly Delivery[] {
  const [first] = rooms
  if (first === undefined) return []
  const names = new Set(rooms.map(({ room }) => room))
  return [{ event: 'OnDeleted', subscription: first.subscription, rooms: names, conditions: [] }]
}

function groupByView(event: PushEvent, rooms: readonly ConditionRoom[]): readonly Delivery[] {
  const views = new Map<string, ConditionRoom[]>()
  for (const room of rooms) {
    const view = serializeSubscription({ ...room.subscription, condition: [] })
    const known = views.get(view)
    if (known === undefined) views.set(view, [room])
    else known.push(room)
  }
  return [...views.values()].flatMap((all) =>
    splitIntoChunks(all, ROOMS_PER_READ).flatMap((some) => toDeliveries(event, some)),
  )
}

function toDeliveries(event: PushEvent, rooms: readonly ConditionRoom[]): readonly Delivery[] {
  const [first] = rooms
  if (first === undefined) return []
  const names = new Set(rooms.map(({ room }) => room))
  const conditions = rooms.map(({ condition }) => condition)
  return [{ event, subscription: first.subscription, rooms: names, conditions }]
}

/** Splits a delivery into one delivery per room. The hub does so if the record left a room before it was read. */
export function splitByRoom({ event, subscription, rooms, conditions }: Delivery): readonly Delivery[] {
  const names = [...(rooms ?? [])]
  return conditions.map((condition, index) => {
    return { event, subscription, rooms: new Set(names.slice(index, index + 1)), conditions: [condition] }
  })
}
