// How many statements a read is: as many for a page of twenty records as for one.

import ava from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const test = ava.serial

/** Records of each owner: a page is full of them, and a collection is longer than a page of it. */
const TEAMS = 12
const EACH = 8

const stage = await openStage(({ sequelize }, app) => {
  const owned = { tenant: DataTypes.STRING(10), name: DataTypes.STRING(20) }
  const Club = sequelize.define('Club', owned, { timestamps: false })
  const Team = sequelize.define('Team', owned, { timestamps: false, indexes: [{ fields: ['clubId'] }] })
  const attributes = { ...owned, level: DataTypes.INTEGER }
  const Player = sequelize.define('Player', attributes, { timestamps: false, indexes: [{ fields: ['teamId'] }] })
  const Skill = sequelize.define('Skill', owned, { timestamps: false })
  Club.hasMany(Team, { as: 'teams', foreignKey: 'clubId' })
  Team.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Player.belongsToMany(Skill, { as: 'skills', through: 'PlayerSkill', timestamps: false })
  Skill.belongsToMany(Player, { as: 'players', through: 'PlayerSkill', timestamps: false })
  const options = {
    identity: identityFromHeader,
    scope: () => ({ tenant: 'one' }),
    operations: Operations.AllWithBulk | Operations.Export | Operations.Aggregate,
  }
  const players = crudRouter(Player, options)
  app.use(players)
  app.use(crudRouter(Skill, options))
  app.use(crudRouter(Club, options))
  app.use(crudRouter(Team, { ...options, relations: { players: { routes: true, resource: () => players } } }))
})
const { sequelize, statements, get } = stage
const tenant = 'one'
await sequelize.model('Club').create({ tenant, name: 'Club' })
await sequelize.model('Skill').bulkCreate([1, 2].map((number) => ({ tenant, name: `skill ${number}` })))
await sequelize
  .model('Team')
  .bulkCreate(Array.from({ length: TEAMS }, (_, index) => ({ tenant, name: `team ${index}`, clubId: 1 })))
await sequelize.model('Player').bulkCreate(
  Array.from({ length: TEAMS * EACH }, (_, index) => ({
    ...{ tenant, name: `player ${index}`, level: index % 5 },
    teamId: 1 + (index % TEAMS),
  })),
)
await sequelize
  .model('PlayerSkill')
  .bulkCreate(Array.from({ length: TEAMS * EACH }, (_, index) => ({ PlayerId: index + 1, SkillId: 1 + (index % 2) })))
ava.after.always(() => stage.close())

/** Reads with the number of statements that each is. */
const READS: readonly (readonly [count: number, what: string, path: string])[] = [
  [1, 'a record', '/api/players/1'],
  [1, 'a record with what it points at', '/api/players/1?select=name,team.name,team.club.name'],
  [2, 'a record with a collection', '/api/teams/1?select=name,players(name)'],
  [1, 'a list that is not full', '/api/players?pageSize=200'],
  [1, 'a page without a total', '/api/players?pageSize=5&count=none'],
  [1, 'a page behind a token', '/api/players?after=&pageSize=5&sort=-level'],
  [
    1,
    'a page over relations',
    '/api/players?filter=team.club.name=Club&sort=team.name&count=none&select=name,team.name',
  ],
  [1, 'a condition on elements', '/api/teams?filter=players.Any(level=2)&count=none'],
  [1, 'numbers of elements', '/api/teams?select=name,players.count&sort=-players.count&count=none'],
  [2, 'a page with a collection of each', '/api/teams?select=name,players(name)&count=none'],
  [3, 'a page with collections of collections', '/api/clubs?select=name,teams(name,players(name))&count=none'],
  [2, 'a page with linked records', '/api/players?select=name,skills(name)&count=none'],
  [1, 'a number of records', '/api/players?count=true'],
  [1, 'groups that are not full', '/api/players?group=level&aggregate=count,max(level)'],
  [1, 'records by their keys', '/api/players?keys=1,2,3'],
]

for (const [count, what, path] of READS) {
  test(`${what} is ${count} statement${count === 1 ? '' : 's'}, however often it is asked for`, async (t) => {
    for (let turn = 0; turn < 8; turn += 1) {
      statements.length = 0
      const { status, text } = await get(path, asUser('one'))
      t.is(status, 200, text)
      t.is(statements.length, count, statements.join('\n'))
    }
  })
}
