// Agents read and write by tools; what they may not see or do is what HTTP refuses. Each test is named after its rule.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, hasRole } from '../../../lib/index.js'
import { crudMcp } from '../../../lib/mcp/index.js'
import { type Agent, connectAgentOverHttp, type ToolOutcome } from '../../support/mcp.js'
import { openStage, readStoredRow } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const test = ava.serial
const models: Record<string, ModelStatic<Model>> = {}

const server = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define(
    'Team',
    { name: DataTypes.STRING, secret: DataTypes.STRING, budget: DataTypes.INTEGER },
    { timestamps: false },
  )
  const Vault = sequelize.define('Vault', { name: DataTypes.STRING }, { timestamps: false })
  const Task = sequelize.define('Task', {
    title: { type: DataTypes.STRING(30), allowNull: false },
    tenantId: DataTypes.INTEGER,
    salary: DataTypes.INTEGER,
    grade: DataTypes.INTEGER,
    hidden: DataTypes.STRING,
  })
  Task.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Task.belongsTo(Vault, { as: 'vault', foreignKey: 'vaultId' })
  const Report = sequelize.define('Report', { finding: DataTypes.STRING }, { timestamps: false })
  Object.assign(models, { Team, Task, Vault })
  const closing = { identity, fields: { secret: { exclude: true } }, getListPolicy: hasRole('lead') } as const
  const teams = crudRouter(Team, { ...closing, mask: { budget: 'one' } })
  // Whoever crosses into teams is seen by both.
  app.use(crudRouter(Team, { ...closing, route: 'clubs', mask: { budget: 'two' } }))
  const vaults = crudRouter(Vault, { identity, authorizePolicy: hasRole('nobody') })
  const tasks = crudRouter(Task, {
    identity,
    softDelete: true,
    authorizePolicy: hasRole('reader'),
    createPolicy: hasRole('writer'),
    updatePolicy: hasRole('writer'),
    deletePolicy: hasRole('writer'),
    fields: { hidden: { exclude: true } },
    mask: { salary: 'payroll', grade: { write: 'grader' } },
    scope: ({ identity: caller }) => ({ tenantId: Number(caller?.claims.tenant ?? 0) }),
    relations: { vault: false },
  })
  const resources = [teams, vaults, tasks]
  for (const router of resources) app.use(router)
  app.all('/mcp', crudMcp({ resources, write: true }))
  // Two relations are called notes: those of companies are closed to readers, those of branches are open.
  const plain = { timestamps: false }
  const Company = sequelize.define('Company', { name: DataTypes.STRING }, plain)
  const Branch = sequelize.define('Branch', { name: DataTypes.STRING }, plain)
  const Safe = sequelize.define('Safe', { combination: DataTypes.STRING }, plain)
  const Memo = sequelize.define('Memo', { memorandum: DataTypes.STRING }, plain)
  const Remark = sequelize.define('Remark', { remark: DataTypes.STRING }, plain)
  Company.hasMany(Branch, { as: 'branches', foreignKey: 'companyId' })
  Company.hasMany(Memo, { as: 'notes', foreignKey: 'companyId' })
  Branch.hasMany(Safe, { as: 'safes', foreignKey: 'branchId' })
  Branch.hasMany(Remark, { as: 'notes', foreignKey: 'branchId' })
  const written = { write: true } as const
  const nesting = [
    crudRouter(Company, {
      identity,
      authorizePolicy: hasRole('reader'),
      relations: { branches: written, notes: written },
    }),
    crudRouter(Branch, { identity, authorizePolicy: hasRole('reader'), relations: { safes: written, notes: written } }),
    crudRouter(Safe, { identity, authorizePolicy: hasRole('lead') }),
    crudRouter(Memo, { identity, authorizePolicy: hasRole('lead') }),
    crudRouter(Remark, { identity, authorizePolicy: hasRole('reader') }),
  ]
  for (const router of nesting) app.use(router)
  app.all('/nesting', crudMcp({ resources: nesting, write: true }))
  // Nothing of it is for tools that read.
  const reports = crudRouter(Report, { identity, operations: ['create'], createPolicy: hasRole('writer') })
  app.use(reports)
  app.all('/reading', crudMcp({ resources: [reports] }))
  app.all('/writing', crudMcp({ resources: [reports], write: true }))
})
await models.Team?.bulkCreate([{ name: 'Red', secret: 'x' }])
await models.Vault?.bulkCreate([{ name: 'gold' }])
await models.Task?.bulkCreate(
  Array.from({ length: 20 }, (_, index) => ({
    ...{
      title: `t${index}`,
      tenantId: (index % 2) + 1,
      salary: index,
      grade: 1,
      hidden: `h${index}`,
      teamId: 1,
      vaultId: 1,
    },
    ...{ isDeleted: index % 5 === 4 },
  })),
)

