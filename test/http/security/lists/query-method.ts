// A list that is asked for by a body is the list: nothing is shown to anybody that the URL would not have shown. Each test is
// named after its rule.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, hasRole, Operations } from '../../../../lib/index.js'
import type { Answer } from '../../../support/server.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity } from '../../../support/tokens.js'

const test = ava.serial
const models: Record<string, ModelStatic<Model>> = {}

const server = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING }, { timestamps: false })
  const Task = sequelize.define('Task', {
    title: DataTypes.STRING,
    tenantId: DataTypes.INTEGER,
    salary: DataTypes.INTEGER,
    hidden: DataTypes.STRING,
  })
  Task.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Team.hasMany(Task, { as: 'tasks', foreignKey: 'teamId' })
  Object.assign(models, { Team, Task })
  app.use(crudRouter(Team, { identity, getListPolicy: hasRole('lead'), relations: { tasks: { routes: true } } }))
  app.use(
    crudRouter(Task, {
      query: { unknownParameters: 'ignore' },
      identity,
      operations: Operations.All | Operations.Export | Operations.Aggregate,
      softDelete: true,
      authorizePolicy: hasRole('reader'),
      exportPolicy: hasRole('exporter'),
      aggregatePolicy: hasRole('analyst'),
      fields: { hidden: { exclude: true } },
      mask: { salary: 'payroll' },
      scope: ({ identity: caller }) => ({ tenantId: Number(caller?.claims.tenant ?? 0) }),
    }),
  )
})
await models.Team?.bulkCreate([{ name: 'Red' }])
await models.Task?.bulkCreate(
  Array.from({ length: 40 }, (_, index) => ({
    ...{ title: `t${index}`, tenantId: (index % 2) + 1, salary: index, hidden: `h${index}`, teamId: 1 },
    ...{ isDeleted: index % 5 === 4 },
  })),
)

test.after.always(() => server.close())

const callers = {
  anonymous: {},
  stranger: bearer({ sub: 'x', tenant: 1 }),
  reader: bearer({ sub: 'one', tenant: 1, roles: ['reader'] }),
  payroll: bearer({ sub: 'two', tenant: 2, roles: ['reader', 'exporter'], permissions: ['payroll'] }),
  lead: bearer({ sub: 'three', tenant: 1, roles: ['reader', 'lead', 'analyst'] }),
}

const QUERIES: readonly Readonly<Record<string, string>>[] = [
  { sort: '-Title' },
  { select: 'id,title,salary' },
  { filter: 'Salary>3' },
  { salary: '3' },
  { filter: 'Hidden=h1' },
  { sort: 'Hidden' },
  { filter: 'Team.Name=Red' },
  { includeDeleted: 'true' },
  { count: 'true' },
  { aggregate: 'count' },
  { aggregate: 'max(Salary)' },
  { format: 'csv' },
  { format: 'jsonl', select: 'id,team.name' },
  { keys: '1,2,3,4,5,6' },
]

const toldBy = ({ status, text, headers }: Answer): unknown => ({
  status,
  text,
  vary: headers.get('vary'),
  control: headers.get('cache-control'),
  challenge: headers.get('www-authenticate'),
})

test('each caller is answered by a body as by the URL, with the policy of what the body asks for', async (t) => {
  for (const path of ['/api/tasks', '/api/teams/1/tasks']) {
    for (const [name, headers] of Object.entries(callers)) {
      for (const parameters of QUERIES) {
        const text = new URLSearchParams(parameters).toString()
        const usual = await server.get(`${path}?${text}`, headers)
        for (const asked of [
          { json: parameters, headers },
          { body: text, headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' } },
        ]) {
          t.deepEqual(toldBy(await server.send('QUERY', path, asked)), toldBy(usual), `${path} ${name} ${text}`)
        }
      }
    }
  }
})

test('a body that says nothing is refused only to those who may ask', async (t) => {
  const broken = (headers: Record<string, string>): Promise<Answer> =>
    server.send('QUERY', '/api/tasks', { body: '{', headers: { ...headers, 'content-type': 'application/json' } })
  t.is((await broken({})).status, 401)
  t.is((await broken(callers.stranger)).status, 403)
  t.is((await broken(callers.reader)).status, 400)
})

test('names of prototypes are names like any other', async (t) => {
  const usual = await server.send('QUERY', '/api/tasks', { json: { page: 1 }, headers: callers.reader })
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const body = `{"page":1,"${name}":"x"}`
    const headers = { ...callers.reader, 'content-type': 'application/json' }
    t.is((await server.send('QUERY', '/api/tasks', { body, headers })).text, usual.text, name)
    const nested = `{"page":1,"${name}":{"page":2}}`
    t.is((await server.send('QUERY', '/api/tasks', { body: nested, headers })).status, 400, name)
  }
})

test('a URL in the body of a URL adds nothing to it: what separates parameters there is text in JSON', async (t) => {
  const { body } = await server.send('QUERY', '/api/tasks', {
    json: { filter: 'Title=t0&includeDeleted=true#&pageSize=1' },
    headers: callers.reader,
  })
  t.is(body.totalCount, 0)
  const form = { ...callers.reader, 'content-type': 'application/x-www-form-urlencoded' }
  const cut = await server.send('QUERY', '/api/tasks?a=b', { body: 'filter=Title=t0#&pageSize=1', headers: form })
  t.is(cut.body.totalCount, 0)
  t.is(cut.body.pageSize, 1)
})
