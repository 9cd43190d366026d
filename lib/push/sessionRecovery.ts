import { AsyncLocalStorage } from 'node:async_hooks'
import type { Namespace } from '../../types/push.js'
import type { Admission, ConnectionRequest } from './admission.js'
import { hasSessionEnded } from './connections.js'
import { isRoom, isSliceOf } from './room.js'

type Adapter = Namespace['adapter']
type Session = Awaited<ReturnType<Adapter['restoreSession']>>

/** The method of a namespace that creates sockets. Socket.IO does not export its type. */
interface NamespaceInternals {
  _createSocket?: (
    client: { readonly request: ConnectionRequest['request'] },
    auth: ConnectionRequest['handshake']['auth'],
  ) => Promise<unknown>
}

/** The connection that Socket.IO is creating. Socket.IO does not pass the connection to `restoreSession`. */
const connectionRequests = new AsyncLocalStorage<ConnectionRequest>()

/** Records each connection that Socket.IO creates, so that `createRestoreSession` can read its handshake. */
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
 * Wraps an adapter's `restoreSession`. A session is restored only if its caller would be put into the session's room
 * today. Other callers get a new connection. Middlewares could not check this, because Socket.IO sends missed events
 * before they run.
 */
export function createRestoreSession(
  restore: (pid: string, offset: string) => Promise<Session>,
  admit: (connection: ConnectionRequest) => Promise<Admission>,
): Adapter['restoreSession'] {
  return async (pid, offset) => {
    const connection = connectionRequests.getStore()
    const admission = connection === undefined ? null : await admit(connection).catch(() => null)
    // The session is restored after the admission, so that its missed events include events sent during the admission.
    const session = admission === null ? null : await restore(pid, offset)
    const { room } = admission ?? { room: '' }
    const isOwnRoom = (name: string): boolean => !isRoom(name) || name === room || isSliceOf(room, name)
    const isOwn = session && !hasSessionEnded(session.data) && [...session.rooms].every(isOwnRoom)
    return isOwn ? session : (null as never)
  }
}
