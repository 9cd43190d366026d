// Sequelize.useCLS is global: it needs a process of its own, which is this file. A client hangs up while what it asked for is read
// in a transaction of the host's, which is the host's to end.

import { request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import ava from 'ava'
import { DataTypes, Op, Sequelize, type Transaction } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { Namespace } from '../../support/continuation.js'
import { trueAfter } from '../../support/slow.js'
import { openStage } from '../../support/stage.js'

const namespace = new Namespace()
Sequelize.useCLS(namespace)

for (const [kind, hook] of [
  ['statements', null],
  ['instances', 'beforeFind'],
] as const) {
  ava.serial(
    `a read by ${kind} in a transaction of the host's goes on when its client hangs up, and so does the transaction`,
    async (t) => {
      const server = await openStage()
      const { app, sequelize, statements } = server
      const Thing = sequelize.define(
        'thing',
        { name: DataTypes.STRING },
        {
          timestamps: false,
          defaultScope: { where: { [Op.and]: [sequelize.literal(trueAfter(1))] } },
        },
      )
      if (hook !== null) Thing.addHook(hook, () => undefined)
      const heard: unknown[] = []
      const outcomes: unknown[] = []
      app.use((_req, res, next) => {
        const ended = new Promise((resolve) => res.once('close', resolve))
        const work = async (transaction: Transaction): Promise<number> => {
          next()
          await ended
          // Behind the read, on the same connection.
          await Thing.unscoped().create({ name: 'by the host' }, { transaction })
          return Thing.unscoped().count({ transaction })
        }
        void sequelize.transaction(work).then(
          (count) => outcomes.push(count),
          (error: unknown) => outcomes.push(error),
        )
      })
      app.use(crudRouter(Thing, { limits: { statementTime: 600_000 }, onError: (error) => heard.push(error) }))
      await sequelize.sync()
      await Thing.unscoped().create({ name: 'one' })
      t.teardown(server.close)
      const asked = request(`${server.url}/api/things/1`, { agent: false })
      asked.on('error', () => undefined)
      asked.end()
      while (!statements.some((sql) => sql.includes(trueAfter(1)))) await wait(5)
      await wait(50)
      asked.destroy()
      while (outcomes.length === 0) await wait(5)
      t.deepEqual(outcomes, [2])
      t.deepEqual(heard, [])
    },
  )
}
