// Scope: it is part of every read, write, count and relation path. What is outside a caller's scope is missing: 404, in no
// list, and behind no path. New records get its values, and a body that contradicts them is 403.

import test from 'ava'
import { type DataType, DataTypes } from 'sequelize'
import {
  type CrudOptions,
  crudRouter,
  type Hook,
  hasRole,
  type Identity,
  Operations,
  type PolicyContext,
  Problem,
  type Scope,
} from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { listPath } from '../../support/league.js'
import type { Answer } from '../../support/server.js'
import { isFast } from '../../support/speed.js'
import { openStage, readStoredRow } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const plain = { timestamps: false }
const errors: unknown[] = []
const common: CrudOptions = {
  identity,
  operations: Operations.AllWithBulk | Operations.Restore,
  onError: (error) => errors.push(error),
}

/** Tenants see their own, root sees all, and whoever is neither was forgotten. */
function byTenant({ identity: caller }: { readonly identity: Identity | null }): Scope | null {
  if (caller?.roles.has('root')) return null
  const { tenant } = caller?.claims ?? {}
  return (tenant === undefined ? undefined : { tenantId: tenant }) as Scope
}

/** An object of which some members are those of its prototype. */
function inheriting(inherited: object, own: object): object {
  return Object.assign(Object.create(inherited), own)
}

/** The wrong things that a scope function may give. */
const WRONG: readonly (readonly [what: string, scope: unknown])[] = [
  ['undefined', undefined],
  ['an empty object', {}],
  ['an array', []],
  ['a Map', new Map([['tenantId', 1]])],
  ['a number', 1],
  ['false', false],
  ['true', true],
  ['a string', 'tenantId'],
  ['an unknown attribute', { tenant: 1 }],
  ['an unknown attribute beside a known one', { tenantId: 1, tenat: 1 }],
  ['an unknown attribute that is null', { tenat: null }],
  ['an attribute in another case', { TenantId: 1 }],
  ['an attribute that is none', JSON.parse('{"__proto__": 1}')],
  ['an inherited name', { constructor: 1 }],
  ['an inherited value beside an own one', inheriting({ tenantId: 1 }, { title: 'Mine' })],
  ['an inherited condition', inheriting({ where: 'tenantId=1' }, { title: 'Mine' })],
  ['a condition with inherited values', inheriting({ fixed: { tenantId: 1 } }, { where: 'title^M' })],
  ['a condition whose values are inherited', { fixed: inheriting({ tenantId: 1 }, { title: 'Mine' }), where: 'id>0' }],
  ['a virtual attribute', { shout: 'X' }],
  ['an undefined value', { tenantId: undefined }],
  ['an array with a value of another type', { tenantId: [1, 'one'] }],
  ['an array with an undefined value', { tenantId: [undefined] }],
  ['an array with a hole', { tenantId: Object.assign(new Array(2), { 0: 1 }) }],
  ['an operator', { tenantId: { $gt: 0 } }],
  ['a Date', { tenantId: new Date(0) }],
  ['NaN', { tenantId: Number.NaN }],
  ['infinity', { tenantId: Number.POSITIVE_INFINITY }],
  ['half a number', { tenantId: 1.5 }],
  ['text for a number', { tenantId: 'one' }],
  ['empty text for a number', { tenantId: '' }],
  ['a boolean for a number', { tenantId: true }],
  ['a number for text', { title: 0 }],
  ['a boolean for text', { title: false }],
  ['a number for a boolean', { open: 1 }],
]

const THROWS: readonly (readonly [what: string, scope: () => never | Promise<never>])[] = [
  [
    'throws',
    () => {
      throw new Error('no tenants')
    },
  ],
  ['rejects', () => Promise.reject(new Error('no tenants'))],
]

const contexts: PolicyContext[] = []

