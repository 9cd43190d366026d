import express, { type Express } from 'express'
import type { Options, Sequelize } from 'sequelize'
import { openDatabase, type TestDatabase } from './database.js'
import { type Answer, serve, type TestClient, type TestServer } from './server.js'

/** Models of a test's own in a database of their own, with whatever the test mounts over them, behind a real server. */
export type Served<Models> = Models & TestDatabase & TestServer

/** `define` makes the models and, once they are synchronised, `fill` their rows; `mount` adds routers to the application. */
export async function serveModels<Models extends object>(parts: {
  readonly define: (sequelize: Sequelize) => Models
  readonly fill?: (models: Models) => Promise<void>
  readonly mount: (app: Express, models: Models) => void
  readonly options?: Options
  /** What makes the application. Default: Express 5. */
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

/** A list request, its parameters encoded. */
export async function list(server: TestClient, path: string, parameters: Parameters = {}): Promise<Answer> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) query.append(name, String(value))
  return server.get(`${path}?${query}`)
}

/** The keys of a list's items, in their order; an answer other than 200 throws with its body. */
export async function keysOf<Key = number>(
  server: TestClient,
  path: string,
  parameters: Parameters = {},
): Promise<Key[]> {
  const { status, text, body } = await list(server, path, parameters)
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body.items.map(({ id }: { id: Key }) => id)
}
