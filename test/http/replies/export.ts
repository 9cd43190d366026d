// Exports: all records of a list as CSV or as a record a line, asked for by `Accept` or by `format`.

import { get as httpGet, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import ava from 'ava'
import express from 'express'
import { DataTypes } from 'sequelize'
import { crudController, crudRouter, hasRole, Operations } from '../../../lib/index.js'
import { readCsv } from '../../support/csv.js'
import { list, type Parameters } from '../../support/lists.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity, withPermission } from '../../support/tokens.js'

const test = ava.serial

const RECORDS = 1203
const TEXTS = ['', null, 'plain', 'a,b', 'say "so"', 'two\r\nlines', ' blank ', '漢😀', "'quoted", '-', 'x=1'] as const
const errors: unknown[] = []
const statements: string[] = []
let finds = 0

const server = await openStage(
  ({ sequelize }, app) => {
    const plain = { timestamps: false }
    const Team = sequelize.define('Team', { name: DataTypes.STRING, budget: DataTypes.INTEGER }, plain)
    const Row = sequelize.define(
      'Row',
      {
        name: DataTypes.STRING,
        level: DataTypes.INTEGER,
        big: DataTypes.BIGINT,
        price: DataTypes.DECIMAL(20, 4),
        active: DataTypes.BOOLEAN,
        at: DataTypes.DATE(3),
        meta: DataTypes.JSON,
        secret: DataTypes.STRING,
      },
      plain,
    )
    const Hooked = sequelize.define('Hooked', { name: DataTypes.STRING, level: DataTypes.INTEGER }, plain)
    Hooked.addHook('beforeFind', () => undefined)
    const Breaking = sequelize.define('Breaking', { name: DataTypes.STRING }, plain)
    Breaking.addHook('beforeFind', () => {
      finds += 1
      if (finds > 1) throw new Error('the second page breaks')
    })
    const Wide = sequelize.define('Wide', { text: DataTypes.TEXT }, plain)
    Row.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    const operations = Operations.All + Operations.Export
    const onError = (error: unknown): number => errors.push(error)
    app.use(crudRouter(Team))
    const guarded = { operations, onError, identity, mask: { secret: 'secrets' } }
    app.use(crudRouter(Row, { ...guarded, query: { pageSize: 3 } }))
    app.use(
      crudRouter(Row, {
        ...guarded,
        route: 'few',
        operations: operations + Operations.Aggregate,
        limits: { exportItems: 600 },
      }),
    )
    app.use(crudRouter(Row, { ...guarded, route: 'fewer', limits: { exportItems: 20 } }))
    app.use(crudRouter(Row, { route: 'kept', operations, export: { formulas: 'keep' } }))
    app.use(crudRouter(Row, { route: 'without' }))
    app.use(crudRouter(Row, { route: 'alone', operations: ['export'] }))
    app.use(crudRouter(Row, { route: 'odd/rows~v1.2-a_b~', operations }))
    app.use('/root', crudRouter(Row, { route: '/', names: { list: 'Line' }, operations }))
    app.use(crudRouter(Hooked, { route: 'hooked', operations }))
    app.use(crudRouter(Breaking, { route: 'breaking', operations, onError }))
    app.use(crudRouter(Wide, { route: 'wide', operations, onError }))
    const policies = { identity, getListPolicy: hasRole('reader') }
    app.use(crudRouter(Row, { ...policies, route: 'read', operations }))
    app.use(crudRouter(Row, { ...policies, route: 'exported', operations, exportPolicy: hasRole('exporter') }))
    const { export: exported, getList } = crudController(Row, { operations })
    app.use('/own', express.Router().get('/', getList).get('/file', exported))
    return { Team, Row, Hooked, Breaking, Wide }
  },
  { sequelize: { logging: (sql) => statements.push(sql) } },
)
const { Team, Row, Hooked, Breaking, Wide } = server
await Breaking.bulkCreate(Array.from({ length: 600 }, (_, index) => ({ name: `b${index}` })))
await Team.bulkCreate([
  { name: 'Red', budget: 1 },
  { name: null, budget: 2 },
])
await Row.bulkCreate(
  Array.from({ length: RECORDS }, (_, index) => ({
    ...{ name: TEXTS[index % TEXTS.length], level: index % 7 === 0 ? null : index % 5, secret: `s${index}` },
    ...{ big: index === 0 ? '-9007199254740993' : index, price: `${-index}.25`, active: index % 3 === 0 },
    ...{ at: new Date(Date.UTC(2026, 0, 1, 0, 0, index, 123)), meta: index % 2 ? { a: [index] } : null },
    teamId: [1, 2, null][index % 3],
  })),
)
await Hooked.bulkCreate(Array.from({ length: RECORDS }, (_, index) => ({ name: `h${index}`, level: index % 4 })))
const wide = Array.from({ length: 500 }, (_, index) => ({ text: String(index % 10).repeat(8000) }))
for (let part = 0; part < 6; part += 1) await Wide.bulkCreate(wide)
test.after.always(() => server.close())

const CSV = { accept: 'text/csv' }
const LINES = { accept: 'application/jsonl' }

const asked = (path: string, parameters: Parameters, headers: Record<string, string> = CSV): Promise<Answer> =>
  server.get(
    `${path}?${new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]) as [string, string][])}`,
    headers,
  )

async function listed(path: string, parameters: Parameters = {}): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await list(server, path, { ...parameters, page, pageSize: 1000 })
    items.push(...body.items)
    if (!body.hasNextPage) return items
  }
}

