// `aggregate=count,avg(Level)` and `group=Team.Name`: groups of records, and what is measured of them.

import ava from 'ava'
import { DataTypes, type Model, type ModelAttributes, type ModelStatic } from 'sequelize'
import { type CrudOptions, crudController, crudRouter, hasRole, Operations, queryOf } from '../../../lib/index.js'
import { databaseName } from '../../support/database.js'
import { list } from '../../support/lists.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'
import { identity, withRole } from '../../support/tokens.js'

const test = ava.serial

const models: Record<string, ModelStatic<Model>> = {}
const operations = Operations.All | Operations.Aggregate

const server = await openStage(({ sequelize }, app) => {
  const define = (name: string, attributes: ModelAttributes): ModelStatic<Model> => {
    const model = sequelize.define(name, attributes, { timestamps: false })
    models[name] = model
    return model
  }
  const Team = define('Team', { name: DataTypes.STRING, size: DataTypes.INTEGER })
  const row = {
    name: DataTypes.STRING,
    status: DataTypes.ENUM('on', 'off', 'Idle'),
    level: DataTypes.INTEGER,
    salary: DataTypes.DECIMAL(10, 2),
    exact: DataTypes.DECIMAL(20, 4),
    big: DataTypes.BIGINT,
    ratio: DataTypes.DOUBLE,
    single: DataTypes.FLOAT,
    active: DataTypes.BOOLEAN,
    at: DataTypes.DATE(3),
    day: DataTypes.DATEONLY,
    tag: DataTypes.UUID,
    extra: DataTypes.JSON,
    count: DataTypes.INTEGER,
    month: DataTypes.INTEGER,
  }
  const Row = define('Row', row)
  const Hooked = define('Hooked', row)
  // With a find hook the reads go through Sequelize's own findAll.
  Hooked.addHook('beforeFind', () => undefined)
  for (const model of [Row, Hooked]) model.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
  Team.hasMany(Row, { as: 'rows', foreignKey: 'teamId', constraints: false })
  const shout = { type: DataTypes.STRING, get: () => 'LOUD' }
  const Loud = define('Loud', { name: shout, level: DataTypes.INTEGER })
  const Part = define('Part', { name: DataTypes.STRING, size: DataTypes.INTEGER })
  const Whole = define('Whole', { name: DataTypes.STRING })
  Whole.hasMany(Part, { as: 'parts', foreignKey: 'wholeId' })
  app.use(crudRouter(Whole, { relations: { parts: { routes: true } }, identity }))
  app.use(crudRouter(Part, { operations, identity, aggregatePolicy: hasRole('analyst') }))
  app.use(crudRouter(Team, { operations }))
  app.use(crudRouter(Row, { route: 'rows', operations, query: { search: ['name'] } }))
  app.use(crudRouter(Hooked, { route: 'hooked', operations }))
  app.use(crudRouter(Row, { route: 'plain' }))
  app.use(crudRouter(Row, { route: 'none', operations, query: { total: 'none', pageSize: 2 } }))
  app.use(crudRouter(Row, { route: 'unsorted', operations, query: { sortable: false } }))
  app.use(crudRouter(Row, { route: 'lenient', operations, query: { unknownFields: 'ignore' } }))
  app.use(
    crudRouter(Row, {
      route: 'few',
      operations,
      limits: { groups: 2, measures: 3, clauses: 2, listItems: 2, nesting: 2, filterLength: 60, sortKeys: 1 },
      query: { maxPageSize: 3, pageSize: 2 },
    }),
  )
  app.use(crudRouter(Loud, { route: 'loud', operations }))
  app.use(crudRouter(Loud, { route: 'alone', operations: ['aggregate'] }))
  const guarded: CrudOptions = { identity, operations, getListPolicy: hasRole('reader') }
  app.use(crudRouter(Loud, { route: 'by-list', ...guarded }))
  app.use(crudRouter(Loud, { route: 'by-own', ...guarded, aggregatePolicy: hasRole('analyst') }))
  app.use(crudRouter(Loud, { route: 'by-all', identity, operations, authorizePolicy: hasRole('reader') }))
  const controller = crudController(Row, { route: 'controlled', operations })
  app.get('/controlled', controller.getList)
  app.get('/measured', controller.aggregate)
})

