import type { Caller } from './callers.js'
import { numberCanary, textCanary } from './canaries.js'
import { chance, mixed, oneOf, type Random, weighted } from './choose.js'
import { encoded } from './encoded.js'
import { admits } from './rights.js'
import { type Seeds, seedKey } from './rows.js'
import { SERVED, type Table } from './tables.js'
import { oddNumber, oddText, specialName } from './words.js'

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

const TIDY = 0.75

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

/** The key of a row that is there in the beginning, mostly one that the caller may meet, and rarely of none at all. */
export function someKey({ random, caller, seeds }: Making, table: Table): string | number {
  const [at, share] = [random(), random()]
  const met = metBy(seeds, table, caller)
  const own = share < 0.85 ? met[Math.floor(at * met.length)] : undefined
  const key = own ?? seedKey(table, Math.floor(at * seeds[table.name].length * 1.1))
  return inAnyCase(table, key, random)
}

/** A key in a case that the stored one may not have, where the database finds it all the same. */
function inAnyCase({ key: { kind } }: Table, key: string | number, random: Random): string | number {
  const hasNoCase = (kind === 'uuid' || kind === 'folded') && typeof key === 'string'
  return hasNoCase && chance(random, 0.3) ? key.toUpperCase() : key
}

const MET = new WeakMap<Seeds, Map<string, readonly (string | number)[]>>()

function metBy(seeds: Seeds, table: Table, caller: Caller): readonly (string | number)[] {
  const known = MET.get(seeds) ?? new Map<string, readonly (string | number)[]>()
  MET.set(seeds, known)
  const name = `${table.name} ${caller.name}`
  const found = known.get(name)
  if (found !== undefined) return found
  const keys = seeds[table.name].flatMap(({ values, deleted }, index) =>
    deleted || !admits(table, caller, values) ? [] : [seedKey(table, index)],
  )
  known.set(name, keys)
  return keys
}

/** A key as it stands in a path. */
export function keyText(making: Making, table: Table): string {
  const { random } = making
  if (!making.odd(0.3)) return encodeURIComponent(String(someKey(making, table)))
  return weighted(random, [
    [1, () => encodeURIComponent(String(someKey(making, oneOf(random, SERVED))))],
    [0.7, () => encoded(making, oddText(random))],
    [0.5, () => encoded(making, oddNumber(random))],
    [0.5, () => encoded(making, specialName(random))],
  ])
}
