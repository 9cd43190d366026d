// A foreign key in a body points at a record that its sender could meet, or nowhere. What others have, and what was
// deleted, is answered byte for byte like what does not exist.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import {
  type CrudOptions,
  crudRouter,
  type HookContext,
  hasRole,
  Operations,
  Problem,
  type Scope,
} from '../../../../lib/index.js'
import { databaseName } from '../../../support/database.js'
import type { Answer } from '../../../support/server.js'
import { openStage, readStoredRow } from '../../../support/stage.js'
import { bearer, identity } from '../../../support/tokens.js'

// What one of them asks of the database is looked at.
const test = ava.serial

const tenantOf: NonNullable<CrudOptions['scope']> = ({ identity: who }): Scope | null =>
  who?.claims.tenant === undefined ? null : { tenantId: Number(who.claims.tenant) }

/** Whether a column of JSON may be unique, and pointed at. */
const takesJsonKeys = databaseName === 'sqlite' || databaseName === 'postgres'
/** Whether texts that differ in case are two keys. */
const tellsCases = takesJsonKeys

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const tenant = { tenantId: DataTypes.INTEGER }
  const Team = sequelize.define('Team', { ...tenant, code: { type: DataTypes.STRING(9), unique: true } }, plain)
  const League = sequelize.define('League', { name: DataTypes.STRING }, { ...plain, paranoid: true, timestamps: true })
  const Open = sequelize.define('Open', { name: DataTypes.STRING }, plain)
  const Refused = sequelize.define('Refused', { name: DataTypes.STRING }, plain)
  const Broken = sequelize.define('Broken', { name: DataTypes.STRING }, plain)
  const id = { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 }
  const Vault = sequelize.define('Vault', { id, ...tenant }, plain)
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
    model.belongsTo(Refused, { as: 'refused', foreignKey: 'refusedId' })
    model.belongsTo(Broken, { as: 'broken', foreignKey: 'brokenId' })
    model.belongsTo(Team, { as: 'loose', foreignKey: 'looseId', constraints: false })
    model.belongsTo(Vault, { as: 'vault', foreignKey: 'vaultId', constraints: false })
    model.belongsTo(Team, { as: 'one', foreignKey: 'sharedId' })
    model.belongsTo(League, { as: 'two', foreignKey: 'sharedId', constraints: false })
  }
  const Place = sequelize.define(
    'Place',
    { teamId: { type: DataTypes.INTEGER, primaryKey: true }, number: { type: DataTypes.INTEGER, primaryKey: true } },
    plain,
  )
  Place.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const common: CrudOptions = { identity, operations }
  // Nobody may list teams, and nobody reads their code: neither has a say in where a key may point.
  const closed: CrudOptions = { getListPolicy: hasRole('none'), mask: { code: 'none' } }
  app.use(crudRouter(Team, { ...common, ...closed, scope: tenantOf }))
  app.use([crudRouter(League, common), crudRouter(Open, common)])
  const refuse = (): never => {
    throw new Problem({ status: 403, detail: 'You have no tenant.' })
  }
  const fail = (): never => {
    throw new Error('no tenants')
  }
  app.use(crudRouter(Place, common))
  app.use(crudRouter(Vault, { ...common, scope: tenantOf }))
  app.use(crudRouter(Refused, { ...common, scope: refuse }))
  app.use(crudRouter(Broken, { ...common, scope: fail }))
  app.use(crudRouter(Player, { ...common, onError: () => undefined, concurrency: true }))
  app.use(crudRouter(Hooked, { ...common, onError: () => undefined }))
  // Built-in validators are rules of bodies, which are read before hooks.
  const isGood = (value: unknown): void => {
    if (value === 'bad') throw new Error('must not be bad.')
  }
  const Mended = sequelize.define('Mended', { name: { type: DataTypes.STRING(9), validate: { isGood } } }, plain)
  Mended.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const mend = ({ instance }: HookContext): void => {
    if (instance.get('name') === 'bad') instance.set('name', 'good')
  }
  app.use(crudRouter(Mended, { ...common, hooks: { beforeCreate: mend, beforeUpdate: mend } }))
  app.use(crudRouter(Mended, { ...common, route: 'api/unmended' }))
  if (!takesJsonKeys) return
  const key = sequelize.getDialect() === 'postgres' ? DataTypes.JSONB : DataTypes.JSON
  const Doc = sequelize.define('Doc', { ...tenant, key: { type: key, unique: true } }, plain)
  const Page = sequelize.define('Page', {}, plain)
  Page.belongsTo(Doc, { as: 'doc', foreignKey: 'docKey', targetKey: 'key' })
  app.use(crudRouter(Doc, { ...common, scope: tenantOf }))
  app.use(crudRouter(Page, common))
})
const [Player, Hooked] = [stage.sequelize.model('Player'), stage.sequelize.model('Hooked')]
await stage.sequelize
  .model('Team')
  .bulkCreate([
    { tenantId: 1, code: 'one' },
    { tenantId: 1, code: 'two' },
    { tenantId: 2, code: 'three' },
    { tenantId: 2, code: 'null' },
    ...(tellsCases ? [{ tenantId: 2, code: 'ONE' }] : []),
  ])
