// Pages by `after` and `before`: where a list begins and ends, what its tokens hold, and what they are refused for. That
// pages put together are the whole order is in walks.ts.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter, type KeysetPage, queryOf } from '../../../lib/index.js'
import { list, type Parameters } from '../../support/lists.js'
import { allowUndocumented } from '../../support/replies.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { identity, withPermission } from '../../support/tokens.js'

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING, budget: DataTypes.INTEGER }, plain)
  const Player = sequelize.define(
    'Player',
    {
      name: { type: DataTypes.STRING, allowNull: false },
      level: DataTypes.INTEGER,
      salary: DataTypes.INTEGER,
      rating: DataTypes.INTEGER,
      bio: DataTypes.TEXT,
      after: DataTypes.STRING,
    },
    plain,
  )
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const masked = { identity, mask: { salary: 'payroll' } }
  const fields = { rating: { exclude: 'list' } } as const
  app.use(crudRouter(Team, { fields: { budget: { exclude: 'list' } } }))
  app.use(crudRouter(Player, { ...masked, fields, query: { unknownParameters: ['mine'] } }))
  app.use(crudRouter(Player, { ...masked, fields, route: 'others', query: { defaultSort: '-salary,name' } }))
  app.use(crudRouter(Player, { ...masked, fields, route: 'fixed', query: { sortable: false, defaultSort: '-name' } }))
  return { Team, Player }
})
const { Team, Player } = server
await Team.bulkCreate([
  { name: 'Red', budget: 1 },
  { name: 'Blue', budget: 2 },
])
const levels = [3, null, 1, 3, null]
await Player.bulkCreate(
  ['Ann', 'Bob', 'Cid', 'Dot', 'Eve'].map((name, index) => ({
    ...{ name, level: levels[index], salary: index, rating: 5 - index, bio: name.repeat(index === 2 ? 700 : 1) },
    ...{ after: name, teamId: index === 1 ? null : (index % 2) + 1 },
  })),
)
test.after.always(() => server.close())

const players = (parameters: Parameters): Promise<Answer> => list(server, '/api/players', parameters)

const names = ({ body, text }: Answer): string[] => {
  if (body?.items === undefined) throw new Error(text)
  return body.items.map(({ name }: { name: string }) => name)
}

/** The links of a reply by their relation. */
function linksOf({ headers }: Answer): Record<string, string> {
  const found = [...(headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)]
  return Object.fromEntries(found.map(([, target = '', rel = '']) => [rel, target]))
}

test('after= starts, after=token goes on, before=token goes back, and each page is four members and no total', async (t) => {
  const first = await players({ after: '', sort: '-Level', pageSize: 2, select: 'name' })
  t.is(first.status, 200)
  t.deepEqual(Object.keys(first.body), ['items', 'pageSize', 'nextCursor', 'previousCursor'])
  t.like(first.body, { pageSize: 2, previousCursor: null })
  t.deepEqual(first.body.items, [{ name: 'Dot' }, { name: 'Ann' }])
  t.is(first.headers.get('x-total-count'), null)

  const page: KeysetPage = first.body
  const second = await players({ after: String(page.nextCursor), sort: '-Level', pageSize: 2 })
  t.deepEqual(names(second), ['Cid', 'Eve'])
  const third = await players({ after: second.body.nextCursor, sort: '-Level', pageSize: 2 })
  t.deepEqual(names(third), ['Bob'])
  t.is(third.body.nextCursor, null)

  const back = await players({ before: third.body.previousCursor, sort: '-Level', pageSize: 3 })
  t.deepEqual(names(back), ['Ann', 'Cid', 'Eve'])
  const start = await players({ before: back.body.previousCursor, sort: '-Level', pageSize: 3 })
  t.deepEqual(names(start), ['Dot'])
  t.is(start.body.previousCursor, null)
  // Either cursor serves either parameter.
  t.deepEqual(names(await players({ before: second.body.nextCursor, sort: '-Level', pageSize: 2 })), ['Ann', 'Cid'])
  t.deepEqual(names(await players({ after: second.body.previousCursor, sort: '-Level', pageSize: 2 })), ['Eve', 'Bob'])
})

