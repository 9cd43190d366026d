// Conditions together with what else a resource does: soft delete and restore, versions, keys of clients, triggers of others.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, filter, Operations, type ScopeFunction } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const errors: unknown[] = []
let instant = new Date(0)
let beforeUpdate = async (): Promise<void> => undefined
let scope: ScopeFunction = () => filter.any('members', filter.eq('userId', 1))

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING, since: DataTypes.DATE }, plain)
  const Member = sequelize.define('Member', { userId: DataTypes.INTEGER, note: DataTypes.STRING }, plain)
  const Task = sequelize.define(
    'Task',
    {
      id: { type: DataTypes.UUID, primaryKey: true },
      title: DataTypes.STRING(20),
      due: DataTypes.DATE,
      day: DataTypes.DATEONLY,
      size: DataTypes.BIGINT,
      price: DataTypes.DECIMAL(10, 2),
      open: DataTypes.BOOLEAN,
    },
    plain,
  )
  Team.hasMany(Member, { as: 'members', foreignKey: 'teamId', constraints: false })
  Member.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
  Task.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
  const common = { identity: identityFromHeader, onError: (error: unknown) => errors.push(error) }
  const operations = Operations.AllWithBulk | Operations.Restore | Operations.Replace
  app.use(
    crudRouter(Team, {
      ...common,
      route: 'teams',
      operations,
      softDelete: true,
      concurrency: true,
      idempotency: true,
      relations: { members: { write: true, routes: true } },
      hooks: { beforeUpdate: () => beforeUpdate() },
      actions: {
        rename: { on: 'record', method: 'post', handler: ({ record }) => void record?.set('name', 'renamed') },
      },
      scope: (context) => scope(context) as never,
    }),
  )
  app.use(
    crudRouter(Member, {
      ...common,
      route: 'members',
      softDelete: true,
      scope: () => filter.any('team.members', filter.eq('userId', 1)),
    }),
  )
  app.use(
    crudRouter(Task, {
      ...common,
      route: 'tasks',
      operations: Operations.AllWithBulk | Operations.Replace,
      scope: (context) => scope(context) as never,
    }),
  )
})
const { sequelize } = stage
const [Team, Member, Task] = [sequelize.model('Team'), sequelize.model('Member'), sequelize.model('Task')]
const reset = async () => {
  for (const model of [Task, Member, Team]) await model.destroy({ where: {} })
  scope = () => filter.any('members', filter.eq('userId', 1))
  for (const [id, userId] of [
    [1, 1],
    [2, 2],
    [3, 1],
  ] as const) {
    await Team.create({ id, name: `T${id}`, version: 1, isDeleted: false } as never)
    await Member.create({ teamId: id, userId, isDeleted: false } as never)
  }
  if (sequelize.getDialect() === 'postgres')
    await sequelize.query(`SELECT setval(pg_get_serial_sequence('"Teams"', 'id'), 100)`)
}
test.beforeEach(reset)
test.after.always(async () => {
  await stage.close()
})

const tagOf = async (id: number): Promise<Record<string, string>> => {
  const { headers } = await stage.get(`/teams/${id}`)
  return { 'if-match': headers.get('etag') ?? '' }
}

const refusal = { status: 403, body: { detail: 'You may not store this record.' } }

test.serial('rows on the paths of a condition that soft delete hides are absent', async (t) => {
  t.is((await stage.get('/teams?count=true')).body.count, 2)
  await Member.update({ isDeleted: true } as never, { where: { teamId: 1 } })
  t.is((await stage.get('/teams?count=true')).body.count, 1)
  t.is((await stage.get('/teams/1')).status, 404)
})

test.serial('a record is restored where it meets the condition', async (t) => {
  t.is((await stage.delete('/teams/1', await tagOf(1))).status, 204)
  t.is((await stage.post('/teams/1/restore', undefined)).status, 200)
  await Team.update({ isDeleted: true } as never, { where: { id: [1, 2] } })
  await Member.destroy({ where: { teamId: 1 } })
  for (const id of [1, 2]) t.is((await stage.post(`/teams/${id}/restore`, undefined)).status, 404)
})

test.serial('a version comes before the condition of what is stored, and behind that of what is there', async (t) => {
  scope = () => filter.in('name', ['T1', 'mine'])
  const patch = (id: number, json: object, tag = {}) => stage.patch(`/teams/${id}`, json, tag)
  t.is((await patch(2, { name: 'x' })).status, 404)
  t.is((await patch(1, { name: 'x' })).status, 428)
  t.is((await patch(1, { name: 'x' }, { 'if-match': '"99"' })).status, 412)
  t.like(await patch(1, { name: 'x' }, await tagOf(1)), refusal)
  t.is((await patch(1, { name: 'mine' }, await tagOf(1))).status, 200)
})

