// Pages by `after` and `before`, whose tokens hold values of records and come back from whoever likes to make one. Each test
// is named after its rule.

import ava from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { createSortSignature, encodeCursorToken } from '../../../../lib/common/cursorToken.js'
import { crudRouter, hasRole } from '../../../../lib/index.js'
import type { CursorValue } from '../../../../types/plan.js'
import { databaseName } from '../../../support/database.js'
import { list, type Parameters } from '../../../support/lists.js'
import type { Answer } from '../../../support/server.js'
import { openStage } from '../../../support/stage.js'
import { bearer, identity } from '../../../support/tokens.js'

const test = ava.serial
const unexpected: unknown[] = []

const models: Record<string, ModelStatic<Model>> = {}

const server = await openStage(({ sequelize }, app) => {
  const Team = sequelize.define('Team', { name: DataTypes.STRING, secret: DataTypes.STRING }, { timestamps: false })
  const Task = sequelize.define('Task', {
    title: DataTypes.STRING,
    tenantId: DataTypes.INTEGER,
    salary: DataTypes.INTEGER,
    price: DataTypes.DECIMAL(10, 2),
    ratio: DataTypes.DOUBLE,
    size: DataTypes.BIGINT,
    done: DataTypes.BOOLEAN,
    at: DataTypes.DATE(3),
    day: DataTypes.DATEONLY,
    time: DataTypes.TIME,
    tag: DataTypes.UUID,
    kind: DataTypes.ENUM('a', 'b'),
  })
  Task.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  Object.assign(models, { Team, Task })
  const onError = (error: unknown): number => unexpected.push(error)
  app.use(crudRouter(Team, { identity, getListPolicy: hasRole('lead'), getByIdPolicy: hasRole('lead'), onError }))
  app.use(
    crudRouter(Task, {
      identity,
      onError,
      softDelete: true,
      getListPolicy: hasRole('reader'),
      mask: { salary: 'payroll' },
      scope: ({ identity: caller }) => ({ tenantId: Number(caller?.claims.tenant ?? 0) }),
    }),
  )
})
await models.Team?.bulkCreate([{ name: 'Red' }, { name: 'Blue' }])
await models.Task?.bulkCreate(
  Array.from({ length: 12 }, (_, index) => ({
    ...{ title: `t${index % 3}`, tenantId: (index % 2) + 1, salary: index, teamId: (index % 2) + 1 },
    ...{ isDeleted: index % 5 === 4 },
  })),
)
test.after.always(() => server.close())

const one = bearer({ sub: 'one', tenant: 1, roles: ['reader'] })
const two = bearer({ sub: 'two', tenant: 2, roles: ['reader'] })
const lead = bearer({ sub: 'three', tenant: 1, roles: ['reader', 'lead'] })

function tasks(parameters: Parameters, headers: Record<string, string> = one): Promise<Answer> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) query.append(name, String(value))
  return server.get(`/api/tasks?${query}`, headers)
}

const ids = ({ body, text }: Answer): unknown[] => {
  if (body?.items === undefined) throw new Error(text)
  return body.items.map(({ id }: { id: unknown }) => id)
}

/** A number as the database's tokens have it. */
const NOTHING = databaseName === 'mariadb' || databaseName === 'mysql' ? 0 : '0'

/** A token that says whatever one likes, of an order of one field, as anybody can make it. */
function forged(order: readonly string[], values: readonly unknown[]): string {
  const mark = createSortSignature(['Task', '/api/tasks', ...order])
  return encodeCursorToken(mark, { inclusive: true, values: values as readonly CursorValue[] })
}

test('every mode of a list uses one set of records: scope, soft delete and policies hold behind every token', async (t) => {
  t.is((await server.get('/api/tasks?after=')).status, 401)
  t.is((await tasks({ after: '' }, bearer({ sub: 'x', tenant: 1 }))).status, 403)
  for (const [headers, own] of [
    [one, [1, 3, 7, 9, 11]],
    [two, [2, 4, 6, 8, 12]],
  ] as const) {
    const seen: unknown[] = []
    for (let after: string | null = ''; after !== null; ) {
      const page: Answer = await tasks({ after, sort: '-Title', pageSize: 2 }, headers)
      seen.push(...ids(page))
      after = page.body.nextCursor
    }
    t.deepEqual(
      seen.map(Number).sort((a, b) => a - b),
      own,
    )
  }
  // A token of somebody else's record leads into one's own.
  const theirs = (await tasks({ after: '', sort: 'Title', pageSize: 3 }, two)).body.nextCursor
  const behind = ids(await tasks({ after: theirs, sort: 'Title' }))
  t.true(behind.length > 0 && behind.every((id) => Number(id) % 2 === 1))
  t.deepEqual(ids(await tasks({ after: forged(['id.asc'], [NOTHING]) })), [1, 3, 7, 9, 11])
  t.is((await tasks({ after: '', includeDeleted: true })).body.items.length, 6)
})

