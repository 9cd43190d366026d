// Properties of the text of statements. STATEMENT_SEED=n repeats a run, STATEMENT_PAIRS=n makes it longer.

import { randomInt } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import fc, { type Arbitrary } from 'fast-check'
import type { StatementRequest } from '../../../lib/perform/sql/request.js'
import { createStatement } from '../../../lib/perform/sql/statement.js'
import { type StatementContext, storeOf } from '../../../lib/perform/store.js'
import { ALL_RESOURCES, buildRequest, recipes, scopes, values } from '../../support/statementRequests.js'

const seed = Number(process.env.STATEMENT_SEED ?? randomInt(2 ** 31))
const pairs = Number(process.env.STATEMENT_PAIRS ?? 500)

interface Pair {
  readonly store: StatementContext
  readonly one: StatementRequest
  readonly other: StatementRequest
}

/** Two requests of one resource that differ in their values alone. */
const twoRequests: Arbitrary<Pair> = fc
  .record({
    resource: fc.constantFrom(...ALL_RESOURCES),
    recipe: recipes,
    scope: scopes,
    given: fc.tuple(values, values),
  })
  .map(({ resource, recipe, scope, given: [first, second] }) => ({
    store: storeOf(resource),
    one: buildRequest(resource, recipe, scope, first),
    other: buildRequest(resource, recipe, scope, second),
  }))

function holds(t: ExecutionContext, check: (pair: Pair) => void): void {
  t.timeout(120_000 + pairs * 50)
  t.log(`${pairs} examples, STATEMENT_SEED=${seed}`)
  const { failed, errorInstance, numShrinks } = fc.check(fc.property(twoRequests, check), { seed, numRuns: pairs })
  if (failed) t.fail(`STATEMENT_SEED=${seed}, shrunk ${numShrinks} times\n${errorInstance}`)
  else t.pass()
}

test('requests that differ in their values alone have one text, so that the database prepares it once', (t) => {
  let compared = 0
  holds(t, ({ store, one, other }) => {
    if (traits(one) !== traits(other)) return
    compared += 1
    const [first, second] = [createStatement(store, one).toNumbered(), createStatement(store, other).toNumbered()]
    if (first.sql !== second.sql) throw new Error(`${first.sql}\n${second.sql}`)
  })
  t.true(compared > pairs / 2)
})

test('each value of a statement has a place in its text, and each place a value', (t) => {
  holds(t, ({ store, one }) => {
    const { sql, values: bound } = createStatement(store, one).toNumbered()
    const places = new Set([...sql.matchAll(/[$?](\d+)/g)].map(([, place]) => Number(place)))
    if (places.size !== bound.length || Math.max(0, ...places) !== bound.length) {
      throw new Error(`${places.size} places for ${bound.length} values: ${sql}`)
    }
  })
})

test('a statement with its values in its text has no places', (t) => {
  holds(t, ({ store, one }) => {
    const sql = createStatement(store, one).toInline()
    // Texts of the requests have neither mark.
    if (/[$?]\d/.test(sql)) throw new Error(sql)
  })
})

/** The number of values in each part, and of texts how wide their characters are and how long they are: the text depends on these. */
function traits(request: StatementRequest): string {
  const found: unknown[] = []
  JSON.stringify(request, (name, value: unknown) => {
    if (name === 'values' || name === 'window' || name === 'rows') found.push(traitsOf(value))
    return name === 'field' || name === 'fields' || name === 'relation' || name === 'increments' ? null : value
  })
  return JSON.stringify(found)
}

function traitsOf(value: unknown): unknown {
  const texts = [value].flat(2).filter((each) => typeof each === 'string')
  return [
    [value].flat(2).length,
    texts.some((each) => /[\u{10000}-\u{10ffff}]/u.test(each)),
    texts.some(({ length }) => length > 64),
  ]
}
