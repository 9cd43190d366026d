// Collections in `select` show what a path over the same relation could find out, and nothing more.

import { Agent } from 'node:http'
import test from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudOptions, crudRouter, hasRole, type Scope } from '../../../../lib/index.js'
import { listPath } from '../../../support/league.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity, withPermission, withRole } from '../../../support/tokens.js'
import { describeResponse } from '../../../support/told.js'

const plain = { timestamps: false }
const stage = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
  const Player = sequelize.define(
    'Player',
    { name: DataTypes.STRING, salary: DataTypes.INTEGER, secret: DataTypes.STRING, tenant: DataTypes.STRING },
    plain,
  )
  const Fine = sequelize.define('Fine', { reason: DataTypes.STRING }, plain)
  const Visit = sequelize.define('Visit', { place: DataTypes.STRING }, plain)
  const Hidden = sequelize.define('Hidden', { word: DataTypes.STRING }, plain)
  const owned = (as: string): object => ({ as, foreignKey: 'teamId' })
  Team.hasMany(Player, owned('players'))
  Team.hasMany(Fine, owned('fines'))
  Team.hasMany(Visit, owned('visits'))
  Team.hasMany(Hidden, owned('hiddens'))
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Fine.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.belongsTo(Fine, { as: 'worst', foreignKey: 'worstId', constraints: false })
  Fine.hasMany(Player, { as: 'payers', foreignKey: 'teamId', constraints: false })
  const common: CrudOptions = { identity, onError: () => undefined, softDelete: true }
  app.use(crudRouter(Team, common))
  app.use(
    crudRouter(Player, {
      ...common,
      mask: { salary: 'payroll' },
      fields: { secret: { exclude: true } },
      scope: ({ identity: who }): Scope | null =>
        who?.claims.tenant === undefined ? null : { tenant: String(who.claims.tenant) },
    }),
  )
  app.use(crudRouter(Fine, { ...common, getListPolicy: hasRole('judge') }))
  app.use(crudRouter(Visit, { ...common, mask: { teamId: 'audit' } }))
})
const { Team, Player, Fine, Visit, Hidden } = stage.sequelize.models
const alive = { isDeleted: false }
await Team?.bulkCreate([
  { name: 'A', ...alive },
  { name: 'B', isDeleted: true },
])
await Player?.bulkCreate([
  { name: 'p1', salary: 5, secret: 's', tenant: 't1', teamId: 1, ...alive },
  { name: 'p2', salary: 9, secret: 's', tenant: 't2', teamId: 1, ...alive },
  { name: 'gone', salary: 9, secret: 's', tenant: 't1', teamId: 1, isDeleted: true },
  { name: 'p3', salary: 1, secret: 's', tenant: 't1', teamId: 2, ...alive },
])
await Fine?.create({ reason: 'late', teamId: 1, ...alive })
await Visit?.create({ place: 'Rome', teamId: 1, ...alive })
await Hidden?.create({ word: 'x', teamId: 1 })
const agent = new Agent({ keepAlive: true })
test.after.always(async () => {
  agent.destroy()
  await stage.close()
})

type Headers = Record<string, string>

const first = async (parameters: Headers, headers: Headers = {}): Promise<unknown> => {
  const { status, text, body } = await stage.get(listPath('/api/teams', parameters), headers)
  return status === 200 ? body.items[0] : [status, text]
}

/** An answer as it would be of a field with another name. */
const renamed = (answer: unknown, name: string, other: string): unknown =>
  JSON.parse(JSON.stringify(answer).replaceAll(name, other))

test('deleted records are in no collection and not counted, whatever the list shows', async (t) => {
  const select = { select: 'players.name,players.count' }
  const shown = { players: [{ name: 'p1' }, { name: 'p2' }], playersCount: 2 }
  t.deepEqual(await first(select), shown)
  t.deepEqual(await first({ ...select, includeDeleted: 'true' }), shown)
  const { body } = await stage.get(listPath('/api/players', { select: 'name,team.players.name', filter: 'name=p3' }))
  t.deepEqual(body.items, [{ name: 'p3', team: null }])
})

test('the scope of the target holds within collections, and for one caller after another', async (t) => {
  const select = { select: 'players.name,players.count', sort: 'players.count' }
  for (const tenant of ['t1', 't2', 't1', 'none']) {
    const names = tenant === 'none' ? [] : [{ name: tenant === 't1' ? 'p1' : 'p2' }]
    t.deepEqual(await first(select, bearer({ sub: 'x', tenant })), { players: names, playersCount: names.length })
  }
  t.deepEqual(await first(select), { players: [{ name: 'p1' }, { name: 'p2' }], playersCount: 2 })
})

