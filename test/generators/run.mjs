// Tests clients that other projects' generators create from the package's OpenAPI documents. Run `npm run compile` and
// `node test/generators/run.mjs`. Each generator is installed from the registry into its own folder. Therefore `npm
// test` does not include these tests. The generated code is compiled in strict mode. The code creates, reads, patches
// and deletes records of the examples shop and league.
// `node test/generators/run.mjs orval` runs one generator. `KEEP=1` keeps its folder.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { OPENAPI_TYPESCRIPT, ORVAL } from './programs.mjs'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))

const GENERATORS = { orval: ORVAL, 'openapi-typescript': OPENAPI_TYPESCRIPT }
const EXAMPLES = ['league', 'shop']

const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'es2022', module: 'nodenext', lib: ['es2022', 'dom', 'dom.iterable'], types: [], outDir: 'out' },
    ...{ strict: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
  },
  include: ['*.ts'],
}

/** Starts an example. Returns its URL and a function that stops it. */
async function started(name) {
  const port = await freePort()
  const child = spawn(process.execPath, ['examples/run.mjs', name], { cwd: root, env: { ...process.env, PORT: port } })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const end = once(child, 'close')
  while (!said.includes('Ctrl-C')) {
    if (child.exitCode !== null) throw new Error(`the example ${name} ended: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const stop = async () => {
    child.kill()
    await end
  }
  return { url: `http://localhost:${port}`, stop }
}

async function freePort() {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return String(port)
}

async function step(text, work) {
  const start = performance.now()
  const result = await work().catch((error) => {
    throw new Error(`${text}: ${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`)
  })
  console.log(`  ${text} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
  return result
}

async function held(name, { packages, generate, configuration, uses }) {
  console.log(name)
  const folder = await mkdtemp(join(tmpdir(), `generator-${name}-`))
  const shell = process.platform === 'win32'
  try {
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    await step(`npm install ${packages.join(' ')}`, () =>
      run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: folder, shell }),
    )
    for (const example of EXAMPLES) {
      const { url, stop } = await started(example)
      try {
        const document = await fetch(`${url}/openapi.json`)
        if (!document.ok) throw new Error(`${url}/openapi.json answers ${document.status}`)
        await writeFile(join(folder, `${example}.json`), await document.text())
        for (const [file, text] of Object.entries(configuration(example, url)))
          await writeFile(join(folder, file), text)
        await writeFile(join(folder, `use-${example}.ts`), uses[example])
        await step(`${example}: generate`, () =>
          run('npx', ['--no-install', ...generate(example)], { cwd: folder, shell }),
        )
        await step(`${example}: compile`, () => run('npx', ['--no-install', 'tsc', '-p', '.'], { cwd: folder, shell }))
        const { stdout } = await step(`${example}: run`, () =>
          run(process.execPath, [`out/use-${example}.js`, url], { cwd: folder }),
        )
        console.log(`  ${example}: ${stdout.trim()}`)
      } finally {
        await stop()
      }
    }
  } finally {
    if (process.env.KEEP) console.log(`  ${folder}`)
    else await rm(folder, { recursive: true, force: true })
  }
}

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !Object.hasOwn(GENERATORS, name))
if (unknown !== undefined)
  throw new RangeError(`there is no ${unknown}; there are ${Object.keys(GENERATORS).join(', ')}`)
for (const name of asked.length === 0 ? Object.keys(GENERATORS) : asked) await held(name, GENERATORS[name])
