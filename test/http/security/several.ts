// Writes of several records in one request obey what a request for each of them would. Each test is named after its rule.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, hasRole, type Identity, Operations } from '../../../lib/index.js'
import { type HubOwner, openPush } from '../../support/push.js'
import { readStoredRow } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const test = ava.serial

let Account!: ModelStatic<Model>
let Seat!: ModelStatic<Model>
let hub!: HubOwner
let seats!: HubOwner
const world = await openPush(({ sequelize }, app, io) => {
  Account = sequelize.define('Account', {
    tenantId: { type: DataTypes.INTEGER, allowNull: false },
    name: { type: DataTypes.STRING(50), allowNull: false },
    salary: DataTypes.INTEGER,
    grade: DataTypes.INTEGER,
    secret: DataTypes.STRING,
  })
  const Branch = sequelize.define('Branch', { tenantId: DataTypes.INTEGER }, { timestamps: false })
  Account.belongsTo(Branch, { as: 'branch', foreignKey: 'branchId' })
  app.use(crudRouter(Branch, { identity, scope: ({ identity: caller }) => ({ tenantId: tenantOf(caller) }) }))
  const accounts = crudRouter(Account, {
    identity,
    operations: Operations.AllWithBulk | Operations.Restore | Operations.BulkUpdate | Operations.Replace,
    softDelete: true,
    audit: true,
    mask: { salary: 'payroll', grade: { write: 'payroll' } },
    fields: { secret: { exclude: true } },
    scope: ({ identity: caller }) => ({ tenantId: tenantOf(caller) }),
    updatePolicy: hasRole('editor'),
    push: { io },
  })
  app.use(accounts)
  hub = accounts
  Seat = sequelize.define('Seat', {
    code: { type: DataTypes.STRING(20), primaryKey: true },
    tenantId: { type: DataTypes.INTEGER, allowNull: false },
    name: { type: DataTypes.STRING(50), allowNull: false },
    salary: { type: DataTypes.INTEGER, allowNull: false },
    grade: { type: DataTypes.INTEGER, defaultValue: 1 },
    secret: { type: DataTypes.STRING, defaultValue: 'made' },
    hidden: DataTypes.STRING,
    badge: { type: DataTypes.STRING, unique: true },
    pin: { type: DataTypes.STRING, unique: true },
    locked: { type: DataTypes.STRING, unique: true },
  })
  Seat.belongsTo(Branch, { as: 'branch', foreignKey: 'branchId' })
  const places = crudRouter(Seat, {
    identity,
    operations: Operations.AllWithBulk | Operations.Replace,
    softDelete: true,
    audit: true,
    mask: { salary: 'payroll', grade: { write: 'payroll' }, badge: 'payroll', locked: { write: 'payroll' } },
    fields: { secret: { exclude: true }, hidden: { exclude: 'response' }, pin: { exclude: 'query' } },
    scope: ({ identity: caller }) => ({ tenantId: tenantOf(caller) }),
    updatePolicy: hasRole('editor'),
    createPolicy: hasRole('maker'),
    push: { io },
  })
  app.use(places)
  seats = places
})
await world.sequelize.model('Branch').bulkCreate([{ tenantId: 1 }, { tenantId: 2 }])
test.after.always(() => world.close())

function tenantOf(caller: Identity | null): number {
  return Number(caller?.claims.tenant ?? 0)
}

const editor = bearer({ sub: 'ed', tenant: 1, roles: ['editor'] })
const payer = bearer({ sub: 'pat', tenant: 1, roles: ['editor'], permissions: ['payroll'] })
const reader = bearer({ sub: 'rea', tenant: 1 })

async function given(values: object = {}): Promise<number> {
  const made = await Account.create({ tenantId: 1, name: 'Ann', salary: 5000, grade: 1, secret: 's', ...values })
  return Number(made.get('id'))
}

const patch = (items: unknown, headers = editor) => world.patch('/api/accounts/bulk', items, headers)

