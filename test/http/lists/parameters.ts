import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { keysOf, list, type Parameters } from '../../support/lists.js'
import { serveSamples } from '../../support/samples.js'
import { openStage } from '../../support/stage.js'

const samples = await serveSamples({ query: { unknownParameters: 'ignore' } })

interface Models {
  readonly Thing: ModelStatic<Model>
}

/** Attributes named like the service's own parameters, and like nothing special. */
const things = await openStage<Models>(({ sequelize }, app) => {
  const Thing = sequelize.define(
    'Thing',
    {
      name: DataTypes.STRING,
      first_name: DataTypes.STRING,
      page: DataTypes.INTEGER,
      sort: DataTypes.STRING,
      filter: DataTypes.STRING,
      pagesize: DataTypes.INTEGER,
      hidden: DataTypes.STRING,
    },
    { timestamps: false },
  )
  app.use(crudRouter(Thing, { fields: { hidden: { exclude: 'query' } }, query: { unknownParameters: 'ignore' } }))
  return { Thing }
})
const { Thing } = things
await Thing.bulkCreate([
  { name: 'a b', first_name: 'A', page: 7, sort: 'x', filter: 'f', pagesize: 1, hidden: 'h' },
  { name: 'a+b', first_name: 'B', page: 8, sort: 'y', filter: 'g', pagesize: 2, hidden: 'h' },
  { name: 'żółw & co=1', first_name: 'A', page: 7, sort: 'x', filter: 'g', pagesize: 3, hidden: 'i' },
])

test.after.always(async () => {
  await samples.close()
  await things.close()
})

const found = async (query: string): Promise<number[]> => {
  const { status, text, body } = await things.get(`/api/things?${query}`)
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body.items.map(({ id }: { id: number }) => id)
}

/** Field parameters by type, and the rows that they find. */
const TYPED: readonly (readonly [parameters: Parameters, ids: readonly number[]])[] = [
  [{ text: 'bravo' }, [2]],
  [{ TEXT: 'bravo' }, [2]],
  [{ tExT: ' bravo' }, []],
  [{ text: 'BRAVO' }, []],
  [{ text: 'bravo/i' }, []],
  [{ text: 'br%' }, []],
  [{ text: 'bravo|charlie' }, []],
  [{ text: 'bravo,charlie' }, []],
  [{ text: 'null' }, []],
  [{ text: '\\bravo' }, []],
  [{ text: "' OR 1=1 --" }, []],
  [{ note: 'banana' }, [2]],
  [{ whole: 0 }, [2]],
  [{ whole: '-5' }, [1]],
  [{ whole: '+0' }, [2]],
  [{ whole: '99999999999999999999' }, []],
  [{ big: '9007199254740993' }, [3]],
  [{ amount: '0.30' }, [2]],
  [{ amount: '0.30000000000000001' }, []],
  [{ double: '0.3' }, [2]],
  [{ single: '0.3' }, [2]],
  [{ flag: 'FALSE' }, [2]],
  [{ at: '2024-02-29' }, [2, 3]],
  [{ at: '2024-02-29T00:00:00Z' }, [2]],
  [{ moment: '2024-02-29' }, [2]],
  [{ day: '2024-02-29' }, [2]],
  [{ clock: '09:30' }, [2]],
  [{ code: '0B1C2D3E-0000-4000-8000-00000000000A' }, [2]],
  [{ rank: 'LOW' }, [2]],
  [{ flag: true, rank: 'mid' }, [3]],
  [{ flag: true, rank: 'low' }, []],
  [{ flag: true, filter: 'Whole<0' }, [1]],
  [{ flag: true, filter: 'Whole<0|Whole=0' }, [1]],
  [{ flag: true, text: 'alpha', whole: -5, filter: 'At<2024-02-29' }, [1]],
  [{ text: '', flag: '', at: '' }, [1, 2, 3, 4]],
  [{ data: 'two' }, [1, 2, 3, 4]],
  [{ bytes: 'x' }, [1, 2, 3, 4]],
  [{ id: 2 }, [1, 2, 3, 4]],
]

for (const [parameters, ids] of TYPED) {
  test(`?${new URLSearchParams(Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]))} finds ${ids.join(', ') || 'nothing'}`, async (t) => {
    for (const path of ['/api/samples', '/api/hooked']) {
      t.deepEqual(await keysOf(samples, path, parameters), ids)
      t.deepEqual(await keysOf(samples, path, { ...parameters, cursor: '' }), ids)
      t.deepEqual((await list(samples, path, { ...parameters, count: true })).body, { count: ids.length })
    }
  })
}

