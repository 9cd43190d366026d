// The documents' SQL for tables that exist: what it makes of them must be what behaviours find in new ones.

import test, { type ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openDatabase, type TestDatabase } from '../../support/database.js'
import { pageWith, readPages } from '../../support/documents.js'
import { serve } from '../../support/server.js'

const mark = `<!-- sql: ${databaseName.replace('mariadb', 'mysql')} -->`
const { text } = pageWith(await readPages(), mark)
const [, sql = ''] = new RegExp(`${mark}\n\`\`\`sql\n([^]*?)\`\`\``).exec(text) ?? []

async function empty(t: ExecutionContext): Promise<TestDatabase> {
  const database = await openDatabase()
  t.teardown(database.close)
  return database
}

/** A model that lacks every attribute that behaviours want. */
function bare({ sequelize }: TestDatabase): ModelStatic<Model> {
  return sequelize.define('Player', { name: DataTypes.STRING }, { timestamps: false })
}

function route(model: ModelStatic<Model>): ReturnType<typeof crudRouter> {
  const operations = Operations.All | Operations.Restore
  return crudRouter(model, { operations, softDelete: true, concurrency: true, audit: true })
}

/** A table as it was before there was a router, with a record, after the documents' SQL. */
async function openOld(t: ExecutionContext): Promise<TestDatabase> {
  const old = await empty(t)
  await bare(old).sync()
  await bare(old).create({ name: 'Jan' })
  for (const statement of sql.split(';').filter((text) => text.trim() !== '')) await old.sequelize.query(statement)
  return old
}

test("the documents' SQL gives a table that exists the columns of a new one", async (t) => {
  const [old, fresh] = [await openOld(t), await empty(t)]
  const Fresh = bare(fresh)
  route(Fresh)
  await Fresh.sync()
  const columnsOf = ({ sequelize }: TestDatabase) => sequelize.getQueryInterface().describeTable('Players')
  t.deepEqual(await columnsOf(old), await columnsOf(fresh))
})

test("after the documents' SQL a record that was there is read, changed, deleted and restored", async (t) => {
  const old = await openOld(t)
  const server = await serve(express().use(route(bare(old))))
  t.teardown(server.close)
  const path = '/api/players/1'
  const read = await server.get(path)
  t.deepEqual([read.body, read.headers.get('etag')], [{ id: 1, name: 'Jan' }, 'W/"0"'])
  const changed = await server.patch(path, { name: 'Ann' }, { 'if-match': 'W/"0"' })
  t.deepEqual([changed.body, changed.headers.get('etag')], [{ id: 1, name: 'Ann' }, 'W/"1"'])
  t.is((await server.delete(path)).status, 204)
  t.is((await server.get(path)).status, 404)
  t.is((await server.send('POST', `${path}/restore`)).status, 200)
  t.deepEqual((await server.get(path)).body, { id: 1, name: 'Ann' })
})