test('bulk update asks the update policy before anything else: 401 for anonymous callers, 403 for those without it', async (t) => {
  const id = await given()
  for (const body of [[{ id, name: 'x' }], [{ id: 999_999 }], 'no array', []]) {
    t.is((await world.patch('/api/accounts/bulk', body)).status, 401)
    t.is((await patch(body, reader)).status, 403)
  }
  t.is((await readStoredRow(Account, id))?.name, 'Ann')
})

test('to bulk update a record out of scope, a deleted one and a missing one are the same, byte for byte', async (t) => {
  const [own, foreign, deleted] = [await given(), await given({ tenantId: 2 }), await given()]
  await world.delete(`/api/accounts/${deleted}`, editor)
  const answers = await Promise.all(
    [foreign, deleted, 999_999].map((id) =>
      patch([
        { id: own, name: 'x' },
        { id, name: 'x' },
      ]),
    ),
  )
  for (const { status, text } of answers) {
    t.is(status, 404)
    t.is(text, String(answers[0]?.text))
  }
  for (const id of [own, foreign, deleted]) t.is((await readStoredRow(Account, id))?.name, 'Ann')
})

test('bulk update writes no scope attribute, stamp, mark, key or excluded field, and no masked one without its permission', async (t) => {
  const id = await given()
  const wanted = {
    ...{ id, tenantId: 2, name: 'Ada', grade: 9, secret: 'x', isDeleted: true, deletedAt: '2000-01-01T00:00:00Z' },
    ...{ createdBy: 'root', updatedBy: 'root', createdAt: '2000-01-01T00:00:00Z' },
  }
  const { status, body } = await patch([wanted])
  t.is(status, 200)
  t.is(body[0].salary, null, 'what is masked is masked in the reply')
  t.false('secret' in body[0])
  t.like(await readStoredRow(Account, id), {
    tenantId: 1,
    name: 'Ada',
    grade: 1,
    secret: 's',
    updatedBy: 'ed',
    deletedAt: null,
  })
  const allowed = await patch([{ id, grade: 9, salary: 1 }], payer)
  t.like(allowed.body[0], { grade: 9, salary: 1 })
  t.is(allowed.headers.get('vary'), 'Authorization')
  t.is(allowed.headers.get('cache-control'), 'private')
})

test('bulk update pushes one event a record, in order, after the commit, to those whose scope admits it, and none where it fails', async (t) => {
  const ids = [await given(), await given()]
  const mine = await world.subscribe(hub, { headers: reader })
  const other = await world.subscribe(hub, { headers: bearer({ sub: 'other', tenant: 2 }) })
  await patch(ids.map((id) => ({ id, name: 'Ada', salary: 7 })).reverse())
  await patch([
    { id: ids[0], name: 'never' },
    { id: ids[1], name: null },
  ])
  await world.drain(hub, mine, (id) => ({ id, tenantId: 1 }))
  t.deepEqual(
    mine.received.map(([event, record]) => [event, (record as { id: number }).id, (record as { salary: null }).salary]),
    [
      ['OnUpdated', ids[1], null],
      ['OnUpdated', ids[0], null],
    ],
  )
  t.deepEqual(other.received, [])
})

test('bulk update points foreign keys at what its caller could meet, or nowhere: the same 409, and nothing is written', async (t) => {
  const [one, two] = [await given(), await given()]
  const answers = await Promise.all(
    [2, 999].map((branchId) =>
      patch([
        { id: one, name: 'Ada', branchId: 1 },
        { id: two, branchId },
      ]),
    ),
  )
  for (const { status, body, text } of answers) {
    t.is(status, 409)
    t.deepEqual(body.errors, { branchId: ['does not exist.'] })
    t.is(text, String(answers[0]?.text))
  }
  t.is((await readStoredRow(Account, one))?.name, 'Ann')
  t.is((await patch([{ id: one, branchId: 1 }])).status, 200)
})

// ---------------------------------------------------------------- replace

