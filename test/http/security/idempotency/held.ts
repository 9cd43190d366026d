// A kept reply to a body that holds others' records goes to nobody who could not have it now: whoever was asked on the way is
// asked again, and what is shown of these records belongs to the caller as what is shown of its own does.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, hasPermission, Operations } from '../../../../lib/index.js'
import type { Answer } from '../../../support/server.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity } from '../../../support/tokens.js'

const test = ava.serial

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Country = sequelize.define('Country', { name: DataTypes.STRING(9), anthem: DataTypes.STRING(9) }, plain)
  const Team = sequelize.define('Team', { name: DataTypes.STRING(9) }, plain)
  const Player = sequelize.define('Player', { name: DataTypes.STRING(9) }, plain)
  const Tag = sequelize.define('Tag', { name: DataTypes.STRING(9) }, plain)
  const Mark = sequelize.define(
    'Mark',
    { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true } },
    plain,
  )
  Player.belongsTo(Country, { as: 'country', foreignKey: 'countryId' })
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Team.belongsToMany(Tag, { as: 'tags', through: Mark, foreignKey: 'teamId', otherKey: 'tagId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const common: CrudOptions = { identity, operations }
  const policies: CrudOptions = {
    getByIdPolicy: hasPermission('get'),
    getListPolicy: hasPermission('list'),
    createPolicy: hasPermission('create'),
    updatePolicy: hasPermission('update'),
    deletePolicy: hasPermission('delete'),
  }
  app.use(
    crudRouter(Country, { ...common, mask: { anthem: 'anthem' } }),
    crudRouter(Player, { ...common, ...policies, flatten: ['country'] }),
    crudRouter(Tag, common),
    crudRouter(Mark, { ...common, ...policies }),
    crudRouter(Team, {
      ...common,
      idempotency: true,
      relations: { players: { write: true }, tags: { write: true, routes: true } },
    }),
  )
})
const [Country, Team, Player, Tag] = ['Country', 'Team', 'Player', 'Tag'].map((name) =>
  stage.sequelize.model(name),
) as [ModelStatic<Model>, ModelStatic<Model>, ModelStatic<Model>, ModelStatic<Model>]
await Country.create({ name: 'Poland', anthem: 'secret' })
await Tag.create({ name: 'new' })
test.after.always(() => stage.close())

const ALL = ['get', 'list', 'create', 'update', 'delete', 'anthem']
const who = (permissions: readonly string[]) => bearer({ sub: 'ann', iss: 'one', permissions })
const but = (missing: string) => who(ALL.filter((each) => each !== missing))

let number = 0

/** A team with two players, and a sender of one body to it under one key. */
async function team(bodyOf: (keys: readonly number[]) => object, way = 'PATCH') {
  number += 1
  const key = `key ${number}`
  const { id } = (await Team.create({ name: 'x' })).get()
  await Player.bulkCreate([1, 2].map(() => ({ name: 'x', teamId: id, countryId: 1 })))
  const all = await Player.findAll({ where: { teamId: id }, order: ['id'] })
  const body = bodyOf(all.map((row) => Number(row.get('id'))))
  const [path, json] = way === 'bulk' ? ['/api/teams/bulk', [{ id, ...body }]] : [`/api/teams/${id}`, body]
  const send = (headers: Record<string, string>): Promise<Answer> =>
    stage.send(way === 'bulk' ? 'PATCH' : way, path, { json, headers: { ...headers, 'Idempotency-Key': key } })
  return { send }
}

const isReplay = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true'

const CASES: readonly (readonly [policy: string, bodyOf: (keys: readonly number[]) => object])[] = [
  ['get', ([one, two]) => ({ players: [{ id: one }, { id: two }] })],
  ['delete', ([one]) => ({ players: [{ id: one }] })],
  ['update', ([one, two]) => ({ players: [{ id: one, name: 'y' }, { id: two }] })],
  ['create', ([one, two]) => ({ players: [{ id: one }, { id: two }, { name: 'z' }] })],
  ['create', () => ({ tags: [1] })],
]

for (const way of ['PATCH', 'PUT', 'bulk']) {
  for (const [policy, bodyOf] of CASES) {
    const name = Object.keys(bodyOf([])).join()
    test(`who was asked on the way of the first request is asked again: ${way}, ${policy} of ${name}`, async (t) => {
      const { send } = await team(bodyOf, way)
      const first = await send(who(ALL))
      t.is(first.status, 200, first.text)
      t.is((await send(but(policy))).status, 403)
      const again = await send(who(ALL))
      t.true(isReplay(again))
      t.is(again.text, first.text)
    })
  }

  test(`what is flattened into records that a body holds is shown to nobody who may not read it now: ${way}`, async (t) => {
    const { send } = await team(([one, two]) => ({ players: [{ id: one }, { id: two }] }), way)
    const first = await send(who(ALL))
    t.regex(first.text, /secret/)
    const after = await send(but('anthem'))
    t.is(after.status, 200)
    t.false(isReplay(after))
    t.notRegex(after.text, /secret/)
    t.regex((await send(who(ALL))).text, /secret/)
  })
}

test('who is asked for nothing on the way is asked for nothing again', async (t) => {
  const { send } = await team(([one, two]) => ({
    players: [
      { id: one, name: 'y' },
      { id: two, name: 'y' },
    ],
  }))
  t.is((await send(who(ALL))).status, 200)
  for (const other of ['delete', 'create', 'get', 'list']) t.true(isReplay(await send(but(other))), other)
})

test('with one key, a body that holds something else is another request of the same caller', async (t) => {
  const { id } = (await Team.create({ name: 'x' })).get()
  const headers = { ...who(ALL), 'Idempotency-Key': 'other' }
  t.is((await stage.patch(`/api/teams/${id}`, { name: 'y' }, headers)).status, 200)
  t.is((await stage.patch(`/api/teams/${id}`, { players: [{ name: 'y' }] }, headers)).status, 422)
  t.is((await stage.patch(`/api/teams/${id}`, { tags: [] }, headers)).status, 422)
})
