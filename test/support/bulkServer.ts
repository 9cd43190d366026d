// A server in a process of its own, for tests that kill it: `node bulkServer.js <SQLite file> <hooked?>`. It prints its
// port once it listens.

import express from 'express'
import { DataTypes, Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { serve } from './server.js'

const [, , storage = '', hooked] = process.argv
const sequelize = new Sequelize({ dialect: 'sqlite', storage, logging: false })
await sequelize.query('PRAGMA journal_mode = WAL')
const Row = sequelize.define('Row', { batch: DataTypes.INTEGER, place: DataTypes.INTEGER }, { timestamps: false })
const app = express()
const options = hooked === 'hooked' ? { hooks: { afterCreate: () => undefined } } : {}
app.use(crudRouter(Row, { operations: Operations.AllWithBulk, ...options }))
await sequelize.sync()
const { url } = await serve(app)
console.log(url)
