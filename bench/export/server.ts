// Server of the export benchmark. The server has a single database connection, so that a request that keeps the
// connection blocks all others. The server reports its memory and its number of statements to the parent process.

import { createServer } from 'node:http'
import express from 'express'
import { Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { listen, target } from '../servers/serve.js'
import { defineRecord } from './rows.js'

let statements = 0
const sequelize = new Sequelize({
  ...target(),
  pool: { max: 1 },
  logging: () => {
    statements += 1
  },
})
const app = express()
app.use(
  crudRouter(defineRecord(sequelize), {
    operations: Operations.All | Operations.Export,
    limits: { exportItems: 100_000_000 },
  }),
)

export interface MemoryUsage {
  readonly heap: number
  readonly statements: number
}

process.on('message', () => {
  globalThis.gc?.()
  const usage: MemoryUsage = { heap: process.memoryUsage().heapUsed, statements }
  process.send?.(usage)
})
listen(createServer(app))
