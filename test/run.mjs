// `npm test`: all tests, on SQLite unless TEST_DATABASE says otherwise, with the closing line `N passed, N failed`.

import { runTests } from './ava.mjs'

const { passed, failures, status } = await runTests(process.env.TEST_DATABASE ?? 'sqlite', process.argv.slice(2))
console.log(`${passed} passed, ${failures.length} failed`)
process.exitCode = status
