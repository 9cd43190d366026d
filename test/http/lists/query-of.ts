import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import {
  CrudConfigError,
  type CrudOptions,
  crudRouter,
  hasRole,
  type Identity,
  Problem,
  queryOf,
  type ResourceQuery,
} from '../../../lib/index.js'
import { openDatabase } from '../../support/database.js'
import { listPath, serveLeague } from '../../support/league.js'

const league = await serveLeague()
test.after.always(() => league.close())
const players = queryOf(league.Player)
const teams = queryOf(league.Team)

type Parameters = Readonly<Record<string, string | number | boolean>>

/** The same request by the query language on its own and over HTTP. */
const REQUESTS: readonly (readonly [path: string, query: ResourceQuery, model: ModelStatic<Model>, Parameters])[] = [
  ['/api/players', players, league.Player, {}],
  ['/api/players', players, league.Player, { filter: 'Level>25,Team.Name^La', sort: '-Level' }],
  ['/api/players', players, league.Player, { filter: 'Name=*SKI/i|Email=null' }],
  ['/api/players', players, league.Player, { filter: 'Salary<=5000', sort: 'Team.Name,-Name' }],
  ['/api/players', players, league.Player, { name: 'Anna Nowak' }],
  ['/api/players', players, league.Player, { sort: '-Level', page: 2, pageSize: 2 }],
  ['/api/players', players, league.Player, { sortBy: 'level', sortDirection: 'desc' }],
  ['/api/players', players, league.Player, { select: 'Id,Name', filter: 'Level=in=42;75' }],
  ['/api/players', players, league.Player, { cursor: '', pageSize: 4 }],
  ['/api/teams', teams, league.Team, { filter: 'Players.All.Level>30' }],
  ['/api/teams', teams, league.Team, { filter: 'Players.Any(Level>50,Name^Kasia)' }],
  ['/api/teams', teams, league.Team, { filter: 'Players.Count=2', sort: '-Name' }],
]

for (const [path, query, model, parameters] of REQUESTS) {
  test(`findAll with the options of ${JSON.stringify(parameters)} on ${path} finds what the list answers`, async (t) => {
    const { status, body } = await league.get(listPath(path, parameters))
    t.is(status, 200)
    const found = await model.findAll(query.toFindOptions(parameters))
    const ids = (rows: readonly { id: number }[]): number[] => rows.map(({ id }) => id)
    t.deepEqual(
      found.map((record) => record.get('id')),
      ids(body.items),
    )
  })
}

test('a count has no window, so that it can be given to count', async (t) => {
  const options = players.toFindOptions({ filter: 'Level>50', count: true })
  t.false('limit' in options)
  t.false('offset' in options)
  t.is(await league.Player.count({ where: options.where ?? {} }), 3)
  t.is(await league.Player.count(options), 3)
  // A host that passes on what clients write may find with them as well.
  const [found] = await league.Player.findAll(options)
  t.false(Object.keys(found?.get() ?? {}).some((name) => name in league.Player.getAttributes()))
})

test('what the list would refuse throws the same Problem', async (t) => {
  for (const parameters of [{ filter: 'Level=abc' }, { sort: 'Nope' }, { filter: '((' }, { pageSize: 0 }]) {
    const { body } = await league.get(listPath('/api/players', parameters as Parameters))
    const error = t.throws(() => players.toFindOptions(parameters), { instanceOf: Problem })
    t.deepEqual(JSON.parse(JSON.stringify(error)), body)
  }
})

test('a parameter that is no single value is 400', (t) => {
  const error = t.throws(() => players.toFindOptions({ filter: ['Level>1', 'Level>2'] }), { instanceOf: Problem })
  t.is(error?.status, 400)
})

