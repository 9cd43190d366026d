// Writes of a SQLite database, which wait for their turn: each has its own answer, and leaves those beside it as they are.

import { setTimeout as wait } from 'node:timers/promises'
import ava, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, QueryTypes, type Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter, type Hook, Operations } from '../../../lib/index.js'
import { databaseName, openAgain } from '../../support/database.js'
import type { Answer, TestServer } from '../../support/server.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

const test = databaseName === 'sqlite' ? ava : ava.skip

interface Bench extends TestServer {
  readonly sequelize: Sequelize
  readonly Thing: ModelStatic<Model>
  readonly rows: () => Promise<readonly Record<string, unknown>[]>
}

const TABLE = 'id INTEGER PRIMARY KEY, name TEXT UNIQUE, level INTEGER, note TEXT, rowVersion BIGINT NOT NULL DEFAULT 0'

interface Given {
  readonly options?: CrudOptions
  readonly table?: string
  /** A hook of the resource under `/hooked`. */
  readonly beforeCreate?: Hook
}

async function bench(
  t: ExecutionContext,
  { options = {}, table = TABLE, beforeCreate = () => undefined }: Given = {},
): Promise<Bench> {
  const server = await openStage({ sequelize: { logging: false } })
  const { app, sequelize } = server
  const Thing = sequelize.define(
    'thing',
    { name: DataTypes.STRING, level: DataTypes.INTEGER, note: DataTypes.TEXT },
    { timestamps: false },
  )
  await sequelize.query(`CREATE TABLE things (${table})`)
  const common: CrudOptions = { operations: Operations.AllWithBulk, onError: () => undefined, ...options }
  app.use(crudRouter(Thing, common))
  app.use('/hooked', crudRouter(Thing, { ...common, hooks: { beforeCreate } }))
  t.teardown(server.close)
  const rows = () =>
    sequelize.query<Record<string, unknown>>('SELECT * FROM things ORDER BY id', { type: QueryTypes.SELECT })
  return { ...server, Thing, rows }
}

const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8]

const statuses = (answers: readonly Answer[]): readonly number[] => answers.map(({ status }) => status)

test('writes are made in the order in which they came, whatever they wait for', async (t) => {
  let goOn: () => void = () => undefined
  const beforeCreate = (): Promise<void> =>
    new Promise((resolve) => {
      goOn = resolve
    })
  const server = await bench(t, { beforeCreate })
  await server.post('/api/things', { name: 'one' })
  const sent = [server.post('/hooked/api/things', { name: 'held' })]
  for (const level of EIGHT) {
    await wait(20)
    sent.push(server.patch('/api/things/1', { level }))
  }
  goOn()
  const [, ...answers] = await Promise.all(sent)
  t.deepEqual(
    answers.map(({ body }) => body.level),
    EIGHT,
  )
  t.is((await server.rows())[0]?.level, 8)
})

// An instance is saved on a connection of its own, which has no such limit.
const full = isFast ? test : ava.skip

full('a record for which there is no space is refused, and those beside it are made', async (t) => {
  const server = await bench(t)
  const [pages] = await server.sequelize.query<{ page_count: number }>('PRAGMA page_count', { type: QueryTypes.SELECT })
  await server.sequelize.query(`PRAGMA max_page_count = ${Number(pages?.page_count) + 1}`)
  const answers = await Promise.all(
    EIGHT.map((level) => server.post('/api/things', { level, note: level === 5 ? 'x'.repeat(12_000) : 'x' })),
  )
  t.deepEqual(
    statuses(answers),
    EIGHT.map((level) => (level === 5 ? 503 : 201)),
  )
  t.is((await server.rows()).length, 7)
})

for (const clause of ['REPLACE', 'IGNORE', 'FAIL', 'ROLLBACK', 'ABORT']) {
  const table = TABLE.replace('UNIQUE', `UNIQUE ON CONFLICT ${clause}`)

  test(`a table that answers a conflict by ${clause} keeps what was answered with success, and nothing else`, async (t) => {
    const server = await bench(t, { table })
    await server.Thing.bulkCreate([1, 2, 3].map((level) => ({ name: `n${level}`, level })))
    const answers = await Promise.all(
      ['a', 'n1', 'b', 'c'].map((name, level) => server.post('/api/things', { name, level })),
    )
    const made = clause === 'REPLACE'
    t.deepEqual(statuses(answers), [201, made ? 201 : 409, 201, 201])
    t.deepEqual((await server.rows()).map(({ name }) => name).toSorted(), ['a', 'b', 'c', 'n1', 'n2', 'n3'])
  })

  test(`patches that a table refuses by ${clause} are made once where they are made, whatever waits beside them`, async (t) => {
    const server = await bench(t, { table, options: { concurrency: true } })
    await server.Thing.bulkCreate(EIGHT.map((level) => ({ name: `n${level}`, level })))
    const etag = String((await server.get('/api/things/1')).headers.get('etag'))
    const answers = await Promise.all(
      [1, 2, 3, 4].map((id) =>
        server.patch(`/api/things/${id}`, { name: id === 3 ? 'n8' : `new${id}` }, { 'if-match': etag }),
      ),
    )
    const made = clause === 'REPLACE'
    t.deepEqual(statuses(answers), [200, 200, made ? 200 : 409, 200])
    t.deepEqual(
      (await server.rows()).slice(0, 4).map(({ name, rowVersion }) => `${name} ${rowVersion}`),
      ['new1 1', 'new2 1', made ? 'n8 1' : 'n3 0', 'new4 1'],
    )
  })
}

// Sequelize does not say whether an INSERT has been ignored.
for (const raised of isFast ? ["RAISE(FAIL, 'no')", 'RAISE(IGNORE)'] : ["RAISE(FAIL, 'no')"]) {
  test(`a trigger with ${raised} that comes while writes are on their way has its say from then on`, async (t) => {
    const server = await bench(t)
    const other = openAgain(server.sequelize)
    t.teardown(() => other.close())
    const answers: Answer[] = []
    let isOver = false
    const callers = Array.from({ length: 24 }, async (_, caller) => {
      for (let round = 0; !isOver; round += 1) {
        answers.push(await server.post('/api/things', { name: `${caller}-${round}`, level: (caller + round) % 5 }))
      }
    })
    await wait(100)
    await other.query(`CREATE TRIGGER no BEFORE INSERT ON things WHEN NEW.level = 3 BEGIN SELECT ${raised}; END`)
    await wait(100)
    isOver = true
    await Promise.all(callers)
    const made = answers.flatMap(({ status, body }) => (status === 201 ? [body.name] : []))
    t.deepEqual((await server.rows()).map(({ name }) => name).toSorted(), made.toSorted())
    t.deepEqual([...new Set(statuses(answers))].toSorted(), [201, 409])
  })
}