const callers = {
  anonymous: {},
  stranger: bearer({ sub: 'x', tenant: 1 }),
  reader: bearer({ sub: 'one', tenant: 1, roles: ['reader'] }),
  payroll: bearer({ sub: 'two', tenant: 2, roles: ['reader'], permissions: ['payroll'] }),
  lead: bearer({ sub: 'three', tenant: 1, roles: ['reader', 'lead'] }),
  writer: bearer({ sub: 'four', tenant: 1, roles: ['reader', 'writer'] }),
  one: bearer({ sub: 'five', tenant: 1, roles: ['reader', 'lead'], permissions: ['one'] }),
  both: bearer({ sub: 'six', tenant: 1, roles: ['reader', 'lead'], permissions: ['one', 'two'] }),
}
type Name = keyof typeof callers
const names = Object.keys(callers) as Name[]
const agents = new Map<Name, Agent>()
for (const name of names) agents.set(name, await connectAgentOverHttp(`${server.url}/mcp`, callers[name]))

test.after.always(() => server.close())

async function ask(name: Name, tool: string, given: Record<string, unknown>): Promise<ToolOutcome> {
  const agent = agents.get(name)
  if (agent === undefined) throw new TypeError(name)
  return agent.call(tool, { resource: 'tasks', ...given })
}

/** The records of a query, in small pages that follow cursors. */
async function walked(name: Name, query: Record<string, unknown>): Promise<unknown[]> {
  const items: unknown[] = []
  for (let cursor = {}; ; ) {
    const { body } = await ask(name, 'query_records', { ...query, ...cursor, limit: 3 })
    items.push(...body.items)
    if (body.nextCursor === null) return items
    cursor = { cursor: body.nextCursor }
  }
}

const asQuery = (given: Record<string, unknown>): string =>
  new URLSearchParams(
    Object.entries(given).map(([name, value]): [string, string] => [
      name === 'limit' ? 'pageSize' : name,
      String(value),
    ]),
  ).toString()

test('every read mode uses one set of records and fields: tools answer what lists and records are, for each caller', async (t) => {
  const queries: readonly Record<string, unknown>[] = [
    {},
    { select: 'id,title,salary' },
    { filter: 'Title^t1', sort: '-Title' },
    { filter: 'Salary>3' },
    { sort: 'Salary' },
    { filter: 'Hidden=h1' },
    { filter: 'Nothing=1' },
    { filter: 'Title=' },
    { filter: '__proto__=1' },
    { select: 'constructor' },
    { filter: 'IsDeleted=true' },
    { select: 'id,team.name' },
    { filter: 'Team.Name=Red' },
    { filter: 'Team.Secret=x' },
    { filter: 'Vault.Name=gold' },
    { filter: 'Team.Budget=null' },
  ]
  for (const name of names) {
    for (const query of queries) {
      const told = await ask(name, 'query_records', { ...query, limit: 50 })
      const { status, body } = await server.get(`/api/tasks?${asQuery({ ...query, limit: 50 })}`, callers[name])
      t.is(told.isError, status !== 200)
      const { items, totalCount } = body
      const expected = status === 200 ? { items, totalCount, nextCursor: null } : body
      t.deepEqual(told.body, expected, `${name} ${JSON.stringify(query)}`)
      if (status === 200) t.deepEqual(await walked(name, query), items, `${name} ${JSON.stringify(query)}`)
    }
    for (const key of ['1', '2', '5', '99', 'x', '1 OR 1=1', '../teams/1', '1?select=id', '']) {
      const told = await ask(name, 'get_record', { key })
      if (key === '') {
        t.is(told.body.status, 400)
        continue
      }
      const { status, body } = await server.get(`/api/tasks/${encodeURIComponent(key)}`, callers[name])
      t.deepEqual(told.isError ? told.body : told.body.record, body, `${name} ${key}`)
      t.is(told.isError, status !== 200)
    }
  }
})

