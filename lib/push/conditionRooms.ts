import type { JsonValue } from '../../types/field.js'
import type { Predicate } from '../../types/plan.js'
import type { Change } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import type { NamedCondition } from '../../types/rooms.js'
import { planConditionSources } from '../behaviour/readScope.js'
import { splitIntoChunks } from '../common/chunks.js'
import { getOrCreate } from '../common/getOrCreate.js'
import { addCondition } from '../common/predicates.js'
import { evaluateConditions, storeOf } from '../perform/index.js'
import { matchRecords } from '../read.js'
import type { ClusterSubscriptions } from './cluster.js'
import { roomNameOf } from './room.js'
import type { Subscription } from './subscription.js'

/** A room of clients whose scopes have one condition and whose payloads are equal. */
export interface ConditionRoom extends NamedCondition {
  readonly subscription: Subscription
  readonly room: string
}

/** Maximum number of records whose conditions are evaluated in one statement. */
const RECORDS_PER_READ = 100

/** The rooms of a hub that scope conditions define, on all servers of the cluster. */
export class ConditionRooms {
  readonly #resource: Resource
  readonly #cluster: ClusterSubscriptions
  readonly #report: (error: unknown) => void
  readonly #resolved = new WeakMap<Subscription, NamedCondition | null>()
  readonly #met = new WeakMap<Change, () => Promise<ReadonlySet<string>>>()

  constructor(resource: Resource, cluster: ClusterSubscriptions, report: (error: unknown) => void) {
    this.#resource = resource
    this.#cluster = cluster
    this.#report = report
  }

  rooms(): readonly ConditionRoom[] {
    const rooms: ConditionRoom[] = []
    for (const [text, subscription] of this.#cluster.subscriptions()) {
      if (subscription.condition.length === 0) continue
      const planned = this.#resolveCondition(subscription)
      if (planned !== null) rooms.push({ ...planned, subscription, room: roomNameOf(text, []) })
    }
    return rooms
  }

  /** The distinct conditions of all rooms. */
  distinctConditions(): readonly NamedCondition[] {
    return [...new Map(this.rooms().map(({ name, condition }) => [name, { name, condition }])).values()]
  }

  /** Names of the conditions that a record meets now. */
  async findMet(key: JsonValue): Promise<ReadonlySet<string>> {
    return (await this.#findMetByKeys([key])).get(String(key)) ?? NO_NAMES
  }

  /**
   * Prepares several changes, so that one statement evaluates the conditions for all of them. The statement runs when
   * the first change is sent.
   */
  evaluateTogether(changes: readonly Change[]): void {
    for (const some of splitIntoChunks(changes, RECORDS_PER_READ)) {
      let all: Promise<ReadonlyMap<string, ReadonlySet<string>>> | null = null
      for (const change of some) {
        this.#met.set(change, async () => {
          all ??= this.#findMetByKeys(some.map(({ key }) => key))
          return (await all).get(String(change.key)) ?? NO_NAMES
        })
      }
    }
  }

  /** Names of the conditions that the changed record meets after the change. */
  findMetAfter(change: Change): Promise<ReadonlySet<string>> {
    const met = this.#met.get(change)
    return met === undefined ? this.findMet(change.key) : met()
  }

  async #findMetByKeys(keys: readonly JsonValue[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    return evaluateConditions(storeOf(this.#resource), matchRecords(this.#resource, keys), this.distinctConditions())
  }

  /**
   * Plans a subscription's condition once. Returns null if the condition is invalid on this server: its room receives
   * no records.
   */
  #resolveCondition(subscription: Subscription): NamedCondition | null {
    return getOrCreate(this.#resolved, subscription, () => this.#planCondition(subscription))
  }

  #planCondition({ condition: sources }: Subscription): NamedCondition | null {
    try {
      const condition = planConditionSources(this.#resource, sources)
      return condition === null ? null : { name: JSON.stringify(sources), condition }
    } catch (error) {
      // The condition may come from a server with other options.
      this.#report(error)
      return null
    }
  }
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** Combines the conditions with AND, or returns null for an empty list. */
export function combineConditions(conditions: readonly Predicate[]): Predicate | null {
  return conditions.reduce<Predicate | null>((all, condition) => addCondition(all, { kind: 'apart', condition }), null)
}