const stage = await openStage(({ sequelize }, app) => {
  const Project = sequelize.define(
    'Project',
    {
      tenantId: { type: DataTypes.INTEGER, allowNull: false },
      name: { type: DataTypes.STRING(50), allowNull: false, unique: true },
    },
    plain,
  )
  const Task = sequelize.define(
    'Task',
    {
      tenantId: { type: DataTypes.INTEGER, allowNull: false },
      title: { type: DataTypes.STRING(50), allowNull: false },
      open: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: true },
    },
    plain,
  )
  Task.belongsTo(Project, { as: 'project', foreignKey: 'projectId' })
  Project.hasMany(Task, { as: 'tasks', foreignKey: 'projectId' })
  Task.belongsTo(Task, { as: 'parent', foreignKey: 'parentId' })
  Task.hasMany(Task, { as: 'children', foreignKey: 'parentId' })
  app.use(crudRouter(Project, { ...common, operations: Operations.AllWithBulk, scope: byTenant }))
  app.use(crudRouter(Task, { ...common, softDelete: true, concurrency: true, flatten: ['parent'], scope: byTenant }))

  // Models of one resource each, so that relation paths ask nobody else.
  const Region = sequelize.define('Region', { tenantId: DataTypes.INTEGER, name: DataTypes.STRING }, plain)
  app.use(crudRouter(Region, { ...common, operations: Operations.AllWithBulk, scope: () => ({ tenantId: null }) }))

  const Item = sequelize.define(
    'Item',
    {
      tenantId: DataTypes.INTEGER,
      title: DataTypes.STRING,
      open: DataTypes.BOOLEAN,
      shout: { type: DataTypes.VIRTUAL, get: () => 'X' },
    },
    plain,
  )
  const owned = (path: string, options: CrudOptions): void => {
    app.use(path, crudRouter(Item, { ...common, operations: Operations.AllWithBulk, ...options }))
  }
  WRONG.forEach(([, scope], index) => {
    owned(`/wrong/${index}`, { scope: () => scope as Scope })
    owned(`/wrong/later/${index}`, { scope: async () => scope as Scope })
  })
  THROWS.forEach(([, scope], index) => {
    owned(`/throws/${index}`, { scope })
  })
  owned('/refused', {
    scope: () => {
      throw new Problem({ status: 403, detail: 'You have no tenant.' })
    },
  })
  owned('/text', { scope: () => ({ title: 'Mine' }) })
  owned('/digits', { scope: () => ({ tenantId: '1' as unknown as number }) })
  owned('/flag', { scope: () => ({ open: true, tenantId: 1 }) })
  owned('/seen', {
    authorizePolicy: () => true,
    scope: async (context) => {
      contexts.push(context)
      return { tenantId: 1 }
    },
  })
  owned('/denied', {
    authorizePolicy: hasRole('admin'),
    scope: () => {
      throw new Error('asked although the policy denied')
    },
  })
  owned('/masked', {
    mask: { tenantId: { write: 'tenants' } },
    fields: { tenantId: { rules: { required: true } } },
    scope: () => ({ tenantId: 1 }),
  })
  owned('/hidden', {
    fields: { tenantId: { exclude: true } },
    unknownProperties: 'reject',
    scope: () => ({ tenantId: 1 }),
  })

  // Who may create for everybody still sees his own only.
  const Node = sequelize.define('Node', { tenantId: DataTypes.INTEGER, label: DataTypes.STRING }, plain)
  Node.belongsTo(Node, { as: 'above', foreignKey: 'aboveId' })
  app.use(
    crudRouter(Node, {
      ...common,
      operations: Operations.AllWithBulk,
      flatten: ['above'],
      scope: ({ operation }) => (operation === 'create' ? null : { tenantId: 1 }),
    }),
  )

  // One target, scoped; one way to it that refuses.
  const Owner = sequelize.define('Owner', { tenantId: DataTypes.INTEGER, secret: DataTypes.STRING }, plain)
  const Car = sequelize.define('Car', { name: DataTypes.STRING }, plain)
  Car.belongsTo(Owner, { as: 'owner', foreignKey: 'ownerId' })
  Owner.hasMany(Car, { as: 'cars', foreignKey: 'ownerId' })
  app.use(
    crudRouter(Owner, {
      ...common,
      operations: Operations.AllWithBulk,
      scope: (context) => {
        if (context.identity === null) throw new Problem({ status: 401, detail: 'Sign in.' })
        return byTenant(context)
      },
    }),
  )
  app.use(crudRouter(Car, { ...common, operations: Operations.AllWithBulk, flatten: ['owner'] }))
})
const { sequelize } = stage
const [Project, Task, Item] = [sequelize.model('Project'), sequelize.model('Task'), sequelize.model('Item')]
await Project.bulkCreate([
  { tenantId: 1, name: 'Alpha' },
  { tenantId: 2, name: 'Beta' },
])
await Task.bulkCreate([
  { tenantId: 1, title: 'Mine', projectId: 1 },
  { tenantId: 2, title: 'Theirs', projectId: 2, parentId: 1 },
  { tenantId: 1, title: 'Astray', projectId: 2, parentId: 2 },
  { tenantId: 2, title: 'Intruder', projectId: 1 },
  { tenantId: 1, title: 'Child', projectId: 1, parentId: 1 },
])
await sequelize.model('Region').bulkCreate([{ name: 'Nobody' }, { name: 'Somebody', tenantId: 1 }])
await Item.bulkCreate([
  { tenantId: 1, title: 'Mine', open: true },
  { tenantId: 2, title: 'Theirs', open: true },
  { tenantId: null, title: 'Mine', open: false },
])
await sequelize.model('Node').bulkCreate([
  { tenantId: 1, label: 'mine' },
  { tenantId: 2, label: 'theirs' },
])
await sequelize.model('Owner').bulkCreate([
  { tenantId: 1, secret: 'aaa' },
  { tenantId: 2, secret: 'bbb' },
])
await sequelize.model('Car').bulkCreate([{ name: 'Fiat', ownerId: 1 }, { name: 'Audi', ownerId: 2 }, { name: 'Opel' }])
test.after.always(() => stage.close())

const one = bearer({ sub: 'jan', tenant: 1 })
const two = bearer({ sub: 'eva', tenant: 2 })
const root = bearer({ sub: 'root', roles: ['root'] })
const MISSING = 99_999

type Headers = Record<string, string>

const titles = ({ body, text }: Answer): string[] => {
  if (body?.items === undefined) throw new Error(text)
  return body.items.map(({ title, name, label }: Record<string, string>) => title ?? name ?? label)
}

const list = (path: string, parameters: Record<string, string>, headers: Headers = one): Promise<Answer> =>
  stage.get(listPath(path, parameters), headers)

// What only reads goes first, one after the other; the rest adds records.

test.serial('every kind of list sees what is in scope and nothing else', async (t) => {
  for (const [headers, expected] of [
    [one, ['Mine', 'Astray', 'Child']],
    [two, ['Theirs', 'Intruder']],
    [root, ['Mine', 'Theirs', 'Astray', 'Intruder', 'Child']],
  ] as const) {
    for (const parameters of [
      {},
      { cursor: '' },
      { select: 'title' },
      { sort: 'title,id' },
      { includeDeleted: 'true' },
    ]) {
      t.deepEqual(titles(await list('/api/tasks', parameters, headers)).sort(), [...expected].sort())
    }
    const counted = await list('/api/tasks', { count: 'true' }, headers)
    t.deepEqual(counted.body, { count: expected.length })
    t.is(counted.headers.get('x-total-count'), String(expected.length))
    const page = await list('/api/tasks', { pageSize: '1' }, headers)
    t.is(page.body.totalCount, expected.length)
    t.is(page.headers.get('x-total-count'), String(expected.length))
    const beyond = await list('/api/tasks', { page: '9' }, headers)
    t.is(beyond.body.totalCount, expected.length)
  }
})

