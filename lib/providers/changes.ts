import type { Key } from '../client/index.js'
import { idsOf } from './records.js'
import type { Resource } from './resources.js'

/** What happened to records of a resource; without ids, to some that are not named, or that somebody may have missed. */
export interface Change {
  readonly type: 'created' | 'updated' | 'deleted'
  readonly ids: readonly (string | number)[]
}

type Listener = (change: Change) => void

/** Tells listeners of changes over one connection for each resource, which is open as long as somebody listens. */
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
    // The same function may listen twice, and end one of the two.
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
