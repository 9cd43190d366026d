import { ServerResponse } from 'node:http'
import type { OutgoingResponse } from './outgoing.js'

/**
 * Ends an incomplete response after its headers. In HTTP/1.0 the end of the connection also ends a complete response
 * without a length. The socket is reset there if possible, so that the client sees an error.
 */
export function abortResponse(out: OutgoingResponse): void {
  if (out instanceof ServerResponse) {
    const { socket, req } = out
    // Sockets of Bun have the member `encrypted` without TLS as well, with the value false.
    const isTcp = socket?.remoteAddress !== undefined && Reflect.get(socket, 'encrypted') !== true
    if (isTcp && req.httpVersionMajor === 1 && req.httpVersionMinor === 0) socket.resetAndDestroy()
  }
  out.destroy()
}
