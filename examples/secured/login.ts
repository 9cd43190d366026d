import { randomBytes } from 'node:crypto'
import express, { Router } from 'express'
import { Problem } from 'sequelize-crud-router'
import { hashPassword, isPassword } from './passwords.js'
import { TOKEN_SECONDS } from './tokens.js'

/** Functions that find the accounts of a login and sign their tokens. */
export interface Accounts<A extends { readonly password: string }> {
  /** Finds an account by user name. The account's password is a hash from `hashPassword`. */
  readonly find: (username: string) => Promise<A | null>
  /** Signs a token of the account. */
  readonly sign: (account: A) => string
}

/**
 * Creates the route POST /login, which exchanges a user name and a password for a token. A public application must
 * limit the attempts as well.
 */
export function login<A extends { readonly password: string }>({ find, sign }: Accounts<A>): Router {
  // This hash is checked for unknown user names, so that they take as long as known user names.
  const nobody = hashPassword(randomBytes(32).toString('base64url'))

  return Router().post('/login', express.json({ limit: '1kb' }), async (req, res) => {
    const { username, password } = credentialsOf(req.body)
    const user = await find(username)
    const isRight = await isPassword(password, user?.password ?? (await nobody))
    if (user === null || !isRight) {
      throw new Problem({ status: 401, detail: 'The user name or the password is wrong.' })
    }
    res.set('Cache-Control', 'no-store').json({ token: sign(user), expiresIn: TOKEN_SECONDS })
  })
}

function credentialsOf(body: unknown): { username: string; password: string } {
  const { username, password } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (typeof username === 'string' && typeof password === 'string') return { username, password }
  throw new Problem({ status: 400, detail: 'Send { "username": ..., "password": ... } as application/json.' })
}
