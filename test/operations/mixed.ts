// Mixed load on a primary of PostgreSQL and its replica behind PgBouncer, while the primary is killed once and switched over once. Nothing
// that was acknowledged is lost and nothing that was refused is written. `npm run test:operations -- mixed --minutes 30` runs for longer.

import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Model, type ModelStatic, QueryTypes, Sequelize } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { serve, type TestServer } from '../support/server.js'
import { type Cluster, startCluster } from './mixed/cluster.js'
import { Load } from './mixed/load.js'
import { PGBOUNCER, REPLICA } from './servers/index.js'
import { rig, tell } from './servers/rig.js'

const MINUTES = Number(process.env.OPERATIONS_MINUTES ?? 1)
const WRITERS = 6
const READERS = 2

function defineModels(sequelize: Sequelize): readonly ModelStatic<Model>[] {
  const Thing = sequelize.define(
    'Thing',
    {
      name: { type: DataTypes.STRING(50), unique: true },
      value: { type: DataTypes.INTEGER, allowNull: false },
      rowVersion: DataTypes.INTEGER,
    },
    { timestamps: false },
  )
  const Part = sequelize.define('Part', { name: DataTypes.STRING(50) }, { timestamps: false })
  Thing.hasMany(Part, { as: 'parts', foreignKey: 'thingId', onDelete: 'CASCADE' })
  Part.belongsTo(Thing, { as: 'thing', foreignKey: 'thingId' })
  return [Thing, Part]
}

function routersOf(sequelize: Sequelize): express.Express {
  const app = express()
  const [Thing, Part] = defineModels(sequelize)
  if (Thing === undefined || Part === undefined) throw new TypeError('there are two models')
  const shared = { operations: Operations.AllWithBulk, onError: () => undefined }
  const relations = { parts: { write: true, routes: true } }
  app.use(crudRouter(Thing, { ...shared, concurrency: true, idempotency: true, relations }))
  app.use(crudRouter(Part, shared))
  return app
}

async function makeTables(sequelize: Sequelize): Promise<void> {
  routersOf(sequelize)
  await sequelize.sync()
  await sequelize.close()
}

async function open(t: ExecutionContext, { write, read }: Cluster): Promise<TestServer> {
  const sequelize = new Sequelize({
    ...write,
    replication: { write, read: [read] },
    pool: { max: 8, acquire: 10_000 },
    // With replicas Sequelize 6 throws where nobody catches it, if a connection breaks while these settings are sent.
    ...{ keepDefaultTimezone: true },
    dialectOptions: { clientMinMessages: 'ignore' },
  })
  const server = await serve(routersOf(sequelize))
  t.teardown(() => sequelize.close())
  t.teardown(() => server.close())
  return server
}

/** The records of the primary that are not as the answers say. */
async function compare(
  { primary }: Cluster,
  load: Load,
): Promise<Record<'lost' | 'written after 503' | 'doubled', number>> {
  const sequelize = new Sequelize(primary())
  const rows = await sequelize.query('SELECT name, value FROM "Things"', { type: QueryTypes.SELECT })
  await sequelize.close()
  const found = new Map(rows.map((row): [string, number] => [Object(row).name, Object(row).value]))
  const figures = { lost: 0, 'written after 503': 0, doubled: rows.length - found.size }
  for (const [name, possible] of load.expected) {
    const value = found.get(name) ?? null
    if (possible.includes(value)) continue
    load.surprise(`${name} is ${value}, not ${possible.join(' or ')}`)
    figures[possible.includes(null) ? 'written after 503' : 'lost'] += 1
  }
  return figures
}

rig(REPLICA, PGBOUNCER)(`${MINUTES} min of mixed load outlive a failover and a switchover`, async (t) => {
  const time = MINUTES * 60_000
  t.timeout(time + 240_000)
  const cluster = await startCluster(t, makeTables)
  const load = new Load(await open(t, cluster))
  const began = performance.now()
  const say = (text: string): void =>
    console.log(`${Math.round((performance.now() - began) / 1000)} s, ${text}: ${JSON.stringify(load.figures)}`)
  const ticks = setInterval(say, 60_000, 'under way')
  t.teardown(() => clearInterval(ticks))
  load.start(WRITERS, READERS)
  await wait(time / 3)
  say('failover')
  load.kill()
  await cluster.failOver()
  await wait(Math.max(0, (2 * time) / 3 - (performance.now() - began)))
  say('switchover')
  load.mayBeOld(true)
  await cluster.switchOver()
  load.mayBeOld(false)
  const before = load.figures['503']
  await wait(Math.max(5000, time - (performance.now() - began)))
  await load.stop()
  const differences = await compare(cluster, load)
  const { inDoubt, repeated, surprises, figures } = load
  tell(t, { ...figures, ...differences, 'in doubt': inDoubt, 'sent under a key': repeated.length })
  tell(t, { '503 after both were over': figures['503'] - before })
  for (const text of surprises) t.log(text)
  t.deepEqual(differences, { lost: 0, 'written after 503': 0, doubled: 0 })
  t.is(figures.other + figures['no Retry-After'], 0)
  t.deepEqual(surprises, [])
  t.is(figures['503'] - before, 0)
  t.true(figures['2xx'] > figures.requests / 4)
})