const maker = bearer({ sub: 'mak', tenant: 1, roles: ['editor', 'maker'], permissions: ['payroll'] })
const put = (path: string, json: unknown, headers = maker) => world.send('PUT', `/api/${path}`, { json, headers })
const seat = (code: string): Promise<Record<string, unknown> | undefined> =>
  Seat.findOne({ where: { code } }).then((found) => found?.get({ plain: true }))

test('replace asks the update policy first, and the create policy where a record would be made: 403 whether or not the key is taken', async (t) => {
  await Seat.create({ code: 'foreign', tenantId: 2, name: 'Ann', salary: 1 })
  const body = { name: 'x', salary: 1 }
  t.is((await world.send('PUT', '/api/seats/a', { json: body })).status, 401)
  t.is((await put('seats/a', body, reader)).status, 403)
  const [fresh, taken] = [await put('seats/a', body, editor), await put('seats/foreign', body, editor)]
  t.is(fresh.status, 403)
  t.is(fresh.text, taken.text)
  t.is(await seat('a'), undefined)
  t.is((await put('seats/a', body)).status, 201)
  t.is((await put('seats/a', { name: 'y' }, editor)).status, 200, 'who may change it needs not be one who may make it')
})

test('a key that is taken out of reach is 409 where keys are chosen, and its record stays; else it is missing, byte for byte', async (t) => {
  t.is((await put('seats/foreign', { name: 'x', salary: 2 })).status, 409)
  t.like(await seat('foreign'), { tenantId: 2, name: 'Ann' })
  const [foreign, deleted] = [await given({ tenantId: 2 }), await given()]
  await world.delete(`/api/accounts/${deleted}`, editor)
  const answers = await Promise.all([foreign, deleted, 999_999].map((id) => put(`accounts/${id}`, { name: 'x' })))
  for (const { status, text } of answers) {
    t.is(status, 404)
    t.is(text, String(answers[0]?.text))
  }
  t.is((await readStoredRow(Account, foreign))?.name, 'Ann')
})

test('replace leaves alone what its caller may not write, what is in no update, and what it may not read and does not name', async (t) => {
  await Seat.create({ code: 'b', tenantId: 1, name: 'Ann', salary: 5, grade: 9, secret: 's', hidden: 'h' })
  const wanted = {
    name: 'Ada',
    tenantId: 2,
    grade: 4,
    secret: 'x',
    isDeleted: true,
    createdBy: 'root',
    updatedBy: 'root',
  }
  const { status, body } = await put('seats/b', wanted, editor)
  t.is(status, 200)
  t.is(body.salary, 0, 'what is masked is masked in the reply')
  t.like(await seat('b'), { tenantId: 1, name: 'Ada', salary: 5, grade: 9, secret: 's', hidden: 'h', updatedBy: 'ed' })
  t.is((await put('seats/b', { name: 'Ada', salary: 6, hidden: 'i' }, editor)).status, 200, 'who names it writes it')
  t.like(await seat('b'), { salary: 6, hidden: 'i' })
  t.deepEqual(
    (await put('seats/b', { name: 'Ada' })).body.errors,
    { salary: ['is required.'] },
    'who reads it must say it',
  )
  t.is((await put('seats/b', { name: 'Ada', salary: 7 })).body.grade, 1, 'who may write it clears it')
  t.like(await seat('b'), { tenantId: 1, secret: 's', hidden: 'i' })
})

test('a record that replace makes is in the scope, with its stamps, and a body that contradicts the scope is 403', async (t) => {
  const body = { name: 'x', salary: 1, createdBy: 'root', secret: 'x' }
  t.is((await put('seats/c', { ...body, tenantId: 2 })).status, 403)
  t.is(await seat('c'), undefined)
  t.is((await put('seats/c', { ...body, tenantId: 1 })).status, 201)
  t.like(await seat('c'), { tenantId: 1, createdBy: 'mak', secret: 'made' })
  t.is((await put('seats/c', { ...body, tenantId: 2 })).status, 200, 'of one that is there it is ignored')
  t.like(await seat('c'), { tenantId: 1 })
})