test.serial('a new record may come with what admits it, and keeps what admits it', async (t) => {
  t.is((await stage.post('/teams', { name: 'N', members: [{ userId: 1 }] })).status, 201)
  t.like(await stage.post('/teams', { name: 'N', members: [{ userId: 2 }] }), refusal)
  t.like(await stage.post('/teams', { name: 'N' }), refusal)
  const teams = [{ name: 'A', members: [{ userId: 1 }] }, { name: 'B', members: [] }, { name: 'C' }]
  t.deepEqual((await stage.post('/teams/bulk', teams)).body.errors, {
    '[1]': ['may not be stored.'],
    '[2]': ['may not be stored.'],
  })
  t.like(await stage.patch('/teams/1', { members: [] }, await tagOf(1)), refusal)
  t.is(await Team.count(), 4)
  t.is(await Member.count(), 4)
  // The members of a team that has none yet are nobody's to add, and those of a team of others neither.
  t.is((await stage.post('/teams/2/members', { userId: 1 })).status, 404)
  t.like(await stage.post('/members', { teamId: 2, userId: 1 }), refusal)
  t.is((await stage.post('/teams/3/members', { userId: 7 })).status, 201)
})

test.serial('values of every type are asked before they are stored', async (t) => {
  const mine = filter.eq('team.name', 'T1')
  const rows: readonly (readonly [condition: string, good: object, bad: object])[] = [
    [filter.eq('title', 'a'), { title: 'a' }, { title: 'A' }],
    [filter.eq('day', '2020-02-03'), { day: '2020-02-03' }, { day: '2020-02-04' }],
    [
      filter.gt('due', new Date('2020-01-01T10:00:00Z')),
      { due: '2020-01-01T10:00:01Z' },
      { due: '2020-01-01T10:00:00Z' },
    ],
    [filter.eq('size', 9007199254740993n), { size: '9007199254740993' }, { size: '9007199254740992' }],
    [filter.lte('price', '10.50'), { price: 10.5 }, { price: 10.51 }],
    [filter.eq('open', true), { open: true }, { open: false }],
    [filter.notNull('title'), { title: 'x' }, { title: null }],
  ]
  for (const [condition, good, bad] of rows) {
    // With another part that is not met, the values alone decide before anything is stored.
    scope = () => filter.and(filter.or(condition, mine), filter.notIn('id', []))
    const key = '00000000-0000-4000-8000-000000000001'
    t.like(await stage.post('/tasks', { id: key, teamId: 2, ...bad }), refusal, condition)
    const made = await stage.post('/tasks', { id: key, teamId: 2, ...good })
    t.is(made.status, 201, `${condition} ${made.text}`)
    t.like(await stage.patch(`/tasks/${key}`, bad), refusal, condition)
    t.is((await stage.patch(`/tasks/${key}`, { ...bad, teamId: 1 })).status, 200, condition)
    t.like(await stage.patch(`/tasks/${key}`, { teamId: 2 }), refusal, condition)
    t.like(await stage.send('PUT', `/tasks/${key}`, { json: { teamId: 2, ...bad } }), refusal, condition)
    t.is((await stage.send('PUT', `/tasks/${key}`, { json: { teamId: 2, ...good } })).status, 200, condition)
    t.is((await stage.delete(`/tasks/${key}`)).status, 204, condition)
    t.deepEqual(errors.splice(0), [])
  }
})

test.serial(
  'a kept reply is that of a caller with the same condition, whatever instants it compares with',
  async (t) => {
    const send = (who: string) =>
      stage.post('/teams', { name: 'once', members: [{ userId: 1 }] }, { ...asUser(who), 'idempotency-key': 'k' })
    scope = () => filter.or(filter.any('members', filter.eq('userId', 1)), filter.lt('since', instant))
    const first = await send('anna')
    t.is(first.status, 201)
    instant = new Date(1)
    const second = await send('anna')
    t.is(second.headers.get('idempotency-replayed'), 'true')
    t.is(second.body.id, first.body.id)
    scope = () => filter.or(filter.any('members', filter.in('userId', [1, 5])), filter.lt('since', instant))
    const other = await send('anna')
    t.is(other.headers.get('idempotency-replayed'), null)
    t.not(other.body.id, first.body.id)
  },
)

// SQLite lets nobody write meanwhile.
const betweenWrites = databaseName === 'sqlite' ? test.skip : test.serial

betweenWrites('what others commit while a record is written is seen when it is read back', async (t) => {
  for (const [id, more] of [
    [1, {}],
    [3, { 'idempotency-key': 'between' }],
  ] as const) {
    beforeUpdate = async () => {
      await Member.destroy({ where: { teamId: id }, transaction: null })
    }
    t.like(await stage.patch(`/teams/${id}`, { name: 'x' }, { ...(await tagOf(id)), ...more }), refusal)
    t.is((await Team.findByPk(id))?.get('name'), `T${id}`)
  }
  beforeUpdate = async () => undefined
})

test.serial('an action is for records that meet the condition, and may not take one out of it', async (t) => {
  t.is((await stage.post('/teams/2/rename', {})).status, 404)
  t.like(await stage.send('POST', '/teams/1/rename', { json: {}, headers: await tagOf(1) }), {
    status: 200,
    body: { name: 'renamed' },
  })
  scope = () => filter.eq('name', 'T3')
  t.like(await stage.send('POST', '/teams/3/rename', { json: {}, headers: await tagOf(3) }), refusal)
  t.is((await Team.findByPk(3))?.get('name'), 'T3')
})