const linesOf = ({ text }: Answer): unknown[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

/** A value as CSV has it. */
function cellOf(value: unknown): string | null {
  if (value === null) return null
  if (typeof value === 'object') return JSON.stringify(value)
  return typeof value === 'string' && /^[=+\-@\t\r]/.test(value) && !/^-\d/.test(value) ? `'${value}` : String(value)
}

test('CSV read back is the table: every record once, in the order of the list', async (t) => {
  for (const parameters of [{}, { sort: '-Level,Name' }, { filter: 'Level>1', sort: 'Team.Name' }, { name: 'a,b' }]) {
    const { status, headers, text } = await asked('/api/rows', parameters)
    t.is(status, 200)
    t.is(headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
    t.is(headers.get('content-disposition'), 'attachment; filename="rows.csv"')
    const items = await listed('/api/rows', parameters)
    t.true(items.length > 100)
    const [head, ...rows] = readCsv(text)
    t.deepEqual(head, Object.keys(items[0] ?? {}))
    t.deepEqual(
      rows,
      items.map((item) => Object.values(item).map(cellOf)),
    )
  }
})

test('a record a line, read back, is the table as lists show it', async (t) => {
  for (const type of ['application/jsonl', 'application/x-ndjson']) {
    const answer = await asked('/api/rows', { sort: '-Big' }, { accept: type })
    t.is(answer.headers.get('content-type'), type)
    t.is(answer.headers.get('content-disposition'), 'attachment; filename="rows.jsonl"')
    t.deepEqual(linesOf(answer), await listed('/api/rows', { sort: '-Big' }))
  }
  const hooked = await asked('/hooked', { sort: 'Level', select: 'id,name' }, LINES)
  t.deepEqual(linesOf(hooked), await listed('/hooked', { sort: 'Level', select: 'id,name' }))
})

test('a file has the last word of its path as its name, without what no file can have in it, else that of its records', async (t) => {
  for (const [path, name] of [
    ['/few', 'few'],
    ['/odd/rows~v1.2-a_b~', 'rows_v1.2-a_b_'],
    ['/root/', 'Line'],
  ]) {
    for (const [format, headers] of [
      ['csv', CSV],
      ['jsonl', LINES],
    ] as const) {
      const sent = await asked(String(path), { keys: 3 }, headers)
      t.is(sent.headers.get('content-disposition'), `attachment; filename="${name}.${format}"`)
    }
  }
})

test('select chooses the columns, in the order asked for, and what lies behind a relation has its path', async (t) => {
  const { text } = await asked('/api/rows', { select: 'team.name,level,team.id,id', filter: 'Level=1', sort: 'Id' })
  const [head, ...rows] = readCsv(text)
  t.deepEqual(head, ['team.name', 'level', 'team.id', 'id'])
  const items = await listed('/api/rows', { select: 'team.name,level,team.id,id', filter: 'Level=1', sort: 'Id' })
  t.deepEqual(
    rows,
    items.map((item) => {
      const team = (item.team ?? { name: null, id: null }) as Record<string, unknown>
      return [team.name, item.level, team.id, item.id].map(cellOf)
    }),
  )
  t.is((await asked('/api/rows', { select: 'nothing' })).status, 400)
})

test('null is an empty cell, empty text a pair of quotes, and so is a row of one null', async (t) => {
  const one = await asked('/api/rows', { select: 'name', keys: '1,2,3', sort: 'Id' })
  t.is(one.text, 'name\r\n""\r\n""\r\nplain\r\n')
  const two = await asked('/api/rows', { select: 'name,id', keys: '1,2,4,5,6', sort: 'Id' })
  t.is(two.text, 'name,id\r\n"",1\r\n,2\r\n"a,b",4\r\n"say ""so""",5\r\n"two\r\nlines",6\r\n')
})

test('text that a spreadsheet would run gets an apostrophe, numbers never, and formulas: keep leaves it', async (t) => {
  const names = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\n=1', '＝1', '＋1', '－1', '＠x', '=a,"b"']
  const { Row } = server
  const made = await Row.bulkCreate(names.map((name) => ({ name, level: -5, big: '-9007199254740993', price: '-0.5' })))
  const keys = (await listed('/without', { filter: 'Level=-5' })).map(({ id }) => id).join()
  const parameters = { keys, select: 'name,level,big,price', sort: 'Id' }
  const rows = readCsv((await asked('/api/rows', parameters)).text).slice(1)
  t.deepEqual(
    rows.map(([name]) => name),
    names.map((name) => `'${name}`),
  )
  for (const [, level, big, price] of rows) t.deepEqual([level, big, Number(price)], ['-5', '-9007199254740993', -0.5])
  const kept = readCsv((await asked('/kept', parameters)).text).slice(1)
  t.deepEqual(
    kept.map(([name]) => name),
    names,
  )
  const lines = linesOf(await asked('/api/rows', parameters, LINES)) as { name: string }[]
  t.deepEqual(
    lines.map(({ name }) => name),
    names,
  )
  t.is(made.length, await Row.destroy({ where: { level: -5 } }))
})

test('Accept decides by its quality values, format wins over it, and Vary tells so', async (t) => {
  const types: readonly (readonly [accept: string | null, type: RegExp])[] = [
    ['text/csv; charset=utf-8', /^text\/csv/],
    ['text/csv; charset=utf-8; header=present', /^text\/csv/],
    ['text/csv;header=present', /^text\/csv/],
    ['text/csv;header=absent', /^application\/json/],
    ['application/json; charset=UTF-8, text/csv;q=0.5', /^application\/json/],
    [null, /^application\/json/],
    ['*/*', /^application\/json/],
    ['text/html,application/xhtml+xml,*/*;q=0.8', /^application\/json/],
    ['application/json, text/csv;q=0.9', /^application\/json/],
    ['application/json;q=0.5, text/csv;q=0.9', /^text\/csv/],
    ['text/csv, */*;q=0.1', /^text\/csv/],
    ['text/*', /^text\/csv/],
    ['application/x-ndjson;q=0.9, text/csv;q=0.8', /^application\/x-ndjson/],
    ['image/png', /^application\/json/],
  ]
  for (const [accept, type] of types) {
    const { headers } = await asked('/api/rows', { keys: 3 }, accept === null ? {} : { accept })
    t.regex(headers.get('content-type') ?? '', type, String(accept))
    t.true(headers.get('vary')?.includes('Accept'), String(accept))
  }
  for (const [format, type] of [
    ['csv', /^text\/csv/],
    ['jsonl', /^application\/jsonl/],
  ] as const) {
    for (const headers of [{}, { accept: 'application/json' }, CSV]) {
      t.regex((await asked('/api/rows', { format, keys: 3 }, headers)).headers.get('content-type') ?? '', type)
    }
  }
  t.regex((await asked('/api/rows', { format: '', keys: 3 }, {})).headers.get('content-type') ?? '', /json/)
  const wrong = await asked('/api/rows', { format: 'xml' }, {})
  t.is(wrong.status, 400)
  t.deepEqual(wrong.body.errors, { format: ['must be csv or jsonl.'] })
})

test('without the operation the header changes nothing, and the parameter is unknown', async (t) => {
  const { headers, body } = await asked('/without', {})
  t.regex(headers.get('content-type') ?? '', /^application\/json/)
  t.false(headers.get('vary')?.includes('Accept') ?? false)
  t.is(body.items.length, 20)
  t.deepEqual((await asked('/without', { format: 'csv' })).body.errors, {
    format: ['is not a parameter of this list. It needs the operation "export", which is disabled.'],
  })
  t.is(Operations.Export & (Operations.AllWithBulk | Operations.Restore), 0)
})

test('where there are no lists an export is all that there is, and a controller has a handler that gives nothing else', async (t) => {
  t.regex((await asked('/alone', { keys: 3 }, {})).headers.get('content-type') ?? '', /^text\/csv/)
  t.is((await server.send('OPTIONS', '/alone')).headers.get('allow'), 'GET, HEAD, QUERY, OPTIONS')
  t.is((await server.send('OPTIONS', '/api/rows')).headers.get('allow'), 'GET, HEAD, POST, QUERY, OPTIONS')
  t.regex((await asked('/own', { keys: 3 })).headers.get('content-type') ?? '', /^text\/csv/)
  t.regex((await asked('/own/file', { keys: 3 }, {})).headers.get('content-type') ?? '', /^text\/csv/)
  t.regex((await asked('/own', { keys: 3 }, {})).headers.get('content-type') ?? '', /^application\/json/)
})

test('an export starts behind after=token, and is 400 with modes that have no records or go another way', async (t) => {
  const { body } = await list(server, '/api/rows', { after: '', sort: '-Level', pageSize: 1000, select: 'id' })
  const rest = await asked('/api/rows', { after: body.nextCursor, sort: '-Level', select: 'id' }, LINES)
  t.deepEqual(linesOf(rest), (await listed('/api/rows', { sort: '-Level', select: 'id' })).slice(1000))
  t.is((await asked('/api/rows', { after: body.nextCursor, sort: 'Level' })).status, 400)
  for (const [name, parameters] of [
    ['before', { before: body.nextCursor, sort: '-Level' }],
    ['cursor', { cursor: '' }],
    ['count', { count: true }],
  ] as const) {
    const answer = await asked('/api/rows', parameters)
    t.is(answer.status, 400, name)
    t.is(answer.body.code, 'invalid-query')
    const instead = name === 'count' ? '' : '. Remove it, or use "after"'
    t.deepEqual(answer.body.errors, { [name]: [`cannot be combined with an export${instead}.`] })
  }
  for (const name of ['aggregate', 'group']) {
    const answer = await asked('/few', { [name]: name === 'group' ? 'Level' : 'count' })
    t.deepEqual(answer.body.errors, { [name]: ['cannot be combined with an export.'] })
    t.is((await asked('/few', { [name]: name === 'group' ? 'Level' : 'count' }, {})).status, 200)
  }
  // Of a page nothing is looked at: there is none.
  t.is(
    (await asked('/api/rows', { page: 'x', pageSize: 'y', keys: 3, before: '', after: '', count: 'none' })).status,
    200,
  )
})

test('HEAD has the headers and no records', async (t) => {
  const { status, headers, text } = await server.send('HEAD', '/api/rows', { headers: CSV })
  t.is(status, 200)
  t.is(headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  t.is(text, '')
})

test('it asks exportPolicy, else getListPolicy, and masks hold in it', async (t) => {
  const reader = bearer({ sub: 'one', roles: ['reader'] })
  const exporter = bearer({ sub: 'two', roles: ['exporter'] })
  for (const [path, headers, status] of [
    ['/read', {}, 401],
    ['/read', exporter, 403],
    ['/read', reader, 200],
    ['/exported', {}, 401],
    ['/exported', reader, 403],
    ['/exported', exporter, 200],
  ] as const) {
    t.is((await asked(path, { keys: 3 }, { ...CSV, ...headers })).status, status, path)
  }
  t.is((await asked('/exported', { keys: 3 }, reader)).status, 200)
  const masked = readCsv((await asked('/api/rows', { keys: 3 })).text)
  t.is(masked[1]?.[masked[0]?.indexOf('secret') ?? -1], null)
  const seen = readCsv((await asked('/api/rows', { keys: 3 }, { ...CSV, ...withPermission('secrets') })).text)
  t.is(seen[1]?.[seen[0]?.indexOf('secret') ?? -1], 's2')
  t.deepEqual(readCsv((await asked('/api/rows', { keys: 3, select: 'id,secret' })).text), [['id'], ['3']])
  t.is((await asked('/api/rows', { filter: 'Secret^s' })).status, 400)
})

test('more records than the limit are 400 where the first page shows it, else onError hears and the socket ends', async (t) => {
  const { status, body } = await asked('/fewer', {})
  t.is(status, 400)
  t.regex(body.detail, /at most 20 records \(exportItems\)/)
  t.is(readCsv((await asked('/fewer', { filter: 'Big<20', select: 'id' })).text).length, 21)
  const before = errors.length
  await t.throwsAsync(asked('/few', {}), { message: 'aborted' })
  t.is(errors.length, before + 1)
  t.regex(String(errors.at(-1)), /exportItems|Invalid query/)
})

test('what fails behind the first page cuts the file off, so that nobody takes it for whole, and onError hears', async (t) => {
  const before = errors.length
  await t.throwsAsync(asked('/breaking', {}), { code: 'ECONNRESET' })
  t.regex(String(errors[before]), /the second page breaks/)
  t.is(errors.length, before + 1)
  // The same on the first page is a problem like any other.
  const { status, text, headers } = await asked('/breaking', {}, { ...CSV, prefer: 'handling=strict' })
  t.is(status, 500)
  t.false(text.includes('breaks'))
  for (const name of ['content-disposition', 'preference-applied']) t.is(headers.get(name), null)
})

/** What a client of HTTP/1.0 gets, to which the end of a connection is the end of an answer. */
function overOldHttp(path: string): Promise<{ readonly text: string; readonly isReset: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (piece) => {
      text += piece
    })
    socket.on('error', () => resolve({ text, isReset: true }))
    socket.on('end', () => resolve({ text, isReset: false }))
    socket.write(`GET ${path} HTTP/1.0\r\n\r\n`)
  })
}

