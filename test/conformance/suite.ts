// The conformance suite of the Model Context Protocol, as a program that sends requests to a server of this process.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import express from 'express'
import { DataTypes, Sequelize } from 'sequelize'
import { logError } from '../../lib/common/log.js'
import { respondError } from '../../lib/http/respond.js'
import { crudRouter } from '../../lib/index.js'
import { createHttpService } from '../../lib/mcp/http.js'
import { crudMcp } from '../../lib/mcp/index.js'
import { assertRequestAllowed, createRequestChecks } from '../../lib/mcp/requestChecks.js'
import { createToolResources } from '../../lib/mcp/toolResource.js'
import { sqliteOptions } from '../support/database.js'
import { root } from '../support/program.js'
import { serve } from '../support/server.js'
import { suiteServer } from './fixtures.js'

const run = promisify(execFile)

const own = join(root, 'test/conformance/node_modules/@modelcontextprotocol/conformance')
const program = join(own, 'dist/index.js')

/** The suite is a package of its own, which the root does not install. */
export const isInstalled: boolean = existsSync(program)

/** The scenarios that a revision requires of servers, by the list that the suite froze when the revision was published. */
export async function requiredBy(revision: string): Promise<readonly string[]> {
  const text = await readFile(join(own, 'requirements', `${revision}.yaml`), 'utf8')
  const [, lines = ''] = /^server:\n((?: {2}- .*\n)+)/m.exec(text) ?? []
  return lines.match(/[\w-]+(?=\n)/g) ?? []
}

/** A server of the protocol with two paths: `/mcp` has the tools of a resource, and `/suite` what the scenarios of the suite call. */
export interface Served {
  readonly url: string
  readonly close: () => Promise<void>
}

export async function served(): Promise<Served> {
  const sequelize = new Sequelize({ ...sqliteOptions, storage: ':memory:', logging: false })
  const Player = sequelize.define('Player', { name: DataTypes.STRING })
  await sequelize.sync()
  await Player.create({ name: 'Jan' })
  const players = crudRouter(Player, { authorizePolicy: () => true })
  const app = express()
  app.use(players)
  app.all('/mcp', crudMcp({ resources: [players], write: true }))
  const options = { resources: [players] }
  const gate = createRequestChecks(createToolResources(options), options)
  const service = createHttpService(suiteServer, 1_000_000)
  app.all('/suite', (req, res) => {
    assertRequestAllowed(gate, req, res)
      .then(() => service(req, res))
      .catch((error: unknown) => respondError(req, res, error, logError))
  })
  const { url, close } = await serve(app)
  return {
    url,
    close: async () => {
      await close()
      await sequelize.close()
    },
  }
}

/** A check of a scenario. */
export interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** Runs scenarios, by the options of the suite's program. Returns the checks by scenario. */
export async function checksOf(
  url: string,
  options: readonly string[],
): Promise<ReadonlyMap<string, readonly Check[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
  try {
    const args = ['server', '--url', url, ...options, '--output-dir', folder]
    // The program fails if a check fails, which the checks themselves say.
    const failed = await run(process.execPath, [program, ...args], { timeout: 100_000 }).catch(
      (error: unknown) => error,
    )
    const files = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('checks.json'))
    if (files.length === 0) throw new Error(`the suite ran no scenario: ${Object(failed).stderr}`)
    const read = files.map(async (path) => {
      const [, scenario = dirname(path)] = /server-(.*?)-\d{4}-\d\d-\d\dT/.exec(path) ?? []
      const checks: readonly Check[] = JSON.parse(await readFile(join(folder, path), 'utf8'))
      return [scenario, checks] as const
    })
    return new Map(await Promise.all(read))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
