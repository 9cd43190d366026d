// Starts AVA on Bun and Deno. Bun and Deno cannot write coverage at the end of a run.

import v8 from 'node:v8'

v8.takeCoverage = () => undefined
await import(new URL('cli.mjs', import.meta.resolve('ava')))
