// Lists walked by `after`, and back by `before`, where rows have more precision than JSON shows: microseconds, floats of
// four bytes, whole numbers beyond doubles. Random sorts, by counts of records behind as well, under random filters of the
// generator of the differential test. Pages put together are the list by number, which knows nothing of cursors.
//
// WALK_SEED=n repeats a run, WALK_CASES=n makes it longer. A difference is made as small as it gets.

import { randomInt } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { DataTypes, Op } from 'sequelize'
import { crudRouter } from '../../../lib/index.js'
import { LONGEST } from '../../support/differential/check.js'
import type { Condition } from '../../support/differential/condition.js'
import { Conditions } from '../../support/differential/conditions.js'
import { printFilter } from '../../support/differential/print.js'
import { below, type Random, randomOf } from '../../support/differential/random.js'
import { Client, keyIn, type Query } from '../../support/differential/requests.js'
import type { Table } from '../../support/differential/schema.js'
import { Noise, walk } from '../../support/differential/walk.js'
import * as precise from '../../support/preciseRows.js'
import { openStage } from '../../support/stage.js'

const seed = Number(process.env.WALK_SEED ?? randomInt(2 ** 31))
const cases = Number(process.env.WALK_CASES ?? 50)

const RECORDS = 90

const random = randomOf(seed)
const rows = Array.from({ length: RECORDS }, () => precise.preciseRow(random))
const conditions = new Conditions(precise.tablesOf(rows), { pathDepth: 2, far: false, collections: true })

const served = await openStage(({ sequelize }, app) => {
  const plain = { timestamps: false }
  const Team = sequelize.define('Team', { name: DataTypes.STRING, size: DataTypes.INTEGER }, plain)
  const Row = sequelize.define('Row', precise.attributes(), { ...plain, tableName: 'rows_' })
  const Hooked = sequelize.define('Hooked', precise.attributes(), { ...plain, tableName: 'hooked_' })
  // With a find hook the reads go through Sequelize's own findAll.
  Hooked.addHook('beforeFind', () => undefined)
  for (const model of [Row, Hooked]) model.belongsTo(Team, { as: 'team', foreignKey: 'teamId', constraints: false })
  Team.hasMany(Row, { as: 'rows', foreignKey: 'teamId', constraints: false })
  const limits = { joins: 100, quantifiers: 100, quantifierDepth: 3, pathDepth: 10 }
  const options = { fields: { id: { filterable: true } }, limits }
  app.use(crudRouter(Team, options))
  app.use(crudRouter(Row, { ...options, route: 'rows' }))
  app.use(crudRouter(Hooked, { ...options, route: 'hooked' }))
  return { Team, Row, Hooked }
})
const { Team, Row, Hooked } = served
await Team.bulkCreate([...precise.TEAMS])
for (const model of [Row, Hooked]) {
  await model.bulkCreate(rows.map(precise.recordOf))
  const { sequelize } = model
  if (sequelize !== undefined) await precise.addMicroseconds(sequelize, String(model.getTableName()))
}
const client = new Client(served.url)
test.after.always(async () => {
  client.close()
  await served.close()
})

interface Asked {
  readonly condition: Condition | null
  readonly sort: readonly string[]
  readonly style: number
}

const PATHS: readonly string[] = [...precise.SORTS, 'team.name', 'team.size', 'team.rows.count', 'id']

/** Noise is in no team, which is sorted by. */
function recordOf(from: Random): Record<string, unknown> {
  return { ...precise.recordOf(precise.preciseRow(from)), teamId: null }
}

async function check(table: Table, noise: Noise, { condition, sort, style }: Asked): Promise<void> {
  const own = randomOf(style)
  const filter = condition === null ? '' : printFilter(condition, own)
  fc.pre(filter.length <= LONGEST)
  const keys = sort.map((path) => (below(own, 2) === 0 ? `-${path}` : path))
  const query: Query = { ...(filter === '' ? {} : { filter }), ...(keys.length > 0 ? { sort: keys.join() } : {}) }
  await noise.end()
  const { body } = await client.request(table, { ...query, select: 'id', pageSize: '1000' })
  const isDisturbed = own() < 0.5
  await walk(client, {
    path: table.path,
    query: own() < 0.8 ? { ...query, select: 'id' } : query,
    expected: body.items.map(keyIn),
    isRow: (key) => typeof key === 'number' && key <= RECORDS,
    random: own,
    between: async () => {
      if (isDisturbed && own() < 0.5) await noise.change(own)
    },
  })
}

async function all(t: ExecutionContext, table: Table, share: number): Promise<void> {
  const numRuns = Math.ceil(cases * share)
  t.timeout(120_000 + numRuns * 2000)
  t.log(`${numRuns} walks, WALK_SEED=${seed}`)
  const noise = new Noise(served.sequelize.model(table.name), recordOf, { id: { [Op.gt]: RECORDS } })
  const examples = fc.record({
    condition: fc.option(conditions.of(table), { freq: 5 }),
    sort: fc.uniqueArray(fc.constantFrom(...PATHS), { maxLength: 3 }),
    style: fc.nat(),
  })
  const property = fc.asyncProperty(examples, (asked) => check(table, noise, asked))
  const { failed, numRuns: at, numShrinks, errorInstance } = await fc.check(property, { seed, numRuns })
  if (failed) t.fail(`WALK_SEED=${seed}, walk ${at}, shrunk ${numShrinks} times\n${errorInstance}`)
  else t.pass()
}

test.serial('pages by after, and back by before, are the whole list in its order, each untouched record once', (t) =>
  all(t, precise.ROWS, 0.4),
)

test.serial('the same where find hooks make the reads go through findAll', (t) => all(t, precise.HOOKED, 0.1))
