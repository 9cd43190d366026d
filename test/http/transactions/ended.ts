// Transactions of writes that the database itself ends because of an error, while a hook catches the error and goes on.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes, QueryTypes, type Transaction } from 'sequelize'
import { type CrudOptions, crudRouter, type Hook, Problem } from '../../../lib/index.js'
import { databaseName, isNodeSqlite } from '../../support/database.js'
import { slowStatement } from '../../support/slow.js'
import { openStage, type Stage } from '../../support/stage.js'

const onSqlite = databaseName === 'sqlite' ? ava : ava.skip
const onPostgres = databaseName === 'postgres' ? ava : ava.skip
const onMysql = databaseName === 'mysql' || databaseName === 'mariadb' ? ava : ava.skip

interface Bench extends Stage {
  readonly names: () => Promise<unknown>
}

/** Serves a resource whose hook writes to the table `logs`, which has two rows. */
async function bench(
  t: ExecutionContext,
  hooks: (stage: Stage) => CrudOptions['hooks'],
  options: CrudOptions = {},
): Promise<Bench> {
  const stage = await openStage()
  t.teardown(() => stage.close())
  const { app, sequelize } = stage
  const Thing = sequelize.define('thing', { name: DataTypes.STRING }, { timestamps: false })
  const Log = sequelize.define('log', { n: { type: DataTypes.INTEGER, unique: true } }, { timestamps: false })
  app.use(crudRouter(Thing, { idempotency: true, ...options, hooks: hooks(stage) ?? {} }))
  await sequelize.sync()
  await Log.bulkCreate([{ n: 1 }, { n: 2 }])
  const names = async (): Promise<unknown> => (await Thing.findAll()).map((row) => row.get('name'))
  return { ...stage, names }
}

for (const hook of ['beforeCreate', 'afterCreate'] as const) {
  onSqlite(
    `a write is refused and not stored if a statement of ${hook} rolls the transaction back, though the hook catches the error`,
    async (t) => {
      let isCaught = false
      const server = await bench(t, ({ sequelize }) => ({
        [hook]: async ({ transaction }: Parameters<Hook>[0]) => {
          const insert = sequelize.query('INSERT OR ROLLBACK INTO logs (n) VALUES (1)', { transaction })
          await insert.catch(() => (isCaught = true))
        },
      }))
      for (let times = 0; times < 2; times += 1) {
        const answer = await server.post('/api/things', { name: 'x' }, { 'idempotency-key': '"one"' })
        t.is(answer.status, 409, answer.text)
        t.deepEqual(await server.names(), [])
      }
      t.true(isCaught)
    },
  )
}

onSqlite('a hook may catch the error of a statement that leaves the transaction open', async (t) => {
  const server = await bench(t, ({ sequelize }) => ({
    beforeCreate: async ({ transaction }) => {
      await sequelize.query('INSERT INTO logs (n) VALUES (1)', { transaction }).catch(() => undefined)
      await sequelize.query('INSERT INTO logs (n) VALUES (3)', { transaction })
    },
  }))
  t.is((await server.post('/api/things', { name: 'x' }, { 'idempotency-key': '"one"' })).status, 201)
  t.deepEqual(await server.names(), ['x'])
})

onPostgres('a write whose hook catches the error of a statement is 500 and not stored', async (t) => {
  const server = await bench(t, ({ sequelize }) => ({
    afterCreate: async ({ transaction }) => {
      await sequelize.query('INSERT INTO logs (n) VALUES (1)', { transaction }).catch(() => undefined)
    },
  }))
  t.is((await server.post('/api/things', { name: 'x' })).status, 500)
  t.deepEqual(await server.names(), [])
})

const onInterrupts = isNodeSqlite ? ava.skip : ava

onInterrupts(
  'a write is 503 and not stored if a statement of a hook takes too long, though the hook catches the error',
  async (t) => {
    const slow = databaseName === 'sqlite' ? `INSERT INTO logs (n) ${slowStatement()}` : SLEEPS[databaseName]
    const server = await bench(
      t,
      ({ sequelize }) => ({
        beforeCreate: async ({ transaction }) => {
          await sequelize.query(slow ?? '', { transaction, type: QueryTypes.RAW }).catch(() => undefined)
        },
      }),
      { limits: { statementTime: 200 } },
    )
    const answer = await server.post('/api/things', { name: 'x' })
    t.is(answer.status, 503, answer.text)
    t.is(answer.body.code, 'timeout')
    t.deepEqual(await server.names(), [])
  },
)

const SLEEPS: Readonly<Record<string, string>> = {
  postgres: 'UPDATE logs SET n = n + 10 WHERE pg_sleep(300) IS NOT NULL',
  mysql: 'UPDATE logs SET n = n + 10 WHERE SLEEP(300) = 0',
  mariadb: 'UPDATE logs SET n = n + 10 WHERE SLEEP(300) = 0',
}

/** Updates a row of `logs` in a savepoint, where it is the victim of a deadlock with `other`. */
async function meetDeadlock({ sequelize }: Stage, transaction: Transaction, other: Transaction): Promise<unknown> {
  const update = (id: number, within: Transaction): Promise<unknown> =>
    sequelize.query(`UPDATE logs SET n = n + 10 WHERE id = ${id}`, { transaction: within })
  await update(1, transaction)
  // InnoDB ends the transaction that has changed fewer rows.
  await sequelize.query('INSERT INTO logs (n) VALUES (100), (101), (102), (103), (104)', { transaction: other })
  await update(2, other)
  const waiting = sequelize.transaction({ transaction }, (savepoint) => update(2, savepoint))
  const caught = waiting.catch((error: unknown) => error)
  await new Promise((resolve) => setTimeout(resolve, 100))
  await update(1, other)
  return caught
}

for (const isRefused of [false, true]) {
  const outcome = isRefused ? 'a write that the hook then refuses is not stored' : 'the write is repeated'
  onMysql(`${outcome} if the hook has caught a deadlock in a savepoint`, async (t) => {
    let deadlocks = 0
    const warn = console.warn
    console.warn = () => undefined
    t.teardown(() => {
      console.warn = warn
    })
    const server = await bench(t, (stage) => ({
      afterCreate: async ({ transaction }) => {
        if (deadlocks === 0) {
          const other = await stage.sequelize.transaction()
          const error = await meetDeadlock(stage, transaction, other)
          await other.rollback()
          t.is(Object(Object(error).original).errno, 1213)
        }
        deadlocks += 1
        if (isRefused) throw new Problem({ status: 409, detail: 'refused' })
      },
    }))
    const answer = await server.post('/api/things', { name: 'x' }, { 'idempotency-key': '"one"' })
    t.is(answer.status, isRefused ? 409 : 201, answer.text)
    t.deepEqual(await server.names(), isRefused ? [] : ['x'])
    t.is(deadlocks, isRefused ? 1 : 2)
  })
}
