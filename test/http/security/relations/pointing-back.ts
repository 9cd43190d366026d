// Foreign keys that other models tell of, those of a table between among them, point at what their sender could meet as well.
// And who may not read a foreign key finds out by no guess where it points.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../../lib/index.js'
import type { Answer } from '../../../support/server.js'
import { openStage, readStoredRow } from '../../../support/stage.js'
import { bearer, identity } from '../../../support/tokens.js'

const test = ava.serial

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const tenant = { tenantId: DataTypes.INTEGER }
  const Team = sequelize.define('Team', tenant, plain)
  const Cup = sequelize.define('Cup', tenant, plain)
  const Entry = sequelize.define(
    'Entry',
    { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }, note: DataTypes.STRING(9) },
    plain,
  )
  const Fan = sequelize.define('Fan', { name: DataTypes.STRING(9) }, plain)
  const Badge = sequelize.define('Badge', { name: DataTypes.STRING(9) }, plain)
  const Sheet = sequelize.define('Sheet', { name: DataTypes.STRING(9) }, plain)
  const Line = sequelize.define(
    'Line',
    {
      teamId: { type: DataTypes.INTEGER, primaryKey: true },
      no: { type: DataTypes.INTEGER, primaryKey: true },
      text: DataTypes.STRING(9),
    },
    plain,
  )
  Line.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const Note = sequelize.define('Note', { text: DataTypes.STRING(9) }, plain)
  Team.belongsToMany(Cup, { as: 'cups', through: Entry, foreignKey: 'teamId', otherKey: 'cupId' })
  Cup.belongsToMany(Team, { as: 'teams', through: Entry, foreignKey: 'cupId', otherKey: 'teamId' })
  Team.hasMany(Fan, { as: 'fans', foreignKey: 'teamId' })
  Team.hasOne(Badge, { as: 'badge', foreignKey: 'teamId' })
  Sheet.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Sheet.belongsTo(Team, { as: 'rival', foreignKey: 'rivalId' })
  Sheet.belongsTo(Team, { as: 'host', foreignKey: 'hostId' })
  Team.hasMany(Note, { as: 'notes', foreignKey: 'onId', constraints: false })
  Cup.hasMany(Note, { as: 'notes', foreignKey: 'onId', constraints: false })
  const operations = Operations.AllWithBulk | Operations.BulkUpdate | Operations.Replace
  const common: CrudOptions = { identity, operations }
  const scope: CrudOptions['scope'] = ({ identity: who }) => ({ tenantId: Number(who?.claims.tenant) })
  app.use(crudRouter(Team, { ...common, scope }), crudRouter(Cup, { ...common, scope }))
  for (const model of [Entry, Fan, Badge, Note, Line]) app.use(crudRouter(model, common))
  const fields: CrudOptions['fields'] = {
    rivalId: { exclude: ['response', 'list', 'query'] },
    hostId: { exclude: 'list' },
  }
  app.use(crudRouter(Sheet, { ...common, mask: { teamId: 'see' }, fields }))
  app.use(crudRouter(Sheet, { ...common, route: 'api/scoped-sheets', scope: () => ({ teamId: 3 }) }))
})
const model = (name: string): ModelStatic<Model> => stage.sequelize.model(name)
const [Entry, Fan, Badge, Sheet] = ['Entry', 'Fan', 'Badge', 'Sheet'].map(model) as [
  ModelStatic<Model>,
  ModelStatic<Model>,
  ModelStatic<Model>,
  ModelStatic<Model>,
]
// The third is another tenant's, of either kind.
for (const name of ['Team', 'Cup']) {
  await model(name).bulkCreate([{ tenantId: 1 }, { tenantId: 1 }, { tenantId: 2 }, { tenantId: 2 }])
}
test.after.always(() => stage.close())

const mine = bearer({ sub: 'jan', tenant: 1 })
const seeing = bearer({ sub: 'jan', tenant: 1, permissions: ['see'] })

function whole({ status, headers, text }: Answer): unknown {
  return { status, text, headers: [...headers].filter(([name]) => name !== 'date' && name !== 'content-length') }
}

const WITH: readonly (readonly [base: string, of: ModelStatic<Model>, name: string, fine: object])[] = [
  ['/api/entries', Entry, 'teamId', { cupId: 1 }],
  ['/api/entries', Entry, 'cupId', { teamId: 1 }],
  ['/api/fans', Fan, 'teamId', {}],
  ['/api/badges', Badge, 'teamId', {}],
]

