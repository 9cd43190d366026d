// Lists walked by `after`, and back by `before`, in any order: random sorts under random filters, over columns of every
// type with nulls, ties and more precision than JSON shows, while records that the walk is not about come and go. Pages put
// together are the list by number, which knows nothing of cursors.
//
// WALK_SEED=n repeats a run, WALK_CASES=n makes it longer.

import { randomInt } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { crudRouter } from '../../lib/index.js'
import { databaseName } from '../support/database.js'
import { below, pick, type Random, randomOf } from '../support/differential/random.js'
import { list, serveModels } from '../support/models.js'

const seed = Number(process.env.WALK_SEED ?? randomInt(2 ** 31))
const cases = Number(process.env.WALK_CASES ?? 200)

const RECORDS = 90
const TEXTS = [
  '',
  'a',
  'A',
  'b',
  'B ',
  ' b',
  'ä',
  'Z',
  'z',
  'ß',
  '漢',
  "O'Hara",
  'back\\slash',
  '50%',
  '10',
  '9',
] as const
const FLOATS = [0.1, 0.3, -2.5, 1e-7, 123456.789, 0, 16777216, 3.5e9] as const
const DAYS = ['1999-12-31', '2020-02-29', '2026-01-01'] as const
const TIMES = ['00:00:00', '09:30:00', '23:59:59'] as const
const UUIDS = ['00000000-0000-4000-8000-000000000001', 'ffffffff-ffff-4fff-bfff-ffffffffffff'] as const
const BIGS = ['9007199254740993', '9007199254740992', '-9223372036854775808', '9223372036854775807', '5'] as const
const DECIMALS = ['0.01', '-0.01', '99999999.99', '1.10', '1.1'] as const

const single = databaseName === 'postgres' ? DataTypes.REAL : DataTypes.FLOAT

const ATTRIBUTES = {
  name: DataTypes.STRING,
  code: { type: DataTypes.STRING(40), allowNull: false },
  level: DataTypes.INTEGER,
  rank: { type: DataTypes.INTEGER, allowNull: false },
  big: DataTypes.BIGINT,
  price: DataTypes.DECIMAL(12, 2),
  ratio: single,
  wide: DataTypes.DOUBLE,
  active: DataTypes.BOOLEAN,
  at: DataTypes.DATE(6),
  day: DataTypes.DATEONLY,
  time: DataTypes.TIME,
  kind: DataTypes.ENUM('small', 'Large', 'medium'),
  tag: DataTypes.UUID,
  noise: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
}
const SORTS = Object.keys(ATTRIBUTES).filter((name) => name !== 'noise')
const FILTERS = [
  '',
  'Level!=null',
  'Rank>1',
  'Name=*a/i|Team=null',
  'Team.Name!=Blue',
  'At>2020-01-01',
  'Code!=a',
] as const

const random = randomOf(seed)

function row(from: Random): Record<string, unknown> {
  const maybe = <T>(values: readonly [T, ...T[]]): T | null => (from() < 0.25 ? null : pick(from, values))
  return {
    name: maybe(TEXTS),
    code: pick(from, TEXTS),
    level: maybe([1, 2, 3, 2147483647]),
    rank: below(from, 4),
    big: maybe(BIGS),
    price: maybe(DECIMALS),
    ratio: maybe(FLOATS),
    wide: maybe(FLOATS),
    active: maybe([true, false]),
    at: maybe([new Date('2020-01-01T00:00:00.123Z'), new Date('2026-05-05T05:05:05.005Z')]),
    day: maybe(DAYS),
    time: maybe(TIMES),
    kind: maybe(['small', 'Large', 'medium']),
    tag: maybe(UUIDS),
    teamId: maybe([1, 2, 3]),
  }
}

/** What other programs have stored: microseconds. */
async function addMicroseconds(sequelize: Sequelize, table: string): Promise<void> {
  const added =
    databaseName === 'postgres' ? `"at" + "id" % 7 * interval '1 microsecond'` : 'at + INTERVAL id % 7 MICROSECOND'
  const quoted = databaseName === 'postgres' ? [`"${table}"`, '"at"'] : [table, 'at']
  if (databaseName !== 'sqlite') await sequelize.query(`UPDATE ${quoted[0]} SET ${quoted[1]} = ${added}`)
  else await sequelize.query(`UPDATE ${table} SET at = replace(at, ' +00:00', (id % 7) || ' +00:00')`)
}

