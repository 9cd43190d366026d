// A server with idempotency on an existing database. The environment variable ONCE has Sequelize's options as JSON. A
// header makes the process kill itself: `x-die: inside` in the transaction of a write, `x-die: behind` after the commit
// and before the response.

import type { AddressInfo } from 'node:net'
import express from 'express'
import { DataTypes, type Options, Sequelize } from 'sequelize'
import { crudRouter, type IdentityFunction } from '../../lib/index.js'
import { withDriver } from './database.js'

const options: Options = JSON.parse(process.env.ONCE ?? '{}')
const sequelize = new Sequelize({ ...withDriver(options), logging: false })
const Thing = sequelize.define(
  'thing',
  { name: DataTypes.STRING(30), code: { type: DataTypes.STRING(30), unique: true } },
  { timestamps: false },
)
const die = (): void => {
  process.kill(process.pid, 'SIGKILL')
}
const nobody: IdentityFunction = () => null

const app = express()
app.use((req, res, next) => {
  if (req.headers['x-die'] === 'behind')
    res.end = () => {
      die()
      return res
    }
  next()
})
app.use(
  crudRouter(Thing, {
    identity: nobody,
    idempotency: true,
    hooks: {
      afterCreate: async ({ request }) => {
        if (request.headers['x-die'] !== 'inside') return
        die()
        // The hook never ends, so that no later code runs before the process dies.
        await new Promise(() => undefined)
      },
    },
  }),
)
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
