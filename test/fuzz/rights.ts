// What a caller may see and write, decided anew from the tables: the application has to come to the same.

import { filter, type Scope } from '../../lib/index.js'
import { type Caller, type Confines, holds, type Values } from './callers.js'
import type { Column, Table } from './tables.js'

/** What confines a caller in a table; null is unrestricted. */
function confinesOf(table: Table, caller: Caller): Confines | null {
  if (table.name === 'Tag') return caller.standing === 'known' ? null : { fixed: { isPublic: true }, any: [] }
  if (caller.standing !== 'known') return { fixed: { tenantId: null }, any: [] }
  if (caller.scope === null) return null
  const fixed = valuesIn(table, caller.scope.fixed)
  const any = caller.scope.any.map((values) => valuesIn(table, values))
  // An alternative that asks nothing of the table's records holds for all of them.
  const alternatives = any.some((values) => Object.keys(values).length === 0) ? [] : any
  return Object.keys(fixed).length + alternatives.length === 0 ? null : { fixed, any: alternatives }
}

function valuesIn(table: Table, values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => table.scope.includes(name)))
}

/** What the application's scope function returns: values, a condition, or both. */
export function scopeOf(table: Table, caller: Caller): Scope | null {
  const confines = confinesOf(table, caller)
  if (confines === null) return null
  const { fixed, any } = confines
  if (any.length === 0) return fixed
  const where = filter.or(...any.map((values) => filter.and(...Object.entries(values).map(clauseOf))))
  return Object.keys(fixed).length === 0 ? where : { fixed, where }
}

function clauseOf([name, value]: [string, Values[string]]): string {
  if (!isList(value)) return filter.eq(name, value)
  return filter.or(...value.map((each) => filter.eq(name, each)))
}

function isList(value: Values[string]): value is Extract<Values[string], readonly unknown[]> {
  return Array.isArray(value)
}

/** Values of a row's scope attributes, as whatever a driver makes of them. */
export function admits(table: Table, caller: Caller, scoped: Readonly<Record<string, unknown>>): boolean {
  if (table.scope.length === 0) return true
  const confines = confinesOf(table, caller)
  if (confines === null) return true
  const { fixed, any } = confines
  return meets(scoped, fixed) && (any.length === 0 || any.some((values) => meets(scoped, values)))
}

function meets(scoped: Readonly<Record<string, unknown>>, values: Values): boolean {
  return Object.entries(values).every(([name, value]) => {
    return isList(value) ? value.some((each) => same(scoped[name], each)) : same(scoped[name], value)
  })
}

function same(stored: unknown, wanted: string | number | boolean | null): boolean {
  if (stored === null || stored === undefined || wanted === null) return (stored ?? null) === wanted
  return typeof wanted === 'boolean' ? Boolean(stored) === wanted : String(stored) === String(wanted)
}

/** Whether the policies of a table let a caller read it at all. */
export function mayRead({ readers }: Table, caller: Caller): boolean {
  if (readers === 'anyone') return true
  return readers === 'known' ? caller.standing === 'known' : holds(caller, 'keeper')
}

export function maySee({ hidden, read }: Column, caller: Caller): boolean {
  return !hidden && (read === null || holds(caller, read))
}

export function mayAskForDeleted(table: Table, caller: Caller): boolean {
  if (table.softDelete === null) return false
  return table.deletedFor === 'anyone' || caller.permissions.includes(table.deletedFor)
}

/** Whether what a caller sends may come to stand in a column. */
export function maySet({ written, write, hidden }: Column, caller: Caller): boolean {
  return written && !hidden && (write === null || holds(caller, write))
}

/** Whether the policies of a table let a caller write it. */
export function mayWrite(table: Table, caller: Caller): boolean {
  return table.readers === 'anyone' || (mayRead(table, caller) && !caller.roles.includes('reader'))
}

/** Whether they let a caller take back that records are deleted. */
export function mayRestore(table: Table, { roles }: Caller): boolean {
  return table.readers === 'anyone' || roles.includes('restorer')
}