const server = await serveModels({
  define: (sequelize) => {
    const plain = { timestamps: false }
    const Team = sequelize.define('Team', { name: DataTypes.STRING, size: DataTypes.INTEGER }, plain)
    const Row = sequelize.define('Row', ATTRIBUTES, { ...plain, tableName: 'rows_' })
    const Hooked = sequelize.define('Hooked', ATTRIBUTES, { ...plain, tableName: 'hooked_' })
    // With a find hook the reads go through Sequelize's own findAll.
    Hooked.addHook('beforeFind', () => undefined)
    for (const model of [Row, Hooked]) model.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
    Team.hasMany(Row, { as: 'rows', foreignKey: 'teamId', constraints: false })
    return { Team, Row, Hooked }
  },
  fill: async ({ Team, Row, Hooked }) => {
    await Team.bulkCreate([
      { name: 'Red', size: 3 },
      { name: 'Blue', size: null },
      { name: null, size: 3 },
    ])
    for (const model of [Row, Hooked]) {
      await model.bulkCreate(Array.from({ length: RECORDS }, () => row(random)))
      const { sequelize } = model
      if (sequelize !== undefined) await addMicroseconds(sequelize, String(model.getTableName()))
    }
  },
  mount: (app, { Team, Row, Hooked }) => {
    app.use(crudRouter(Team))
    app.use(crudRouter(Row, { route: 'rows', fields: { id: { filterable: true } } }))
    app.use(crudRouter(Hooked, { route: 'hooked', fields: { id: { filterable: true } } }))
  },
})
test.after.always(() => server.close())

function sortOf(from: Random): string {
  const paths = [...SORTS, 'team.name', 'team.size', 'team.rows.count', 'id']
  const keys = Array.from({ length: 1 + below(from, 3) }, () => paths[below(from, paths.length)] ?? 'id')
  return [...new Set(keys)].map((key) => (from() < 0.5 ? `-${key}` : key)).join(',')
}

type Item = Readonly<Record<string, unknown>>

interface Walk {
  readonly path: string
  readonly parameters: Readonly<Record<string, string>>
}

async function whole({ path, parameters }: Walk): Promise<readonly Item[]> {
  const { body } = await list(server, path, { ...parameters, pageSize: 1000 })
  return body.items
}

/** The items of all pages in the order of the list; between pages something happens. */
async function walked(
  { path, parameters }: Walk,
  { parameter, start, sizes }: { parameter: 'after' | 'before'; start: string; sizes: () => number },
  between: () => Promise<void>,
): Promise<{ readonly items: readonly Item[]; readonly last: string | null }> {
  const items: Item[] = []
  let last: string | null = null
  for (let token: string | null = start, pages = 0; token !== null; pages += 1) {
    if (pages > 2 * RECORDS + 50) throw new Error('the walk does not end')
    const answer = await list(server, path, { ...parameters, [parameter]: token, pageSize: sizes() })
    if (answer.status !== 200) throw new Error(answer.text)
    const { body } = answer
    if (parameter === 'after') {
      items.push(...body.items)
      last = body.previousCursor ?? last
    } else {
      items.unshift(...body.items)
      last = body.nextCursor
    }
    token = parameter === 'after' ? body.nextCursor : body.previousCursor
    await between()
  }
  return { items, last }
}

/** Whatever is put in or taken out is noise, and noise is not what the walk is about. It is in no team, which is sorted by. */
async function disturb(model: ModelStatic<Model>, from: Random): Promise<void> {
  if (from() < 0.5) await model.bulkCreate([{ ...row(from), teamId: null, noise: true }])
  else await model.destroy({ where: { noise: true }, limit: 1 })
}

function untouched(items: readonly Item[]): readonly unknown[] {
  return items.filter(({ noise }) => noise === false).map(({ id }) => id)
}

async function check(t: ExecutionContext, path: string, model: ModelStatic<Model>, runs: number): Promise<void> {
  t.timeout(60_000 + runs * 1000)
  t.log(`${runs} walks, WALK_SEED=${seed}`)
  for (let run = 0; run < runs; run += 1) {
    const own = randomOf(seed + run)
    const filter = pick(own, FILTERS)
    const sort = sortOf(own)
    const walk: Walk = { path, parameters: { sort, ...(filter === '' ? {} : { filter }) } }
    const told = `WALK_SEED=${seed}, walk ${run}: ${JSON.stringify(walk)}`
    await model.destroy({ where: { noise: true } })
    const expected = untouched(await whole(walk))
    const isDisturbed = own() < 0.5
    const between = (): Promise<void> => (isDisturbed ? disturb(model, own) : Promise.resolve())
    const sizes = (): number => 1 + below(own, 40)
    const there = await walked(walk, { parameter: 'after', start: '', sizes }, between)
    if (JSON.stringify(untouched(there.items)) !== JSON.stringify(expected)) {
      t.deepEqual(untouched(there.items), expected, told)
      return
    }
    // From the last page's first record back to the beginning; what the last page has is behind it.
    if (there.last === null) continue
    const back = await walked(walk, { parameter: 'before', start: there.last, sizes }, between)
    const ids = untouched(back.items)
    if (JSON.stringify(ids) !== JSON.stringify(expected.slice(0, ids.length)) || ids.length === 0) {
      t.deepEqual(ids, expected.slice(0, ids.length), `${told}, and back`)
      return
    }
  }
  t.pass()
}

test.serial('pages by after, and back by before, are the whole list in its order, each untouched record once', (t) =>
  check(t, '/rows', server.Row, cases),
)

test.serial('the same where find hooks make the reads go through findAll', (t) =>
  check(t, '/hooked', server.Hooked, Math.ceil(cases / 6)),
)
