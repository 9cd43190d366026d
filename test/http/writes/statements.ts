// How many statements a write is, those that begin and end a transaction among them: what a request costs on a server is mostly
// the way there and back.

import test from 'ava'
import { DataTypes, QueryTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const Thing = sequelize.define('Thing', { name: DataTypes.STRING, level: DataTypes.INTEGER })
  app.use(crudRouter(Thing, { operations: Operations.AllWithBulk, concurrency: true, route: 'api/versions' }))
  app.use(crudRouter(Thing, { operations: Operations.AllWithBulk, route: 'api/things' }))
  const Owned = sequelize.define(
    'Owned',
    { note: DataTypes.STRING, tenantId: DataTypes.INTEGER },
    { timestamps: false },
  )
  app.use(crudRouter(Owned, { operations: Operations.AllWithBulk, scope: () => ({ tenantId: 1 }), route: 'api/owned' }))
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
  const Player = sequelize.define('Player', { name: DataTypes.STRING, level: DataTypes.INTEGER }, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const players = crudRouter(Player, { operations })
  app.use(players)
  app.use(crudRouter(Team, { relations: { players: { write: true, resource: () => players } } }))
})
const { sequelize, statements, get, post, send, patch, delete: remove, name } = stage
const [version] = await sequelize.query<{ version: string }>(
  name === 'sqlite' ? 'SELECT sqlite_version() AS version' : 'SELECT version() AS version',
  { type: QueryTypes.SELECT },
)
/** Whether an INSERT, and an UPDATE, give back what they have stored. */
const inserts = name === 'sqlite' || name === 'postgres' || /MariaDB/.test(version?.version ?? '')
const updates = name === 'sqlite' || name === 'postgres'

// What a server is, is known from the first write on.
const { id } = (await post('/api/things', { name: 'first', level: 1 })).body

test.after.always(() => stage.close())

async function run(work: () => Promise<{ readonly status: number }>, status: number): Promise<readonly string[]> {
  statements.length = 0
  const answer = await work()
  if (answer.status !== status) throw new Error(`${answer.status}`)
  return statements.map((sql) => /^Executing \([^)]*\): (\w+)/.exec(sql)?.[1] ?? sql)
}

// Instances are loaded before they are saved, and read again.
const counted = isFast ? test.serial : test.serial.skip

counted('a create is one statement where INSERT returns what is stored', async (t) => {
  const words = await run(() => post('/api/things', { name: 'x', level: 2 }), 201)
  if (inserts) t.deepEqual(words, ['INSERT'])
  else t.true(words.length <= 4, words.join())
})

counted('a bulk create is as many as a create', async (t) => {
  const words = await run(() => post('/api/things/bulk', [{ name: 'x' }, { name: 'y' }]), 201)
  if (inserts) t.deepEqual(words, ['INSERT'])
  else t.true(words.length <= 5, words.join())
})

/** An UPDATE that returns the record, or one with a read in its transaction: another connection may lead to another server. */
const updating = updates ? ['UPDATE'] : ['START', 'UPDATE', 'SELECT', 'COMMIT']

counted('a patch is an UPDATE, with a read in its transaction where that returns nothing', async (t) => {
  const words = await run(() => patch(`/api/things/${id}`, { level: 3 }), 200)
  t.deepEqual(words, updating)
})

counted('so is one under a precondition', async (t) => {
  const { body, headers } = await post('/api/versions', { name: 'v', level: 1 })
  const match = { 'if-match': headers.get('etag') ?? '' }
  const words = await run(() => patch(`/api/versions/${body.id}`, { level: 4 }, match), 200)
  t.deepEqual(words, updating)
  // Nothing was changed, and why not is asked.
  const stale = await run(() => patch(`/api/versions/${body.id}`, { level: 4 }, match), 412)
  t.deepEqual(stale, updates ? ['UPDATE', 'SELECT'] : ['START', 'UPDATE', 'SELECT', 'ROLLBACK'])
})

