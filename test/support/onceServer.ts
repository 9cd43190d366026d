// A server whose writes are done once, over a database that is there already: its options as JSON in ONCE. A request may ask it
// to kill itself: `x-die: inside` while the write is in its transaction, `x-die: behind` when it is committed and not answered.

import type { AddressInfo } from 'node:net'
import express from 'express'
import { DataTypes, type Options, Sequelize } from 'sequelize'
import { crudRouter, type IdentityFunction } from '../../lib/index.js'

const options: Options = JSON.parse(process.env.ONCE ?? '{}')
const sequelize = new Sequelize({ ...options, logging: false })
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
        // Whatever comes behind it is not done any more.
        await new Promise(() => undefined)
      },
    },
  }),
)
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
