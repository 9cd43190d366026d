// `npm start`: three resources over a SQLite file, and what to ask them.

import { samples } from './requests.js'
import { type LeagueServer, serve } from './server.js'

const DEFAULT_PORT = 3000

function portOf(text: string | undefined): number {
  const port = text === undefined || text === '' ? DEFAULT_PORT : Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new RangeError(`PORT=${text} is no port: it must be a whole number from 0 to 65535.`)
}

/** What went wrong, for people: no stack where the cause is outside the program. */
function explain(error: unknown): void {
  if (!(error instanceof Error)) throw error
  const { code, port } = error as Error & { code?: string; port?: number }
  if (code === 'EADDRINUSE') {
    console.error(
      `Port ${port} is in use. Stop what uses it, or choose another one: PORT=${Number(port) + 1} npm start`,
    )
  } else if (code === 'EACCES') {
    console.error(`Port ${port} is not allowed. Choose one above 1023: PORT=3000 npm start`)
  } else if (error instanceof RangeError) {
    console.error(error.message)
  } else {
    throw error
  }
  process.exitCode = 1
}

function greet({ port, storage }: LeagueServer): void {
  console.log(`The league is at http://localhost:${port}/api/players, /api/teams and /api/orders.`)
  console.log(`Its data is new at every start: ${storage}`)
  console.log('\nTry, in another terminal:\n')
  for (const { title, command } of samples(port)) console.log(`  # ${title}\n  ${command}\n`)
  console.log('Ctrl-C ends it.')
}

try {
  const server = await serve(portOf(process.env.PORT))
  // Started by npm, Ctrl-C comes twice: from the terminal and from npm.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.close())
  greet(server)
} catch (error) {
  explain(error)
}
