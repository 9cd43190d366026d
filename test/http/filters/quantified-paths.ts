// Collections behind to-one relations within the condition of a quantifier: found by keys on every database.

import ava, { type ExecutionContext } from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudOptions, crudRouter } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { accessesOf } from '../../support/plans.js'
import { asUser, identityFromHeader, openStage } from '../../support/stage.js'

const test = ava.serial
const onSqlite = databaseName === 'sqlite' ? ava.serial : ava.serial.skip

const TEAMS = 40
const EACH = 10

async function served(t: ExecutionContext) {
  const server = await openStage()
  const { app, sequelize, statements } = server
  const plain = { timestamps: false }
  const Club = sequelize.define('Club', { name: DataTypes.STRING(20) }, plain)
  const Team = sequelize.define('Team', { name: DataTypes.STRING(20) }, { ...plain, indexes: [{ fields: ['clubId'] }] })
  const indexes = [{ fields: ['teamId'] }]
  const Player = sequelize.define('Player', { name: DataTypes.STRING(20) }, { ...plain, indexes })
  Club.hasMany(Team, { as: 'teams', foreignKey: 'clubId' })
  Team.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  await sequelize.sync()
  await Club.bulkCreate([{ name: 'north' }, { name: 'south' }] as never)
  await Team.bulkCreate(
    Array.from({ length: TEAMS }, (_, index) => ({ name: `team ${index}`, clubId: 1 + (index % 2) })) as never,
  )
  // Team n has n % 10 players, and one of team 3 is called odd.
  const players = Array.from({ length: TEAMS * EACH }, (_, index) => ({
    team: 1 + Math.floor(index / EACH),
    place: index % EACH,
  })).filter(({ team, place }) => place < team % EACH)
  await Player.bulkCreate(
    players.map(({ team, place }) => ({
      teamId: team,
      name: team === 3 && place === 0 ? 'odd' : `p${place}`,
    })) as never,
  )
  if (databaseName === 'sqlite') await sequelize.query('ANALYZE')
  const limits = { pathDepth: 5 }
  app.use(crudRouter(Club, { limits }), crudRouter(Team, { limits }), crudRouter(Player, { limits }))
  t.teardown(server.close)
  const ids = async (path: string, filter: string): Promise<readonly unknown[]> => {
    const { status, body } = await server.get(`/api/${path}?pageSize=100&filter=${encodeURIComponent(filter)}`)
    t.is(status, 200, JSON.stringify(body))
    return (Object(body).items as readonly object[]).map((item) => Reflect.get(item, 'id'))
  }
  return { ids, sequelize, statements }
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)
const withSome = upTo(TEAMS).filter((team) => team % EACH > 0)

const FILTERS: readonly (readonly [filter: string, teams: readonly number[]])[] = [
  ['players.Any(team.players.Count>8)', upTo(TEAMS).filter((team) => team % EACH === 9)],
  ['players.Any(team.players.Count<3)', upTo(TEAMS).filter((team) => team % EACH === 1 || team % EACH === 2)],
  ['players.Any(team.players.Any(name=odd))', [3]],
  ['players.None(team.players.Any(name=odd))', upTo(TEAMS).filter((team) => team !== 3)],
  ['players.All(team.players.Any(name=p4))', upTo(TEAMS).filter((team) => team % EACH > 4 || team % EACH === 0)],
  ['players.Any(team.club.teams.Any(name=team 2))', withSome.filter((team) => team % 2 === 1)],
  ['players.Any(team.club.teams.Count=20)', withSome],
  ['players.Any(team.club.teams.Count=19)', []],
]

test('a collection behind to-one relations within a quantifier is that of the element', async (t) => {
  const { ids } = await served(t)
  for (const [filter, teams] of FILTERS) t.deepEqual(await ids('teams', filter), teams, filter)
})

onSqlite('SQLite finds the elements by their keys, and reads no table for each of them', async (t) => {
  const { ids, sequelize, statements } = await served(t)
  for (const [filter] of FILTERS) {
    const from = statements.length
    await ids('teams', filter)
    const accesses = await accessesOf(sequelize, statements.slice(from).find((line) => line.includes('_q')) ?? '')
    const read = accesses.filter(({ table, seeks }) => table.startsWith('_q') && !seeks)
    t.deepEqual(read, [], filter)
    t.true(accesses.some(({ table }) => table.startsWith('_q')))
  }
})

/** What a caller's scope leaves of clubs and of teams; null for all. */
const CALLERS: readonly (readonly [name: string, club: string | null, region: string | null])[] = [
  ['everybody', null, null],
  ['north', 'north', null],
  ['east', null, 'east'],
  ['both', 'north', 'east'],
  ['nobody', 'nowhere', 'east'],
]

test('every scope on the way holds, whoever has asked before, with none, one, another and both', async (t) => {
  const server = await openStage()
  const { app, sequelize } = server
  const plain = { timestamps: false }
  const text = DataTypes.STRING(20)
  const Club = sequelize.define('Club', { name: text }, plain)
  const Team = sequelize.define('Team', { region: text }, plain)
  const Player = sequelize.define('Player', { name: text }, plain)
  Club.hasMany(Team, { as: 'teams', foreignKey: 'clubId' })
  Team.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  await sequelize.sync()
  const clubs = ['north', 'south']
  const regions = ['east', 'west', 'east']
  await Club.bulkCreate(clubs.map((name) => ({ name })) as never)
  // Of each club three teams, two in the east, and of each team a player.
  const teams = clubs.flatMap((club, index) => regions.map((region) => ({ club, clubId: index + 1, region })))
  await Team.bulkCreate(teams as never)
  await Player.bulkCreate(teams.map((_, index) => ({ name: 'p', teamId: index + 1 })) as never)
  const identity = identityFromHeader
  const limits = { pathDepth: 5 }
  const callerOf = (name: string | null | undefined) => CALLERS.find(([caller]) => caller === name) ?? ['', '', '']
  const by = (attribute: string, place: 1 | 2): CrudOptions => ({
    identity,
    limits,
    scope: ({ identity: caller }) => {
      const value = callerOf(caller?.name)[place] ?? null
      return value === null ? null : { [attribute]: value }
    },
  })
  app.use(crudRouter(Club, by('name', 1)), crudRouter(Team, by('region', 2)), crudRouter(Player, { identity, limits }))
  t.teardown(server.close)
  for (const [name, club, region] of [...CALLERS, ...CALLERS.toReversed(), ...CALLERS]) {
    for (const least of [0, 1, 2]) {
      const filter = encodeURIComponent(`players.Any(team.club.teams.Count>${least})`)
      const { body } = await server.get(`/api/teams?filter=${filter}`, asUser(name))
      const seen = teams.flatMap((team, index) =>
        region === null || team.region === region ? [[team, index + 1]] : [],
      )
      const expected = seen
        .filter(([team]) => club === null || Object(team).club === club)
        .filter(([team]) => seen.filter(([other]) => Object(other).club === Object(team).club).length > least)
      const ids = (Object(body).items as readonly object[]).map((item) => Reflect.get(item, 'id'))
      t.deepEqual(
        ids,
        expected.map(([, id]) => id),
        `${name} ${least}`,
      )
    }
  }
})
