import type { Key } from '../client/index.js'
import { idsOf } from './records.js'
import type { ClientResource } from './resources.js'

/** A change of records. Without ids, the changed records are unknown because events may have been missed. */
export interface Change {
  readonly type: 'created' | 'updated' | 'deleted'
  readonly ids: readonly (string | number)[]
}

type Listener = (change: Change) => void

/**
 * Creates the function that adds a listener for changes and returns its removal. Each resource has one connection,
 * which is open while it has listeners.
 */
export function createChangeNotifier(): (resource: ClientResource, listener: Listener) => () => void {
  const connections = new Map<string, { readonly listeners: Set<Listener>; readonly stop: () => void }>()

  function openConnection(resource: ClientResource): { readonly listeners: Set<Listener>; readonly stop: () => void } {
    const listeners = new Set<Listener>()
    const notifyListeners = (type: Change['type'], ...ids: Change['ids']): void => {
      for (const listener of [...listeners]) listener({ type, ids })
    }
    const stop = resource.client.live({
      onCreated: (row) => notifyListeners('created', ...idsOf(resource, row)),
      onUpdated: (row) => notifyListeners('updated', ...idsOf(resource, row)),
      onDeleted: (key) => notifyListeners('deleted', keyToId(key)),
      onMissed: () => notifyListeners('updated'),
    })
    return { listeners, stop }
  }

  return (resource, listener) => {
    const room = connections.get(resource.name) ?? openConnection(resource)
    connections.set(resource.name, room)
    // Each call adds a new function, because one listener may subscribe twice and unsubscribe once.
    const ownListener: Listener = (change) => listener(change)
    room.listeners.add(ownListener)
    return () => {
      if (!room.listeners.delete(ownListener) || room.listeners.size > 0) return
      connections.delete(resource.name)
      room.stop()
    }
  }
}

function keyToId(key: Key): string | number {
  return typeof key === 'number' ? key : String(key)
}
