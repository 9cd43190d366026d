// `npm run sqlite3` downloads or compiles the binary of sqlite3, which `npm ci` does not install. `npm test` does this
// first. With `--optional`, a failure is ignored. Programs on Node.js 22.13 and later can use Node's own SQLite.

import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

const require = createRequire(import.meta.url)

function isThere() {
  try {
    require('sqlite3')
    return true
  } catch {
    return false
  }
}

if (!isThere()) {
  const cwd = dirname(require.resolve('sqlite3/package.json'))
  const { status } = spawnSync('npm', ['run', 'install'], {
    cwd,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  const isOptional = process.argv.includes('--optional')
  if (status !== 0 && isOptional)
    console.error(
      'sqlite3 cannot be compiled here: SQLite is tested by the driver of Node, and tests of sqlite3 itself are left out',
    )
  process.exitCode = isOptional ? 0 : (status ?? 1)
}
