import jsonwebtoken from 'jsonwebtoken'
import { bearer } from '../support/tokens.js'

type Value = string | number | boolean | null

/** Attribute values that all records of somebody have: of a list, one of them. */
export type Values = Readonly<Record<string, Value | readonly Value[]>>

/** Values that all records have, and alternatives of which one holds; none is no condition. */
export interface Confines {
  readonly fixed: Values
  readonly any: readonly Values[]
}

function fixed(values: Values, ...any: readonly Values[]): Confines {
  return { fixed: values, any }
}

function either(...any: readonly Values[]): Confines {
  return { fixed: {}, any }
}

/** Someone who sends requests. What they may is decided by the application from the name in their token. */
export interface Caller {
  readonly name: string
  /** Two characters that stand in every text they write. */
  readonly mark: string
  /** The scope of their records; null is unrestricted. */
  readonly scope: Confines | null
  readonly roles: readonly string[]
  readonly permissions: readonly string[]
  /** Whether a token of theirs holds: the others are nobody, or ought to be turned away. */
  readonly standing: 'known' | 'anonymous' | 'refused'
  readonly headers: Readonly<Record<string, string>>
}

type Rights = Partial<Pick<Caller, 'roles' | 'permissions'>>

const KNOWN: readonly (readonly [name: string, scope: Confines | null, rights: Rights])[] = [
  ['root', null, { roles: ['keeper', 'restorer'], permissions: ['payroll', 'finance', 'audit', 'deleted'] }],
  ['clerk', null, {}],
  ['tina', fixed({ tenantId: 1 }), { permissions: ['payroll', 'deleted'] }],
  ['tom', fixed({ tenantId: 1 }), {}],
  ['uma', fixed({ tenantId: 2 }), { roles: ['keeper'] }],
  ['udo', fixed({ tenantId: 2 }), { roles: ['restorer'], permissions: ['finance'] }],
  ['anna', fixed({ ownerId: 'anna' }), {}],
  ['bert', fixed({ ownerId: 'bert' }), { roles: ['finance'], permissions: ['payroll', 'deleted'] }],
  ['ida', fixed({ tenantId: 1, ownerId: 'anna' }), { permissions: ['audit'] }],
  ['ivo', fixed({ ownerId: 'bert', tenantId: 2 }), { roles: ['restorer'] }],
  ['nick', fixed({ tenantId: null }), {}],
  ['nora', fixed({ ownerId: null, tenantId: 2 }), { permissions: ['deleted'] }],
  ['rita', fixed({ tenantId: 1 }), { roles: ['reader', 'restorer'] }],
  ['liam', fixed({ tenantId: [1, null] }), { permissions: ['payroll'] }],
  ['lena', fixed({ tenantId: [1, 2], ownerId: ['anna', 'bert', null] }), { roles: ['keeper', 'restorer'] }],
  ['lora', fixed({ tenantId: [] }), {}],
  ['oleg', either({ tenantId: 1 }, { ownerId: 'bert' }), { permissions: ['deleted'] }],
  ['olga', either({ tenantId: 2, ownerId: 'anna' }, { tenantId: null }), { roles: ['restorer'] }],
  ['otto', fixed({ tenantId: 1 }, { ownerId: ['anna', null] }, { ownerId: 'bert' }), { permissions: ['audit'] }],
]

const ROOT = {
  caller: 'root',
  sub: 'root',
  roles: ['keeper', 'restorer'],
  permissions: ['payroll', 'finance', 'audit'],
}

function signed(key: string, algorithm: 'HS256' | 'HS512' | 'none'): string {
  return jsonwebtoken.sign(ROOT, key, { algorithm, noTimestamp: true })
}

/** Tokens that say what root's says, and do not hold. */
const REFUSED: readonly (readonly [name: string, headers: Record<string, string>])[] = [
  ['expired', bearer(ROOT, { expiresIn: -60 })],
  ['forged', { authorization: `Bearer ${signed('another key that is long enough for HS256 too', 'HS256')}` }],
  ['unsigned', { authorization: `Bearer ${signed('', 'none')}` }],
  ['garbled', { authorization: 'Bearer a.b.c' }],
]

function markOf(index: number): string {
  return `c${index.toString(36)}`
}

export const CALLERS: readonly Caller[] = [
  ...KNOWN.map(([name, scope, { roles = [], permissions = [] }], index): Caller => {
    const headers = bearer({ caller: name, sub: name, roles, permissions })
    return { name, mark: markOf(index), scope, roles, permissions, standing: 'known', headers }
  }),
  ...[['anonymous', {}] as const, ...REFUSED].map(([name, headers], index): Caller => {
    const standing = index === 0 ? 'anonymous' : 'refused'
    return { name, mark: markOf(KNOWN.length + index), scope: null, roles: [], permissions: [], standing, headers }
  }),
]

/** Whom the application takes for whoever sends no token. */
export const ANONYMOUS: Caller = anonymous()

function anonymous(): Caller {
  const found = CALLERS.find(({ standing }) => standing === 'anonymous')
  if (found === undefined) throw new RangeError('nobody is anonymous')
  return found
}

const BY_NAME = new Map(CALLERS.map((caller) => [caller.name, caller]))

/** Null for a name that no caller has. */
export function callerNamed(name: unknown): Caller | null {
  return typeof name === 'string' ? (BY_NAME.get(name) ?? null) : null
}

/** Whether a permission, or a role of its name, is theirs. */
export function holds({ roles, permissions }: Caller, right: string): boolean {
  return roles.includes(right) || permissions.includes(right)
}
