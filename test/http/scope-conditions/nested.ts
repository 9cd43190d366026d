// Records that bodies hold or link are held to the conditions of their own scopes, however deep they are and whatever the records
// above them have.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, filter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Org = sequelize.define('Org', { code: { type: DataTypes.STRING(20), unique: true } }, plain)
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, plain)
  const Member = sequelize.define('Member', { level: DataTypes.INTEGER, note: DataTypes.STRING(20) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(20) }, plain)
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const TeamTag = sequelize.define('TeamTag', { id, weight: DataTypes.INTEGER }, plain)
  Org.hasMany(Team, { as: 'teams', foreignKey: 'orgId' })
  Team.hasMany(Member, { as: 'members', foreignKey: 'teamId' })
  Team.belongsToMany(Tag, { as: 'tags', through: TeamTag, foreignKey: 'teamId', otherKey: 'tagId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const held = { write: true, routes: true }
  app.use(crudRouter(Org, { route: 'orgs', operations, relations: { teams: held } }))
  app.use(crudRouter(Team, { route: 'teams', operations, relations: { members: held, tags: held } }))
  app.use(crudRouter(Tag, { route: 'tags' }))
  app.use(crudRouter(Member, { route: 'members', scope: () => filter.gte('level', 5) }))
  app.use(
    crudRouter(TeamTag, {
      route: 'team-tags',
      scope: ({ operation }) => (operation === 'create' ? filter.gte('weight', 5) : null),
    }),
  )
})
const { sequelize } = stage
const [Org, Team, Member] = [sequelize.model('Org'), sequelize.model('Team'), sequelize.model('Member')]
const [Tag, TeamTag] = [sequelize.model('Tag'), sequelize.model('TeamTag')]
let [org, team, tag] = [0, 0, 0]

test.beforeEach(async () => {
  for (const model of [TeamTag, Member, Team, Org, Tag]) await model.destroy({ where: {} })
  org = Number((await Org.create({ code: 'a' })).get('id'))
  team = Number((await Team.create({ name: 'one', orgId: org })).get('id'))
  tag = Number((await Tag.create({ name: 'new' })).get('id'))
})
test.after.always(async () => {
  await stage.close()
})

/** Requests that write something of the team, by its own routes and by those of what it belongs to. */
function requests(own: object): readonly (readonly [method: string, path: string, json: unknown])[] {
  const within = { teams: [{ id: team, ...own }] }
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

test.serial('a new record in the body of any record above it must meet its condition as it is stored', async (t) => {
  for (const [method, path, json] of requests({ members: [{ note: 'without a level' }] })) {
    const { status, body } = await stage.send(method, path, { json })
    t.like(body, { status: 403, detail: 'You may not store this record.' }, `${method} ${path} ${status}`)
    t.is(await Member.count(), 0, `${method} ${path}`)
  }
  for (const [method, path, json] of requests({ members: [{ level: 5 }] })) {
    t.is((await stage.send(method, path, { json })).status, 200, `${method} ${path}`)
  }
})

test.serial('a new link must meet the condition that its table has for creations alone', async (t) => {
  for (const [method, path, json] of [
    ...requests({ tags: [tag] }),
    ['PUT', `/teams/${team}/tags/${tag}`, undefined] as const,
    ['PUT', `/teams/${team}/tags`, [tag]] as const,
    ['POST', `/teams/${team}/tags`, [tag]] as const,
    ['POST', '/teams', { name: 'two', tags: [tag] }] as const,
  ]) {
    const { status, body } = await stage.send(method, path, json === undefined ? {} : { json })
    t.like(body, { status: 403, detail: 'You may not store this record.' }, `${method} ${path} ${status}`)
    t.is(await TeamTag.count(), 0, `${method} ${path}`)
  }
  t.is((await stage.send('PUT', `/teams/${team}/tags/${tag}`, { json: { weight: 5 } })).status, 204)
})
