import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import ava from 'ava'
import express, { type Express, type RequestHandler } from 'express'
import express4 from 'express4'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { clientOf } from '../../support/server.js'

const database = await openDatabase()
const Player = database.sequelize.define('Player', { name: { type: DataTypes.STRING(50), allowNull: false } })
await database.sequelize.sync()
await Player.create({ name: 'Jan' })
ava.after.always(() => database.close())

// Their declarations differ only where these tests do not look.
const FRAMEWORKS: readonly (readonly [name: string, create: typeof express])[] = [
  ['Express 5', express],
  ['Express 4', express4 as unknown as typeof express],
]

/** Members that Express, its routers and parsers of bodies give to a request after its start. */
const LATER = ['res', 'next', 'baseUrl', 'originalUrl', '_parsedUrl', 'params', 'route', 'body', '_body', 'query']

/** Records what a request and its response have before a handler runs: own members, members by prototypes, descriptors. */
function recorder(app: Express): { readonly record: RequestHandler; readonly seen: unknown[] } {
  const seen: unknown[] = []
  const record: RequestHandler = (req, res, next) => {
    seen.push({
      own: Object.keys(req),
      later: LATER.filter((name) => name in req),
      ownLater: LATER.filter((name) => Object.hasOwn(req, name)),
      symbols: Object.getOwnPropertySymbols(req).map(String),
      response: Object.keys(res),
      prototypes: [Object.getPrototypeOf(req) === app.request, Object.getPrototypeOf(res) === app.response],
    })
    next()
  }
  return { record, seen }
}

for (const [framework, create] of FRAMEWORKS) {
  ava(
    `${framework}: requests and responses have what Express gives them, whatever a router has answered before`,
    async (t) => {
      const app = create()
      const { record, seen } = recorder(app)
      app.use(record)
      app.get('/own', (_req, res) => {
        res.json({})
      })
      app.use(crudRouter(Player))
      const server = createServer(app).listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.teardown(() => {
        server.closeAllConnections()
        server.close()
      })
      const { get, post } = clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      t.is((await get('/own')).status, 200)
      for (let times = 0; times < 3; times += 1) {
        t.is((await get('/api/players/1')).status, 200)
        t.is((await get('/api/players?filter=Name=Jan')).status, 200)
        t.is((await post('/api/players', { name: 'New' })).status, 201)
      }
      t.is((await get('/own')).status, 200)
      const [first, ...others] = seen
      t.is(others.length, 10)
      for (const other of others) t.deepEqual(other, first)
    },
  )
}