test('a field that the caller may not read orders nothing, so that no token says it', async (t) => {
  const known = await tasks({ after: '', sort: 'Nothing' })
  const masked = await tasks({ after: '', sort: 'Salary' })
  t.is(masked.status, 400)
  t.is(masked.text, known.text.replaceAll('Nothing', 'Salary'))
  // A token is no way around it.
  const made = forged(['salary.asc', 'id.asc'], [3, 1])
  t.is((await tasks({ after: made, sort: 'Salary' })).text, masked.text)
  t.is((await tasks({ after: made })).status, 400)
  const closed = await tasks({ after: '', sort: 'Team.Name' })
  t.is(closed.text, (await tasks({ after: '', sort: 'Team.Nothing' })).text.replaceAll('Nothing', 'Name'))
  t.is((await tasks({ after: '', sort: 'Team.Name' }, lead)).status, 200)
})

test('what a token says is data: it is compared, or refused as 400, whatever it is', async (t) => {
  const fields = ['title', 'price', 'ratio', 'size', 'done', 'at', 'day', 'time', 'tag', 'kind', 'id']
  const values = [
    ...["'; DROP TABLE Tasks; --", '1 OR 1=1', '', 'null', 'NaN', '\u0000', '9'.repeat(400), '1e999', '\ud800', '%'],
    ...['2026-02-31', 'infinity', '😀', '-', '0x10', 0, -1, 1.5, 1e308, 2 ** 53, null, true, {}, []],
  ]
  for (const field of fields) {
    for (const value of values) {
      const order = field === 'id' ? ['id.asc'] : [`${field}.asc`, 'id.asc']
      const after = forged(order, field === 'id' ? [value] : [value, 1])
      const { status, text } = await tasks({ after, sort: field })
      t.true(status === 200 || status === 400, `${field} ${JSON.stringify(value)}: ${status} ${text}`)
    }
  }
  for (const said of [[], [1, 2, 3], ['a', '1', '1']]) {
    t.is((await tasks({ after: forged(['title.asc', 'id.asc'], said), sort: 'Title' })).status, 400)
  }
  t.deepEqual(unexpected, [])
  t.is(await models.Task?.count(), 12)
})

test('a cursor token is looked up nowhere: names of prototypes and half a token are invalid', async (t) => {
  for (const after of ['__proto__', 'constructor', 'toString', forged(['id.asc'], ['1']).slice(0, -3)]) {
    t.is((await tasks({ after })).status, 400)
  }
  t.is((await list(server, '/api/tasks', { after: '' })).status, 401)
})

test('a NUL in a token is a value too where Sequelize writes the statement, for a model with find hooks', async (t) => {
  const stage = await openStage(({ sequelize }, app) => {
    const Sheet = sequelize.define('Sheet', { title: DataTypes.STRING }, { timestamps: false })
    Sheet.addHook('beforeFind', () => undefined)
    app.use(crudRouter(Sheet))
    return { Sheet }
  })
  t.teardown(stage.close)
  await stage.Sheet.bulkCreate([{ title: 'a' }, { title: 'b' }])
  const mark = createSortSignature(['Sheet', '/api/sheets', 'title.asc', 'id.asc'])
  for (const [title, most] of [
    ['\u0000', 2],
    ['a\u0000', 1],
    ["'\u0000", 2],
  ] as const) {
    const after = encodeCursorToken(mark, { inclusive: true, values: [title, 1] })
    const { status, body, text } = await stage.get(`/api/sheets?${new URLSearchParams({ after, sort: 'title' })}`)
    t.true(status === 200 || status === 400, text)
    if (stage.name === 'sqlite') t.is(body.items?.length, most, text)
  }
})
