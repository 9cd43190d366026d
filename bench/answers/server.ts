// Server of `npm run bench:answers`. The server is a separate process, so that the load generator does not distort the
// figures.

import { createServer } from 'node:http'
import express from 'express'
import { crudRouter, Operations } from '../../lib/index.js'
import { cpuOf } from '../processes.js'
import { defineLarge, fillLarge } from './models.js'

/**
 * Resources that one request used: additional megabytes, and the longest time during which the event loop was blocked.
 */
export interface Used {
  readonly megabytes: number
  readonly milliseconds: number
}

const large = defineLarge(JSON.parse(process.argv[2] ?? '{}'))
await fillLarge(large)

const operations = Operations.AllWithBulk | Operations.Aggregate | Operations.Export
const shared = { operations, query: { maxPageSize: 1000 }, onError: console.error }
const app = express()
const people = crudRouter(large.Person, { ...shared, route: '/people' })
app.use(people)
app.use(
  crudRouter(large.Club, {
    ...shared,
    route: '/clubs',
    relations: { people: { routes: true, resource: () => people } },
  }),
)
app.use(crudRouter(large.Tag, { ...shared, route: '/tags' }))
app.use(crudRouter(large.Award, { ...shared, route: '/awards' }))

const memory = (): number => {
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

let from = 0
let peak = 0
/**
 * Processor time of the main thread in milliseconds, if the system provides it, otherwise wall time. Wall time includes
 * waits on a busy machine.
 */
const processorTime = (): number => {
  const cpu = cpuOf(process.pid)
  return cpu === null ? performance.now() : cpu.main / 1000
}
let last = processorTime()
let longest = 0
const look = (): void => {
  const now = processorTime()
  longest = Math.max(longest, now - last)
  last = now
  peak = Math.max(peak, memory())
}
setInterval(look, 2)

process.on('message', (what) => {
  if (what === 'begin') {
    globalThis.gc?.()
    from = memory()
    peak = from
    last = processorTime()
    longest = 0
    process.send?.('begun')
  } else {
    look()
    process.send?.({ megabytes: peak - from, milliseconds: longest } satisfies Used)
  }
})

const server = createServer(app).listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
