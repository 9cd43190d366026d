// Sequelize.useCLS is global: it needs a process of its own, which is this file.

import { setTimeout as wait } from 'node:timers/promises'
import ava from 'ava'
import { DataTypes, QueryTypes, Sequelize } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { Namespace } from '../../support/continuation.js'
import { databaseName, openAgain } from '../../support/database.js'
import { serverOptions } from '../../support/servers.js'
import { openStage } from '../../support/stage.js'
import { openTcpProxy } from '../../support/wire.js'

Sequelize.useCLS(new Namespace())

const isMysql = databaseName === 'mysql' || databaseName === 'mariadb'
const onMysql = isMysql ? ava.serial : ava.serial.skip

onMysql(
  "a KILL that could not be sent in time does not meet the next statement of the host's transaction",
  async (t) => {
    if (databaseName === 'sqlite') throw new TypeError('SQLite has no server')
    const wire = await openTcpProxy(serverOptions(databaseName).port)
    const stage = await openStage({ sequelize: { host: 'localhost', port: wire.port } })
    const { app, sequelize } = stage
    const other = openAgain(sequelize)
    t.teardown(async () => {
      await other.close()
      await stage.close()
      await wire.close()
    })
    const Thing = sequelize.define('thing', { name: DataTypes.STRING }, { timestamps: false })
    /** What the host's own statement returns, which follows the one of the router. */
    const slept: unknown[] = []
    app.use((_req, res, next) => {
      void sequelize
        .transaction(async (transaction) => {
          await new Promise((resolve) => {
            res.on('finish', resolve)
            next()
          })
          setTimeout(wire.mend, 300)
          slept.push(await sequelize.query('SELECT SLEEP(1.5) AS isKilled', { type: QueryTypes.SELECT, transaction }))
        })
        .catch((error: unknown) => slept.push(error))
    })
    app.use(crudRouter(Thing, { limits: { statementTime: 300 }, onError: () => undefined }))
    await sequelize.sync()
    await Thing.create({ name: 'one' })
    const holder = await other.transaction()
    await other.query("UPDATE things SET name = 'held'", { transaction: holder })
    wire.delay()
    const answer = stage.patch('/api/things/1', { name: 'new' })
    await wait(600)
    await holder.rollback()
    t.is((await answer).status, 503)
    for (let times = 0; times < 60 && slept.length === 0; times += 1) await wait(100)
    t.deepEqual(slept, [[{ isKilled: 0 }]])
  },
)
