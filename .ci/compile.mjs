// `npm run compile` compiles the package into dist. The command also compiles the package with its tests, examples and
// benchmarks into .build. `npm run build` compiles only the package. Stages whose inputs have not changed are skipped.
// `--aloud` prints which stages run.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  bundle,
  bundleClient,
  bundleClientPackage,
  bundleCreatePackage,
  bundleProgram,
  versionsFor,
} from './bundle.mjs'
import { bundleTests } from './bundleTests.mjs'
import { digestOf, filesOf, State } from './state.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))
const require = createRequire(import.meta.url)
const inRoot = (path) => join(root, path)

/**
 * Path of an installed package's program. The program is found by its package, because several packages may have
 * programs of one name.
 */
function programOf(name, program = name) {
  const manifest = require.resolve(`${name}/package.json`)
  return join(manifest, '..', require(manifest).bin[program])
}

function run(program, ...args) {
  const { status } = spawnSync(process.execPath, [program, ...args], { cwd: root, stdio: 'inherit' })
  return status === 0
}

const tsc = (project, ...args) => run(programOf('typescript', 'tsc'), '-p', project, ...args)

// ---------------------------------------------------------------- the package

/** Entries of the package that export values, by their path in dist without an extension. */
const ENTRIES = [
  'lib/index',
  'lib/language/index',
  'lib/client/index',
  'lib/client/actions',
  'lib/react-admin/index',
  'lib/refine/index',
  'lib/mcp/index',
  'lib/node-sqlite/index',
]

/** A program of the package. No project imports it. */
const CHECK = 'lib/check/index'

/**
 * Source of the command `sequelize-crud-router`. The text is written without the bundler, which would replace
 * `import()`.
 */
const CHECK_PROGRAM = `#!/usr/bin/env node
const { check } = require('./${CHECK}.js')

// The application may end the process, or wait for something that never comes.
const explain = () => {
  process.stderr.write('The process ended before the module was imported.\\n')
  process.exitCode = 2
}
process.on('exit', explain)

check(process.argv.slice(2), (url) => import(url)).then(({ status, text }) => {
  process.off('exit', explain)
  const stream = status === 2 ? process.stderr : process.stdout
  // The application may keep the process, by a server or a connection.
  stream.write(text + '\\n', () => process.exit(status))
})
`

const CLIENT_PACKAGE = '.packages/client'
const CREATE_PACKAGE = '.packages/create'
const PACKAGE_OUTPUTS = ['dist', '.packages', 'grammar/query.js', 'grammar/query.d.ts']

function writeJson(path, content) {
  writeFileSync(inRoot(path), `${JSON.stringify(content)}\n`)
}

function peggy(output, ...args) {
  const program = programOf('peggy')
  return run(program, '-c', 'grammar/peggy.json', '-o', output, ...args, 'grammar/query.peggy')
}

/**
 * Writes an ES module that exports the names of a CommonJS module. Code that uses `import` and code that uses `require`
 * share one module with its state.
 */
function wrap(entry) {
  const names = Object.keys(require(inRoot(`dist/${entry}.js`))).toSorted()
  const file = `./${entry.split('/').at(-1)}.js`
  writeFileSync(inRoot(`dist/${entry}.mjs`), `export { ${names.join(', ')} } from '${file}'\n`)
  writeFileSync(inRoot(`dist/${entry}.d.mts`), `export * from '${file}'\n`)
}

/** Writes the second package of the repository: the client, for projects without the server. */
async function writeClientPackage(manifest) {
  mkdirSync(inRoot(CLIENT_PACKAGE), { recursive: true })
  writeJson(`${CLIENT_PACKAGE}/package.json`, await bundleClientPackage(root, inRoot(CLIENT_PACKAGE), manifest))
  // Declarations that both entries import are CommonJS, because ES modules and CommonJS may import CommonJS.
  const entries = ['index', 'actions']
  const shared = readdirSync(inRoot(CLIENT_PACKAGE))
    .filter((name) => name.endsWith('.d.ts'))
    .map((name) => name.slice(0, -'.d.ts'.length))
    .filter((name) => !entries.includes(name))
  for (const name of [...shared, ...entries]) {
    const path = inRoot(`${CLIENT_PACKAGE}/${name}.d`)
    const text = readFileSync(`${path}.ts`, 'utf8').replaceAll(/"\.\/(\w+)\.js"/g, (specifier, imported) =>
      shared.includes(imported) ? `"./${imported}.cjs"` : specifier,
    )
    writeFileSync(`${path}.cts`, text)
    if (entries.includes(name)) writeFileSync(`${path}.ts`, text)
    else rmSync(`${path}.ts`)
  }
  cpSync(inRoot('.ci/client.md'), inRoot(`${CLIENT_PACKAGE}/README.md`))
  cpSync(inRoot('LICENSE'), inRoot(`${CLIENT_PACKAGE}/LICENSE`))
}

const CREATE_PROGRAM = `#!/usr/bin/env node
import { main } from './index.js'

process.exitCode = await main()
`

