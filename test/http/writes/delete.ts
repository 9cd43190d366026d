import ava from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelOptions, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

const test = ava.serial

const server = await openStage()
const { app, sequelize } = server
const heard: unknown[] = []

function mount(model: ModelStatic<Model>, options: CrudOptions = {}): void {
  app.use(crudRouter(model, { operations: Operations.AllWithBulk, onError: (error) => heard.push(error), ...options }))
}

function define(name: string, attributes: ModelAttributes, options: ModelOptions = {}): ModelStatic<Model> {
  return sequelize.define(name, attributes, { name: { singular: name, plural: name }, ...options })
}

const FIELDS: ModelAttributes = { name: DataTypes.STRING, level: DataTypes.INTEGER }

const VARIANTS: readonly (readonly [what: string, model: ModelStatic<Model>])[] = [
  ['a plain model', define('plain', FIELDS)],
  ['a model with hooks', define('hooked', FIELDS, { hooks: { beforeDestroy: () => undefined } })],
  ['a model without time stamps', define('timeless', FIELDS, { timestamps: false })],
  ['a model of snake_case columns', define('snaked', { ...FIELDS, id: idUnder('snake_id') }, { underscored: true })],
  ['a paranoid model', define('paranoid', FIELDS, { paranoid: true })],
  [
    'a paranoid model with hooks',
    define('careful', FIELDS, { paranoid: true, hooks: { afterDestroy: () => undefined } }),
  ],
  ['a paranoid model of snake_case columns', define('muted', FIELDS, { paranoid: true, underscored: true })],
]

function idUnder(field: string): ModelAttributes[string] {
  return { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true, field }
}

const trace: string[] = []
const Traced = define('traced', FIELDS)
const HOOKS = ['beforeDestroy', 'afterDestroy'] as const
for (const hook of HOOKS) {
  Traced.addHook(hook, (instance: Model, options: { transaction?: unknown }) => {
    trace.push(`${hook} ${instance.get('name')} ${options.transaction ? 'within' : 'alone'}`)
    if (instance.get('name') === hook) throw new Error(`secret: ${hook}`)
  })
}

// What refers to a record keeps it, goes with it, or lets go.
const Owner = define('owner', FIELDS)
const Kept = define('kept', FIELDS)
Kept.belongsTo(Owner, { as: 'owner', foreignKey: { name: 'ownerId', allowNull: true }, onDelete: 'RESTRICT' })
const Loose = define('loose', FIELDS)
Loose.belongsTo(Owner, { as: 'owner', foreignKey: { name: 'ownerId', allowNull: true }, onDelete: 'SET NULL' })

const removed: string[] = []
const Parent = define('parent', FIELDS)
const Child = define('child', FIELDS, {
  hooks: { afterDestroy: (child) => void removed.push(String(child.get('name'))) },
})
Parent.hasMany(Child, { as: 'children', foreignKey: 'parentId', onDelete: 'CASCADE', hooks: true })
Child.belongsTo(Parent, { as: 'parent', foreignKey: 'parentId' })

const Scoped = define(
  'scoped',
  { ...FIELDS, active: DataTypes.BOOLEAN, state: DataTypes.STRING },
  { defaultScope: { where: { active: true, state: 'open' } } },
)

// Associations add attributes, so that everything mounts behind the last of them.
for (const model of Object.values(sequelize.models)) mount(model)
await sequelize.sync()
ava.after.always(() => server.close())

async function made(model: ModelStatic<Model>, values: Record<string, unknown> = {}): Promise<string> {
  const { body, status, text } = await server.post(`/api/${model.name}`, values)
  if (status !== 201) throw new Error(text)
  return `/api/${model.name}/${body.id}`
}

function idOf(path: string): number {
  return Number(path.split('/').at(-1))
}

for (const [what, model] of VARIANTS) {
  test(`${what}: DELETE answers 204 with nothing, and the record is gone for everything`, async (t) => {
    const path = await made(model, { name: 'gone' })
    const other = await made(model, { name: 'stays' })
    const before = await model.count()
    const { status, text, headers } = await server.delete(path)
    t.is(status, 204)
    t.is(text, '')
    t.is(headers.get('content-type'), null)
    t.is(await model.count(), before - 1)
    t.is((await server.get(path)).status, 404)
    t.is((await server.send('HEAD', path)).status, 404)
    t.is((await server.patch(path, { level: 1 })).status, 404)
    t.is((await server.delete(path)).status, 404)
    t.deepEqual((await server.post(`/api/${model.name}/bulk-delete`, [idOf(path)])).body, { deleted: 0 })
    t.is((await server.get(`/api/${model.name}?filter=Name=gone&count=true`)).body.count, 0)
    t.is((await server.get(`/api/${model.name}?name=gone`)).body.totalCount, 0)
    t.is((await server.get(other)).body.name, 'stays')
  })

  test(`${what}: a missing record is 404`, async (t) => {
    const before = await model.count()
    const { status, body } = await server.delete(`/api/${model.name}/999999`)
    t.is(status, 404)
    t.deepEqual(body, {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.5.5',
      title: 'Not Found',
      code: 'not-found',
      status: 404,
    })
    t.is(await model.count(), before)
  })

  test(`${what}: of ten DELETEs of one record at once exactly one is 204`, async (t) => {
    const path = await made(model)
    const answers = await Promise.all(Array.from({ length: 10 }, () => server.delete(path)))
    const statuses = answers.map(({ status }) => status).sort()
    t.deepEqual(statuses, [204, ...Array.from({ length: 9 }, () => 404)])
  })
}

