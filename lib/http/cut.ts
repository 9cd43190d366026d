import { ServerResponse } from 'node:http'
import type { Outgoing } from './outgoing.js'

/**
 * Ends an answer that has begun and is not whole. Before HTTP/1.1 the end of the connection is the proper end of an answer without a
 * length, so the connection is reset, where its kind can be.
 */
export function cut(out: Outgoing): void {
  if (out instanceof ServerResponse) {
    const { socket, req } = out
    const isTcp = socket?.remoteAddress !== undefined && !('encrypted' in socket)
    if (isTcp && req.httpVersionMajor === 1 && req.httpVersionMinor === 0) socket.resetAndDestroy()
  }
  out.destroy()
}
