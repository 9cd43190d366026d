import { randomBytes } from 'node:crypto'
import jsonwebtoken from 'jsonwebtoken'
import { type IdentityFunction, jwtIdentity } from 'sequelize-crud-router'
import type { Role, User } from './models.js'

const NAME = 'secured-example'
const MIN_SECRET = 32

export const TOKEN_SECONDS: number = 15 * 60

/** Permissions of each role, in addition to the permissions of every caller. */
const PERMISSIONS: Readonly<Record<Role, readonly string[]>> = {
  employee: [],
  manager: ['salary:read'],
  admin: ['salary:read', 'salary:write'],
}

/** Signs tokens of users, and identifies callers by their tokens. */
export interface Tokens {
  readonly sign: (user: User) => string
  readonly identity: IdentityFunction
}

/**
 * Creates tokens with a secret. Without a secret, each start uses a new one, and tokens of the last start are invalid.
 */
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
