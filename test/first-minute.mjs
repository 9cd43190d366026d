// Measures the first minute of a newcomer who follows the README. The program runs `npm create` in a new folder with an
// empty npm cache. The program creates the first row with curl, loads the documentation page, and makes the first call
// of an agent. Tarballs replace the published packages. Other packages come from the registry. Run `npm run compile`
// and `node test/first-minute.mjs`. The program prints the seconds of each step, and fails if a package was compiled.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../', import.meta.url))
const shell = process.platform === 'win32'
const temporary = await mkdtemp(join(tmpdir(), 'first-minute-'))
const application = join(temporary, 'my-api')
const { NODE_OPTIONS: _, ...inherited } = process.env
const env = { ...inherited, npm_config_cache: join(temporary, 'cache'), PORT: '0' }

/** Packs a package. Scripts are not run, because `npm run compile` has built the package. */
async function pack(folder) {
  const options = ['pack', '--ignore-scripts', '--json', '--pack-destination', temporary]
  const { stdout } = await run('npm', options, { cwd: join(root, folder), shell })
  return join(temporary, JSON.parse(stdout)[0].filename)
}

/** Runs a step and prints its duration. */
async function step(text, work) {
  const start = performance.now()
  const result = await work()
  console.log(`${((performance.now() - start) / 1000).toFixed(1).padStart(6)} s  ${text}`)
  return result
}

async function create() {
  const [router, creator] = [await pack('.'), await pack('.packages/create')]
  const choices = ['my-api', '--yes', '--docs', '--agents', '--package', router]
  const args = ['exec', '--yes', `--package=${creator}`, '--', 'create-sequelize-crud-router', ...choices]
  await step('npm create sequelize-crud-router', () =>
    run('npm', args, { cwd: temporary, env, shell, timeout: 600_000 }),
  )
}

/** Starts the application with its script. Resolves to the application's URL. */
async function serve() {
  const program = spawn('npm', ['start'], { cwd: application, env, shell, detached: !shell })
  let output = ''
  const address = new Promise((resolve, reject) => {
    for (const stream of [program.stdout, program.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
        const found = /http:\/\/localhost:\d+/.exec(output)
        if (found !== null) resolve(found[0])
      })
    }
    program.once('close', () => reject(new Error(`npm start ended: ${output}`)))
  })
  return { program, url: await address }
}

async function stop(program) {
  const closed = once(program, 'close')
  if (shell) program.kill()
  else process.kill(-program.pid)
  await closed
}

async function addRow(url) {
  const body = ['-H', 'Content-Type: application/json', '-d', '{"title":"Write to the agent"}']
  const { stdout } = await run('curl', ['-sS', '--fail-with-body', `${url}/api/tasks`, ...body])
  if (JSON.parse(stdout).title !== 'Write to the agent') throw new Error(`the first row is ${stdout}`)
}

/** Loads the documentation page, and every script and style that it refers to. */
async function readDocuments(url) {
  const page = await fetch(`${url}/docs`)
  const text = await page.text()
  const parts = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => new URL(path, page.url))
  for (const response of [page, ...(await Promise.all(parts.map((part) => fetch(part))))]) {
    if (!response.ok) throw new Error(`${response.url} is ${response.status}`)
  }
}

async function callTool(url) {
  const agent = new Client({ name: 'first-minute', version: '1.0.0' })
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  const { tools } = await agent.listTools()
  const answer = await agent.callTool({ name: 'query_records', arguments: { resource: 'tasks' } })
  await agent.close()
  if (!JSON.stringify(answer.content).includes('Write to the agent')) throw new Error(JSON.stringify(answer))
  return tools.length
}

/** Installed packages that compile native code. Such packages have a `binding.gyp`, or outputs of a build. */
async function nativeBuilds() {
  const files = await readdir(join(application, 'node_modules'), { recursive: true })
  return files.filter((path) => /(?:^|[\\/])binding\.gyp$|[\\/]build[\\/](?:Release|Debug)[\\/]/.test(path))
}

try {
  console.log(`Node ${process.versions.node}`)
  await create()
  const { program, url } = await step('npm start, until it listens', serve)
  try {
    await step('the first row, by curl', () => addRow(url))
    await step('/docs with what it loads', () => readDocuments(url))
    const count = await step("an agent's first call: connect, list the tools, call one", () => callTool(url))
    console.log(`${count} tools`)
  } finally {
    await stop(program)
  }
  const { packages } = JSON.parse(await readFile(join(application, 'package-lock.json'), 'utf8'))
  const builds = await nativeBuilds()
  console.log(
    `${Object.keys(packages).length - 1} packages, ${builds.length} native builds ${builds.join(' ')}`.trimEnd(),
  )
  process.exitCode = builds.length === 0 ? 0 : 1
} finally {
  await rm(temporary, { recursive: true, force: true })
}
