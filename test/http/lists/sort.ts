import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import type { CrudOptions } from '../../../types/options.js'
import { keysOf, list, type Parameters } from '../../support/lists.js'
import { serveRelations } from '../../support/relations.js'
import { serveSamples } from '../../support/samples.js'
import { openStage, type Stage } from '../../support/stage.js'

const samples = await serveSamples()
const people = await serveRelations()
const hooked = await serveRelations()
hooked.Person.addHook('beforeFind', () => {})

interface Things {
  readonly Thing: ModelStatic<Model>
}

async function serveThings(options: CrudOptions = {}): Promise<Stage<Things>> {
  const stage = await openStage<Things>(({ sequelize }, app) => {
    const Thing = sequelize.define('Thing', { name: DataTypes.STRING, level: DataTypes.INTEGER }, { timestamps: false })
    app.use(crudRouter(Thing, options))
    return { Thing }
  })
  const { Thing } = stage
  await Thing.bulkCreate([
    { name: 'b', level: 1 },
    { name: 'a', level: 2 },
    { name: 'b', level: 3 },
    { name: 'a', level: 1 },
  ])
  return stage
}

const things = await serveThings()
test.after.always(async () => {
  for (const server of [samples, people, hooked, things]) await server.close()
})

const sampleIds = async (sort: string): Promise<number[]> => {
  const own = await keysOf(samples, '/api/samples', { sort })
  const found = await keysOf(samples, '/api/hooked', { sort })
  if (own.join() !== found.join()) throw new Error(`${sort}: ${own}, but ${found} by findAll`)
  return own
}

for (const field of [
  ...['Text', 'Note', 'Whole', 'Small', 'Big', 'Amount', 'Double', 'Single', 'Real', 'At', 'Moment', 'Day', 'Clock'],
  ...['Code', 'Rank'],
]) {
  test(`${field} sorts null first ascending and last descending, the rest by its value`, async (t) => {
    t.deepEqual(await sampleIds(field), [4, 1, 2, 3])
    t.deepEqual(await sampleIds(`-${field}`), [3, 2, 1, 4])
  })
}

test('booleans sort null, false, true, and ties in the direction of the last sort field', async (t) => {
  t.deepEqual(await sampleIds('Flag'), [4, 2, 1, 3])
  t.deepEqual(await sampleIds('-Flag'), [3, 1, 2, 4])
})

test('the last sort key decides about ties, also if it repeats a field', async (t) => {
  t.deepEqual(await sampleIds('Flag,-Flag'), [4, 2, 3, 1])
  t.deepEqual(await sampleIds('-Flag,Flag'), [1, 3, 2, 4])
  const walked: number[] = []
  for (let after = ''; ; ) {
    const { body } = await list(samples, '/api/samples', { sort: 'Flag,-Flag', pageSize: 1, after })
    walked.push(...body.items.map(({ id }: { id: number }) => id))
    if (body.nextCursor === null) break
    after = body.nextCursor
  }
  t.deepEqual(walked, [4, 2, 3, 1])
})

test('an enumeration sorts by its text, not by the order of its declaration', async (t) => {
  // Declared Low, mid, High.
  const { body } = await list(samples, '/api/samples', { sort: 'Rank', filter: 'Rank!=null' })
  t.deepEqual(
    body.items.map(({ rank }: { rank: string }) => rank),
    ['High', 'Low', 'mid'],
  )
})

test('values of an enumeration that differ only in case sort apart, also page by page', async (t) => {
  // Only a column that distinguishes case can have both values on MySQL and MariaDB.
  const binary = ['mysql', 'mariadb'].includes(samples.name) ? { charset: 'utf8mb4', collate: 'utf8mb4_bin' } : {}
  const stage = await openStage(({ sequelize }, app) => {
    const attributes = { rank: DataTypes.ENUM('low', 'Low') }
    const Step = sequelize.define('Step', { ...attributes }, { timestamps: false, ...binary })
    const hooks = { beforeFind: () => {} }
    const Hooked = sequelize.define(
      'Hop',
      { ...attributes },
      { tableName: 'Steps', timestamps: false, ...binary, hooks },
    )
    for (const model of [Step, Hooked]) app.use(crudRouter(model))
    return { Step }
  })
  t.teardown(() => stage.close())
  for (const rank of ['low', 'Low', 'low', 'Low']) await stage.Step.create({ rank })
  for (const path of ['/api/steps', '/api/hops']) {
    const ids = await keysOf(stage, path, { sort: 'rank' })
    t.true(['1,3,2,4', '2,4,1,3'].includes(ids.join()), `${path}: ${ids}`)
    t.deepEqual(await keysOf(stage, path, { sort: '-rank' }), ids.toReversed())
    const { body } = await list(stage, path, { sort: 'rank', after: '', pageSize: 1 })
    const rest = await list(stage, path, { sort: 'rank', after: body.nextCursor })
    t.deepEqual(
      [...body.items, ...rest.body.items].map(({ id }: { id: number }) => id),
      ids,
    )
  }
})

