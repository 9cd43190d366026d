// `npm run bench:trace`: the way of fixed requests through `lib`. Counts the distinct functions that a warm request enters,
// their files, and how often an entered function stands in another file than the one before. Functions that write SQL text
// are counted in columns of their own. `npm run bench:trace -- PATCH` prints the functions of this request in their order.
// Needs Node 22.15 or later.

import { register } from './trace/instrument.js'

register()
const { REQUESTS, start } = await import('./trace/requests.js')
const { table, traced, walked } = await import('./trace/report.js')

const [wanted] = process.argv.slice(2)
const one = REQUESTS.find(({ name }) => name === wanted)
if (wanted !== undefined && one === undefined) {
  console.error(`There is no request '${wanted}'. There are: ${REQUESTS.map(({ name }) => `'${name}'`).join(', ')}`)
  process.exit(2)
}

const server = await start()
try {
  if (one !== undefined) console.log(await walked(one, server))
  else {
    const rows = []
    for (const request of REQUESTS) rows.push(await traced(request, server))
    console.log(table(rows))
  }
} finally {
  await server.close()
}
