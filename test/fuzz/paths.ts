// Paths over relations to fields, some of them closed to the caller, and some that do not exist.

import { chance, oneOf } from './choose.js'
import type { Making } from './making.js'
import { mayRead, maySee } from './rights.js'
import { type Column, type Relation, type Table, tableNamed } from './tables.js'
import { anyCase, specialName } from './words.js'

const QUANTIFIERS = ['any', 'all', 'none', 'Any', 'ALL', 'None'] as const

/** Members of a document, and what they may be compared with. */
export const MEMBERS = [
  ['extra.note', ['^zq', '=*s0', '=null', '!=null', '=in=zq;x']],
  ['Extra.Size', ['>0', '=1', '=null', '<=99999999999']],
  ['extra.deep.on', ['=true', '!=false', '=null']],
  ['extra.at', ['>2024-01-01', '=2024-01-03', '!=null']],
  ['extra.tags', ['=a', '!=b', '=in=a;b']],
] as const

export interface Place {
  readonly names: readonly string[]
  readonly table: Table
}

export function quantifier({ random }: Making): string {
  return oneOf(random, QUANTIFIERS)
}

/** The relations that a request goes over. */
export function relationsOf(
  making: Making,
  { relations }: Table,
  isWanted: (relation: Relation) => boolean,
): Relation[] {
  const isOpen = (relation: Relation): boolean => {
    if (relation.to === 'Ledger') return making.caller.permissions.includes('audit')
    return mayRead(tableNamed(relation.to), making.caller)
  }
  return relations.filter((relation) => making.odd(0.2) || (isWanted(relation) && isOpen(relation)))
}

/** A way over relations; `crossed` is whether collections may be. */
export function walk(making: Making, table: Table, crossed: boolean): Place {
  const { random } = making
  const names: string[] = []
  let at = table
  const most = making.odd(0.1) ? 5 : 3
  for (let length = 0; length < most && chance(random, 0.45); length += 1) {
    const next = relationsOf(making, at, ({ many }) => crossed || !many)
    if (next.length === 0) break
    const { name, to, many } = oneOf(random, next)
    names.push(anyCase(random, name))
    if (many && chance(random, 0.4)) names.push(quantifier(making))
    at = tableNamed(to)
  }
  return { names, table: at }
}

/** A field of a table, mostly one that the caller may ask by. */
export function fieldOf(making: Making, { name, key, columns }: Table): Column {
  const { random, caller } = making
  if (making.odd(0.35)) return oneOf(random, [key, ...columns])
  const open = columns.filter((column) => maySee(column, caller) && isAsked(name, column))
  return oneOf(random, open)
}

function isAsked(table: Table['name'], { kind, name }: Column): boolean {
  if (kind === 'json' || kind === 'bytes') return false
  return table === 'Player' ? name !== 'code' : true
}

export function fieldName(making: Making, column: Column): string {
  return making.odd(0.08) ? specialName(making.random) : anyCase(making.random, column.name)
}

/** A path to a field, for sort and select. */
export function pathText(making: Making, table: Table): string {
  const { names, table: at } = walk(making, table, false)
  const column = fieldOf(making, at)
  const member = at.name === 'Player' && chance(making.random, 0.06) ? oneOf(making.random, MEMBERS)[0] : null
  return [...names, member ?? fieldName(making, column)].join('.')
}