const at = (text: string): Date => new Date(text)
const ids = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
const rows = [
  {
    name: 'a',
    status: 'on',
    level: 1,
    salary: '10.10',
    exact: '0.0001',
    big: '9007199254740993',
    ratio: 0.5,
    single: 0.5,
    active: true,
    at: at('2026-01-31T23:59:59.999Z'),
    day: '2026-01-31',
    tag: ids[0],
    teamId: 1,
    count: 1,
    month: 4,
  },
  {
    name: 'A',
    status: 'off',
    level: 2,
    salary: '20.20',
    exact: '99999999999999.9999',
    big: '1',
    ratio: 0.25,
    single: 0.25,
    active: false,
    at: at('2026-02-01T00:00:00.000Z'),
    day: '2026-02-01',
    tag: ids[0],
    teamId: 1,
    count: 1,
    month: 4,
  },
  {
    name: 'a ',
    status: 'on',
    level: 4,
    salary: '0.05',
    exact: '0.0001',
    big: '1',
    ratio: null,
    single: null,
    active: true,
    at: at('2026-02-01T12:30:00.000Z'),
    day: null,
    tag: ids[1],
    teamId: 2,
    count: 2,
    month: 5,
  },
  {
    name: 'á',
    status: 'Idle',
    level: null,
    salary: null,
    exact: null,
    big: null,
    ratio: 8,
    single: 8,
    active: null,
    at: null,
    day: '2026-02-01',
    tag: null,
    teamId: 99,
    count: null,
    month: null,
  },
  {
    name: null,
    status: null,
    level: 3,
    salary: '-30.40',
    exact: '-1.0000',
    big: '-5',
    ratio: -1,
    single: -1,
    active: false,
    at: at('2025-12-31T23:00:00.000Z'),
    day: '2025-12-31',
    tag: ids[1],
    teamId: null,
    count: null,
    month: null,
  },
]
await models.Team?.bulkCreate([
  { name: 'Lions', size: 3 },
  { name: 'tigers', size: 5 },
])
await models.Row?.bulkCreate(rows)
await models.Hooked?.bulkCreate(rows)
await models.Loud?.bulkCreate([{ name: 'quiet', level: 1 }])

test.after.always(() => server.close())

type Parameters = Readonly<Record<string, string | number | boolean>>

async function groups(path: string, parameters: Parameters): Promise<unknown[]> {
  const { status, body, text } = await list(server, path, parameters)
  if (status !== 200) throw new Error(text)
  return body.items
}

const faultOf = ({ body }: Answer): unknown => [body.title, body.errors]

