// What groups and measures could tell of what their caller may not see. Each test is named after its rule.

import test from 'ava'
import { DataTypes, type ModelAttributes } from 'sequelize'
import { type CrudOptions, crudRouter, hasRole, Operations } from '../../../../lib/index.js'
import { listPath } from '../../../support/league.js'
import type { Answer } from '../../../support/server.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity, withPermission, withRole } from '../../../support/tokens.js'

const heard: unknown[] = []
const operations = Operations.All | Operations.Aggregate

const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const define = (name: string, attributes: ModelAttributes, more: object = {}): ReturnType<typeof sequelize.define> =>
    sequelize.define(name, attributes, { ...plain, ...more })
  const secrets = { name: DataTypes.STRING, pin: DataTypes.STRING, worth: DataTypes.INTEGER }
  const Agent = define('Agent', {
    ...secrets,
    buried: DataTypes.INTEGER,
    shown: DataTypes.INTEGER,
    tenant: DataTypes.INTEGER,
    since: DataTypes.DATE,
  })
  const Vault = define('Vault', secrets)
  const Home = define('Home', { ...secrets, tenant: DataTypes.INTEGER })
  const Pet = define('Pet', secrets)
  const Bare = define('Bare', secrets)
  for (const [target, as] of [
    [Vault, 'vault'],
    [Home, 'home'],
    [Pet, 'pet'],
    [Bare, 'bare'],
  ] as const) {
    Agent.belongsTo(target, { as, foreignKey: `${as}Id`, constraints: false })
  }
  const Kept = define('Kept', secrets, { defaultScope: { where: { worth: 1 } } })
  const Hooked = define('Hooked', secrets)
  // Find hooks are where hosts keep tenants apart.
  Hooked.addHook('beforeFind', (options) => {
    options.where = { ...options.where, worth: 1 }
  })
  const Complex = define('Complex', secrets, { defaultScope: { include: [{ association: 'more' }] } })
  Complex.belongsTo(Vault, { as: 'more', foreignKey: 'moreId', constraints: false })
  const common: CrudOptions = { identity, operations, onError: (error) => heard.push(error) }
  const tenant: CrudOptions = { scope: ({ identity: caller }) => ({ tenant: Number(caller?.claims.tenant ?? 1) }) }
  app.use(crudRouter(Vault, { ...common, authorizePolicy: hasRole('keeper') }))
  app.use(crudRouter(Home, { ...common, ...tenant, fields: { pin: { exclude: true }, worth: { exclude: 'list' } } }))
  app.use(crudRouter(Pet, { ...common, softDelete: true, mask: { pin: 'vet' } }))
  app.use(
    crudRouter(Agent, {
      ...common,
      ...tenant,
      softDelete: true,
      includeDeletedPolicy: hasRole('archivist'),
      mask: { pin: 'staff', worth: 'payroll', petId: 'staff' },
      fields: { buried: { exclude: true }, shown: { exclude: 'list' }, since: { filterable: false } },
    }),
  )
  for (const model of [Kept, Hooked, Complex]) app.use(crudRouter(model, common))
})
const { sequelize } = stage
await sequelize.model('Vault').bulkCreate([{ name: 'fort', pin: '1', worth: 9 }])
await sequelize.model('Home').bulkCreate([
  { name: 'castle', pin: 'x', worth: 1, tenant: 1 },
  { name: 'palace', pin: 'x', worth: 2, tenant: 2 },
])
await sequelize.model('Pet').bulkCreate([
  { name: 'rex', pin: 'chip', worth: 1 },
  { name: 'ghost', pin: 'chip', worth: 2, isDeleted: true },
])
await sequelize.model('Bare').bulkCreate([{ name: 'nude', pin: 'x', worth: 1 }])
const links = { vaultId: 1, homeId: 1, petId: 1, bareId: 1 }
await sequelize.model('Agent').bulkCreate([
  { name: 'Jan', pin: 'aaa', worth: 10, buried: 1, shown: 1, tenant: 1, ...links },
  { name: 'Anna', pin: 'bbb', worth: 20, buried: 2, shown: 2, tenant: 1, ...links, homeId: 2, petId: 2 },
  { name: 'Foreign', pin: 'ccc', worth: 40, tenant: 2, ...links },
  { name: 'Gone', pin: 'ddd', worth: 80, tenant: 1, isDeleted: true, ...links },
])
for (const name of ['Kept', 'Hooked', 'Complex']) {
  await sequelize.model(name).bulkCreate([
    { name: 'mine', pin: '1', worth: 1 },
    { name: 'theirs', pin: '2', worth: 2 },
  ])
}
test.after.always(() => stage.close())

