import { AsyncLocalStorage } from 'node:async_hooks'
import type { Namespace } from '../../types/push.js'
import type { Admission, Asking } from './admission.js'
import { isOver } from './connections.js'
import { isRoom, isSliceOf } from './room.js'

type Adapter = Namespace['adapter']
type Session = Awaited<ReturnType<Adapter['restoreSession']>>

/** What makes the connections of a namespace. Socket.IO's own types keep it to themselves. */
interface Making {
  _createSocket?: (
    client: { readonly request: Asking['request'] },
    auth: Asking['handshake']['auth'],
  ) => Promise<unknown>
}

/** Who a connection is being made for: Socket.IO looks for the session of one that comes back without a word of who does. */
const asking = new AsyncLocalStorage<Asking>()

/** Notes who asks, from the first step of a connection on. */
export function noteAsking(namespace: Namespace): void {
  const making = namespace as unknown as Making
  const create = making._createSocket
  if (typeof create !== 'function') return
  making._createSocket = (client, auth) => {
    return asking.run({ request: client.request, handshake: { auth } }, () => create.call(namespace, client, auth))
  }
}

/**
 * Restores a session for who would be put into its room today, and for nobody else: Socket.IO sends what was missed, and joins the
 * rooms, before any middleware is asked. Whoever is refused here is connected anew, as everybody else.
 */
export function restoring(
  restore: (pid: string, offset: string) => Promise<Session>,
  admit: (asking: Asking) => Promise<Admission>,
): Adapter['restoreSession'] {
  return async (pid, offset) => {
    const asker = asking.getStore()
    const admission = asker === undefined ? null : await admit(asker).catch(() => null)
    // Only now, so that what is sent meanwhile is among what was missed.
    const session = admission === null ? null : await restore(pid, offset)
    const { room } = admission ?? { room: '' }
    const isOwnRoom = (name: string): boolean => !isRoom(name) || name === room || isSliceOf(room, name)
    const isOwn = session && !isOver(session.data) && [...session.rooms].every(isOwnRoom)
    return isOwn ? session : (null as never)
  }
}
