// The conformance suite of the Model Context Protocol, against the agents' handler over HTTP: `npm run compile`, and then
// `node test/conformance/run.mjs`. The suite is installed in a folder of its own, so that this needs a registry, and is none of the tests.
// Where it cannot be installed, it is left out, which is said. `KEEP=1` leaves the folder.
//
// Most scenarios of the suite call tools, prompts and resources of a server that is written for the suite. Those that say something of
// any server are listed here. A check of theirs that needs such a tool is listed as well, with why it fails.

import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import express from 'express'
import { DataTypes, Sequelize } from 'sequelize'
import { crudRouter } from 'sequelize-crud-router'
import { crudMcp } from 'sequelize-crud-router/mcp'

const run = promisify(execFile)
const shell = process.platform === 'win32'

/** Versions of the suite, by the names that they are installed under. 0.1 has no scenarios of revision 2026-07-28. */
const SUITES = { stable: '0.1.16', next: '0.2.0-alpha.12' }

const TOOL = 'it calls a tool that only a server for the suite has'
const NO_PROMPTS = 'there are no prompts and no resources'

/** Scenarios by suite and revision, each with the checks that fail, and why. */
const SCENARIOS = [
  ...['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'].flatMap((scenario) => [
    { suite: 'stable', revision: '2025-11-25', scenario },
    { suite: 'next', revision: '2025-11-25', scenario },
  ]),
  ...[
    ...['tools-list', 'dns-rebinding-protection', 'http-header-validation', 'server-sse-multiple-streams'],
    'input-required-result-unsupported-methods',
  ].map((scenario) => ({ suite: 'next', revision: '2026-07-28', scenario })),
  {
    suite: 'next',
    revision: '2026-07-28',
    scenario: 'server-stateless',
    failing: {
      'sep-2575-server-rejects-undeclared-capability': TOOL,
      'sep-2575-missing-capability-http-400': TOOL,
      'sep-2575-http-server-no-independent-requests-on-stream': TOOL,
      'sep-2575-server-no-log-without-loglevel': TOOL,
    },
  },
  {
    suite: 'next',
    revision: '2026-07-28',
    scenario: 'caching',
    failing: {
      'sep-2549-prompts-list-caching-hints': NO_PROMPTS,
      'sep-2549-resources-list-caching-hints': NO_PROMPTS,
      'sep-2549-resources-templates-list-caching-hints': NO_PROMPTS,
    },
  },
]

/** Serves a resource to agents, on a free port. */
async function served() {
  const sequelize = new Sequelize({ dialect: 'sqlite', storage: ':memory:', logging: false })
  const Player = sequelize.define('Player', { name: DataTypes.STRING })
  await sequelize.sync()
  await Player.create({ name: 'Jan' })
  const players = crudRouter(Player, { authorizePolicy: () => true })
  const app = express()
  app.use(players)
  app.all('/mcp', crudMcp({ resources: [players], write: true }))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    server.close()
    await sequelize.close()
  }
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, close }
}

/** Installs the suites. False if the registry cannot be reached or does not have them. */
async function isInstalled(folder) {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true }))
  const packages = Object.entries(SUITES).map(([name, version]) => {
    return `${name}@npm:@modelcontextprotocol/conformance@${version}`
  })
  try {
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], { cwd: folder, shell })
    return true
  } catch (error) {
    console.log(`The conformance suite is left out, since it cannot be installed: ${error.message.split('\n')[0]}`)
    return false
  }
}

/** The checks of a scenario: each with its id and its status. */
async function checksOf(folder, url, { suite, revision, scenario }) {
  const results = join(folder, 'results', `${suite}-${revision}-${scenario}`)
  const program = join(folder, 'node_modules', suite, 'dist', 'index.js')
  const args = ['server', '--url', url, '--scenario', scenario, '--spec-version', revision, '--output-dir', results]
  // Its status says whether a check has failed, and so do the checks.
  const { stderr = '' } = await run(process.execPath, [program, ...args], { cwd: folder, timeout: 120_000 }).catch(
    (error) => error,
  )
  if (!existsSync(results)) throw new Error(`${scenario} has no results: ${stderr}`)
  const [file] = (await readdir(results, { recursive: true })).filter((path) => path.endsWith('checks.json'))
  if (file === undefined) throw new Error(`${scenario} has no checks: ${stderr}`)
  return JSON.parse(await readFile(join(results, file), 'utf8'))
}

/** Says how many checks of a scenario pass. False for checks that fail without being listed, and for listed ones that pass. */
function isExpected({ suite, revision, scenario, failing = {} }, checks) {
  const failed = new Set(checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => id))
  const passed = checks.filter(({ status }) => status === 'SUCCESS').length
  const listed = Object.keys(failing)
  const wrong = [...failed].filter((id) => !listed.includes(id))
  const stale = listed.filter((id) => !failed.has(id))
  const left = listed.length === 0 ? '' : `, ${listed.length} that are listed fail`
  console.log(`${suite} ${revision} ${scenario}: ${passed} checks pass${left}`)
  for (const id of wrong) console.error(`  ${id} FAILED: ${checks.find((check) => check.id === id).errorMessage}`)
  for (const id of stale) console.error(`  ${id} passes now: take it from the list`)
  return wrong.length + stale.length === 0
}

const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
const { url, close } = await served()
let failures = 0
let sum = 0
try {
  if (await isInstalled(folder)) {
    for (const each of SCENARIOS) {
      const checks = await checksOf(folder, url, each)
      sum += checks.filter(({ status }) => status === 'SUCCESS').length
      if (!isExpected(each, checks)) failures++
    }
    console.log(`${sum} checks pass`)
    console.log(`${SCENARIOS.length - failures} passed, ${failures} failed`)
  }
} finally {
  await close()
  if (process.env.KEEP) console.log(folder)
  else await rm(folder, { recursive: true, force: true })
}
process.exitCode = failures === 0 ? 0 : 1