test('what has no order is an unknown field to sort by: JSON and BLOB', async (t) => {
  for (const sort of ['Data', '-Bytes', 'Text,Data']) {
    const { status, body } = await list(samples, '/api/samples', { sort })
    t.is(status, 400, sort)
    t.is(body.title, 'Unknown field.')
  }
})

/** Spellings of a sort, and the order that they give. */
const SPELLINGS: readonly (readonly [sort: string, ids: readonly number[]])[] = [
  ['Level', [1, 4, 2, 3]],
  ['level', [1, 4, 2, 3]],
  ['LEVEL', [1, 4, 2, 3]],
  ['Level asc', [1, 4, 2, 3]],
  ['Level ASC', [1, 4, 2, 3]],
  ['-Level', [3, 2, 4, 1]],
  ['Level desc', [3, 2, 4, 1]],
  ['Level DESC', [3, 2, 4, 1]],
  ['  Level   desc  ', [3, 2, 4, 1]],
  ['- Level', [3, 2, 4, 1]],
  ['Name,Level', [4, 2, 1, 3]],
  ['Name,-Level', [2, 4, 3, 1]],
  ['-Name,Level', [1, 3, 4, 2]],
  ['Name desc,Level asc', [1, 3, 4, 2]],
  [' Name , -Level ', [2, 4, 3, 1]],
  ['Name', [2, 4, 1, 3]],
  ['-Name', [3, 1, 4, 2]],
  ['Name,id', [2, 4, 1, 3]],
  ['Name,-id', [4, 2, 3, 1]],
  ['-id', [4, 3, 2, 1]],
  ['id', [1, 2, 3, 4]],
  ['id,-Level', [1, 2, 3, 4]],
  ['Name,-Name,-Level', [2, 4, 3, 1]],
  ['Level,Name,Level', [4, 1, 2, 3]],
]

for (const [sort, ids] of SPELLINGS) {
  test(`sort=${sort} gives ${ids.join(', ')}, filtered and page by page too`, async (t) => {
    t.deepEqual(await keysOf(things, '/api/things', { sort }), ids)
    t.deepEqual(await keysOf(things, '/api/things', { sort, filter: 'Level>0' }), ids)
    t.deepEqual(await keysOf(things, '/api/things', { sort, select: 'id' }), ids)
    for (const filter of [{}, { filter: 'Level>0' }]) {
      const paged: number[] = []
      for (const page of [1, 2, 3, 4]) {
        paged.push(...(await keysOf(things, '/api/things', { sort, page, pageSize: 1, ...filter })))
      }
      t.deepEqual(paged, ids)
    }
  })
}

