// A process of `npm run bench:start`. The process measures the cost of mounting a number of models, and of the first
// requests to each.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Sequelize } from 'sequelize'
import { type Call, Client } from '../client.js'
import { type Cost, costOf } from './cost.js'
import { BODY, defineModels } from './models.js'

/** Durations of requests in milliseconds: the median over the models. */
export interface Requests {
  readonly list: number
  readonly listAgain: number
  readonly create: number
  readonly createAgain: number
}

/** Result of a process. */
export interface Mounted {
  readonly cost: Cost
  readonly requests: Requests
}

const sequelize = new Sequelize({ dialect: 'sqlite', storage: ':memory:', logging: false })
const models = defineModels(sequelize, Number(process.argv[2]))
// The package is imported by its name, so that the published files are measured.
const { crudRouter }: typeof import('../../lib/index.js') = await import('sequelize-crud-router' as string)

const app = express()
const cost = await costOf(() => {
  for (const model of models) app.use(crudRouter(model))
})
await sequelize.sync()
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const client = new Client((server.address() as AddressInfo).port, 1, {})
// The server's first request is not counted, because its cost does not belong to a model.
await client.request({ method: 'GET', path: '/api/nothing' }).catch(() => undefined)

async function medianOf(call: (path: string) => Call): Promise<number> {
  const times: number[] = []
  for (const { name } of models) times.push((await client.run([call(`/api/${name.toLowerCase()}s`)])).milliseconds)
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
}

const get = (path: string): Call => ({ method: 'GET', path })
const post = (path: string): Call => ({ method: 'POST', path, body: BODY })
const requests: Requests = {
  list: await medianOf(get),
  listAgain: await medianOf(get),
  create: await medianOf(post),
  createAgain: await medianOf(post),
}
server.close()
server.closeAllConnections()
await sequelize.close()
const mounted: Mounted = { cost, requests }
process.send?.(mounted)
