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

/** A request, what it must be answered with, and what is there afterwards. */
export interface Write {
  readonly kind: string
  readonly resource: Resource
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly expected: Expected
  /** The state before it where the request is to be refused. */
  readonly next: State
  /** Keys that are gone for good once it is acknowledged. */
  readonly removes?: readonly number[]
  /** The reply does not tell the keys of new records. */
  readonly unnamed?: true
  /** The reply has items in it, whose keys it tells. */
  readonly withItems?: true
  /** Always under an Idempotency-Key: what it makes in two tables is told by its reply alone. */
  readonly once?: true
}

/** Null where there is no record for such a write. */
export type WriteMaker = (making: Making) => Write | null

export const FEWEST = 8
export const MOST = 60

const NAMES = ['anna', 'berg', 'costa', 'dima', 'elif', 'femi', 'grace', 'haas', 'ivan', 'jansen'] as const
export const COLORS = ['red', 'green', 'blue'] as const
export const MINIMAL = { prefer: 'return=minimal' } as const
/** What a reply says that has left the record out. */
export const APPLIED = { 'preference-applied': 'return=minimal' } as const

/** What writes for one owner are made of. Codes ascend, so that they tell the order in which records were made. */
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

  /** Who makes the next write: some name of the owner's. */
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

  /** Some record of those that are there, or null. */
  any<T extends Known>(records: Iterable<T>): Stored<T> | null {
    const stored = [...records].filter(isStored)
    return stored.length === 0 ? null : pick(this.random, stored)
  }

  /** About one of so many, in the order of their keys. */
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

/** Keys to delete in bulk, never none: that is answered without the database. */
export function keysOf(keys: readonly number[]): readonly number[] {
  return keys.length === 0 ? [-1] : keys
}
