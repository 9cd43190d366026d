// Starts an example by the name of its folder: `npm run example existing-api`. TypeScript examples run from their
// compiled files, other examples from their sources.

import { existsSync, readdirSync } from 'node:fs'

const name = process.argv[2] ?? ''
const here = new URL('./', import.meta.url)
const names = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)

if (!names.includes(name)) {
  console.error(`There is no example "${name}". There are: ${names.join(', ')}.`)
  process.exit(1)
}

// npm starts a shell that starts this program. A signal that ends npm ends the shell, but a shell does not always pass
// the signal on.
const { ppid: shell } = process
if (process.env.npm_lifecycle_event !== undefined) {
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  watch.unref()
}

const build = process.env.BUILD ?? '.build'
const entries = [
  new URL(`../${build}/examples/${name}/index.js`, here),
  new URL(`${name}/index.cjs`, here),
  new URL(`${name}/index.js`, here),
]
const entry = entries.find((url) => existsSync(url))
if (entry === undefined) throw new Error(`examples/${name} has no index file`)
await import(entry.href)
