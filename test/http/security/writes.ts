// What a body can write and what a failure tells. Each test is named after its rule.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { type CrudOptions, crudRouter, Operations } from '../../../lib/index.js'
import { openStage, readStoredRow } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const errors: unknown[] = []
const common: CrudOptions = {
  identity,
  operations: Operations.AllWithBulk | Operations.Restore,
  onError: (error) => errors.push(error),
}

const world = await openStage(({ sequelize }, app) => {
  const Account = sequelize.define('Account', {
    tenantId: { type: DataTypes.INTEGER, allowNull: false },
    name: { type: DataTypes.STRING(50), allowNull: false },
    email: { type: DataTypes.STRING, unique: true },
    role: { type: DataTypes.STRING, allowNull: false, defaultValue: 'user' },
    note: DataTypes.STRING,
    data: DataTypes.JSON,
    parentId: DataTypes.INTEGER,
    isDeleted: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
  })
  Account.belongsTo(Account, { as: 'parent', foreignKey: 'parentId' })
  app.use(
    crudRouter(Account, {
      ...common,
      softDelete: true,
      concurrency: true,
      audit: true,
      scope: () => ({ tenantId: 1 }),
      fields: { role: { exclude: ['create', 'update'] } },
    }),
  )
  const Broken = sequelize.define(
    'Broken',
    { name: { type: DataTypes.STRING, unique: true }, code: DataTypes.INTEGER },
    { timestamps: false },
  )
  Broken.addHook('beforeCreate', (instance) => {
    if (instance.get('name') === 'sql') throw new Error('SELECT password FROM users at /srv/app/models.js:12')
  })
  app.use(crudRouter(Broken, common.operations === undefined ? {} : { ...common, operations: Operations.AllWithBulk }))
  const Lost = sequelize.define('Lost', { name: DataTypes.STRING }, { tableName: 'secret_table', timestamps: false })
  app.use(crudRouter(Lost, { ...common, operations: Operations.AllWithBulk }))
})
const Account = world.sequelize.model('Account')
await Account.bulkCreate([
  { tenantId: 1, name: 'first' },
  { tenantId: 1, name: 'second' },
])
await world.sequelize.getQueryInterface().dropTable('secret_table')
test.after.always(() => world.close())

const jan = bearer({ sub: 'jan' })

test('the write shape is an allowlist: key, stamps, version, deleted mark and scope are never in it (mass assignment)', async (t) => {
  const wanted = {
    id: 7777,
    role: 'admin',
    rowVersion: 99,
    isDeleted: true,
    deletedAt: '2000-01-01T00:00:00Z',
    createdAt: '2000-01-01T00:00:00Z',
    updatedAt: '2000-01-01T00:00:00Z',
    createdBy: 'root',
    updatedBy: 'root',
    created_by: 'root',
    CreatedBy: 'root',
  }
  const untouched = async (id: unknown, version: number): Promise<void> => {
    const row = await readStoredRow(Account, id)
    t.like(row, { tenantId: 1, role: 'user', createdBy: 'jan', updatedBy: 'jan', deletedAt: null })
    t.is(Number(row?.rowVersion), version)
    t.is(Number(row?.isDeleted), 0)
    for (const stamp of ['createdAt', 'updatedAt']) t.not(new Date(String(row?.[stamp])).getUTCFullYear(), 2000)
  }
  const { status, body, text } = await world.post('/api/accounts', { name: 'sly', ...wanted }, jan)
  t.is(status, 201, text)
  t.not(body.id, 7777)
  await untouched(body.id, 0)
  const bulk = await world.post('/api/accounts/bulk', [{ name: 'sly', ...wanted }], jan)
  t.is(bulk.status, 201)
  await untouched(bulk.body[0].id, 0)
  const patched = await world.patch(
    `/api/accounts/${body.id}`,
    { ...wanted, tenantId: 2 },
    { ...jan, 'if-match': 'W/"0"' },
  )
  t.is(patched.status, 200)
  await untouched(body.id, 1)
  t.is(await readStoredRow(Account, 7777), null)
})

test('new objects are made from allowlists, and no prototype is polluted (CVE-2022-29822, CVE-2022-29823)', async (t) => {
  const bodies = [
    '{"name":"p","__proto__":{"role":"admin","polluted":true}}',
    '{"name":"p","constructor":{"prototype":{"polluted":true}}}',
    '{"name":"p","__proto__":null}',
    '{"name":"p","toString":"x","valueOf":"x","hasOwnProperty":"x","get":"x","save":"x","dataValues":{"role":"admin"}}',
    '{"name":"p","data":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}',
    '{"name":"p","sequelize":1,"isNewRecord":false,"_options":{},"then":"x","toJSON":"x","length":5}',
  ]
  const headers = { 'content-type': 'application/json', ...jan, 'if-match': '*' }
  for (const body of bodies) {
    const created = await world.send('POST', '/api/accounts', { body, headers })
    t.is(created.status, 201, created.text)
    t.like(await readStoredRow(Account, created.body.id), { name: 'p', role: 'user', createdBy: 'jan' })
    const patched = await world.send('PATCH', `/api/accounts/${created.body.id}`, { body, headers })
    t.is(patched.status, 200, patched.text)
    t.is(patched.body.role, 'user')
    t.is((await world.send('POST', '/api/accounts/bulk', { body: `[${body}]`, headers })).status, 201)
  }
  t.false('polluted' in {})
  // What is JSON in a JSON column comes back as it was sent, prototype names included.
  const data = '{"__proto__":{"a":1},"constructor":2}'
  const { text } = await world.send('POST', '/api/accounts', { body: `{"name":"j","data":${data}}`, headers })
  t.true(text.includes('"__proto__":{"a":1}'), text)
})

