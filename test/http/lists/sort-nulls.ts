// Where rows without a value stand among the others, whatever the filter leaves of them, and that PostgreSQL is not told where,
// which would keep it from reading such an order from an index: it reads them in a part of their own.

import test from 'ava'
import { DataTypes } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import type { Answer } from '../../support/server.js'
import { openStage } from '../../support/stage.js'

const server = await openStage()
const { app, sequelize, statements } = server
const Team = sequelize.define('Team', { rank: DataTypes.INTEGER }, { timestamps: false })
const Player = sequelize.define(
  'Player',
  { level: DataTypes.INTEGER, points: DataTypes.INTEGER, size: DataTypes.ENUM('small', 'large') },
  { timestamps: false, indexes: [{ fields: ['level'] }] },
)
Player.belongsTo(Team, { as: 'team', foreignKey: 'teamId' })
await sequelize.sync()
await Team.bulkCreate([{ rank: 3 }, { rank: null }, { rank: 1 }])
const LEVELS = [7, null, 3, 9, null, 3, 1, 12]
await Player.bulkCreate(
  LEVELS.map((level, index) => ({
    level,
    points: index % 3 === 0 ? null : index,
    size: index % 2 === 0 ? null : 'small',
    teamId: index % 4 === 0 ? null : index % 4,
  })),
)
app.use(crudRouter(Team), crudRouter(Player))
test.after.always(() => server.close())

type Level = number | null

const CASES: readonly {
  readonly filter: string
  readonly keeps: (level: Level, index: number) => boolean
  /** Whether some of what is left may have no level, as far as the filter tells. */
  readonly nulls: boolean
}[] = [
  { filter: '', keeps: () => true, nulls: true },
  { filter: 'Level>2', keeps: (level) => level !== null && level > 2, nulls: false },
  { filter: 'Level!=null', keeps: (level) => level !== null, nulls: false },
  { filter: 'Level=in=3;9', keeps: (level) => level === 3 || level === 9, nulls: false },
  { filter: 'Level<4|Level>8', keeps: (level) => level !== null && (level < 4 || level > 8), nulls: false },
  {
    filter: 'Points>0,(Level=3|Level>=9)',
    keeps: (level, index) => index % 3 !== 0 && level !== null && (level === 3 || level >= 9),
    nulls: false,
  },
  { filter: 'Level=null|Level>8', keeps: (level) => level === null || level > 8, nulls: true },
  { filter: 'Level!=3', keeps: (level) => level !== 3, nulls: true },
  { filter: 'Level=in=3;null', keeps: (level) => level === 3 || level === null, nulls: true },
  { filter: 'Points>0', keeps: (_level, index) => index % 3 !== 0, nulls: true },
  { filter: 'Level>2|Points>0', keeps: (level, index) => (level ?? 0) > 2 || index % 3 !== 0, nulls: true },
]

/** Nulls come before all values ascending, and after them descending. */
function expected(keeps: (level: Level, index: number) => boolean, sign: number): Level[] {
  const rank = (level: Level): number => level ?? Number.NEGATIVE_INFINITY
  return LEVELS.filter(keeps).sort((a, b) => (rank(a) === rank(b) ? 0 : sign * (rank(a) - rank(b))))
}

for (const { filter, keeps, nulls } of CASES) {
  for (const [sort, sign] of [
    ['Level', 1],
    ['-Level', -1],
  ] as const) {
    test.serial(`sort=${sort} under "${filter}" has nulls in their place`, async (t) => {
      statements.length = 0
      const { body } = await server.get(`/api/players?${new URLSearchParams({ sort, ...(filter ? { filter } : {}) })}`)
      const levels = body.items.map(({ level }: { level: Level }) => level)
      t.deepEqual(levels, expected(keeps, sign))
      if (server.name === 'postgres')
        t.is(
          statements.some((sql) => / UNION ALL /.test(sql)),
          nulls,
          statements.join('\n'),
        )
      t.false(
        statements.some((sql) => / NULLS /.test(sql)),
        statements.join('\n'),
      )
    })
  }
}

for (const sort of ['Level', '-Level', 'Level,-Points', '-Level,Points']) {
  for (const filter of ['', 'Points>0', 'Level=null', 'Level=null|Level>8']) {
    test.serial(`pages by number of sort=${sort} under "${filter}" are the list, cut`, async (t) => {
      const read = async (more: Record<string, string>): Promise<Answer['body']> => {
        const parameters = { sort, ...(filter === '' ? {} : { filter }), ...more }
        return (await server.get(`/api/players?${new URLSearchParams(parameters)}`)).body
      }
      const { items, totalCount } = await read({})
      t.is(items.length, totalCount)
      for (const pageSize of [1, 2, 3, 5]) {
        const found: unknown[] = []
        for (let page = 1; page <= Math.ceil(totalCount / pageSize) + 1; page += 1) {
          const cut = await read({ page: String(page), pageSize: String(pageSize) })
          t.like(cut, { totalCount, page, hasNextPage: page * pageSize < totalCount })
          t.deepEqual((await read({ page: String(page), pageSize: String(pageSize), count: 'none' })).items, cut.items)
          found.push(...cut.items)
        }
        t.deepEqual(found, items)
      }
    })
  }
}

test.serial('a value of another table, or of another column, says nothing of the one that is sorted by', async (t) => {
  const levels = async (filter: string, sort: string): Promise<unknown> => {
    const { body } = await server.get(`/api/players?${new URLSearchParams({ filter, sort })}`)
    return body.items.map(({ id }: { id: number }) => id)
  }
  // The teams of rank 3 and 1 are the first and the third.
  t.deepEqual(await levels('Team.Rank>0', 'Team.Rank'), [4, 8, 2, 6])
  t.deepEqual(await levels('TeamId>0', 'Team.Rank'), [3, 7, 4, 8, 2, 6])
  t.deepEqual(await levels('Size=small', '-Size'), [8, 6, 4, 2])
  t.deepEqual(
    await levels('TeamId=2', 'Level'),
    [3, 7].sort((a, b) => (LEVELS[a - 1] ?? 0) - (LEVELS[b - 1] ?? 0)),
  )
})
