import test from 'ava'
import { DataTypes, literal, Op, Sequelize } from 'sequelize'
import { ownColumn } from '../../../lib/common/columns.js'
import { crudRouter } from '../../../lib/index.js'
import { cachedList, cachedText, withSqlCache } from '../../../lib/sequelize/sqlCache.js'
import { sqliteOptions } from '../../support/database.js'
import { isFast } from '../../support/speed.js'
import { openStage } from '../../support/stage.js'
import { ALL_RESOURCES } from '../../support/statementRequests.js'

const sequelize = new Sequelize({ ...sqliteOptions, logging: false })
const Team = sequelize.define('Team', {})
const Player = sequelize.define('Player', { name: DataTypes.STRING })
const team = Player.belongsTo(Team, { as: 'team' })
const captain = Player.belongsTo(Team, { as: 'captain' })
test.after.always(() => sequelize.close())

/** Each differs from every other one in one thing. */
const GIVEN: readonly object[] = [
  {},
  { where: {} },
  { where: [] },
  { where: { [Op.and]: [] } },
  { where: { [Op.or]: [] } },
  { where: { [Op.and]: [literal('a')] } },
  { where: { [Op.and]: ['a'] } },
  { where: { [Op.and]: [literal('b')] } },
  { where: { [Op.and]: [literal('a'), literal('b')] } },
  { where: { [Op.and]: [literal('a, b')] } },
  { where: { [Op.and]: [literal('a'), { [Op.or]: [literal('b')] }] } },
  { where: literal('a') },
  { limit: literal('1') },
  { limit: 1 },
  { limit: '1' },
  { limit: true },
  { limit: null },
  { limit: undefined },
  { 'limit=1,offset': 2 },
  { limit: 1, offset: 2 },
  { length: 1 },
  { where: { 'Symbol(and)': [] } },
  { where: [literal('a'), literal('b')] },
  { include: [{ association: team }] },
  { include: [{ association: captain }] },
  { include: [{ association: team, required: true }] },
  { total: '_total', include: [{ association: team }] },
  { total: '_total', include: [{ association: team }], totalInclude: [] },
  { attributes: 'a list of columns' },
  { attributes: 'another list of columns' },
]

test('a text is written once for what is equal, and once for each of what differs in anything', (t) => {
  for (let times = 0; times < 3; times += 1) {
    for (const [index, given] of GIVEN.entries()) {
      t.is(
        withSqlCache(() => cachedText(Player, given, () => `${times} ${index}`)),
        `${isFast ? 0 : times} ${index}`,
      )
    }
  }
  t.is(
    withSqlCache(() => cachedText(Team, {}, () => 'of another model')),
    'of another model',
  )
})

test('what may mean something else the next time is written anew', (t) => {
  const given = [
    { where: { at: new Date(0) } },
    { where: { name: Sequelize.fn('now') } },
    { where: { name: Sequelize.col('a') } },
    { where: { bytes: Buffer.from('a') } },
    { where: { count: 1n } },
    { where: literal({} as string) },
    { where: () => 'a' },
    { where: 'a'.repeat(20_000) },
  ]
  for (const each of given) {
    for (const text of ['first', 'second']) {
      t.is(
        withSqlCache(() => cachedText(Player, each, () => text)),
        text,
      )
    }
  }
})

test('a model with a default scope has each of its texts written anew', (t) => {
  const Scoped = sequelize.define('Scoped', {}, { defaultScope: { where: { id: 1 } } })
  for (const text of ['first', 'second']) {
    t.is(
      withSqlCache(() => cachedText(Scoped, {}, () => text)),
      text,
    )
  }
})

test('a text that may have values in it is written anew, also behind one that has none', (t) => {
  withSqlCache(() => cachedText(Player, { where: literal('1 = 1') }, () => 'kept'))
  for (const text of ['first', 'second']) {
    t.is(
      cachedText(Player, { where: literal('1 = 1') }, () => text),
      text,
    )
  }
  t.throws(() =>
    withSqlCache(() => {
      throw new Error('a text that cannot be written')
    }),
  )
  t.is(
    cachedText(Player, { where: literal('1 = 1') }, () => 'third'),
    'third',
  )
})

test('the statement of a page that joins a table is written once for all values', async (t) => {
  const stage = await openStage(({ sequelize: own }, app) => {
    const Club = own.define('Club', { name: DataTypes.STRING }, { timestamps: false })
    const Member = own.define('Member', { level: DataTypes.INTEGER }, { timestamps: false })
    Member.belongsTo(Club, { as: 'club' })
    app.use(crudRouter(Club), crudRouter(Member))
  })
  t.teardown(stage.close)
  const generator = stage.sequelize.getQueryInterface().queryGenerator as { selectQuery: (...args: never[]) => string }
  const { selectQuery } = generator
  let count = 0
  generator.selectQuery = function (...args) {
    count += 1
    return selectQuery.apply(this, args)
  }
  for (const value of ['a', 'b', 'c']) {
    const { status } = await stage.get(`/api/members?filter=Club.Name=${value},Level>1&sort=-Club.Name`)
    t.is(status, 200)
  }
  t.is(count, isFast ? 1 : 3)
})

test('a list of columns is kept for its array, its alias, its model, the dialect and the types of the columns', (t) => {
  const columns = ALL_RESOURCES.flatMap(({ fields }) => fields.filter(({ derived }) => derived === undefined)).map(
    ownColumn,
  )
  const types = new Map()
  const dialect = {}
  const targets = [
    { dialect, model: Player, alias: 'Player', types },
    { dialect, model: Player, alias: '', types },
    { dialect, model: Team, alias: 'Team', types },
  ]
  for (let times = 0; times < 2; times += 1) {
    for (const target of targets) {
      const text = cachedList(columns, target, () => `${times} ${target.alias}`)
      t.is(text, `${isFast ? 0 : times} ${target.alias}`)
    }
  }
  for (const target of [
    { dialect, model: Team, alias: 'Player', types },
    { dialect, model: Player, alias: 'Player', types: new Map() },
    { dialect: {}, model: Player, alias: 'Player', types: new Map() },
    { dialect: {}, model: Team, alias: 'Team', types },
  ]) {
    t.is(
      cachedList(columns, target, () => 'written anew'),
      'written anew',
    )
  }
  t.is(
    cachedList([...columns], { dialect, model: Player, alias: 'Player', types }, () => 'of other columns'),
    'of other columns',
  )
})

test('a list with a value that the database computes is written anew, because it may contain values', (t) => {
  const [column] = ALL_RESOURCES.flatMap(({ fields }) => fields).map(ownColumn)
  if (column === undefined) return t.fail()
  const columns = [{ ...column, field: { ...column.field, derived: { kind: 'year', source: column.field } as const } }]
  for (const text of ['first', 'second']) {
    t.is(
      cachedList(columns, { dialect: {}, model: Player, alias: 'Player', types: undefined }, () => text),
      text,
    )
  }
})
