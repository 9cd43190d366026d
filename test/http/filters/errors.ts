import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { OPERATORS } from '../../../lib/language/operators.js'
import type { CrudOptions } from '../../../types/options.js'
import { keysOf, list, type Parameters } from '../../support/lists.js'
import { serveRelations } from '../../support/relations.js'
import type { Answer } from '../../support/server.js'
import { openStage, type Stage } from '../../support/stage.js'

interface Items {
  readonly Item: ModelStatic<Model>
}

/** `hidden` and `absent` have names of one length, so that their answers can be compared to the letter. */
async function serveItems(options: CrudOptions = {}, hooks = false): Promise<Stage<Items>> {
  const stage = await openStage<Items>(({ sequelize }, app) => {
    const Item = sequelize.define(
      'Item',
      {
        name: DataTypes.STRING,
        level: DataTypes.INTEGER,
        hidden: DataTypes.STRING,
        unread: DataTypes.STRING,
        queryless: DataTypes.STRING,
        closed: DataTypes.STRING,
      },
      { timestamps: false, ...(hooks ? { hooks: { beforeFind: () => {} } } : {}) },
    )
    app.use(
      crudRouter(Item, {
        fields: {
          hidden: { exclude: true },
          unread: { exclude: ['response', 'list'] },
          queryless: { exclude: 'query' },
          closed: { filterable: false, sortable: false },
        },
        ...options,
      }),
    )
    return { Item }
  })
  const { Item } = stage
  const secrets = { hidden: 'h', unread: 'u', queryless: 'q', closed: 'c' }
  await Item.bulkCreate([
    { name: 'a', level: 1, ...secrets },
    { name: 'b', level: 2, ...secrets },
    { name: 'c', level: 3, ...secrets },
  ])
  return stage
}

const strict = await serveItems()
const lenient = await serveItems({ query: { unknownFields: 'ignore' } })
const hooked = await serveItems({ query: { unknownFields: 'ignore' } }, true)
const people = await serveRelations()
const crossing = await serveRelations({ limits: { quantifiers: 100, joins: 200 } })
const bounded = await serveRelations({
  limits: { filterLength: 60, nesting: 2, clauses: 3, listItems: 2, sortKeys: 1, selectFields: 2, pathDepth: 1 },
})
test.after.always(async () => {
  for (const server of [strict, lenient, hooked, people, crossing, bounded]) await server.close()
})

// ------------------------------------------------------------------------------------------------------- limits

const nested = (depth: number): string => `${'('.repeat(depth)}Level=10${')'.repeat(depth)}`
const many = (count: number, text: string, separator: string): string => Array(count).fill(text).join(separator)

/** The names of so many tables that people lead to, at most three relations away. */
function tables(count: number): readonly string[] {
  const near = ['Club', 'Mentor', 'Born', 'Lives', 'Passport']
  const further = [...near, ...near.map((name) => `Mentor.${name}`), ...near.map((name) => `Mentor.Mentor.${name}`)]
  const all = [...further, 'Club.Country', 'Passport.Person', ...near.map((name) => `Passport.Person.${name}`)]
  return all.slice(0, count).map((path) => `${path}.${path.endsWith('Passport') ? 'Number' : 'Name'}`)
}

const equal = (path: string): string => `${path}=x`

