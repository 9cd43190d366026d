// What a caller may see and write, decided anew from the tables: the application has to come to the same.

import { type Caller, type Confines, holds } from './callers.js'
import type { Column, Table } from './tables.js'

/** The values that confine a caller in a table; null is unrestricted. */
export function scopeOf(table: Table, caller: Caller): Confines | null {
  if (table.name === 'Tag') return caller.standing === 'known' ? null : { isPublic: true }
  if (caller.standing !== 'known') return { tenantId: null }
  if (caller.scope === null) return null
  const values = Object.entries(caller.scope).filter(([name]) => table.scope.includes(name))
  return values.length === 0 ? null : Object.fromEntries(values)
}

/** Values of a row's scope attributes, as whatever a driver makes of them. */
export function admits(table: Table, caller: Caller, scoped: Readonly<Record<string, unknown>>): boolean {
  if (table.scope.length === 0) return true
  const scope = scopeOf(table, caller)
  return scope === null || Object.entries(scope).every(([name, value]) => same(scoped[name], value))
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
