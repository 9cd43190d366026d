// Writes that conflict with each other under strict levels of isolation: they are tried again, and each is done once.

import type { ExecutionContext } from 'ava'
import express from 'express'
import { DataTypes, type Options, QueryTypes, Sequelize, Transaction } from 'sequelize'
import { crudRouter, Operations } from '../../lib/index.js'
import { serve } from '../support/server.js'
import { MARIADB, mariaDbAt, POSTGRES, startMariaDb, startPostgres } from './servers/index.js'
import { rig, tell, using } from './servers/rig.js'

const UPDATES = 80
const ROWS = 10
const LINKS = 40
const { REPEATABLE_READ, SERIALIZABLE } = Transaction.ISOLATION_LEVELS

async function contest(t: ExecutionContext, options: Options): Promise<void> {
  const sequelize = new Sequelize({ ...options, logging: false, pool: { max: 10 } })
  t.teardown(() => sequelize.close())
  const plain = { timestamps: false }
  const Thing = sequelize.define('thing', { name: DataTypes.STRING(50), level: DataTypes.INTEGER }, plain)
  const Tag = sequelize.define('tag', { name: DataTypes.STRING(50) }, plain)
  Thing.belongsToMany(Tag, { through: 'ThingTags', as: 'tags', timestamps: false })
  Tag.belongsToMany(Thing, { through: 'ThingTags', as: 'things', timestamps: false })
  await sequelize.sync()
  await Thing.bulkCreate(Array.from({ length: ROWS }, (_, index) => ({ name: `thing ${index}`, level: 0 })))
  await Tag.bulkCreate([{ name: 'a' }, { name: 'b' }])
  const app = express()
  const heard: unknown[] = []
  const common = {
    operations: Operations.AllWithBulk | Operations.BulkUpdate,
    onError: (error: unknown) => heard.push(error),
  }
  app.use(crudRouter(Thing, { ...common, relations: { tags: { routes: true } } }))
  app.use(crudRouter(Tag, common))
  const server = await serve(app)
  t.teardown(() => server.close())
  const ids = Array.from({ length: ROWS }, (_, index) => index + 1)
  const shuffled = (by: number): number[] => ids.map((_, at) => ids[(at * 3 + by) % ROWS] ?? 1)
  const updates = await Promise.all(
    Array.from({ length: UPDATES }, (_, level) =>
      server.patch(
        '/api/things/bulk',
        shuffled(level).map((id) => ({ id, level })),
      ),
    ),
  )
  const links = await Promise.all(
    Array.from({ length: LINKS }, (_, index) => server.send('PUT', `/api/things/${1 + (index % 2)}/tags/1`)),
  )
  const count = (all: readonly { status: number }[], status: number): number =>
    all.filter((answer) => answer.status === status).length
  const rows = await sequelize.query('SELECT level FROM things', { type: QueryTypes.SELECT })
  const levels = new Set(rows.map((row) => Object(row).level))
  tell(t, {
    'bulk updates': UPDATES,
    '200': count(updates, 200),
    '503': count(updates, 503),
    PUTs: LINKS,
    '2xx': links.filter(({ status }) => status < 300).length,
    '409': count(links, 409),
    'wrong levels': levels.size - 1,
  })
  // All of them at once want the same rows: after five more attempts one may still be refused.
  t.is(count(updates, 200) + count(updates, 503), UPDATES, String(heard[0]))
  t.true(count(updates, 503) <= UPDATES / 20)
  t.true(
    links.every(({ status }) => status < 300),
    JSON.stringify(links.find(({ status }) => status >= 300)),
  )
  t.is(levels.size, 1)
}

for (const isolationLevel of [REPEATABLE_READ, SERIALIZABLE]) {
  rig(POSTGRES)(`bulk updates and links under ${isolationLevel} on PostgreSQL are all done`, async (t) => {
    const server = using(t, await startPostgres())
    await contest(t, { ...server.options, isolationLevel })
  })

  for (const dialect of ['mariadb', 'mysql'] as const) {
    rig(MARIADB)(`bulk updates and links under ${isolationLevel} on MariaDB by ${dialect} are all done`, async (t) => {
      const server = using(t, await startMariaDb({ settings: { 'innodb-snapshot-isolation': 1 } }))
      await contest(t, { ...mariaDbAt(server.port, dialect), isolationLevel })
    })
  }
}
