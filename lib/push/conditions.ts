import type { JsonValue } from '../../types/field.js'
import type { Predicate } from '../../types/plan.js'
import type { Change } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import type { NamedCondition } from '../../types/rooms.js'
import { conditionFrom } from '../behaviour/scopeAnswer.js'
import { chunksOf } from '../common/chunks.js'
import { both } from '../common/predicates.js'
import { conditionsMet, storeOf } from '../perform/index.js'
import { recordsWith } from '../read.js'
import type { Cluster } from './cluster.js'
import { roomOf } from './room.js'
import type { Subscription } from './subscription.js'

/** A room of clients that share the condition of their scope and their view. */
export interface ConditionRoom extends NamedCondition {
  readonly subscription: Subscription
  readonly room: string
}

/** Maximum number of records whose conditions are evaluated in one statement. */
const TOGETHER = 100

/** Rooms by condition of a hub, on all servers of the cluster. */
export class Conditions {
  readonly #resource: Resource
  readonly #cluster: Cluster
  readonly #report: (error: unknown) => void
  readonly #planned = new WeakMap<Subscription, NamedCondition | null>()
  readonly #met = new WeakMap<Change, () => Promise<ReadonlySet<string>>>()

  constructor(resource: Resource, cluster: Cluster, report: (error: unknown) => void) {
    this.#resource = resource
    this.#cluster = cluster
    this.#report = report
  }

  rooms(): readonly ConditionRoom[] {
    const rooms: ConditionRoom[] = []
    for (const [text, subscription] of this.#cluster.subscriptions()) {
      if (subscription.condition.length === 0) continue
      const planned = this.#conditionOf(subscription)
      if (planned !== null) rooms.push({ ...planned, subscription, room: roomOf(text, []) })
    }
    return rooms
  }

  /** The distinct conditions of all rooms. */
  all(): readonly NamedCondition[] {
    return [...new Map(this.rooms().map(({ name, condition }) => [name, { name, condition }])).values()]
  }

  /** Names of the conditions that a record meets. */
  async metBy(key: JsonValue): Promise<ReadonlySet<string>> {
    return (await this.#metByAll([key])).get(String(key)) ?? NONE
  }

  /** Evaluates the conditions of several changes in one statement, when the first of them is sent. */
  gather(changes: readonly Change[]): void {
    for (const some of chunksOf(changes, TOGETHER)) {
      let all: Promise<ReadonlyMap<string, ReadonlySet<string>>> | null = null
      for (const change of some) {
        this.#met.set(change, async () => {
          all ??= this.#metByAll(some.map(({ key }) => key))
          return (await all).get(String(change.key)) ?? NONE
        })
      }
    }
  }

  /** Names of the conditions that the changed record meets after the change. */
  metAfter(change: Change): Promise<ReadonlySet<string>> {
    const met = this.#met.get(change)
    return met === undefined ? this.metBy(change.key) : met()
  }

  async #metByAll(keys: readonly JsonValue[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    return conditionsMet(storeOf(this.#resource), recordsWith(this.#resource, keys), this.all())
  }

  /** null: the condition is invalid on this server, so its room receives no records. */
  #conditionOf(subscription: Subscription): NamedCondition | null {
    const known = this.#planned.get(subscription)
    if (known !== undefined) return known
    const planned = this.#plan(subscription)
    this.#planned.set(subscription, planned)
    return planned
  }

  #plan({ condition: sources }: Subscription): NamedCondition | null {
    try {
      const condition = conditionFrom(this.#resource, sources)
      return condition === null ? null : { name: JSON.stringify(sources), condition }
    } catch (error) {
      // Another server with other options has sent the condition.
      this.#report(error)
      return null
    }
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Combines the conditions with AND, or returns null if there are none. */
export function allOf(conditions: readonly Predicate[]): Predicate | null {
  return conditions.reduce<Predicate | null>((all, condition) => both(all, { kind: 'apart', condition }), null)
}
