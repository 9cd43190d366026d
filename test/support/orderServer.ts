// A server process with orders and lines, for tests that kill it: `node orderServer.js <options of Sequelize as JSON>
// [<orders>]`. Prints its URL when it listens. If a number of orders is given, it has hooks, and kills itself in the
// middle of the order after that number.

import express from 'express'
import { type Options, Sequelize } from 'sequelize'
import { crudRouter, type Hook, Operations } from '../../lib/index.js'
import { withDriver } from './database.js'
import { defineOrders, SIZE } from './orders.js'
import { serve } from './server.js'

const [, , options = '', orders] = process.argv
const sequelize = new Sequelize(withDriver(JSON.parse(options) as Options))
const { Order, Line, Part } = defineOrders(sequelize)
const app = express()
let begun = 0
const afterCreate: Hook = ({ instance }) => {
  if (instance.get('place') !== SIZE / 2) return
  begun += 1
  if (begun > Number(orders)) process.kill(process.pid, 'SIGKILL')
}
const operations = Operations.AllWithBulk
app.use(crudRouter(Order, { operations, relations: { lines: { write: true } } }))
const hooks = orders === undefined ? {} : { hooks: { afterCreate } }
app.use(crudRouter(Line, { operations, relations: { parts: { write: true } }, ...hooks }))
app.use(crudRouter(Part))
const { url } = await serve(app)
console.log(url)
