// Lists walked by `after`, and back by `before`: random sorts under random filters over the tables of the differential
// test, while records that the walk is not about come and go. Pages put together are what its oracle, which knows nothing
// of cursors, has in memory.
//
// WALK_SEED=n repeats a run, WALK_CASES=n makes it longer. A difference is made as small as it gets.

import { randomInt } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import { type Case, casesOf } from '../../support/differential/cases.js'
import { filterOf, LONGEST, orderOf } from '../../support/differential/check.js'
import { noiseOf } from '../../support/differential/noise.js'
import { keysOf, Oracle } from '../../support/differential/oracle.js'
import { randomOf } from '../../support/differential/random.js'
import { Client } from '../../support/differential/requests.js'
import { TABLES } from '../../support/differential/schema.js'
import { serveWorld } from '../../support/differential/served.js'
import { learnTextOrder } from '../../support/differential/textOrder.js'
import { walk } from '../../support/differential/walk.js'
import { worldOf } from '../../support/differential/world.js'

const seed = Number(process.env.WALK_SEED ?? randomInt(2 ** 31))
const cases = Math.ceil(Number(process.env.WALK_CASES ?? 50) * 0.5)

const world = worldOf(seed)
const served = await serveWorld(world)
const client = new Client(served.url)
const oracle = new Oracle(await learnTextOrder(world, client))
const noises = await noiseOf(served, world)
const rows = new Map(TABLES.map((table) => [table, new Set(keysOf(world.all(table.name), table))]))
test.after.always(async () => {
  client.close()
  await served.close()
})

async function check(given: Case): Promise<void> {
  const { table, includeDeleted, condition, sort } = given
  const random = randomOf(given.style)
  const filter = filterOf(given, random)
  fc.pre((filter.filter ?? '').length <= LONGEST)
  const { query: order, direction } = orderOf(given, random)
  const all = includeDeleted ? world.all(table.name) : world.rows(table.name)
  const wanted = all.filter((row) => condition === null || oracle.meets(row, condition))
  const noise = noises.get(table.name)
  await noise?.end()
  const isDisturbed = random() < 0.5
  await walk(client, {
    path: table.path,
    query: {
      ...filter,
      ...order,
      ...(includeDeleted ? { includeDeleted: 'true' } : {}),
      // The values that a token holds are read whether they are shown or not.
      ...(random() < 0.8 ? { select: 'id' } : {}),
    },
    expected: keysOf(oracle.sorted(table, wanted, sort, direction), table),
    isRow: (key) => rows.get(table)?.has(key) === true,
    random,
    between: async () => {
      if (isDisturbed && random() < 0.5) await noise?.change(random)
    },
  })
}

test.serial('pages by after, and back by before, are the list of the oracle, each untouched record once', async (t) => {
  t.timeout(120_000 + cases * 2000)
  t.log(`${cases} walks, WALK_SEED=${seed}`)
  const examples = casesOf(world, {
    range: { pathDepth: 2, far: false, collections: true },
    condition: 'often',
    parameters: false,
    sortKeys: 3,
    readings: ['keyset'],
  })
  const result = await fc.check(fc.asyncProperty(examples, check), { seed, numRuns: cases })
  const { failed, numRuns: at, numShrinks, errorInstance } = result
  if (failed) t.fail(`WALK_SEED=${seed}, walk ${at}, shrunk ${numShrinks} times\n${errorInstance}`)
  else t.pass()
})
