// `npm run bench:trace`: the way of fixed requests through `lib`. Counts the distinct functions that a warm request enters,
// their files, and how often an entered function stands in another file than the one before. Functions that write SQL text
// are counted in columns of their own. Needs Node 22.15 or later.

import { register } from './trace/instrument.js'

register()
const { REQUESTS, start } = await import('./trace/requests.js')
const { table, traced } = await import('./trace/report.js')

const server = await start()
try {
  const rows = []
  for (const request of REQUESTS) rows.push(await traced(request, server))
  console.log(table(rows))
} finally {
  await server.close()
}