const agents = (parameters: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> =>
  stage.get(listPath('/api/agents', parameters), headers)

const itemsOf = ({ body, text }: Answer): object[] => {
  if (body?.items === undefined) throw new Error(text)
  return body.items
}

/** Every place of an aggregate in which a field may be named. */
const PLACES: readonly ((field: string) => Record<string, string>)[] = [
  (field) => ({ group: field }),
  (field) => ({ group: `name,${field}` }),
  (field) => ({ group: `year(${field})` }),
  (field) => ({ aggregate: `count(${field})` }),
  (field) => ({ aggregate: `count,distinct(${field})` }),
  (field) => ({ aggregate: `sum(${field})` }),
  (field) => ({ aggregate: `avg(${field})` }),
  (field) => ({ aggregate: `min(${field})`, group: 'name' }),
  (field) => ({ aggregate: `max(${field})` }),
  (field) => ({ group: 'name', having: `count(${field})>0` }),
  (field) => ({ group: 'name', having: `count>0|max(${field})>5` }),
  (field) => ({ group: 'name', having: `(count>0,(min(${field})=null|count>9))` }),
]

test('every read mode uses the same field set, aggregates and distinct values too (CVE-2016-10533, CVE-2023-22894)', async (t) => {
  const hidden = [
    'pin',
    'worth',
    'buried',
    'shown',
    'since',
    'petId',
    'isDeleted',
    'deletedAt',
    'tenant2',
    '__proto__',
    'constructor',
  ]
  const foreign = [
    'vault.name',
    'vault.worth',
    'home.pin',
    'home.worth',
    'bare.name',
    'pet.name',
    'pet.pin',
    'vault.nothing',
  ]
  for (const field of [...hidden, ...foreign]) {
    for (const place of PLACES) {
      const parameters = place(field)
      const { status, body } = await agents(parameters)
      t.is(status, 400, JSON.stringify(parameters))
      t.is(body.title, 'Unknown field.', JSON.stringify(parameters))
    }
  }
})

test('what is hidden and what does not exist get the same answer, byte for byte', async (t) => {
  for (const place of PLACES) {
    for (const [hidden, absent] of [
      ['worth', 'wurth'],
      // Neither is like another field.
      ['buried', 'burled'],
      ['shown', 'shewn'],
      ['vault.worth', 'vualt.worth'],
      ['home.pin', 'home.pan'],
      ['pet.name', 'pat.name'],
      ['bare.name', 'bore.name'],
    ] as const) {
      const [one, other] = await Promise.all([agents(place(hidden)), agents(place(absent))])
      t.is(one.status, 400)
      t.is(one.text.replaceAll(hidden, '*'), other.text.replaceAll(absent, '*'), JSON.stringify(place(hidden)))
      const vary = (answer: Answer): unknown => [answer.headers.get('vary'), answer.headers.get('cache-control')]
      t.deepEqual(vary(one), vary(other))
    }
  }
  // A sort by what was not asked for does not tell whether it is there.
  const [one, other] = await Promise.all([
    agents({ group: 'name', sort: 'worth' }),
    agents({ group: 'name', sort: 'wurth' }),
  ])
  t.is(one.text.replaceAll('worth', '*'), other.text.replaceAll('wurth', '*'))
})

test('a permission opens what it opens, and no more', async (t) => {
  t.deepEqual(itemsOf(await agents({ aggregate: 'sum(Worth),max(Worth)' }, withPermission('payroll'))), [
    { sum: { worth: 30 }, max: { worth: 20 } },
  ])
  t.deepEqual(itemsOf(await agents({ group: 'name', having: 'max(Worth)>10' }, withPermission('payroll'))), [
    { group: { name: 'Anna' } },
  ])
  t.is((await agents({ aggregate: 'max(Pin)' }, withPermission('payroll'))).status, 400)
  t.deepEqual(itemsOf(await agents({ group: 'vault.name', aggregate: 'count' }, withRole('keeper'))), [
    { group: { vault: { name: 'fort' } }, count: 2 },
  ])
})

test('records that are deleted or out of scope are in no group, and behind relations they are as if they were not there', async (t) => {
  t.deepEqual(itemsOf(await agents({ group: 'name', aggregate: 'count' })), [
    { group: { name: 'Anna' }, count: 1 },
    { group: { name: 'Jan' }, count: 1 },
  ])
  t.deepEqual(itemsOf(await agents({ aggregate: 'count,max(Name)' }, bearer({ sub: 'x', tenant: 2 }))), [
    { count: 1, max: { name: 'Foreign' } },
  ])
  t.deepEqual(itemsOf(await agents({ group: 'home.name', aggregate: 'count' })), [
    { group: { home: { name: null } }, count: 1 },
    { group: { home: { name: 'castle' } }, count: 1 },
  ])
  t.deepEqual(
    itemsOf(await agents({ group: 'pet.name', aggregate: 'count,count(Pet.Name)' }, withPermission('staff'))),
    [
      { group: { pet: { name: null } }, count: 1, counts: { pet: { name: 0 } } },
      { group: { pet: { name: 'rex' } }, count: 1, counts: { pet: { name: 1 } } },
    ],
  )
  // What a condition on a measure reaches takes no record away from its group.
  t.deepEqual(itemsOf(await agents({ group: 'tenant', aggregate: 'count', having: 'max(Home.Name)=castle' })), [
    { group: { tenant: 1 }, count: 2 },
  ])
})

test('deleted records are in groups only for those whom includeDeletedPolicy admits', async (t) => {
  const parameters = { aggregate: 'count', includeDeleted: 'true' }
  t.is((await agents(parameters)).status, 401)
  t.is((await agents(parameters, withRole('clerk'))).status, 403)
  t.deepEqual(itemsOf(await agents(parameters, withRole('archivist'))), [{ count: 3 }])
})

test('aggregates of masked or scoped resources are private', async (t) => {
  const { headers } = await agents({ aggregate: 'count' })
  t.is(headers.get('vary'), 'Authorization')
  t.is(headers.get('cache-control'), 'private')
})

test('what the model itself hides is in no group: default scopes, find hooks', async (t) => {
  for (const path of ['/api/kepts', '/api/hookeds']) {
    const answer = await stage.get(listPath(path, { group: 'name', aggregate: 'count,sum(Worth)' }))
    t.deepEqual(itemsOf(answer), [{ group: { name: 'mine' }, count: 1, sum: { worth: 1 } }], path)
    t.is(answer.body.totalCount, 1)
  }
  // A default scope that joins says nothing of groups that could be honoured.
  const answer = await stage.get(listPath('/api/complexes', { aggregate: 'count' }))
  t.is(answer.status, 500)
  t.regex(String(heard.at(-1)), /Complex: aggregates do not support these options of the default scope: include/)
})

test('no text of a client gets into a statement', async (t) => {
  const evil = [`'`, `"`, '`', ';--', `') OR 1=1 --`, '\\', '%', '$1', '?', ':x']
  for (const text of evil) {
    for (const parameters of [
      { aggregate: `max(${text})` },
      { group: text },
      { group: `month(${text})` },
      { group: 'name', sort: text },
    ]) {
      t.is((await agents(parameters)).status, 400, JSON.stringify(parameters))
    }
    const { status } = await agents({ group: 'name', having: `max(Name)=${text.replace(/([\\,|();])/g, '\\$1')}` })
    t.is(status, 200, text)
  }
})
