import { Server } from 'socket.io'
import type { Example } from '../server.js'
import { desk } from './app.js'
import { connect } from './models.js'
import { seed } from './seed.js'

/** Creates the example. `page` is the folder of the built page. */
export function example(page?: string): Example {
  let io: Server
  return {
    name: 'desk',
    // The passwords of the accounts are public, so the server accepts connections only from this machine.
    host: 'localhost',
    connect,
    seed,
    app: (server) => {
      io = new Server(server, { maxHttpBufferSize: 10_000 })
      return desk(io, page)
    },
    release: () => io.close(),
  }
}