test.serial('no filter, sort or parameter reaches beyond the scope', async (t) => {
  const filters = ['tenantId=2', 'tenantId>0', 'tenantId=1|tenantId=2', 'title=Mine|tenantId!=1', 'tenantId=out=1']
  for (const filter of [...filters, 'title=Theirs', 'title!=Mine|(title^T)']) {
    for (const mode of [{}, { count: 'true' }, { cursor: '' }, { select: 'id,tenantId' }]) {
      const { body } = await list('/api/tasks', { filter, ...mode })
      if ('count' in body) t.true(body.count <= 3)
      else for (const { tenantId } of body.items) t.is(tenantId, 1, filter)
    }
  }
  t.deepEqual(titles(await list('/api/tasks', { tenantId: '2' })), [])
  t.deepEqual(titles(await list('/api/tasks', { title: 'Theirs' })), [])
  t.deepEqual((await list('/api/tasks', { filter: 'title=Theirs', count: 'true' })).body, { count: 0 })
})

test.serial('a cursor made for another scope, or for a foreign key, opens nothing', async (t) => {
  const { body } = await list('/api/tasks', { cursor: '', pageSize: '1' }, two)
  const token: string = body.nextCursor
  t.deepEqual(titles(await list('/api/tasks', { cursor: token }, two)), ['Intruder'])
  t.deepEqual(titles(await list('/api/tasks', { cursor: token }, one)), ['Astray', 'Child'])
  // The key in a token is anybody's to write.
  const crafted = Buffer.from(Buffer.from(token, 'base64url').toString().replace(/\.2$/, '.0')).toString('base64url')
  t.deepEqual(titles(await list('/api/tasks', { cursor: crafted }, one)), ['Mine', 'Astray', 'Child'])
  t.is((await list('/api/tasks', { cursor: `${token}A` }, one)).status, 400)
})

test.serial('relation paths meet only records that are in scope', async (t) => {
  const ids = async (path: string, filter: string, headers: Headers = one): Promise<number[]> => {
    const { body, text } = await list(path, { filter, sort: 'id' }, headers)
    if (body.items === undefined) throw new Error(text)
    return body.items.map(({ id }: { id: number }) => id)
  }
  // Task 3 points at a project of the other tenant: for this caller it has none.
  t.deepEqual(await ids('/api/tasks', 'project.name=Beta'), [])
  t.deepEqual(await ids('/api/tasks', 'project.name!=Alpha'), [3])
  t.deepEqual(await ids('/api/tasks', 'project=null'), [3])
  t.deepEqual(await ids('/api/tasks', 'project!=null'), [1, 5])
  t.deepEqual(await ids('/api/tasks', 'project.tenantId=2|project.tenantId=1'), [1, 5])
  t.deepEqual(await ids('/api/tasks', 'parent.title=Theirs'), [])
  t.deepEqual(await ids('/api/tasks', 'parent=null'), [1, 3])
  t.deepEqual(await ids('/api/tasks', 'project.tasks.title=Intruder'), [])
  t.deepEqual(await ids('/api/tasks', 'children.title=Child'), [1])
  t.deepEqual(await ids('/api/tasks', 'children.title=Theirs'), [])
  t.deepEqual(await ids('/api/tasks', 'children.parent.children.count=1'), [1])
  t.deepEqual(await ids('/api/projects', 'tasks.title=Intruder'), [])
  t.deepEqual(await ids('/api/projects', 'tasks.count=2'), [1])
  t.deepEqual(await ids('/api/projects', 'tasks.count(title!=x)=2'), [1])
  t.deepEqual(await ids('/api/projects', 'tasks.all.tenantId=1'), [1])
  t.deepEqual(await ids('/api/projects', 'tasks.none.tenantId=2'), [1])
  t.deepEqual(await ids('/api/projects', 'tasks.any(tenantId=2,title!=x)'), [])
  t.deepEqual(await ids('/api/projects', 'tasks.project.name=Alpha'), [1])
  t.deepEqual(await ids('/api/projects', 'tasks.count=3', root), [1])
  t.deepEqual(await ids('/api/projects', 'tasks.count=1', two), [2])
  const sorted = await list('/api/tasks', { sort: 'project.name,-id', select: 'id,project.name' })
  t.deepEqual(sorted.body.items, [
    { id: 3, project: null },
    { id: 5, project: { name: 'Alpha' } },
    { id: 1, project: { name: 'Alpha' } },
  ])
})

test.serial('what is flattened or selected from outside the scope is null', async (t) => {
  const { body: astray } = await stage.get('/api/tasks/3', one)
  t.like(astray, { parentId: 2, parentTitle: null, parentTenantId: null, parentOpen: null })
  const { body: child } = await stage.get('/api/tasks/5', one)
  t.like(child, { parentTitle: 'Mine', parentTenantId: 1 })
  t.like((await stage.get('/api/tasks/3', root)).body, { parentTitle: 'Theirs' })
  const { body: selected } = await list('/api/tasks', { select: 'id,parent.title,parent.project.name', sort: 'id' })
  t.deepEqual(selected.items, [
    { id: 1, parent: null },
    { id: 3, parent: null },
    { id: 5, parent: { title: 'Mine', project: { name: 'Alpha' } } },
  ])
})

