// A record that a request stores may itself meet a path of the caller's condition. Nobody is admitted by that, whatever the
// body leaves out.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, filter, Operations } from '../../../lib/index.js'
import { openStage, type Stage } from '../../support/stage.js'

const ME = 1

async function served(scope: string) {
  const stage = await openStage(({ sequelize }, app) => {
    const Team = sequelize.define('WitnessTeam', { name: DataTypes.STRING(20) }, { timestamps: false })
    const Member = sequelize.define(
      'WitnessMember',
      { userId: DataTypes.INTEGER, invited: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false } },
      { timestamps: false },
    )
    Member.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    Team.hasMany(Member, { as: 'members', foreignKey: 'teamId' })
    const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
    app.use(crudRouter(Member, { route: 'members', operations, scope: () => scope }))
    app.use(crudRouter(Team, { route: 'teams', relations: { members: { routes: true, write: true } } }))
    return { Team, Member }
  })
  const { Team, Member } = stage
  const [mine, others] = await Promise.all(['mine', 'others'].map((name) => Team.create({ name })))
  await Member.create({ userId: ME, teamId: mine?.get('id') })
  await Member.create({ userId: 2, teamId: others?.get('id') })
  return stage
}

const PATH = filter.any('team.members', filter.eq('userId', ME))
const SHAPES = {
  'an attribute or a path': filter.or(filter.eq('invited', true), PATH),
  'a path or two attributes': filter.or(PATH, filter.and(filter.eq('invited', true), filter.gt('userId', 5))),
}

for (const [shape, scope] of Object.entries(SHAPES)) {
  test.serial(`${shape}: what the body leaves out admits nobody to the records of others`, async (t) => {
    const stage: Stage<object> = await served(scope)
    t.teardown(stage.close)
    const teams: { id: number; name: string }[] = (await stage.get('/teams')).body.items
    const [mine, others] = ['mine', 'others'].map((name) => teams.find((team) => team.name === name)?.id)
    const { body: visible } = await stage.get('/members')
    const own = visible.items[0].id
    t.is(visible.totalCount, 1)

    const body = { userId: ME, teamId: others }
    t.is((await stage.post('/members', body)).status, 403)
    t.is((await stage.post('/members/bulk', [body])).status, 403)
    t.is((await stage.patch(`/members/${own}`, { teamId: others })).status, 403)
    t.is((await stage.patch('/members/bulk', [{ id: own, teamId: others }])).status, 403)
    t.is((await stage.send('PUT', `/members/${own}`, { json: body })).status, 403)
    t.is((await stage.post(`/teams/${others}/members`, { userId: ME })).status, 403)
    t.is((await stage.patch(`/teams/${others}`, { members: [{ userId: ME }] })).status, 403)
    t.deepEqual((await stage.get('/members')).body, visible)

    t.is((await stage.post('/members', { userId: 7, teamId: mine })).status, 201)
    t.is((await stage.patch(`/members/${own}`, { invited: true })).status, 200)
  })
}

test.serial(
  'a text in a JSON column of a new record under a condition is stored, and nothing is reported',
  async (t) => {
    const reported: unknown[] = []
    const stage = await openStage(({ sequelize }, app) => {
      const Desk = sequelize.define('JsonDesk', { name: DataTypes.STRING(20) }, { timestamps: false })
      const Paper = sequelize.define('JsonPaper', { extra: DataTypes.JSON }, { timestamps: false })
      Paper.belongsTo(Desk, { as: 'desk', foreignKey: 'deskId' })
      Desk.hasMany(Paper, { as: 'papers', foreignKey: 'deskId' })
      const onError = (error: unknown): void => void reported.push(error)
      app.use(crudRouter(Paper, { route: 'papers', scope: () => filter.eq('desk.name', 'a'), onError }))
      app.use(crudRouter(Desk, { route: 'desks', relations: { papers: { write: true } }, onError }))
    })
    t.teardown(stage.close)
    const { status, body } = await stage.post('/desks', { name: 'a', papers: [{ extra: '>5?' }] })
    t.is(status, 201)
    const papers = [{ extra: '>5?' }, { extra: ['"'] }]
    t.is((await stage.patch(`/desks/${body.id}`, { papers })).status, 200)
    const { items } = (await stage.get('/papers?sort=id')).body
    t.deepEqual(
      items.map(({ extra }: { extra: unknown }) => extra),
      ['>5?', ['"']],
    )
    t.deepEqual(reported, [])
  },
)
