// The socket of a connection, which no driver destroys by itself while a statement waits for its answer.

import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

/** Where the drivers have the socket: pg in its connection, mysql2 in `stream`, mariadb in the emitter of its events. */
interface Client {
  readonly connection?: { readonly stream?: Socket }
  readonly stream?: Socket
}

function socketOf(client: EventEmitter & Client): Socket | undefined {
  return client.stream ?? client.connection?.stream ?? emitterOf(client).socket
}

/** The emitter of the events of a connection, which Node gives to listeners as `this`. */
function emitterOf(client: EventEmitter): { readonly socket?: Socket } {
  let emitter = {}
  const look = function (this: object): void {
    emitter = this
  }
  client.once('newListener', look)
  client.once('end', look)
  client.off('end', look)
  return emitter
}

/**
 * Destroys the socket of a connection. Neither side waits for the other, and the system does not send what the server has not received. TLS
 * has no such end, and closes. So does a socket that is ending: Node would keep it open.
 */
export function reset(connection: object): void {
  const socket = socketOf(connection as EventEmitter & Client)
  if (socket?.writable !== true) return void socket?.destroy()
  try {
    socket.resetAndDestroy()
  } catch {
    socket.destroy()
  }
}
