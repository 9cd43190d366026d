// Find hooks that query the database themselves, on a pool of one connection and under limits.statementTime: the router does not keep the
// connection that such a hook waits for.

import ava, { type ExecutionContext } from 'ava'
import { type CountOptions, DataTypes, type FindOptions, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

/** More than there are connections, several times over. */
const AT_ONCE = 12

/** Resources whose reads run a query of a hook before and after their own. */
async function bench(t: ExecutionContext, options: CrudOptions) {
  const server = await openStage({ sequelize: { pool: { max: 1, acquire: 20_000 } } })
  const { app, sequelize } = server
  const plain = { timestamps: false }
  const Audit = sequelize.define('Audit', { place: DataTypes.STRING(10) }, plain)
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, plain)
  const Player = sequelize.define('Player', { name: DataTypes.STRING(20), level: DataTypes.INTEGER }, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  await sequelize.sync()
  await Team.create({ name: 'Red' })
  await Player.bulkCreate(Array.from({ length: 5 }, (_, index) => ({ name: `p${index}`, level: index, teamId: 1 })))
  const asked = { before: 0, after: 0 }
  const hook = (model: ModelStatic<Model>): void => {
    // Within a write there is its transaction, on the only connection.
    model.addHook('beforeFind', async ({ transaction = null }: FindOptions) => {
      await Audit.count({ transaction })
      asked.before += 1
    })
    model.addHook('afterFind', async (_found, { transaction = null }: FindOptions) => {
      await Audit.findAll({ limit: 1, transaction })
      asked.after += 1
    })
    model.addHook('beforeCount', async ({ transaction = null }: CountOptions) => {
      await Audit.max('id', { transaction })
    })
  }
  for (const model of [Team, Player]) hook(model)
  const operations = Operations.AllWithBulk | Operations.Export | Operations.Aggregate
  app.use(crudRouter(Player, { ...options, operations }))
  app.use(crudRouter(Team, { ...options, operations }))
  t.teardown(server.close)
  return { ...server, asked }
}

const READS = [
  '/api/players/1',
  '/api/players?pageSize=2',
  '/api/players?sort=-level&after=&pageSize=2',
  '/api/players?filter=team.name=Red&select=name,team.name',
  '/api/teams?select=name,players(name)',
  '/api/players?count=true',
  '/api/players?format=jsonl',
] as const

for (const [time, limits] of [
  ['no limit', {}],
  ['limits.statementTime', { statementTime: 15_000 }],
  ['limits of statements and writes', { statementTime: 15_000, writeTime: 15_000 }],
] as const) {
  test(`reads whose find hooks query are answered on a pool of one, under ${time}`, async (t) => {
    const { get, asked } = await bench(t, { limits })
    for (const path of READS) {
      const before = asked.before
      const { status, text } = await get(path)
      t.is(status, 200, `${path}: ${text}`)
      t.true(path.includes('count=true') || asked.before > before, path)
      const answers: readonly Answer[] = await Promise.all(Array.from({ length: AT_ONCE }, () => get(path)))
      for (const answer of answers) {
        t.is(answer.status, 200, answer.text)
        t.is(answer.text, text)
      }
    }
    t.true(asked.after > READS.length)
  })

  test(`writes whose find hooks query are made on a pool of one, under ${time}`, async (t) => {
    const { get, post, patch, delete: remove, sequelize } = await bench(t, { limits })
    const made = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => post('/api/players', { name: `new ${index}`, level: index })),
    )
    for (const { status, text } of made) t.is(status, 201, text)
    const changed = await Promise.all(made.map(({ body }) => patch(`/api/players/${body.id}`, { level: 9 })))
    for (const { status, text } of changed) t.is(status, 200, text)
    t.is((await get('/api/players?count=true&level=9')).body.count, AT_ONCE)
    const gone = await Promise.all(made.map(({ body }) => remove(`/api/players/${body.id}`)))
    for (const { status, text } of gone) t.is(status, 204, text)
    t.is(await sequelize.model('Player').count(), 5)
  })
}
