// `npm run test:operations` runs the tests of test/operations. The tests start their own database servers, so `npm
// test` does not include them. Names as arguments choose tests: `-- switchover`. `-- mixed --minutes 30` runs a longer
// load. The last line is `N passed, N failed, N left out`.

import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build, runTests } from '../ava.mjs'

/** Maximum minutes of all tests together. */
const LONGEST = 15

const folder = fileURLToPath(new URL(`../../${build}/test/operations/`, import.meta.url))
const rigs = existsSync(folder)
  ? readdirSync(folder)
      .filter((name) => name.endsWith('.js'))
      .map((name) => name.slice(0, -3))
      .sort()
  : []
const usage = `Usage: npm run test:operations -- [${rigs.join('] [')}] [--minutes <of mixed load>]`
const { values, positionals: asked } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '1' }, help: { type: 'boolean', default: false } },
})
if (values.help) {
  console.log(usage)
  process.exit()
}
const minutes = Number(values.minutes)
const unknown = asked.find((name) => !rigs.includes(name))
if (unknown !== undefined || !(minutes > 0)) {
  const fault =
    unknown === undefined ? `Minutes are a number above 0, not '${values.minutes}'.` : `There is no rig '${unknown}'.`
  console.error(`${fault}\n${usage}`)
  process.exit(2)
}
const files = (asked.length === 0 ? rigs : asked).map((name) => `${build}/test/operations/${name}.js`)

const longest = LONGEST + minutes - 1
const late = setTimeout(() => {
  console.error(`The rigs did not end within ${longest} minutes.`)
  process.kill(process.pid, 'SIGTERM')
}, longest * 60_000)
Object.assign(process.env, { OPERATIONS: '1', OPERATIONS_MINUTES: String(minutes) })
const { passed, failures, leftOut, status, isStopped } = await runTests('sqlite', files, longest * 60)
clearTimeout(late)
for (const title of leftOut) console.log(`left out: ${title}`)
for (const title of failures) console.log(`failed: ${title}`)
console.log(`${passed} passed, ${failures.length} failed, ${leftOut.length} left out`)
process.exitCode = isStopped ? 1 : status
