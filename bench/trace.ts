// `npm run bench:trace` traces fixed requests through `lib`. The program counts the distinct functions of a warm
// request, their files, and the changes of file between entered functions. Functions that write SQL text have columns
// of their own. `npm run bench:trace -- PATCH` prints the functions of that request in their order. Needs Node.js 22.15
// or later.

import { register } from './trace/instrument.js'

register()
const { REQUESTS, start } = await import('./trace/requests.js')
const { table, traceRequest, listEntered } = await import('./trace/report.js')

const [chosen] = process.argv.slice(2)
const one = REQUESTS.find(({ name }) => name === chosen)
if (chosen !== undefined && one === undefined) {
  console.error(`There is no request '${chosen}'. There are: ${REQUESTS.map(({ name }) => `'${name}'`).join(', ')}`)
  process.exit(2)
}

const server = await start()
try {
  if (one !== undefined) console.log(await listEntered(one, server))
  else {
    const rows = []
    for (const request of REQUESTS) rows.push(await traceRequest(request, server))
    console.log(table(rows))
  }
} finally {
  await server.close()
}