test('what is masked, excluded or behind a closed relation is refused as what does not exist', async (t) => {
  const answers = async (name: string): Promise<string> => {
    const all = [{ sort: name }, { filter: `${name}=1` }, { select: name }]
    const told = await Promise.all(all.map((given) => ask('reader', 'query_records', given)))
    return JSON.stringify(told).replaceAll(name, 'Name')
  }
  const [unknownPath, unknown] = [await answers('Nothing.Name'), await answers('Nothing')]
  for (const name of ['Hidden', 'IsDeleted']) t.is(await answers(name), unknown, name)
  for (const name of ['Team.Name', 'Team.Secret', 'Vault.Name']) t.is(await answers(name), unknownPath, name)
  t.false((await ask('lead', 'query_records', { select: 'team.name' })).isError)
})

test('records out of scope and deleted ones are missing, for reads and writes alike', async (t) => {
  const [foreign, deleted, missing] = ['2', '5', '99']
  for (const [tool, given] of [
    ['get_record', {}],
    ['update_record', { values: { title: 'mine' } }],
    ['delete_record', {}],
  ] as const) {
    const expected = await ask('writer', tool, { key: missing, ...given })
    t.is(expected.body.status, 404)
    for (const key of [foreign, deleted]) t.deepEqual(await ask('writer', tool, { key, ...given }), expected, tool)
  }
  const { Task } = models
  if (Task === undefined) throw new TypeError('Task')
  t.like(await readStoredRow(Task, 2), { title: 't1', tenantId: 2 })
})

test('an allowlist writes: keys, stamps, scope and what may not be written are ignored or refused as over HTTP', async (t) => {
  const { Task } = models
  if (Task === undefined) throw new TypeError('Task')
  const values = { title: 'new', id: 7000, isDeleted: true, grade: 9, hidden: 'x', createdAt: '2001-01-01', vaultId: 1 }
  const told = await ask('writer', 'create_record', { values })
  const sent = await server.post('/api/tasks', values, callers.writer)
  t.false(told.isError)
  const { id, createdAt: _, updatedAt: __, ...rest } = told.body.record
  t.not(id, 7000)
  t.like(sent.body, rest)
  const row = await readStoredRow(Task, id)
  t.like(row, { title: 'new', tenantId: 1, grade: null, hidden: null })
  t.falsy(row?.isDeleted)
  for (const [tool, given] of [
    ['create_record', { values: { title: 'x', tenantId: 2 } }],
    ['create_record', { values: { title: { toString: 'x' } } }],
    ['create_record', { values: { title: 'x', teamId: 99 } }],
  ] as const) {
    const answer = await server.post('/api/tasks', given.values, callers.writer)
    const { body, isError } = await ask('writer', tool, given)
    t.is(isError, answer.status >= 400)
    if (isError) t.deepEqual(body, answer.body)
    else t.is(body.record.tenantId, 1)
  }
  // A name that means nothing is an error to an agent, and ignored over HTTP.
  const odd: Record<string, unknown> = JSON.parse('{"title":"x","__proto__":{"tenantId":2}}')
  t.is((await server.post('/api/tasks', odd, callers.writer)).body.tenantId, 1)
  const { body, isError } = await ask('writer', 'create_record', { values: odd })
  t.true(isError)
  t.deepEqual(Object.keys(body.errors), ['__proto__'])
})

