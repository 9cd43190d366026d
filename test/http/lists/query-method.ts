// QUERY (RFC 10008): a list by a body in the place of the URL's query.

import { request } from 'node:http'
import ava from 'ava'
import express, { type RequestHandler } from 'express'
import { DataTypes } from 'sequelize'
import { type CrudOptions, crudController, crudRouter, hasRole, Operations } from '../../../lib/index.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { bearer, identity } from '../../support/tokens.js'

const test = ava.serial

const FORM = 'application/x-www-form-urlencoded'
const ACCEPTED = 'application/x-www-form-urlencoded, application/json'
const operations = Operations.AllWithBulk | Operations.Aggregate | Operations.Export

const MORE: Readonly<Record<string, CrudOptions>> = {
  strict: { query: { unknownParameters: 'reject' } },
  guarded: { getListPolicy: hasRole('reader') },
  small: { limits: { bodySize: 100 } },
}

const server = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING }, plain)
  const Player = sequelize.define('Player', { name: DataTypes.STRING, level: DataTypes.INTEGER }, plain)
  Team.hasMany(Player, { as: 'players', foreignKey: 'teamId' })
  Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
  const options = {
    identity,
    operations,
    query: { maxPageSize: 50, unknownParameters: ['no such'] },
  } satisfies CrudOptions
  app.use('/parsed', express.json(), express.urlencoded({ extended: true }))
  app.use('/raw', express.raw({ type: () => true }))
  const players = crudRouter(Player, options)
  app.use(players)
  app.use(crudRouter(Team, { ...options, relations: { players: { routes: true, resource: () => players } } }))
  for (const route of ['parsed', 'raw', 'strict', 'guarded', 'small']) {
    const { [route]: more = {} } = MORE
    app.use(crudRouter(Player, { ...options, ...more, route, relations: { team: true } }))
  }
  const held = { players: { write: true, resource: () => players } }
  app.use(crudRouter(Team, { operations, route: 'bodies', unknownProperties: 'reject', relations: held }))
  app.use(crudRouter(Player, { route: 'grouped', operations: ['aggregate'] }))
  app.use(crudRouter(Player, { route: 'unlisted', operations: ['getById', 'create'] }))
  const { getList, aggregate } = crudController(Player, { operations, query: options.query })
  app.use('/table', only(getList))
  app.use('/measures', only(aggregate))
  return { Team, Player }
})
const { Team, Player } = server
await Team.bulkCreate([{ name: 'Red' }, { name: 'Blue & Co' }])
await Player.bulkCreate(
  Array.from({ length: 30 }, (_, index) => ({ name: `p${index}`, level: index % 7, teamId: (index % 2) + 1 })),
)

/** Whatever the method. */
function only(handler: RequestHandler): RequestHandler {
  return express.Router().all('/', handler)
}

test.after.always(() => server.close())

const query = (path: string, body: string | object, headers: Record<string, string> = {}): Promise<Answer> =>
  typeof body === 'string'
    ? server.send('QUERY', path, { body, headers: { 'content-type': FORM, ...headers } })
    : server.send('QUERY', path, { json: body, headers })

const QUERIES: readonly Readonly<Record<string, string | number | boolean>>[] = [
  {},
  { filter: 'Level>2,Team.Name=Blue & Co', sort: '-Level,Name', pageSize: 3 },
  { level: 3, page: 2, pageSize: 2 },
  { select: 'name,team.name', sortBy: 'name', count: 'none' },
  { count: true },
  { cursor: '' },
  { after: '', sort: 'name' },
  { keys: '3,1' },
  { aggregate: 'count,avg(Level)', group: 'Team.Name', having: 'count>1' },
  { filter: 'Name=a+b%20c;d#e\\,f', 'no such': 'x' },
]

/** Everything but what differs by the moment and by the method. */
const toldBy = ({ status, headers, text }: Answer): unknown => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !['date', 'link', 'keep-alive', 'connection'].includes(name)),
})

test('a form and a flat JSON object ask for the same list as the URL, and get it without Link', async (t) => {
  for (const parameters of QUERIES) {
    const form = new URLSearchParams(
      Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
    )
    for (const path of ['/api/players', '/parsed', '/raw', '/table', '/api/teams/2/players']) {
      const usual = await server.get(`${path}?${form}`)
      const told = `${path} ${form}`
      t.is(usual.status, 200, told)
      for (const body of [form.toString(), parameters]) {
        if (body === '') continue
        const answer = await query(path, body)
        t.deepEqual(toldBy(answer), toldBy(usual), `${told} ${typeof body}`)
        t.is(answer.headers.get('link'), null, told)
      }
    }
  }
  t.pass()
})