test('an update or a delete always has a condition, and bulk deletes go by explicit keys (CVE-2023-22579)', async (t) => {
  const before = await Account.count()
  const bodies: readonly unknown[] = [
    [],
    [null],
    [{}],
    [[]],
    [''],
    ['*'],
    ['%'],
    [undefined],
    [{ id: { $ne: 0 } }],
    [true],
    ['1=1'],
  ]
  for (const body of bodies) {
    t.deepEqual((await world.post('/api/accounts/bulk-delete', body)).body, { deleted: 0 }, JSON.stringify(body))
  }
  for (const body of [{}, { where: {} }, 'all', null, 5]) {
    t.is((await world.post('/api/accounts/bulk-delete', body)).status, 400, JSON.stringify(body))
  }
  for (const path of ['/api/accounts', '/api/accounts/']) {
    t.is((await world.delete(path)).status, 405)
    t.is((await world.patch(path, { name: 'all' })).status, 405)
  }
  t.true((await Account.count()) >= before)
  t.is(await Account.count({ where: { name: 'all' } }), 0)
  for (const statement of world.statements.filter((each) => /\b(UPDATE|DELETE FROM) ["`]?Accounts/.test(each))) {
    t.regex(statement, /\bWHERE\b/)
  }
})

test('409 and 500 carry no text of the database; onError has it', async (t) => {
  const LEAKS =
    /sql|select|insert|password|users|secret_table|constraint|accounts_|models\.js|srv|stack|sequelize|relation "|no such|column|lost/i
  await world.post('/api/brokens', { name: 'taken' })
  const failures = [
    { status: 409, answer: await world.post('/api/brokens', { name: 'taken' }) },
    { status: 409, answer: await world.post('/api/brokens/bulk', [{ name: 'new' }, { name: 'taken' }]) },
    { status: 409, answer: await world.post('/api/accounts', { name: 'x', parentId: 99_999 }, jan) },
    { status: 409, answer: await world.patch('/api/accounts/1', { parentId: 99_999 }, { ...jan, 'if-match': '*' }) },
    { status: 500, answer: await world.post('/api/brokens', { name: 'sql' }) },
    { status: 500, answer: await world.get('/api/losts') },
    { status: 500, answer: await world.get('/api/losts/1') },
    { status: 500, answer: await world.get('/api/losts?filter=name=x&count=true') },
    { status: 500, answer: await world.post('/api/losts', { name: 'x' }) },
    { status: 500, answer: await world.delete('/api/losts/1') },
  ]
  for (const { status, answer } of failures) {
    t.is(answer.status, status, answer.text)
    const { errors: fields, ...rest } = answer.body
    t.notRegex(JSON.stringify({ ...rest, type: '' }), LEAKS)
    t.notRegex(answer.text, /taken"?\s*[,:}]|99999/)
    t.true(fields === undefined || Object.keys(fields).every((name) => /^(\[\d\]\.)?(name|parentId)$/.test(name)))
    t.notRegex([...answer.headers].join(), /secret_table|sequelize/i)
  }
  t.true(errors.some((error) => error instanceof Error && error.message.includes('/srv/app/models.js')))
  t.true(errors.filter((error) => error instanceof Error && error.message.includes('secret_table')).length >= 5)
})

test('values that a column cannot hold are 400, and huge numbers bring nothing down', async (t) => {
  const before = errors.length
  const numbers = ['1e400', '-1e400', '1e308', '99999999999999999999', '2147483648', '1.5', '"5"', 'true', '[]', '{}']
  const headers = { 'content-type': 'application/json', ...jan }
  for (const number of numbers) {
    const body = `{"name":"n","parentId":${number}}`
    t.is((await world.send('POST', '/api/accounts', { body, headers })).status, 400, number)
  }
  for (const name of ['\\u0000', 'a\\u0000b', '\\ud800', 'x'.repeat(51)]) {
    t.is((await world.send('POST', '/api/accounts', { body: `{"name":"${name}"}`, headers })).status, 400, name)
  }
  for (const query of [
    'parentId=99999999999999999999',
    'filter=parentId>1e5',
    'filter=name=%00',
    'name=%00',
    `filter=parentId=${'9'.repeat(400)}`,
  ]) {
    const { status } = await world.get(`/api/accounts?${query}`)
    t.true(status === 200 || status === 400, query)
  }
  t.is(errors.slice(before).filter((error) => !(error instanceof Error)).length, 0)
})
