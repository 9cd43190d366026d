// A switchover that cuts no connection: the old primary only reads from then on, and the address leads to a new one. The pool's
// connections to the old one have to go.

import { setTimeout as wait } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Options, QueryTypes, Sequelize } from 'sequelize'
import { crudRouter } from '../../lib/index.js'
import { serve } from '../support/server.js'
import {
  type DatabaseServer,
  MARIADB,
  mariaDbAt,
  onServer,
  POSTGRES,
  postgresAt,
  startMariaDb,
  startPostgres,
  startProxy,
} from './servers/index.js'
import { rig, tell, using } from './servers/rig.js'

const WRITERS = 4
const MAKE = 'CREATE TABLE things (id SERIAL PRIMARY KEY, name VARCHAR(50))'

interface Switchover {
  readonly old: DatabaseServer
  readonly next: DatabaseServer
  readonly optionsAt: (port: number) => Options
  /** Has the old primary only read. */
  readonly turn: () => Promise<void>
}

async function run(t: ExecutionContext, { old, next, optionsAt, turn }: Switchover): Promise<void> {
  for (const server of [old, next]) await onServer(server.options, MAKE)
  const proxy = using(t, await startProxy(old.port))
  const sequelize = new Sequelize({ ...optionsAt(proxy.port), logging: false })
  t.teardown(() => sequelize.close())
  const Thing = sequelize.define('thing', { name: DataTypes.STRING(50) }, { timestamps: false })
  const app = express()
  app.use(crudRouter(Thing, { onError: () => undefined }))
  const server = await serve(app)
  t.teardown(() => server.close())

  const figures = { requests: 0, '201': 0, '503': 0, other: 0, lost: 0, doubled: 0, 'ms to heal': -1 }
  const acknowledged: string[] = []
  const refused: string[] = []
  let switched = 0
  let isOver = false
  const writer = async (writer: number): Promise<void> => {
    for (let number = 0; !isOver; number += 1) {
      const name = `${writer}-${number}`
      const { status, headers } = await server.post('/api/things', { name })
      figures.requests += 1
      if (status === 201) acknowledged.push(name)
      else refused.push(name)
      if (status === 503) t.regex(headers.get('retry-after') ?? '', /^\d+$/)
      figures[status === 201 ? '201' : status === 503 ? '503' : 'other'] += 1
      if (status === 201 && switched > 0 && proxyLeads) {
        if (figures['ms to heal'] < 0) figures['ms to heal'] = Math.round(performance.now() - switched)
      }
      await wait(5)
    }
  }
  let proxyLeads = false
  const writers = Promise.all(Array.from({ length: WRITERS }, (_, index) => writer(index)))
  await wait(1000)
  await turn()
  await wait(300)
  proxy.lead(next.port)
  proxyLeads = true
  switched = performance.now()
  const refusedBefore = figures['503']
  await wait(3000)
  isOver = true
  await writers

  const names: unknown[] = []
  for (const { options } of [old, next]) {
    const other = new Sequelize({ ...options, logging: false })
    names.push(
      ...(await other.query('SELECT name FROM things', { type: QueryTypes.SELECT })).map((row) => Object(row).name),
    )
    await other.close()
  }
  const there = new Set(names)
  figures.lost = acknowledged.filter((name) => !there.has(name)).length
  figures.doubled = names.length - there.size
  tell(t, { ...figures, '503 after the switch': figures['503'] - refusedBefore })
  t.is(figures.other, 0)
  t.is(figures.lost, 0)
  t.is(figures.doubled, 0)
  t.is(refused.filter((name) => there.has(name)).length, 0)
  t.true(figures['ms to heal'] >= 0)
  // Each connection of the pool is refused once.
  t.true(figures['503'] - refusedBefore <= 10)
}

rig(POSTGRES)('the pool heals after a switchover of PostgreSQL that cuts no connection', async (t) => {
  const [old, next] = [using(t, await startPostgres()), using(t, await startPostgres())]
  const turn = (): Promise<void> =>
    onServer(old.options, 'ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()')
  await run(t, { old, next, optionsAt: postgresAt, turn })
})

for (const dialect of ['mariadb', 'mysql'] as const) {
  rig(MARIADB)(`the pool heals after a switchover of MariaDB that cuts no connection, by ${dialect}`, async (t) => {
    const servers = [using(t, await startMariaDb()), using(t, await startMariaDb())].map((server) => ({
      ...server,
      options: mariaDbAt(server.port, 'mysql'),
    }))
    const [old, next] = servers
    if (old === undefined || next === undefined) throw new TypeError('there are two servers')
    // Root may write to a server that only reads.
    const grants = ["CREATE USER app@'%' IDENTIFIED BY 'app'", "GRANT ALL ON test.* TO app@'%'"]
    for (const { options } of servers) await onServer(options, ...grants)
    const optionsAt = (port: number): Options => ({ ...mariaDbAt(port, dialect), username: 'app', password: 'app' })
    await run(t, { old, next, optionsAt, turn: () => onServer(old.options, 'SET GLOBAL read_only = 1') })
  })
}