/** What is just within each limit, and what is just beyond it: the defaults, and others. */
const LIMITS: readonly (readonly [
  server: typeof people,
  limit: string,
  maximum: number,
  within: Parameters,
  beyond: Parameters,
])[] = [
  [people, 'filterLength', 4096, { filter: `Name=${'x'.repeat(4091)}` }, { filter: `Name=${'x'.repeat(4092)}` }],
  [people, 'nesting', 10, { filter: nested(10) }, { filter: nested(11) }],
  [
    people,
    'nesting',
    10,
    { filter: `${'('.repeat(8)}Pupils.Any((Level=10))${')'.repeat(8)}` },
    { filter: `${'('.repeat(9)}Pupils.Any((Level=10))${')'.repeat(9)}` },
  ],
  [people, 'clauses', 100, { filter: many(100, 'Level=10', '|') }, { filter: many(101, 'Level=10', '|') }],
  [
    crossing,
    'clauses',
    100,
    { filter: many(50, 'Pupils.Count(Level=10)=1', '|') },
    { filter: `${many(50, 'Pupils.Count(Level=10)=1', '|')},Level=10` },
  ],
  [
    people,
    'listItems',
    200,
    { filter: `Level=in=${many(200, '10', ';')}` },
    { filter: `Level=out=${many(201, '10', ';')}` },
  ],
  [people, 'sortKeys', 10, { sort: many(10, 'Level', ',') }, { sort: many(11, 'Level', ',') }],
  [people, 'selectFields', 50, { select: many(50, 'Level', ',') }, { select: many(51, 'Level', ',') }],
  [people, 'pathDepth', 3, { filter: 'Mentor.Mentor.Mentor.Name=x' }, { filter: 'Mentor.Mentor.Mentor.Mentor.Name=x' }],
  [
    people,
    'pathDepth',
    3,
    { filter: 'Pupils.Any(Pupils.All.Mentor.Name=x)' },
    { filter: 'Pupils.Any(Pupils.All.Mentor.Club.Name=x)' },
  ],
  [people, 'pathDepth', 3, { filter: 'Mentor.Mentor.Mentor=null' }, { filter: 'Mentor.Mentor.Mentor.Mentor=null' }],
  [
    people,
    'pathDepth',
    3,
    { filter: 'Mentor.Mentor.Pupils.Count=1' },
    { filter: 'Mentor.Mentor.Mentor.Pupils.Count=1' },
  ],
  [people, 'pathDepth', 3, { sort: 'Mentor.Mentor.Club.Name' }, { sort: 'Mentor.Mentor.Mentor.Club.Name' }],
  [people, 'pathDepth', 3, { select: 'Mentor.Club.Country.Name' }, { select: 'Mentor.Mentor.Club.Country.Name' }],
  [people, 'joins', 20, { select: tables(20).join(',') }, { select: tables(21).join(',') }],
  [people, 'joins', 20, { filter: tables(20).map(equal).join('|') }, { filter: tables(21).map(equal).join('|') }],
  [
    people,
    'quantifiers',
    10,
    { filter: many(10, 'Pupils.Count=1', '|') },
    { filter: `${many(10, 'Pupils.Count=1', '|')}|Notes.Text=x` },
  ],
  [
    people,
    'quantifierDepth',
    2,
    { filter: 'Club.People.Any(Skills.Count>1)' },
    { filter: 'Pupils.Any(Pupils.Skills.Name=x)' },
  ],
  [bounded, 'filterLength', 60, { filter: `Name=${'x'.repeat(55)}` }, { filter: `Name=${'x'.repeat(56)}` }],
  [bounded, 'nesting', 2, { filter: '((Level=10))' }, { filter: '(((Level=10)))' }],
  [bounded, 'clauses', 3, { filter: many(3, 'Level=10', ',') }, { filter: many(4, 'Level=10', ',') }],
  [bounded, 'listItems', 2, { filter: 'Level=in=1;2' }, { filter: 'Level=in=1;2;3' }],
  [bounded, 'sortKeys', 1, { sort: 'Level' }, { sort: 'Level,Name' }],
  [bounded, 'selectFields', 2, { select: 'Level,Name' }, { select: 'Level,Name,id' }],
  [bounded, 'pathDepth', 1, { filter: 'Club.Name=x' }, { filter: 'Club.Country.Name=x' }],
]

for (const [server, limit, maximum, within, beyond] of LIMITS) {
  const [parameter = ''] = Object.keys(beyond)
  const text = String(beyond[parameter])
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text
  test(`${parameter}=${shown} is 400 naming ${limit} (${maximum}), which is inclusive`, async (t) => {
    t.is((await list(server, '/api/people', within)).status, 200)
    const { status, body } = await list(server, '/api/people', beyond)
    t.is(status, 400)
    t.is(body.title, 'Invalid query.')
    t.deepEqual(Object.keys(body.errors), [parameter])
    t.true(body.errors[parameter][0].includes(` limit of ${maximum} `), body.errors[parameter][0])
    t.true(body.errors[parameter][0].endsWith(`(${limit}).`), body.errors[parameter][0])
  })
}

