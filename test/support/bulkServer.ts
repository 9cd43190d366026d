// A server process for tests that kill it: `node bulkServer.js <SQLite file> [<batches>]`. Prints its URL when it
// listens. If a number of batches is given, it has hooks, and kills itself in the middle of the batch after that
// number.

import express from 'express'
import { DataTypes, Sequelize } from 'sequelize'
import { crudRouter, type Hook, Operations } from '../../lib/index.js'
import { sqliteOptions } from './database.js'
import { serve } from './server.js'

const [, , storage = '', batches] = process.argv
const sequelize = new Sequelize({ ...sqliteOptions, storage, logging: false })
await sequelize.query('PRAGMA journal_mode = WAL')
const Row = sequelize.define('Row', { batch: DataTypes.INTEGER, place: DataTypes.INTEGER }, { timestamps: false })
const app = express()
let begun = 0
const afterCreate: Hook = ({ instance }) => {
  if (instance.get('place') !== 50) return
  begun += 1
  if (begun > Number(batches)) process.kill(process.pid, 'SIGKILL')
}
const hooks = batches === undefined ? {} : { hooks: { afterCreate } }
app.use(crudRouter(Row, { operations: Operations.AllWithBulk, ...hooks }))
await sequelize.sync()
const { url } = await serve(app)
console.log(url)
