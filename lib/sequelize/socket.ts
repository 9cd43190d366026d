// Access to the socket of a connection. Drivers do not destroy the socket while a statement is running.

import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'

/**
 * Location of the socket in each driver: pg has it in `connection`, mysql2 in `stream`, mariadb in its event emitter.
 */
interface SocketOwner {
  readonly connection?: { readonly stream?: Socket }
  readonly stream?: Socket
}

function socketOf(client: EventEmitter & SocketOwner): Socket | undefined {
  return client.stream ?? client.connection?.stream ?? emitterOf(client).socket
}

/** Returns the event emitter of a connection, which Node passes to listeners as `this`. */
function emitterOf(client: EventEmitter): { readonly socket?: Socket } {
  let emitter = {}
  const storeEmitter = function (this: object): void {
    emitter = this
  }
  client.once('newListener', storeEmitter)
  client.once('end', storeEmitter)
  client.off('end', storeEmitter)
  return emitter
}

/**
 * Destroys the socket of a connection with a TCP reset, without waiting and without sending pending data. A TLS socket
 * has no reset and is closed. A socket that is already ending is closed too, because Node would keep it open.
 */
export function resetSocket(connection: object): void {
  const socket = socketOf(connection as EventEmitter & SocketOwner)
  if (socket?.writable !== true) return void socket?.destroy()
  try {
    socket.resetAndDestroy()
  } catch {
    socket.destroy()
  }
}
