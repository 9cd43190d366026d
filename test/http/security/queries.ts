// What a query can reach, do or break. Each test is named after its rule.

import { readFile } from 'node:fs/promises'
import test from 'ava'
import { databaseName } from '../../support/database.js'
import { openGuarded } from '../../support/guarded.js'
import { listPath } from '../../support/league.js'
import type { Answer } from '../../support/server.js'
import { withPermission, withRole } from '../../support/tokens.js'

// What nobody reads is ignored, so that what a name does can be seen.
const ignoring = { query: { unknownParameters: 'ignore' } } as const
const world = await openGuarded({ player: ignoring, team: ignoring, vault: ignoring })
test.after.always(() => world.close())

const players = (parameters: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> =>
  world.get(listPath('/api/players', parameters), headers)
const teams = (parameters: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> =>
  world.get(listPath('/api/teams', parameters), headers)

const names = ({ body, text }: Answer): string[] => {
  if (body?.items === undefined) throw new Error(text)
  return body.items.map(({ name }: { name: string }) => name)
}

const ALL = ['Jan', 'Anna', 'Piotr', 'Kasia']

test('filterable and sortable are sets per caller: what is masked or excluded is not in them (CVE-2023-22894)', async (t) => {
  for (const field of ['salary', 'secret', 'Salary', 'SECRET']) {
    for (const parameters of [
      { filter: `${field}^a` },
      { filter: `${field}>1` },
      { sort: field },
      { sort: `-${field}` },
    ]) {
      t.is((await players(parameters)).status, 400, JSON.stringify(parameters))
    }
    t.deepEqual(names(await players({ sortBy: field })), ALL)
    t.deepEqual(names(await players({ [field]: '8000' })), ALL)
  }
  t.deepEqual(names(await players({ filter: 'salary=8000' }, withPermission('payroll'))), ['Anna'])
  // No permission opens what is excluded.
  t.is((await players({ filter: 'secret=aa' }, withPermission('payroll', 'secret'))).status, 400)
})

test('paths are resolved to field objects, never tested by prefix (CVE-2023-34235)', async (t) => {
  const tricks = [
    ...['t.salary', 'Player.salary', 'Players.salary', 'team.players.salary', 'team.Player.salary', 'team.team.budget'],
    ...[
      'name.salary',
      'id.salary',
      'salary.name',
      'extra.pin',
      'team_.budget',
      '_team.budget',
      'teambudget',
      'team.budge',
    ],
    ...['players.salary', 'team.players.name.salary', 'team.count', 'team.any.budget', 'any.salary', 'salary.any'],
  ]
  for (const path of tricks) {
    for (const parameters of [{ filter: `${path}=1` }, { sort: path }]) {
      const { status, body } = await players(parameters)
      t.is(status, 400, path)
      t.is(body.title, 'Unknown field.', path)
    }
  }
})

test('each hop asks the target itself: fields, masks, list policy; none registered, no way through (CVE-2026-27886)', async (t) => {
  const closed = ['team.hidden', 'team.budget', 'vault.code', 'vault.name', 'team.club.secret', 'team.club.name']
  for (const path of [...closed, 'vault.owners.name', 'team.players.vault.code', 'team.players.secret']) {
    for (const parameters of [{ filter: `${path}=1` }, { filter: `${path}!=1` }, { sort: path }]) {
      const { status, body } = await players(parameters)
      t.is(status, 400, path)
      t.is(body.title, 'Unknown field.')
    }
    const { status, text } = await players({ select: `name,${path}` })
    t.true(status === 400 || !/bankrupt|1111|900|sold/.test(text), path)
  }
  t.deepEqual(names(await players({ filter: 'vault.code=1111' }, withRole('keeper'))), ['Jan'])
})

test('a clause that cannot be honoured is 400, never dropped (CVE-2025-30086)', async (t) => {
  const broken = [
    ...[
      'nothing=1',
      'name=Jan,nothing=1',
      'name=Jan|nothing=1',
      '(name=Jan,(nothing=1))',
      'level=abc',
      'level=*4',
      'level^4',
    ],
    ...[
      'name',

      'level>',
      '=Jan',
      ',',
      '|',
      'name=Jan,',
      ',name=Jan',
      'name=Jan||level=1',
      '()',
      '(name=Jan',
      'name=Jan)',
    ],
    ...[
      '!(name=Jan)',
      'name==Jan',
      'name=in=',
      'name=in=a;;b',
      'level=null|nothing=null',
      'name=null',
      'extra=1',
      'extra=null',
    ],
    ...['team=1', 'team', 'team.', '.name=1', 'team..name=1', 'level=1e400', 'level=0x1', 'level=1.5'],
  ]
  for (const filter of broken) {
    for (const mode of [{}, { count: 'true' }, { cursor: '' }, { select: 'name' }]) {
      const { status, headers, body } = await players({ filter, ...mode })
      t.is(status, 400, filter)
      t.is(headers.get('content-type'), 'application/problem+json')
      t.is(body.errors.filter.length, 1)
    }
  }
})

test('a hidden field is hidden from every operator, > and < included (CVE-2023-30843)', async (t) => {
  const clauses = ['=1', '!=1', '>1', '>=1', '<1', '<=1', '=*1', '!*1', '^1', '!^1', '$1', '!$1', '=in=1;2', '=out=1;2']
  for (const field of ['salary', 'secret', 'team.budget', 'team.hidden', 'team.players.salary']) {
    for (const clause of clauses) t.is((await players({ filter: field + clause })).status, 400, field + clause)
  }
})

test('one checker walks the whole tree for filter, sort, select, typed parameters and sortBy (CVE-2022-36079, CVE-2026-31872, CVE-2026-30962)', async (t) => {
  for (const hidden of ['secret=aa', 'team.hidden=x', 'vault.code=1111']) {
    const trees = [
      `name=Jan|${hidden}`,
      `name=x,(level=1|(level=2,(name=y|${hidden})))`,
      `team.players.any(name=Jan|${hidden})`,
      `team.players.none(level>0,(level<9|${hidden}))`,
      `team.players.count(name=Jan|${hidden})>0`,
    ]
    for (const filter of trees) t.is((await players({ filter })).status, 400, filter)
  }
  for (const sort of ['name,secret', 'name,-level,team.hidden', 'vault.code', 'name,team.club.secret']) {
    t.is((await players({ sort })).status, 400, sort)
  }
  for (const select of [
    'name,secret',
    'team.name,team.hidden',
    'vault.code',
    'team.club.secret',
    'team.players.secret',
    'team(players(name,secret))',
    'team.players.vault.code',
  ]) {
    t.is((await players({ select })).status, 400, select)
  }
  // Names with dots are no parameters and no sortBy.
  for (const name of ['secret', 'team.hidden', 'vault.code', 'team.name']) {
    t.deepEqual(names(await players({ [name]: 'x', sortBy: name })), ALL)
  }
})

test('nothing searches columns that the query shape lacks (CVE-2025-64748)', async (t) => {
  for (const name of [
    'q',
    'search',
    'query',
    '$search',
    'where',
    'or',
    'and',
    'fields',
    'include',
    'attributes',
    'order',
  ]) {
    for (const value of ['aa', '5000', 'secret', '{"secret":"aa"}']) {
      t.deepEqual(names(await players({ [name]: value })), ALL, name)
    }
  }
})

test('every read mode uses the same set of fields (CVE-2016-10533)', async (t) => {
  const modes = [{}, { count: 'true' }, { cursor: '' }, { select: 'name' }, { distinct: 'secret' }, { group: 'salary' }]
  for (const mode of modes) {
    for (const filter of ['secret=aa', 'salary=5000', 'team.budget=900']) {
      t.is((await players({ filter, ...mode })).status, 400, JSON.stringify({ filter, ...mode }))
    }
    const { status, text } = await players(mode)
    t.is(status, 200)
    t.notRegex(text, /secret|aa|5000|8000/)
  }
})

test('JSON columns are not filterable, and Sequelize is new enough (CVE-2026-30951)', async (t) => {
  for (const filter of [
    'extra.pin=1',
    'extra=1',
    'extra=null',
    'extra=*pin',
    "extra.pin')=1",
    'extra->pin=1',
    'extra#>>pin=1',
  ]) {
    t.is((await players({ filter })).status, 400, filter)
  }
  for (const sort of ['extra', 'extra.pin']) t.is((await players({ sort })).status, 400, sort)
  t.is((await players({ select: 'extra.pin' })).status, 400)
  const manifest = new URL('../package.json', import.meta.resolve('sequelize'))
  const { version } = JSON.parse(await readFile(manifest, 'utf8'))
  const [major, minor, patch] = version.split('.').map(Number)
  t.true(major > 6 || (major === 6 && (minor > 37 || (minor === 37 && patch >= 8))), version)
})

// Those that write go alone.
test.serial(
  'values meet no replacements, and what is read and ordered by comes from the compiled table only (CVE-2023-25813, CVE-2023-22578)',
  async (t) => {
    const values = [
      ':name',
      '?',
      '$1',
      '$name',
      '$$',
      ':level::text',
      "' OR 1=1 --",
      '" OR 1=1 --',
      '\\',
      "\\'",
      '%',
      '_',
      '\u0001',
    ]
    for (const value of values) {
      const { body: made } = await world.post('/api/players', { name: `v${value}v` })
      const escaped = value.replace(/[\\]/g, '\\$&')
      for (const filter of [`name=v${escaped}v`, `name=*${escaped}v`, `name^v${escaped}`, `name=in=a;v${escaped}v`]) {
        const answer = await players({ filter, select: 'id,name', pageSize: '1000' })
        t.is(answer.status, 200, answer.text)
        t.true(names(answer).includes(`v${value}v`), filter)
        t.false(names(answer).includes('Jan'), filter)
      }
      await world.delete(`/api/players/${made.id}`)
    }
    const injected = [
      '(SELECT secret)',
      'secret AS name',
      'name;DROP TABLE Players',
      '*;',
      'COUNT(*)',
      'name"',
      'name`',
      "name'",
    ]
    for (const text of injected) {
      t.is((await players({ select: text })).status, 400, text)
      t.is((await players({ sort: text })).status, 400, text)
    }
    t.deepEqual(names(await players({ sort: 'id', pageSize: '4' })), ALL)
  },
)

const SPECIAL = [
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf', '__defineGetter__', 'then'],
  ...['length', 'size', 'get', 'has', '_connector', '_negated', '_or', 'or', 'and', 'not', 'where', 'col', 'literal'],
]

test('client strings are looked up in Maps only: special names are unknown fields (CVE-2025-64459, CVE-2026-30939)', async (t) => {
  for (const name of SPECIAL) {
    const paths = [name, `team.${name}`, `${name}.name`, `team.players.${name}`, `${name}.${name}`]
    for (const path of paths) {
      for (const [parameters, key] of [
        [{ filter: `${path}=1` }, 'filter'],
        [{ filter: `name=Jan|${path}=null` }, 'filter'],
        [{ sort: path }, 'sort'],
        [{ select: path }, 'select'],
      ] as const) {
        const { status, body } = await players(parameters)
        t.is(status, 400, path)
        t.is(body.title, 'Unknown field.', path)
        t.regex(body.errors[key][0], /^Unknown field /)
      }
    }
    t.deepEqual(names(await players({ [name]: 'x', sortBy: name, sortDirection: 'asc' })), ALL, name)
    for (const group of ['any', 'none', 'count']) {
      const filter = `players.${group}(${name}=1)${group === 'count' ? '>0' : ''}`
      t.is((await teams({ filter })).status, 400, filter)
    }
    t.is((await world.get(`/api/players/${name}`)).status, 404)
    t.is((await world.delete(`/api/players/${name}`)).status, 404)
    t.is((await world.get(`/api/players?cursor=${Buffer.from(name).toString('base64url')}`)).status, 400)
  }
  t.is((await world.post('/api/players/bulk-delete', SPECIAL)).body.deleted, 0)
})

test('sort goes by an allowlist, and the same text is judged the same way every time (GHSA-hx5x-49mm-vmhw)', async (t) => {
  const texts = [
    ...[
      'name DESC, (SELECT 1)',
      'name) --',
      'name ASC NULLS LAST',
      'name COLLATE NOCASE',
      'name/**/desc',
      'name%00',
      '1',
      '-1',
    ],
    ...[
      'RAND()',
      "name' desc",
      'name desc; DROP TABLE Players',
      'name desc desc',
      '--name',
      '+name',
      'name,,level',
      'name:desc',
    ],
  ]
  for (const sort of texts) {
    for (let round = 0; round < 3; round += 1) t.is((await players({ sort })).status, 400, sort)
  }
  for (let round = 0; round < 3; round += 1) {
    t.is((await players({ sort: 'name desc' })).status, 200)
    t.deepEqual(names(await players({ sortBy: 'name; DROP TABLE Players' })), ALL)
    t.is((await players({ sortBy: 'name', sortDirection: 'desc; --' })).status, 400)
  }
})

test('text operators escape their values, and wildcards in them are text (CVE-2022-35942)', async (t) => {
  const attacks = [
    "x' OR '1'='1",
    "%' OR 1=1 --",
    '%',
    '_',
    '*',
    '?',
    '[a-z]',
    '\\\\',
    "\\\\' OR 1=1 --",
    '_a%',
    'J_n',
    '%n',
  ]
  for (const attack of attacks) {
    for (const token of ['=*', '^', '$', '=']) {
      for (const ending of ['', '/i']) {
        // The first character may be part of an operator.
        const filter = `name${token}\\${attack.replace(/^\\/, '')}${ending}`
        const answer = await players({ filter })
        t.is(answer.status, 200, answer.text)
        t.deepEqual(names(answer), [], filter)
      }
    }
  }
  t.deepEqual(names(await players({ filter: 'name=*n' })), ['Jan', 'Anna'])
})

test('every limit holds, and a repeated parameter is 400 (CVE-2018-1274, CVE-2025-15284)', async (t) => {
  const many = (count: number, text: string, separator: string): string => Array(count).fill(text).join(separator)
  const breaches: readonly (readonly [limit: string, parameters: Record<string, string>])[] = [
    ['filterLength', { filter: `name=${'x'.repeat(4096)}` }],
    ['nesting', { filter: `${'('.repeat(11)}name=x${')'.repeat(11)}` }],
    ['clauses', { filter: many(101, 'level=1', '|') }],
    ['listItems', { filter: `level=in=${many(201, '1', ';')}` }],
    ['sortKeys', { sort: many(11, 'name', ',') }],
    ['selectFields', { select: many(51, 'name', ',') }],
    ['pathDepth', { filter: 'team.players.team.players.name=x' }],
    ['pathDepth', { filter: `${'team.players.'.repeat(300)}name=x` }],
    ['pageSize', { pageSize: '1001' }],
    ['pageSize', { pageSize: '999999999999999999999' }],
    ['page', { page: '9007199254740991', pageSize: '1000' }],
    ['cursor', { cursor: 'x'.repeat(10_000) }],
  ]
  for (const [limit, parameters] of breaches) {
    const { status, text } = await players(parameters)
    t.is(status, 400, limit)
    t.regex(text, new RegExp(limit), limit)
  }
  for (const query of [
    'filter=name=a&filter=name=b',
    'page=1&page=2',
    'name=a&NAME=b',
    'sort=name&sort=level',
    'cursor=&cursor=',
    'filter=&filter=',
  ]) {
    t.is((await world.get(`/api/players?${query}`)).status, 400, query)
  }
})

test('parameters are strings, read from the URL: nested objects and arrays are other names (GHSA-5r4m-2pw8-7gvw)', async (t) => {
  for (const query of [
    ...['name[$ne]=x', 'filter[name]=Jan', 'filter[$where]=1', 'name[]=Jan', 'sort[name]=desc', 'where[secret]=aa'],
    ...[
      'filter%5Bname%5D=Jan',
      '__proto__[filter]=name=Jan',
      'constructor[prototype][filter]=x',
      'select[]=secret',
      'a[b]=1',
    ],
  ]) {
    t.deepEqual(names(await world.get(`/api/players?${query}`)), ALL, query)
  }
  t.is((await players({ name: '{"$ne":"x"}' })).body.totalCount, 0)
  t.is(Object.getOwnPropertyDescriptor(Object.prototype, 'filter'), undefined)
})

test.serial('depth is counted before parsing, and no RangeError reaches a client (GHSA-82x6-q7mm-w9cf)', async (t) => {
  const deep = (count: number): string => `${'('.repeat(count)}name=x${')'.repeat(count)}`
  for (const filter of [deep(11), deep(1500), '('.repeat(4000), `${'('.repeat(2000)}name=x`, 'a.'.repeat(2000)]) {
    t.is((await players({ filter })).status, 400)
  }
  const nested = `${'team.players.any('.repeat(200)}name=x${')'.repeat(200)}`
  t.is((await players({ filter: nested })).status, 400)
  const { body: own } = await world.post('/api/players', { name: 'deep' })
  const arrays = `{"name":"deep","extra":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  const objects = `{"name":"deep","extra":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}}`
  for (const body of [arrays, objects, '['.repeat(200_000), arrays.replace('extra', 'unknown')]) {
    const headers = { 'content-type': 'application/json' }
    for (const [method, path] of [
      ['POST', '/api/players'],
      ['PATCH', `/api/players/${own.id}`],
    ] as const) {
      const { status, text } = await world.send(method, path, { body, headers })
      t.true(status < 500, `${method} ${status} ${text.slice(0, 200)}`)
      t.notRegex(text, /RangeError|stack/)
    }
  }
  await world.Player.destroy({ where: { name: 'deep' } })
  t.deepEqual(world.errors, [])
})

test('keys are parsed to the type of the key before any query (CVE-2026-29793)', async (t) => {
  const keys = [
    '1 OR 1=1',
    '1;DROP TABLE Players',
    "1'",
    '1.0',
    '01',
    '+1',
    '1e0',
    '0x1',
    ' 1',
    '1%00',
    '%27',
    '[object Object]',
    'null',
    '*',
  ]
  for (const key of [...keys, '9'.repeat(30), '-9223372036854775809', '{"$gt":0}', 'NaN', 'true']) {
    const path = `/api/players/${encodeURIComponent(key).replace('%2500', '%00')}`
    t.is((await world.get(path)).status, 404, key)
    t.is((await world.patch(path, { name: 'x' })).status, 404, key)
    t.is((await world.delete(path)).status, 404, key)
  }
  const objects = [{ $gt: 0 }, { id: 1 }, [1], [[1]], null, true, {}, [], '1 OR 1=1', '', ' ', 1.5, -1, 1e300]
  t.deepEqual((await world.post('/api/players/bulk-delete', objects)).body, { deleted: 0 })
  t.is(await world.Player.count(), 4, databaseName)
})