test('Link leads to the pages around with all other parameters as they were written, and has no first and last', async (t) => {
  const first = await server.get('/api/players?after=&sort=-Level&pageSize=2&mine=a%20b')
  t.deepEqual(Object.keys(linksOf(first)), ['next'])
  const second = await server.get(linksOf(first).next ?? '')
  t.deepEqual(names(second), ['Cid', 'Eve'])
  t.deepEqual(Object.keys(linksOf(second)).sort(), ['next', 'prev'])
  t.true(linksOf(second).prev?.startsWith('/api/players?sort=-Level&pageSize=2&mine=a%20b&before='))
  t.deepEqual(names(await server.get(linksOf(second).prev ?? '')), ['Dot', 'Ann'])
  const third = await server.get(linksOf(second).next ?? '')
  t.deepEqual(Object.keys(linksOf(third)), ['prev'])
})

test('a page that holds everything has no cursor either way and no Link', async (t) => {
  const { body, headers } = await players({ after: '', sort: 'Name', select: 'name' })
  t.like(body, { nextCursor: null, previousCursor: null, pageSize: 20 })
  t.is(headers.get('link'), null)
  const none = await players({ after: '', filter: 'Name=nobody' })
  t.deepEqual(none.body, { items: [], pageSize: 20, nextCursor: null, previousCursor: null })
})

test('an empty page that a token led to gives the way back, the record of the token included', async (t) => {
  const order = { sort: 'Name', pageSize: 2 }
  const { body } = await players({ ...order, after: '', filter: 'Name<Cid' })
  const ann = (await players({ ...order, after: '', pageSize: 1 })).body.nextCursor
  t.is(body.nextCursor, null)
  const end = await players({ ...order, after: ann, filter: 'Name=Ann' })
  t.deepEqual(end.body.items, [])
  t.is(end.body.nextCursor, null)
  t.deepEqual(names(await players({ ...order, before: end.body.previousCursor })), ['Ann'])
  const beginning = await players({ ...order, before: ann })
  t.deepEqual(beginning.body.items, [])
  t.is(beginning.body.previousCursor, null)
  t.deepEqual(names(await players({ ...order, after: beginning.body.nextCursor })), ['Ann', 'Bob'])
})

test('the order is that of the list: sortBy, the default sort, a fixed order', async (t) => {
  const second = async (path: string, parameters: Parameters, headers = {}): Promise<string[]> => {
    const get = (token: string): Promise<Answer> =>
      server.get(`${path}?${new URLSearchParams({ ...parameters, after: token, pageSize: '2' })}`, headers)
    return names(await get((await get('')).body.nextCursor))
  }
  t.deepEqual(await second('/api/players', {}), ['Cid', 'Dot'])
  t.deepEqual(await second('/api/players', { sortBy: 'name', sortDirection: 'desc' }), ['Cid', 'Bob'])
  t.deepEqual(await second('/fixed', {}), ['Cid', 'Bob'])
  t.is((await server.get('/fixed?sort=Name&after=')).body.code, 'unknown-parameter')
  t.deepEqual(await second('/others', {}, withPermission('payroll')), ['Cid', 'Bob'])
  // Who may not see a key of the default sort is shown an order without it.
  t.deepEqual(await second('/others', {}), ['Cid', 'Dot'])
})

test('both parameters at once are 400, unless before is empty', async (t) => {
  const token = (await players({ after: '', pageSize: 1 })).body.nextCursor
  for (const after of ['', token]) {
    const { status, body } = await players({ after, before: token })
    t.is(status, 400)
    t.like(body, { title: 'Invalid query.', errors: { before: ['cannot be combined with the parameter "after".'] } })
  }
  t.deepEqual(names(await players({ after: token, before: '', pageSize: 1 })), ['Bob'])
  t.is((await players({ before: '' })).body.totalCount, 5)
})

