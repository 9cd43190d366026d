import type { Caller } from './callers.js'
import { numberCanary, textCanary } from './canaries.js'
import { chance, mixed, type Random } from './choose.js'
import { type Seeds, seedKey, sizeOf } from './rows.js'
import type { Table } from './tables.js'

/** What the parts of one request are made with: the same for the same seed and index, whatever was sent before. */
export interface Making {
  readonly random: Random
  readonly caller: Caller
  readonly seeds: Seeds
  /** Something that makes the request wrong, that often. Never in a tidy request, which ought to be answered. */
  readonly odd: (share: number) => boolean
  /** A text of the caller's own that nothing else has. */
  readonly text: () => string
  /** A number like it. */
  readonly number: () => number
}

const TIDY = 0.55

export function makingOf(seed: number, index: number, random: Random, caller: Caller, seeds: Seeds): Making {
  const isTidy = chance(random, TIDY)
  let made = 0
  const serial = (): number => {
    made += 1
    return mixed(seed, index) * 64 + (made % 64)
  }
  return {
    random,
    caller,
    seeds,
    odd: (share) => chance(random, share) && !isTidy,
    text: () => textCanary(caller.mark, serial()),
    number: () => numberCanary(serial()),
  }
}

/** The key of a row that is there in the beginning, rarely of one that is not. */
export function someKey({ random }: Making, table: Table): string | number {
  return seedKey(table, Math.floor(random() * (sizeOf(table) * 1.1)))
}
