import express from 'express'
import type { Model, ModelStatic, Options, Sequelize } from 'sequelize'
import { type CrudRouter, createCrud } from '../../../lib/index.js'
import type { Resource } from '../../../types/resource.js'
import { openDatabase, type TestDatabase } from '../database.js'
import { serve, type TestServer } from '../server.js'
import { Tables } from './tables.js'

type Any = ModelStatic<Model>

/** A published sample database: Sequelize models, rows, and a resource for every table that can have a resource. */
export interface Schema<Models extends Readonly<Record<string, Any>>> {
  readonly define: (sequelize: Sequelize) => Models
  /** Rows by model. Foreign keys refer only to earlier rows. */
  readonly rows: Readonly<Record<keyof Models, readonly object[]>>
  /** Boolean attributes that mark a row as deleted, by model. */
  readonly marks?: Readonly<Partial<Record<keyof Models, string>>>
  readonly mount: (models: Models, crud: ReturnType<typeof createCrud>['crudRouter']) => readonly CrudRouter[]
}

export interface ServedSchema<Models = Readonly<Record<string, Any>>> extends TestServer {
  readonly database: TestDatabase
  readonly models: Models
  readonly resources: readonly Resource[]
  /** Errors behind responses with status 500 or 503. No request may cause such a response. */
  readonly errors: readonly unknown[]
  /** The inserted rows. */
  readonly tables: Tables
}

/** Serves a sample database. Routers are created before the tables, because they may add attributes. */
export async function serveSchema<Models extends Readonly<Record<string, Any>>>(
  schema: Schema<Models>,
  options: Options = {},
): Promise<ServedSchema<Models>> {
  const database = await openDatabase(options)
  const models = schema.define(database.sequelize)
  const errors: unknown[] = []
  // The tests use all relation paths, including nested collections.
  const { crudRouter } = createCrud({ limits: { quantifierDepth: 3 }, onError: (error) => errors.push(error) })
  const routers = schema.mount(models, crudRouter)
  const resources = routers.map(({ resource }) => resource as Resource)
  const marks = new Map(
    Object.entries<string | undefined>(schema.marks ?? {}).flatMap(([name, mark]) => {
      const model = models[name]
      return model === undefined || mark === undefined ? [] : [[model, mark] as const]
    }),
  )
  await database.sequelize.sync()
  for (const [name, rows] of Object.entries<readonly object[]>(schema.rows)) {
    await models[name]?.bulkCreate(rows.map((row) => ({ ...row })))
  }
  const tables = new Tables(resources, marks)
  await tables.load(Object.values(models))
  const app = express()
  app.use(...routers)
  const server = await serve(app)
  return {
    ...server,
    database,
    models,
    resources,
    errors,
    tables,
    close: async () => {
      await server.close()
      await database.close()
    },
  }
}

/**
 * Defines a one-to-many relation on both sides. As in the published databases, a parent with children cannot be
 * deleted.
 */
export function relate(
  child: Any,
  parent: Any,
  names: { readonly foreignKey: string; readonly one: string; readonly many: string },
): void {
  const options = { foreignKey: names.foreignKey, onDelete: 'NO ACTION', onUpdate: 'NO ACTION' }
  child.belongsTo(parent, { as: names.one, ...options })
  parent.hasMany(child, { as: names.many, ...options })
}

/** Defines a many-to-many relation on both sides. The join table has two keys. */
export function relateMany(
  [left, leftKey, lefts]: readonly [model: Any, foreignKey: string, many: string],
  [right, rightKey, rights]: readonly [model: Any, foreignKey: string, many: string],
  through: Any,
): void {
  const options = { through, onDelete: 'NO ACTION', onUpdate: 'NO ACTION' }
  left.belongsToMany(right, { as: rights, foreignKey: leftKey, otherKey: rightKey, ...options })
  right.belongsToMany(left, { as: lefts, foreignKey: rightKey, otherKey: leftKey, ...options })
}