counted('a patch of a record that is not there is 404, and writes nothing', async (t) => {
  const words = await run(() => patch('/api/things/99999', { level: 3 }), 404)
  t.deepEqual(words, updates ? ['UPDATE', 'SELECT'] : ['START', 'UPDATE', 'SELECT', 'ROLLBACK'])
})

test.serial('a patch that changes nothing has the record as it is', async (t) => {
  const { body } = await patch(`/api/things/${id}`, { level: 5 })
  const again = await patch(`/api/things/${id}`, { level: 5 })
  t.is(again.status, 200)
  t.like(again.body, { id, name: 'first', level: 5, createdAt: body.createdAt })
})

const moved = updates ? test.serial.skip : test.serial
moved('what a trigger takes out of the scope is not shown, and nothing is written', async (t) => {
  const { body } = await post('/api/owned', { note: 'ours' })
  const table = sequelize.model('Owned').getTableName()
  await sequelize.query(
    `CREATE TRIGGER taken BEFORE UPDATE ON \`${table}\` FOR EACH ROW SET NEW.tenantId = 2, NEW.note = 'canary'`,
  )
  const answer = await patch(`/api/owned/${body.id}`, { note: 'still ours' })
  t.is(answer.status, 404)
  t.notRegex(JSON.stringify(answer.body), /canary/)
  t.is((await get(`/api/owned/${body.id}`)).body.note, 'ours')
})

counted('a delete is one statement', async (t) => {
  const { body } = await post('/api/things', { name: 'gone' })
  t.deepEqual(await run(() => remove(`/api/things/${body.id}`), 204), ['DELETE'])
})

/** Bodies of many players. */
const many = Array.from({ length: 20 }, (_, index) => ({ name: `player ${index}`, level: index }))

// MariaDB and MySQL read keys and rows back in between.
const returning = updates && isFast ? test.serial : test.serial.skip

returning('a record with many children is two INSERTs in a transaction', async (t) => {
  const words = await run(() => post('/api/teams', { name: 'team', players: many }), 201)
  t.deepEqual(words.slice(1, -1), ['INSERT', 'INSERT'])
  t.is(words.length, 4)
})

counted('a foreign key that names a record is no statement more', async (t) => {
  const { body: team } = await post('/api/teams', { name: 'team' })
  const words = await run(() => post('/api/players', { name: 'player', teamId: team.id }), 201)
  if (inserts) t.deepEqual(words, ['INSERT'])
  else t.true(words.length <= 4, words.join())
})

returning('a bulk update is one UPDATE where it has a table of values, and else one for each record', async (t) => {
  const { body: made } = await post('/api/players/bulk', many)
  const items = made.map(({ id }: { readonly id: number }, index: number) => ({ id, level: index + 1 }))
  for (let turn = 0; turn < 2; turn += 1) {
    const words = await run(() => patch('/api/players/bulk', items), 200)
    const isAtOnce = name === 'sqlite' || name === 'postgres'
    t.is(words.filter((word) => word === 'UPDATE').length, isAtOnce ? 1 : many.length)
    // Before the one UPDATE, the columns and triggers of the table are read.
    const reads = words.filter((word) => word === 'SELECT').length
    t.is(reads, isAtOnce ? 2 : 1)
  }
})

counted('a bulk delete is one statement', async (t) => {
  const { body: made } = await post('/api/players/bulk', many)
  const keys = made.map(({ id }: { readonly id: number }) => id)
  t.deepEqual(await run(() => post('/api/players/bulk-delete', keys), 200), ['DELETE'])
})

counted('a PUT is an UPDATE, with a read in its transaction where that returns nothing', async (t) => {
  const { body } = await post('/api/players', { name: 'player', level: 1 })
  const put = () => send('PUT', `/api/players/${body.id}`, { json: { name: 'other', level: 2 } })
  t.deepEqual(await run(put, 200), updating)
})