test('count and cursor win over after and before, which are then not looked at', async (t) => {
  t.deepEqual((await players({ after: 'x', before: 'y', count: true })).body, { count: 5 })
  t.deepEqual(Object.keys((await players({ after: 'x', cursor: '' })).body), ['items', 'nextCursor', 'pageSize'])
  // A page that has no number looks at none.
  t.is((await players({ after: '', page: 'x', count: 'none' })).status, 200)
  for (const parameters of [{ pageSize: 'x' }, { pageSize: 1001 }, { select: 'x' }, { sort: 'x' }, { filter: 'x=1' }]) {
    t.is((await players({ after: '', ...parameters })).status, 400, JSON.stringify(parameters))
  }
})

test('a token of another order, another resource or none is 400, and so is one with any character changed', async (t) => {
  const token: string = (await players({ after: '', sort: 'Name', pageSize: 1 })).body.nextCursor
  t.is((await players({ after: token, sort: 'Name' })).status, 200)
  t.is((await players({ after: token, sort: 'Name,Id' })).status, 200)
  const cursor: string = (await players({ cursor: '', pageSize: 1 })).body.nextCursor
  const refused: readonly (readonly [string, Parameters])[] = [
    ['/api/players', { after: token }],
    ['/api/players', { after: token, sort: '-Name' }],
    ['/api/players', { after: token, sort: 'Name,Level' }],
    ['/api/players', { after: token, sort: 'Name,-Id' }],
    ['/others', { after: token, sort: 'Name' }],
    ['/api/players', { after: cursor }],
    ['/api/players', { cursor: token }],
    ['/api/players', { after: 'x'.repeat(3000), sort: 'Name' }],
    ...['=', ' ', '~', 'null', '🎲', 'e30'].map((after) => ['/api/players', { after, sort: 'Name' }] as const),
  ]
  for (const [path, parameters] of refused) {
    for (const parameter of 'cursor' in parameters ? ['cursor'] : ['after', 'before']) {
      const { after, ...others } = parameters
      const { status, body } = await list(
        server,
        path,
        after === undefined ? others : { ...others, [parameter]: after },
      )
      t.is(status, 400, JSON.stringify(parameters))
      t.is(body.code, 'invalid-query')
    }
  }
  for (let at = 0; at < token.length; at += 1) {
    const other = token[at] === 'A' ? 'B' : 'A'
    const damaged = token.slice(0, at) + other + token.slice(at + 1)
    const { status, body } = await players({ after: damaged, sort: 'Name' })
    t.is(status, 400, `${at}`)
    t.deepEqual(body.errors, { after: ['is not a cursor of this resource and order.'] })
  }
})

test('a sort key that is in no list item of the caller, or behind a path in none of the target, is 400', async (t) => {
  for (const sort of ['Rating', 'Name,-Rating', 'Team.Budget']) {
    t.is((await players({ sort })).status, 200)
    const { status, body } = await players({ after: '', sort })
    t.is(status, 400)
    t.deepEqual(body.errors, {
      after: ['cannot be used with this sort, because the records of the list do not contain a sort field.'],
    })
  }
  t.is((await players({ after: '', sort: 'Team.Name' })).status, 200)
})

test('a masked field is an unknown one here too, and a token that was made by whoever may see it is of another order', async (t) => {
  const salary = '/api/players?sort=Salary&pageSize=1&after='
  t.like((await server.get(salary)).body, { status: 400, title: 'Unknown field.' })
  const seen = await server.get(salary, withPermission('payroll'))
  t.is(seen.status, 200)
  t.is((await server.get(salary + seen.body.nextCursor)).status, 400)
  const sorted = await server.get('/others?after=&pageSize=1', withPermission('payroll'))
  t.is((await server.get(`/others?pageSize=1&after=${sorted.body.nextCursor}`)).status, 400)
})

test('a record whose values fit into no token is 400 that names the field, where another page is needed', async (t) => {
  const { status, body } = await players({ after: '', sort: 'Bio', pageSize: 3 })
  t.is(status, 400)
  t.deepEqual(body.errors, {
    after: [
      'cannot continue after this page, because a value of "bio" is too long for a cursor. Sort by other fields.',
    ],
  })
  t.is((await players({ after: '', sort: 'Bio', pageSize: 2 })).status, 200)
  t.is((await players({ after: '', sort: 'Bio', pageSize: 5 })).status, 200)
})

