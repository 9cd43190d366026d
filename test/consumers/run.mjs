// The tarball that npm would publish, installed from a registry's packages into projects like those it is meant for: ES modules, CommonJS,
// TypeScript by node16 and for bundlers, Express 4 and 5, and the oldest of every peer that package.json allows. Each asks every entry of the
// package for something. `npm run compile`, and then `node test/consumers/run.mjs`; names as arguments choose projects, `KEEP=1` leaves the folder.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { module, required, typed } from './program.mjs'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const peers = manifest.peerDependencies
const shell = process.platform === 'win32'

/** The first version of a range, which package.json says with two or three numbers. */
const oldest = (range) => `${range.match(/\d[\d.]*/)[0]}.0.0`.split('.').slice(0, 3).join('.')

/** Those that the program does not ask for. */
const LEFT_OUT = new Set(['socket.io', 'socket.io-client', 'swagger-ui-dist'])
const asked = Object.entries(peers).filter(([name]) => !LEFT_OUT.has(name))
const newestPeers = asked.map(([name, range]) => `${name}@${name === 'express' ? '^5' : range}`)
const oldestPeers = asked.map(([name, range]) => `${name}@${oldest(range)}`)
/** An agent's side of the protocol, which the package itself does not need. */
const AGENT = '@modelcontextprotocol/client@^2.4'
const TYPES = ['typescript@^5.9', '@types/node@^20', 'esbuild@^0.28']

/** What is installed, by the name of its folder. */
const FOLDERS = {
  newest: [...newestPeers, AGENT, ...TYPES, '@types/express@^5'],
  express4: [...newestPeers.map((name) => name.replace(/^express@.*/, 'express@^4')), AGENT],
  oldest: [...oldestPeers, AGENT],
}

function compilerOptions(file, moduleKind, moduleResolution) {
  const shared = { target: 'es2022', strict: true, skipLibCheck: true, esModuleInterop: true, types: ['node'] }
  return JSON.stringify({
    compilerOptions: { ...shared, noEmit: true, module: moduleKind, moduleResolution },
    files: [file],
  })
}

const bundle = ['esbuild', 'bundler.ts', '--bundle', '--platform=node', '--format=esm', '--packages=external']

/** A project: the folder that it lives in, its files, and what is done with them. */
const PROJECTS = {
  esm: { folder: 'newest', files: { 'esm.mjs': module('esm.sqlite') }, steps: [['node', 'esm.mjs']] },
  commonjs: { folder: 'newest', files: { 'own.cjs': required('own.sqlite') }, steps: [['node', 'own.cjs']] },
  node16: {
    folder: 'newest',
    files: { 'node16.mts': typed('node16.sqlite'), 'node16.json': compilerOptions('node16.mts', 'node16', 'node16') },
    steps: [
      ['tsc', '-p', 'node16.json'],
      ['esbuild', 'node16.mts', '--format=esm', '--outfile=node16.mjs', '--log-level=error'],
      ['node', 'node16.mjs'],
    ],
  },
  bundler: {
    folder: 'newest',
    files: {
      'bundler.ts': typed('bundler.sqlite'),
      'bundler.json': compilerOptions('bundler.ts', 'esnext', 'bundler'),
    },
    steps: [
      ['tsc', '-p', 'bundler.json'],
      [...bundle, '--outfile=bundler.mjs', '--log-level=error'],
      ['node', 'bundler.mjs'],
    ],
  },
  express4: { folder: 'express4', files: { 'own.mjs': module('own.sqlite') }, steps: [['node', 'own.mjs']] },
  oldest: { folder: 'oldest', files: { 'own.cjs': required('own.sqlite') }, steps: [['node', 'own.cjs']] },
}

const chosen = process.argv.slice(2)
const unknown = chosen.find((name) => !Object.hasOwn(PROJECTS, name))
if (unknown !== undefined) {
  console.error(`There is no '${unknown}'; there are ${Object.keys(PROJECTS).join(', ')}.`)
  process.exit(2)
}

async function step(text, work) {
  const start = performance.now()
  const result = await work().catch((error) => {
    throw new Error(`${text}: ${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`)
  })
  console.log(`  ${text} (${((performance.now() - start) / 1000).toFixed(1)} s)`)
  return result
}

const { NODE_OPTIONS: _, ...env } = process.env
const temporary = await mkdtemp(join(tmpdir(), 'consumers-'))

/** The driver is the one that is installed here, since it may take a minute to build. */
async function install(folder, packages, tarball) {
  await mkdir(folder, { recursive: true })
  const driver = `file:${join(root, 'node_modules', 'sqlite3')}`
  const project = { private: true, type: 'module', dependencies: { sqlite3: driver } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(project))
  // An old peer of a peer is the peer's own affair.
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps']
  await run('npm', ['install', ...options, tarball, ...packages], { cwd: folder, shell, env })
}

function versions(folder) {
  const names = ['express', 'sequelize', '@modelcontextprotocol/server']
  const version = (name) => JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version
  return names.map((name) => `${name} ${version(name)}`).join(', ')
}

async function held(name) {
  const { folder, files, steps } = PROJECTS[name]
  const own = join(temporary, folder)
  console.log(`${name}: Node ${process.versions.node}, ${versions(own)}`)
  for (const [path, text] of Object.entries(files)) await writeFile(join(own, path), text)
  for (const [program, ...args] of steps) {
    const [file, given] = program === 'node' ? [process.execPath, args] : ['npx', ['--no-install', program, ...args]]
    const { stdout } = await step([program, ...args].join(' '), () =>
      run(file, given, { cwd: own, shell: shell && program !== 'node', env, timeout: 120_000 }),
    )
    if (program === 'node' && stdout !== 'answered\n') throw new Error(`${name} said ${stdout}`)
  }
}

const names = chosen.length === 0 ? Object.keys(PROJECTS) : chosen
const failures = []
try {
  const packed = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', temporary], {
    cwd: root,
    shell,
  })
  const [{ filename, size, entryCount }] = JSON.parse(packed.stdout)
  console.log(`${filename}: ${Math.round(size / 1024)} KiB, ${entryCount} files`)
  for (const folder of new Set(names.map((name) => PROJECTS[name].folder))) {
    await step(`npm install ${FOLDERS[folder].join(' ')}`, () =>
      install(join(temporary, folder), FOLDERS[folder], join(temporary, filename)),
    )
  }
  for (const name of names) {
    await held(name).catch((error) => {
      failures.push(name)
      console.error(`${name} FAILED: ${error.message}`)
    })
  }
} finally {
  if (process.env.KEEP) console.log(temporary)
  else await rm(temporary, { recursive: true, force: true })
}
console.log(`${names.length - failures.length} passed, ${failures.length} failed`)
process.exitCode = failures.length === 0 ? 0 : 1
