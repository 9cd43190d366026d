// Runs files of tests with one mutant or without any, one after the other in a process that stays: what takes the time of a file of tests is mostly
// to load everything and to warm up. Each time a file is imported anew, with AVA's own runner of its own.

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const ava = new URL('../lib/', import.meta.resolve('ava'))
const { default: Runner } = await import(new URL('runner.js', ava).href)

/** How often an active mutant may be passed: what loops for ever passes it more often. */
const HITS = 2_000_000

const world = { mutantCoverage: { static: {}, perTest: {} } }
globalThis.__stryker__ = world
// What is in no test's time: mutants that are passed while modules load.
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
