import express, { type Express } from 'express'
import type { Model, ModelStatic, Options } from 'sequelize'
import type { Identity } from '../../lib/index.js'
import { openDatabase, type TestDatabase } from './database.js'
import { serve, type TestServer } from './server.js'

/** A database and an application of a test's own, behind a real server. */
export interface Stage extends TestDatabase, TestServer {
  readonly app: Express
}

/**
 * Opens a database, lets `set` define models and mount routers, creates the tables (of the models as mounting has left
 * them) and serves the application.
 */
export async function openStage(
  set: (database: TestDatabase, app: Express) => void,
  options: Options = {},
): Promise<Stage> {
  const database = await openDatabase(options)
  const app = express()
  set(database, app)
  await database.sequelize.sync()
  const server = await serve(app)
  return {
    ...database,
    ...server,
    app,
    close: async () => {
      await server.close()
      await database.close()
    },
  }
}

/** Takes whoever a request says it is from at its word: the header `x-user`, anonymous without it. */
export function identityFromHeader({ headers }: { readonly headers: object }): Identity | null {
  const name: unknown = Reflect.get(headers, 'x-user')
  if (typeof name !== 'string') return null
  return { name, roles: new Set(), permissions: new Set(), claims: {} }
}

export const as = (user: string): Record<string, string> => ({ 'x-user': user })

/** A row as the database has it, whether or not anything hides it. */
export async function rowOf(model: ModelStatic<Model>, id: unknown): Promise<Record<string, unknown> | null> {
  const instance = await model.unscoped().findOne({ where: { id: Number(id) }, paranoid: false })
  return instance === null ? null : instance.get({ plain: true })
}

/** The time in a column, whatever the driver made of it; NaN for none. */
export function timeOf(value: unknown): number {
  return value instanceof Date ? value.getTime() : Date.parse(String(value))
}
