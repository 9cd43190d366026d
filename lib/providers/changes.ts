import type { Key } from '../client/index.js'
import { idsOf } from './records.js'
import type { Resource } from './resources.js'

/** A change of records. Without ids, the changed records are unknown, or events may have been missed. */
export interface Change {
  readonly type: 'created' | 'updated' | 'deleted'
  readonly ids: readonly (string | number)[]
}

type Listener = (change: Change) => void

/** Notifies listeners of changes, over one connection per resource. The connection is open while there are listeners. */
export function changesIn(): (resource: Resource, listener: Listener) => () => void {
  const heard = new Map<string, { readonly listeners: Set<Listener>; readonly stop: () => void }>()

  function open(resource: Resource): { readonly listeners: Set<Listener>; readonly stop: () => void } {
    const listeners = new Set<Listener>()
    const tell = (type: Change['type'], ...ids: Change['ids']): void => {
      for (const listener of [...listeners]) listener({ type, ids })
    }
    const stop = resource.client.live({
      onCreated: (row) => tell('created', ...idsOf(resource, row)),
      onUpdated: (row) => tell('updated', ...idsOf(resource, row)),
      onDeleted: (key) => tell('deleted', idOfKey(key)),
      onMissed: () => tell('updated'),
    })
    return { listeners, stop }
  }

  return (resource, listener) => {
    const room = heard.get(resource.name) ?? open(resource)
    heard.set(resource.name, room)
    // A new function per call: the same listener may subscribe twice and unsubscribe once.
    const own: Listener = (change) => listener(change)
    room.listeners.add(own)
    return () => {
      if (!room.listeners.delete(own) || room.listeners.size > 0) return
      heard.delete(resource.name)
      room.stop()
    }
  }
}

function idOfKey(key: Key): string | number {
  return typeof key === 'number' ? key : String(key)
}