const League = stage.sequelize.model('League')
await League.bulkCreate([{ name: 'A' }, { name: 'B' }])
await League.destroy({ where: { id: 2 } })
await stage.sequelize.model('Open').create({})
await stage.sequelize.model('Bare').create({})
await stage.sequelize.model('Refused').create({})
await stage.sequelize.model('Broken').create({})
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
      t.is((await readStoredRow(model, id))?.[name], Reflect.get(FINE, name))
      await model.update({ [name]: Reflect.get(CLOSED, name) }, { where: { id } })
      t.is((await stage.patch(`${base}/${id}`, { ...body(CLOSED), name: 'kept' }, any)).status, 200)
      t.like(await readStoredRow(model, id), { name: 'kept', [name]: Reflect.get(CLOSED, name) })
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

  test(`where a body points is not looked at while something is wrong with it: ${base}`, async (t) => {
    const { id } = (await model.create({ ...FINE, name: 'x' })).get()
    const wrong = { ...CLOSED, name: 'far too long' }
    stage.statements.length = 0
    for (const answer of [
      await stage.post(base, wrong, mine),
      await stage.post(`${base}/bulk`, [wrong, FINE], mine),
      await stage.patch(`${base}/${id}`, wrong, any),
    ]) {
      t.is(answer.status, 400)
      t.deepEqual(
        Object.keys(answer.body.errors).filter((name) => !name.endsWith('name')),
        [],
      )
    }
    t.deepEqual(
      stage.statements.filter((sql) => /Teams|Leagues/.test(sql)),
      [],
    )
  })

  test(`nothing is looked for where a body points nowhere: ${base}`, async (t) => {
    stage.statements.length = 0
    const { status, body } = await stage.post(base, { name: 'x', teamId: null, rivalCode: null, leagueId: null }, mine)
    t.is(status, 201)
    t.is((await stage.patch(`${base}/${body.id}`, { teamId: null, leagueId: null }, any)).status, 200)
    t.deepEqual(
      stage.statements.filter((sql) => /Teams|Leagues/.test(sql)),
      [],
    )
  })

  test(`a record that points nowhere does not repeat the text null: ${base}`, async (t) => {
    const { id } = (await model.create({ name: 'x' })).get()
    const { status, body } = await stage.patch(`${base}/${id}`, { rivalCode: 'null' }, any)
    t.deepEqual([status, body.errors], [409, { rivalCode: ['does not exist.'] }])
    t.is((await readStoredRow(model, id))?.rivalCode, null)
  })

  if (tellsCases) {
    test(`a text points at the record that has it in the same case, and at no other: ${base}`, async (t) => {
      t.is((await stage.post(base, { rivalCode: 'one' }, mine)).status, 201)
      for (const rivalCode of ['ONE', 'One']) {
        const { status, body } = await stage.post(base, { rivalCode }, mine)
        t.deepEqual([status, body.errors], [409, { rivalCode: ['does not exist.'] }])
      }
    })
  }

  test(`where the two that a body points at are told apart, neither tells which is there: ${base}`, async (t) => {
    const missing = await stage.post(base, { teamId: 999, leagueId: 999 }, mine)
    t.deepEqual(whole(await stage.post(base, { teamId: 3, leagueId: 2 }, mine)), whole(missing))
    t.deepEqual(whole(await stage.post(base, { teamId: 3, leagueId: 999 }, mine)), whole(missing))
  })

  test(`who may meet every record may point at every record: ${base}`, async (t) => {
    stage.statements.length = 0
    t.is((await stage.post(base, { teamId: 3, rivalCode: 'three' }, bearer({ sub: 'root' }))).status, 201)
    t.is(stage.statements.filter((sql) => /SELECT/.test(sql) && /Teams/.test(sql)).length, 0)
    t.is((await stage.post(base, { leagueId: 2 }, bearer({ sub: 'root' }))).status, 409)
  })

  test(`whom a scope refuses finds nothing to point at, and a scope that fails is no answer: ${base}`, async (t) => {
    const before = await model.count()
    const missing = await stage.post(base, { refusedId: 999 }, mine)
    t.is(missing.status, 409)
    t.deepEqual(missing.body.errors, { refusedId: ['does not exist.'] })
    t.deepEqual(whole(await stage.post(base, { refusedId: 1 }, mine)), whole(missing))
    t.is((await stage.post(base, { refusedId: null }, mine)).status, 201)
    for (const brokenId of [1, 999]) {
      const { status, text } = await stage.post(base, { brokenId }, mine)
      t.is(status, 500)
      t.false(text.includes('tenants'))
    }
    t.is(await model.count(), before + 1)
  })

  test(`what a body points at may differ by caller, and the reply says so: ${base}`, async (t) => {
    const headersOf = async (body: object): Promise<unknown> => {
      const { status, headers } = await stage.post(base, body, mine)
      return [status, headers.get('vary'), headers.get('cache-control')]
    }
    for (const body of [{ teamId: 1 }, { rivalCode: 'two' }, { openId: 1, teamId: 1 }]) {
      t.deepEqual(await headersOf(body), [201, 'Authorization', 'private'], JSON.stringify(body))
    }
    t.deepEqual(await headersOf({ teamId: 3 }), [409, 'Authorization', 'private'])
    t.deepEqual(await headersOf({ openId: 1, leagueId: 1 }), [201, null, null])
    const { id } = (await model.create({ ...FINE })).get()
    for (const method of ['PATCH', 'PUT']) {
      const { status, headers } = await stage.send(method, `${base}/${id}`, { json: { name: 'x' }, headers: any })
      t.deepEqual([status, headers.get('vary')], [200, null], method)
    }
  })

  test(`what is no record among several is told, wherever the others point: ${base}`, async (t) => {
    const { id } = (await model.create({})).get()
    for (const wrong of [null, 'x', 5, []]) {
      for (const teamId of [1, 3, 999]) {
        const answers = [
          await stage.post(`${base}/bulk`, [{ teamId }, wrong], mine),
          await stage.patch(`${base}/bulk`, [{ id, teamId }, wrong], any),
        ]
        for (const { status, body } of answers) {
          t.is(status, 400)
          t.deepEqual(Object.keys(body.errors), ['[1]'], JSON.stringify(wrong))
        }
      }
    }
    t.is((await readStoredRow(model, id))?.teamId, null)
  })

  test(`a relation without a constraint, a column of several, and a target without conditions are the database's matter: ${base}`, async (t) => {
    t.is((await stage.post(base, { looseId: 3 }, mine)).status, 201)
    const vault = await stage.sequelize.model('Vault').create({ tenantId: 2 })
    t.is((await stage.post(base, { vaultId: vault.get('id') }, mine)).status, 201)
    t.is((await stage.post(base, { sharedId: 3 }, mine)).status, 201)
    stage.statements.length = 0
    t.is((await stage.post(base, { openId: 1, bareId: 1, name: 'x' }, mine)).status, 201)
    t.is(stage.statements.filter((sql) => /SELECT/.test(sql) && /Opens|Bares|Teams|Leagues/.test(sql)).length, 0)
    t.is((await stage.post(base, { openId: 99 }, mine)).status, 409)
    t.is((await stage.post(base, { bareId: 99 }, mine)).status, 409)
  })
}

