// Three Galera nodes behind an address that leads to another one with each connection: what a node answers may be older than what
// another one has taken.

import type { ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Options, Sequelize } from 'sequelize'
import { crudRouter } from '../../lib/index.js'
import { serve, type TestServer } from '../support/server.js'
import { GALERA, type MariaDbDialect, mariaDbAt, startGalera, startProxy } from './servers/index.js'
import { rig, tell, using } from './servers/rig.js'

const ROUNDS = 150
/** Of those that wait for the slowest node. */
const WAITING = 40

/** A resource whose every connection is a new one. */
async function open(t: ExecutionContext, options: Options, initSql?: string): Promise<TestServer> {
  const dialectOptions = { ...options.dialectOptions, ...(initSql === undefined ? {} : { initSql }) }
  const sequelize = new Sequelize({ ...options, dialectOptions, pool: { max: 4, maxUses: 1 } })
  t.teardown(() => sequelize.close())
  const Thing = sequelize.define('thing', { name: DataTypes.STRING(30) }, { timestamps: false })
  await Thing.sync()
  const app = express()
  app.use(crudRouter(Thing, { onError: () => undefined }))
  const server = await serve(app)
  t.teardown(server.close)
  return server
}

/** Writes much on one node until the test is over. The others apply it before what was written after it. */
async function load(t: ExecutionContext, options: Options): Promise<void> {
  const sequelize = new Sequelize({ ...options, pool: { max: 1 } })
  await sequelize.query('CREATE TABLE ballast (id INTEGER PRIMARY KEY, number INTEGER NOT NULL)')
  await sequelize.query('INSERT INTO ballast SELECT seq, 0 FROM seq_1_to_3000')
  let isOver = false
  const writing = async (): Promise<void> => {
    while (!isOver) await sequelize.query('UPDATE ballast SET number = number + 1')
  }
  const done = writing()
  t.teardown(async () => {
    isOver = true
    await done.finally(() => sequelize.close())
  })
}

rig(GALERA)('on Galera nodes answers are never older than the write that they answer', async (t) => {
  t.timeout(240_000)
  const nodes = await startGalera(3)
  for (const node of nodes) using(t, node)
  const proxy = using(t, await startProxy(...nodes.map(({ port }) => port)))
  const [first] = nodes
  if (first === undefined) throw new Error('there is no node')
  await load(t, first.options)
  for (const dialect of ['mariadb', 'mysql'] satisfies MariaDbDialect[]) {
    const server = await open(t, mariaDbAt(proxy.port, dialect))
    const { body } = await server.post('/api/things', { name: 'new' })
    let wrong = 0
    let refused = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `${dialect} ${round}`
      const answer = await server.patch(`/api/things/${body.id}`, { name })
      if (answer.status !== 200) refused += 1
      else if (answer.body.name !== name) wrong += 1
    }
    tell(t, { driver: dialect, patches: ROUNDS, wrong, refused })
    t.is(wrong, 0)
    // A node that has not yet found the record, or has applied another write meanwhile, says so.
    t.true(refused < ROUNDS / 10)
  }
  for (const initSql of [undefined, 'SET SESSION wsrep_sync_wait = 7']) {
    const server = await open(t, mariaDbAt(proxy.port), initSql)
    let missing = 0
    let old = 0
    for (let round = 0; round < WAITING; round += 1) {
      const made = await server.post('/api/things', { name: 'new' })
      const read = await server.get(`/api/things/${made.body.id}`)
      if (read.status === 404) missing += 1
      await server.patch(`/api/things/${made.body.id}`, { name: 'changed' })
      const again = await server.get(`/api/things/${made.body.id}`)
      if (again.body.name !== 'changed') old += 1
    }
    tell(t, { wait: initSql ?? 'none', writes: WAITING, missing, old })
    if (initSql !== undefined) t.deepEqual({ missing, old }, { missing: 0, old: 0 })
  }
})