/** `sort`, `sortBy`, `sortDirection` and the defaults together. */
const PRECEDENCE: readonly (readonly [
  about: string,
  query: CrudOptions['query'],
  rows: readonly (readonly [parameters: Parameters, ids: readonly number[]])[],
])[] = [
  [
    'without a default the key ascends',
    {},
    [
      [{}, [1, 2, 3, 4]],
      [{ sortDirection: 'asc' }, [1, 2, 3, 4]],
      [{ sortDirection: 'desc' }, [4, 3, 2, 1]],
      [{ sortDirection: 'DESC' }, [4, 3, 2, 1]],
      [{ sort: '', sortBy: '', sortDirection: '' }, [1, 2, 3, 4]],
    ],
  ],
  [
    'sortBy names one field in any case, sortDirection its direction in any case',
    {},
    [
      [{ sortBy: 'level' }, [1, 4, 2, 3]],
      [{ sortBy: 'LEVEL' }, [1, 4, 2, 3]],
      [{ sortBy: 'level', sortDirection: 'desc' }, [3, 2, 4, 1]],
      [{ sortBy: 'level', sortDirection: 'Desc' }, [3, 2, 4, 1]],
      [{ sortBy: 'id', sortDirection: 'desc' }, [4, 3, 2, 1]],
    ],
  ],
  [
    'an unknown sortBy is no sort, and the key ascends',
    { defaultSort: '-level', defaultDirection: 'desc' },
    [
      [{ sortBy: 'nobody' }, [1, 2, 3, 4]],
      [{ sortBy: 'nobody', sortDirection: 'desc' }, [1, 2, 3, 4]],
      [{ sortBy: '-level' }, [1, 2, 3, 4]],
      [{ sortBy: 'level desc' }, [1, 2, 3, 4]],
      [{ sortBy: 'level,name' }, [1, 2, 3, 4]],
      [{ sortBy: '__proto__' }, [1, 2, 3, 4]],
    ],
  ],
  [
    'sort beats sortBy, which beats the default',
    { defaultSort: 'name' },
    [
      [{}, [2, 4, 1, 3]],
      [{ sortBy: 'level' }, [1, 4, 2, 3]],
      [{ sort: '-level', sortBy: 'name' }, [3, 2, 4, 1]],
      [{ sort: '-level', sortDirection: 'asc' }, [3, 2, 4, 1]],
    ],
  ],
  [
    'sortDirection alone is the direction of the first key of the default sort, and where it turns it the others turn too',
    { defaultSort: 'name,-level' },
    [
      [{}, [2, 4, 3, 1]],
      [{ sortDirection: 'asc' }, [2, 4, 3, 1]],
      [{ sortDirection: 'desc' }, [1, 3, 4, 2]],
    ],
  ],
  [
    'a default sort that descends ascends by sortDirection=asc, and stays as it is by sortDirection=desc',
    { defaultSort: '-name,level' },
    [
      [{}, [1, 3, 4, 2]],
      [{ sortDirection: 'desc' }, [1, 3, 4, 2]],
      [{ sortDirection: 'asc' }, [2, 4, 3, 1]],
    ],
  ],
  [
    'the default direction is that of the keys of the default sort which state none',
    { defaultSort: 'name,level asc', defaultDirection: 'desc' },
    [
      [{}, [1, 3, 4, 2]],
      [{ sortDirection: 'desc' }, [1, 3, 4, 2]],
      [{ sortDirection: 'asc' }, [2, 4, 3, 1]],
    ],
  ],
  [
    'a key of the default sort that states its direction keeps it, whatever the default direction is',
    { defaultSort: '-level,name', defaultDirection: 'desc' },
    [
      [{}, [3, 2, 1, 4]],
      [{ sortDirection: 'asc' }, [4, 1, 2, 3]],
    ],
  ],
  [
    'a default direction is that of the key, of sortBy and of the default sort',
    { defaultDirection: 'desc' },
    [
      [{}, [4, 3, 2, 1]],
      [{ sortDirection: 'asc' }, [1, 2, 3, 4]],
      [{ sortBy: 'level' }, [3, 2, 4, 1]],
      [{ sortBy: 'level', sortDirection: 'asc' }, [1, 4, 2, 3]],
      [{ sort: 'level' }, [1, 4, 2, 3]],
    ],
  ],
  [
    'a resource with a fixed order ignores every word about it, even malformed ones',
    { sortable: false, defaultSort: '-level', unknownParameters: 'ignore' },
    [
      [{}, [3, 2, 4, 1]],
      [{ sort: 'name' }, [3, 2, 4, 1]],
      [{ sort: 'nobody' }, [3, 2, 4, 1]],
      [{ sort: ',,' }, [3, 2, 4, 1]],
      [{ sortBy: 'name', sortDirection: 'up' }, [3, 2, 4, 1]],
    ],
  ],
]

for (const [about, query, rows] of PRECEDENCE) {
  test(about, async (t) => {
    const server = await serveThings(query === undefined ? {} : { query })
    t.teardown(() => server.close())
    for (const [parameters, ids] of rows) {
      t.deepEqual(await keysOf(server, '/api/things', parameters), ids, JSON.stringify(parameters))
      t.deepEqual(await keysOf(server, '/api/things', { ...parameters, filter: 'Level>0' }), ids)
    }
  })
}

for (const sortDirection of ['up', 'ascending', '1', '-', 'asc desc', 'constructor']) {
  test(`sortDirection=${sortDirection} is 400`, async (t) => {
    for (const more of [{}, { sortBy: 'level' }]) {
      const { status, body } = await list(things, '/api/things', { sortDirection, ...more })
      t.is(status, 400)
      t.is(body.title, 'Invalid query.')
      t.deepEqual(body.errors, { sortDirection: ['must be asc or desc.'] })
    }
  })
}