test('replace points foreign keys at what its caller could meet, or nowhere', async (t) => {
  for (const code of ['c', 'd']) {
    const answers = await Promise.all(
      [2, 999].map((branchId) => put(`seats/${code}`, { name: 'x', salary: 1, branchId })),
    )
    for (const { status, text } of answers) {
      t.is(status, 409)
      t.is(text, String(answers[0]?.text))
    }
    t.is((await put(`seats/${code}`, { name: 'x', salary: 1, branchId: 1 })).status, code === 'c' ? 200 : 201)
  }
})

test('replace pushes what it did: OnCreated of a new record, OnUpdated of an old one', async (t) => {
  const mine = await world.subscribe(seats, { headers: reader })
  const other = await world.subscribe(seats, { headers: bearer({ sub: 'other', tenant: 2 }) })
  await put('seats/e', { name: 'x', salary: 1 })
  await put('seats/e', { name: 'y', salary: 1 })
  await put('seats/e', { name: null, salary: 1 })
  await world.drain(seats, mine, (key) => ({ code: String(key), tenantId: 1 }))
  t.deepEqual(
    mine.received.map(([event, record]) => [
      event,
      (record as { name: string }).name,
      (record as { salary: number }).salary,
    ]),
    [
      ['OnCreated', 'x', 0],
      ['OnUpdated', 'y', 0],
    ],
  )
  t.deepEqual(other.received, [])
})

// ---------------------------------------------------------------- upsert

const upsert = (items: unknown, headers = maker, by = 'code') =>
  world.send('PUT', `/api/seats/bulk?by=${by}`, { json: items, headers })
const poor = bearer({ sub: 'poor', tenant: 1, roles: ['editor', 'maker'] })

test('upsert asks the update and the create policy before anything else, whatever comes of it', async (t) => {
  await put('seats/u1', { name: 'Ann', salary: 1 })
  for (const body of [[{ code: 'u1', name: 'x' }], [{ code: 'u2', name: 'x', salary: 1 }], 'no array', []]) {
    t.is((await world.send('PUT', '/api/seats/bulk?by=code', { json: body })).status, 401)
    t.is((await upsert(body, editor)).status, 403)
    t.is((await upsert(body, bearer({ sub: 'm', tenant: 1, roles: ['maker'] }))).status, 403)
  }
  t.like(await seat('u1'), { name: 'Ann' })
})

test('upsert finds records by nothing that its caller may not read or filter by: byte for byte the answer to a name that is none', async (t) => {
  const none = await upsert([], poor, 'nothing')
  for (const by of [
    'badge',
    'pin',
    'secret',
    'name',
    'tenantId',
    'rowVersion',
    '__proto__',
    'constructor',
    'code,badge',
  ]) {
    const { status, text } = await upsert([], poor, by)
    t.is(status, 400)
    t.is(text, none.text, by)
  }
  t.is((await upsert([], maker, 'badge')).status, 200)
  // What it may be is told to each caller of its own.
  t.notRegex(none.text, /badge|pin|secret/)
  t.regex((await upsert([], maker, 'nothing')).text, /code or badge/)
})

test('a value that a record out of reach has is a conflict, and that record stays', async (t) => {
  await Seat.create({ code: 'far', tenantId: 2, name: 'Far', salary: 1, badge: 'far' })
  await put('seats/dead', { name: 'Dead', salary: 1, badge: 'dead' })
  await world.delete('/api/seats/dead', maker)
  const rest = { name: 'x', salary: 2 }
  for (const code of ['far', 'dead']) {
    const byKey = await upsert([
      { code: 'near', ...rest },
      { code, ...rest },
    ])
    const byBadge = await upsert(
      [
        { code: 'near', ...rest },
        { code: 'near2', badge: code, ...rest },
      ],
      maker,
      'badge',
    )
    t.is(byKey.status, 409)
    t.is(byBadge.status, 400, 'the first has no badge')
    t.is((await upsert([{ code: 'near2', badge: code, ...rest }], maker, 'badge')).status, 409)
  }
  t.is(await seat('near'), undefined)
  t.like(await seat('far'), { tenantId: 2, name: 'Far', salary: 1 })
  t.like(await seat('dead'), { name: 'Dead', salary: 1 })
})