test('a path over too many relations is named by its place', async (t) => {
  const path = 'Mentor.Mentor.Mentor.Club.Name'
  for (const [parameter, text, offset] of [
    ['filter', `Level>5,(Name=x|${path}=y)`, 16],
    ['filter', `Pupils.Any(Level>5,${path}=y)`, 19],
    ['sort', `Name,-${path}`, 5],
    ['select', `Name,${path}`, 5],
  ] as const) {
    const { body } = await list(people, '/api/people', { [parameter]: text })
    const message = `at position ${offset} has a path over more relations than the limit of 3 (pathDepth).`
    t.deepEqual(body.errors, { [parameter]: [message] })
  }
})

test('nesting is counted before anything is parsed: deep text is refused for its depth, well-formed or not', async (t) => {
  for (const filter of ['('.repeat(2000), `Name=x,${'('.repeat(11)}`, `${'(Pupils.Any'.repeat(20)}!!`]) {
    const { status, body } = await list(people, '/api/people', { filter })
    t.is(status, 400)
    t.deepEqual(body.errors, { filter: ['is nested deeper than the limit of 10 (nesting).'] })
  }
  const escaped = `Name=${'\\('.repeat(30)}`
  t.is((await list(people, '/api/people', { filter: escaped })).status, 200)
})

test('the largest filter there may be runs on the database', async (t) => {
  const group = (text: string): string => `(${text})`
  const clauses = Array.from({ length: 100 }, (_, index) => `Level${index % 2 === 0 ? '=' : '!='}${index}`)
  const joined = clauses.map((clause, index) => (index % 7 === 0 ? group(group(clause)) : clause)).join('|')
  t.is((await list(people, '/api/people', { filter: `${'('.repeat(8)}${joined}${')'.repeat(8)}` })).status, 200)
  const quantified = `Pupils.All(${many(30, 'Pupils.Any(Club.Name!=x|Level>5)', ',')})`
  t.is((await list(crossing, '/api/people', { filter: quantified })).status, 200)
})

// ------------------------------------------------------------------------------------------------------- syntax

