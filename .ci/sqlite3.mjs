// `npm run sqlite3`: fetches or compiles the program of sqlite3, which `npm ci` leaves out. The tests run without it on Node's own SQLite, and
// programs on Node 22.13 and later do.

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
  process.exitCode = status ?? 1
}