test.serial('a scope of another resource is asked wherever its records are met', async (t) => {
  const cars = async (parameters: Record<string, string>, headers: Headers): Promise<unknown> => {
    const { status, body } = await list('/api/cars', parameters, headers)
    return status === 200 ? body.items.map(({ name }: { name: string }) => name) : status
  }
  t.deepEqual(await cars({ filter: 'owner.secret=bbb' }, one), [])
  t.deepEqual(await cars({ filter: 'owner.secret=bbb' }, two), ['Audi'])
  t.deepEqual(await cars({ filter: 'owner.secret!=aaa' }, one), ['Audi', 'Opel'])
  t.deepEqual(await cars({ filter: 'owner=null' }, one), ['Audi', 'Opel'])
  t.deepEqual(await cars({ filter: 'owner.cars.count>0' }, one), ['Fiat'])
  // A scope that refuses the caller closes the way, and the resource in front of it goes on.
  const refused = await list('/api/cars', { filter: 'owner.secret=bbb' }, {})
  const unknown = await list('/api/cars', { filter: 'ownex.secret=bbb' }, {})
  t.is(refused.status, 400)
  t.is(refused.text.replaceAll('owner', 'ownex'), unknown.text)
  t.like((await stage.get('/api/cars/1')).body, { name: 'Fiat', ownerSecret: null })
  t.like((await stage.get('/api/cars/1', one)).body, { ownerSecret: 'aaa' })
  t.like((await stage.get('/api/cars/1', two)).body, { ownerSecret: null })
  // No tenant in the token is a fault of the host's, not a wide scope.
  t.is((await list('/api/cars', { filter: 'owner.secret=bbb' }, bearer({ sub: 'x' }))).status, 500)
})

test.serial('a null attribute is a scope of its own', async (t) => {
  t.deepEqual(titles(await stage.get('/api/regions')), ['Nobody'])
  t.is((await stage.get('/api/regions/2')).status, 404)
})

test.serial('text in a scope is exact on every database', async (t) => {
  t.deepEqual(titles(await stage.get('/text/api/items')), ['Mine', 'Mine'])
  await Item.bulkCreate([{ title: 'mine' }, { title: 'Mine ' }, { title: 'Miné' }])
  t.deepEqual(titles(await stage.get('/text/api/items')), ['Mine', 'Mine'])
  t.deepEqual(titles(await stage.get('/digits/api/items')), ['Mine'])
  t.deepEqual(titles(await stage.get('/flag/api/items')), ['Mine'])
  await Item.destroy({ where: { open: null } })
})

/** Headers whose digits may be the key's by chance. The body, whose length one of them is, is compared itself. */
const ELSEWHERE = new Set(['date', 'keep-alive', 'content-length'])

/** All that an answer tells of the record, with the key blanked out. */
function told({ status, headers, text }: Answer, key: number): unknown {
  const blank = (value: string): string => value.replaceAll(String(key), '?')
  return {
    status,
    headers: [...headers].filter(([name]) => !ELSEWHERE.has(name)).map(([name, value]) => [name, blank(value)]),
    text,
  }
}

interface Attempt {
  readonly title: string
  readonly method: string
  readonly path?: string
  readonly json?: unknown
  readonly body?: string
  readonly headers?: Headers
  readonly status: number
}

/** What one may try on a record of somebody else. */
const ATTEMPTS: readonly Attempt[] = [
  { title: 'GET', method: 'GET', status: 404 },
  { title: 'HEAD', method: 'HEAD', status: 404 },
  { title: 'GET with If-None-Match', method: 'GET', headers: { 'if-none-match': '*' }, status: 404 },
  { title: 'PATCH without If-Match', method: 'PATCH', json: { title: 'Taken' }, status: 404 },
  {
    title: 'PATCH with If-Match *',
    method: 'PATCH',
    json: { title: 'Taken' },
    headers: { 'if-match': '*' },
    status: 404,
  },
  {
    title: 'PATCH with the right tag',
    method: 'PATCH',
    json: { title: 'Taken' },
    headers: { 'if-match': 'W/"0"' },
    status: 404,
  },
  {
    title: 'PATCH with a stale tag',
    method: 'PATCH',
    json: { title: 'Taken' },
    headers: { 'if-match': '"7"' },
    status: 404,
  },
  { title: 'PATCH of nothing', method: 'PATCH', json: {}, headers: { 'if-match': '*' }, status: 404 },
  { title: 'PATCH that is not valid', method: 'PATCH', json: { title: 5 }, headers: { 'if-match': '*' }, status: 404 },
  {
    title: 'PATCH into the own scope',
    method: 'PATCH',
    json: { tenantId: 1 },
    headers: { 'if-match': '*' },
    status: 404,
  },
  {
    title: 'PATCH with a malformed body',
    method: 'PATCH',
    body: '{',
    headers: { 'content-type': 'application/json' },
    status: 400,
  },
  { title: 'DELETE', method: 'DELETE', status: 404 },
  { title: 'DELETE with the right tag', method: 'DELETE', headers: { 'if-match': 'W/"0"' }, status: 404 },
  { title: 'DELETE with a stale tag', method: 'DELETE', headers: { 'if-match': '"7"' }, status: 404 },
  { title: 'restore', method: 'POST', path: '/restore', status: 404 },
  { title: 'PUT', method: 'PUT', json: {}, status: 405 },
]

for (const { title, method, path = '', status, headers = {}, ...request } of ATTEMPTS) {
  test(`${title} on a foreign record answers byte for byte like on a missing one, and changes nothing`, async (t) => {
    const before = await readStoredRow(Task, 2)
    const send = (key: number): Promise<Answer> =>
      stage.send(method, `/api/tasks/${key}${path}`, { ...request, headers: { ...headers, ...one } })
    const foreign = await send(2)
    t.is(foreign.status, status, foreign.text)
    t.deepEqual(told(foreign, 2), told(await send(MISSING), MISSING))
    t.deepEqual(await readStoredRow(Task, 2), before)
  })
}