/** What does not parse: where the fault is, and what the message says of it. */
const MALFORMED: readonly (readonly [filter: string, offset: number, message: string])[] = [
  ['Level>5,,Name=x', 8, 'Expected a field name or "(" at position 8, but found ",".'],
  ['(Level>5', 8, 'Expected ")" at position 8, but found the end.'],
  [
    'Level>5)',
    7,
    'Expected the end at position 7, but found ")". No group is open: write `\\)` for a parenthesis in a value.',
  ],
  ['Name', 4, 'Expected an operator or "." at position 4, but found the end.'],
  ['()', 1, 'Expected a field name or "(" at position 1, but found ")".'],
  ['Name=in=(a;b)', 8, 'Expected a value at position 8, but found "(". Write `\\(` for a parenthesis in a value.'],
  [
    'Name==x',
    5,
    'Expected a value at position 5, but found "=". `==` is not an operator: write `=`, or `\\=` where a value begins with "=".',
  ],
  [
    'Level=>5',
    6,
    'Expected a value at position 6, but found ">". `=>` is not an operator: write `>=`, or `\\>` where a value begins with ">".',
  ],
  [
    'Level<>5',
    6,
    'Expected a value at position 6, but found ">". `<>` is not an operator: write `!=`, or `\\>` where a value begins with ">".',
  ],
  ['Name=*', 6, 'Expected a value at position 6, but found the end.'],
  ['Name^', 5, 'Expected a value at position 5, but found the end.'],
  ['Name!$,Level=1', 6, 'Expected a value at position 6, but found ",".'],
  ['Name=in=', 8, 'Expected a value at position 8, but found the end.'],
  ['Name=in=a;;b', 10, 'Expected a value at position 10, but found ";".'],
  ['Name=in=a;', 10, 'Expected a value at position 10, but found the end.'],
  [
    'Name=*/i',
    8,
    'Expected a value at position 8, but found the end. At the end of a clause `/i` ignores case: write `\\/i` for the text.',
  ],
  ['Name=x\\', 7, 'Expected a character after "\\" at position 7, but found the end.'],
  [
    '!(Name=x)',
    0,
    'Expected a field name or "(" at position 0, but found "!". A group cannot be negated: negate its operators.',
  ],
  [
    'not(Name=x)',
    3,
    'Expected an operator at position 3, but found "(". There is no `not`: negate the operator (`!=`, `!*`, `!^`, `!$`, `=out=`), or use `None(...)` of a collection.',
  ],
  [
    'Name=in=A,B',
    11,
    'Expected an operator at position 11, but found the end. Separate the values of a list by `;`: `=in=1;2`.',
  ],
  ['Name=x,', 7, 'Expected a field name or "(" at position 7, but found the end.'],
  ['|Name=x', 0, 'Expected a field name or "(" at position 0, but found "|".'],
  ['Team..Name=x', 5, 'Expected a field name at position 5, but found ".".'],
  ['1Name=x', 0, 'Expected a field name or "(" at position 0, but found "1".'],
  ['Na-me=x', 2, 'Expected an operator or "." at position 2, but found "-".'],
  ['Name=x (Level=1)', 7, 'Expected "," or "|" or the end'],
  ['😀=x', 0, 'Expected a field name or "(" at position 0, but found "😀".'],
  // Positions are UTF-16 offsets: the emoji counts for two.
  ['Name=😀,,', 8, 'Expected a field name or "(" at position 8, but found ",".'],
]

for (const [filter, offset, message] of MALFORMED) {
  test(`${filter} is a malformed filter at position ${offset}`, async (t) => {
    const { status, headers, body } = await list(people, '/api/people', { filter })
    t.is(status, 400)
    t.is(headers.get('content-type'), 'application/problem+json')
    t.is(body.title, 'Malformed filter.')
    t.is(body.status, 400)
    t.is(body.type, 'https://tools.ietf.org/html/rfc9110#section-15.5.1')
    t.deepEqual(Object.keys(body.errors), ['filter'])
    const [told] = body.errors.filter
    if (told !== message) t.regex(told, new RegExp(`^Expected .* at position ${offset}, but found `))
    const [, shown, caret] = /^([\s\S]*)\n([^\n]*)\n( *\^)$/.exec(body.detail)?.slice(1) ?? []
    t.is(shown, filter)
    t.is(caret, `${' '.repeat(offset)}^`)
  })
}

test('the caret’s picture of a long filter is cut around the fault', async (t) => {
  const filter = `Name=${'x'.repeat(100)},,${'y'.repeat(100)}`
  const { body } = await list(people, '/api/people', { filter })
  const [message, shown = '', caret = ''] = body.detail.split('\n')
  t.is(message, 'Expected a field name or "(" at position 106, but found ",".')
  t.true(shown.length <= 62)
  t.true(shown.startsWith('…') && shown.endsWith('…'))
  t.is(shown.slice(caret.length - 2, caret.length), ',,')
})

test('errors of meaning carry the position of their clause', async (t) => {
  for (const [filter, title, message] of [
    ['Level=10,Nobody=1', 'Unknown field.', 'Unknown field "Nobody" at position 9.'],
    ['Level=10|(Name=x,Nobody.Name=1)', 'Unknown field.', 'Unknown field "Nobody.Name" at position 17.'],
    ['Level=10, Level=x', 'Invalid query.', 'Level at position 10: "x" is not a whole number.'],
    ['Name=x,Level=*1', 'Invalid query.', 'Level at position 7: the operator "=*" cannot be used with a whole number.'],
    ['Name=😀,Level=x', 'Invalid query.', 'Level at position 8: "x" is not a whole number.'],
  ] as const) {
    const { status, body } = await list(people, '/api/people', { filter })
    t.is(status, 400, filter)
    t.is(body.title, title)
    t.deepEqual(body.errors, { filter: [message] })
  }
})

