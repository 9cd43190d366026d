import express, { type Express } from 'express'
import type { Model, ModelStatic, Options } from 'sequelize'
import type { Identity } from '../../lib/index.js'
import { openDatabase, type TestDatabase } from './database.js'
import { serve, type TestServer } from './server.js'

/** A database, an application and its models on a real server. */
export type Stage<Models extends object = object> = Models &
  TestDatabase &
  TestServer & {
    readonly app: Express
  }

/** Defines models and mounts routers of an application. Returned models become members of the stage. */
type SetUp<Result> = (database: TestDatabase, app: Express) => Result

interface StageOptions {
  readonly sequelize?: Options
  /** Creates the application. Default: Express 5. */
  readonly create?: () => Express
}

/**
 * Opens a database and serves an application. `setUp` defines models and mounts routers. Tables are created after
 * `setUp`, because mounting may add attributes. Without `setUp`, the caller does all of this with the stage's `sequelize`
 * and `app`.
 */
export function openStage<Models extends object>(setUp: SetUp<Models>, options?: StageOptions): Promise<Stage<Models>>
export function openStage(setUp: SetUp<void>, options?: StageOptions): Promise<Stage>
export function openStage(options?: StageOptions): Promise<Stage>
export async function openStage(first: SetUp<unknown> | StageOptions = {}, second: StageOptions = {}): Promise<Stage> {
  const [setUp, options] = typeof first === 'function' ? [first, second] : [null, first]
  const database = await openDatabase(options.sequelize)
  const app = (options.create ?? express)()
  const models = Object(setUp?.(database, app))
  if (setUp !== null) await database.sequelize.sync()
  const server = await serve(app)
  return {
    ...models,
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
