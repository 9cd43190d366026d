// Random rows, random aggregates, held against arithmetic in memory. AGGREGATE_SEED=n repeats a run, AGGREGATE_CASES=n makes it
// longer.

import { randomInt } from 'node:crypto'
import test from 'ava'
import { DataTypes, type Model, type ModelStatic } from 'sequelize'
import { crudRouter, Operations } from '../../../lib/index.js'
import {
  type Case,
  createCase,
  expectedGroups,
  groupName,
  KINDS,
  measureName,
  type Row,
} from '../../support/aggregateOracle.js'
import { below, pick, type Random, randomOf } from '../../support/differential/random.js'
import { list } from '../../support/lists.js'
import { openStage } from '../../support/stage.js'

const seed = Number(process.env.AGGREGATE_SEED ?? randomInt(2 ** 31))
const cases = Number(process.env.AGGREGATE_CASES ?? 150)

const models: ModelStatic<Model>[] = []
const stage = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING, size: DataTypes.INTEGER }, plain)
  const Thing = sequelize.define(
    'Thing',
    {
      name: DataTypes.STRING,
      level: DataTypes.INTEGER,
      big: DataTypes.BIGINT,
      price: DataTypes.DECIMAL(12, 2),
      active: DataTypes.BOOLEAN,
      at: DataTypes.DATE(3),
      day: DataTypes.DATEONLY,
    },
    plain,
  )
  Thing.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
  const operations = Operations.Read | Operations.Aggregate
  for (const model of [Team, Thing]) app.use(crudRouter(model, { operations }))
  models.push(Team, Thing)
})
test.after.always(() => stage.close())

const TEXTS: readonly [string, ...string[]] = ['a', 'A', 'a ', 'á', 'b', 'ß', 'ss', '', '%', '🂡']

/** A row of the table, and what it is here. */
function rowOf(random: Random, teams: readonly Row[]): readonly [stored: object, held: Row] {
  const maybe = <T>(make: () => T): T | null => (below(random, 6) === 0 ? null : make())
  const level = maybe(() => below(random, 12) - 2)
  const big = maybe(() => BigInt(below(random, 3)) * 9007199254740993n - BigInt(below(random, 5)))
  const price = maybe(() => below(random, 4000) - 1000)
  const active = maybe(() => below(random, 2) === 0)
  const moment = maybe(
    () =>
      new Date(
        Date.UTC(
          2024 + below(random, 3),
          below(random, 12),
          1 + below(random, 28),
          below(random, 24),
          0,
          0,
          below(random, 1000),
        ),
      ),
  )
  const day = maybe(() => `20${24 + below(random, 2)}-0${1 + below(random, 9)}-1${below(random, 3)}`)
  const name = maybe(() => pick(random, TEXTS))
  const at = moment?.toISOString() ?? null
  const teamId = maybe(() => below(random, teams.length + 1) + 1)
  const team = teamId === null ? undefined : teams[teamId - 1]
  const stored = {
    name,
    level,
    big: big?.toString() ?? null,
    price: price === null ? null : (price / 100).toFixed(2),
    active,
    at: moment,
    day,
    teamId,
  }
  return [
    stored,
    { name, level, big, price, active, at, day, 'team.name': team?.name ?? null, 'team.size': team?.size ?? null },
  ]
}

function parametersOf({ groups, measures, having, sort, minLevel }: Case): Record<string, string> {
  const text = {
    aggregate: measures.map(measureName).join(','),
    group: groups.map(groupName).join(','),
    having: having === null ? '' : `${measureName(having.measure)}${having.operator}${having.number}`,
    sort: sort.map(({ key, descending }) => (descending ? '-' : '') + key).join(','),
    filter: minLevel === null ? '' : `Level>=${minLevel}`,
    pageSize: '1000',
  }
  return Object.fromEntries(Object.entries(text).filter(([, value]) => value !== ''))
}

const sorted = (items: readonly object[]): string[] => items.map(canonical).toSorted()
const canonical = (item: unknown): string =>
  JSON.stringify(item, (_, value: unknown) =>
    typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).toSorted()) : value,
  )

test('groups and measures are those of arithmetic, and in the order that was asked for', async (t) => {
  t.timeout(240_000 + cases * 200)
  t.log(`${cases} aggregates, AGGREGATE_SEED=${seed}`)
  const random = randomOf(seed)
  const [Team, Thing] = models
  const teams: Row[] = Array.from({ length: 4 }, (_, index) => ({
    name: TEXTS[index] ?? null,
    size: index === 3 ? null : index * 2,
  }))
  await Team?.bulkCreate(teams.map(({ name, size }) => ({ name, size })))
  const rows = Array.from({ length: 60 }, () => rowOf(random, teams))
  await Thing?.bulkCreate(rows.map(([stored]) => ({ ...stored })))
  const held = rows.map(([, row]) => row)
  let found = 0
  for (let each = 0; each < cases; each++) {
    const one = createCase(random)
    const parameters = parametersOf(one)
    const { status, body, text } = await list(stage, '/api/things', parameters)
    const hint = `AGGREGATE_SEED=${seed} ${JSON.stringify(parameters)}`
    if (status !== 200) return t.fail(`${hint}\n${text}`)
    const expected = expectedGroups(held, one)
    found += expected.length
    const hasText = one.groups.some(({ path }) => KINDS[path] === 'text')
    // Texts have the database's order: of groups by them it is looked at which there are, and at the keys before them.
    const [actual, wanted] = hasText
      ? [sorted(body.items), sorted(expected)]
      : [body.items.map(canonical), expected.map(canonical)]
    if (!t.deepEqual(actual, wanted, hint)) return undefined
    t.is(body.totalCount, expected.length, hint)
    // A page that is full has to ask for it.
    const page = await list(stage, '/api/things', { ...parameters, pageSize: 1 })
    t.is(page.body.totalCount, expected.length, hint)
  }
  t.true(found > cases)
  return undefined
})
