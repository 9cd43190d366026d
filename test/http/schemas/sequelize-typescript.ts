import 'reflect-metadata'
import test from 'ava'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Model, Sequelize, Table } from 'sequelize-typescript'
import { crudRouter, Operations } from '../../../lib/index.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

class Team extends Model {
  declare name: string
  declare players: Player[]
}

class Player extends Model {
  declare name: string
  declare level: number | null
  declare teamId: number | null
  declare team: Team | null
}

// Decorators, called by hand: what they are compiled to.
Column({ type: DataType.STRING(20), allowNull: false })(Team.prototype, 'name')
HasMany(() => Player)(Team.prototype, 'players')
Table({ tableName: 'teams', timestamps: false })(Team)
Column({ type: DataType.STRING(20), allowNull: false, validate: { len: [2, 20] } })(Player.prototype, 'name')
Column(DataType.INTEGER)(Player.prototype, 'level')
ForeignKey(() => Team)(Player.prototype, 'teamId')
Column(DataType.INTEGER)(Player.prototype, 'teamId')
BelongsTo(() => Team)(Player.prototype, 'team')
Table({ tableName: 'players', timestamps: false })(Player)

const server = await openStage()
const { config, options } = server.sequelize as unknown as {
  config: { database: string; username: string; password: string }
  options: object
}
const { database: name, username, password } = config
const sequelize = new Sequelize({ ...options, database: name, username, password, models: [Team, Player] })
await sequelize.sync()
server.app.use(crudRouter(Team))
server.app.use(crudRouter(Player, { operations: Operations.AllWithBulk, flatten: ['team'] }))

test.after.always(async () => {
  await sequelize.close()
  await server.close()
})

test.serial('models of sequelize-typescript are created, validated and read like any other', async (t) => {
  const team = await server.post('/api/teams', { name: 'Lakers' })
  t.is(team.status, 201, team.text)
  const { status, body } = await server.post('/api/players', { name: 'Ewa', level: 3, teamId: team.body.id })
  t.is(status, 201)
  t.deepEqual(body, { id: 1, name: 'Ewa', level: 3, teamId: 1, teamName: 'Lakers' })
  t.deepEqual((await server.post('/api/players', { name: 'E' })).body.errors, {
    name: ['must be between 2 and 20 characters.'],
  })
  t.is((await server.post('/api/players/bulk', [{ name: 'Jan' }, { name: 'Ola', level: 9 }])).status, 201)
})

test.serial('paths follow what sequelize-typescript has associated, both ways', async (t) => {
  const players = await list(server, '/api/players', { filter: 'Team.Name=Lakers', sort: '-Team.Name,Name' })
  t.like(players.body, { totalCount: 1, items: [{ name: 'Ewa' }] })
  const teams = await list(server, '/api/teams', { filter: 'Players.Any(Level>2)' })
  t.like(teams.body, { totalCount: 1, items: [{ name: 'Lakers' }] })
})

test.serial('models of sequelize-typescript are patched and deleted', async (t) => {
  t.is((await server.patch('/api/players/1', { level: null, teamId: null })).body.level, null)
  t.is((await server.delete('/api/players/1')).status, 204)
  t.is((await server.get('/api/players/1')).status, 404)
})