for (const path of ['/rows', '/hooked']) {
  test(`without group all records of ${path} are one group, in the envelope of a page`, async (t) => {
    const { body, headers } = await list(server, path, {
      aggregate: 'count, COUNT(Level), Distinct( level ),sum(Level),avg(Level),min(Level),max(Level)',
    })
    t.deepEqual(body, {
      items: [
        {
          count: 5,
          counts: { level: 4 },
          distinct: { level: 4 },
          sum: { level: 10 },
          avg: { level: 2.5 },
          min: { level: 1 },
          max: { level: 4 },
        },
      ],
      totalCount: 1,
      page: 1,
      pageSize: 20,
      totalPages: 1,
      hasNextPage: false,
      hasPreviousPage: false,
    })
    t.is(headers.get('x-total-count'), '1')
  })

  test(`over no rows of ${path} count is 0, the others are null, and there are no groups`, async (t) => {
    const aggregate = 'count,count(Level),distinct(Name),sum(Level),sum(Salary),avg(Exact),min(Name),max(At)'
    t.deepEqual(await groups(path, { aggregate, filter: 'Level>100' }), [
      {
        count: 0,
        counts: { level: 0 },
        distinct: { name: 0 },
        sum: { level: null, salary: null },
        avg: { exact: null },
        min: { name: null },
        max: { at: null },
      },
    ])
    t.deepEqual(await groups(path, { aggregate, group: 'Status', filter: 'Level>100' }), [])
  })

  test(`group alone gives the distinct values of ${path}, ascending, null first`, async (t) => {
    t.deepEqual(await groups(path, { group: 'Active' }), [
      { group: { active: null } },
      { group: { active: false } },
      { group: { active: true } },
    ])
    t.deepEqual(
      await groups(path, { group: 'Tag' }),
      [null, ...ids].map((tag) => ({ group: { tag } })),
    )
    t.deepEqual(
      await groups(path, { group: 'Salary' }),
      [null, -30.4, 0.05, 10.1, 20.2].map((salary) => ({ group: { salary } })),
    )
    t.deepEqual(
      await groups(path, { group: 'Big' }),
      [null, -5, 1, '9007199254740993'].map((big) => ({ group: { big } })),
    )
    t.deepEqual(
      await groups(path, { group: 'Ratio' }),
      [null, -1, 0.25, 0.5, 8].map((ratio) => ({ group: { ratio } })),
    )
    t.deepEqual(
      await groups(path, { group: 'Single' }),
      [null, -1, 0.25, 0.5, 8].map((single) => ({ group: { single } })),
    )
    t.deepEqual(
      await groups(path, { group: 'Day' }),
      [null, '2025-12-31', '2026-01-31', '2026-02-01'].map((day) => ({ group: { day } })),
    )
    const moments = rows.map((row) => row.at?.toISOString() ?? null).sort((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))
    t.deepEqual(
      await groups(path, { group: 'At' }),
      moments.map((each) => ({ group: { at: each } })),
    )
  })

  test(`texts of ${path} are grouped and told apart by their characters, and enumerations by theirs`, async (t) => {
    const found = (await groups(path, { group: 'Name', aggregate: 'count' })).map((item) => JSON.stringify(item))
    const each = [null, 'a', 'A', 'a ', 'á'].map((name) => JSON.stringify({ group: { name }, count: 1 }))
    t.deepEqual(found.toSorted(), each.toSorted())
    t.is(found[0], each[0])
    t.deepEqual(await groups(path, { aggregate: 'distinct(Name),distinct(Status),distinct(Team.Name)' }), [
      { distinct: { name: 4, status: 3, team: { name: 2 } } },
    ])
    t.deepEqual(await groups(path, { group: 'Status', aggregate: 'count' }), [
      { group: { status: null }, count: 1 },
      { group: { status: 'Idle' }, count: 1 },
      { group: { status: 'off' }, count: 1 },
      { group: { status: 'on' }, count: 2 },
    ])
  })

  test(`dates of ${path} are grouped by their parts in UTC`, async (t) => {
    for (const [group, member, values] of [
      ['year(At)', 'at', [{ year: null }, { year: '2025' }, { year: '2026' }]],
      ['Month(at)', 'at', [{ month: null }, { month: '2025-12' }, { month: '2026-01' }, { month: '2026-02' }]],
      ['day(At)', 'at', [{ day: null }, { day: '2025-12-31' }, { day: '2026-01-31' }, { day: '2026-02-01' }]],
      [
        'hour(At)',
        'at',
        [
          { hour: null },
          { hour: '2025-12-31T23' },
          { hour: '2026-01-31T23' },
          { hour: '2026-02-01T00' },
          { hour: '2026-02-01T12' },
        ],
      ],
      ['year(Day)', 'day', [{ year: null }, { year: '2025' }, { year: '2026' }]],
      ['month(Day)', 'day', [{ month: null }, { month: '2025-12' }, { month: '2026-01' }, { month: '2026-02' }]],
      ['day(Day)', 'day', [{ day: null }, { day: '2025-12-31' }, { day: '2026-01-31' }, { day: '2026-02-01' }]],
    ] as const) {
      t.deepEqual(
        await groups(path, { group }),
        values.map((value) => ({ group: { [member]: value } })),
        group,
      )
    }
    t.deepEqual(
      await groups(path, { group: 'year(At),month(At)', aggregate: 'count', filter: 'At>=2026' + '-01-01' }),
      [
        { group: { at: { year: '2026', month: '2026-01' } }, count: 1 },
        { group: { at: { year: '2026', month: '2026-02' } }, count: 2 },
      ],
    )
  })

  test(`records of ${path} without a team are one group with those whose team is not there`, async (t) => {
    t.deepEqual(await groups(path, { group: 'Team.Name,Active', aggregate: 'count,sum(Team.Size),max(Team.Name)' }), [
      {
        group: { team: { name: null }, active: null },
        count: 1,
        sum: { team: { size: null } },
        max: { team: { name: null } },
      },
      {
        group: { team: { name: null }, active: false },
        count: 1,
        sum: { team: { size: null } },
        max: { team: { name: null } },
      },
      {
        group: { team: { name: 'Lions' }, active: false },
        count: 1,
        sum: { team: { size: 3 } },
        max: { team: { name: 'Lions' } },
      },
      {
        group: { team: { name: 'Lions' }, active: true },
        count: 1,
        sum: { team: { size: 3 } },
        max: { team: { name: 'Lions' } },
      },
      {
        group: { team: { name: 'tigers' }, active: true },
        count: 1,
        sum: { team: { size: 5 } },
        max: { team: { name: 'tigers' } },
      },
    ])
  })

  test(`sums of ${path} are exact, averages rounded once, and the least and the greatest as in records`, async (t) => {
    const aggregate = 'sum(Big),sum(Salary),sum(Ratio),sum(Single),avg(Salary),avg(Ratio),avg(Big)'
    t.deepEqual(await groups(path, { aggregate }), [
      {
        sum: { big: 9007199254740990, salary: -0.05, ratio: 7.75, single: 7.75 },
        avg: { salary: -0.0125, ratio: 1.9375, big: 2251799813685247.5 },
      },
    ])
    t.deepEqual(await groups(path, { aggregate: 'sum(Big)', filter: 'Big>0' }), [{ sum: { big: '9007199254740995' } }])
    if (databaseName !== 'sqlite') {
      t.deepEqual(await groups(path, { aggregate: 'sum(Exact)' }), [{ sum: { exact: '99999999999999.0001' } }])
    }
    t.deepEqual(await groups(path, { aggregate: 'sum(Exact)', filter: 'Exact<1' }), [{ sum: { exact: '-0.9998' } }])
    t.deepEqual(await groups(path, { aggregate: 'avg(Level)', filter: 'Level<4' }), [{ avg: { level: 2 } }])
    t.deepEqual(await groups(path, { aggregate: 'avg(Level)', filter: 'Level!=3' }), [{ avg: { level: 7 / 3 } }])
    t.deepEqual(
      await groups(path, {
        aggregate: 'min(Salary),max(Salary),min(Exact),max(Big),min(At),max(Day)',
        filter: 'Level<3',
      }),
      [
        {
          min: { salary: 10.1, exact: '0.0001', at: '2026-01-31T23:59:59.999Z' },
          max: { salary: 20.2, big: '9007199254740993', day: '2026-02-01' },
        },
      ],
    )
  })

  test(`groups of ${path} are sorted by what was asked for, and the groups themselves close every order`, async (t) => {
    const order = async (parameters: Parameters): Promise<unknown[]> =>
      (
        (await groups(path, { group: 'Status', aggregate: 'count,avg(Level),max(Salary)', ...parameters })) as {
          group: { status: string }
        }[]
      ).map(({ group: { status } }) => status)
    t.deepEqual(await order({ sort: '-count' }), ['on', null, 'Idle', 'off'])
    t.deepEqual(await order({ sort: 'count' }), [null, 'Idle', 'off', 'on'])
    t.deepEqual(await order({ sort: 'COUNT desc,-status' }), ['on', 'off', 'Idle', null])
    t.deepEqual(await order({ sort: '-avg(Level)' }), [null, 'on', 'off', 'Idle'])
    t.deepEqual(await order({ sort: 'AVG(level)' }), ['Idle', 'off', 'on', null])
    t.deepEqual(await order({ sort: 'max( Salary ) desc' }), ['off', 'on', null, 'Idle'])
    t.deepEqual(await groups(path, { group: 'month(At)', sort: '-month(At)', filter: 'At!=null' }), [
      { group: { at: { month: '2026-02' } } },
      { group: { at: { month: '2026-01' } } },
      { group: { at: { month: '2025-12' } } },
    ])
    t.deepEqual(await groups(path, { group: 'Team.Name', sort: '-team.name', filter: 'Team!=null' }), [
      { group: { team: { name: 'tigers' } } },
      { group: { team: { name: 'Lions' } } },
    ])
    for (const sort of [
      'level',
      'nothing',
      'sum(Level)',
      'avg(Nothing)',
      'count(Level)',
      'month(At)',
      'at',
      'distinct',
      'team.name',
    ]) {
      const answer = await list(server, path, { group: 'Status', aggregate: 'count,avg(Level)', sort })
      t.is(answer.status, 400, sort)
      t.is(answer.body.errors.sort[0], `"${sort}" at position 0 is neither a group nor a measure of this request.`)
    }
    for (const [sort, meant] of [
      ['Statsu', 'Status'],
      ['avg(Levle)', 'avg(Level)'],
      ['coutn', 'count'],
      ['month(Att)', 'month(At)'],
      ['team.nmae', 'Team.Name'],
    ] as const) {
      const asked = { group: 'Status,month(At),Team.Name', aggregate: 'count,avg(Level)', sort }
      const { status, body } = await list(server, path, asked)
      t.deepEqual(
        [status, body.errors.sort],
        [400, [`"${sort}" at position 0 is neither a group nor a measure of this request. Did you mean "${meant}"?`]],
      )
    }
  })

  test(`having keeps the groups of ${path} whose measures meet it, asked for or not`, async (t) => {
    const kept = async (having: string, more: Parameters = {}): Promise<unknown[]> =>
      ((await groups(path, { group: 'Status', having, ...more })) as { group: { status: string } }[]).map(
        ({ group: { status } }) => status,
      )
    for (const [having, found] of [
      ['count>1', ['on']],
      ['count=1', [null, 'Idle', 'off']],
      ['COUNT!=1', ['on']],
      ['count=in=2;3', ['on']],
      ['count=out=2;3', [null, 'Idle', 'off']],
      ['count(Level)=0', ['Idle']],
      ['distinct(Name)<1', [null]],
      ['avg(Level)>2', [null, 'on']],
      ['avg(Level)=2.5', ['on']],
      ['avg(Level)=null', ['Idle']],
      ['avg(Level)!=null', [null, 'off', 'on']],
      ['avg(Level)!=2.5', [null, 'Idle', 'off']],
      ['sum(Salary)=10.15', ['on']],
      ['sum(Salary)=10.150', ['on']],
      ['sum(Salary)<=-30.4', [null]],
      ['sum(Salary)>10.1499', ['off', 'on']],
      ['sum(Big)=9007199254740994', ['on']],
      ['sum(Big)>99999999999999999999999', []],
      ['sum(Big)<99999999999999999999999', [null, 'off', 'on']],
      ['count<99999999999999999999999', [null, 'Idle', 'off', 'on']],
      ['max(Name)=á', ['Idle']],
      ['min(Name)=A', ['off']],
      ['min(Name)=a/i,count=1', ['off']],
      ['max(Name)^á', ['Idle']],
      ['max(At)>=2026-02-01', ['off', 'on']],
      ['max(Day)=2026-02-01', ['Idle', 'off']],
      ['max(Big)=9007199254740993', ['on']],
      ['min(Single)=0.25', ['off']],
      ['max(Team.Size)=5', ['on']],
      ['count>1|avg(Level)=null', ['Idle', 'on']],
      ['(count>1|avg(Level)=null),count(Level)>0', ['on']],
      ['count>0,count<2,avg(Level)<3', ['off']],
    ] as const) {
      t.deepEqual(await kept(having), found, having)
      const { body } = await list(server, path, { group: 'Status', aggregate: 'count', having })
      t.is(body.totalCount, found.length)
    }
  })

  test(`groups of ${path} come in pages by number, with totals, links and without`, async (t) => {
    const parameters = { group: 'Status', aggregate: 'count', pageSize: 3 }
    const first = await list(server, path, parameters)
    t.like(first.body, {
      totalCount: 4,
      page: 1,
      pageSize: 3,
      totalPages: 2,
      hasNextPage: true,
      hasPreviousPage: false,
    })
    t.is(first.body.items.length, 3)
    t.is(first.headers.get('x-total-count'), '4')
    t.regex(first.headers.get('link') ?? '', /group=Status&aggregate=count&pageSize=3&page=2>; rel="next"/)
    const second = await list(server, path, { ...parameters, page: 2 })
    t.deepEqual(second.body.items, [{ group: { status: 'on' }, count: 2 }])
    const past = await list(server, path, { ...parameters, page: 9 })
    t.like(past.body, { items: [], totalCount: 4, totalPages: 2, hasNextPage: false, hasPreviousPage: true })
    const uncounted = await list(server, path, { ...parameters, count: 'none' })
    t.like(uncounted.body, { totalCount: null, totalPages: null, hasNextPage: true })
    t.like((await list(server, path, { ...parameters, count: 'none', page: 2 })).body, {
      totalCount: null,
      hasNextPage: false,
    })
    t.like((await list(server, path, { aggregate: 'count', page: 2 })).body, { items: [], totalCount: 1 })
    t.is((await list(server, path, { ...parameters, pageSize: 1001 })).status, 400)
  })

  test(`filters, typed parameters and keys say which records of ${path} are in the groups`, async (t) => {
    t.deepEqual(await groups(path, { aggregate: 'count', filter: 'Team.Name=Lions' }), [{ count: 2 }])
    t.deepEqual(await groups(path, { aggregate: 'count', level: 4 }), [{ count: 1 }])
    t.deepEqual(await groups(path, { aggregate: 'sum(Level)', keys: '1,3,77' }), [{ sum: { level: 5 } }])
    t.deepEqual(await groups(path, { group: 'Team.Name', aggregate: 'count', filter: 'Team.Size>1,Level<3' }), [
      { group: { team: { name: 'Lions' } }, count: 2 },
    ])
  })
}