test('each parameter has its own title for what does not parse, and is named in the errors', async (t) => {
  for (const [parameters, title, name] of [
    [{ filter: 'Level>' }, 'Invalid query.', 'filter'],
    [{ filter: 'Level>>1' }, 'Malformed filter.', 'filter'],
    [{ sort: 'Level,,Name' }, 'Malformed sort.', 'sort'],
    [{ sort: 'Level desc asc' }, 'Malformed sort.', 'sort'],
    [{ select: 'Name,' }, 'Malformed select.', 'select'],
    [{ select: 'Name Level' }, 'Malformed select.', 'select'],
    [{ filter: 'Nobody=1' }, 'Unknown field.', 'filter'],
    [{ sort: 'Nobody' }, 'Unknown field.', 'sort'],
    [{ select: 'Nobody' }, 'Unknown field.', 'select'],
    [{ level: 'x' }, 'Invalid query.', 'level'],
    [{ page: 'x' }, 'Invalid query.', 'page'],
    [{ cursor: 'x' }, 'Invalid query.', 'cursor'],
  ] as const) {
    const { status, body } = await list(people, '/api/people', parameters)
    t.is(status, 400, JSON.stringify(parameters))
    t.is(body.title, title)
    t.deepEqual(Object.keys(body.errors), [name])
    t.is(body.errors[name].length, 1)
  }
})

// ------------------------------------------------------------------------------------------------------- unknown fields

/** An answer without its time, without the tag that Express makes of the body, and without the name. */
function comparable({ status, headers, text }: Answer, name: string): unknown {
  const kept = [...headers].filter(([header]) => header !== 'date' && header !== 'etag')
  return JSON.stringify({ status, kept, text }).replaceAll(new RegExp(name, 'gi'), 'NAME')
}

const USES: readonly ((name: string) => Parameters)[] = [
  ...OPERATORS.map(({ token }) => (name: string) => ({ filter: `${name}${token}x` })),
  (name) => ({ filter: `Level=1,(Name=b|${name}=x)` }),
  (name) => ({ filter: `${name}=null` }),
  (name) => ({ filter: `${name}.Name=x` }),
  (name) => ({ filter: `${name}.Any(Name=x)` }),
  (name) => ({ filter: `${name}.Count>1` }),
  (name) => ({ filter: `${name}=x`, count: true }),
  (name) => ({ filter: `${name}=x`, cursor: '' }),
  (name) => ({ filter: `${name}=x`, select: 'Name' }),
  (name) => ({ sort: name }),
  (name) => ({ sort: `Level,-${name}` }),
  (name) => ({ sort: `${name}.Name` }),
  (name) => ({ sortBy: name }),
  (name) => ({ sortBy: name, sortDirection: 'desc' }),
  (name) => ({ [name]: 'x' }),
  (name) => ({ [name.toLowerCase()]: '' }),
]

for (const [name, as] of [
  ['Hidden', 'excluded from every shape'],
  ['Unread', 'excluded from the response and the list'],
  ['Queryless', 'excluded from the query shape'],
  ['Closed', 'closed to filter and sort'],
] as const) {
  test(`a field ${as} is answered as one that does not exist, apart from the name`, async (t) => {
    const absent = 'Absentees'.slice(0, name.length)
    for (const server of [strict, lenient]) {
      for (const use of USES) {
        // Keyset pages have whole records, which name their own fields.
        if (server === lenient && 'cursor' in use(name)) continue
        const there = await list(server, '/api/items', { select: 'Level', ...use(name) })
        const nowhere = await list(server, '/api/items', { select: 'Level', ...use(absent) })
        t.deepEqual(comparable(there, name), comparable(nowhere, absent), JSON.stringify(use(name)))
      }
    }
  })
}

