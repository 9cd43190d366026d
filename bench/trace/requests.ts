// Requests that are traced, and their server.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generator, playerBody } from '../data.js'
import { connect, Player, Team } from '../models.js'
import { application } from '../servers/application.js'

export interface TracedRequest {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

const TEAM = { name: 'Traced', players: [{ name: 'Ana Berg' }, { name: 'Ben Costa' }] }

export const REQUESTS: readonly TracedRequest[] = [
  { name: 'GET by id', method: 'GET', path: '/api/players/1' },
  {
    name: 'list, relation filter and sort',
    method: 'GET',
    path: '/api/players?filter=Team.Name=Team%203,Level>10&sort=-Level',
  },
  { name: 'PATCH', method: 'PATCH', path: '/api/players/2', body: { level: 7 } },
  { name: 'POST of a team with two players', method: 'POST', path: '/api/teams', body: TEAM },
  { name: 'POST', method: 'POST', path: '/api/players', body: { name: 'Chloé Dupont', teamId: 1 } },
  { name: 'DELETE', method: 'DELETE', path: '/api/players/' },
]

export interface TracedServer {
  /** Sends a request. Rejects for a status other than 2xx. */
  send(request: TracedRequest): Promise<unknown>
  close(): Promise<void>
}

const PLAYERS = 200

export async function start(): Promise<TracedServer> {
  const sequelize = connect({ dialect: 'sqlite', storage: ':memory:' })
  await sequelize.sync()
  await Team.bulkCreate(Array.from({ length: 10 }, (_, index) => ({ name: `Team ${index + 1}` })))
  const random = generator(1)
  const players = Array.from({ length: PLAYERS }, () => ({ ...playerBody(random), teamId: 1 + random(10) }))
  await Player.bulkCreate(players)
  const server = createServer(application()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    send: async ({ method, path, body }) => {
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
      })
      const text = await reply.text()
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
      return text === '' ? null : JSON.parse(text)
    },
    close: async () => {
      server.close()
      await sequelize.close()
    },
  }
}
