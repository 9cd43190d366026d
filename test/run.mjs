// `npm test` runs all tests. The database is SQLite, unless TEST_DATABASE names another. `--alone` runs only the tests
// that need the machine to themselves, and `--others` all other tests. The last line of output is `N passed, N failed`.

import { runTests } from './ava.mjs'

const { passed, failures, status } = await runTests(process.env.TEST_DATABASE ?? 'sqlite', process.argv.slice(2))
console.log(`${passed} passed, ${failures.length} failed`)
process.exitCode = status
