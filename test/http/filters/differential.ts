// The same answer on every database: rows and list requests made from a seed, answered over HTTP and by an oracle that
// computes in memory what the specification says. What equals the oracle on every database is equal on all of them.
//
// DIFFERENTIAL_SEED=n repeats a run, DIFFERENTIAL_CASES=n makes it longer. A difference is told with its seed and is
// made as small as it gets.

import { randomInt } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import fc, { type Arbitrary } from 'fast-check'
import { databaseName } from '../../support/database.js'
import { casesOf, type Topic } from '../../support/differential/cases.js'
import { Checker } from '../../support/differential/check.js'
import { checkEmbedding, embeddingsOf } from '../../support/differential/embeds.js'
import { Oracle } from '../../support/differential/oracle.js'
import { checkPartition, partitions } from '../../support/differential/parts.js'
import { Client } from '../../support/differential/requests.js'
import { TABLES } from '../../support/differential/schema.js'
import { keyInPath, recordOf, serveWorld } from '../../support/differential/served.js'
import { learnTextOrder } from '../../support/differential/textOrder.js'
import { keyOf, textColumns, valuesIn, worldOf } from '../../support/differential/world.js'

const seed = Number(process.env.DIFFERENTIAL_SEED ?? randomInt(2 ** 31))
// A case takes five times as long on a server as on SQLite.
const total = Number(process.env.DIFFERENTIAL_CASES ?? (databaseName === 'sqlite' ? 250 : 150))

const world = worldOf(seed)
const served = await serveWorld(world)
const client = new Client(served.url)
const order = await learnTextOrder(world, client)
const oracle = new Oracle(order)
const checker = new Checker(world, oracle, client)
test.after.always(async () => {
  client.close()
  await served.close()
})

/** Checks as many examples as that share of the cases, and tells how to have them again. */
async function all<T>(
  t: ExecutionContext,
  share: number,
  examples: Arbitrary<T>,
  check: (example: T) => Promise<void>,
): Promise<void> {
  const numRuns = Math.ceil(total * share)
  // All tests run at the same time, so that each may take as long as all cases together.
  t.timeout(120_000 + total * 200)
  t.log(`${numRuns} cases, DIFFERENTIAL_SEED=${seed}`)
  const result = await fc.check(fc.asyncProperty(examples, check), { seed, numRuns })
  const { failed, numRuns: at, numShrinks, errorInstance } = result
  if (failed) t.fail(`DIFFERENTIAL_SEED=${seed}, case ${at}, shrunk ${numShrinks} times\n${errorInstance}`)
  else t.pass()
}

function agree(t: ExecutionContext, share: number, topic: Topic): Promise<void> {
  return all(t, share, casesOf(world, topic), (given) => checker.check(given))
}

const OWN = { pathDepth: 0, far: false, collections: false }

// Full records are most of the work, so most cases read keys alone.
const READINGS = ['keys', 'keys', 'keys', 'pages', 'keyset', 'select'] as const

test('every record is the same bytes on every database', async (t) => {
  for (const table of TABLES) {
    await Promise.all(
      world.all(table.name).map(async (row) => {
        const { status, text } = await served.get(`${table.path}/${keyInPath(keyOf(row))}`)
        if (row.deleted) t.is(status, 404)
        else t.is(text, JSON.stringify(recordOf(table, row)))
      }),
    )
    const { text } = await served.get(`${table.path}?pageSize=1000`)
    const items = world.rows(table.name).map((row) => recordOf(table, row))
    t.true(text.startsWith(`{"items":${JSON.stringify(items)},"totalCount":${items.length},`))
  }
})

// The rest is held to what was learnt here; that it was learnt right shows where the order is known.
if (databaseName === 'sqlite') {
  test('text is in the order of its code points on SQLite', (t) => {
    for (const [table, column] of textColumns()) {
      const texts = valuesIn(world, table.name, column).map(String)
      const byDatabase = texts.toSorted((a, b) => order(column, a) - order(column, b))
      t.deepEqual(
        byDatabase,
        texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      )
    }
  })
}

test('any text, stored or not, parts the rows at one place of the database’s own order', async (t) => {
  await all(t, 0.02, partitions(), (given) => checkPartition(client, world, oracle, given))
})

test('filters on own fields find what the oracle finds', async (t) => {
  await agree(t, 0.3, { range: OWN, condition: 'always', parameters: false, sortKeys: 1, readings: READINGS })
})

test('filters over to-one relations find what the oracle finds', async (t) => {
  const range = { pathDepth: 3, far: true, collections: false }
  await agree(t, 0.2, { range, condition: 'always', parameters: false, sortKeys: 1, readings: READINGS })
})

test('filters over collections find what the oracle finds', async (t) => {
  const range = { pathDepth: 3, far: false, collections: true }
  await agree(t, 0.3, { range, condition: 'always', parameters: false, sortKeys: 1, readings: READINGS })
})

test('sorts, pages and selections are in the order of the oracle', async (t) => {
  const range = { pathDepth: 3, far: false, collections: false }
  const readings = ['keys', 'pages', 'select'] as const
  await agree(t, 0.15, { range, condition: 'seldom', parameters: false, sortKeys: 4, readings })
})

test('collections in selections have the records that the oracle puts there, cut and counted', async (t) => {
  await all(t, 0.2, embeddingsOf(world), (given) => checkEmbedding(client, world, oracle, given))
})

test('typed parameters find what the oracle finds', async (t) => {
  await agree(t, 0.05, { range: OWN, condition: 'seldom', parameters: true, sortKeys: 1, readings: READINGS })
})
