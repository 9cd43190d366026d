import type { Request } from 'express'
import type { Identity, PolicyContext } from '../../lib/index.js'

/** The header by which a caller says who it is: its owner's number, its name, and whether it may see budgets. */
export const CALLER = 'x-caller'

/** Whose records it writes, by which name, and whether it may see what is masked. */
export interface Caller {
  readonly owner: number
  readonly name: string
  readonly money: boolean
}

export type Headers = Readonly<Record<string, string>>

export function headersOf({ owner, name, money }: Caller): Headers {
  return { [CALLER]: `${owner} ${name} ${money ? 'money' : '-'}` }
}

/** Nobody where the header is empty. */
export function identityOf({ headers }: Request): Identity | null {
  const said = headers[CALLER]
  if (typeof said !== 'string' || said === '') return null
  const [owner = '', name = '', money] = said.split(' ')
  const permissions = new Set(money === 'money' ? ['money'] : [])
  return { name, roles: new Set(), permissions, claims: { owner: Number(owner) } }
}

const READING: ReadonlySet<string> = new Set(['getById', 'getList', 'aggregate', 'export'])

/** Everybody reads everything, and writes what is his own. */
export function scopeOf({ identity, operation }: PolicyContext): { readonly owner: number } | null {
  return READING.has(operation) ? null : { owner: Number(identity?.claims.owner ?? -1) }
}
