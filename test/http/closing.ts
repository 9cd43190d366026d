// Routers that are closed, and relations that nobody has opened.

import { once } from 'node:events'
import { createServer } from 'node:http'
import test from 'ava'
import { DataTypes } from 'sequelize'
import { Server } from 'socket.io'
import { io as connect } from 'socket.io-client'
import { authenticated, crudController, crudHub, crudRouter } from '../../lib/index.js'
import { list, serveModels } from '../support/models.js'
import { serve } from '../support/server.js'

const world = await serveModels({
  define: (sequelize) => {
    const plain = { timestamps: false }
    const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
    const Player = sequelize.define('Player', { name: DataTypes.STRING }, plain)
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    return { Team, Player }
  },
  fill: async ({ Team, Player }) => {
    await Team.bulkCreate([{ name: 'Lakers' }])
    await Player.bulkCreate([{ name: 'Jan', teamId: 1 }])
  },
  mount: (app, { Player }) => {
    app.use(crudRouter(Player, { relations: { team: true } }))
  },
})
test.after.always(() => world.close())

type Client = ReturnType<typeof connect>

const told = (client: Client, event: string): Promise<readonly unknown[]> =>
  new Promise((resolve) => client.once(event, (...given: readonly unknown[]) => resolve(given)))

const status = async (): Promise<number> => (await list(world, '/api/players', { filter: 'Team.Name=Lakers' })).status

test.serial('an opened relation whose target has no resource is told once, with the remedy', async (t) => {
  const warnings: (Error & { code?: string })[] = []
  const listener = (warning: Error): unknown => warnings.push(warning)
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  for (let round = 0; round < 3; round += 1) t.is(await status(), 400)
  await new Promise(setImmediate)
  t.is(warnings.length, 1)
  t.is(warnings[0]?.code, 'CRUD_RELATION_CLOSED')
  t.regex(warnings[0]?.message ?? '', /Player: relations\.team is true, but Team has no resource.*mount Team/)
})

test.serial(
  'a router or controller that is closed has no say in relation paths, and its model mounts with other options',
  async (t) => {
    for (const mount of [crudRouter, crudController]) {
      const closed = mount(world.Team, { authorizePolicy: authenticated })
      t.is(await status(), 400)
      const open = mount(world.Team)
      t.is(await status(), 400)
      await closed.close()
      await closed.close()
      t.is(await status(), 200)
      await open.close()
      t.is(await status(), 400)
    }
  },
)

test.serial(
  'closing a router or hub tells what was written, disconnects its clients, and frees the path',
  async (t) => {
    const server = createServer()
    const io = new Server(server)
    t.teardown(() => io.close())
    server.listen(0)
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const enter = (): Client => connect(`http://localhost:${port}/live`, { forceNew: true })
    for (const mount of [
      () => crudRouter(world.Team, { push: { io, path: '/live' } }),
      () => crudHub(world.Team, { io, path: '/live' }),
    ]) {
      const first = mount()
      t.throws(mount, { code: 'HUB_PATH_TAKEN' })
      const client = enter()
      t.teardown(() => client.close())
      await told(client, 'connect')
      const heard: unknown[] = []
      client.on('OnUpdated', (record) => heard.push(record))
      const gone = told(client, 'disconnect')
      first.notify?.updated(1)
      await first.close()
      t.is((await gone)[0], 'io server disconnect')
      t.is(heard.length, 1)
      const refused = enter()
      t.teardown(() => refused.close())
      const [error] = await told(refused, 'connect_error')
      t.is((error as Error).message, 'Invalid namespace')
      const second = mount()
      const again = enter()
      t.teardown(() => again.close())
      await told(again, 'connect')
      await second.close()
    }
  },
)

test.serial('the routes of a closed router answer as long as they are mounted', async (t) => {
  const express = (await import('express')).default
  const router = crudRouter(world.Team)
  const server = await serve(express().use(router))
  t.teardown(() => server.close())
  await router.close()
  t.is((await server.get('/api/teams/1')).body.name, 'Lakers')
})
