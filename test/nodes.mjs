// `node test/nodes.mjs 20.19 22 26`, after `npm run compile`, runs a part of the HTTP tests on other versions of
// Node.js. The versions come from the registry. A version that cannot be installed is skipped with a message. File
// names after the versions choose other tests. `bun` and `deno` count as versions.

import { spawnSync } from 'node:child_process'

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

let failed = 0
for (const version of versions.length > 0 ? versions : ['20.19', '22', '26']) {
  const on = ['-y', '-p', ...(OTHERS[version] ?? [`node@${version}`, '--', 'node'])]
  const found = spawnSync('npx', [...on, '--version'], { encoding: 'utf8', shell, timeout: 120_000 })
  const installed = /^v?[\d.]+$|^deno [\d.]+/m.exec(found.stdout ?? '')?.[0]
  const isOther = Object.hasOwn(OTHERS, version)
  if (installed === undefined || (!isOther && !`${installed}.`.startsWith(`v${version}.`))) {
    console.error(`${isOther ? '' : 'Node '}${version} cannot be installed here; its tests are left out`)
    continue
  }
  const name = isOther ? `${version} ${installed.replace('deno ', '')}` : `Node ${installed}`
  console.log(`\n${name}`)
  // Both runtimes have `node:sqlite`. On Bun, Sequelize finds no keys of Model.bulkCreate with the driver sqlite3.
  const env = isOther ? { TEST_DATABASE: 'node-sqlite', ...process.env } : process.env
  const program = version === 'deno' ? ['run', '--allow-all', 'test/run.mjs'] : ['test/run.mjs']
  const { status } = spawnSync('npx', [...on, ...program, ...files], { stdio: 'inherit', shell, env })
  if (status === 0) continue
  console.error(`the tests failed on ${name}`)
  failed += 1
}
process.exitCode = failed === 0 ? 0 : 1