test('collections filter the records of groups, and searches do', async (t) => {
  t.deepEqual(await groups('/api/teams', { aggregate: 'count,sum(Size)', filter: 'Rows.Level>1' }), [
    { count: 2, sum: { size: 8 } },
  ])
  t.deepEqual(await groups('/rows', { aggregate: 'count', search: 'a' }), [{ count: 3 }])
})

test('count, cursor and select keep their places among the modes', async (t) => {
  t.deepEqual((await list(server, '/rows', { aggregate: 'nonsense(', count: true })).body, { count: 5 })
  t.is((await list(server, '/rows', { aggregate: 'nonsense(', cursor: '', pageSize: 1 })).body.items.length, 1)
  t.deepEqual(await groups('/rows', { aggregate: 'count', select: '((', sortBy: 'x', sortDirection: 'up' }), [
    { count: 5 },
  ])
  t.is((await list(server, '/rows', { aggregate: '', group: '' })).body.items.length, 5)
})

test('what does not parse is a 400 that says where, and what was expected', async (t) => {
  for (const [parameters, title, parameter, message] of [
    [
      { aggregate: 'cuont' },
      'Malformed aggregate.',
      'aggregate',
      /^Expected count, distinct, sum, avg, min or max at position 0/,
    ],
    [
      { aggregate: 'count,avg' },
      'Malformed aggregate.',
      'aggregate',
      /^Expected "\(" at position 9, but found the end/,
    ],
    [{ aggregate: 'avg()' }, 'Malformed aggregate.', 'aggregate', /^Expected a field name at position 4/],
    [{ aggregate: 'avg(Level' }, 'Malformed aggregate.', 'aggregate', /at position 9, but found the end/],
    [{ aggregate: 'count;' }, 'Malformed aggregate.', 'aggregate', /at position 5, but found ";"/],
    [{ group: 'Status,' }, 'Malformed group.', 'group', /^Expected a field name at position 7/],
    [
      { group: 'week(At)' },
      'Malformed group.',
      'group',
      /at position 4, but found "\(". Dates are grouped by year\(\), month\(\), day\(\) and hour\(\)/,
    ],
    [{ group: 'month(At' }, 'Malformed group.', 'group', /Expected "\)" at position 8/],
    [
      { group: 'Status', having: 'Level>1' },
      'Malformed having.',
      'having',
      /^Expected count, distinct, sum, avg, min or max or "\(" at position 0/,
    ],
    [
      { group: 'Status', having: 'count>,count=1' },
      'Invalid query.',
      'having',
      /^count at position 0: "" is not a whole number/,
    ],
    [{ group: 'Status', having: 'count=>1' }, 'Malformed having.', 'having', /write `>=`/],
    [{ group: 'Status', having: 'count' }, 'Malformed having.', 'having', /^Expected .*an operator/],
    [{ group: 'Status', sort: 'avg(' }, 'Malformed sort.', 'sort', /^Expected a field name at position 4/],
  ] as const) {
    const answer = await list(server, '/rows', parameters)
    t.is(answer.status, 400, JSON.stringify(parameters))
    t.is(answer.body.title, title)
    t.is(answer.body.code, title.toLowerCase().replace(' ', '-').replace('.', ''))
    t.regex(answer.body.errors[parameter][0], message)
  }
})

