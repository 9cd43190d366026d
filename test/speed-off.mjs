// `npm run test:speed-off`: a part of the tests over HTTP with CRUD_SPEED=off, which goes round everything that is kept for speed, on
// SQLite and PostgreSQL: what is faster must not answer otherwise. Names choose databases, and `--whole` runs all tests over HTTP.

import { parseArgs } from 'node:util'
import { build, runTests, servers } from './ava.mjs'
import { filesFor } from './parts.mjs'

/** A minute for each database; between them these files have lists, single records and writes of every kind. */
const PART = [
  'lists/after-before',
  'bulk/bulk',
  'bulk/update',
  'bulk/update-once',
  'writes/create',
  'writes/delete',
  'filters/filter',
  'filters/relations',
  'mounting/host-objects',
  'nested/routes',
  'nested/bodies',
  'lists/pages',
  'writes/patch',
  'push/events',
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

/** All tests over HTTP that are for a database; for SQLite those are the ones of a server that is asked for everything. */
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
