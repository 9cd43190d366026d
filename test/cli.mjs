// AVA's program on Bun and Deno, which have no coverage to write when a run ends.

import v8 from 'node:v8'

v8.takeCoverage = () => undefined
await import(new URL('cli.mjs', import.meta.resolve('ava')))
