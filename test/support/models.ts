import express, { type Express } from 'express'
import type { Options, Sequelize } from 'sequelize'
import { openDatabase, type TestDatabase } from './database.js'
import { type Answer, serve, type TestClient, type TestServer } from './server.js'

/** Models of a test in a database of their own, with routers on a real server. */
export type Served<Models> = Models & TestDatabase & TestServer

/**
 * Serves models of a test. `define` creates the models. `fill` creates rows after synchronization. `mount` adds routers
 * to the application.
 */
export async function serveModels<Models extends object>(parts: {
  readonly define: (sequelize: Sequelize) => Models
  readonly fill?: (models: Models) => Promise<void>
  readonly mount: (app: Express, models: Models) => void
  readonly options?: Options
  /** Creates the application. Default: Express 5. */
  readonly create?: () => Express
}): Promise<Served<Models>> {
  const database = await openDatabase(parts.options)
  const models = parts.define(database.sequelize)
  await database.sequelize.sync()
  await parts.fill?.(models)
  const app = (parts.create ?? express)()
  parts.mount(app, models)
  const server = await serve(app)
  return {
    ...models,
    ...database,
    ...server,
    close: async () => {
      await server.close()
      await database.close()
    },
  }
}

export type Parameters = Readonly<Record<string, string | number | boolean>>

/** Sends a list request with encoded parameters. */
export async function list(server: TestClient, path: string, parameters: Parameters = {}): Promise<Answer> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) query.append(name, String(value))
  return server.get(`${path}?${query}`)
}

/** Keys of a list's items, in their order. Throws an Error with the response text for a status other than 200. */
export async function keysOf<Key = number>(
  server: TestClient,
  path: string,
  parameters: Parameters = {},
): Promise<Key[]> {
  const { status, text, body } = await list(server, path, parameters)
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body.items.map(({ id }: { id: Key }) => id)
}
