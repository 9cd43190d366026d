// Responses of writes show flattened members as a GET after the write shows them, although nested records change them.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import { openStage, type Stage } from '../../support/stage.js'
import { VARIANTS, type Variant } from '../../support/variants.js'

const name = DataTypes.STRING(20)

function open({ options, finds = false }: Variant) {
  return openStage(({ sequelize }, app) => {
    const plain = { timestamps: false }
    const League = sequelize.define('League', { name }, plain)
    const Team = sequelize.define('Team', { name }, plain)
    const Profile = sequelize.define('Profile', { bio: name }, plain)
    const Player = sequelize.define('Player', { name }, plain)
    if (finds) for (const each of [Team, Profile, Player]) each.addHook('beforeFind', () => undefined)
    League.hasMany(Team, { as: 'teams', foreignKey: 'leagueId' })
    Team.hasOne(Profile, { as: 'profile', foreignKey: 'teamId' })
    Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
    Team.belongsTo(Player, { as: 'captain', foreignKey: 'captainId', constraints: false })
    Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    Player.belongsTo(Player, { as: 'mentor', foreignKey: 'mentorId', constraints: false })
    const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
    const write = { write: true }
    const named = { fields: ['name'] }
    app.use(
      crudRouter(League, { operations, relations: { teams: write } }),
      crudRouter(Team, {
        ...options,
        operations,
        flatten: ['profile', 'captain'],
        relations: { profile: write, players: write, captain: named },
      }),
      crudRouter(Profile, options),
      crudRouter(Player, {
        ...options,
        operations,
        flatten: ['team', 'mentor'],
        relations: { team: named, mentor: named },
      }),
    )
    return { League, Team, Profile, Player }
  })
}

/** Stores a league of one team, with a profile and two players. The second player is the captain and the mentor. */
async function fill({ League, Team, Profile, Player }: Awaited<ReturnType<typeof open>>): Promise<void> {
  await League.create({ name: 'first' })
  await Team.create({ name: 'Nets', leagueId: 1, captainId: 2 })
  await Profile.create({ bio: 'old', teamId: 1 })
  await Player.bulkCreate([
    { name: 'Ann', teamId: 1, mentorId: 2 },
    { name: 'Bob', teamId: 1 },
  ])
}

type Shown = Readonly<Record<string, unknown>>

/** Whether a GET of the record has all the members of the record in the response, apart from nested records. */
async function assertFresh(t: import('ava').ExecutionContext, stage: Stage, path: string, shown: Shown): Promise<void> {
  const { profile: _, players: _others, ...own } = shown
  t.deepEqual(own, (await stage.get(`/api/${path}/${shown.id}`)).body, `${path} ${JSON.stringify(shown)}`)
}

for (const variant of VARIANTS) {
  test(`flattened members are as current as in a GET after the write: ${variant.title}`, async (t) => {
    const stage = await open(variant)
    t.teardown(() => stage.close())
    await fill(stage)
    const bobs = (bob: string) => ({
      players: [
        { id: 1, name: `mate of ${bob}` },
        { id: 2, name: bob },
      ],
    })
    for (const [method, path, json] of [
      ['PATCH', '/api/teams/1', { profile: { bio: 'new' } }],
      ['PATCH', '/api/teams/1', { profile: null }],
      ['PATCH', '/api/teams/1', { name: 'Hoops', profile: { bio: 'second' } }],
      ['PUT', '/api/teams/1', { name: 'Nets', leagueId: 1, captainId: 2, profile: { bio: 'third' } }],
      ['PATCH', '/api/teams/bulk', [{ id: 1, profile: { bio: 'fourth' } }]],
      ['PATCH', '/api/teams/1', bobs('Bill')],
      ['PATCH', '/api/teams/1', { players: [{ id: 1 }, { id: 2, name: 'Ben' }] }],
      ['PATCH', '/api/teams/1', { name: 'Balls', players: [{ id: 1, name: 'Amy' }, { id: 2 }] }],
      ['POST', '/api/teams', { name: 'Stars', profile: { bio: 'starred' }, players: [{ name: 'Cid' }] }],
      ['POST', '/api/teams/bulk', ['a', 'b'].map((bio) => ({ name: bio, profile: { bio } }))],
    ] as const) {
      const { status, body, text } = await stage.send(method, path, { json })
      t.true(status < 300, text)
      for (const team of Array.isArray(body) ? body : [body]) {
        await assertFresh(t, stage, 'teams', team)
        for (const player of team.players ?? []) await assertFresh(t, stage, 'players', player)
      }
    }
  })

  test(`flattened members of nested records are current at any depth: ${variant.title}`, async (t) => {
    const stage = await open(variant)
    t.teardown(() => stage.close())
    await fill(stage)
    for (const [method, path, json] of [
      ['PATCH', '/api/leagues/1', { teams: [{ id: 1, profile: { bio: 'new' } }] }],
      [
        'PATCH',
        '/api/leagues/bulk',
        [{ id: 1, teams: [{ id: 1, profile: null, players: [{ id: 1 }, { id: 2, name: 'Bo' }] }] }],
      ],
      ['POST', '/api/leagues', { name: 'second', teams: [{ name: 'Stars', profile: { bio: 'starred' } }] }],
    ] as const) {
      const { status, body, text } = await stage.send(method, path, { json })
      t.true(status < 300, text)
      for (const { teams } of Array.isArray(body) ? body : [body])
        for (const team of teams) await assertFresh(t, stage, 'teams', team)
    }
  })

  test(`flattened members are current if the same bulk update changes their record: ${variant.title}`, async (t) => {
    const stage = await open(variant)
    t.teardown(() => stage.close())
    await fill(stage)
    const { body } = await stage.patch('/api/players/bulk', [
      { id: 1, name: 'Amy' },
      { id: 2, name: 'Ben' },
    ])
    for (const player of body) await assertFresh(t, stage, 'players', player)
  })
}

test('a foreign key is null in the response if the body removes the record that it refers to', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Club = sequelize.define('Club', { name }, { timestamps: false })
    const Member = sequelize.define('Member', { name }, { timestamps: false })
    Club.hasMany(Member, { as: 'members', foreignKey: 'clubId', constraints: false })
    Club.belongsTo(Member, { as: 'chair', foreignKey: 'chairId', onDelete: 'SET NULL' })
    app.use(crudRouter(Club, { relations: { members: { write: true } } }), crudRouter(Member))
    return { Club, Member }
  })
  t.teardown(() => stage.close())
  await stage.Member.bulkCreate([1, 2].map((id) => ({ name: `number ${id}`, clubId: 1 })))
  await stage.Club.create({ name: 'one', chairId: 2 })
  const { body } = await stage.patch('/api/clubs/1', { members: [{ id: 1 }] })
  t.like(body, { id: 1, name: 'one', chairId: null })
  t.deepEqual((await stage.get('/api/clubs/1')).body, { id: 1, name: 'one', chairId: null })
})

test('a record is read again only if a later write changes what it shows', async (t) => {
  const stage = await open({ title: 'by statements', options: {} })
  t.teardown(() => stage.close())
  await fill(stage)
  const countReads = async (json: object): Promise<number> => {
    const before = stage.statements.length
    t.is((await stage.patch('/api/teams/1', json)).status, 200)
    return stage.statements.slice(before).filter((sql) => /SELECT .*bio.* FROM [`"]?teams/is.test(sql)).length
  }
  t.is(await countReads({ name: 'Hoops', players: [{ id: 1 }, { id: 2 }] }), 1)
  t.is(await countReads({ name: 'Balls', profile: { bio: 'new' } }), 2)
})
