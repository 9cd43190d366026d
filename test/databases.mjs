// `npm run test:databases` runs all tests on SQLite. The command also runs the HTTP tests that depend on the database
// on each database server (test/parts.mjs). `--whole` runs all HTTP tests on each database server. A server that does
// not answer fails the run, unless `--available` is set. Names as arguments choose databases.

import { parseArgs } from 'node:util'
import { build, runTests, servers } from './ava.mjs'
import { filesFor } from './parts.mjs'

const DATABASES = Object.keys(servers.DRIVERS)
const BOOLEAN = { type: 'boolean', default: false }

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { available: BOOLEAN, whole: BOOLEAN },
    })
    const unknown = positionals.find((name) => !DATABASES.includes(name))
    if (unknown !== undefined) throw new RangeError(`There is no database '${unknown}'.`)
    return {
      isLenient: values.available,
      isWhole: values.whole,
      asked: positionals.length === 0 ? DATABASES : positionals,
    }
  } catch ({ message }) {
    console.error(`${message}\nUsage: npm run test:databases -- [--available] [--whole] [${DATABASES.join('] [')}]`)
    return process.exit(2)
  }
}

const { isLenient, isWhole, asked } = readArguments()

function addressOf(name) {
  if (name === 'sqlite') return 'a file'
  const { host, port } = servers.serverOptions(name)
  return `${host}:${port}`
}

/** Finds the server of a database. `why` is the reason if the database is not tested. */
async function find(name) {
  if (!asked.includes(name)) return { name, why: 'not asked for', failures: [] }
  const address = addressOf(name)
  try {
    return { name, server: `${await servers.versionOf(name)}, ${address}` }
  } catch (error) {
    const why = `NOT TESTED (${address}): ${error.message || error.name}`
    return { name, why, failures: isLenient ? [] : ['not tested'] }
  }
}

async function test(name, server) {
  console.log(`\n${name}: ${server}`)
  const start = performance.now()
  const run = await runTests(name, filesFor(name, build, isWhole))
  return { name, server, ...run, seconds: Math.round((performance.now() - start) / 1000) }
}

function tableOf(results) {
  const rows = [
    ['database', 'driver', 'passed', 'failed', 'seconds', 'server'],
    ...results.map(({ name, server, why, passed = '-', failures, seconds = '-' }) =>
      [name, servers.DRIVERS[name], passed, failures.length, seconds, server ?? why].map(String),
    ),
  ]
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const isNumber = (column) => column >= 2 && column <= 4
  return rows.map((row) =>
    row
      .map((cell, at) => (isNumber(at) ? cell.padStart(widths[at]) : cell.padEnd(widths[at])))
      .join('  ')
      .trimEnd(),
  )
}

const found = await Promise.all(DATABASES.map(find))
const absent = found.filter(({ name, why }) => why !== undefined && asked.includes(name))
for (const { name, why } of absent) console.error(`${name}: ${why}`)
if (absent.length > 0)
  console.error('`docker compose up -d --wait` starts the servers, `.ci/services` does so on Debian.')

const results = []
for (const { name, server, ...rest } of found) {
  const isStopped = results.some((result) => result.isStopped)
  if (server === undefined) results.push({ name, ...rest })
  else if (isStopped) results.push({ name, why: 'NOT TESTED: stopped before', failures: ['not tested'] })
  else results.push(await test(name, server))
}

console.log()
for (const { name, failures } of results) for (const title of failures) console.log(`failed on ${name}: ${title}`)
for (const line of tableOf(results)) console.log(line)
const passed = results.reduce((sum, result) => sum + (result.passed ?? 0), 0)
const failed = results.reduce((sum, { failures }) => sum + failures.length, 0)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
