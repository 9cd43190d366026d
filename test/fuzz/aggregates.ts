// Measures, groups and conditions on them.

import { chance, oneOf, several } from './choose.js'
import { filterText } from './filters.js'
import type { Making } from './making.js'
import { fieldName, fieldOf, walk } from './paths.js'
import { keysText, listQuery, type Pair, searchPairs } from './queries.js'
import type { Kind, Table } from './tables.js'

const ANY = ['count', 'distinct'] as const
const ORDERED = [...ANY, 'min', 'max'] as const
const NUMBERS = [...ORDERED, 'sum', 'avg', 'SUM'] as const

const FUNCTIONS: Readonly<Record<Kind, readonly string[]>> = {
  text: ORDERED,
  folded: ORDERED,
  target: ORDERED,
  email: ORDERED,
  level: NUMBERS,
  number: NUMBERS,
  big: NUMBERS,
  double: NUMBERS,
  money: NUMBERS,
  flag: ANY,
  rank: ANY,
  day: ORDERED,
  instant: ORDERED,
  time: ORDERED,
  uuid: ANY,
  json: ANY,
  bytes: ANY,
}

const BUCKETS = ['year', 'month', 'day', 'hour'] as const

function measure(making: Making, table: Table): string {
  const { random } = making
  if (chance(random, 0.3)) return 'count'
  const { names, table: at } = walk(making, table, false)
  const column = fieldOf(making, at)
  const name = making.odd(0.05)
    ? oneOf(random, ['median', 'stdev', '', 'count'])
    : oneOf(random, FUNCTIONS[column.kind])
  return `${name}(${[...names, fieldName(making, column)].join('.')})`
}

function groupKey(making: Making, table: Table): string {
  const { random } = making
  const { names, table: at } = walk(making, table, false)
  const column = fieldOf(making, at)
  const path = [...names, fieldName(making, column)].join('.')
  const isDate = column.kind === 'day' || column.kind === 'instant'
  return (isDate && chance(random, 0.6)) || making.odd(0.05) ? `${oneOf(random, BUCKETS)}(${path})` : path
}

const LIMITS = ['>0', '>=2', '!=1', '<100', '=in=1;2;3', '=null'] as const

/** The query of groups, or nearly so. */
export function aggregateQuery(making: Making, table: Table): readonly Pair[] {
  const { random } = making
  const distinct = (texts: readonly string[]): string[] => (making.odd(0.1) ? [...texts] : [...new Set(texts)])
  const measures = distinct(several(random, 0, making.odd(0.05) ? 25 : 3, () => measure(making, table)))
  const groups = distinct(
    several(random, measures.length === 0 ? 1 : 0, making.odd(0.05) ? 7 : 2, () => groupKey(making, table)),
  )
  const pairs: Pair[] = []
  if (measures.length > 0) pairs.push(['aggregate', measures.join(',')])
  if (groups.length > 0) pairs.push(['group', groups.join(',')])
  const known = [...measures, ...groups]
  if (chance(random, 0.3)) {
    const keys = several(random, 1, 2, () => `${chance(random, 0.5) ? '-' : ''}${oneOf(random, known)}`)
    pairs.push(['sort', distinct(keys).join(',')])
  }
  if (groups.length > 0 && chance(random, 0.3)) {
    const some = measures.length > 0 && chance(random, 0.7) ? oneOf(random, measures) : measure(making, table)
    pairs.push(['having', `${some}${oneOf(random, making.odd(0.1) ? LIMITS : LIMITS.slice(0, 4))}`])
  }
  if (chance(random, 0.4)) pairs.push(['filter', filterText(making, table)])
  if (chance(random, 0.1)) pairs.push(['keys', keysText(making, table)])
  if (chance(random, 0.2)) pairs.push(['pageSize', String(1 + Math.floor(random() * 50))])
  if (chance(random, 0.1)) pairs.push(['count', oneOf(random, ['none', 'exact'])])
  if (making.odd(0.1)) pairs.push(...listQuery(making, table))
  return [...pairs, ...searchPairs(making, table)]
}
