// Relations to models whose default scope has an `include`. The collections of the scope do not repeat records, and
// what the scope hides is missing.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage } from '../../support/stage.js'

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const named = { name: DataTypes.STRING }
  const League = sequelize.define('League', { ...named, open: DataTypes.BOOLEAN }, plain)
  const Prize = sequelize.define('Prize', { ...named, won: DataTypes.BOOLEAN }, plain)
  const City = sequelize.define('City', named, plain)
  const Tag = sequelize.define('Tag', named, plain)
  const operations = Operations.AllWithBulk | Operations.Export | Operations.Aggregate
  const define = (name: string, scope: object[]) => {
    const Team = sequelize.define(`${name}Team`, named, plain)
    const Player = sequelize.define(`${name}Player`, named, plain)
    const Scoped = sequelize.define(
      `${name}Scoped`,
      { ...named, gone: DataTypes.BOOLEAN },
      {
        ...plain,
        defaultScope: { where: { gone: false } },
      },
    )
    Team.belongsTo(League, { as: 'league', foreignKey: 'leagueId' })
    Team.hasMany(Prize, { as: 'prizes', foreignKey: `${name}Id` })
    for (const model of [Player, Scoped]) {
      model.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
      app.use(crudRouter(model, { operations, route: `api/${name}-${model === Player ? 'players' : 'scoped'}` }))
    }
    Team.addScope('defaultScope', { include: scope }, { override: true })
    City.hasMany(Team, { as: `${name}Teams`, foreignKey: 'cityId' })
    Tag.belongsToMany(Team, { as: `${name}Teams`, through: `${name}TeamTag`, timestamps: false })
    app.use(crudRouter(Team, { operations }))
    return { Team, Player, Scoped }
  }
  app.use(crudRouter(League), crudRouter(Prize), crudRouter(City), crudRouter(Tag))
  const outer = define('outer', [{ association: 'prizes' }, { association: 'league' }])
  const inner = define('inner', [
    { association: 'prizes', where: { won: true } },
    { association: 'league', where: { open: true }, attributes: ['name'] },
  ])
  return { League, Prize, City, Tag, outer, inner }
})
const { League, Prize, City, Tag, outer, inner } = stage
await League.bulkCreate([
  { name: 'open', open: true },
  { name: 'shut', open: false },
])
await City.bulkCreate([{ name: 'X' }, { name: 'Y' }])
await Tag.create({ name: 'T' })
for (const [name, { Team, Player, Scoped }] of Object.entries({ outer, inner })) {
  await Team.bulkCreate([
    { name: 'A', leagueId: 1, cityId: 1 },
    { name: 'B', leagueId: 1, cityId: 2 },
    { name: 'C', leagueId: 2, cityId: 2 },
    { name: 'D', leagueId: 1, cityId: 2 },
  ])
  const pairs = [1, 2, 3, 4].map((team) => ({ [`${name}TeamId`]: team, TagId: 1 }))
  await stage.sequelize.models[`${name}TeamTag`]?.bulkCreate(pairs)
  const prizes = [1, 1, 1, 2, 2, 3].map((team) => ({ name: `of ${team}`, won: true, [`${name}Id`]: team }))
  await Prize.bulkCreate([...prizes, { name: 'lost', won: false, [`${name}Id`]: 4 }])
  const players = [1, 1, 2, 3, 4, null].map((teamId, index) => ({ name: `p${index}`, teamId, gone: false }))
  await Player.bulkCreate(players)
  await Scoped.bulkCreate([...players, { name: 'gone', teamId: 1, gone: true }])
}
test.after.always(() => stage.close())

/** The teams of the players, where the default scope of teams shows them. */
const TEAMS = {
  outer: ['A', 'A', 'B', 'C', 'D', null],
  // C is in a league that is shut, and D has won no prize.
  inner: ['A', 'A', 'B', null, null, null],
}

for (const [name, teams] of Object.entries(TEAMS)) {
  for (const route of [`/api/${name}-players`, `/api/${name}-scoped`]) {
    const shown = teams.map((team, index) => ({ name: `p${index}`, team: team === null ? null : { name: team } }))

    test(`${route}: lists have every record once, with the team that its scope shows`, async (t) => {
      const list = await stage.get(`${route}?select=name,team.name&sort=name`)
      t.deepEqual([list.body.items, list.body.totalCount], [shown, 6])
      const sorted = await stage.get(`${route}?select=name&sort=-team.name,name&pageSize=4`)
      const known = shown.filter(({ team }) => team !== null).length
      t.deepEqual([sorted.body.items.length, sorted.body.totalCount], [4, 6])
      t.is(new Set(sorted.body.items.map((item: { name: string }) => item.name)).size, 4)
      t.is((await stage.get(`${route}?filter=team!=null&count=true`)).body.count, known)
      t.is((await stage.get(`${route}?filter=team=null&count=true`)).body.count, 6 - known)
    })

    test(`${route}: filters, files, pages and groups have every record once`, async (t) => {
      const names = shown.filter(({ team }) => team?.name === 'A').map((player) => player.name)
      const found = await stage.get(`${route}?filter=team.name=A&sort=name`)
      t.deepEqual([found.body.items.map((item: { name: string }) => item.name), found.body.totalCount], [names, 2])
      t.is((await stage.get(`${route}?filter=team.name=C&count=true`)).body.count, name === 'outer' ? 1 : 0)
      const file = await stage.get(`${route}?format=csv&select=name&filter=team.name=A&sort=name`)
      t.is(file.text, 'name\r\np0\r\np1\r\n')
      const walk = await stage.get(`${route}?after=&pageSize=2&sort=-team.name,name&filter=team!=null&select=name`)
      t.is(new Set(walk.body.items.map((item: { name: string }) => item.name)).size, 2)
      const groups = await stage.get(`${route}?aggregate=count&group=team.name&filter=team.name=A`)
      t.deepEqual(groups.body.items, [{ group: { team: { name: 'A' } }, count: 2 }])
    })
  }

  test(`${name}: collections, their counts and quantifiers have the records that the scope of the list shows`, async (t) => {
    const shown = [...new Set(teams)].filter((team) => team !== null)
    const collection = `${name}Teams`
    const inX = shown.filter((team) => team === 'A')
    const inY = shown.filter((team) => team !== 'A')
    const select = `select=name,${collection}(name),${collection}.Count&${collection}.sort=name`
    const namesOf = (record: Record<string, { name: string }[]>) => record[collection]?.map((team) => team.name)
    const [x, y] = (await stage.get(`/api/cities?${select}&sort=name`)).body.items
    t.deepEqual([namesOf(x), x[`${collection}Count`]], [inX, inX.length])
    t.deepEqual([namesOf(y), y[`${collection}Count`]], [inY, inY.length])
    const [tag] = (await stage.get(`/api/tags?${select}`)).body.items
    t.deepEqual([namesOf(tag), tag[`${collection}Count`]], [shown, shown.length])
    for (const route of ['cities', 'tags']) {
      const found = await stage.get(`/api/${route}?filter=${collection}.Any(name=C)&count=true`)
      t.is(found.body.count, shown.includes('C') ? 1 : 0)
    }
    const many = await stage.get(`/api/cities?filter=${collection}.Count>1&count=true`)
    t.is(many.body.count, inY.length > 1 ? 1 : 0)
  })
}
