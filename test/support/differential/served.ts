// Writes the rows of a world into a database, and serves them over HTTP.

import type { RequestHandler } from 'express'
import { DataTypes, type Model, type ModelAttributes, type ModelStatic, type Sequelize, Utils } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { openStage, type Stage } from '../stage.js'
import { jsonOf } from './kinds.js'
import { choosesKeys, LINKS, TABLES, TAGGED, type Table, type TableName, type Value } from './schema.js'
import { keyOf, type Row, valueIn, type World } from './world.js'

interface Models {
  readonly routers: readonly RequestHandler[]
  readonly through: ModelStatic<Model>
}

/** Serves a world. `own` returns additional options for the resource of a table. */
export async function serveWorld(
  world: World,
  own: (table: Table) => CrudOptions = () => ({}),
): Promise<Stage<Models>> {
  const served = await openStage<Models>(
    ({ sequelize }, app) => {
      const models = define(sequelize, world.underscored, own)
      const { routers } = models
      app.use([...routers])
      return models
    },
    { sequelize: { logging: false, define: { underscored: world.underscored } } },
  )
  for (const table of TABLES) await create(served, world, table)
  await served.through.bulkCreate(world.tagged.map(([item, tag]) => ({ itemId: Number(item), tagId: String(tag) })))
  for (const table of TABLES) await remove(served, world, table)
  return served
}

function define(sequelize: Sequelize, underscored: boolean, own: (table: Table) => CrudOptions): Models {
  const models = new Map<TableName, ModelStatic<Model>>()
  for (const table of TABLES) {
    const foreign = new Set(LINKS.filter(({ from }) => from === table.name).map(({ key }) => key))
    const attributes: ModelAttributes = {}
    for (const column of table.columns) {
      if (foreign.has(column.name)) continue
      if (column !== table.key) attributes[column.name] = { type: column.type, allowNull: column.nullable }
      else if (choosesKeys(table.name)) attributes.id = { type: column.type, primaryKey: true }
    }
    const hooks = table.hooked ? { beforeFind: (): void => undefined } : {}
    // An index on the foreign key changes the statement that reads the records of an owner. Half of the foreign keys
    // have an index.
    const indexes = LINKS.filter(({ from }, index) => from === table.name && index % 2 === 0).map(({ key }) => ({
      fields: [Utils.underscoredIf(key, underscored)],
    }))
    models.set(table.name, sequelize.define(table.name, attributes, { timestamps: false, hooks, indexes }))
  }
  for (const { from, as, to, back, key, required, unique } of LINKS) {
    const [source, target] = [modelOf(models, from), modelOf(models, to)]
    const foreignKey = { name: key, allowNull: !required }
    source.belongsTo(target, { as, foreignKey })
    if (unique) target.hasOne(source, { as: back, foreignKey })
    else target.hasMany(source, { as: back, foreignKey })
  }
  const through = sequelize.define('Tagging', { note: DataTypes.STRING }, { timestamps: false })
  const [item, tag] = [modelOf(models, TAGGED.from), modelOf(models, TAGGED.to)]
  item.belongsToMany(tag, { as: TAGGED.as, through, foreignKey: 'itemId', otherKey: 'tagId' })
  tag.belongsToMany(item, { as: TAGGED.back, through, foreignKey: 'tagId', otherKey: 'itemId' })
  // Routers are created before the tables, because soft delete adds attributes to models.
  const routers = TABLES.map((table) =>
    crudRouter(modelOf(models, table.name), {
      operations: Operations.AllWithBulk,
      fields: { id: { filterable: true } },
      softDelete: table.softDelete,
      // Limits are above the defaults, so that large requests are allowed.
      limits: { joins: 100, quantifiers: 100, quantifierDepth: 3, pathDepth: 10, selectFields: 100, embedTotal: 1e9 },
      ...own(table),
    }),
  )
  return { routers, through }
}

function modelOf(models: ReadonlyMap<TableName, ModelStatic<Model>>, name: TableName): ModelStatic<Model> {
  const model = models.get(name)
  if (model === undefined) throw new RangeError(`there is no model ${name}`)
  return model
}

/** Expected record of a row in a response, with all columns in their order. */
export function recordOf({ columns }: Table, row: Row): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => [column.name, jsonOf(column, valueIn(row, column))]))
}

async function create(served: Stage<Models>, world: World, table: Table): Promise<void> {
  const rows = world.all(table.name)
  const { status, text, body } = await served.send('POST', `${table.path}/bulk`, {
    body: `[${rows.map((row) => bodyOf(table, row)).join(',')}]`,
    headers: { 'content-type': 'application/json' },
  })
  if (status !== 201) throw new Error(`${table.name}: ${status} ${text}`)
  const keys = body.map(({ id }: { id: unknown }) => id)
  if (keys.join() !== rows.map(keyOf).join()) throw new Error(`${table.name} got the keys ${keys}`)
  for (const row of rows) {
    for (const name of ownLinks(table, row)) {
      const answer = await served.patch(`${table.path}/${keyInPath(keyOf(row))}`, { [name]: Number(keyOf(row)) })
      if (answer.status !== 200) throw new Error(`${table.name}: ${answer.status} ${answer.text}`)
    }
  }
}

/**
 * Foreign keys of a row that refer to the row itself. MySQL rejects such a reference on insert if the row's key is
 * generated.
 */
function ownLinks({ name }: Table, row: Row): string[] {
  const links = LINKS.filter(({ from, to }) => from === name && to === name)
  return links.map(({ key }) => key).filter((key) => valueIn(row, { name: key }) === keyOf(row))
}

/** Writes the body that creates a row. `JSON.stringify` alone would lose the sign of negative zero. */
function bodyOf(table: Table, row: Row): string {
  const { columns, key, name } = table
  const later = ownLinks(table, row)
  const members = columns
    .filter((column) => column !== key || choosesKeys(name))
    .map((column) => {
      const value = later.includes(column.name) ? null : valueIn(row, column)
      const json = Object.is(value, -0) ? '-0' : JSON.stringify(jsonOf(column, value))
      return `${JSON.stringify(column.name)}:${json}`
    })
  return `{${members.join(',')}}`
}

async function remove(served: Stage<Models>, world: World, table: Table): Promise<void> {
  const keys = world.all(table.name).flatMap((row) => (row.deleted ? [jsonOf(table.key, keyOf(row))] : []))
  if (keys.length === 0) return
  const { status, text } = await served.post(`${table.path}/bulk-delete`, keys)
  if (status !== 200) throw new Error(`${table.name}: ${status} ${text}`)
}

/** Writes a key as a path segment. */
export function keyInPath(value: Value): string {
  return encodeURIComponent(String(value))
}
