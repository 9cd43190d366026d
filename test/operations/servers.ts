// The servers that the rigs start: they answer, and are gone afterwards.

import { existsSync } from 'node:fs'
import { QueryTypes, Sequelize } from 'sequelize'
import {
  type DatabaseServer,
  MARIADB,
  onServer,
  PGBOUNCER,
  POSTGRES,
  postgresAt,
  startMariaDb,
  startPgBouncer,
  startPostgres,
  startProxy,
} from './servers/index.js'
import { rig, using } from './servers/rig.js'

async function countOn({ options }: Pick<DatabaseServer, 'options'>): Promise<unknown> {
  const sequelize = new Sequelize(options)
  try {
    await sequelize.query('CREATE TABLE IF NOT EXISTS things (id INTEGER)')
    await sequelize.query('INSERT INTO things VALUES (1)')
    const rows = await sequelize.query('SELECT COUNT(*) AS number FROM things', { type: QueryTypes.SELECT })
    return Number(Reflect.get(Object(rows[0]), 'number'))
  } finally {
    await sequelize.close()
  }
}

rig(POSTGRES, PGBOUNCER)('PostgreSQL and PgBouncer answer, and leave nothing behind', async (t) => {
  const postgres = using(t, await startPostgres())
  const pooler = using(t, await startPgBouncer({ server: postgres.port }))
  t.is(await countOn(pooler), 1)
  t.is(await countOn(postgres), 2)
  await pooler.stop()
  await postgres.stop()
  t.false(existsSync(postgres.folder) || existsSync(pooler.folder))
  await t.throwsAsync(onServer(postgres.options, 'SELECT 1'))
})

rig(MARIADB)('MariaDB answers, and leaves nothing behind', async (t) => {
  const server = using(t, await startMariaDb())
  t.is(await countOn(server), 1)
  await server.stop()
  t.false(existsSync(server.folder))
})

rig(POSTGRES)('a proxy leads to one server after the other, falls silent, and cuts', async (t) => {
  const postgres = using(t, await startPostgres())
  const proxy = using(t, await startProxy(postgres.port))
  const sequelize = new Sequelize(postgresAt(proxy.port))
  t.teardown(() => sequelize.close())
  const ask = (): Promise<string> => sequelize.query('SELECT 1').then(() => 'answered', String)
  t.is(await ask(), 'answered')
  proxy.silence()
  const silent = ask()
  const late = new Promise<string>((resolve) => setTimeout(resolve, 300, 'silent'))
  t.is(await Promise.race([silent, late]), 'silent')
  proxy.resume()
  t.is(await silent, 'answered')
  proxy.cut()
  t.is(await ask().then((said) => (said === 'answered' ? said : ask())), 'answered')
  t.true(proxy.count >= 2)
})
