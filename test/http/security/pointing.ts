// A foreign key in a body points at a record that its sender could meet, or nowhere. What others have, and what was
// deleted, is answered byte for byte like what does not exist.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, hasRole, Operations, type Scope } from '../../../lib/index.js'
import type { Answer } from '../../support/server.js'
import { openStage, rowOf } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

// What one of them asks of the database is looked at.
const test = ava.serial

const tenantOf: NonNullable<CrudOptions['scope']> = ({ identity: who }): Scope | null =>
  who?.claims.tenant === undefined ? null : { tenantId: Number(who.claims.tenant) }

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const tenant = { tenantId: DataTypes.INTEGER }
  const Team = sequelize.define('Team', { ...tenant, code: { type: DataTypes.STRING(9), unique: true } }, plain)
  const League = sequelize.define('League', { name: DataTypes.STRING }, { ...plain, paranoid: true, timestamps: true })
  const Open = sequelize.define('Open', { name: DataTypes.STRING }, plain)
  const Bare = sequelize.define('Bare', { name: DataTypes.STRING }, plain)
  const attributes = { name: { type: DataTypes.STRING(9), validate: { notContains: 'bad' } }, email: DataTypes.STRING }
  const Player = sequelize.define('Player', attributes, plain)
  const Hooked = sequelize.define('Hooked', attributes, { ...plain, hooks: { beforeSave: () => undefined } })
  for (const model of [Player, Hooked] as ModelStatic<Model>[]) {
    model.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    model.belongsTo(Team, { as: 'rival', foreignKey: 'rivalCode', targetKey: 'code' })
    model.belongsTo(League, { as: 'league', foreignKey: 'leagueId' })
    model.belongsTo(Open, { as: 'open', foreignKey: 'openId' })
    model.belongsTo(Bare, { as: 'bare', foreignKey: 'bareId' })
    model.belongsTo(Team, { as: 'loose', foreignKey: 'looseId', constraints: false })
    model.belongsTo(Team, { as: 'one', foreignKey: 'sharedId' })
    model.belongsTo(League, { as: 'two', foreignKey: 'sharedId', constraints: false })
  }
  const common: CrudOptions = { identity, operations: Operations.AllWithBulk }
  // Nobody may list teams, and nobody reads their code: neither has a say in where a key may point.
  const closed: CrudOptions = { getListPolicy: hasRole('none'), mask: { code: 'none' } }
  app.use(crudRouter(Team, { ...common, ...closed, scope: tenantOf }))
  app.use([crudRouter(League, common), crudRouter(Open, common)])
  app.use(crudRouter(Player, { ...common, concurrency: true }))
  app.use(crudRouter(Hooked, common))
})
const [Player, Hooked] = [stage.sequelize.model('Player'), stage.sequelize.model('Hooked')]
await stage.sequelize.model('Team').bulkCreate([
  { tenantId: 1, code: 'one' },
  { tenantId: 1, code: 'two' },
  { tenantId: 2, code: 'three' },
])
const League = stage.sequelize.model('League')
await League.bulkCreate([{ name: 'A' }, { name: 'B' }])
await League.destroy({ where: { id: 2 } })
await stage.sequelize.model('Open').create({})
await stage.sequelize.model('Bare').create({})
test.after.always(() => stage.close())

const mine = bearer({ sub: 'jan', tenant: 1 })
const any = { ...mine, 'if-match': '*' }

/** All of an answer that a client could tell one from another by. */
function whole({ status, headers, text }: Answer): unknown {
  const told = [...headers].filter(([name]) => name !== 'date' && name !== 'content-length')
  return { status, text, headers: told }
}

const MISSING = { teamId: 999, rivalCode: 'none', leagueId: 999 }
const CLOSED = { teamId: 3, rivalCode: 'three', leagueId: 2 }
const FINE = { teamId: 2, rivalCode: 'two', leagueId: 1 }
const NAMES = ['teamId', 'rivalCode', 'leagueId'] as const