test('what means nothing is a 400 that says why', async (t) => {
  for (const [parameters, title, errors] of [
    [{ aggregate: 'avg(Nothing)' }, 'Unknown field.', { aggregate: ['Unknown field "Nothing" at position 4.'] }],
    [{ aggregate: 'avg(id)' }, 'Unknown field.', { aggregate: ['Unknown field "id" at position 4.'] }],
    [{ group: 'Team' }, 'Unknown field.', { group: ['Unknown field "Team" at position 0. Did you mean "tag"?'] }],
    [{ group: 'Team.Rows.Name' }, 'Unknown field.', { group: ['Unknown field "Team.Rows.Name" at position 0.'] }],
    [
      { group: 'Status', having: 'max(Nothing)>1' },
      'Unknown field.',
      { having: ['Unknown field "Nothing" at position 4.'] },
    ],
    [
      { aggregate: 'avg(Name)' },
      'Invalid query.',
      { aggregate: ['avg(Name) at position 0: avg() cannot be used with text.'] },
    ],
    [
      { aggregate: 'sum(At)' },
      'Invalid query.',
      { aggregate: ['sum(At) at position 0: sum() cannot be used with a date-time (ISO 8601).'] },
    ],
    [
      { aggregate: 'max(Active)' },
      'Invalid query.',
      { aggregate: ['max(Active) at position 0: max() cannot be used with true or false.'] },
    ],
    [
      { aggregate: 'max(Status)' },
      'Invalid query.',
      { aggregate: ['max(Status) at position 0: max() cannot be used with an enumeration.'] },
    ],
    [
      { aggregate: 'distinct(Extra)' },
      'Invalid query.',
      { aggregate: ['distinct(Extra) at position 0: distinct() cannot be used with JSON.'] },
    ],
    [{ group: 'Extra' }, 'Invalid query.', { group: ['Extra at position 0: records cannot be grouped by JSON.'] }],
    [
      { group: 'month(Level)' },
      'Invalid query.',
      { group: ['month(Level) at position 0: month() cannot be used with a whole number.'] },
    ],
    [
      { group: 'hour(Day)' },
      'Invalid query.',
      { group: ['hour(Day) at position 0: hour() cannot be used with a date (YYYY-MM-DD).'] },
    ],
    [
      { aggregate: 'count,count' },
      'Invalid query.',
      { aggregate: ['count at position 6: the parameter "aggregate" contains it twice.'] },
    ],
    [
      { aggregate: 'avg(Level),avg(level)' },
      'Invalid query.',
      { aggregate: ['avg(level) at position 11: the parameter "aggregate" contains it twice.'] },
    ],
    [
      { group: 'Status,status' },
      'Invalid query.',
      { group: ['status at position 7: the parameter "group" contains it twice.'] },
    ],
    [
      { group: 'At,month(At)' },
      'Invalid query.',
      { group: ['month(At) at position 3: the parameter "group" contains it twice.'] },
    ],
    [
      { group: 'month(At),At' },
      'Invalid query.',
      { group: ['At at position 10: the parameter "group" contains it twice.'] },
    ],
    [{ aggregate: 'count', having: 'count>1' }, 'Invalid query.', { having: ['needs the parameter "group".'] }],
    [{ having: 'count>1' }, 'Invalid query.', { having: ['needs the parameter "group".'] }],
    [{ having: 'count>1', select: 'name' }, 'Invalid query.', { having: ['needs the parameter "group".'] }],
    [{ having: 'count>1', count: 'true' }, 'Invalid query.', { having: ['needs the parameter "group".'] }],
    [{ having: 'count>1', after: '' }, 'Invalid query.', { having: ['needs the parameter "group".'] }],
    [{ having: 'count>1', cursor: '' }, 'Invalid query.', { having: ['needs the parameter "group".'] }],
    [
      { group: 'Status', having: 'count=x' },
      'Invalid query.',
      { having: ['count at position 0: "x" is not a whole number.'] },
    ],
    [
      { group: 'Status', having: 'count=null' },
      'Invalid query.',
      { having: ['count at position 0: it is never null.'] },
    ],
    [
      { group: 'Status', having: 'count^1' },
      'Invalid query.',
      { having: ['count at position 0: the operator "^" cannot be used with a whole number.'] },
    ],
    [
      { group: 'Status', having: 'avg(Level)=x' },
      'Invalid query.',
      { having: ['avg(Level) at position 0: "x" is not a number.'] },
    ],
  ] as const) {
    const answer = await list(server, '/rows', parameters)
    t.deepEqual([answer.status, ...(faultOf(answer) as unknown[])], [400, title, errors], JSON.stringify(parameters))
  }
  const loud = await list(server, '/loud', { group: 'name' })
  t.deepEqual(loud.body.errors, { group: ['name at position 0: records cannot be grouped by computed fields.'] })
  t.is((await list(server, '/loud', { aggregate: 'min(Name)' })).status, 400)
  t.deepEqual(await groups('/loud', { aggregate: 'count(Name)' }), [{ counts: { name: 1 } }])
})

