// Server of `npm run bench:drivers`. The server is a separate process, so that the load generator does not distort the
// figures.

import { createServer } from 'node:http'
import express from 'express'
import { DataTypes, Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { nodeSqlite } from '../../lib/node-sqlite/index.js'
import { cpuOf } from '../processes.js'

/**
 * Resources that requests used: processor time of all threads in microseconds, and the longest block of the event loop
 * in milliseconds.
 */
export interface Used {
  readonly microseconds: number
  readonly longest: number
}

const [, , driver = '', storage = ''] = process.argv
const dialectModule = driver === 'node:sqlite' ? { dialectModule: nodeSqlite } : {}
const sequelize = new Sequelize({ dialect: 'sqlite', storage, logging: false, ...dialectModule })
const Team = sequelize.define('Team', { name: { type: DataTypes.STRING, allowNull: false } })
const Player = sequelize.define(
  'Player',
  { name: { type: DataTypes.STRING, allowNull: false }, level: { type: DataTypes.INTEGER, allowNull: false } },
  { indexes: [{ fields: ['teamId'] }, { fields: ['level'] }] },
)
Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
await sequelize.query('PRAGMA journal_mode = WAL')
await sequelize.sync()
await Team.bulkCreate(Array.from({ length: 100 }, (_, index) => ({ name: `Team ${index}` })))
for (let first = 0; first < 200_000; first += 2000) {
  const rows = Array.from({ length: 2000 }, (_, index) => first + index)
  await Player.bulkCreate(
    rows.map((row) => ({ name: `Player ${row}`, level: row % 100, teamId: 1 + (row % 100) })),
    { validate: false },
  )
}

const app = express()
const operations = Operations.AllWithBulk | Operations.Aggregate
app.use(crudRouter(Player, { operations, limits: { cost: 1_000_000_000 }, onError: console.error }))
app.use(crudRouter(Team))

/**
 * Processor time of the main thread in milliseconds, if the system provides it, otherwise wall time. Wall time includes
 * waits on a busy machine.
 */
const processorTime = (): number => {
  const cpu = cpuOf(process.pid)
  return cpu === null ? performance.now() : cpu.main / 1000
}
let last = processorTime()
let longest = 0
let from = process.cpuUsage()
setInterval(() => {
  const now = processorTime()
  longest = Math.max(longest, now - last)
  last = now
}, 2)

process.on('message', (what) => {
  if (what === 'begin') {
    longest = 0
    from = process.cpuUsage()
    return process.send?.('begun')
  }
  const { user, system } = process.cpuUsage(from)
  const used: Used = { microseconds: user + system, longest: Math.max(longest, processorTime() - last) }
  return process.send?.(used)
})

const server = createServer(app).listen(0, '127.0.0.1', () => process.send?.(Object(server.address())))