test('modes without an order do not look at sort, sortBy and sortDirection', async (t) => {
  for (const mode of [{ count: true }, { cursor: '' }]) {
    for (const parameters of [{ sort: ',,' }, { sort: 'nobody' }, { sortBy: 'nobody' }, { sortDirection: 'up' }]) {
      t.is((await list(things, '/api/things', { ...mode, ...parameters })).status, 200, JSON.stringify(parameters))
    }
  }
  t.deepEqual(await keysOf(things, '/api/things', { cursor: '', sort: '-level' }), [1, 2, 3, 4])
})

test('a field that is not sortable is an unknown field in sort, and no sort in sortBy', async (t) => {
  const server = await serveThings({ fields: { level: { sortable: false }, id: { sortable: false } } })
  t.teardown(() => server.close())
  for (const sort of ['Level', 'Name,-Level', 'id']) {
    const { status, body } = await list(server, '/api/things', { sort })
    t.is(status, 400, sort)
    t.is(body.title, 'Unknown field.')
  }
  t.deepEqual(await keysOf(server, '/api/things', { sortBy: 'level', sortDirection: 'desc' }), [1, 2, 3, 4])
  t.deepEqual(await keysOf(server, '/api/things', { filter: 'Level=1' }), [1, 4])
})

test('the key is sortable where it is in the response only', async (t) => {
  const server = await serveThings({ fields: { id: { exclude: 'response' } } })
  t.teardown(() => server.close())
  t.is((await list(server, '/api/things', { sort: 'id' })).body.title, 'Unknown field.')
  const { body } = await list(server, '/api/things', { sortDirection: 'desc' })
  t.deepEqual(body.items[0], { name: 'a', level: 1 })
})

test('a field that is not filterable can be sortable', async (t) => {
  const server = await serveThings({ fields: { level: { exclude: 'query', sortable: true } } })
  t.teardown(() => server.close())
  t.deepEqual(await keysOf(server, '/api/things', { sort: '-Level' }), [3, 2, 4, 1])
  t.is((await list(server, '/api/things', { filter: 'Level=1' })).body.title, 'Unknown field.')
})

/** Sorts over relations: a missing record sorts like null. */
const RELATIONS: readonly (readonly [sort: string, ids: readonly number[]])[] = [
  ['Club.Name', [5, 1, 2, 3, 4]],
  ['-Club.Name', [4, 3, 2, 1, 5]],
  ['club.founded desc', [2, 1, 4, 3, 5]],
  ['Club.Name,-Level', [5, 2, 1, 3, 4]],
  ['-Club.Name,Name', [3, 4, 1, 2, 5]],
  ['Club.Country.Name', [5, 1, 2, 3, 4]],
  ['Mentor.Name', [1, 5, 2, 3, 4]],
  ['-Mentor.Mentor.Name', [4, 3, 5, 2, 1]],
  ['Mentor.Mentor.Mentor.Name,-id', [5, 3, 2, 1, 4]],
  ['Born.Name,Lives.Name', [4, 5, 2, 1, 3]],
  ['Passport.Number', [3, 4, 5, 1, 2]],
]

for (const [sort, ids] of RELATIONS) {
  test(`sort=${sort} over relations gives ${ids.join(', ')}`, async (t) => {
    for (const server of [people, hooked]) {
      t.deepEqual(await keysOf(server, '/api/people', { sort }), ids)
      t.deepEqual(await keysOf(server, '/api/people', { sort, filter: 'Name!=x,Club.Name!=x' }), ids)
      const paged = [
        ...(await keysOf(server, '/api/people', { sort, pageSize: 2 })),
        ...(await keysOf(server, '/api/people', { sort, pageSize: 2, page: 2, filter: 'Name!=x' })),
        ...(await keysOf(server, '/api/people', { sort, pageSize: 2, page: 3 })),
      ]
      t.deepEqual(paged, ids)
    }
  })
}

for (const sort of ['Nobody.Name', 'Club.Nobody', 'Club.Id.Name']) {
  test(`sort=${sort} is an unknown field`, async (t) => {
    const { status, body } = await list(people, '/api/people', { sort })
    t.is(status, 400)
    t.is(body.title, 'Unknown field.')
    t.deepEqual(body.errors, { sort: [`Unknown field "${sort}" at position 0.`] })
  })
}

test('a default sort may cross a relation', async (t) => {
  const server = await serveRelations({ query: { defaultSort: '-Club.Name' } })
  t.teardown(() => server.close())
  t.deepEqual(await keysOf(server, '/api/people'), [4, 3, 2, 1, 5])
  t.deepEqual(await keysOf(server, '/api/people', { sortDirection: 'desc' }), [4, 3, 2, 1, 5])
  t.deepEqual(await keysOf(server, '/api/people', { sortDirection: 'asc' }), [5, 1, 2, 3, 4])
})