test('the limits of an aggregate are 400s that name them', async (t) => {
  for (const [parameters, errors] of [
    [{ group: 'Status,Level,Name' }, { group: ['has more keys than the limit of 2 (groups).'] }],
    [
      { aggregate: 'count,avg(Level),sum(Level),min(Level)' },
      { aggregate: ['has more measures than the limit of 3 (measures).'] },
    ],
    [
      { group: 'Status', having: 'count>1,count>2,count>3' },
      { having: ['has more clauses than the limit of 2 (clauses).'] },
    ],
    [
      { group: 'Status', having: 'count=in=1;2;3' },
      { having: ['has a list with more values than the limit of 2 (listItems).'] },
    ],
    [
      { group: 'Status', having: '((count(Level)>1))' },
      { having: ['is nested deeper than the limit of 2 (nesting).'] },
    ],
    [
      { group: 'Status', having: `count>1${' '.repeat(60)}` },
      { having: ['is longer than the limit of 60 characters (filterLength).'] },
    ],
    [{ group: 'Status', sort: 'status,status' }, { sort: ['has more sort keys than the limit of 1 (sortKeys).'] }],
    [{ group: 'Status', pageSize: 4 }, { pageSize: ['must be at most 3.'] }],
  ] as const) {
    const answer = await list(server, '/few', parameters)
    t.deepEqual(faultOf(answer), ['Invalid query.', errors], JSON.stringify(parameters))
  }
})