test('a masked field is left out of collections, and unknown to what shapes them', async (t) => {
  t.deepEqual(await first({ select: 'name,players(name,salary)', 'players.limit': '1' }), {
    name: 'A',
    players: [{ name: 'p1' }],
    'players@more': true,
  })
  t.deepEqual(await first({ select: 'name,players.salary' }), { name: 'A' })
  t.deepEqual(await first({ select: 'players.salary' }, withPermission('payroll')), {
    players: [{ salary: 5 }, { salary: 9 }],
  })
  const star = (await first({ select: 'players.*' })) as { players: Record<string, unknown>[] }
  t.deepEqual(Object.keys(star.players[0] ?? {}), ['id', 'name', 'tenant', 'teamId'])
  for (const name of ['salary', 'secret', 'isDeleted']) {
    for (const [parameter, value] of [
      ['players.filter', `${name}=null`],
      ['players.sort', name],
    ] as const) {
      const ask = (field: string): Promise<unknown> =>
        describeResponse(
          agent,
          stage.url + listPath('/api/teams', { select: 'players.name', [parameter]: value.replace(name, field) }),
          field,
          {},
        )
      const answer = await ask(name)
      t.like(answer, { status: 400 })
      t.deepEqual(answer, await ask(`${name.slice(0, -1)}z`))
    }
  }
})

for (const [relation, allowed] of [
  ['fines', withRole('judge')],
  ['visits', withPermission('audit')],
  ['hiddens', null],
] as const) {
  test(`${relation}: what the caller may not cross is answered as what does not exist`, async (t) => {
    const absent = relation.replace(/s$/, 'z')
    const ask = (name: string, parameters: Headers, path = '/api/teams'): Promise<unknown> =>
      describeResponse(agent, stage.url + listPath(path, parameters), name, {})
    for (const more of ['', '.*', '.id', '.count', '(id)', '.nobody']) {
      for (const path of ['/api/teams', '/api/teams/1']) {
        const answer = await ask(relation, { select: `name,${relation}${more}` }, path)
        t.like(answer, { status: 400 }, more)
        t.deepEqual(answer, await ask(absent, { select: `name,${absent}${more}` }, path))
      }
    }
    for (const sort of ['.count', '.id']) {
      t.deepEqual(await ask(relation, { sort: relation + sort }), await ask(absent, { sort: absent + sort }))
    }
    t.deepEqual(
      await ask(relation, { select: 'name', [`${relation}.limit`]: '1' }),
      await ask(absent, { select: 'name', [`${absent}.limit`]: '1' }),
    )
    if (allowed !== null) t.deepEqual(await first({ select: `${relation}.id` }, allowed), { [relation]: [{ id: 1 }] })
  })
}

test('what embeds a resource that varies by caller says so', async (t) => {
  const { headers } = await stage.get(listPath('/api/teams', { select: 'players.name' }))
  t.is(headers.get('vary'), 'Authorization')
  t.is(headers.get('cache-control'), 'private')
  const single = await stage.get(listPath('/api/teams/1', { select: 'players.name' }))
  t.is(single.headers.get('vary'), 'Authorization')
})

test('what shapes a collection crosses relations as far as its caller may', async (t) => {
  const shaped = (filter: string): Headers => ({ select: 'players.name', 'players.filter': filter })
  const judge = withRole('judge')
  t.deepEqual(await first(shaped('team.fines.reason=late'), judge), { players: [{ name: 'p1' }, { name: 'p2' }] })
  t.deepEqual(await first(shaped('team.fines.any(reason=early)'), judge), { players: [] })
  for (const filter of ['team.fines.reason=late', 'team.fines.count>0', 'team.worst=null', 'team.worst.reason=late']) {
    // Both are as near to `worstId`, which is suggested.
    const [name, absent] = filter.includes('fines') ? ['fines', 'wrong'] : ['worst', 'worsid']
    const closed = await first(shaped(filter))
    t.like(closed, [400])
    t.deepEqual(closed, await first(shaped(filter.replace(name, absent))).then((of) => renamed(of, absent, name)))
  }
})

test('what lies behind a closed collection, or a closed way to one, leaves no header', async (t) => {
  const answers = (parameters: (name: string) => Headers, name: string): Promise<unknown[]> =>
    Promise.all(
      [name, `${name.slice(0, -1)}z`].map((each) =>
        describeResponse(agent, stage.url + listPath('/api/teams', parameters(each)), each, {}),
      ),
    )
  // The players, who are scoped, are behind the fines.
  const shaped = (name: string): Headers => ({
    select: `${name}.reason`,
    [`${name}.filter`]: 'team.players.name=p1',
  })
  const [closed, absent] = await answers(shaped, 'fines')
  t.deepEqual(closed, absent)
  for (const condition of ['name=p1', 'team.players.name=p1', 'team.players.count>0']) {
    const filtered = (name: string): Headers => ({ filter: `${name}.payers.any(${condition})` })
    const [shut, missing] = await answers(filtered, 'worst')
    t.deepEqual(shut, missing, condition)
  }
})
