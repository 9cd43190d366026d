import type { LiveEvent, LiveProvider } from '@refinedev/core'
import { createChangeNotifier } from '../providers/changes.js'
import { createResourceFinder, type ProviderOptions } from '../providers/resources.js'

const CHANNEL = 'resources/'

/**
 * Creates a live provider that uses the push hubs: `<Refine liveProvider={...} options={{ liveMode: 'auto' }}>`. Refine
 * loads visible lists and records again after each change and after each reconnection.
 */
export function liveProvider(apiUrl: string, options: ProviderOptions = {}): LiveProvider {
  const resourceOf = createResourceFinder(apiUrl, options)
  const listen = createChangeNotifier()
  return {
    subscribe: ({ channel, types, callback, params, meta }) => {
      const name = params?.resource ?? (channel.startsWith(CHANNEL) ? channel.slice(CHANNEL.length) : '')
      if (name === '') throw new TypeError(`The channel ${channel} is not one such as resources/players.`)
      const watchedIds = params?.ids?.map(String)
      return listen(resourceOf(name), ({ type, ids }) => {
        const isMissed = ids.length === 0
        if (!isMissed && !types.includes('*') && !types.includes(type)) return
        if (!isMissed && watchedIds !== undefined && !ids.some((id) => watchedIds.includes(String(id)))) return
        const event: LiveEvent = { channel, type, payload: { ids: [...ids] }, date: new Date() }
        callback(meta === undefined ? event : { ...event, meta })
      })
    },
    unsubscribe: (stop: unknown) => {
      if (typeof stop === 'function') stop()
    },
  }
}
