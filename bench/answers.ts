// `npm run bench:answers` measures memory and blocked event loop time of requests with large responses under the
// default limits. Requests run one at a time. Prints a table. Exits with status 1 if a request exceeds the project's
// limits.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isDatabaseName } from '../test/support/servers.js'
import { parseOrExit } from '../test/support/usage.js'
import { REQUESTS } from './answers/models.js'
import type { Used } from './answers/server.js'
import { openEmpty } from './export/database.js'

const USAGE = `Usage: npm run bench:answers -- [options]
  --database <name>  sqlite, mariadb, mysql (by mysql2) or postgres [sqlite]`

const database = parseOrExit(USAGE, () => {
  const { values } = parseArgs({ options: { database: { type: 'string', default: 'sqlite' } } })
  if (isDatabaseName(values.database)) return values.database
  throw new RangeError(`--database ${values.database} is none of sqlite, mariadb, mysql and postgres`)
})

const MEGABYTES = 200
const MILLISECONDS = 250

const { options, remove } = await openEmpty(database)
const path = fileURLToPath(new URL('./answers/server.js', import.meta.url))
const child = fork(path, [JSON.stringify(options)], {
  execArgv: ['--expose-gc'],
  env: { ...process.env, NODE_ENV: 'production' },
})
let isWithin = true
try {
  const [{ port }] = await once(child, 'message')
  // The first pass is not measured, because it compiles code that later requests use.
  for (const isMeasured of [false, true]) {
    if (isMeasured) console.log('| Request | Status | Answer, kB | Memory, MB | Loop, ms |\n|---|---:|---:|---:|---:|')
    for (const [name, resource, parameters] of REQUESTS) {
      child.send('begin')
      await once(child, 'message')
      const answer = await fetch(`http://127.0.0.1:${port}/${resource}?${new URLSearchParams(parameters)}`)
      const { byteLength } = await answer.arrayBuffer()
      child.send('end')
      const [used]: Used[] = await once(child, 'message')
      if (!isMeasured || used === undefined) continue
      const { megabytes, milliseconds } = used
      const figures = [answer.status, byteLength / 1000, megabytes, milliseconds].map((figure) => Math.round(figure))
      console.log(`| ${name} | ${figures.join(' | ')} |`)
      isWithin &&= megabytes <= MEGABYTES && milliseconds <= MILLISECONDS
    }
  }
} finally {
  child.kill()
  await remove()
}
if (!isWithin) {
  console.error(`More than ${MEGABYTES} MB or ${MILLISECONDS} ms.`)
  process.exitCode = 1
}