test('where unknown fields are ignored, what is unknown is not there', async (t) => {
  t.deepEqual(
    await groups('/lenient', {
      group: 'Status,Nothing',
      aggregate: 'count,avg(Nothing)',
      having: 'count>1,sum(Nothing)>1',
      sort: 'nothing',
    }),
    [{ group: { status: 'on' }, count: 2 }],
  )
  // Nothing is left: of all records together nothing is told.
  for (const parameters of [{ group: 'Nothing' }, { aggregate: 'avg(Nothing)' }, { group: 'Nothing', count: 'none' }]) {
    t.deepEqual(await groups('/lenient', parameters), [{}], JSON.stringify(parameters))
  }
  t.deepEqual(await groups('/lenient', { group: 'Nothing', having: 'count>1' }), [{}])
  t.deepEqual(await groups('/lenient', { group: 'Nothing', having: 'count>1000' }), [])
})

test('settings of lists hold for groups: no total by default, no sorting', async (t) => {
  t.like((await list(server, '/none', { group: 'Status' })).body, { totalCount: null, pageSize: 2, hasNextPage: true })
  t.like((await list(server, '/none', { group: 'Status', count: 'exact' })).body, { totalCount: 4 })
  t.deepEqual(
    (
      (await groups('/unsorted', { group: 'Status', aggregate: 'count' })) as {
        group: { status: string }
      }[]
    ).map(({ group }) => group.status),
    [null, 'Idle', 'off', 'on'],
  )
})

test('aggregates are an operation, off unless asked for, with which their parameters come', async (t) => {
  const off = ['is not a parameter of this list. It needs the operation "aggregate", which is disabled.']
  const refused = await list(server, '/plain', { aggregate: 'count', group: 'x', having: 'y' })
  t.deepEqual(refused.body.errors, { aggregate: off, group: off, having: off })
  t.is(Operations.Aggregate, 256)
  t.is(Operations.AllWithBulk & Operations.Aggregate, 0)
  const alone = await list(server, '/alone', {})
  t.deepEqual(faultOf(alone), [
    'Invalid query.',
    { aggregate: ['is required, unless the parameter group is given. This resource serves aggregates only.'] },
  ])
  t.is((await list(server, '/alone', { count: true })).status, 400)
  t.deepEqual(await groups('/alone', { aggregate: 'count' }), [{ count: 1 }])
  t.is((await server.get('/alone/1')).status, 404)
  const { headers } = await server.send('OPTIONS', '/rows')
  t.is(headers.get('allow'), 'GET, HEAD, POST, QUERY, OPTIONS')
  const twice = await server.get('/rows?aggregate=count&aggregate=count')
  t.deepEqual(twice.body.errors, { aggregate: ['is given more than once.'] })
})

