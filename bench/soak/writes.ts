import { type Caller, headersOf } from './callers.js'
import type { Partition } from './partition.js'
import { pick, type Random } from './read.js'
import {
  type Account,
  type Expected,
  type Item,
  isStored,
  type Known,
  type Meta,
  type Resource,
  type State,
  type Stored,
  sorted,
} from './state.js'

/** A request with its expected response, and with the state after it. */
export interface Write {
  readonly kind: string
  readonly resource: Resource
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly expected: Expected
  /** State after the write. A write that must be rejected has the previous state. */
  readonly next: State
  /** Keys that are permanently deleted when the write is acknowledged. */
  readonly removes?: readonly number[]
  /** The reply lacks the keys of new records. */
  readonly unnamed?: true
  /** The reply contains items with their keys. */
  readonly withItems?: true
  /** The request always has an Idempotency-Key, because only the reply shows its effects in two tables. */
  readonly once?: true
}

/** Creates a write. Returns null if no record suits the write. */
export type WriteMaker = (making: Making) => Write | null

export const FEWEST = 8
export const MOST = 60

const NAMES = ['anna', 'berg', 'costa', 'dima', 'elif', 'femi', 'grace', 'haas', 'ivan', 'jansen'] as const
export const COLORS = ['red', 'green', 'blue'] as const
export const MINIMAL = { prefer: 'return=minimal' } as const
/** Expected header of a reply without the record. */
export const APPLIED = { 'preference-applied': 'return=minimal' } as const

/** Random values and records for the writes of one owner. Codes ascend in the order of creation. */
export class Making {
  readonly random: Random
  readonly #partition: Partition
  #made = 0
  #by = ''

  constructor(partition: Partition, random: Random) {
    this.#partition = partition
    this.random = random
  }

  get owner(): number {
    return this.#partition.owner
  }

  get state(): State {
    return this.#partition.state
  }

  get gone(): readonly number[] {
    return this.#partition.gone
  }

  /** Caller of the next write. The name is chosen at random from the owner's names. */
  get caller(): Caller {
    return { owner: this.owner, name: this.#by, money: true }
  }

  get headers(): Readonly<Record<string, string>> {
    return headersOf(this.caller)
  }

  turn(): void {
    this.#by = `${this.name()} of ${this.owner}`.replaceAll(' ', '-')
  }

  isOneOf(times: number): boolean {
    return this.random(times) === 0
  }

  code(): string {
    this.#made += 1
    return `o${this.owner}-${String(this.#made).padStart(7, '0')}`
  }

  name(): string {
    return `${pick(this.random, NAMES)}${this.random(20)}`
  }

  note(): string | null {
    return this.isOneOf(3) ? null : `note ${this.random(1000)}`
  }

  meta(): Meta | null {
    return this.isOneOf(4) ? null : { color: pick(this.random, COLORS), size: this.random(50) }
  }

  level(): number {
    return 1 + this.random(100)
  }

  item(accountId?: number): Item {
    return {
      id: null,
      code: this.code(),
      owner: this.owner,
      name: this.name(),
      level: this.level(),
      note: this.note(),
      meta: this.meta(),
      accountId: accountId ?? pick(this.random, this.accounts()).id,
      rowVersion: 0,
    }
  }

  items(number: number): Item[] {
    return Array.from({ length: number }, () => this.item())
  }

  accounts(): Stored<Account>[] {
    return sorted(this.state.accounts.values()).filter(isStored)
  }

  tags(): number[] {
    return sorted(this.state.tags.values()).flatMap(({ id }) => id ?? [])
  }

  /** A random record with a known key, or null. */
  any<T extends Known>(records: Iterable<T>): Stored<T> | null {
    const stored = [...records].filter(isStored)
    return stored.length === 0 ? null : pick(this.random, stored)
  }

  /** A random selection of about one in `times` records, at most `most`, in key order. */
  some<T extends Known>(records: Iterable<T>, times: number, most: number): Stored<T>[] {
    return sorted(records)
      .filter(isStored)
      .filter(() => this.isOneOf(times))
      .slice(0, most)
  }
}

export function bodyOf({ id: _, rowVersion: __, ...body }: Item): object {
  return body
}

/** Keys for a bulk delete. The list is never empty, because an empty list does not reach the database. */
export function keysOf(keys: readonly number[]): readonly number[] {
  return keys.length === 0 ? [-1] : keys
}