test('a field excluded from the list cannot be selected, and one excluded from the query can', async (t) => {
  for (const name of ['Hidden', 'Unread']) {
    const there = await list(strict, '/api/items', { select: `Level,${name}` })
    t.is(there.status, 400)
    const nowhere = await list(strict, '/api/items', { select: `Level,${'Absentees'.slice(0, name.length)}` })
    t.deepEqual(comparable(there, name), comparable(nowhere, 'Absentees'.slice(0, name.length)))
  }
  const { body } = await list(strict, '/api/items', { select: 'Queryless,Closed', pageSize: 1 })
  t.deepEqual(body.items, [{ queryless: 'q', closed: 'c' }])
})

test('the key is no field to filter by until an option opens it', async (t) => {
  t.is((await list(strict, '/api/items', { filter: 'Id=1' })).body.title, 'Unknown field.')
  const open = await serveItems({ fields: { id: { filterable: true } } })
  t.teardown(() => open.close())
  t.deepEqual(await keysOf(open, '/api/items', { filter: 'Id=in=1;3' }), [1, 3])
  t.deepEqual(await keysOf(open, '/api/items', { filter: 'Id!=2' }), [1, 3])
  t.deepEqual(await keysOf(open, '/api/items', { id: 2 }), [2])
  t.deepEqual((await list(open, '/api/items', { filter: 'Id=null' })).body.errors, {
    filter: ['Id at position 0: it is never null.'],
  })
})

for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf']) {
  test(`${name} is an unknown field, whatever it is used for`, async (t) => {
    for (const parameters of [
      { filter: `${name}=x` },
      { filter: `${name}.name=x` },
      { filter: `name.${name}=x` },
      { filter: `${name}.Any(name=x)` },
      { sort: name },
      { sort: `-${name}.name` },
      { select: name },
      { select: `name,${name}.name` },
    ]) {
      const { status, body } = await list(strict, '/api/items', parameters)
      t.is(status, 400, JSON.stringify(parameters))
      t.is(body.title, 'Unknown field.')
    }
    t.is((await list(strict, '/api/items', { sortBy: name })).body.totalCount, 3)
    t.is((await list(strict, '/api/items', { [name]: 'x' })).body.code, 'unknown-parameter')
  })
}

/** What is left of a filter when unknown names are as if they were not written. */
const IGNORED: readonly (readonly [filter: string, ids: readonly number[]])[] = [
  ['Nobody=1', [1, 2, 3]],
  ['Hidden=x', [1, 2, 3]],
  ['Nobody=1,Level>1', [2, 3]],
  ['Nobody=1|Level>1', [2, 3]],
  ['(Nobody=1),Level>1', [2, 3]],
  ['(Nobody=1|Hidden=x),Level>1', [2, 3]],
  ['(Nobody=1|Level>1),Name=b', [2]],
  ['((Nobody=1)|Level=1)|(Level=2,Hidden=x)', [1, 2]],
  ['Nobody.Any(Name=x),Level=1', [1]],
  ['Nobody.Count(Name=x)>1|Level=1', [1]],
  ['Name.Level=1', [1, 2, 3]],
]

for (const [filter, ids] of IGNORED) {
  test(`where unknown fields are ignored, ${filter} finds ${ids.join(', ')}`, async (t) => {
    t.deepEqual(await keysOf(lenient, '/api/items', { filter }), ids)
    t.deepEqual((await list(lenient, '/api/items', { filter, count: true })).body, { count: ids.length })
  })
}

test('where unknown fields are ignored, what is wrong otherwise is 400 still', async (t) => {
  for (const [parameters, title] of [
    [{ filter: 'Nobody=' }, null],
    [{ filter: 'Nobody=1,Level=x' }, 'Invalid query.'],
    [{ filter: 'Nobody=1,Level=*1' }, 'Invalid query.'],
    [{ filter: 'Nobody=1,' }, 'Malformed filter.'],
    [{ filter: 'Nobody=*' }, 'Malformed filter.'],
    [{ sort: 'Nobody,' }, 'Malformed sort.'],
    [{ select: ',Nobody' }, 'Malformed select.'],
    [{ filter: 'Nobody=1', page: 0 }, 'Invalid query.'],
  ] as const) {
    const { status, body } = await list(lenient, '/api/items', parameters)
    t.is(status, title === null ? 200 : 400, JSON.stringify(parameters))
    if (title !== null) t.is(body.title, title)
  }
})

