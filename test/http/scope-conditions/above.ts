// Nobody is admitted to what a body holds or links by what the same request changes above it.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, filter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Org = sequelize.define(
    'Org',
    { code: { type: DataTypes.STRING(20), unique: true }, owner: DataTypes.INTEGER },
    plain,
  )
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20), lead: DataTypes.INTEGER }, plain)
  const Member = sequelize.define('Member', { note: DataTypes.STRING(20) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20) }, plain)
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const TeamTag = sequelize.define('TeamTag', { id, weight: DataTypes.INTEGER }, plain)
  Org.hasMany(Team, { as: 'teams', foreignKey: 'orgId' })
  Team.belongsTo(Org, { as: 'org', foreignKey: 'orgId' })
  Team.hasMany(Member, { as: 'members', foreignKey: 'teamId' })
  Member.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.belongsToMany(Tag, { as: 'tags', through: TeamTag, foreignKey: 'teamId', otherKey: 'tagId' })
  TeamTag.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const write = { write: true }
  app.use(crudRouter(Org, { route: 'orgs', operations, relations: { teams: write } }))
  app.use(crudRouter(Team, { route: 'teams', operations, relations: { members: write, tags: write } }))
  app.use(crudRouter(Tag, { route: 'tags' }))
  const scope = (): string => filter.or(filter.eq('team.lead', 1), filter.eq('team.org.owner', 1))
  app.use(crudRouter(Member, { route: 'members', scope }))
  app.use(crudRouter(TeamTag, { route: 'team-tags', scope }))
})
const { sequelize } = stage
const [Org, Team, Member] = [sequelize.model('Org'), sequelize.model('Team'), sequelize.model('Member')]
const [Tag, TeamTag] = [sequelize.model('Tag'), sequelize.model('TeamTag')]
let [org, team, tag] = [0, 0, 0]

async function start(owner: number): Promise<void> {
  for (const model of [TeamTag, Member, Team, Org, Tag]) await model.destroy({ where: {} })
  org = Number((await Org.create({ code: 'a', owner })).get('id'))
  team = Number((await Team.create({ name: 'one', orgId: org, lead: 2 })).get('id'))
  tag = Number((await Tag.create({ name: 'new' })).get('id'))
}
test.after.always(async () => {
  await stage.close()
})

type Sent = readonly [method: string, path: string, json: unknown]

/** Requests that make their caller the one who is admitted, and write something of the team. */
function requests(held: object): readonly Sent[] {
  const own = { lead: 1, ...held }
  const within = { owner: 1, teams: [{ id: team, ...held }] }
  return [
    ['PATCH', `/teams/${team}`, own],
    ['PATCH', '/teams/bulk', [{ id: team, ...own }]],
    ['PUT', `/teams/${team}`, { name: 'one', orgId: org, ...own }],
    ['PATCH', `/orgs/${org}`, within],
    ['PATCH', '/orgs/bulk', [{ id: org, ...within }]],
    ['PUT', `/orgs/${org}`, { code: 'a', ...within }],
    ['PUT', '/orgs/bulk?by=code', [{ code: 'a', ...within }]],
  ]
}

test.serial('what the request changes above a new record or a new link admits nobody to it', async (t) => {
  await start(2)
  for (const held of [{ members: [{ note: 'x' }] }, { tags: [tag] }]) {
    for (const [method, path, json] of requests(held)) {
      const { status, body } = await stage.send(method, path, { json })
      t.like(body, { status: 403, detail: 'You may not store this record.' }, `${method} ${path} ${status}`)
      t.deepEqual([await Member.count(), await TeamTag.count()], [0, 0], `${method} ${path}`)
      t.is((await Team.findByPk(team))?.get('lead'), 2)
    }
  }
})

test.serial('who was admitted before the request may change what is above', async (t) => {
  await start(1)
  for (const held of [{ members: [{ note: 'x' }] }, { tags: [tag] }]) {
    for (const [method, path, json] of requests(held)) {
      t.is((await stage.send(method, path, { json })).status, 200, `${method} ${path}`)
      await TeamTag.destroy({ where: {} })
    }
  }
})

test.serial(
  'what is invalid, or not there, in a body below another one is told before the scope refuses',
  async (t) => {
    await start(2)
    const of = (held: object): object => ({ owner: 1, teams: [{ id: team, ...held }] })
    const long = await stage.patch(`/orgs/${org}`, of({ members: [{ note: 'x'.repeat(30) }] }))
    t.like(long, { status: 400 })
    t.true(Object.keys(long.body.errors).includes('teams[0].members[0].note'))
    t.like(await stage.patch(`/orgs/${org}`, of({ members: [{ id: 999, note: 'x' }] })), { status: 404 })
    t.like(await stage.patch(`/orgs/${org}`, of({ tags: [999] })), { status: 400 })
  },
)
