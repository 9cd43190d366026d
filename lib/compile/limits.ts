import type { Check, OptionShape } from '../../types/check.js'
import type { Dialect } from '../../types/dialect.js'
import type { CrudOptions } from '../../types/options.js'
import type { Limits } from '../../types/settings.js'
import { count, isCount, option, repeatRow } from '../config/checks.js'
import { QUERY_LIMITS } from '../language/limits.js'

/** The default of every limit. On SQLite `statementTime` has no limit. */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  filterLength: 4096,
  queryLength: 16_384,
  ...QUERY_LIMITS,
  searchWords: 10,
  pathDepth: 3,
  joins: 20,
  quantifiers: 10,
  quantifierDepth: 2,
  cost: 2000,
  scopeJoins: 10,
  scopeQuantifiers: 5,
  embedItems: 100,
  embedTotal: 100_000,
  bulkItems: 1000,
  nestedWrites: 2,
  exportItems: 1_000_000,
  bodySize: 1024 * 1024,
  responseBytes: 16 * 1024 * 1024,
  writeTime: 30_000,
  retries: 5,
  statementTime: 30_000,
  writeQueue: 1000,
  waiting: 500,
  pushRooms: 1000,
})

/** The longest delay of a timer in milliseconds. Node would shorten a longer delay to 1 ms. */
const MAX_DELAY = 2 ** 31 - 1

const isDelay: Check = (value) => isCount(value) && Number(value) <= MAX_DELAY

export const LIMITS: OptionShape = {
  ...repeatRow(Object.keys(DEFAULT_LIMITS), count),
  cost: option((value) => value === false || isCount(value), 'a whole number from 1, or false'),
  retries: option((value) => value === 0 || isCount(value), 'a whole number from 0'),
  writeTime: option(isDelay, `a whole number of milliseconds from 1 to ${MAX_DELAY}`),
  statementTime: option(
    (value) => value === false || isDelay(value),
    `a whole number of milliseconds from 1 to ${MAX_DELAY}, or false`,
  ),
}

/** Merges the host's limits over the defaults. */
export function mergeLimits({ limits = {} }: CrudOptions, { interrupt }: Pick<Dialect, 'interrupt'>): Limits {
  const given = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
  const { filterLength = DEFAULT_LIMITS.filterLength } = limits
  // The query string has room for the longest filter and other parameters.
  const queryLength = Math.max(DEFAULT_LIMITS.queryLength, FILTERS * filterLength)
  // SQLite has no server that could stop responding. A limit would also prevent the use of prepared statements there.
  const statementTime = interrupt === null ? false : DEFAULT_LIMITS.statementTime
  return Object.freeze({ ...DEFAULT_LIMITS, queryLength, statementTime, ...given })
}

/** The default of `queryLength`, in multiples of `filterLength`. */
const FILTERS = 4