test('a deleted foreign record is missing too, and nobody else restores it', async (t) => {
  const { body } = await stage.post('/api/tasks', { title: 'Gone' }, two)
  t.is((await stage.delete(`/api/tasks/${body.id}`, two)).status, 204)
  for (const suffix of ['/restore', '']) {
    const send = (key: number): Promise<Answer> =>
      stage.send(suffix === '' ? 'DELETE' : 'POST', `/api/tasks/${key}${suffix}`, { headers: one })
    t.deepEqual(told(await send(body.id), body.id), told(await send(MISSING), MISSING))
  }
  const path = `/api/tasks/${body.id}`
  t.is((await stage.patch(path, { title: 'x' }, { ...one, 'if-match': '*' })).status, 404)
  t.false(titles(await list('/api/tasks', { includeDeleted: 'true', pageSize: '1000' }, one)).includes('Gone'))
  t.is((await stage.post(`${path}/restore`, undefined, two)).status, 200)
})

test('new records get the scope, whatever the body leaves out', async (t) => {
  const { status, body } = await stage.post('/api/tasks', { title: 'New' }, two)
  t.is(status, 201)
  t.is(body.tenantId, 2)
  t.is((await readStoredRow(Task, body.id))?.tenantId, 2)
  t.is((await stage.get(`/api/tasks/${body.id}`, one)).status, 404)
  const same = await stage.post('/api/tasks', { title: 'New', tenantId: 2 }, two)
  t.is(same.status, 201)
  const bulk = await stage.post('/api/tasks/bulk', [{ title: 'A' }, { title: 'B', tenantId: 2 }], two)
  t.is(bulk.status, 201)
  for (const { id, tenantId } of bulk.body) {
    t.is(tenantId, 2)
    t.is((await readStoredRow(Task, id))?.tenantId, 2)
  }
  const free = await stage.post('/api/tasks', { title: 'Anybody', tenantId: 2 }, root)
  t.is(free.body.tenantId, 2)
  t.is((await stage.post('/api/regions', { name: 'x' })).body.tenantId, null)
})

test('a body that contradicts the scope is 403, in another JSON type too, and nothing is created', async (t) => {
  const before = await Task.count({ paranoid: false })
  const contradictions: readonly unknown[] = [2, 0, -1, '1', 'one', null, true, false, [1], { a: 1 }, 1.5, '', [], {}]
  for (const tenantId of contradictions) {
    const { status, body } = await stage.post('/api/tasks', { title: 'Sly', tenantId }, one)
    t.is(status, 403, JSON.stringify(tenantId))
    t.is(body.title, 'Forbidden')
    const bulk = await stage.post('/api/tasks/bulk', [{ title: 'Sly' }, { title: 'Sly', tenantId }], one)
    t.is(bulk.status, 403, JSON.stringify(tenantId))
  }
  // Before the validation: what is wrong with the rest is nobody's business yet.
  t.is((await stage.post('/api/tasks', { tenantId: 2 }, one)).status, 403)
  t.is((await stage.post('/api/regions', { name: 'x', tenantId: 1 })).status, 403)
  t.is(await Task.count({ where: { title: 'Sly' }, paranoid: false }), 0)
  t.true((await Task.count({ paranoid: false })) >= before)
})

test('a body may write a value of the scope in every form that the type accepts', async (t) => {
  const uid = 'aaaaaaaa-1111-4111-8111-111111111111'
  const fixed = { uid, at: '2020-01-01T00:00:00Z', price: '1.1', start: '10:00', day: '2020-01-01', ref: null }
  const stored = { ...fixed, at: '2020-01-01T00:00:00.000Z', price: '1.10', start: '10:00:00' }
  const own = await openStage(({ sequelize }, app) => {
    const Shift = sequelize.define(
      'Shift',
      {
        code: { type: DataTypes.STRING(20), primaryKey: true },
        uid: DataTypes.UUID,
        at: DataTypes.DATE,
        price: DataTypes.DECIMAL(20, 2),
        start: DataTypes.TIME,
        day: DataTypes.DATEONLY,
        ref: DataTypes.UUID,
      },
      { timestamps: false },
    )
    const operations = Operations.AllWithBulk + Operations.Replace
    app.use(crudRouter(Shift, { operations, scope: () => fixed }))
  })
  t.teardown(() => own.close())
  const shift = '/api/shifts'
  for (const [index, form] of [
    fixed,
    stored,
    { uid: uid.toUpperCase() },
    { at: '2020-01-01T01:00:00+01:00' },
    { price: '1.100' },
    { start: '10:00:00' },
    { ref: null },
  ].entries()) {
    for (const [way, send] of Object.entries({
      post: (code: string) => own.post(shift, { code, ...form }),
      bulk: (code: string) => own.post(`${shift}/bulk`, [{ code, ...form }]),
      put: (code: string) => own.send('PUT', `${shift}/${code}`, { json: form }),
      upsert: (code: string) => own.send('PUT', `${shift}/bulk?by=code`, { json: [{ code, ...form }] }),
    })) {
      const code = `${way}${index}`
      const { status, text } = await send(code)
      t.is(status, way === 'upsert' ? 200 : 201, text)
      t.deepEqual((await own.get(`${shift}/${code}`)).body, { code, ...stored }, code)
    }
  }
  for (const form of [
    { uid: uid.replace('a', 'b') },
    { uid: 'A' },
    { at: '2020-01-01T00:00:00+01:00' },
    { at: 0 },
    { price: '1.11' },
    { price: 1.1 },
    { start: '10:01' },
    { start: '10' },
    { day: '2020-1-1' },
    { ref: uid },
  ]) {
    const { status, body } = await own.post(shift, { code: 'no', ...form })
    t.is(status, 403, JSON.stringify(form))
    t.is(body.detail, `You may not create a record with this ${Object.keys(form)}.`)
  }
})

test('names are exact in bodies: another spelling of the attribute is no attribute', async (t) => {
  for (const name of ['TenantId', 'tenantid', 'tenant_id', '__proto__', 'constructor']) {
    const json = JSON.parse(`{"title": "Spelt", "${name}": 2}`)
    const { status, body } = await stage.post('/api/tasks', json, one)
    t.is(status, 201, name)
    t.is((await readStoredRow(Task, body.id))?.tenantId, 1)
  }
})