test('upsert writes no scope attribute, stamp, mark or excluded field, and no masked one without its permission', async (t) => {
  await Seat.create({ code: 'u3', tenantId: 1, name: 'Ann', salary: 5, grade: 9, secret: 's', hidden: 'h' })
  const wanted = {
    name: 'Ada',
    grade: 4,
    secret: 'x',
    isDeleted: true,
    createdBy: 'root',
    updatedBy: 'root',
    salary: 6,
  }
  t.is(
    (
      await upsert(
        [
          { code: 'u3', ...wanted, tenantId: 2 },
          { code: 'u4', ...wanted },
        ],
        poor,
      )
    ).status,
    200,
  )
  t.like(await seat('u3'), { tenantId: 1, name: 'Ada', grade: 9, secret: 's', hidden: 'h', updatedBy: 'poor' })
  t.like(await seat('u4'), { tenantId: 1, name: 'Ada', grade: 1, secret: 'made', createdBy: 'poor', updatedBy: 'poor' })
  t.is(
    (
      await upsert([
        { code: 'u3', name: 'x' },
        { code: 'u5', ...wanted, tenantId: 2 },
      ])
    ).status,
    403,
  )
  t.like(await seat('u3'), { name: 'Ada' })
  t.is(await seat('u5'), undefined)
  const locked = await upsert([{ code: 'u6', locked: 'l', ...wanted }], poor, 'locked')
  t.deepEqual(locked.body.errors, { '[0].locked': ['is required.'] }, 'who may not write it has not sent it')
})

test('upsert points foreign keys at what its caller could meet, or nowhere', async (t) => {
  for (const code of ['u3', 'u7']) {
    const answers = await Promise.all([2, 999].map((branchId) => upsert([{ code, name: 'x', salary: 1, branchId }])))
    for (const { status, text } of answers) {
      t.is(status, 409)
      t.is(text, String(answers[0]?.text))
    }
    t.is((await upsert([{ code, name: 'x', salary: 1, branchId: 1 }])).status, 200)
  }
})

test('what is no record among several to upsert is told, wherever the others point', async (t) => {
  for (const wrong of [null, 'x', 5, []]) {
    for (const branchId of [1, 2, 999]) {
      const { status, body } = await upsert([{ code: 'u9', name: 'x', salary: 1, branchId }, wrong])
      t.deepEqual([status, Object.keys(body.errors)], [400, ['[1]']], JSON.stringify(wrong))
    }
  }
  t.is(await seat('u9'), undefined)
})

test('upsert pushes one event a record, in order, and none where it fails', async (t) => {
  const mine = await world.subscribe(seats, { headers: reader })
  const other = await world.subscribe(seats, { headers: bearer({ sub: 'other', tenant: 2 }) })
  await upsert([
    { code: 'v1', name: 'one', salary: 1 },
    { code: 'u3', name: 'two' },
  ])
  await upsert([
    { code: 'v2', name: 'never', salary: 1 },
    { code: 'u3', name: null },
  ])
  await Promise.all([upsert([{ code: 'v1', name: 'later' }]), put('seats/v1', { name: 'later', salary: 1 })])
  await world.drain(seats, mine, (key) => ({ code: String(key), tenantId: 1 }))
  t.deepEqual(
    mine.received.map(([event, record]) => [
      event,
      (record as { code: string }).code,
      (record as { name: string }).name,
    ]),
    [
      ['OnCreated', 'v1', 'one'],
      ['OnUpdated', 'u3', 'two'],
      ['OnUpdated', 'v1', 'later'],
      ['OnUpdated', 'v1', 'later'],
    ],
  )
  t.deepEqual(other.received, [])
})
