// The journals of SQLite: with WAL readers and one writer work at the same time, with DELETE a COMMIT waits until no reader is left. Under either
// all requests are answered, in the order that each client wrote in, while the host reads and writes by itself.

import ava from 'ava'
import { DataTypes, type Model, QueryTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, openAgain } from '../../support/database.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = databaseName === 'sqlite' ? ava.serial : ava.serial.skip

const CLIENTS = 8
const TURNS = 12

for (const journal of ['WAL', 'DELETE']) {
  for (const isHooked of [false, true]) {
    const by = isHooked ? 'instances' : 'statements'

    test(`${journal}: readers, writers and the host get on beside one another, by ${by}`, async (t) => {
      const stage = await openStage(({ sequelize }, app) => {
        const Item = sequelize.define('Item', { name: DataTypes.STRING(20), level: DataTypes.INTEGER })
        if (isHooked) {
          for (const hook of ['beforeFind', 'beforeSave', 'beforeDestroy'] as const) Item.addHook(hook, () => undefined)
        }
        app.use(crudRouter(Item, { operations: Operations.AllWithBulk | Operations.BulkUpdate }))
      })
      const { sequelize, get, post, patch, delete: remove } = stage
      await sequelize.query(`PRAGMA journal_mode = ${journal}`)
      const [mode] = await sequelize.query('PRAGMA journal_mode', { type: QueryTypes.SELECT })
      t.is(String(Reflect.get(Object(mode), 'journal_mode')).toUpperCase(), journal)
      const again = openAgain(sequelize)
      try {
        const answered = (status: number, answer: Answer): Answer['body'] => {
          t.is(answer.status, status, answer.text)
          return answer.body
        }
        /** Creates, changes, reads what it has written, and deletes every second record. */
        const client = async (number: number): Promise<void> => {
          for (let turn = 0; turn < TURNS; turn += 1) {
            const { id } = answered(201, await post('/api/items', { name: `c${number}`, level: turn }))
            const pages = Promise.all([get('/api/items?sort=-level&pageSize=5'), get(`/api/items?name=c${number}`)])
            answered(200, await patch(`/api/items/${id}`, { level: 1000 + turn }))
            t.is(answered(200, await get(`/api/items/${id}`)).level, 1000 + turn)
            if (turn % 2 === 1) answered(204, await remove(`/api/items/${id}`))
            for (const page of await pages) answered(200, page)
          }
        }
        const host = async (): Promise<void> => {
          for (let turn = 0; turn < TURNS; turn += 1) {
            await sequelize.transaction(async (transaction) => {
              // SQLite lets the host wait for a lock for one second, which other writers of a busy machine may use up.
              await sequelize.query('PRAGMA busy_timeout = 30000', { transaction })
              const row: Model = await sequelize.model('Item').create({ name: 'host', level: turn }, { transaction })
              await row.update({ level: 1000 + turn }, { transaction })
            })
            await sequelize.query('SELECT COUNT(*) FROM Items')
          }
        }
        await Promise.all([host(), ...Array.from({ length: CLIENTS }, (_, number) => client(number))])
        // As another program finds them.
        const rows = await again.query<{ name: string; number: number; least: number }>(
          'SELECT name, COUNT(*) AS number, MIN(level) AS least FROM Items GROUP BY name ORDER BY name',
          { type: QueryTypes.SELECT },
        )
        const clients = Array.from({ length: CLIENTS }, (_, number) => ({ name: `c${number}`, number: TURNS / 2 }))
        t.deepEqual(
          rows.map(({ name, number }) => ({ name, number })),
          [...clients, { name: 'host', number: TURNS }],
        )
        t.true(rows.every(({ least }) => least === 1000))
      } finally {
        await again.close()
        await stage.close()
      }
    })
  }
}