for (const [name, value, what] of [
  ['whole', 'abc', 'a whole number'],
  ['whole', '1.5', 'a whole number'],
  ['WHOLE', ' 1', 'a whole number'],
  ['whole', 'null', 'a whole number'],
  ['big', '1e3', 'a whole number'],
  ['amount', '1,5', 'a decimal number'],
  ['flag', 'null', 'true or false'],
  ['flag', '1', 'true or false'],
  ['at', 'yesterday', 'a date-time (ISO 8601)'],
  ['at', '2024-02-30', 'a date-time (ISO 8601)'],
  ['day', '2024-2-9', 'a date (YYYY-MM-DD)'],
  ['clock', '9:30', 'a time (HH:MM:SS)'],
  ['code', '123', 'a UUID'],
  ['rank', 'constructor', 'one of Low, mid, High'],
  ['text', 'a\0b', 'text without NUL characters'],
] as const) {
  test(`?${name}=${JSON.stringify(value).slice(1, -1)} is 400: it is not ${what}`, async (t) => {
    for (const mode of [{}, { count: true }, { cursor: '' }, { select: 'text' }]) {
      const { status, body } = await list(samples, '/api/samples', { [name]: value, ...mode })
      t.is(status, 400)
      t.is(body.title, 'Invalid query.')
      t.deepEqual(body.errors, { [name.toLowerCase()]: [`"${value}" is not ${what}.`] })
    }
  })
}

/** Queries as they stand in the URL. */
const WRITTEN: readonly (readonly [query: string, ids: readonly number[]])[] = [
  ['name=a+b', [1]],
  ['name=a%20b', [1]],
  ['name=a%2Bb', [2]],
  ['name=%C5%BC%C3%B3%C5%82w+%26+co%3D1', [3]],
  ['name=%c5%bc%c3%b3%c5%82w%20%26%20co=1', [3]],
  ['%6E%61me=a%20b', [1]],
  ['Name=a+b', [1]],
  ['firstName=A', [1, 3]],
  ['FIRSTNAME=A', [1, 3]],
  ['first_name=A', [1, 2, 3]],
  ['first+name=A', [1, 2, 3]],
  ['+name=a+b', [1, 2, 3]],
  ['filter=Name%3Da+b', [1]],
  ['filter=Name=a%20b', [1]],
  ['filter=Name=a%2Bb', [2]],
  ['filter=Name=a+b%7CName=a%2Bb', [1, 2]],
  ['filter=%4Eame%3Da%5C+b', [1]],
  ['', [1, 2, 3]],
  ['&&', [1, 2, 3]],
  ['=', [1, 2, 3]],
  ['=x', [1, 2, 3]],
  ['name', [1, 2, 3]],
  ['name=', [1, 2, 3]],
  ['filter', [1, 2, 3]],
  ['filter=&sort=&select=&count=&page=&pageSize=&sortBy=&sortDirection=', [1, 2, 3]],
  ['&name=a+b&', [1]],
  ['name=a+b#fragment', [1]],
  ['name=a+b?', []],
  ['?name=a+b', [1, 2, 3]],
]

for (const [query, ids] of WRITTEN) {
  test(`?${query} finds ${ids.join(', ') || 'nothing'}`, async (t) => {
    t.deepEqual(await found(query), ids)
  })
}

/** Names that a parser of nested objects, or a look-up in a plain object, would make something of. */
const UNKNOWN: readonly string[] = [
  ...[
    'utm_source=x',
    'x=1&x=2',
    'X-Y=1',
    'includedeleted=maybe',
    'PAGE=x',
    'Page=0',
    'FILTER=%%%',
    'Sort=,',
    'CURSOR=x',
  ],
  ...[
    'name[]=a',
    'name[0]=a',
    'name[$ne]=a',
    'name[like]=%25',
    'name.x=a',
    'filter[name]=a',
    'filter[]=Level',
    'page[size]=x',
  ],
  ...[
    '__proto__=x',
    '__proto__[name]=x',
    'constructor=x',
    'constructor.prototype.name=x',
    'hasOwnProperty=1',
    'valueOf=1',
  ],
  ...['hidden=nobody', 'hidden=h&hidden=i', 'id=999', 'team.name=x', 'where=1', 'limit=0', 'offset=x', 'attributes=x'],
  ...['%=x', '%zz=x', '%C3=x', 'x=%', 'x=%zz', 'x=%ED%A0%80', '%6e%61me%00=x', 'name%20=x'],
]

