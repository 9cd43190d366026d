// pgpool-II before a primary and a replica that is behind: it sends SELECTs outside transactions to the replica, also those that belong
// to a write. Where Sequelize has both addresses, requests are split and not statements.

import type { ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic, type Options, Sequelize } from 'sequelize'
import { crudRouter } from '../../lib/index.js'
import { serve, type TestServer } from '../support/server.js'
import { PGPOOL, REPLICA, startPgpool, startPostgres, startReplica } from './servers/index.js'
import { rig, tell, using } from './servers/rig.js'

/** Milliseconds by which the replica is behind. */
const LAG = 2000
const ROUNDS = 40
const PRIMARY = { Prefer: 'read=primary' }

function defineModels(sequelize: Sequelize): Record<'Team' | 'Player', ModelStatic<Model>> {
  const define = (name: string): ModelStatic<Model> =>
    sequelize.define(name, { name: DataTypes.STRING(50) }, { timestamps: false })
  const [Team, Player] = [define('Team'), define('Player')]
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  return { Team, Player }
}

async function open(t: ExecutionContext, options: Options): Promise<TestServer> {
  const sequelize = new Sequelize({ ...options, pool: { max: 5 } })
  t.teardown(() => sequelize.close())
  const { Team, Player } = defineModels(sequelize)
  const app = express()
  app.use(crudRouter(Team, { relations: { players: { routes: true } }, onError: () => undefined }))
  app.use(crudRouter(Player, { onError: () => undefined }))
  const server = await serve(app)
  t.teardown(() => server.close())
  return server
}

interface Wrong {
  requests: number
  'refused writes': number
  'old reads': number
}

/** Writes, and reads what it has just written. */
async function use(server: TestServer): Promise<Wrong> {
  const figures = { requests: 0, 'refused writes': 0, 'old reads': 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    const { body: team } = await server.post('/api/teams', { name: 'new' })
    const path = `/api/teams/${team.id}`
    const below = await server.post(`${path}/players`, { name: 'below' })
    const changed = await server.patch(path, { name: 'changed' })
    for (const { status } of [below, changed]) if (status >= 300) figures['refused writes'] += 1
    const read = await server.get(path, PRIMARY)
    if (read.body.name !== 'changed') figures['old reads'] += 1
    figures.requests += 4
  }
  return figures
}

rig(REPLICA, PGPOOL)(
  'behind a proxy that splits statements, Sequelize with both addresses finds what was written',
  async (t) => {
    const primary = using(t, await startPostgres())
    const sequelize = new Sequelize(primary.options)
    defineModels(sequelize)
    await sequelize.sync()
    await sequelize.close()
    const replica = using(t, await startReplica(primary, { recovery_min_apply_delay: LAG }))
    const proxy = using(t, await startPgpool(primary, replica))
    const split = await use(await open(t, proxy.options))
    tell(t, { by: 'statements', ...split })
    const { options } = primary
    const whole = await use(await open(t, { ...options, replication: { write: options, read: [proxy.options] } }))
    tell(t, { by: 'requests', ...whole })
    t.deepEqual([whole['refused writes'], whole['old reads']], [0, 0])
    t.true(split['refused writes'] + split['old reads'] > 0)
  },
)
