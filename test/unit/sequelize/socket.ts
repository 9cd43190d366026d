// Sockets of connections that are cut: each is closed, whatever state it is in, and what was not received is not sent again.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import test from 'ava'
import { resetSocket } from '../../../lib/sequelize/socket.js'

for (const [state, prepare, told] of [
  ['is open', () => undefined, 'ECONNRESET'],
  ['is ending', (socket: Socket) => void socket.end(), null],
] as const) {
  test(`a socket that ${state} is closed`, async (t) => {
    // A server that never ends its side.
    const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const [[other]] = await Promise.all([once(server, 'connection') as Promise<[Socket]>, once(socket, 'connect')])
    other.resume()
    let code: unknown = null
    const gone = new Promise<void>((resolve) => {
      other.on('error', (error) => {
        code = Reflect.get(error, 'code')
      })
      other.once('close', () => resolve())
    })
    prepare(socket)
    const closed = once(socket, 'close')
    resetSocket({ stream: socket })
    await closed
    other.end()
    await gone
    t.is(code, told)
  })
}
