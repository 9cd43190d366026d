import type { Request } from 'express'
import type { Identity, PolicyContext } from '../../lib/index.js'

/** Header that identifies the caller: the owner's number, the caller's name, and whether it may see budgets. */
export const CALLER = 'x-caller'

/** Owner and name of a caller, and whether the caller may see masked fields. */
export interface Caller {
  readonly owner: number
  readonly name: string
  readonly money: boolean
}

export type Headers = Readonly<Record<string, string>>

export function headersOf({ owner, name, money }: Caller): Headers {
  return { [CALLER]: `${owner} ${name} ${money ? 'money' : '-'}` }
}

/** Identity of the caller in the header. Null if the header is empty. */
export function identityOf({ headers }: Request): Identity | null {
  const header = headers[CALLER]
  if (typeof header !== 'string' || header === '') return null
  const [owner = '', name = '', money] = header.split(' ')
  const permissions = new Set(money === 'money' ? ['money'] : [])
  return { name, roles: new Set(), permissions, claims: { owner: Number(owner) } }
}

const READING: ReadonlySet<string> = new Set(['getById', 'getList', 'aggregate', 'export'])

/** Scope of a caller. All callers read all records, and write only their own records. */
export function scopeOf({ identity, operation }: PolicyContext): { readonly owner: number } | null {
  return READING.has(operation) ? null : { owner: Number(identity?.claims.owner ?? -1) }
}