for (const [base, of, name, fine] of WITH) {
  test(`a foreign key that another model tells of points at what its sender may meet: ${base}, ${name}`, async (t) => {
    await of.destroy({ where: {} })
    const send = (value: number): Promise<Answer> => stage.post(base, { ...fine, [name]: value }, mine)
    const missing = await send(999)
    t.is(missing.status, 409)
    t.deepEqual(missing.body.errors, { [name]: ['does not exist.'] })
    t.deepEqual(whole(await send(3)), whole(missing))
    t.is(await of.count(), 0)
    const made = await send(2)
    t.is(made.status, 201, made.text)
    const { id } = made.body
    const patch = (value: number): Promise<Answer> => stage.patch(`${base}/${id}`, { [name]: value }, mine)
    t.is((await patch(999)).status, 409)
    t.deepEqual(whole(await patch(3)), whole(await patch(999)))
    t.is((await readStoredRow(of, id))?.[name], 2)
    t.is((await patch(1)).status, 200)
    const several = await stage.send('PATCH', `${base}/bulk`, { json: [{ id, [name]: 3 }], headers: mine })
    t.is(several.status, 409)
    t.is((await readStoredRow(of, id))?.[name], 1)
    await of.update({ [name]: 3 }, { where: { id } })
    t.is((await patch(3)).status, 200, 'what is there may be repeated')
  })
}

test('a column that several models tell of without a constraint is nobody’s to look at', async (t) => {
  t.is((await stage.post('/api/notes', { onId: 3 }, mine)).status, 201)
  t.is((await stage.post('/api/notes', { onId: 999 }, mine)).status, 201)
})

for (const [name, title] of [
  ['teamId', 'masked'],
  ['rivalId', 'excluded'],
] as const) {
  test(`who may not read a foreign key learns by no guess where it points: ${title}`, async (t) => {
    const { id } = (await Sheet.create({ name: 'x', [name]: 3 })).get()
    const patch = (value: number, headers = mine): Promise<Answer> =>
      stage.patch(`/api/sheets/${id}`, { [name]: value }, headers)
    const wrong = await patch(4)
    t.is(wrong.status, 409)
    t.deepEqual(whole(await patch(3)), whole(wrong))
    t.deepEqual(whole(await patch(999)), whole(wrong))
    const put = (value: number): Promise<Answer> =>
      stage.send('PUT', `/api/sheets/${id}`, { json: { name: 'x', [name]: value }, headers: mine })
    t.deepEqual(whole(await put(3)), whole(await put(4)))
    const several = (value: number): Promise<Answer> =>
      stage.send('PATCH', '/api/sheets/bulk', { json: [{ id, [name]: value }], headers: mine })
    t.deepEqual(whole(await several(3)), whole(await several(4)))
    t.is((await readStoredRow(Sheet, id))?.[name], 3)
    t.is((await patch(2)).status, 200)
    t.is((await readStoredRow(Sheet, id))?.[name], 2)
  })
}

test('a foreign key in the path of what a PUT would make points at what its sender may meet', async (t) => {
  const Line = model('Line')
  const put = (key: string): Promise<Answer> =>
    stage.send('PUT', `/api/lines/${key}`, { json: { text: 'x' }, headers: mine })
  const missing = await put('999~1')
  t.is(missing.status, 409)
  t.deepEqual(whole(await put('3~1')), whole(missing))
  t.is(await Line.count(), 0)
  t.is((await put('1~1')).status, 201)
  await Line.create({ teamId: 3, no: 2 } as never)
  t.is((await put('3~2')).status, 200, 'one that is there is not moved')
})

test('a foreign key that the scope sets may refer to a record that its sender may not meet', async (t) => {
  const { status, body, text } = await stage.post('/api/scoped-sheets', { name: 'x' }, mine)
  t.is(status, 201, text)
  t.is((await readStoredRow(Sheet, body.id))?.teamId, 3)
  const many = await stage.post('/api/scoped-sheets/bulk', [{ name: 'x' }, { name: 'y', teamId: 3 }], mine)
  t.is(many.status, 201, many.text)
})

test('who may read it by GET by id alone may repeat it', async (t) => {
  const { id } = (await Sheet.create({ name: 'x', hostId: 3 })).get()
  t.is((await stage.patch(`/api/sheets/${id}`, { hostId: 3, name: 'y' }, mine)).status, 200)
  t.is((await stage.patch(`/api/sheets/${id}`, { hostId: 4 }, mine)).status, 409)
})

test('who may read it may repeat it', async (t) => {
  const { id } = (await Sheet.create({ name: 'x', teamId: 3 })).get()
  t.is((await stage.patch(`/api/sheets/${id}`, { teamId: 3, name: 'y' }, seeing)).status, 200)
  t.is((await stage.patch(`/api/sheets/${id}`, { teamId: 4 }, seeing)).status, 409)
})
