// Filters, sorts and selections over relations and quantifiers.

import { OPERATORS as ROWS } from '../../lib/language/operators.js'
import { chance, oneOf, several, weighted } from './choose.js'
import type { Making } from './making.js'
import { fieldName, fieldOf, MEMBERS, pathText, quantifier, relationsOf, walk } from './paths.js'
import { type Kind, type Table, tableNamed } from './tables.js'
import { queryValue } from './values.js'
import { anyCase, oddText } from './words.js'

const EQUAL = [...tokensOf('equatable'), '=IN=']
const ORDERED = [...EQUAL, ...tokensOf('ordered')]
const TEXT = [...ORDERED, ...tokensOf('text')]
const NONE = ['==', '<>', '=>', '~', '!', '=lt=', '!==', '', '=like=', '^^'] as const

/** Tokens of the operators that a group of types has. */
function tokensOf(fields: 'equatable' | 'ordered' | 'text'): string[] {
  return ROWS.filter((row) => row.fields === fields).map(({ token }) => token)
}

const OPERATORS: Readonly<Record<Kind, readonly string[]>> = {
  text: TEXT,
  folded: TEXT,
  target: TEXT,
  email: TEXT,
  level: ORDERED,
  number: ORDERED,
  big: ORDERED,
  double: ORDERED,
  money: ORDERED,
  flag: EQUAL,
  rank: EQUAL,
  day: ORDERED,
  instant: ORDERED,
  time: ORDERED,
  uuid: EQUAL,
  json: EQUAL,
  bytes: EQUAL,
}

export function filterText(making: Making, table: Table, depth = 3): string {
  const { random } = making
  return weighted(random, [
    [8, () => clause(making, table)],
    [depth > 0 ? 4 : 0, () => junction(making, table, depth - 1)],
    [depth > 0 ? 3 : 0, () => group(making, table, depth - 1)],
    [1, () => absence(making, table)],
    [0.4, () => (making.odd(1) ? heap(making, table) : clause(making, table))],
  ])
}

function clause(making: Making, table: Table): string {
  const { random } = making
  const { names, table: at } = walk(making, table, true)
  if (at.name === 'Player' && chance(random, 0.05)) {
    const [path, ends] = oneOf(random, MEMBERS)
    return `${[...names, path].join('.')}${oneOf(random, ends)}`
  }
  const column = fieldOf(making, at)
  const operator = making.odd(0.06) ? oneOf(random, NONE) : oneOf(random, OPERATORS[column.kind])
  const isList = /^=\w+=$/.test(operator)
  const values = several(random, 1, isList || making.odd(0.05) ? 4 : 1, () =>
    escaped(making, queryValue(making, at, column)),
  )
  const path = [...names, fieldName(making, column)].join('.')
  return `${path}${operator}${values.join(';')}${chance(random, 0.1) ? '/i' : ''}`
}

/** What is too much, or not there. */
function heap(making: Making, table: Table): string {
  const { random } = making
  const some = (): string => '()'.charAt(Math.floor(random() * 2)).repeat(Math.floor(random() * 40))
  return weighted(random, [
    [2, () => `!(${clause(making, table)})`],
    [1, () => some() + clause(making, table) + some()],
    [1, () => several(random, 2, 110, () => clause(making, table)).join(oneOf(random, [',', '|']))],
  ])
}

const COUNTS = ['>0', '=0', '>=1', '!=2', '<5', '=in=0;1;2', '=out=1', '>-1', '=99999999999999999999'] as const

function countText({ random, odd }: Making): string {
  return odd(0.1) ? oneOf(random, ['>x', '', '=null', '=1.5', '^1']) : oneOf(random, COUNTS)
}

function junction(making: Making, table: Table, depth: number): string {
  const { random } = making
  const parts = several(random, 2, 3, () => filterText(making, table, depth))
  const text = parts.join(making.odd(0.05) ? ',,' : oneOf(random, [',', '|', ' , ']))
  return chance(random, 0.4) ? `(${text})` : text
}

/** A quantifier over a collection that is near or far. */
function group(making: Making, table: Table, depth: number): string {
  const { random } = making
  const { names, table: at } = chance(random, 0.2) ? walk(making, table, false) : { names: [], table }
  const collections = relationsOf(making, at, ({ many }) => many)
  if (collections.length === 0) return clause(making, table)
  const { name, to } = oneOf(random, collections)
  const path = [...names, anyCase(random, name)].join('.')
  if (chance(random, 0.2)) return `${path}.count${countText(making)}`
  const inner = filterText(making, tableNamed(to), depth)
  return chance(random, 0.3) ? `${path}.count(${inner})${countText(making)}` : `${path}.${quantifier(making)}(${inner})`
}

function absence(making: Making, table: Table): string {
  const { random } = making
  const ones = relationsOf(making, table, ({ many }) => !many)
  if (ones.length === 0) return clause(making, table)
  const words = making.odd(0.2) ? ['=x', '>null', '=in=null', ''] : ['=null', '!=null']
  return `${anyCase(random, oneOf(random, ones).name)}${oneOf(random, words)}`
}

/** Escapes what has a meaning. */
function escaped(making: Making, text: string): string {
  return making.odd(0.1) ? text : text.replace(/[\\,|();/]/g, (character) => `\\${character}`)
}

export function sortText(making: Making, table: Table): string {
  const { random } = making
  return several(random, 1, making.odd(0.05) ? 12 : 3, () => {
    const counted = relationsOf(making, table, ({ many }) => many)
    const isCount = counted.length > 0 && chance(random, 0.06)
    const path = isCount ? `${oneOf(random, counted).name}.count` : pathText(making, table)
    if (making.odd(0.05)) return oneOf(random, [`+${path}`, `--${path}`, `${path} down`, '', oddText(random)])
    return oneOf(random, [path, path, `-${path}`, `-${path}`, `${path} desc`, `${path} asc`])
  }).join(making.odd(0.05) ? ';' : oneOf(random, [',', ', ']))
}

export function selectText(making: Making, table: Table): string {
  const { random } = making
  const path = (): string =>
    making.odd(0.06) ? oneOf(random, ['*', 'team.*', 'team', 'badge', 'players.name', '']) : pathText(making, table)
  return several(random, 1, making.odd(0.05) ? 55 : 5, path).join(',')
}