test('policies decide on each tool as on the operation that it stands for', async (t) => {
  const calls = [
    ['POST', '/api/tasks', 'create_record', { values: { title: 'x' } }],
    ['PATCH', '/api/tasks/1', 'update_record', { key: 1, values: { title: 't0' } }],
    ['DELETE', '/api/tasks/99', 'delete_record', { key: 99 }],
  ] as const
  for (const name of ['anonymous', 'stranger', 'reader'] as const) {
    for (const [method, path, tool, given] of calls) {
      const json = 'values' in given ? { json: given.values } : {}
      const { body, status } = await server.send(method, path, { ...json, headers: callers[name] })
      t.true(status === 401 || status === 403)
      t.deepEqual(await ask(name, tool, given), { isError: true, body })
    }
  }
})

test('lists and descriptions name nothing that the caller could not use', async (t) => {
  const shown = new Map<Name, string>()
  for (const name of names) {
    const list = await agents.get(name)?.call('list_resources')
    t.false(JSON.stringify(list?.body).includes('vaults'), name)
    shown.set(name, JSON.stringify((await ask(name, 'describe_resource', {})).body))
  }
  for (const [name, text] of shown) {
    t.false(/hidden|secret|vault"|isDeleted/.test(text), name)
    // Who may not read it may write it all the same.
    t.is(text.includes('"salary"'), name === 'payroll' || name === 'writer', name)
    t.is(text.includes('"name":"salary"'), name === 'payroll', name)
    t.is(text.includes('"grade"'), !['anonymous', 'stranger'].includes(name), name)
    t.is(text.includes('"team"'), ['lead', 'one', 'both'].includes(name), name)
    t.is(text.includes('"budget"'), name === 'both', name)
    t.is(text.includes('create_record'), name === 'writer', name)
  }
})

test('schemas of bodies name the relations that are open to the caller, at any depth', async (t) => {
  for (const name of ['reader', 'lead'] as const) {
    const agent = await connectAgentOverHttp(`${server.url}/nesting`, callers[name])
    const { body } = await agent.call('describe_resource', { resource: 'companies' })
    const text = JSON.stringify(body)
    t.regex(text, /"branches".*"remark"/, name)
    for (const closed of ['safes', 'combination', 'memorandum']) t.is(text.includes(closed), name === 'lead', closed)
    const { CompanyBranchUpdate: branch } = body.components.schemas
    t.true(Object.hasOwn(branch.properties, 'notes'), name)
  }
})

test('a resource that no tool is for is neither listed nor described, whoever asks', async (t) => {
  for (const name of ['anonymous', 'stranger', 'writer'] as const) {
    const reader = await connectAgentOverHttp(`${server.url}/reading`, callers[name])
    t.deepEqual((await reader.call('list_resources')).body, { resources: [] })
    const { isError, body } = await reader.call('describe_resource', { resource: 'reports' })
    t.true(isError, name)
    t.like(body, { status: 405, detail: 'reports has no operation that a tool supports.' })
    const writer = await connectAgentOverHttp(`${server.url}/writing`, callers[name])
    const listed = name === 'writer' ? [{ name: 'reports', tools: ['create_record'] }] : []
    t.deepEqual((await writer.call('list_resources')).body, { resources: listed })
    t.is((await writer.call('describe_resource', { resource: 'reports' })).isError, name !== 'writer')
  }
})

test('what belongs to the message that brought a call is no part of it', async (t) => {
  const headers = { ...callers.writer, 'If-None-Match': '*', 'If-Match': 'W/"9"', Prefer: 'return=minimal' }
  const agent = await connectAgentOverHttp(`${server.url}/mcp`, headers)
  const { body, isError } = await agent.call('get_record', { resource: 'tasks', key: 1 })
  t.false(isError)
  t.is(body.record.title, 't0')
  const created = await agent.call('create_record', { resource: 'tasks', values: { title: 'whole' } })
  t.is(created.body.record.title, 'whole')
})
