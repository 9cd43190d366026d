// Scopes made at random: a list under a condition has the records that the oracle of the filter language says, on every database.
//
// SCOPES_SEED=n repeats a run, SCOPES_CASES=n makes it longer.

import { randomInt } from 'node:crypto'
import test from 'ava'
import fc from 'fast-check'
import type { CrudOptions } from '../../../lib/index.js'
import { casesOf, type Topic } from '../../support/differential/cases.js'
import { negated } from '../../support/differential/condition.js'
import { keysOf, Oracle } from '../../support/differential/oracle.js'
import { printFilter } from '../../support/differential/print.js'
import { randomOf } from '../../support/differential/random.js'
import { assertSame, Client, Difference, keyIn } from '../../support/differential/requests.js'
import type { Table } from '../../support/differential/schema.js'
import { keyInPath, serveWorld } from '../../support/differential/served.js'
import { learnTextOrder } from '../../support/differential/textOrder.js'
import { keyOf, worldOf } from '../../support/differential/world.js'

const seed = Number(process.env.SCOPES_SEED ?? randomInt(2 ** 31))
/** For each of the two topics. */
const total = Math.ceil(Number(process.env.SCOPES_CASES ?? 200) / 2)

/** The scope that a request is sent under: of one table, the others have none. */
const HEADER = 'x-scope'

function scopeOf({ name }: Table): CrudOptions {
  return {
    limits: {
      scopeJoins: 100,
      scopeQuantifiers: 100,
      clauses: 1000,
      filterLength: 100_000,
      joins: 100,
      quantifiers: 100,
      quantifierDepth: 3,
      pathDepth: 10,
      cost: false,
    },
    scope: ({ request }) => {
      const [table, text = ''] = String(request.headers[HEADER] ?? '').split(':')
      return table === name ? decodeURIComponent(text) : null
    },
  }
}

const world = worldOf(seed)
const served = await serveWorld(world, scopeOf)
const client = new Client(served.url)
const oracle = new Oracle(await learnTextOrder(world, client))

test.after.always(async () => {
  client.close()
  await served.close()
})

const TOPICS: readonly (readonly [what: string, topic: Topic])[] = [
  [
    'own fields',
    {
      range: { pathDepth: 0, far: false, collections: false },
      condition: 'always',
      parameters: false,
      sortKeys: 0,
      readings: ['keys'],
    },
  ],
  [
    'relations and collections',
    {
      range: { pathDepth: 2, far: true, collections: true },
      condition: 'always',
      parameters: false,
      sortKeys: 0,
      readings: ['keys'],
    },
  ],
]

for (const [what, topic] of TOPICS) {
  test.serial(`lists, counts and records are those of a scope over ${what}`, async (t) => {
    t.timeout(120_000 + total * 400)
    t.log(`${total} cases, SCOPES_SEED=${seed}`)
    const check = fc.asyncProperty(casesOf(world, topic), async ({ table, condition }) => {
      if (condition === null) throw new TypeError('a case without a condition')
      // Names are those of the models, in their own case.
      const text = printFilter(condition, () => 0)
      fc.pre(text.length < 4000)
      const headers = { [HEADER]: `${table.name}:${encodeURIComponent(text)}` }
      const rows = world.rows(table.name)
      const isMet = (row: (typeof rows)[number]): boolean => oracle.meets(row, condition)
      const wanted = keysOf(rows.filter(isMet), table)
      const ask = async (
        query: string,
      ): Promise<{ readonly count: unknown; readonly items: readonly { readonly id: unknown }[] }> => {
        const { status, text: told, body } = await served.get(`${table.path}?${query}`, headers)
        if (status !== 200) throw new Difference(`${table.path}?${query}\n${text}\n${status} ${told}`)
        return body
      }
      const { items } = await ask('select=id&sort=id&pageSize=1000')
      assertSame('the keys', text, items.map(keyIn).toSorted(), [...wanted].toSorted())
      const filter = new URLSearchParams({ filter: printFilter(negated(condition), randomOf(1)), count: 'true' })
      // A path of the client may lead back to the table, whose other records it does not meet.
      if (!topic.range.far && String(filter).length < 10_000) {
        assertSame('the count of what is outside', text, (await ask(String(filter))).count, 0)
      }
      const outside = rows.find((row) => !isMet(row))
      if (outside === undefined) return
      const { status } = await served.get(`${table.path}/${keyInPath(keyOf(outside))}`, headers)
      assertSame('the status of a record that is outside', text, status, 404)
    })
    const { failed, numRuns, numShrinks, errorInstance } = await fc.check(check, { seed, numRuns: total })
    if (failed) t.fail(`SCOPES_SEED=${seed}, case ${numRuns}, shrunk ${numShrinks} times\n${errorInstance}`)
    else t.pass()
  })
}
