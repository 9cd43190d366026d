// Installs the packed tarball into projects of all kinds that it supports. The projects use ES modules, CommonJS,
// TypeScript with node16 or a bundler, NestJS, Express 4 and 5, and the oldest allowed peers. Each project uses every
// entry of the package. Run `npm run compile` and `node test/consumers/run.mjs`. Names as arguments choose projects.
// `--runtime bun` and `--runtime deno` replace Node.js. `KEEP=1` keeps the folder.

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { module, nest, required, typed } from './program.mjs'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../', import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const peers = manifest.peerDependencies
const shell = process.platform === 'win32'

/** The oldest version of a range. package.json has versions with two or three numbers. */
const oldest = (range) => `${range.match(/\d[\d.]*/)[0]}.0.0`.split('.').slice(0, 3).join('.')

/** Peers that the program does not use. */
const LEFT_OUT = new Set(['socket.io', 'socket.io-client', 'swagger-ui-dist'])
const asked = Object.entries(peers).filter(([name]) => !LEFT_OUT.has(name))
/** Versions that projects install explicitly. A newer version must be added here before it is tested. */
const VERSIONS = {
  express4: '4.22.3',
  express5: '5.3.0',
  nest11: '11.2.10',
  nest12: '12.5.1',
  bun: '1.4.5',
  deno: '2.9.6',
}
const TYPESCRIPTS = { typescript5: '5.9.3', typescript6: '6.0.3', typescript7: '7.0.2' }

const EXPRESS5 = `express@${VERSIONS.express5}`
const newestPeers = asked.map(([name, range]) => (name === 'express' ? EXPRESS5 : `${name}@${range}`))
const oldestPeers = asked.map(([name, range]) => `${name}@${oldest(range)}`)
/** Client of the Model Context Protocol. The package itself does not need it. */
const AGENT = '@modelcontextprotocol/client@^2.4'
const BUNDLER = 'esbuild@^0.28'
const COMPILERS = Object.entries(TYPESCRIPTS).map(([name, version]) => `${name}@npm:typescript@${version}`)
const TYPES = [...COMPILERS, '@types/node@^20', '@types/express@^5', BUNDLER]
const nestOf = (version) => [
  ...['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${version}`),
  ...['reflect-metadata@^0.2.2', 'rxjs@^7.8.2'],
]

/** Packages to install, by the name of their folder. NestJS 12 shares a folder with the newest peers. */
const FOLDERS = {
  newest: [...newestPeers, AGENT, ...TYPES, ...nestOf(VERSIONS.nest12)],
  nest11: [EXPRESS5, `sequelize@${peers.sequelize}`, BUNDLER, ...nestOf(VERSIONS.nest11)],
  express4: [...newestPeers.map((name) => (name === EXPRESS5 ? `express@${VERSIONS.express4}` : name)), AGENT],
  oldest: [...oldestPeers, AGENT],
}

function compilerOptions(file, moduleKind, moduleResolution, more = {}) {
  const shared = { target: 'es2022', strict: true, skipLibCheck: true, esModuleInterop: true, types: ['node'] }
  return JSON.stringify({
    compilerOptions: { ...shared, noEmit: true, module: moduleKind, moduleResolution, ...more },
    files: [file],
  })
}

/** Steps that compile a project with every version of TypeScript. */
const compiles = (config) => Object.keys(TYPESCRIPTS).map((name) => ['tsc', name, config])

/** Code of the NestJS recipe in docs/frameworks.md. The decorators in the recipe need TypeScript. */
const recipe = readFileSync(join(root, 'docs', 'frameworks.md'), 'utf8').match(/^## NestJS\n.*?```ts\n(.*?)```/ms)[1]
const nestProject = (name) => ({
  files: {
    [`${name}.mts`]: nest(recipe, `${name}.sqlite`),
    [`${name}.json`]: compilerOptions(`${name}.mts`, 'node16', 'node16', { experimentalDecorators: true }),
  },
  build: [
    'esbuild',
    `${name}.mts`,
    '--format=esm',
    `--tsconfig=${name}.json`,
    `--outfile=${name}.mjs`,
    '--log-level=error',
  ],
  start: ['node', `${name}.mjs`],
})
const [nest11, nest12] = ['nest11', 'nest12'].map(nestProject)

const bundle = ['esbuild', 'bundler.ts', '--bundle', '--platform=node', '--format=esm', '--packages=external']

/** Projects by name, with their folder, their files and the steps to run. */
const PROJECTS = {
  esm: { folder: 'newest', files: { 'esm.mjs': module('esm.sqlite') }, steps: [['node', 'esm.mjs']] },
  commonjs: { folder: 'newest', files: { 'own.cjs': required('own.sqlite') }, steps: [['node', 'own.cjs']] },
  node16: {
    folder: 'newest',
    files: { 'node16.mts': typed('node16.sqlite'), 'node16.json': compilerOptions('node16.mts', 'node16', 'node16') },
    steps: [
      ...compiles('node16.json'),
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
      ...compiles('bundler.json'),
      [...bundle, '--outfile=bundler.mjs', '--log-level=error'],
      ['node', 'bundler.mjs'],
    ],
  },
  nest11: { folder: 'nest11', files: nest11.files, steps: [nest11.build, nest11.start] },
  nest12: {
    folder: 'newest',
    files: nest12.files,
    steps: [['tsc', 'typescript7', 'nest12.json'], nest12.build, nest12.start],
  },
  express4: { folder: 'express4', files: { 'own.mjs': module('own.sqlite') }, steps: [['node', 'own.mjs']] },
  oldest: { folder: 'oldest', files: { 'own.cjs': required('own.sqlite') }, steps: [['node', 'own.cjs']] },
}

const { values, positionals: chosen } = parseArgs({ options: { runtime: { type: 'string' } }, allowPositionals: true })
const RUNTIMES = { bun: [], deno: ['run', '--allow-all'] }
const { runtime } = values
if (runtime !== undefined && !Object.hasOwn(RUNTIMES, runtime)) {
  console.error(`There is no runtime '${runtime}'; there are ${Object.keys(RUNTIMES).join(' and ')}.`)
  process.exit(2)
}
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

/**
 * Installs packages into a folder. The driver sqlite3 is copied from this repository, because building it may take a
 * minute.
 */
async function install(folder, packages, tarball) {
  await mkdir(folder, { recursive: true })
  const driver = `file:${join(root, 'node_modules', 'sqlite3')}`
  const project = { private: true, type: 'module', dependencies: { sqlite3: driver } }
  await writeFile(join(folder, 'package.json'), JSON.stringify(project))
  // Peer dependencies of peers are not checked, because old peers may conflict.
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps']
  await run('npm', ['install', ...options, tarball, ...packages], { cwd: folder, shell, env })
}

function versions(folder) {
  const place = (name) => join(folder, 'node_modules', name, 'package.json')
  const names = ['express', 'sequelize', '@modelcontextprotocol/server', '@nestjs/core'].filter((name) =>
    existsSync(place(name)),
  )
  return names.map((name) => `${name} ${JSON.parse(readFileSync(place(name), 'utf8')).version}`).join(', ')
}

/** The program that runs a project, and its first arguments. Bun and Deno come from the registry. */
async function installRuntime() {
  if (runtime === undefined) return [process.execPath]
  const folder = join(temporary, 'runtime')
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, allowScripts: { [runtime]: true } }))
  const name = `${runtime}@${VERSIONS[runtime]}`
  await step(`npm install ${name}`, () =>
    run('npm', ['install', '--no-audit', '--no-fund', name], { cwd: folder, shell, env }),
  )
  return [join(folder, 'node_modules', '.bin', runtime), ...RUNTIMES[runtime]]
}

