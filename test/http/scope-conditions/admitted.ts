// Parts of a condition that the body leaves out, hooks and actions decide on, are looked at once the record is stored. They admit a
// record by what was there before the request, by its own values, and by new records that it belongs to; never by itself.

import test from 'ava'
import { DataTypes, type Model } from 'sequelize'
import { crudRouter, filter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const ME = 1
const [MINE, ALSO_MINE, OTHERS] = [1, 2, 3] as const
const refusal = { status: 403, body: { detail: 'You may not store this record.' } }

/** The team that actions move records to. */
let target: number = MINE
let scope = ''
let org = 0

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Org = sequelize.define('Org', { name: DataTypes.STRING(20) }, plain)
  const id = { type: DataTypes.INTEGER, primaryKey: true, allowNull: false }
  const Team = sequelize.define('Team', { id, name: DataTypes.STRING(20) }, plain)
  const Member = sequelize.define(
    'Member',
    {
      userId: DataTypes.INTEGER,
      invited: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: true },
      note: DataTypes.STRING(20),
    },
    plain,
  )
  Org.hasMany(Team, { as: 'teams', foreignKey: 'orgId' })
  Org.hasMany(Member, { as: 'members', foreignKey: 'orgId' })
  Team.hasMany(Member, { as: 'members', foreignKey: 'teamId' })
  Member.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const moved = (instance: Model) => {
    const [word, team] = String(instance.get('note')).split(' ')
    if (word === 'hook') instance.set({ teamId: Number(team) })
  }
  const path = filter.any('team.members', filter.eq('userId', ME))
  const move = (isAlone: boolean) => ({
    on: 'record' as const,
    method: 'post' as const,
    transaction: !isAlone,
    handler: ({ record }: { readonly record: Model | null }) => {
      record?.set({ teamId: target, invited: false })
    },
  })
  // The first part of the path is the shape of the scope.
  app.use('/:shape', (request, _response, next) => {
    scope = request.params.shape === 'path' ? path : filter.or(filter.eq('invited', true), path)
    next()
  })
  app.use(
    '/:shape',
    crudRouter(Member, {
      route: 'members',
      operations: Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace,
      scope: () => scope,
      hooks: { beforeCreate: ({ instance }) => moved(instance), beforeUpdate: ({ instance }) => moved(instance) },
      actions: { move: move(false), moveAlone: move(true) },
    }),
    crudRouter(Team, { route: 'teams', relations: { members: { write: true } } }),
    crudRouter(Org, { route: 'orgs', relations: { teams: { write: true }, members: { write: true } } }),
  )
})
const { sequelize } = stage
const [Org, Team, Member] = [sequelize.model('Org'), sequelize.model('Team'), sequelize.model('Member')]

test.beforeEach(async () => {
  for (const model of [Member, Team, Org]) await model.destroy({ where: {} })
  org = Number((await Org.create({})).get('id'))
  for (const each of [MINE, ALSO_MINE, OTHERS]) {
    await Team.create({ id: each, orgId: org })
    await Member.create({ teamId: each, userId: each === OTHERS ? 2 : ME, invited: false })
  }
})
test.after.always(async () => {
  await stage.close()
})

const ownIn = async (teamId: number): Promise<unknown> =>
  (await Member.findOne({ where: { teamId, userId: ME } }))?.get('id')

test.serial(
  'the default of an attribute that the body leaves out admits a record, where a path does not',
  async (t) => {
    t.is((await stage.post('/either/members', { userId: 7, teamId: OTHERS })).status, 201)
    t.is((await stage.post('/either/members/bulk', [{ userId: 7, teamId: OTHERS }])).status, 201)
    t.like(await stage.post('/path/members', { userId: ME, teamId: OTHERS }), refusal)
    t.like(await stage.post('/either/members', { userId: ME, teamId: OTHERS, invited: false }), refusal)
  },
)

test.serial('a change keeps what admits the stored record', async (t) => {
  const own = await ownIn(MINE)
  for (const shape of ['path', 'either']) {
    const path = `/${shape}/members/${own}`
    t.is((await stage.patch(path, { note: 'x' })).status, 200)
    t.is((await stage.patch(path, { teamId: MINE, invited: false })).status, 200)
    t.is((await stage.patch(`/${shape}/members/bulk`, [{ id: own, note: 'y' }])).status, 200)
    t.like(await stage.patch(path, { teamId: OTHERS }), refusal)
  }
  await Member.update({ invited: true }, { where: { id: own as number } })
  t.is((await stage.patch(`/either/members/${own}`, { teamId: OTHERS })).status, 200)
  t.like(await stage.patch(`/either/members/${own}`, { invited: false, teamId: OTHERS, userId: 7 }), { status: 403 })
})

