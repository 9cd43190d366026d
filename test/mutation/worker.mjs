// Runs test files one after the other in one process, with or without a mutant. Most of a test file's time is needed to
// load modules and to compile code, so the process is kept. Each run imports the test file again, with a new runner of
// AVA.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const ava = new URL('../lib/', import.meta.resolve('ava'))
const { default: Runner } = await import(new URL('runner.js', ava).href)

/** Maximum number of executions of an active mutant. A mutant that causes an endless loop exceeds it. */
const HITS = 2_000_000

const world = { mutantCoverage: { static: {}, perTest: {} } }
globalThis.__stryker__ = world
// Mutants that are executed while modules are loaded do not belong to any test.
const [root, build] = process.argv.slice(2)
for (const entry of ['index', 'mcp/index', 'client/index'])
  await import(pathToFileURL(join(root, build, `lib/${entry}.js`)).href)
const early = Object.keys(world.mutantCoverage.static)

let imports = 0
let fail = () => {}
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error) => fail(`${event}: ${error?.message}`))

async function run(file, active) {
  world.mutantCoverage.static = {}
  world.activeMutant = active ?? undefined
  world.hitCount = 0
  world.hitLimit = HITS
  const path = join(root, build, 'test', file)
  const runner = new Runner({
    file: path,
    projectDir: root,
    failFast: true,
    serial: true,
    failWithoutAssertions: false,
  })
  runner._snapshots = { touch: () => {}, skipBlock: () => {}, save: () => [] }
  globalThis.__avaChain = runner.chain
  const started = process.cpuUsage()
  let failure = null
  const ended = new Promise((resolve) => {
    fail = (text) => {
      failure ??= text
      resolve()
    }
    runner.on('stateChange', ({ type, title }) => {
      if (/^(?:test|hook)-failed$/.test(type)) failure ??= title
    })
    runner.on('error', (error) => fail(String(error)))
    runner.on('finish', () => resolve())
  })
  imports += 1
  await import(`${pathToFileURL(path).href}?run=${imports}`).catch((error) => fail(error.message))
  await ended
  world.activeMutant = undefined
  const { user, system } = process.cpuUsage(started)
  return {
    failure,
    seconds: (user + system) / 1e6,
    met: active === null ? Object.keys(world.mutantCoverage.static) : [],
  }
}

process.on('message', async ({ file, active }) => process.send(await run(file, active)))
process.send({ early })
