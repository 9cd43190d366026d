import { type Change, createChangeNotifier } from '../providers/changes.js'
import type { ClientResource } from '../providers/resources.js'

/** Event for a subscriber, with the ids of changed records. Without ids, any record may have changed. */
export interface RealtimeEvent {
  readonly topic: string
  readonly type: Change['type']
  readonly payload: { readonly ids: Change['ids'] }
  readonly date: Date
}

type Callback = (event: RealtimeEvent) => void

/** Methods for react-admin's realtime features. Topics are `resource/players`, and `resource/players/7` for one record. */
export interface Realtime {
  subscribe(topic: string, callback: Callback): Promise<{ data: null }>
  unsubscribe(topic: string, callback: Callback): Promise<{ data: null }>
}

export function createRealtime(resourceOf: (name: string) => ClientResource): Realtime {
  const listen = createChangeNotifier()
  const stops: { readonly topic: string; readonly callback: Callback; readonly stop: () => void }[] = []
  return {
    subscribe: async (topic, callback) => {
      const [, name, id] = /^resource\/([^/]+)(?:\/(.+))?$/.exec(topic) ?? []
      if (name === undefined) throw new TypeError(`Unknown topic ${topic}. Use one such as resource/players.`)
      const stop = listen(resourceOf(name), ({ type, ids }) => {
        if (id !== undefined && ids.length > 0 && !ids.some((each) => String(each) === id)) return
        callback({ topic, type, payload: { ids }, date: new Date() })
      })
      stops.push({ topic, callback, stop })
      return { data: null }
    },
    unsubscribe: async (topic, callback) => {
      const at = stops.findIndex((each) => each.topic === topic && each.callback === callback)
      if (at >= 0) for (const { stop } of stops.splice(at, 1)) stop()
      return { data: null }
    },
  }
}
