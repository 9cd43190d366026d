// `node test/nodes.mjs 20.19 22 26`, after `npm run compile`: a part of the tests over HTTP that asks every stage, on other versions of Node. They come from
// the registry; one that cannot be installed is left out, and said so. Names of files after the versions choose others. `bun` and `deno` are versions too.

import { spawnSync } from 'node:child_process'

/** Seconds each, and all stages between them; what Node itself changes is in the HTTP parser, in streams, in `fetch` and in SQLite's driver. */
const PART = [
  'writes/create',
  'writes/patch',
  'bulk/bulk',
  'lists/pages',
  'filters/filter',
  'replies/export',
  'lists/query-method',
  'writes/bodies',
  'writes/idempotency',
  'nested/routes',
  'mounting/host-requests',
]
const PUSHED = ['push/events', 'security/callers']

/** Other runtimes, which nobody promises. */
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
  // Both have `node:sqlite`. With the driver sqlite3 Sequelize finds no keys of Model.bulkCreate on Bun.
  const env = isOther ? { TEST_DATABASE: 'node-sqlite', ...process.env } : process.env
  const program = version === 'deno' ? ['run', '--allow-all', 'test/run.mjs'] : ['test/run.mjs']
  const { status } = spawnSync('npx', [...on, ...program, ...files], { stdio: 'inherit', shell, env })
  if (status === 0) continue
  console.error(`the tests failed on ${name}`)
  failed += 1
}
process.exitCode = failed === 0 ? 0 : 1