test('what is said in the URL and what is said in the body are one request, and no name may be in both', async (t) => {
  const together = await query('/api/players?filter=Level%3E2&pageSize=2', { sort: '-Level' })
  t.is(together.text, (await server.get('/api/players?filter=Level%3E2&pageSize=2&sort=-Level')).text)
  for (const name of ['filter', 'level', 'host']) {
    for (const body of [`${name}=1`, { [name]: 1 }]) {
      const { status, body: problem } = await query(`/api/players?${name}=1`, body)
      t.is(status, 400, name)
      t.is(problem.code, 'invalid-query')
      t.deepEqual(problem.errors, { [name]: ['is given both in the URL and in the body.'] })
    }
  }
  t.deepEqual((await query('/api/players?Level=1', { level: 1 })).body.errors, { level: ['is given more than once.'] })
  t.deepEqual((await query('/api/players', 'page=1&page=2')).body.errors, { page: ['is given more than once.'] })
})

test('nested values, nothing, numbers that JSON cannot hold and broken text are 400 under their name', async (t) => {
  const wrong: readonly (readonly [body: string, message: string])[] = [
    ['{"filter":{"a":1}}', 'must be a text, a number, true or false.'],
    ['{"filter":["a"]}', 'must be a text. Join the items of a list by commas.'],
    ['{"filter":null}', 'must be a text, a number, true or false.'],
    ['{"filter":9007199254740993}', 'is too large for a JSON number. Send it as a text.'],
    ['{"filter":1e400}', 'is too large for a JSON number. Send it as a text.'],
    ['{"filter":"\\ud800"}', 'is not valid Unicode text.'],
  ]
  for (const [body, message] of wrong) {
    for (const path of ['/api/players', '/parsed', '/api/teams/1/players']) {
      const answer = await query(path, body, { 'content-type': 'application/json' })
      t.is(answer.status, 400, body)
      t.deepEqual(answer.body.errors, { filter: [message] })
    }
  }
  t.deepEqual((await query('/parsed', 'keys[]=1&keys[]=2')).status, 400)
  t.deepEqual((await query('/api/players', 'filter=%ff')).body.errors, {
    filter: ['is not valid percent-encoded UTF-8.'],
  })
})

test('bodies that are none are 400, other content types 415, and too large ones 413', async (t) => {
  const json = { 'content-type': 'application/json' }
  for (const path of ['/api/players', '/api/teams/1/players', '/table']) {
    for (const body of ['[]', '"text"', '1', 'null', '{']) {
      const { status, body: problem } = await query(path, body, json)
      t.is(status, 400, `${path} ${body}`)
      t.is(problem.code, 'malformed-body')
    }
    t.is((await server.send('QUERY', path)).body.detail, 'The request has no body.')
    const other = await query(path, 'a', { 'content-type': 'text/plain' })
    t.is(other.status, 415)
    t.is(other.headers.get('accept'), ACCEPTED)
    t.is(other.headers.get('accept-query'), ACCEPTED)
    t.is((await query(path, 'a', { 'content-type': 'application/merge-patch+json' })).status, 415)
  }
  t.is((await query('/small', `filter=${'x'.repeat(200)}`)).status, 413)
})

test('a filter may be ten times as long in a body, and in a body alone', async (t) => {
  const filter = (length: number): string => `Name=${'x'.repeat(length - 5)}`
  t.is((await query('/api/players', { filter: filter(40_960) })).status, 200)
  const beyond = await query('/api/players', { filter: filter(40_961) })
  t.is(beyond.status, 400)
  t.regex(beyond.text, /40960/)
  // A text that was parsed for a body is still too long for a URL.
  t.is((await query('/api/players', { filter: filter(5000) })).status, 200)
  t.is((await server.get(`/api/players?filter=${filter(5000)}`)).status, 400)
  t.is((await query('/api/players?page=1', { filter: filter(5000) })).status, 200)
})