test('a PATCH never moves a record out of its scope', async (t) => {
  const { body: made } = await stage.post('/api/tasks', { title: 'Mine' }, one)
  for (const tenantId of [2, null, '2', {}, 'x']) {
    const { status, body } = await stage.patch(
      `/api/tasks/${made.id}`,
      { title: 'Still', tenantId },
      { ...one, 'if-match': '*' },
    )
    t.is(status, 200, JSON.stringify(tenantId))
    t.is(body.tenantId, 1)
    t.like(await readStoredRow(Task, made.id), { tenantId: 1, title: 'Still' })
  }
  const moved = await stage.patch(`/api/tasks/${made.id}`, { tenantId: 2 }, { ...root, 'if-match': '*' })
  t.is(moved.body.tenantId, 2)
  t.is((await stage.get(`/api/tasks/${made.id}`, one)).status, 404)
})

test('bulk delete passes over foreign keys as over missing ones', async (t) => {
  const { body: made } = await stage.post('/api/tasks/bulk', [{ title: 'X' }, { title: 'Y' }], one)
  const keys = made.map(({ id }: { id: number }) => id)
  t.deepEqual((await stage.post('/api/tasks/bulk-delete', [2, 4], one)).body, { deleted: 0 })
  t.deepEqual((await stage.post('/api/tasks/bulk-delete', keys, two)).body, { deleted: 0 })
  t.deepEqual((await stage.post('/api/tasks/bulk-delete', [2, ...keys, MISSING, 4], one)).body, { deleted: 2 })
  t.is((await stage.get('/api/tasks/2', two)).status, 200)
  t.is((await stage.get('/api/tasks/4', two)).status, 200)
  // The same where rows go for good.
  t.deepEqual((await stage.post('/api/projects/bulk-delete', [2], one)).body, { deleted: 0 })
  t.is((await stage.get('/api/projects/2', two)).status, 200)
})

test('conflicts name no value and no database, and say nothing of whose the other record is', async (t) => {
  const own = await stage.post('/api/projects', { name: 'Alpha' }, one)
  const foreign = await stage.post('/api/projects', { name: 'Beta' }, one)
  t.is(own.status, 409)
  t.is(foreign.text, own.text)
  t.notRegex(foreign.text, /Beta|Projects|tenant|sql|unique/i)
  const nowhere = await stage.post('/api/tasks', { title: 'x', projectId: MISSING }, one)
  t.is(nowhere.status, 409)
  t.notRegex(nowhere.text, /Tasks|Projects|foreign|sql|99999/i)
})

WRONG.forEach(([what], index) => {
  test(`a scope that is ${what} is 500 on every route, reaches onError and opens nothing`, async (t) => {
    for (const mount of [`/wrong/${index}`, `/wrong/later/${index}`]) {
      // Of those that no other test deletes.
      const there = await Item.count({ where: { id: [1, 2, 3] } })
      const answers = [
        await stage.get(`${mount}/api/items`),
        await stage.get(`${mount}/api/items?count=true`),
        await stage.get(`${mount}/api/items/1`),
        await stage.post(`${mount}/api/items`, { title: `wrong ${index}` }),
        await stage.post(`${mount}/api/items/bulk`, []),
        await stage.patch(`${mount}/api/items/1`, {}),
        await stage.delete(`${mount}/api/items/1`),
        await stage.post(`${mount}/api/items/bulk-delete`, [1, 2, 3]),
      ]
      for (const { status, text } of answers) {
        t.is(status, 500, text)
        t.notRegex(text, /scope|tenant|Mine/)
      }
      t.is(await Item.count({ where: { id: [1, 2, 3] } }), there)
      t.is(await Item.count({ where: { title: `wrong ${index}` } }), 0)
    }
    t.true(errors.some((error) => error instanceof TypeError && error.message.startsWith('Item: scope ')))
  })
})

THROWS.forEach(([what], index) => {
  test(`a scope that ${what} is 500 and reaches onError`, async (t) => {
    const { status, text } = await stage.get(`/throws/${index}/api/items`)
    t.is(status, 500)
    t.false(text.includes('tenants'))
    t.true(errors.some((error) => error instanceof Error && error.message === 'no tenants'))
  })
})

test('a promise as a value of a scope is 500 and reaches onError, and nothing ends the process if it rejects', async (t) => {
  const unhandled: unknown[] = []
  const noteUnhandled = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', noteUnhandled)
  t.teardown(() => process.off('unhandledRejection', noteUnhandled))
  const reject = (): Promise<never> => Promise.reject(new Error('no tenant'))
  const cycle: object[] = []
  cycle.push(cycle, cycle)
  const scopes: readonly (() => unknown)[] = [
    () => ({ tenantId: Promise.resolve(1) }),
    () => ({ tenantId: reject() }),
    () => ({ tenantId: reject(), title: reject() }),
    () => ({ tenantId: [1, reject(), reject()] }),
    () => ({ where: reject() }),
    () => ({ where: 'tenantId=1', fixed: { tenantId: reject() } }),
    () => ({ where: 'tenantId=1', fixed: reject() }),
    () => [reject()],
    () => ({ tenantId: cycle, title: reject() }),
  ]
  for (const scope of scopes) {
    const found: unknown[] = []
    const own = await openStage(({ sequelize }, app) => {
      const Deed = sequelize.define('Deed', { tenantId: DataTypes.INTEGER, title: DataTypes.STRING }, plain)
      app.use(crudRouter(Deed, { scope: scope as () => Scope, onError: (error) => found.push(error) }))
    })
    t.is((await own.get('/api/deeds')).status, 500)
    await own.close()
    t.deepEqual(found.map(String), [
      'TypeError: Deed: scope returned a promise as a value. Await it in an async function',
    ])
  }
  t.deepEqual(unhandled, [])
})

