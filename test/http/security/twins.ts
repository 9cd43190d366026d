// Two attributes that have one column, or one name in the API: neither opens what the other closes.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic, Sequelize } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName, sqliteOptions } from '../../support/database.js'
import { keysOf } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'
import { identity, withPermission } from '../../support/tokens.js'

const test = ava.serial

interface Models {
  readonly Team: ModelStatic<Model>
  readonly Player: ModelStatic<Model>
  readonly Doc: ModelStatic<Model>
}

const plain = { timestamps: false }
const loose = { constraints: false }
const hasFullText = databaseName !== 'sqlite'

const served = await openStage<Models>(({ sequelize }, app) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, plain)
  const teamId = { type: DataTypes.INTEGER, field: 'team_id' }
  const Player = sequelize.define('Player', { name: DataTypes.STRING(20), teamId }, plain)
  Player.belongsTo(Team, { as: 'team', foreignKey: 'team_id', ...loose })
  Team.hasMany(Player, { as: 'players', foreignKey: 'team_id', ...loose })
  const Doc = sequelize.define('Doc', { bio_text: DataTypes.TEXT, bioText: DataTypes.TEXT }, plain)
  const common: CrudOptions = { identity, operations: Operations.All | Operations.Aggregate }
  app.use(crudRouter(Team, { ...common, relations: { players: { routes: true } } }))
  app.use(crudRouter(Player, { ...common, mask: { teamId: 'org' }, fields: { team_id: { exclude: true } } }))
  const search = hasFullText ? { fields: ['bioText'], fullText: true } : ['bioText']
  app.use(crudRouter(Doc, { fields: { bio_text: { exclude: true } }, query: { search } } as CrudOptions))
  return { Team, Player, Doc }
})
const { Team, Player, Doc } = served
await Team.create({ name: 'a' })
await Player.create({ name: 'p', teamId: 1 })
await Doc.create({ bio_text: 'dragon', bioText: 'cat' })
// PostgreSQL needs no index to look words up.
if (databaseName !== 'postgres')
  await Doc.sequelize?.query(hasFullText ? 'CREATE FULLTEXT INDEX words ON Docs (bioText)' : 'SELECT 1')
test.after.always(() => served.close())

const ORG = withPermission('org')

for (const path of [
  '/api/players?select=name,team(id)',
  '/api/players?filter=team.name=a',
  '/api/players?sort=team.name',
  '/api/players?group=team.name&aggregate=count',
  '/api/teams?select=players(name)',
  '/api/teams?filter=players.any(name=p)',
  '/api/teams/1/players',
]) {
  test(`a mask of one attribute over a foreign key closes the relation whose attribute is the other: ${path}`, async (t) => {
    t.true([400, 404].includes((await served.get(path)).status))
    t.is((await served.get(path, ORG)).status, 200)
  })
}

test('an attribute that is excluded is not what is searched under the name that it leaves to another', async (t) => {
  t.deepEqual(await keysOf(served, '/api/docs', { search: 'dragon' }), [])
  t.deepEqual(await keysOf(served, '/api/docs', { search: 'cat' }), [1])
})

test('no field and no relation has the name of the version that bodies of several state', (t) => {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const Owner = sequelize.define('Owner', { counter: DataTypes.INTEGER }, plain)
  const Child = sequelize.define('Child', {}, plain)
  Owner.hasMany(Child, { as: 'children', foreignKey: 'ownerId' })
  const Twin = sequelize.define('Twin', { row_version: DataTypes.INTEGER }, plain)
  const naming = (name: string): string => (name === 'counter' ? 'rowVersion' : name)
  for (const [model, options] of [
    [Owner, { fields: { counter: { name: 'rowVersion' } } }],
    [Owner, { naming }],
    [Owner, { relations: { children: { name: 'rowVersion' } } }],
    [Twin, {}],
  ] as const) {
    const given = { concurrency: true, ...options } as CrudOptions
    t.throws(() => crudRouter(model, given), { code: 'AMBIGUOUS_NAME' })
  }
})