test('exports and aggregates are asked for by bodies as by URLs', async (t) => {
  const file = await query('/api/players', { format: 'csv', select: 'name', filter: 'Level=6' })
  t.is(file.text, (await server.get('/api/players?format=csv&select=name&filter=Level=6')).text)
  t.is(file.headers.get('content-type'), 'text/csv; charset=utf-8; header=present')
  const lines = await query('/api/players', { select: 'name' }, { accept: 'application/jsonl' })
  t.is(lines.text.split('\n').length, 31)
  t.is((await query('/grouped', { aggregate: 'count' })).body.items[0].count, 30)
  t.is((await query('/measures', 'aggregate=count')).body.items[0].count, 30)
})

test('paths with a list allow QUERY and say what it may have, those without answer 405', async (t) => {
  for (const [path, allow] of [
    ['/api/players', 'GET, HEAD, POST, QUERY, OPTIONS'],
    ['/grouped', 'GET, HEAD, QUERY, OPTIONS'],
    ['/api/teams/1/players', 'GET, HEAD, QUERY, POST, OPTIONS'],
  ] as const) {
    const options = await server.send('OPTIONS', path)
    t.is(options.status, 204)
    t.is(options.headers.get('allow'), allow)
    t.is(options.headers.get('accept-query'), ACCEPTED)
  }
  for (const path of ['/api/players/1', '/unlisted', '/api/players/bulk']) {
    const refused = await query(path, 'page=1')
    t.is(refused.status, 405, path)
    t.false(refused.headers.get('allow')?.includes('QUERY'))
    t.is(refused.headers.get('accept-query'), null)
  }
  for (const path of ['/api/players', '/api/players?count=true', '/api/teams/1/players']) {
    t.is((await server.get(path)).headers.get('accept-query'), ACCEPTED, path)
  }
  t.is((await server.get('/api/players/1')).headers.get('accept-query'), null)
  const made = await server.post('/api/teams/1/players', { name: 'made' })
  t.is(made.status, 201)
  t.is(made.headers.get('accept-query'), null, 'what is asked for by POST is no list')
})

test('a list by a body has an entity tag, and is not sent to whoever has it', async (t) => {
  const first = await query('/api/players', { sort: 'Name' })
  const tag = first.headers.get('etag') ?? ''
  t.is((await server.get('/api/players?sort=Name')).headers.get('etag'), tag)
  for (const more of [{}, { 'cache-control': 'no-cache' }]) {
    const again = await query('/api/players', { sort: 'Name' }, { 'if-none-match': tag, ...more })
    t.is(again.status, 304)
    t.is(again.text, '')
    t.is((await query('/api/players', { sort: '-Name' }, { 'if-none-match': tag, ...more })).status, 200)
  }
})

test('checks come in their order: 401, 403, what is wrong with the body, 404 of the owner', async (t) => {
  const json = { 'content-type': 'application/json' }
  t.is((await query('/guarded', '{', json)).status, 401)
  t.is((await query('/guarded', '{', { ...json, ...bearer({ sub: 'x' }) })).status, 403)
  t.is((await query('/guarded', '{', { ...json, ...bearer({ sub: 'x', roles: ['reader'] }) })).status, 400)
  t.is((await query('/api/teams/99/players', '{', json)).body.code, 'malformed-body')
  t.is((await query('/api/teams/99/players', { filter: '(' })).status, 404)
  t.is((await query('/api/players', '{', { ...json, authorization: 'Bearer nonsense' })).status, 401)
})

test('unknown names in a body are refused where those in the URL are', async (t) => {
  const { status, body } = await query('/strict', { levle: 3 })
  t.is(status, 400)
  t.deepEqual(body.errors, { levle: ['is not a parameter of this list. Did you mean "level"?'] })
  t.is((await query('/api/players', { levle: 3 }, { prefer: 'handling=strict' })).status, 400)
})

test('a body that arrives in pieces is read whole', async (t) => {
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(`${server.url}/api/players`, { method: 'QUERY', headers: { 'content-type': FORM } }, (res) => {
      res.setEncoding('utf8')
      let whole = ''
      res.on('data', (chunk) => {
        whole += chunk
      })
      res.on('end', () => resolve(whole))
    })
    sent.on('error', reject)
    sent.write('filter=Lev')
    setTimeout(() => sent.end('el%3E5&pageSize=2'), 20)
  })
  t.is(text, (await server.get('/api/players?filter=Level%3E5&pageSize=2')).text)
})

