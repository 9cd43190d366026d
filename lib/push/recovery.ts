import { AsyncLocalStorage } from 'node:async_hooks'
import type { Namespace } from '../../types/push.js'
import type { Admission, Asking } from './admission.js'
import { isOver } from './connections.js'
import { isRoom, isSliceOf } from './room.js'

type Adapter = Namespace['adapter']
type Session = Awaited<ReturnType<Adapter['restoreSession']>>

/** The method of a namespace that makes connections. Socket.IO does not export its type. */
interface Making {
  _createSocket?: (
    client: { readonly request: Asking['request'] },
    auth: Asking['handshake']['auth'],
  ) => Promise<unknown>
}

/** The connection being made. Socket.IO looks for a session without passing on whose it is. */
const asking = new AsyncLocalStorage<Asking>()

/** Makes the connection available to `restoring`, from the first step on. */
export function noteAsking(namespace: Namespace): void {
  const making = namespace as unknown as Making
  const create = making._createSocket
  if (typeof create !== 'function') return
  making._createSocket = (client, auth) => {
    return asking.run({ request: client.request, handshake: { auth } }, () => create.call(namespace, client, auth))
  }
}

/**
 * Restores a session only if its caller would be put into the same room today. Socket.IO joins the rooms and sends
 * missed events before any middleware runs. Other callers get a new connection.
 */
export function restoring(
  restore: (pid: string, offset: string) => Promise<Session>,
  admit: (asking: Asking) => Promise<Admission>,
): Adapter['restoreSession'] {
  return async (pid, offset) => {
    const asker = asking.getStore()
    const admission = asker === undefined ? null : await admit(asker).catch(() => null)
    // Restored after the admission, so that events sent meanwhile are among the missed ones.
    const session = admission === null ? null : await restore(pid, offset)
    const { room } = admission ?? { room: '' }
    const isOwnRoom = (name: string): boolean => !isRoom(name) || name === room || isSliceOf(room, name)
    const isOwn = session && !isOver(session.data) && [...session.rooms].every(isOwnRoom)
    return isOwn ? session : (null as never)
  }
}
