// `node test/nodes.mjs 20.19 22 26`, after `npm run compile`, runs a part of the HTTP tests on other versions of
// Node.js. The versions come from the registry. A version that cannot be installed is skipped with a message. File
// names after the versions choose other tests. `bun` and `deno` count as versions.

import { spawnSync } from 'node:child_process'
import { delimiter, dirname } from 'node:path'

/**
 * Test files that take seconds each and together use every stage. Versions of Node.js differ in the HTTP parser, in
 * streams, in `fetch` and in the SQLite driver.
 */
const PART = [
  'writes/create',
  'writes/patch',
  'bulk/bulk',
  'lists/pages',
  'replies/export',
  'lists/query-method',
  'writes/bodies',
  'writes/idempotency',
  'nested/routes',
  'mounting/host-requests',
]
const PUSHED = ['push/shapes', 'push/failures', 'security/callers']

/** Other runtimes. The package does not promise to support them. */
const OTHERS = { bun: ['bun@1.4.5', '--', 'bun'], deno: ['deno@2.9.6', '--', 'deno'] }

const build = process.env.BUILD ?? '.build'
const given = process.argv.slice(2)
const versions = given.filter((text) => /^(?:\d+(?:\.\d+)*|bun|deno)$/.test(text))
const named = given.filter((text) => !versions.includes(text))
const files = named.length > 0 ? named : [...PART, ...PUSHED].map((name) => `${build}/test/http/${name}.js`)
const shell = process.platform === 'win32'

/** Prepends the folder of a program to the path, where the tests' programs find it. */
const pathOf = (program) => dirname(program) + delimiter + process.env.PATH

/** How to start a version: its program and first arguments. Null if it cannot be installed. */
function install(version) {
  const isOther = Object.hasOwn(OTHERS, version)
  const on = ['-y', '-p', ...(OTHERS[version] ?? [`node@${version}`, '--', 'node'])]
  const asked = isOther ? ['--version'] : ['-p', 'process.execPath']
  const { stdout } = spawnSync('npx', [...on, ...asked], { encoding: 'utf8', shell, timeout: 120_000 })
  const said = (stdout ?? '').trim()
  if (isOther) {
    const installed = /^v?[\d.]+$|^deno [\d.]+/m.exec(said)?.[0]
    const env = { TEST_DATABASE: 'node-sqlite', ...process.env }
    return installed === undefined
      ? null
      : { name: `${version} ${installed.replace('deno ', '')}`, program: 'npx', args: on, shell, env }
  }
  // npx needs as long to start as a test file.
  const program = said.split('\n').at(-1)
  const installed = program === '' ? '' : (spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? '').trim()
  return `${installed}.`.startsWith(`v${version}.`)
    ? { name: `Node ${installed}`, program, args: [], shell: false, env: { ...process.env, PATH: pathOf(program) } }
    : null
}

let failed = 0
for (const version of versions.length > 0 ? versions : ['20.19', '22', '26']) {
  const installed = install(version)
  if (installed === null) {
    const name = Object.hasOwn(OTHERS, version) ? version : `Node ${version}`
    console.error(`${name} cannot be installed here; its tests are left out`)
    continue
  }
  const { name, program, args, ...options } = installed
  console.log(`\n${name}`)
  const run = version === 'deno' ? ['run', '--allow-all', 'test/run.mjs'] : ['test/run.mjs']
  const { status } = spawnSync(program, [...args, ...run, ...files], { stdio: 'inherit', ...options })
  if (status === 0) continue
  console.error(`the tests failed on ${name}`)
  failed += 1
}
process.exitCode = failed === 0 ? 0 : 1
