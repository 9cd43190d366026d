// `node test/node-sqlite.mjs`, after `npm run compile`: the tests over HTTP that the driver over `node:sqlite` may change (test/parts.mjs). With
// `--whole` all of them.

import { parseArgs } from 'node:util'
import { build, runTests } from './ava.mjs'
import { filesFor } from './parts.mjs'

const { values } = parseArgs({ options: { whole: { type: 'boolean', default: false } } })
const { passed, failures, status } = await runTests('node-sqlite', filesFor('node-sqlite', build, values.whole))
console.log(`${passed} passed, ${failures.length} failed`)
process.exitCode = status
