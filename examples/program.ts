import { type Example, type ExampleServer, serve } from './server.js'

/** A request for readers to try, with a title and the command that sends it. */
export interface Sample {
  readonly title: string
  readonly command: string
}

const DEFAULT_PORT = 3000

function portOf(text: string | undefined): number {
  const port = text === undefined || text === '' ? DEFAULT_PORT : Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new RangeError(`PORT=${text} is no port: it must be a whole number from 0 to 65535.`)
}

/** Prints an error without a stack trace, if its cause is outside of the program. Throws other errors. */
function explain(error: unknown, command: string): void {
  if (!(error instanceof Error)) throw error
  const { code, port } = error as Error & { code?: string; port?: number }
  if (code === 'EADDRINUSE') {
    console.error(
      `Port ${port} is in use. Stop what uses it, or choose another one: PORT=${Number(port) + 1} ${command}`,
    )
  } else if (code === 'EACCES') {
    console.error(`Port ${port} is not allowed. Choose one above 1023: PORT=3000 ${command}`)
  } else if (/sqlite3|bindings file/.test(error.message)) {
    console.error('SQLite comes with Node 22.13 and later. Before that `npm run sqlite3` installs a driver.')
  } else if (error instanceof RangeError) {
    console.error(error.message)
  } else {
    throw error
  }
  process.exitCode = 1
}

export function printSamples(samples: readonly Sample[]): void {
  for (const { title, command } of samples) console.log(`  # ${title}\n  ${command}\n`)
  console.log('Ctrl-C ends it.')
}

/** Runs an example on the port in `PORT`, until a signal ends it. `command` is the command that has started it. */
export async function run(
  command: string,
  example: () => Example,
  greet: (server: ExampleServer) => void | Promise<void>,
): Promise<void> {
  try {
    const server = await serve(example(), portOf(process.env.PORT))
    // If npm has started the program, Ctrl-C sends the signal twice: from the terminal and from npm.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.close())
    await greet(server)
  } catch (error) {
    explain(error, command)
  }
}