test('after and before are parameters of every list: fields of these names have none, and stay in filters', async (t) => {
  t.is((await players({ after: 'Ann' })).status, 400)
  t.deepEqual(names(await players({ filter: 'After=Ann' })), ['Ann'])
})

test('queryOf gives the options of the page: nearest first where it goes back', async (t) => {
  const { Player } = server
  const { toFindOptions } = queryOf(Player, { fields: { rating: { exclude: 'list' } } })
  const { body } = await players({ after: '', sort: '-Name', pageSize: 3 })
  const found = async (query: Record<string, unknown>): Promise<unknown[]> =>
    (await Player.findAll(toFindOptions({ sort: '-Name', pageSize: 2, ...query }))).map((row) => row.get('name'))
  t.deepEqual(await found({ after: '' }), ['Eve', 'Dot'])
  t.deepEqual(await found({ after: body.nextCursor }), ['Bob', 'Ann'])
  t.deepEqual(await found({ before: body.nextCursor }), ['Dot', 'Eve'])
  t.throws(() => toFindOptions({ after: `${body.nextCursor}A`, sort: '-Name' }), { name: 'Problem' })
})

test('a page behind a token reads no key of its order twice, and on SQLite is not planned by its size', async (t) => {
  // Of its own, since the statements of others are not to be among those that are looked at.
  const own = await openStage(({ sequelize }, app) => {
    const attributes = { name: DataTypes.STRING, level: DataTypes.INTEGER }
    const Row = sequelize.define('Row', attributes, { timestamps: false })
    app.use(crudRouter(Row))
    return { Row }
  })
  const { Row } = own
  await Row.bulkCreate([...'abcde'].map((name, level) => ({ name, level })))
  t.teardown(own.close)
  const statementOf = async (parameters: Parameters): Promise<string> => {
    own.statements.length = 0
    t.is((await list(own, '/api/rows', parameters)).status, 200)
    t.is(own.statements.length, 1)
    return own.statements.join()
  }
  const { body } = await list(own, '/api/rows', { after: '', sort: '-level', pageSize: 2 })
  const read = await statementOf({ after: body.nextCursor, sort: '-level', pageSize: 2 })
  t.notRegex(read, /_k\d/)
  if (own.name === 'sqlite') t.regex(read, / LIMIT \+[?$]?\d/)
  t.regex(await statementOf({ after: '', sort: 'name', pageSize: 2 }), /_k0/, 'a text is read without loss for itself')
})

test('a walk in the order of whole numbers leaves none out, those beyond the ones that JavaScript counts neither', async (t) => {
  const levels = [3, '9007199254740992', '9007199254740993', '9007199254740994', '-9007199254740993', 'NULL', 7]
  // What the model calls an INTEGER has 32 bits elsewhere.
  if ((process.env.TEST_DATABASE ?? 'sqlite') !== 'sqlite') return t.pass()
  const rows = await openStage(({ sequelize }, app) => {
    app.use(crudRouter(sequelize.define('Row', { level: DataTypes.INTEGER }, { timestamps: false })))
    // These are no numbers of such a column for documents.
    allowUndocumented(app)
  })
  t.teardown(rows.close)
  for (const level of levels) await rows.sequelize.query(`INSERT INTO "Rows" (level) VALUES (${level})`)
  const idsOf = ({ body }: Answer): number[] => body.items.map(({ id }: { id: number }) => id)
  for (const sort of ['level', '-level', 'level,-id']) {
    const whole = idsOf(await list(rows, '/api/rows', { sort, pageSize: 100 }))
    const walked: number[] = []
    for (let after: string | null = ''; after !== null && walked.length < 20; ) {
      const answer = await list(rows, '/api/rows', { sort, pageSize: 1, after })
      walked.push(...idsOf(answer))
      after = answer.body.nextCursor
    }
    t.deepEqual(walked, whole)
  }
})