for (const query of UNKNOWN) {
  test(`?${query} is nobody's parameter, and ignored`, async (t) => {
    t.deepEqual(await found(query), [1, 2, 3])
    t.deepEqual(await found(`${query}&name=a+b`), [1])
  })
}

test('a field whose name is a reserved parameter has no parameter of its own, but a place in the filter', async (t) => {
  t.deepEqual(await found('page=1&pageSize=2'), [1, 2])
  t.deepEqual(await found('filter=Page=7'), [1, 3])
  t.deepEqual(await found('filter=Sort=x,Filter=g'), [3])
  t.deepEqual(await found('sort=-Page'), [2, 3, 1])
  t.deepEqual(await found('pagesize=2'), [2])
  t.deepEqual(await found('pagesize=2&pageSize=1'), [2])
})

for (const [query, name] of [
  ['page=1&page=1', 'page'],
  ['page=1&%70age=2', 'page'],
  ['pageSize=1&pageSize=2', 'pageSize'],
  ['filter=&filter=', 'filter'],
  ['filter=Name=a&filter=Name=b', 'filter'],
  ['sort=name&sort=name', 'sort'],
  ['select=name&select=name', 'select'],
  ['count=true&count=true', 'count'],
  ['cursor=&cursor=', 'cursor'],
  ['keys=1&keys=1', 'keys'],
  ['includeDeleted=true&includeDeleted=true', 'includeDeleted'],
  ['sortBy=name&sortBy=name', 'sortBy'],
  ['sortDirection=asc&sortDirection=asc', 'sortDirection'],
  ['name=a&name=b', 'name'],
  ['name=a&name=a', 'name'],
  ['name=a&NAME=a', 'name'],
  ['name=&Name=', 'name'],
  ['firstName=a&firstname=a', 'firstName'],
  ['filter&filter', 'filter'],
] as const) {
  test(`?${query} is 400: ${name} is given twice`, async (t) => {
    const { status, headers, body } = await things.get(`/api/things?${query}`)
    t.is(status, 400)
    t.is(headers.get('content-type'), 'application/problem+json')
    t.is(body.title, 'Invalid query.')
    t.deepEqual(body.errors, { [name]: ['is given more than once.'] })
  })
}

for (const [query, name] of [
  ['filter=%', 'filter'],
  ['filter=%zz', 'filter'],
  ['filter=Name=%C3', 'filter'],
  ['filter=Name=%ED%A0%80', 'filter'],
  ['filter=Name=%F8%88%80%80%80', 'filter'],
  ['filter=Name=%C0%AF', 'filter'],
  ['name=100%', 'name'],
  ['NAME=%E0%A4', 'name'],
  ['sort=%', 'sort'],
  ['select=%', 'select'],
  ['cursor=%', 'cursor'],
  ['count=%', 'count'],
  ['page=%', 'page'],
] as const) {
  test(`?${query} is 400: ${name} is no percent-encoded UTF-8`, async (t) => {
    const { status, body } = await things.get(`/api/things?${query}`)
    t.is(status, 400)
    t.is(body.title, 'Invalid query.')
    t.deepEqual(body.errors, { [name]: ['is not valid percent-encoded UTF-8.'] })
  })
}

test('the query is read from the URL, whatever the host’s query parser makes of it', async (t) => {
  for (const parser of [
    false,
    'simple',
    'extended',
    () => ({ filter: 'Name=nobody', name: ['x'], page: {} }),
  ] as const) {
    const server = await openStage<Models>(({ sequelize }, app) => {
      const Thing = sequelize.define('Thing', { name: DataTypes.STRING }, { timestamps: false })
      app.set('query parser', parser)
      app.use(crudRouter(Thing))
      return { Thing }
    })
    const { Thing } = server
    await Thing.bulkCreate([{ name: 'a' }, { name: 'b' }])
    t.teardown(() => server.close())
    t.deepEqual(await keysOf(server, '/api/things', { name: 'b' }), [2])
    t.deepEqual(await keysOf(server, '/api/things', { filter: 'Name!=b' }), [1])
    t.deepEqual(await keysOf(server, '/api/things'), [1, 2])
  }
})