test('over HTTP/1.0, where any end is a proper one, a file that is cut ends by a reset', async (t) => {
  for (const format of ['csv', 'jsonl']) {
    finds = 0
    const { isReset } = await overOldHttp(`/breaking?format=${format}`)
    t.true(isReset, format)
  }
  const whole = await overOldHttp('/api/rows?format=csv&keys=3')
  t.false(whole.isReset)
  t.regex(whole.text, /^HTTP\/1\.1 200/)
})

test('Prefer: trailer-row ends a file with the number of its records', async (t) => {
  const prefer = { prefer: 'handling=strict, Trailer-Row' }
  const csv = await asked('/api/rows', { filter: 'Level=1', select: 'id,name' }, { ...CSV, ...prefer })
  const lines = readCsv(csv.text)
  t.deepEqual(lines.at(-1), [`#count=${lines.length - 2}`, null])
  t.is(csv.headers.get('preference-applied'), 'handling=strict, trailer-row')
  t.regex(csv.headers.get('vary') ?? '', /Prefer/)
  const one = await asked('/api/rows', { select: 'id', filter: 'Level=77' }, { ...CSV, ...prefer })
  t.is(one.text, 'id\r\n#count=0\r\n')
  const json = await asked('/api/rows', { format: 'jsonl' }, prefer)
  const records = json.text.trimEnd().split('\n')
  t.is(records.at(-1), `{"@count":${RECORDS}}`)
  t.is(records.length, RECORDS + 1)
  t.false((await asked('/api/rows', { format: 'jsonl' })).text.includes('@count'))
  // A file that is cut off has no such line.
  finds = 0
  const cut = await overOldHttp('/breaking?format=jsonl')
  t.false(cut.text.includes('@count'))
})

/** A client that reads when it is told to. */
function slow(path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpGet(`${server.url}${path}`, { headers: CSV }, resolve).on('error', reject)
  })
}

const pages = (): number => statements.filter((sql) => /FROM .?Wides/.test(sql)).length
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('a client that reads slowly is waited for, and one that is gone ends the work', async (t) => {
  statements.length = 0
  const response = await slow('/wide')
  response.pause()
  await wait(800)
  const held = pages()
  // 24 MB would be sixty statements; what the sockets hold is a part of that.
  t.true(held < 50, `${held} statements`)
  await wait(300)
  t.is(pages(), held)
  response.destroy()
  await wait(500)
  t.is(pages(), held)
  t.is(errors.filter((error) => /Wide/.test(String(error))).length, 0)
})

test('a slow client holds no connection: others are answered meanwhile, however many export', async (t) => {
  const clients = await Promise.all(Array.from({ length: 8 }, () => slow('/wide')))
  for (const client of clients) client.pause()
  await wait(500)
  t.is((await list(server, '/api/rows', { keys: 3 })).status, 200)
  for (const client of clients) client.destroy()
})