test.serial('a record does not become its own witness where another part has admitted it', async (t) => {
  const made = await Member.create({ teamId: OTHERS, userId: 7, invited: true })
  const path = `/either/members/${made.get('id')}`
  t.like(await stage.patch(path, { userId: ME, invited: false }), refusal)
  t.is((await stage.patch(path, { userId: 8 })).status, 200)
})

test.serial('what a hook sets admits a record by others alone', async (t) => {
  const own = await ownIn(MINE)
  for (const shape of ['path', 'either']) {
    const body = (team: number) => ({ userId: ME, invited: false, note: `hook ${team}` })
    const many = [body(OTHERS), { ...body(OTHERS), userId: 7 }]
    t.like(await stage.post(`/${shape}/members`, body(OTHERS)), refusal)
    t.deepEqual(Object.keys((await stage.post(`/${shape}/members/bulk`, many)).body.errors), ['[0]', '[1]'])
    t.like(await stage.patch(`/${shape}/members/${own}`, { note: `hook ${OTHERS}` }), refusal)
    t.like(await stage.post(`/${shape}/members`, { ...body(OTHERS), teamId: MINE }), refusal)
    t.is((await stage.post(`/${shape}/members`, body(MINE))).status, 201)
    t.is((await stage.patch(`/${shape}/members/${own}`, { note: `hook ${ALSO_MINE}` })).status, 200)
    t.is((await stage.patch(`/${shape}/members/${own}`, { note: `hook ${MINE}` })).status, 200)
  }
  t.is(await Member.count({ where: { teamId: OTHERS } }), 1)
})

test.serial('an action moves a record where others admit it, and nowhere by itself', async (t) => {
  const own = await ownIn(MINE)
  for (const shape of ['path', 'either']) {
    for (const action of ['move', 'move-alone']) {
      target = OTHERS
      t.like(await stage.post(`/${shape}/members/${own}/${action}`, {}), refusal, `${shape} ${action}`)
      target = ALSO_MINE
      t.is((await stage.post(`/${shape}/members/${own}/${action}`, {})).status, 200, `${shape} ${action}`)
      await Member.update({ teamId: MINE }, { where: { id: own as number } })
      // The only member who admits himself stays where he is.
      target = MINE
      t.is((await stage.post(`/${shape}/members/${own}/${action}`, {})).status, 200, `${shape} ${action}`)
    }
  }
})

test.serial('nested records at every depth are admitted by what was there before the request', async (t) => {
  const count = await Member.count()
  const [own, also] = [await ownIn(MINE), await ownIn(ALSO_MINE)]
  const orgs = (body: object) => stage.patch(`/path/orgs/${org}`, body)
  const kept = [
    { id: MINE, members: [{ id: own }] },
    { id: ALSO_MINE, members: [{ id: also }] },
  ]
  const refused = await orgs({ teams: [...kept, { id: OTHERS, members: [{ userId: ME, invited: false }] }] })
  t.like(refused, refusal)
  t.deepEqual(Object.keys(refused.body.errors), ['teams[2].members[0]'])
  const stays = await orgs({ teams: [...kept, { id: OTHERS }], members: [{ userId: ME, teamId: OTHERS }] })
  t.like(stays, refusal)
  t.deepEqual(Object.keys(stays.body.errors), ['members[0]'])
  t.is(await Member.count(), count)
  const [first, second] = kept
  const changed = { ...first, name: 'x', members: [{ id: own, note: 'x' }, { userId: 5 }] }
  t.like(await orgs({ teams: [changed, second, { id: OTHERS }] }), { status: 200 })
})

test.serial('a new record admits those of its request, by its own key and by one that the body chooses', async (t) => {
  t.is((await stage.post('/path/teams', { id: 10, members: [{ userId: ME }, { userId: 7 }] })).status, 201)
  t.like(await stage.post('/path/teams', { id: 11, members: [{ userId: 7 }] }), refusal)
  const made = await stage.post('/path/orgs', { teams: [{ id: 12 }], members: [{ userId: ME, teamId: 12 }] })
  t.is(made.status, 201, made.text)
  t.like(await stage.post('/path/orgs', { teams: [{ id: 13 }], members: [{ userId: 7, teamId: 13 }] }), refusal)
  t.like(await stage.post('/path/orgs', { teams: [{ id: 14 }], members: [{ userId: ME, teamId: OTHERS }] }), refusal)
  t.is(await Team.count({ where: { id: [11, 13, 14] } }), 0)
})