const MEGABYTE = 1_000_000
const mega = (text: string): string => text.repeat(Math.floor(MEGABYTE / text.length))

test('a text of a megabyte is measured before it is parsed, whatever parameter it is for', async (t) => {
  const reserved = [
    'sort',
    'select',
    'group',
    'aggregate',
    'keys',
    'search',
    'having',
    'cursor',
    'after',
    'page',
    'sortBy',
  ]
  const texts = [mega('a'), mega('a,'), mega('a('), mega('a=1|')]
  for (const [index, name] of [...reserved, 'level', 'filter', 'team.filter', 'p1.filter', 'unknown'].entries()) {
    const answer = await query('/api/players', { [name]: texts[index % texts.length] ?? '' })
    t.is(answer.status, 400, name)
    t.deepEqual(answer.body.errors, { [name]: ['is longer than the limit of 163840 characters (queryLength).'] })
  }
  const form = await query('/api/players', `sort=${mega('a,')}`)
  t.regex(form.body.detail, /queryLength/)
  t.regex((await query('/api/players', `${mega('&')}sort=name`)).body.detail, /more parameters than the limit/)
  t.regex((await query('/api/players', mega('n&'))).body.detail, /more parameters than the limit/)
  const parts = { filter: `name=${'x'.repeat(40_000)}`, search: 'y'.repeat(40_000), keys: 'z'.repeat(90_000) }
  t.is(
    (await query('/api/players', parts)).body.detail,
    'The parameters together are longer than the limit of 163840 characters (queryLength).',
  )
})

test('lists are counted before they are parsed, and collections are matched with select before what is said of them', async (t) => {
  const bodies: readonly (readonly [limit: RegExp, body: Record<string, string>])[] = [
    [/sortKeys/, { sort: `${'name,'.repeat(10)}(` }],
    [/selectFields/, { select: `${'name,'.repeat(50)}(` }],
    [/measures/, { aggregate: `${'count,'.repeat(20)}(` }],
    [/groups/, { group: `${'level,'.repeat(5)}(` }],
    [/sortKeys/, { group: 'level', sort: `${'level,'.repeat(10)}(` }],
    [/select\\" does not contain/, { 'team.filter': '(((' }],
    [/select\\" does not contain/, { select: 'name', 'team.players.sort': '(((' }],
    [/select\\" does not contain/, { select: 'name', after: '', 'tea.filter': '(((' }],
  ]
  for (const [limit, body] of bodies) {
    const answer = await query('/api/players', body)
    t.is(answer.status, 400)
    t.regex(answer.text, limit, JSON.stringify(body))
    const url = await server.get(`/api/players?${new URLSearchParams(body)}`)
    t.regex(url.text, limit, JSON.stringify(body))
  }
})

test('an answer repeats no more than 200 characters of what was sent', async (t) => {
  const long = 'x'.repeat(30_000)
  for (const body of [
    ...[{ level: long }, { filter: `level=${long}` }, { filter: `${long}=1` }, { sort: long }, { group: long }],
    ...[{ select: long }, { [long]: '1' }, { [`${long}.filter`]: 'name=x' }, { aggregate: `sum(${long})` }],
    { filter: `team.players.Count=${long}` },
    { group: 'level', sort: `max(${long})` },
  ]) {
    const answer = await query('/strict', body, { prefer: 'handling=strict' })
    t.is(answer.status, 400, JSON.stringify(body).slice(0, 40))
    t.true(answer.text.length < 1200, answer.text)
    t.false(answer.text.includes('x'.repeat(201)))
  }
  const body = await server.send('POST', '/bodies', {
    json: { name: 'a', [long]: 1, [`${'y'.repeat(198)}😀${long}`]: 1 },
  })
  t.deepEqual(
    Object.keys(body.body.errors).map((name) => name.slice(195)),
    ['xxxx…', 'yyy…'],
  )
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`m${index}`, index]))
  for (const json of [many, { name: 'a', players: [many] }]) {
    const { status, text } = await server.send('POST', '/bodies', { json })
    t.is(status, 400)
    t.true(text.length < 1000)
  }
  const bulk = await server.send('POST', '/bodies/bulk', { json: [many] })
  t.regex(bulk.body.detail, /more members than the limit of 4096/)
})