test('a scope may refuse with a Problem', async (t) => {
  const { status, body } = await stage.get('/refused/api/items')
  t.is(status, 403)
  t.is(body.detail, 'You have no tenant.')
})

test('a scope sees what policies see, once an operation, and after they have admitted', async (t) => {
  contexts.length = 0
  await stage.get('/seen/api/items?filter=title=Mine', one)
  const { body: seen } = await stage.post('/seen/api/items', { title: 'Seen' }, one)
  await stage.get(`/seen/api/items/${seen.id}`, one)
  await stage.patch(`/seen/api/items/${seen.id}`, { title: 'Seen again' }, one)
  await stage.post('/seen/api/items/bulk', [{ title: 'Seen as well' }], one)
  await stage.delete(`/seen/api/items/${seen.id}`, one)
  await stage.post('/seen/api/items/bulk-delete', [seen.id], one)
  t.deepEqual(
    contexts.map(({ operation }) => operation),
    ['getList', 'create', 'getById', 'update', 'bulkCreate', 'delete', 'bulkDelete'],
  )
  t.is(contexts[0]?.identity?.name, 'jan')
  t.is(contexts[0]?.request.method, 'GET')
  t.is(contexts[0]?.resource.name, 'Item')
  t.is((await stage.get('/denied/api/items', one)).status, 403)
})

test('a wider scope for one operation is no wider view of related records', async (t) => {
  t.is((await stage.post('/api/nodes', { label: 'new', tenantId: 2, aboveId: 2 })).status, 409)
  t.is((await stage.post('/api/nodes', { label: 'new', tenantId: 1, aboveId: 1 })).body.aboveLabel, 'mine')
})

test('a scope sets attributes that are masked for writing or excluded from every shape', async (t) => {
  const masked = await stage.post('/masked/api/items', { title: 'm', tenantId: 2 })
  t.is(masked.status, 201, masked.text)
  t.is((await readStoredRow(Item, masked.body.id))?.tenantId, 1)
  const hidden = await stage.post('/hidden/api/items', { title: 'h' })
  t.is(hidden.status, 201, hidden.text)
  t.false('tenantId' in hidden.body)
  t.is((await readStoredRow(Item, hidden.body.id))?.tenantId, 1)
  t.is((await stage.post('/hidden/api/items', { title: 'h', tenantId: 2 })).status, 403)
})

test('whom a scope does not restrict gets no value from it, which a create may need', async (t) => {
  const own = await openStage(({ sequelize }, app) => {
    const tenantId = { type: DataTypes.INTEGER, allowNull: false }
    const Entry = sequelize.define('Entry', { title: DataTypes.STRING(20), tenantId }, { timestamps: false })
    const scope = () => null
    const fields = { tenantId: { exclude: ['create', 'update'] } } as const
    app.use('/bare', crudRouter(Entry, { scope, fields, onError: () => undefined }))
    const beforeCreate: Hook = ({ instance }) => void instance.set('tenantId', 7)
    app.use('/hooked', crudRouter(Entry, { scope, fields, hooks: { beforeCreate } }))
  })
  t.teardown(() => own.close())
  // An instance that is saved is validated by Sequelize first, the attribute that no client can set included.
  t.is((await own.post('/bare/api/entries', { title: 'a', tenantId: 3 })).status, isFast ? 500 : 400)
  const { status, body } = await own.post('/hooked/api/entries', { title: 'a', tenantId: 3 })
  t.is(status, 201)
  t.is(body.tenantId, 7)
})

test('scoped answers are private and vary by who asks, on every status', async (t) => {
  for (const [path, status] of [
    ['/api/tasks', 200],
    ['/api/tasks/2', 404],
    ['/api/tasks?filter=x=1', 400],
    ['/wrong/0/api/items', 500],
    ['/api/cars?select=owner.secret', 200],
  ] as const) {
    const answer = await stage.get(path, one)
    t.is(answer.status, status)
    t.is(answer.headers.get('vary'), 'Authorization')
    t.is(answer.headers.get('cache-control'), 'private')
  }
})

test('the statement that one scope ran is not the one that another gets', async (t) => {
  // The same shape over and over, and each time the values of its own caller.
  const asked = Array.from({ length: 30 }, (_, index) => [one, two][index % 2] ?? one)
  const answers = await Promise.all(
    asked.map((headers) =>
      list('/api/tasks', { filter: 'project.tasks.tenantId>0', sort: 'project.name', pageSize: '1000' }, headers),
    ),
  )
  for (const [index, { body }] of answers.entries()) {
    t.true(body.items.length > 0)
    for (const { tenantId } of body.items) t.is(tenantId, (index % 2) + 1, databaseName)
  }
})

test('numbers with decimals are in scopes what they are in columns, and what is no number is refused', async (t) => {
  const failures: unknown[] = []
  const scopes: readonly Scope[] = [
    { price: 1.5 },
    { price: '1.50' },
    { weight: 0.25 },
    { price: 2 },
    { price: Number.NaN },
    { weight: Number.POSITIVE_INFINITY },
  ]
  const own = await openStage(({ sequelize }, app) => {
    const named = { price: DataTypes.DECIMAL(9, 2), weight: DataTypes.DOUBLE }
    const Good = sequelize.define('Good', named, plain)
    for (const [index, scope] of scopes.entries()) {
      app.use(`/${index}`, crudRouter(Good, { scope: () => scope, onError: (error) => failures.push(error) }))
    }
  })
  t.teardown(() => own.close())
  await own.sequelize.model('Good').bulkCreate([
    { price: 1.5, weight: 0.25 },
    { price: 2, weight: 3 },
  ])
  const ids = async (index: number): Promise<unknown> => {
    const { status, body } = await own.get(`/${index}/api/goods`)
    return status === 200 ? body.items.map(({ id }: { id: number }) => id) : status
  }
  t.deepEqual(await Promise.all(scopes.map((_, index) => ids(index))), [[1], [1], [1], [2], 500, 500])
  t.is(failures.length, 2)
})

