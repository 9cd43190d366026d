import { AsyncLocalStorage } from 'node:async_hooks'
import type { Namespace } from '../../types/push.js'
import type { Admission, ConnectionRequest } from './admission.js'
import { hasSessionEnded } from './connections.js'
import { isRoom, isSliceOf } from './room.js'

type Adapter = Namespace['adapter']
type Session = Awaited<ReturnType<Adapter['restoreSession']>>

/** The method of a namespace that makes connections. Socket.IO does not export its type. */
interface NamespaceInternals {
  _createSocket?: (
    client: { readonly request: ConnectionRequest['request'] },
    auth: ConnectionRequest['handshake']['auth'],
  ) => Promise<unknown>
}

/** The connection being made. Socket.IO looks for a session without passing on whose it is. */
const connectionRequests = new AsyncLocalStorage<ConnectionRequest>()

/** Makes the connection available to `createRestoreSession`, from the first step on. */
export function trackConnectionRequests(namespace: Namespace): void {
  const making = namespace as unknown as NamespaceInternals
  const create = making._createSocket
  if (typeof create !== 'function') return
  making._createSocket = (client, auth) => {
    return connectionRequests.run({ request: client.request, handshake: { auth } }, () =>
      create.call(namespace, client, auth),
    )
  }
}

/**
 * Restores a session only if its caller would be put into the same room today. Socket.IO joins the rooms and sends
 * missed events before any middleware runs. Other callers get a new connection.
 */
export function createRestoreSession(
  restore: (pid: string, offset: string) => Promise<Session>,
  admit: (asking: ConnectionRequest) => Promise<Admission>,
): Adapter['restoreSession'] {
  return async (pid, offset) => {
    const asker = connectionRequests.getStore()
    const admission = asker === undefined ? null : await admit(asker).catch(() => null)
    // Restored after the admission, so that events sent meanwhile are among the missed ones.
    const session = admission === null ? null : await restore(pid, offset)
    const { room } = admission ?? { room: '' }
    const isOwnRoom = (name: string): boolean => !isRoom(name) || name === room || isSliceOf(room, name)
    const isOwn = session && !hasSessionEnded(session.data) && [...session.rooms].every(isOwnRoom)
    return isOwn ? session : (null as never)
  }
}