for (const name of ['paranoid', 'careful', 'muted']) {
  test(`${name}: deleting marks the row and leaves it`, async (t) => {
    const model = sequelize.model(name)
    const path = await made(model, { name: 'marked', level: 7 })
    t.is((await server.get(path)).body.deletedAt, null)
    const from = Date.now() - 2000
    t.is((await server.delete(path)).status, 204)
    const row = await model.findByPk(idOf(path), { paranoid: false })
    t.like(row?.get(), { name: 'marked', level: 7 })
    const deletedAt = row?.get('deletedAt')
    t.true(deletedAt instanceof Date && deletedAt.getTime() >= from && deletedAt.getTime() <= Date.now() + 1000)
  })
}

test("Sequelize's delete hooks run once each, in their order, within the transaction", async (t) => {
  const path = await made(Traced, { name: 'x' })
  trace.length = 0
  t.is((await server.delete(path)).status, 204)
  t.deepEqual(trace, ['beforeDestroy x within', 'afterDestroy x within'])
})

for (const hook of HOOKS) {
  test(`an error from ${hook} is 500 without a word of it, and the record stays`, async (t) => {
    const path = await made(Traced, { name: hook })
    heard.length = 0
    const { status, text } = await server.delete(path)
    t.is(status, 500)
    t.notRegex(text, /secret/)
    t.deepEqual(
      heard.splice(0).map((error) => (error as Error).message),
      [`secret: ${hook}`],
    )
    t.is((await server.get(path)).status, 200)
  })
}

test('hooks that are added after mounting run', async (t) => {
  const model = sequelize.model('plain')
  const path = await made(model)
  const seen: unknown[] = []
  model.addHook('beforeDestroy', 'late', (instance) => void seen.push(instance.get('id')))
  try {
    await server.delete(path)
    t.deepEqual(seen, [idOf(path)])
  } finally {
    model.removeHook('beforeDestroy', 'late')
  }
})

test('a record that others still point at is 409, and stays', async (t) => {
  const owner = await made(Owner, { name: 'Jan' })
  const kept = await made(Kept, { name: 'dependant', ownerId: idOf(owner) })
  const { status, body, text } = await server.delete(owner)
  t.is(status, 409)
  t.deepEqual(body, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.10',
    title: 'Conflict',
    code: 'conflict',
    status: 409,
    detail: 'Other records still refer to this one.',
  })
  t.notRegex(text, /kept|ownerId|constraint/i)
  t.is((await server.get(owner)).status, 200)
  t.is((await server.delete(kept)).status, 204)
  t.is((await server.delete(owner)).status, 204)
})

test('a reference that the database sets to null is set to null', async (t) => {
  const owner = await made(Owner, { name: 'Jan' })
  const loose = await made(Loose, { ownerId: idOf(owner) })
  t.is((await server.delete(owner)).status, 204)
  t.is((await server.get(loose)).body.ownerId, null)
})

test('dependants that Sequelize deletes itself go with the record, their hooks run', async (t) => {
  const parent = await made(Parent, { name: 'parent' })
  for (const name of ['a', 'b']) await made(Child, { name, parentId: idOf(parent) })
  const other = await made(Child, { name: 'other', parentId: idOf(await made(Parent)) })
  removed.length = 0
  t.is((await server.delete(parent)).status, 204)
  t.deepEqual(removed.sort(), ['a', 'b'])
  t.is(await Child.count({ where: { parentId: idOf(parent) } }), 0)
  t.is((await server.get(other)).status, 200)
})

test('dependants go with records of a bulk delete too, their hooks run', async (t) => {
  const parents = [await made(Parent), await made(Parent), await made(Parent)]
  for (const [index, parent] of parents.entries()) await made(Child, { name: `c${index}`, parentId: idOf(parent) })
  removed.length = 0
  const { body } = await server.post('/api/parent/bulk-delete', parents.slice(0, 2).map(idOf))
  t.deepEqual(body, { deleted: 2 })
  t.deepEqual(removed.sort(), ['c0', 'c1'])
  t.is(await Child.count({ where: { parentId: parents.map(idOf) } }), 1)
})

test('what the default scope hides is 404, and stays', async (t) => {
  const hidden = await Scoped.create({ name: 'hidden', active: false, state: 'open' })
  const closed = await Scoped.create({ name: 'closed', active: true, state: 'closed' })
  const open = await Scoped.create({ name: 'open', active: true, state: 'open' })
  for (const each of [hidden, closed]) {
    t.is((await server.delete(`/api/scoped/${each.get('id')}`)).status, 404)
  }
  const keys = [hidden, closed, open].map((each) => each.get('id'))
  t.deepEqual((await server.post('/api/scoped/bulk-delete', keys)).body, { deleted: 1 })
  t.is(await Scoped.unscoped().count(), 2)
})

test('a delete asks the database once where no hook has a say', async (t) => {
  const path = await made(sequelize.model('plain'))
  server.statements.length = 0
  await server.delete(path)
  // An instance is loaded first.
  t.is(server.statements.length === 1, isFast)
})

test('nothing in this file was unexpected', (t) => {
  t.deepEqual(heard, [], databaseName)
})
