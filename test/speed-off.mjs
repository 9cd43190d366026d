// `npm run test:speed-off` runs a part of the HTTP tests with CRUD_SPEED=off on SQLite and PostgreSQL. CRUD_SPEED=off
// disables all optimizations, which must not change responses. Names as arguments choose databases. `--whole` runs all
// HTTP tests.

import { parseArgs } from 'node:util'
import { build, runTests, servers } from './ava.mjs'
import { filesFor } from './parts.mjs'

/**
 * Test files that take half a minute per database. Together they use lists, single records and writes of every kind.
 */
const PART = [
  'lists/after-before',
  'bulk/bulk',
  'bulk/update',
  'bulk/update-once',
  'writes/create',
  'writes/delete',
  'filters/relations',
  'mounting/host-objects',
  'nested/routes',
  'nested/bodies',
  'lists/pages',
  'writes/patch',
  'push/shapes',
  'access/scope',
  'lists/sort',
  'lists/totals',
  'writes/upsert',
  'validation/validation',
  'replies/watching',
  'writes/statements',
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { whole: { type: 'boolean', default: false } },
})
const known = Object.keys(servers.DRIVERS)
const unknown = positionals.find((name) => !known.includes(name))
if (unknown !== undefined) {
  console.error(`There is no database '${unknown}'.\nUsage: npm run test:speed-off -- [--whole] [${known.join('] [')}]`)
  process.exit(2)
}

process.env.CRUD_SPEED = 'off'
const part = PART.map((name) => `${build}/test/http/${name}.js`)

/** All HTTP tests for a database. SQLite gets the tests that database servers get. */
const wholeOf = (database) =>
  database === 'sqlite' ? filesFor('postgres', build, true) : filesFor(database, build, false)

let passed = 0
let failed = 0
for (const database of positionals.length > 0 ? positionals : ['sqlite', 'postgres']) {
  console.log(`\n${database}, CRUD_SPEED=off`)
  const run = await runTests(database, values.whole ? wholeOf(database) : part)
  for (const title of run.failures) console.log(`failed on ${database}: ${title}`)
  passed += run.passed
  failed += run.failures.length
  if (run.isStopped) break
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