test('parameters that are no members of their own are an error, instead of a query without them', (t) => {
  class Query {
    get filter(): string {
      return 'Level>1000'
    }
  }
  const wrong: readonly unknown[] = [
    new URLSearchParams('filter=Level>1000'),
    new Map([['filter', 'Level>1000']]),
    Object.create({ filter: 'Level>1000' }),
    new Query(),
    [],
    ['filter=Level>1000'],
    'filter=Level>1000',
    null,
  ]
  for (const query of wrong) {
    t.throws(() => players.toFindOptions(query as Record<string, unknown>), {
      instanceOf: TypeError,
      message: /^The query must be a plain object /,
    })
  }
  const bare: Record<string, unknown> = Object.assign(Object.create(null), { filter: 'Level>1000' })
  t.deepEqual(players.toFindOptions(bare).where, players.toFindOptions({ ...bare }).where)
})

test('masks hold for the given identity, deleted records stay hidden, and guarded relations are closed', async (t) => {
  const database = await openDatabase()
  try {
    const { sequelize } = database
    const Team = sequelize.define('Team', { name: DataTypes.STRING }, { timestamps: false })
    const Club = sequelize.define('Club', { name: DataTypes.STRING }, { timestamps: false })
    const Worker = sequelize.define('Worker', { name: DataTypes.STRING, pay: DataTypes.INTEGER }, { timestamps: false })
    Worker.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
    Worker.belongsTo(Club, { as: 'club', foreignKey: 'clubId' })
    crudRouter(Team, { softDelete: true })
    crudRouter(Club, { authorizePolicy: hasRole('admin') })
    const workers = queryOf(Worker, { softDelete: true, mask: { pay: 'payroll' }, deletePolicy: hasRole('admin') })
    await sequelize.sync()
    await Club.create({ name: 'Rotary' })
    await Team.bulkCreate([{ name: 'Red' }, { name: 'Blue', isDeleted: true }])
    await Worker.bulkCreate([
      { name: 'Ann', pay: 1, teamId: 1, clubId: 1 },
      { name: 'Bob', pay: 2, teamId: 2, clubId: 1 },
      { name: 'Cid', pay: 3, teamId: 1, clubId: 1, isDeleted: true },
    ])
    const payroll: Identity = { name: 'x', roles: new Set(['admin']), permissions: new Set(['payroll']), claims: {} }
    const names = async (parameters: Parameters, identity?: Identity): Promise<unknown[]> =>
      (await Worker.findAll(workers.toFindOptions(parameters, identity))).map((worker) => worker.get('name'))

    t.deepEqual(await names({}), ['Ann', 'Bob'])
    t.deepEqual(await names({ includeDeleted: true }), ['Ann', 'Bob'])
    t.deepEqual(await names({ filter: 'pay>1' }, payroll), ['Bob'])
    t.throws(() => workers.toFindOptions({ filter: 'pay>1' }), { instanceOf: Problem, message: /Unknown field/ })
    t.throws(() => workers.toFindOptions({ pay: 2 }), {
      instanceOf: Problem,
      message: /^pay is not a parameter of this list\. Did you mean "page"\?$/,
    })
    t.deepEqual(await names({ pay: 2 }, payroll), ['Bob'])
    const masked = await Worker.findAll(workers.toFindOptions({}))
    t.true(masked.every((worker) => worker.get('pay') === undefined))
    t.deepEqual(await names({ filter: 'team.name=*e' }), ['Ann'], 'a deleted team is met by no path')
    for (const identity of [undefined, payroll]) {
      t.throws(() => workers.toFindOptions({ filter: 'club.name=Rotary' }, identity), { message: /Unknown field/ })
    }
  } finally {
    await database.close()
  }
})

test('a scope needs a request, so queryOf refuses it while it compiles', (t) => {
  t.throws(() => queryOf(league.Player, { scope: () => null }), { instanceOf: CrudConfigError, code: 'INVALID_OPTION' })
})

test('what only routes do is not looked at, so that the options of a router can be handed on', (t) => {
  const options: CrudOptions = { idempotency: { model: league.Team } }
  t.throws(() => crudRouter(league.Player, options), { instanceOf: CrudConfigError, message: /idempotency\.model/ })
  t.notThrows(() => queryOf(league.Player, options))
})
