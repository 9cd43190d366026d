import { ServerResponse } from 'node:http'
import type { OutgoingResponse } from './outgoing.js'

/**
 * Ends an incomplete response after its headers. In HTTP/1.0, closing the connection is also the normal end of a
 * response without a length. A reset of the socket shows the client that the response is incomplete. TLS sockets cannot
 * be reset.
 */
export function abortResponse(out: OutgoingResponse): void {
  if (out instanceof ServerResponse) {
    const { socket, req } = out
    // On Bun, sockets without TLS also have the member `encrypted`, with the value false.
    const isTcp = socket?.remoteAddress !== undefined && Reflect.get(socket, 'encrypted') !== true
    if (isTcp && req.httpVersionMajor === 1 && req.httpVersionMinor === 0) socket.resetAndDestroy()
  }
  out.destroy()
}
