// Resolves imports of the package's modules to one bundle (`.ci/bundleTests.mjs`). Runs of all tests load this file
// first.

import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const build = new URL(`../${process.env.BUILD ?? '.build'}/`, import.meta.url)
const bundled = new URL('lib/bundled/', build).href
const modules = new Map(
  JSON.parse(readFileSync(new URL('lib/bundled/modules.json', build), 'utf8')).map((path) => [
    new URL(path, build).href,
    bundled + path,
  ]),
)

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const url = modules.get(resolved.url)
    return url === undefined ? resolved : { ...resolved, url }
  },
})