/** Values that a column makes another one of, each with the one that it makes of it, on the databases that do. */
const CHANGED: readonly {
  readonly type: DataType
  readonly value: string | number
  readonly kept: string | number
  readonly on?: readonly string[]
}[] = [
  { type: DataTypes.DECIMAL(8, 2), value: '1.004', kept: '1.00' },
  { type: DataTypes.DECIMAL(8, 2), value: 1.004, kept: 1 },
  { type: DataTypes.DECIMAL(8, 2), value: 1e-7, kept: 0 },
  { type: DataTypes.DECIMAL(4, 2), value: '100.5', kept: '99.99' },
  { type: DataTypes.FLOAT, value: 16777217, kept: 16777216, on: ['mysql', 'mariadb'] },
  { type: DataTypes.REAL, value: 16777217, kept: 16777216, on: ['postgres'] },
  { type: DataTypes.CHAR(4), value: 'a ', kept: 'a' },
  { type: DataTypes.STRING(3), value: 'abcd', kept: 'abc' },
  {
    type: DataTypes.DATE,
    value: '2026-01-31T08:30:00.250Z',
    kept: '2026-01-31T08:30:00.000Z',
    on: ['mysql', 'mariadb'],
  },
]

for (const [index, { type, value, kept, on }] of CHANGED.entries()) {
  if (on !== undefined && !on.includes(databaseName)) continue
  test(`a scope whose value its column makes another one of opens nothing and makes nothing: ${index}, ${value}`, async (t) => {
    const failures: unknown[] = []
    const own = await openStage(({ sequelize }, app) => {
      const Good = sequelize.define('Good', { tenant: type, name: DataTypes.STRING }, plain)
      const fields = { tenant: { exclude: true } } as const
      const operations = Operations.AllWithBulk
      const onError = (error: unknown): number => failures.push(error)
      const at = (tenant: string | number): CrudOptions => ({ scope: () => ({ tenant }), fields, operations, onError })
      app.use('/changed', crudRouter(Good, at(value)))
      app.use('/kept', crudRouter(Good, at(kept)))
    })
    t.teardown(() => own.close())
    const { body } = await own.post('/kept/api/goods', { name: 'SECRET' })
    for (const [method, path, json] of [
      ['GET', '', undefined],
      ['GET', `/${body.id}`, undefined],
      ['PATCH', `/${body.id}`, { name: 'x' }],
      ['DELETE', `/${body.id}`, undefined],
      ['POST', '', { name: 'x' }],
      ['POST', '/bulk', [{ name: 'x' }]],
    ] as const) {
      const { status, text } = await own.send(method, `/changed/api/goods${path}`, { json })
      t.is(status, 500, `${method} ${path}`)
      t.false(text.includes('SECRET'))
    }
    t.true(
      failures.every((error) => /a value for "tenant" that the column would round or truncate/.test(String(error))),
    )
    t.is(failures.length, 6)
    const { body: all } = await own.get('/kept/api/goods')
    t.deepEqual(all.items, [{ id: body.id, name: 'SECRET' }])
  })
}

test('a scope by a number of four bytes is what the column holds of it', async (t) => {
  const own = await openStage(({ sequelize }, app) => {
    const Good = sequelize.define('Good', { four: DataTypes.FLOAT, real: DataTypes.REAL }, plain)
    for (const name of ['four', 'real']) app.use(`/${name}`, crudRouter(Good, { scope: () => ({ [name]: 0.1 }) }))
  })
  t.teardown(() => own.close())
  await own.sequelize.model('Good').bulkCreate([
    { four: 0.1, real: 0.2 },
    { four: 0.2, real: 0.1 },
  ])
  const ids = async (name: string): Promise<unknown> =>
    (await own.get(`/${name}/api/goods`)).body.items.map(({ id }: { id: number }) => id)
  t.deepEqual([await ids('four'), await ids('real')], [[1], [2]])
})

/** Values that are as long as their columns, or as far as they go. */
const FULL: readonly (readonly [type: DataType, value: string | number])[] = [
  [DataTypes.STRING(3), 'abc'],
  [DataTypes.STRING(3), '😀😀😀'],
  [DataTypes.STRING(3), 'a '],
  [DataTypes.CHAR(4), 'a b'],
  [DataTypes.DECIMAL, '7'],
  [DataTypes.DECIMAL(2, 2), '0.55'],
  [DataTypes.DECIMAL(4, 2), '-99.99'],
  [DataTypes.DECIMAL(4, 2), 99.5],
  [DataTypes.DECIMAL(4, 0), '9999'],
  // SQLite has no DECIMAL of so many digits.
  ...(databaseName === 'sqlite' ? [] : [[DataTypes.DECIMAL(30, 2), '1234567890123456789012345678.25'] as const]),
]

test('a scope whose value just fits its column has the records that are made in it', async (t) => {
  const own = await openStage(({ sequelize }, app) => {
    for (const [index, [tenant, value]] of FULL.entries()) {
      const Good = sequelize.define(`Good${index}`, { tenant, name: DataTypes.STRING }, plain)
      app.use(`/${index}`, crudRouter(Good, { route: 'api/goods', scope: () => ({ tenant: value }) }))
    }
  })
  t.teardown(() => own.close())
  for (const index of FULL.keys()) {
    const { status, body } = await own.post(`/${index}/api/goods`, { name: 'x' })
    t.is(status, 201, String(FULL[index]?.[1]))
    t.is((await own.get(`/${index}/api/goods/${body.id}`)).status, 200, String(FULL[index]?.[1]))
  }
})