test('where unknown fields are ignored, sort keys and selected fields that are unknown are not written', async (t) => {
  t.deepEqual(await keysOf(lenient, '/api/items', { sort: 'Nobody' }), [1, 2, 3])
  t.deepEqual(await keysOf(lenient, '/api/items', { sort: '-Nobody' }), [1, 2, 3])
  t.deepEqual(await keysOf(lenient, '/api/items', { sort: 'Hidden,-Level' }), [3, 2, 1])
  const { body } = await list(lenient, '/api/items', { select: 'Nobody,Name,Hidden', pageSize: 1 })
  t.deepEqual(body.items, [{ name: 'a' }])
})

test('a select that is emptied entirely gives items without members, and the whole envelope', async (t) => {
  for (const server of [lenient, hooked]) {
    for (const parameters of [{}, { filter: 'Level>1' }, { filter: 'Level>1', sort: '-Name' }]) {
      const { status, body } = await list(server, '/api/items', { select: 'Nobody,Hidden', ...parameters })
      t.is(status, 200)
      const count = 'filter' in parameters ? 2 : 3
      t.deepEqual(body.items, Array(count).fill({}))
      t.is(body.totalCount, count)
    }
    const uncounted = await list(server, '/api/items', { select: 'Nobody,Hidden', count: 'none' })
    t.deepEqual(uncounted.body.items, Array(3).fill({}))
  }
})

// ------------------------------------------------------------------------------------------------------- Prefer

const UNKNOWN = { filter: 'Nobody=1' }

/** What `Prefer` does on a host that rejects unknown fields and on one that ignores them. */
const PREFERENCES: readonly (readonly [
  prefer: string,
  rejecting: readonly [status: number, applied: string | null],
  ignoring: readonly [status: number, applied: string | null],
])[] = [
  ['handling=strict', [400, 'handling=strict'], [400, 'handling=strict']],
  ['handling=lenient', [400, null], [200, 'handling=lenient']],
  ['HANDLING = "Strict"', [400, 'handling=strict'], [400, 'handling=strict']],
  ['respond-async, handling=lenient; q=1', [400, null], [200, 'handling=lenient']],
  ['handling=lenient, handling=strict', [400, null], [200, 'handling=lenient']],
  ['handling=loose', [400, null], [200, null]],
  ['handling', [400, null], [200, null]],
  ['return=minimal', [400, null], [200, null]],
  ['xhandling=strict', [400, null], [200, null]],
]

for (const [prefer, rejecting, ignoring] of PREFERENCES) {
  test(`Prefer: ${prefer} gives ${rejecting[0]} where unknown fields are rejected, ${ignoring[0]} where ignored`, async (t) => {
    for (const [server, [expected, applied]] of [
      [strict, rejecting],
      [lenient, ignoring],
    ] as const) {
      const unknown = await server.get(`/api/items?filter=${encodeURIComponent(UNKNOWN.filter)}`, { Prefer: prefer })
      t.is(unknown.status, expected)
      if (expected === 200) t.is(unknown.headers.get('preference-applied'), applied)
      for (const query of ['', '?count=true', '?cursor=', '?select=Name']) {
        const { status, headers } = await server.get(`/api/items${query}`, { Prefer: prefer })
        t.is(status, 200)
        t.is(headers.get('preference-applied'), applied)
      }
    }
  })
}

test('lists vary by Prefer where unknown fields may be ignored, and nowhere else', async (t) => {
  for (const query of ['', '?count=true', '?cursor=', '?select=Name']) {
    t.is((await lenient.get(`/api/items${query}`)).headers.get('vary'), 'Prefer')
    t.is((await strict.get(`/api/items${query}`)).headers.get('vary'), null)
  }
})

test('without Prefer nothing is said to be applied', async (t) => {
  for (const server of [strict, lenient]) {
    t.is((await server.get('/api/items')).headers.get('preference-applied'), null)
  }
})
