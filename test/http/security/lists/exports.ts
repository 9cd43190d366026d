// An export is a list without pages: whatever a list does not show is in no file either. Each test is named after its rule.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, hasRole, Operations } from '../../../../lib/index.js'
import { readCsv } from '../../../support/csv.js'
import type { Answer } from '../../../support/server.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity } from '../../../support/tokens.js'

const test = ava.serial
const models: Record<string, ModelStatic<Model>> = {}

const server = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING, secret: DataTypes.STRING }, { timestamps: false })
  const Task = sequelize.define('Task', {
    title: DataTypes.STRING,
    tenantId: DataTypes.INTEGER,
    salary: DataTypes.INTEGER,
    hidden: DataTypes.STRING,
  })
  Task.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Object.assign(models, { Team, Task })
  app.use(crudRouter(Team, { identity, fields: { secret: { exclude: true } }, getListPolicy: hasRole('lead') }))
  app.use(
    crudRouter(Task, {
      identity,
      operations: Operations.All + Operations.Export,
      softDelete: true,
      authorizePolicy: hasRole('reader'),
      fields: { hidden: { exclude: true } },
      mask: { salary: 'payroll' },
      scope: ({ identity: caller }) => ({ tenantId: Number(caller?.claims.tenant ?? 0) }),
    }),
  )
})
await models.Team?.bulkCreate([{ name: 'Red', secret: 'x' }])
await models.Task?.bulkCreate(
  Array.from({ length: 1300 }, (_, index) => ({
    ...{ title: `t${index}`, tenantId: (index % 2) + 1, salary: index, hidden: `h${index}`, teamId: 1 },
    ...{ isDeleted: index % 5 === 4 },
  })),
)

test.after.always(() => server.close())

const callers = {
  anonymous: {},
  stranger: bearer({ sub: 'x', tenant: 1 }),
  reader: bearer({ sub: 'one', tenant: 1, roles: ['reader'] }),
  payroll: bearer({ sub: 'two', tenant: 2, roles: ['reader'], permissions: ['payroll'] }),
  lead: bearer({ sub: 'three', tenant: 1, roles: ['reader', 'lead'] }),
}

const ask = (query: string, headers: object, accept: string): Promise<Answer> =>
  server.get(`/api/tasks?${query}`, { ...headers, accept })

test('every read mode uses one set of records and fields: files have those of the list, for each caller', async (t) => {
  for (const query of ['', 'select=id,title,salary', 'filter=Title^t1&sort=-Title', 'includeDeleted=true&select=id']) {
    for (const [name, headers] of Object.entries(callers)) {
      const listed = await ask(`${query}&pageSize=1000`, headers, 'application/json')
      const lines = await ask(query, headers, 'application/jsonl')
      t.is(lines.status, listed.status, `${name} ${query}`)
      if (listed.status !== 200) {
        t.is(lines.text, listed.text)
        continue
      }
      t.is(listed.body.hasNextPage, false)
      t.is(lines.text, listed.body.items.map((item: object) => `${JSON.stringify(item)}\n`).join(''))
      const [head = []] = readCsv((await ask(query, headers, 'text/csv')).text)
      t.deepEqual(head, Object.keys(listed.body.items[0]))
      t.false(lines.text.includes('"hidden"') || /"h\d/.test(lines.text))
    }
  }
})

test('what is masked, excluded or behind a closed relation is refused as what does not exist', async (t) => {
  const answers = async (name: string): Promise<string[]> => {
    const queries = [`sort=${name}`, `filter=${name}=1`]
    const told = await Promise.all(queries.map((query) => ask(query, callers.reader, 'text/csv')))
    return told.map(({ status, text }) => `${status} ${text.replaceAll(name, 'Name')}`)
  }
  const unknown = await answers('Nothing')
  for (const name of ['Salary', 'Hidden', 'IsDeleted', 'Team.Name', 'Team.Secret']) {
    t.deepEqual(await answers(name), unknown, name)
  }
  const closed = await ask('select=id,team.name', callers.reader, 'text/csv')
  t.is(closed.status, 400)
  t.is((await ask('select=id,team.name', callers.lead, 'text/csv')).status, 200)
})

test('answers that differ by caller say so, files as well', async (t) => {
  const { headers } = await ask('', callers.reader, 'text/csv')
  t.regex(headers.get('vary') ?? '', /Authorization/)
  t.regex(headers.get('vary') ?? '', /Accept/)
  t.is(headers.get('cache-control'), 'private')
  const refused = await ask('', callers.anonymous, 'text/csv')
  t.is(refused.status, 401)
  t.is(refused.headers.get('content-type'), 'application/problem+json')
})
