// Pages by number with a total and without.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudController, crudRouter } from '../../../lib/index.js'
import { serveLeague } from '../../support/league.js'
import { list, type Parameters } from '../../support/lists.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Club = sequelize.define('Club', { name: DataTypes.STRING }, plain)
  const attributes = { name: DataTypes.STRING, points: DataTypes.INTEGER }
  const Runner = sequelize.define('Runner', attributes, plain)
  const Hooked = sequelize.define('Hooked', attributes, plain)
  const Uncounted = sequelize.define('Uncounted', attributes, plain)
  // With a find hook the reads go through Sequelize's own findAll and count.
  Hooked.addHook('beforeFind', () => undefined)
  Runner.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
  Club.hasMany(Runner, { as: 'runners', foreignKey: 'clubId' })
  app.use(crudRouter(Club))
  app.use(crudRouter(Runner))
  app.use(crudRouter(Hooked, { route: 'hooked' }))
  app.use(crudRouter(Uncounted, { route: 'uncounted', query: { total: 'none' } }))
  app.get('/own', crudController(Uncounted, { query: { total: 'none' } }).getList)
  return { Club, Runner, Hooked, Uncounted }
})
const { Club, Runner, Hooked, Uncounted } = server
await Club.bulkCreate([{ name: 'Red' }, { name: 'Blue' }])
const rows = Array.from({ length: 7 }, (_, index) => ({ name: `r${index + 1}`, points: index % 3 }))
await Runner.bulkCreate(rows.map((row, index) => ({ ...row, clubId: (index % 2) + 1 })))
await Hooked.bulkCreate(rows)
await Uncounted.bulkCreate(rows)
test.after.always(() => server.close())

/** Parameters that make statements of different kinds, all with seven records. */
const SEVEN: readonly Parameters[] = [
  {},
  { filter: 'Name^r' },
  { select: 'Name' },
  { sort: '-Points,Name', filter: 'Points>=0' },
]

const SOURCES = [
  ['/api/runners', { count: 'none' }],
  ['/api/runners', { count: 'NONE' }],
  ['/hooked', { count: 'none' }],
  ['/uncounted', {}],
  ['/uncounted', { count: 'false' }],
  ['/uncounted', { count: '' }],
  ['/uncounted', { count: 'none' }],
  ['/own', {}],
] as const

