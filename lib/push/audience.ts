import type { JsonValue } from '../../types/field.js'
import type { ReadChange } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import type { Cluster } from './cluster.js'
import { valueIn } from './payload.js'
import { roomOf } from './room.js'
import { EVERYBODY, isOpen, type Subscription } from './subscription.js'

type Audience = readonly [subscription: Subscription, rooms: ReadonlySet<string> | null]

/** Who hears of a change: those who are told the same together, in the rooms whose scope has the record; null is everybody. */
export function audiencesOf(resource: Resource, cluster: Cluster, change: ReadChange): Iterable<Audience> {
  if (isOpen(resource)) return [[EVERYBODY, null]]
  const audiences = new Map<string, readonly [Subscription, Set<string>]>()
  for (const [text, subscription] of cluster.subscriptions()) {
    const values = subscription.within.map((attribute) => valueIn(change, attribute))
    if (!isKnown(values)) continue
    // A key looks the same to everybody.
    const view = change.event === 'OnDeleted' ? '' : text
    const [, rooms] = audiences.get(view) ?? [subscription, new Set<string>()]
    audiences.set(view, [subscription, rooms.add(roomOf(text, values))])
  }
  return audiences.values()
}

function isKnown(values: readonly (JsonValue | undefined)[]): values is readonly JsonValue[] {
  return !values.includes(undefined)
}
