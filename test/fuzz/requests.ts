import { below, randomOf } from '../support/differential/random.js'
import { agentReading, agentWriting } from './agents.js'
import { CALLERS, type Caller } from './callers.js'
import { chance, mixed, oneOf, weighted } from './choose.js'
import { type Making, makingOf } from './making.js'
import { mutated, spoilt } from './mutate.js'
import { reading } from './reading.js'
import { type FuzzRequest, type Parts, sealed } from './request.js'
import type { Seeds } from './rows.js'
import { SERVED, type Served } from './tables.js'
import { writing } from './writing.js'

/** Those whose tokens hold. */
export const KNOWN = CALLERS.filter(({ standing }) => standing === 'known')
const STRANGERS = CALLERS.filter(({ standing }) => standing !== 'known')

// What one caller asks others ask soon as well, so that whatever is kept of a request is met by other scopes.
const ALIKE = 0.7
const WINDOW = 400
const SHAPES = 60
const STRANGE = 0.06
const BROKEN = 0.004
/** A request that was just sent is sent again, perhaps while the first is still under way. */
const AGAIN = 0.03

/** What all requests of a run have in common. */
export interface Course {
  readonly seed: number
  readonly seeds: Seeds
  /** Whether requests may change anything. */
  readonly writes: boolean
  /** Who asks, strangers aside. */
  readonly callers: readonly Caller[]
}

/** The request of this number: the same for the same seed. */
export function requestAt(course: Course, index: number): FuzzRequest {
  const { seed, seeds, writes, callers } = course
  const own = randomOf(mixed(seed, index))
  if (writes && index > 8 && chance(own, AGAIN)) return { ...requestAt(course, index - 1 - below(own, 8)), index }
  const caller = oneOf(own, chance(own, 1 - STRANGE) ? callers : STRANGERS)
  const shape = Math.floor(index / WINDOW) * SHAPES + below(own, SHAPES)
  const random = chance(own, ALIKE) ? randomOf(mixed(seed ^ 1, shape)) : own
  const making = makingOf(seed, index, random, caller, seeds)
  const table = oneOf(random, SERVED)
  const parts = writes ? anyRequest(making, table) : anyReading(making, table)
  const spoil = writes && chance(own, BROKEN) ? (bytes: Buffer): Buffer => spoilt(own, bytes) : null
  return sealed(index, caller, mutated(own, parts, writes), parts, spoil)
}

function anyRequest(making: Making, table: Served): Parts {
  return weighted(making.random, [
    [11, () => anyReading(making, table)],
    [9, () => writing(making, table)],
    [0.5, () => agentWriting(making, table)],
  ])
}

function anyReading(making: Making, table: Served): Parts {
  return weighted(making.random, [
    [20, () => reading(making, table)],
    [1, () => agentReading(making, table)],
  ])
}