for (const [path, counting] of SOURCES) {
  const name = `${path}?${new URLSearchParams(counting)}`

  test.serial(`a page of ${name} has no total and knows by one record more whether another follows`, async (t) => {
    for (const parameters of SEVEN) {
      for (const [page, pageSize, items, hasNextPage] of [
        [1, 3, 3, true],
        [2, 3, 3, true],
        [3, 3, 1, false],
        [4, 3, 0, false],
        [1, 7, 7, false],
        [1, 6, 6, true],
        [1, 8, 7, false],
      ] as const) {
        const { status, body, text, headers } = await list(server, path, { ...parameters, ...counting, page, pageSize })
        t.is(status, 200, text)
        t.deepEqual(
          { ...body, items: body.items.length },
          {
            items,
            totalCount: null,
            page,
            pageSize,
            totalPages: null,
            hasNextPage,
            hasPreviousPage: page > 1,
          },
        )
        t.is(headers.get('x-total-count'), null)
        const before = /page=(\d+)>; rel="prev"/.exec(headers.get('link') ?? '')?.[1]
        t.is(before, page > 1 ? String(page - 1) : undefined)
      }
    }
  })

  test.serial(`a page of ${name} runs one statement, which counts nothing`, async (t) => {
    for (const parameters of SEVEN) {
      for (const page of [1, 2, 4]) {
        server.statements.length = 0
        await list(server, path, { ...parameters, ...counting, page, pageSize: 3 })
        t.is(server.statements.length, 1)
        t.notRegex(server.statements[0] ?? '', /count\s*\(/i)
      }
    }
  })
}

test.serial('a page with a total counts, so that the assertion above can fail', async (t) => {
  for (const [path, counting] of [
    ['/api/runners', {}],
    ['/api/runners', { count: 'exact' }],
    ['/hooked', {}],
    ['/uncounted', { count: 'exact' }],
    ['/uncounted', { count: 'Exact' }],
  ] as const) {
    server.statements.length = 0
    const { body, headers } = await list(server, path, { ...counting, pageSize: 3 })
    t.like(body, { totalCount: 7, totalPages: 3, hasNextPage: true })
    t.is(headers.get('x-total-count'), '7')
    t.true(server.statements.some((sql) => /count\s*\(/i.test(sql)))
  }
})

test.serial(
  'a page tells its total by itself where it is not full, else by one statement as soon as pages are',
  async (t) => {
    const at = async (most: number): Promise<readonly [total: unknown, statements: number]> => {
      server.statements.length = 0
      const { body } = await list(server, '/api/runners', { filter: `Points<=${most}`, pageSize: 4, sort: 'Name' })
      return [body.totalCount, server.statements.length]
    }
    t.deepEqual(await at(0), [3, 1], 'by itself')
    for (const _ of [1, 2, 3]) t.deepEqual(await at(2), [7, 2], 'one that is full')
    // A statement that is written anew knows of no page before it.
    const full = isFast ? 1 : 2
    t.deepEqual(await at(1), [5, full], 'after three that were full')
    t.deepEqual(await at(2), [7, full])
    t.deepEqual(await at(0), [3, 1], 'one that is not full again')
    t.deepEqual(await at(2), [7, 2])
  },
)

test.serial(
  'pages without a total hold what those with one hold, relation paths and counted collections included',
  async (t) => {
    for (const [path, parameters] of [
      ['/api/runners', { filter: 'Club.Name=Red', sort: '-Club.Name,-Points', select: 'Name,Club.Name' }],
      ['/api/clubs', { sort: '-Name', filter: 'Runners.Count(Points>0)>0' }],
    ] as const) {
      for (const page of [1, 2, 3]) {
        const exact = await list(server, path, { ...parameters, page, pageSize: 2 })
        const none = await list(server, path, { ...parameters, page, pageSize: 2, count: 'none' })
        t.is(none.status, 200, none.text)
        t.deepEqual(none.body, { ...exact.body, totalCount: null, totalPages: null })
      }
    }
  },
)

test.serial('the Link of a page without a total leads back and on, and to no last page', async (t) => {
  const links = async (page: number): Promise<readonly string[]> => {
    const { headers } = await list(server, '/api/runners', { count: 'none', pageSize: 3, page })
    return (headers.get('link') ?? '').split(', ')
  }
  const to = (page: number, rel: string): string => `</api/runners?count=none&pageSize=3&page=${page}>; rel="${rel}"`
  t.deepEqual(await links(1), [to(1, 'first'), to(2, 'next')])
  t.deepEqual(await links(2), [to(1, 'first'), to(1, 'prev'), to(3, 'next')])
  t.deepEqual(await links(3), [to(1, 'first'), to(2, 'prev')])
  t.deepEqual(await links(9), [to(1, 'first'), to(8, 'prev')])
})

test.serial(
  'a cursor has no total to begin with, so that count=none and count=exact change nothing about it',
  async (t) => {
    const plain = await list(server, '/api/runners', { cursor: '', pageSize: 3 })
    for (const count of ['none', 'exact']) {
      const { status, body } = await list(server, '/api/runners', { cursor: '', pageSize: 3, count })
      t.is(status, 200)
      t.deepEqual(body, plain.body)
    }
  },
)

test.serial('count=true is the number alone, whatever pages do', async (t) => {
  const { body, headers } = await list(server, '/uncounted', { count: 'true' })
  t.deepEqual(body, { count: 7 })
  t.is(headers.get('x-total-count'), '7')
})

test.serial('a page without a total stays within scope and mask', async (t) => {
  const league = await serveLeague({
    player: { scope: () => ({ teamId: 1 }), mask: { salary: 'pay' }, identity: () => null },
  })
  try {
    const { status, body, text } = await list(league, '/api/players', { count: 'none', pageSize: 1 })
    t.is(status, 200, text)
    t.like(body, { totalCount: null, hasNextPage: true })
    t.is(body.items[0].salary, null)
    const second = await list(league, '/api/players', { count: 'none', pageSize: 1, page: 2 })
    t.like(second.body, { totalCount: null, hasNextPage: false, items: { length: 1 } })
    t.is((await list(league, '/api/players', { count: 'none', filter: 'Salary>1' })).status, 400)
  } finally {
    await league.close()
  }
})

for (const total of ['some', true, 0, null] as const) {
  test.serial(`query.total ${total} is refused when the router is created`, (t) => {
    const error = t.throws(() => crudRouter(server.Runner, { query: { total: total as never } }))
    t.regex(error?.message ?? '', /query: the option "total" must be "exact" or "none"/)
  })
}
