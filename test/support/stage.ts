import express, { type Express } from 'express'
import type { Model, ModelStatic, Options } from 'sequelize'
import type { Identity } from '../../lib/index.js'
import { openDatabase, type TestDatabase } from './database.js'
import { serve, type TestServer } from './server.js'

/** A database and an application of a test, on a real server. */
export interface Stage extends TestDatabase, TestServer {
  readonly app: Express
}

/**
 * Opens a database and serves an application. `set` defines models and mounts routers. Tables are created after `set`,
 * because mounting may add attributes.
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

/** Identity from the header `x-user`, which is not verified. Null without the header. */
export function identityFromHeader({ headers }: { readonly headers: object }): Identity | null {
  const name: unknown = Reflect.get(headers, 'x-user')
  if (typeof name !== 'string') return null
  return { name, roles: new Set(), permissions: new Set(), claims: {} }
}

export const asUser = (user: string): Record<string, string> => ({ 'x-user': user })

/** Reads a row as it is stored, even if the model hides the row. */
export async function readStoredRow(model: ModelStatic<Model>, id: unknown): Promise<Record<string, unknown> | null> {
  const instance = await model.unscoped().findOne({ where: { id: Number(id) }, paranoid: false })
  return instance === null ? null : instance.get({ plain: true })
}

/** Milliseconds since the epoch of a column value, independent of the driver. NaN if the value is not a time. */
export function timeOf(value: unknown): number {
  return value instanceof Date ? value.getTime() : Date.parse(String(value))
}