/** Writes the third package of the repository: the program of `npm create sequelize-crud-router`. */
async function writeCreatePackage(manifest) {
  mkdirSync(inRoot(CREATE_PACKAGE), { recursive: true })
  writeJson(`${CREATE_PACKAGE}/package.json`, await bundleCreatePackage(root, inRoot(CREATE_PACKAGE), manifest))
  writeJson(`${CREATE_PACKAGE}/versions.json`, versionsFor(manifest))
  writeFileSync(inRoot(`${CREATE_PACKAGE}/create.js`), CREATE_PROGRAM)
  cpSync(inRoot('.ci/create.md'), inRoot(`${CREATE_PACKAGE}/README.md`))
  cpSync(inRoot('LICENSE'), inRoot(`${CREATE_PACKAGE}/LICENSE`))
}

async function buildPackage() {
  for (const path of PACKAGE_OUTPUTS) {
    rmSync(inRoot(path), { recursive: true, force: true })
  }
  if (!peggy('grammar/query.js', '--format', 'es', '--dts')) return false
  // The compiler checks the types, because the bundler does not.
  if (!tsc('tsconfig.json', '--noEmit')) return false
  const manifest = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))
  await bundle(root, ENTRIES, Object.keys(manifest.peerDependenciesMeta))
  await bundleProgram(root, CHECK)
  writeFileSync(inRoot('dist/check.js'), CHECK_PROGRAM, { mode: 0o755 })
  // Bundlers read `sideEffects` in the nearest package.json of a file.
  writeJson('dist/package.json', { type: 'commonjs', sideEffects: false })
  for (const entry of ENTRIES) wrap(entry)

  if (!tsc('tsconfig.browser.json')) return false
  rmSync(inRoot('dist/browser/types'), { recursive: true, force: true })
  cpSync(inRoot('grammar/query.js'), inRoot('dist/browser/grammar/query.js'))
  writeJson('dist/browser/package.json', { type: 'module', sideEffects: false })
  await bundleClient(root)
  await writeClientPackage(manifest)
  await writeCreatePackage(manifest)
  return true
}

// ---------------------------------------------------------------- the tests

/** Removes compiled files whose source was removed. The compiler itself does not remove them. */
function removeOrphans() {
  for (const path of filesOf(root, ['.build'])) {
    const source = path.replace(/^\.build\//, '').replace(/\.js(\.map)?$/, '.ts')
    if (!existsSync(inRoot(source))) rmSync(inRoot(path))
  }
}

async function buildTests(isWhole) {
  if (!isWhole) for (const path of ['.build', TESTS_INFO]) rmSync(inRoot(path), { recursive: true, force: true })
  const isFine = tsc('tsconfig.test.json')
  removeOrphans()
  cpSync(inRoot('grammar/query.js'), inRoot('.build/grammar/query.js'))
  cpSync(inRoot('dist/browser/client.js'), inRoot('.build/lib/browser/client.js'))
  if (isFine) await bundleTests(root)
  return isFine
}

// ---------------------------------------------------------------- stages

const TESTS_INFO = '.build-state/tests.tsbuildinfo'

/** Inputs of both stages. The last input changes with the installed versions. */
const SHARED = [
  'lib',
  'types',
  'grammar/peggy.json',
  'grammar/query.peggy',
  '.ci',
  'LICENSE',
  'package.json',
  'tsconfig.json',
  'tsconfig.browser.json',
  'node_modules/.package-lock.json',
]

const STAGES = [
  {
    name: 'package',
    inputs: SHARED,
    outputs: PACKAGE_OUTPUTS,
    build: buildPackage,
  },
  {
    name: 'tests',
    inputs: [...SHARED, 'tsconfig.test.json', 'test', 'examples', 'bench'],
    outputs: ['.build', TESTS_INFO],
    build: buildTests,
  },
]

const names = process.argv.slice(2).filter((argument) => argument !== '--aloud')
const isAloud = process.argv.includes('--aloud')

/** Runs a stage, unless its outputs are current. Returns whether the stage succeeded. */
async function bring({ name, inputs, outputs, build }) {
  const state = new State(root, `.build-state/${name}.json`)
  const found = state.compare(inputs, outputs)
  if (found === 'current') return true
  if (isAloud) console.log(`Compiling the ${name} (about 10 s the first time) ...`)
  // The digest is computed before the compiler runs, so that a file that changes during the run is compiled next time.
  const digest = digestOf(root, inputs)
  state.forget()
  const isFine = await build(found === 'changed')
  state.keep(isFine ? digest : null, outputs)
  return isFine
}

const [wanted] = names
const stages = wanted === undefined ? STAGES : STAGES.filter(({ name }) => name === wanted)
if (stages.length === 0) throw new RangeError(`There is no stage "${wanted}".`)
process.exitCode = 0
for (const stage of stages) {
  if (await bring(stage)) continue
  process.exitCode = 1
  break
}