test('a foreign key in the path of a record is pointed at by a PUT that may make it, and by nothing else', async (t) => {
  const at = (method: string, path: string, json: object): Promise<Answer> =>
    stage.send(method, `/api/places${path}`, { json, headers: mine })
  const varies = async (answer: Promise<Answer>): Promise<unknown> => {
    const { status, headers } = await answer
    return [status, headers.get('vary')]
  }
  for (const team of [3, 999]) t.deepEqual(await varies(at('PUT', `/${team}~1`, {})), [409, 'Authorization'])
  t.deepEqual(await varies(at('PUT', '/1~1', {})), [201, 'Authorization'])
  t.deepEqual(await varies(at('PATCH', '/1~1', {})), [200, null])
})

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

test('what a hook has the first word on is not held against where a body points', async (t) => {
  const base = '/api/mendeds'
  const made = await stage.post(base, { name: 'bad', teamId: 1 }, mine)
  t.deepEqual([made.status, made.body.name], [201, 'good'], made.text)
  const at = `${base}/${made.body.id}`
  const errors = { teamId: ['does not exist.'] }
  for (const teamId of [3, 999]) {
    const created = await stage.post(base, { name: 'bad', teamId }, mine)
    t.deepEqual([created.status, created.body.errors], [409, errors])
    const patched = await stage.patch(at, { name: 'bad', teamId }, any)
    t.deepEqual([patched.status, patched.body.errors], [409, errors])
  }
  t.is((await stage.patch(at, { name: 'bad', teamId: 2 }, any)).status, 200)
})

test('a patch is told what the validators of its model find before where it points', async (t) => {
  const { body } = await stage.post('/api/unmended', { name: 'good', teamId: 1 }, mine)
  for (const teamId of [3, 999]) {
    const patched = await stage.patch(`/api/unmended/${body.id}`, { name: 'bad', teamId }, any)
    t.deepEqual([patched.status, patched.body.errors], [400, { name: ['must not be bad.'] }])
  }
})

if (takesJsonKeys) {
  test('what no condition can be about points at no record of a scope, and is not looked for, whatever else a request points at', async (t) => {
    const [Doc, Page] = [stage.sequelize.model('Doc'), stage.sequelize.model('Page')]
    await Doc.bulkCreate([
      { tenantId: 1, key: 'a' },
      { tenantId: 2, key: { theirs: 1 } },
    ])
    for (const bodies of [[{ theirs: 1 }], ['a', { theirs: 1 }], [{ theirs: 1 }, 'a']]) {
      const records = bodies.map((docKey) => ({ docKey }))
      stage.statements.length = 0
      const { status, body, text } = await stage.post('/api/pages/bulk', records, mine)
      t.deepEqual([status, body.errors], [409, { docKey: ['does not exist.'] }], text)
      t.is(stage.statements.filter((sql) => /FROM .Docs\b/.test(sql)).length, 0, text)
    }
    t.is(await Page.count(), 0)
  })
}