/** Converts a step to a program and its arguments. */
function commandOf([program, ...args], own) {
  if (program === 'node') return [...interpreter, ...args]
  const [compiler, config] = args
  if (program === 'tsc') return [process.execPath, join(own, 'node_modules', compiler, 'bin', 'tsc'), '-p', config]
  return ['npx', '--no-install', program, ...args]
}

async function held(name) {
  const { folder, files, steps } = PROJECTS[name]
  const own = join(temporary, folder)
  console.log(
    `${name}: ${runtime === undefined ? `Node ${process.versions.node}` : `${runtime} ${VERSIONS[runtime]}`}, ${versions(own)}`,
  )
  for (const [path, text] of Object.entries(files)) await writeFile(join(own, path), text)
  // Types do not depend on the runtime, so other runtimes skip the compilation.
  for (const each of steps.filter(([program]) => runtime === undefined || program !== 'tsc')) {
    const [file, ...args] = commandOf(each, own)
    const options = { cwd: own, shell: shell && file === 'npx', env, timeout: 300_000 }
    const { stdout } = await step(each.join(' '), () => run(file, args, options))
    if (each[0] === 'node' && stdout !== 'answered\n') throw new Error(`${name} said ${stdout}`)
  }
}

let interpreter = []
const names = chosen.length === 0 ? Object.keys(PROJECTS) : chosen
const failures = []
try {
  const packed = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', temporary], {
    cwd: root,
    shell,
  })
  const [{ filename, size, entryCount }] = JSON.parse(packed.stdout)
  console.log(`${filename}: ${Math.round(size / 1024)} KiB, ${entryCount} files`)
  interpreter = await installRuntime()
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
