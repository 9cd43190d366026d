import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { availableParallelism } from 'node:os'

// Another folder lets two builds of a working copy be tested at the same time.
const build = process.env.BUILD ?? '.build'

// The rigs start servers of their own, and take the machine to themselves: test/operations/run.mjs.
const isOperations = process.env.OPERATIONS !== undefined

// Source maps and hundreds of modules are half of the processor time of a small file. A run of test/ava.mjs does without both: a file
// that fails there is run by itself. Node 20, Bun and Deno load the modules.
const isRun = process.env.TEST_RUN !== undefined
const hasHooks = nodeModule.registerHooks !== undefined && !process.versions.bun && !process.versions.deno
const isBundled = isRun && hasHooks && existsSync(`${build}/lib/bundled/modules.json`)
const bundled = isBundled ? ['--import', new URL('test/bundled.mjs', import.meta.url).href] : []

// Files that take minutes start first. Otherwise the last file would run alone, and leave processors idle.
const LONGEST = ['site', 'admin', 'live', 'cluster', 'examples', 'package', 'created', 'docs', 'recipes']
const rankOf = (path) => LONGEST.toReversed().findIndex((name) => /[^/\\]+$/.exec(path)?.[0] === `${name}.js`)

export default {
  files: isOperations
    ? [`${build}/test/operations/*.js`]
    : [`${build}/test/*.js`, `${build}/test/{http,unit}/**/*.js`, `!${build}/test/support/**`],
  sortTestFiles: (a, b) => rankOf(b) - rankOf(a) || a.localeCompare(b),
  nodeArguments: isRun ? bundled : ['--enable-source-maps'],
  timeout: isOperations ? '5m' : '2m',
  // A thread of Node that hangs as it ends holds AVA up with it, which then tells of nothing. A process is killed.
  workerThreads: false,
  // A third of their time files wait, for databases, clocks and browsers. `.ci/run` has two runs at the same time.
  concurrency: isOperations ? 1 : Number(process.env.TEST_LANES ?? availableParallelism() + 1),
}
