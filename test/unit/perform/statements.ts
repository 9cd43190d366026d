// A statement that is kept belongs to all that its text depends on. STATEMENT_SEED=n repeats a run, STATEMENT_PAIRS=n
// makes it longer.

import { randomInt } from 'node:crypto'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test, { type ExecutionContext } from 'ava'
import fc, { type Arbitrary } from 'fast-check'
import { keyOf, StatementCache } from '../../../lib/perform/statement/cache.js'
import { describe } from '../../../lib/perform/statement/describe.js'
import { numberOf } from '../../../lib/perform/statement/numbers.js'
import type { Request } from '../../../lib/perform/statement/outline.js'
import { restore } from '../../../lib/perform/statement/restore.js'
import { write } from '../../../lib/perform/statement/text.js'
import { type Store, storeOf } from '../../../lib/perform/store.js'
import {
  ALL_RESOURCES,
  type Recipe,
  recipes,
  requestOf,
  type Scopes,
  scopes,
  values,
} from '../../support/statementRequests.js'

const seed = Number(process.env.STATEMENT_SEED ?? randomInt(2 ** 31))
const pairs = Number(process.env.STATEMENT_PAIRS ?? 1000)

interface Pair {
  readonly store: Store
  readonly one: Request
  readonly other: Request
}

/** Two requests of one resource that may be the same but for their values, or but for the caller's scopes. */
const twoRequests: Arbitrary<Pair> = fc
  .record({
    resource: fc.constantFrom(...ALL_RESOURCES),
    recipe: recipes,
    second: fc.option(recipes, { freq: 3 }),
    scope: scopes,
    otherScope: fc.option(scopes, { freq: 2 }),
    given: fc.tuple(values, values),
  })
  .map(({ resource, recipe, second, scope, otherScope, given }) => {
    const made = (from: Recipe, as: Scopes, index: 0 | 1): Request => requestOf(resource, from, as, given[index])
    return {
      store: storeOf(resource),
      one: made(recipe, scope, 0),
      other: made(second ?? recipe, otherScope ?? scope, 1),
    }
  })

function holds<T>(t: ExecutionContext, examples: Arbitrary<T>, numRuns: number, check: (example: T) => void): void {
  t.timeout(120_000 + numRuns * 50)
  t.log(`${numRuns} examples, STATEMENT_SEED=${seed}`)
  const { failed, errorInstance, numShrinks } = fc.check(fc.property(examples, check), { seed, numRuns })
  if (failed) t.fail(`STATEMENT_SEED=${seed}, shrunk ${numShrinks} times\n${errorInstance}`)
  else t.pass()
}

function keyFor({ dialect, model }: Store, request: Request): string {
  return keyOf(dialect, model, describe(dialect, model, request).tokens)
}

/** The text of a request that nothing was kept for. */
function textOf({ dialect, model }: Store, request: Request): string {
  return write(dialect, model, restore(describe(dialect, model, request).tokens))
}

test('requests with equal keys have equal texts', (t) => {
  let equal = 0
  holds(t, twoRequests, pairs, ({ store, one, other }) => {
    if (keyFor(store, one) !== keyFor(store, other)) return
    equal += 1
    if (textOf(store, one) !== textOf(store, other)) throw new Error('one key, two texts')
  })
  t.log(`${equal} pairs had equal keys`)
  t.true(equal > pairs / 50)
})

test('requests that differ in more than their values have different keys', (t) => {
  let different = 0
  holds(t, twoRequests, pairs, ({ store, one, other }) => {
    const isOne = bare(one) === bare(other)
    if (!isOne) different += 1
    if ((keyFor(store, one) === keyFor(store, other)) !== isOne) throw new Error(`${bare(one)}\n${bare(other)}`)
  })
  t.log(`${different} pairs were different`)
  t.true(different > pairs / 50)
})

test('what is read back from the tokens of a request is the whole request without its values', (t) => {
  holds(t, twoRequests, pairs, ({ store: { dialect, model }, one }) => {
    const { tokens, values: bound } = describe(dialect, model, one)
    const restored = restore(tokens)
    if (bare(restored) !== bare(one)) throw new Error(`${bare(restored)}\n${bare(one)}`)
    const slots = slotsIn(restored)
    // Each value has its place, those of a guard one for all paths that meet it.
    if (slots.size !== bound.length) throw new Error(`${slots.size} places for ${bound.length} values`)
  })
})

test('a statement that was kept is the one that would have been written', (t) => {
  const caches = new Map(ALL_RESOURCES.map((resource) => [storeOf(resource), new StatementCache(resource.model)]))
  holds(t, twoRequests, Math.ceil(pairs / 5), ({ store, one, other }) => {
    const { dialect, model } = store
    for (const request of [one, other, one]) {
      const { statement, values: bound } = caches.get(store)?.prepare(dialect, request) ?? {}
      const fresh = new StatementCache(model).prepare(dialect, request)
      const [kept, written] = [statement?.bind(model, bound ?? []), fresh.statement.bind(model, fresh.values)]
      if (JSON.stringify(kept) !== JSON.stringify(written)) throw new Error(`${kept?.sql}\n${written.sql}`)
    }
  })
})

test('statements that are kept take no more memory than they are counted for', (t) => {
  const examples = fc.sample(twoRequests, { seed, numRuns: 1000 }).flatMap(({ store, one, other }) => [
    { store, request: one },
    { store, request: other },
  ])
  const filled = (): ReadonlyMap<Store, StatementCache> => {
    const caches = new Map(ALL_RESOURCES.map((resource) => [storeOf(resource), new StatementCache(resource.model)]))
    for (const { store, request } of examples) caches.get(store)?.prepare(store.dialect, request)
    return caches
  }
  // What is made once for a model is there before.
  const counted = [...filled().values()].reduce((sum, { bytes }) => sum + bytes, 0)
  const before = heapNow()
  const caches = filled()
  const taken = heapNow() - before
  t.log(`${taken} bytes taken, ${counted} counted in ${caches.size} caches, STATEMENT_SEED=${seed}`)
  t.true(taken < counted)
})

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function heapNow(): number {
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

/** All of a request but its values, as text: objects of the compiler's by their numbers. */
function bare(request: object): string {
  return JSON.stringify(request, (name, value: unknown) => {
    if (name === 'values' || name === 'window') return countOf(value)
    if (name === 'field' || name === 'relation') return numberOf(value as object)
    if (name === 'fields' || name === 'increments') return (value as object[]).map(numberOf)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? sorted(value) : value
  })
}

/** What the text depends on of values: how many there are, and of texts how wide their characters are and how long they are. */
function countOf(value: unknown): unknown {
  if (!Array.isArray(value)) {
    const { count, wide, long } = value as { count: number; wide: boolean; long: boolean }
    return [count, wide, long]
  }
  const texts = value.filter((each) => typeof each === 'string')
  return [
    value.length,
    texts.some((each) => /[\u{10000}-\u{10ffff}]/u.test(each)),
    texts.some(({ length }) => length > 64),
  ]
}

function sorted(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function slotsIn(outline: object): ReadonlySet<number> {
  const found = new Set<number>()
  JSON.stringify(outline, (name, value: unknown) => {
    if (name === 'values' || name === 'window') {
      const { first, count } = value as { first: number; count: number }
      for (let slot = first; slot < first + count; slot++) found.add(slot)
    }
    return name === 'field' || name === 'relation' || name === 'fields' || name === 'increments' ? null : value
  })
  return found
}