for (const [base, model] of [
  ['/api/players', Player],
  ['/api/hookeds', Hooked],
] as const) {
  for (const name of NAMES) {
    const body = (of: object): object => ({ name: 'x', [name]: Reflect.get(of, name) })

    test(`a new record points at what its sender may meet: ${base}, ${name}`, async (t) => {
      const before = await model.count()
      const missing = await stage.post(base, body(MISSING), mine)
      t.is(missing.status, 409)
      t.deepEqual(missing.body, {
        type: 'https://tools.ietf.org/html/rfc9110#section-15.5.10',
        title: 'Conflict',
        status: 409,
        code: 'conflict',
        detail: 'A record that this one refers to does not exist.',
        errors: { [name]: ['does not exist.'] },
      })
      t.deepEqual(whole(await stage.post(base, body(CLOSED), mine)), whole(missing))
      t.is(await model.count(), before)
      t.is((await stage.post(base, body(FINE), mine)).status, 201)
      t.is((await stage.post(base, { [name]: null }, mine)).status, 201)
    })

    test(`many new records point at what their sender may meet: ${base}/bulk, ${name}`, async (t) => {
      const before = await model.count()
      const bodies = (of: object): object[] => [body(FINE), body(of), body(FINE), {}]
      const missing = await stage.post(`${base}/bulk`, bodies(MISSING), mine)
      t.is(missing.status, 409)
      t.deepEqual(missing.body.errors, { [name]: ['does not exist.'] })
      t.deepEqual(whole(await stage.post(`${base}/bulk`, bodies(CLOSED), mine)), whole(missing))
      t.is(await model.count(), before)
      t.is((await stage.post(`${base}/bulk`, [body(FINE), body(FINE), {}], mine)).status, 201)
    })

    test(`a patch moves no record to what its sender may not meet, and may repeat what is there: ${base}, ${name}`, async (t) => {
      const { id } = (await model.create({ ...FINE, name: 'x' })).get()
      const missing = await stage.patch(`${base}/${id}`, body(MISSING), any)
      t.is(missing.status, 409)
      t.deepEqual(missing.body.errors, { [name]: ['does not exist.'] })
      t.deepEqual(whole(await stage.patch(`${base}/${id}`, body(CLOSED), any)), whole(missing))
      t.is((await rowOf(model, id))?.[name], Reflect.get(FINE, name))
      await model.update({ [name]: Reflect.get(CLOSED, name) }, { where: { id } })
      t.is((await stage.patch(`${base}/${id}`, { ...body(CLOSED), name: 'kept' }, any)).status, 200)
      t.like(await rowOf(model, id), { name: 'kept', [name]: Reflect.get(CLOSED, name) })
      t.is((await stage.patch(`${base}/${id}`, body(FINE), any)).status, 200)
      t.is((await stage.patch(`${base}/${id}`, body(CLOSED), any)).status, 409)
      t.is((await stage.patch(`${base}/${id}`, { [name]: null }, any)).status, 200)
    })
  }

  test(`what is wrong with a body, and what it is for, come before where it points: ${base}`, async (t) => {
    for (const teamId of [3, 999]) {
      const { status, body } = await stage.post(base, { teamId, name: 'far too long' }, mine)
      t.is(status, 400)
      t.deepEqual(Object.keys(body.errors), ['name'])
      const told = await stage.post(base, { teamId, name: 'bad' }, mine)
      t.is(told.status, 400)
      const bulk = await stage.post(`${base}/bulk`, [{ teamId }, { name: 'bad' }], mine)
      t.deepEqual([bulk.status, Object.keys(bulk.body.errors)], [400, ['[1].name']])
      t.is((await stage.patch(`${base}/9999`, { teamId }, any)).status, 404)
      const { id } = (await model.create({})).get()
      t.is((await stage.patch(`${base}/${id}`, { teamId, name: 'bad' }, any)).status, 400)
    }
  })

  test(`where the two that a body points at are told apart, neither tells which is there: ${base}`, async (t) => {
    const missing = await stage.post(base, { teamId: 999, leagueId: 999 }, mine)
    t.deepEqual(whole(await stage.post(base, { teamId: 3, leagueId: 2 }, mine)), whole(missing))
    t.deepEqual(whole(await stage.post(base, { teamId: 3, leagueId: 999 }, mine)), whole(missing))
  })

  test(`who may meet every record may point at every record: ${base}`, async (t) => {
    t.is((await stage.post(base, { teamId: 3, rivalCode: 'three' }, bearer({ sub: 'root' }))).status, 201)
    t.is((await stage.post(base, { leagueId: 2 }, bearer({ sub: 'root' }))).status, 409)
  })

  test(`a relation without a constraint, a column of several, and a target without conditions are the database's matter: ${base}`, async (t) => {
    t.is((await stage.post(base, { looseId: 3 }, mine)).status, 201)
    t.is((await stage.post(base, { sharedId: 3 }, mine)).status, 201)
    stage.statements.length = 0
    t.is((await stage.post(base, { openId: 1, bareId: 1, name: 'x' }, mine)).status, 201)
    t.is(stage.statements.filter((sql) => /SELECT/.test(sql) && /Opens|Bares|Teams|Leagues/.test(sql)).length, 0)
    t.is((await stage.post(base, { openId: 99 }, mine)).status, 409)
    t.is((await stage.post(base, { bareId: 99 }, mine)).status, 409)
  })
}

test('a version that does not fit comes before where a patch points', async (t) => {
  const { id } = (await Player.create({ teamId: 1 })).get()
  for (const teamId of [3, 999]) {
    t.is((await stage.patch(`/api/players/${id}`, { teamId }, mine)).status, 428)
    t.is((await stage.patch(`/api/players/${id}`, { teamId }, { ...mine, 'if-match': 'W/"7"' })).status, 412)
    t.is((await stage.patch(`/api/players/${id}`, { teamId }, { ...mine, 'if-match': 'W/"0"' })).status, 409)
  }
})

test('one read tells of all that the records of a bulk request point at', async (t) => {
  stage.statements.length = 0
  const records = Array.from({ length: 200 }, (_, index) => ({ teamId: 1 + (index % 2) }))
  t.is((await stage.post('/api/players/bulk', records, mine)).status, 201)
  t.is(stage.statements.filter((sql) => /SELECT/.test(sql) && /Teams/.test(sql)).length, 1)
})
