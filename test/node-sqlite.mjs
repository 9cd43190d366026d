// `node test/node-sqlite.mjs`, after `npm run compile`, runs the HTTP tests that depend on the driver over
// `node:sqlite` (test/parts.mjs). With `--whole`, it runs all HTTP tests.

import { parseArgs } from 'node:util'
import { build, runTests } from './ava.mjs'
import { filesFor } from './parts.mjs'

const { values } = parseArgs({ options: { whole: { type: 'boolean', default: false } } })
const { passed, failures, status } = await runTests('node-sqlite', filesFor('node-sqlite', build, values.whole))
console.log(`${passed} passed, ${failures.length} failed`)
process.exitCode = status
