// Login of a host application, with a table of accounts, a route and signed tokens.

import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto'
import express, { type Express } from 'express'
import jsonwebtoken from 'jsonwebtoken'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import type { TestClient } from './server.js'
import { identity, SECRET } from './tokens.js'

export { identity }

/** Defines the model of accounts. Hooks of the model replace passwords by hashes. */
export function defineAccounts(sequelize: Sequelize, modelName = 'account'): ModelStatic<Model> {
  const Account = sequelize.define(
    modelName,
    {
      user_name: { type: DataTypes.STRING(40), allowNull: false, unique: true, validate: { isLowercase: true } },
      password_hash: { type: DataTypes.STRING(200), allowNull: false },
      password: { type: DataTypes.VIRTUAL(DataTypes.STRING) },
      user_role: { type: DataTypes.STRING(20), allowNull: false, defaultValue: 'user' },
    },
    { timestamps: false, tableName: 'app_accounts' },
  )
  Account.addHook('beforeValidate', (account: Model) => {
    const password: unknown = account.get('password')
    if (typeof password === 'string') account.set('password_hash', hashPassword(password))
  })
  return Account
}

function hashPassword(password: string, salt = randomBytes(16).toString('hex')): string {
  return `${salt}:${scryptSync(password, salt, 32).toString('hex')}`
}

function isPassword(password: string, hash: string): boolean {
  const [salt = ''] = hash.split(':')
  return timingSafeEqual(Buffer.from(hashPassword(password, salt)), Buffer.from(hash))
}

/** Adds the application's route `POST /login`, which returns a token. */
export function addLogin(app: Express, Account: ModelStatic<Model>): void {
  app.post('/login', express.json(), async (req, res) => {
    const { user_name, password } = req.body
    const account = await Account.findOne({ where: { user_name: String(user_name) } })
    if (account === null || !isPassword(String(password), String(account.get('password_hash')))) {
      res.status(401).json({ error: 'wrong name or password' })
      return
    }
    const claims = { sub: String(account.get('id')), name: account.get('user_name'), roles: [account.get('user_role')] }
    res.json({ token: jsonwebtoken.sign(claims, SECRET, { algorithm: 'HS256', expiresIn: '15m' }) })
  })
}

/** Logs in. Returns the headers of the logged-in caller. */
export async function logIn(client: TestClient, user_name: string, password: string): Promise<Record<string, string>> {
  const { status, body } = await client.post('/login', { user_name, password })
  if (status !== 200) throw new Error(`login of ${user_name}: ${status}`)
  return { authorization: `Bearer ${body.token}` }
}

/** Account id of a caller. Anonymous callers have 0, which is no account's id. */
export function accountOf(caller: { readonly claims: Readonly<Record<string, unknown>> } | null): number {
  return Number(caller?.claims.sub ?? 0)
}
