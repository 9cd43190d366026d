import { randomBytes } from 'node:crypto'
import jsonwebtoken from 'jsonwebtoken'
import { type IdentityFunction, jwtIdentity } from 'sequelize-crud-router'
import type { Role, User } from './models.js'

const NAME = 'secured-example'
const MIN_SECRET = 32

export const TOKEN_SECONDS: number = 15 * 60

/** What a role may see and write beyond what everybody may. */
const PERMISSIONS: Readonly<Record<Role, readonly string[]>> = {
  employee: [],
  manager: ['salary:read'],
  admin: ['salary:read', 'salary:write'],
}

/** Signs the tokens of users, and finds out who sent one. */
export interface Tokens {
  readonly sign: (user: User) => string
  readonly identity: IdentityFunction
}

/** Tokens of a secret. Without one it is new at every start, and the tokens of the last start are worth nothing. */
export function tokensOf(secret: string | undefined): Tokens {
  const key = secret === undefined || secret === '' ? randomBytes(MIN_SECRET).toString('base64url') : secret
  if (key.length < MIN_SECRET) {
    throw new RangeError(`JWT_SECRET is too short: it must have at least ${MIN_SECRET} characters.`)
  }
  return {
    sign: ({ id, username, role, tenant }) =>
      jsonwebtoken.sign({ name: username, role, permissions: PERMISSIONS[role], tenant }, key, {
        algorithm: 'HS256',
        subject: String(id),
        issuer: NAME,
        audience: NAME,
        expiresIn: TOKEN_SECONDS,
      }),
    identity: jwtIdentity({ key, algorithms: ['HS256'], issuer: NAME, audience: NAME }),
  }
}
