// `npm run docs`: installs what the site is built with, builds it where pages are newer, and serves it.

import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('./', import.meta.url))
const inFolder = (path) => join(folder, path)
const built = inFolder('.vitepress/dist/404.html')
const OWN = new Set(['node_modules', 'dist', 'cache', '.temp'])

function run(program, args, options = {}) {
  const { status } = spawnSync(program, args, { cwd: folder, stdio: 'inherit', ...options })
  if (status !== 0) process.exit(status ?? 1)
}

/** When the newest file of a folder was written, in milliseconds since 1970; what is made of others is left out. */
function newestIn(path) {
  const entries = readdirSync(path, { withFileTypes: true }).filter(({ name }) => !OWN.has(name))
  return Math.max(
    ...entries.map((entry) => {
      const own = join(path, entry.name)
      return entry.isDirectory() ? newestIn(own) : statSync(own).mtimeMs
    }),
  )
}

const installed = inFolder('node_modules/.package-lock.json')
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(inFolder('package-lock.json')).mtimeMs) {
  console.log('Installing VitePress in docs, which takes about a minute the first time ...')
  // npm is a script of the shell on Windows.
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { shell: process.platform === 'win32' })
}
if (!existsSync(built) || statSync(built).mtimeMs < newestIn(folder)) {
  console.log('Building the site from the pages in docs, which takes about a minute ...')
  run(process.execPath, [inFolder('node_modules/vitepress/bin/vitepress.js'), 'build'])
}

const port = Number(process.env.PORT || 4173)
const { serve } = await import('vitepress')
process.on('uncaughtException', (error) => {
  if (error.code !== 'EADDRINUSE') throw error
  console.error(`Port ${port} is in use. Choose another one: PORT=${port + 1} npm run docs`)
  process.exit(1)
})
console.log('Ctrl-C ends it.')
await serve({ root: folder, port })