test('the handlers of a controller answer aggregates at the list, and alone', async (t) => {
  t.deepEqual(await groups('/controlled', { aggregate: 'count' }), [{ count: 5 }])
  t.is((await list(server, '/controlled')).body.items.length, 5)
  t.deepEqual(await groups('/measured', { aggregate: 'count' }), [{ count: 5 }])
  t.is((await list(server, '/measured')).status, 400)
})

test('aggregatePolicy decides, else getListPolicy, else authorizePolicy', async (t) => {
  const status = async (path: string, query: string, role: string): Promise<number> =>
    (await server.get(`${path}?${query}`, withRole(role))).status
  for (const query of ['aggregate=count', 'group=Level', 'group=Level&count=none', 'aggregate=nonsense(']) {
    const fine = query.includes('nonsense') ? 400 : 200
    t.is(await status('/by-list', query, 'reader'), fine, query)
    t.is(await status('/by-list', query, 'analyst'), 403)
    t.is(await status('/by-own', query, 'analyst'), fine)
    t.is(await status('/by-own', query, 'reader'), 403)
    t.is(await status('/by-all', query, 'reader'), fine)
    t.is(await status('/by-all', query, 'analyst'), 403)
    t.is((await server.get(`/by-own?${query}`)).status, 401)
  }
  for (const query of ['', 'count=true&aggregate=count', 'cursor=&group=Level', 'aggregate=', 'select=level']) {
    t.is(await status('/by-own', query, 'analyst'), 403, query)
    t.is(await status('/by-own', query, 'reader'), 200, query)
  }
})

test('the list below a record answers aggregates of its own records, by their policy', async (t) => {
  const { Whole, Part } = models
  await Whole?.bulkCreate([{ name: 'one' }, { name: 'two' }])
  await Part?.bulkCreate([1, 1, 2].map((wholeId, index) => ({ name: 'x', size: 2 ** index, wholeId })))
  const analyst = withRole('analyst')
  const sum = await server.get('/api/wholes/1/parts?aggregate=sum(Size),count&group=Name', analyst)
  t.deepEqual(sum.body.items, [{ group: { name: 'x' }, count: 2, sum: { size: 3 } }])
  t.is((await server.get('/api/wholes/1/parts?aggregate=count')).status, 401)
  t.is((await server.get('/api/wholes/1/parts?aggregate=count', withRole('x'))).status, 403)
  t.is((await server.get('/api/wholes/9/parts?aggregate=count', analyst)).status, 404)
  t.is((await server.get('/api/wholes/1/parts')).body.totalCount, 2)
  const walked = await server.get('/api/wholes/1/parts?after=&pageSize=1')
  t.deepEqual([walked.status, walked.body.items.length], [200, 1])
})

test('hosts get aggregates in their options for findAll, which gives plain nested rows', async (t) => {
  const { Row } = models
  if (Row === undefined) throw new Error('no model')
  const query = queryOf(Row, { operations })
  const found = await Row.findAll(
    query.toFindOptions({
      aggregate: 'count,max(Level)',
      group: 'Team.Name,year(At)',
      having: 'count>1',
      filter: 'Team!=null',
    }),
  )
  const [first] = found as unknown as { group: object; count: unknown; max: object }[]
  t.is(found.length, 1)
  t.deepEqual(
    { ...first, count: Number(first?.count) },
    { group: { team: { name: 'Lions' }, at: { year: '2026' } }, count: 2, max: { level: 2 } },
  )
})

if (databaseName === 'sqlite') {
  test('a sum beyond the integers of the database is a 400 that says so', async (t) => {
    const { Row } = models
    const [one, two] = [
      await Row?.create({ big: '9223372036854775807' }),
      await Row?.create({ big: '9223372036854775807' }),
    ]
    const { status, body } = await list(server, '/rows', { aggregate: 'sum(Big)' })
    t.is(status, 400)
    t.is(body.detail, 'A sum exceeds the number range of the database.')
    await one?.destroy()
    await two?.destroy()
  })
}

test('how many groups there are is told where only a measure reaches records that not everybody may meet', async (t) => {
  const own = await openStage(({ sequelize }, app) => {
    const Club = sequelize.define('Club', { name: DataTypes.STRING, city: DataTypes.STRING }, { timestamps: false })
    const Member = sequelize.define('Member', { name: DataTypes.STRING }, { timestamps: false })
    Member.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
    app.use(crudRouter(Club, { scope: () => ({ city: 'here' }) }))
    app.use(crudRouter(Member, { operations }))
    return { Club, Member }
  })
  const { Club, Member } = own
  await Club.bulkCreate([
    { id: 1, name: 'one', city: 'here' },
    { id: 2, name: 'two', city: 'there' },
  ])
  await Member.bulkCreate(['a', 'b', 'b', 'c'].map((name, index) => ({ name, clubId: 1 + (index % 2) })))
  t.teardown(() => own.close())
  for (const more of ['', '&sort=max(club.name)', '&sort=-count&page=2', '&having=count(club.name)>=0']) {
    const { status, body } = await own.get(`/api/members?group=name&aggregate=count,max(club.name)&pageSize=1${more}`)
    t.is(status, 200, more)
    t.is(body.totalCount, 3, more)
  }
})
