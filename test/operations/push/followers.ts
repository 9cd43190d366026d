// Followers of a hub: each keeps what it takes for the list, as an application would.

import { io } from 'socket.io-client'
import { resource } from '../../../lib/client/index.js'
import { dataProvider } from '../../../lib/react-admin/index.js'

export interface Order {
  readonly id: number
  readonly product: string
  readonly rowVersion: number
}

/** The versions of records by their keys. */
export type Versions = ReadonlyMap<number, number>

export interface Follower {
  readonly name: string
  readonly records: () => Versions
  /** How often it was told to list again. */
  readonly missed: () => number
  readonly stop: () => void
}

/** The list as one of the processes answers it. */
export async function listAt(url: string): Promise<Versions> {
  const response = await fetch(`${url}/api/orders?pageSize=5000&count=none`)
  const { items }: { readonly items: readonly Order[] } = JSON.parse(await response.text())
  return versionsOf(items)
}

function versionsOf(orders: readonly Order[]): Versions {
  return new Map(orders.map(({ id, rowVersion }) => [id, rowVersion]))
}

/** What is known from a list and from the events since it was asked for, by the rules of docs/push.md. */
class Known {
  #records = new Map<number, number>()
  readonly #gone = new Map<number, number>()

  get records(): Versions {
    return this.#records
  }

  wrote({ id, rowVersion }: Order): void {
    if (rowVersion < (this.#records.get(id) ?? 0) || rowVersion <= (this.#gone.get(id) ?? -1)) return
    this.#records.set(id, rowVersion)
  }

  deleted(id: number, version: unknown): void {
    const known = typeof version === 'number' ? version : Number.MAX_SAFE_INTEGER
    if (known < (this.#records.get(id) ?? 0)) return
    this.#records.delete(id)
    this.#gone.set(id, known)
  }

  /** Takes a list for what is there, but for what was heard since. */
  listed(list: Versions, since: ReadonlySet<number>): void {
    for (const id of this.#records.keys()) if (!list.has(id) && !since.has(id)) this.#records.delete(id)
    for (const [id, rowVersion] of list) this.wrote({ id, rowVersion, product: '' })
  }
}

/** Lists for a follower: once more after a list during which another one was asked for, and after one that failed. */
function lister(url: string, take: (list: Versions, since: ReadonlySet<number>) => void) {
  const since = new Set<number>()
  let isDue = false
  let isListing = false
  let isStopped = false
  async function list(): Promise<void> {
    isDue = true
    if (isListing) return
    isListing = true
    while (isDue && !isStopped) {
      isDue = false
      since.clear()
      try {
        take(await listAt(url), since)
      } catch {
        isDue = true
        await new Promise((resolve) => setTimeout(resolve, 500))
      }
    }
    isListing = false
  }
  return { list, since, stop: () => (isStopped = true) }
}

/** A bare socket, with what docs/push.md tells to do. */
export function followBare(url: string, name: string): Follower {
  const known = new Known()
  const { list, since, stop } = lister(url, (found, heard) => known.listed(found, heard))
  let missed = 0
  const socket = io(`${url}/api/orders/hub`, { transports: ['websocket'], forceNew: true })
  const put = (order: Order): void => {
    since.add(order.id)
    known.wrote(order)
  }
  socket.on('connect', () => {
    if (!socket.recovered) void list()
  })
  socket.on('OnCreated', put)
  socket.on('OnUpdated', put)
  socket.on('OnDeleted', (id: number, version: unknown) => {
    since.add(id)
    known.deleted(id, version)
  })
  socket.on('OnMissed', () => {
    missed += 1
    void list()
  })
  return {
    name,
    records: () => known.records,
    missed: () => missed,
    stop: () => {
      stop()
      socket.disconnect()
    },
  }
}

/** The events of the typed client. */
export function followEvents(url: string, name: string): Follower {
  const known = new Known()
  const { list, since, stop } = lister(url, (found, heard) => known.listed(found, heard))
  let missed = 0
  let isListed = false
  const put = (order: Order): void => {
    since.add(order.id)
    known.wrote(order)
  }
  const end = resource<Order>(`${url}/api/orders`).live({
    onCreated: put,
    onUpdated: put,
    onDeleted: (key, version) => {
      since.add(Number(key))
      known.deleted(Number(key), version)
    },
    onMissed: () => {
      missed += 1
      void list()
    },
    onState: (state) => {
      if (state !== 'live' || isListed) return
      isListed = true
      void list()
    },
  })
  return {
    name,
    records: () => known.records,
    missed: () => missed,
    stop: () => {
      stop()
      end()
    },
  }
}

/** The array that the typed client keeps. */
export function followRecords(url: string, name: string): Follower {
  let records: Versions = new Map()
  const api = resource<Order>(`${url}/api/orders`)
  let missed = 0
  const stops = [
    api.live.records({ pageSize: 5000, count: 'none' }, (orders) => (records = versionsOf(orders))),
    api.live({ onMissed: () => (missed += 1) }),
  ]
  return {
    name,
    records: () => records,
    missed: () => missed,
    stop: () => {
      for (const stop of stops) stop()
    },
  }
}

/** A list of react-admin that its realtime features load again at each event. */
export function followReactAdmin(url: string, name: string): Follower {
  const provider = dataProvider(`${url}/api`)
  let records: Versions = new Map()
  let missed = 0
  let isDue = false
  let isListing = false
  let isStopped = false
  async function load(): Promise<void> {
    isDue = true
    if (isListing) return
    isListing = true
    while (isDue && !isStopped) {
      isDue = false
      try {
        const { data } = await provider.getList<Order>('orders', {
          pagination: { page: 1, perPage: 5000 },
          sort: { field: 'id', order: 'ASC' },
          filter: {},
        })
        records = versionsOf(data)
      } catch {
        isDue = true
      }
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    isListing = false
  }
  const hear = ({ payload }: { readonly payload: { readonly ids: readonly unknown[] } }): void => {
    if (payload.ids.length === 0) missed += 1
    void load()
  }
  void provider.subscribe('resource/orders', hear)
  void load()
  return {
    name,
    records: () => records,
    missed: () => missed,
    stop: () => {
      isStopped = true
      void provider.unsubscribe('resource/orders', hear)
    },
  }
}
