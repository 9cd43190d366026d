import type { Socket } from 'socket.io-client'
import type { CallOptions, ClientOptions, Key, ListParameters, Live, LiveHandlers, Stop } from './types.js'

interface Surroundings {
  readonly address: string
  readonly settings: ClientOptions
  readonly list: (parameters: ListParameters, options: CallOptions) => Promise<{ readonly items: readonly object[] }>
}

interface Ears extends LiveHandlers {
  /** The connection stands; `isWhole` where nothing was missed since the last one. */
  readonly onConnect?: (isWhole: boolean) => void
}

/** What the hub tells. */
interface Told {
  readonly OnCreated: (record: object) => void
  readonly OnUpdated: (record: object) => void
  readonly OnDeleted: (key: Key) => void
}

/** Milliseconds between two lists that events ask for. */
const LISTING = 250
/** Milliseconds until a connection that the server ended, with its token perhaps, is tried again. */
const AGAIN = 1000

/** Statuses that another attempt with the same caller does not change. */
const REFUSALS: ReadonlySet<unknown> = new Set([401, 403])

/** Live connections of a resource: of events, and of an array that is what the list answers. */
export function liveOf(surroundings: Surroundings): Live {
  return Object.assign((handlers: LiveHandlers) => connect(surroundings, handlers), {
    records: (...given: Parameters<Live['records']>) => recordsTo(surroundings, ...given),
  })
}

function recordsTo(
  surroundings: Surroundings,
  ...[parameters, onChange, { onState, onError } = {}]: Parameters<Live['records']>
): Stop {
  const ended = new AbortController()
  let isDue = false
  let isListing = false
  let isListed = false

  /** What changes while a list is on its way is in the next one. */
  async function list(): Promise<void> {
    isDue = true
    if (isListing) return
    isListing = true
    while (isDue && !ended.signal.aborted) {
      isDue = false
      const started = Date.now()
      try {
        const { items } = await surroundings.list(parameters, { signal: ended.signal })
        isListed = true
        if (!ended.signal.aborted) onChange(items)
      } catch (error) {
        if (!ended.signal.aborted) complain(error)
      }
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, LISTING - (Date.now() - started))))
    }
    isListing = false
  }

  /** What the page throws in turn is the page's, and ends nothing here. */
  function complain(error: unknown): void {
    try {
      onError?.(error)
    } catch (thrown) {
      throwLater(thrown)
    }
  }

  function changed(): void {
    void list()
  }

  // Listed once connected: what happens after that is told, and what happened before is in the list.
  const stop = connect(surroundings, {
    onCreated: changed,
    onUpdated: changed,
    onDeleted: changed,
    onConnect: (isWhole) => {
      if (!isWhole || !isListed) changed()
    },
    ...(onState === undefined ? {} : { onState }),
  })
  return () => {
    ended.abort()
    stop()
  }
}

/** Connects to the hub until it is stopped, or the server does not let this caller in. */
function connect({ address, settings }: Surroundings, ears: Ears): Stop {
  const { onCreated, onUpdated, onDeleted, onConnect, onState } = ears
  let socket: Socket<Told> | null = null
  let isStopped = false
  let timer: ReturnType<typeof setTimeout> | undefined

  async function open(): Promise<void> {
    onState?.('connecting')
    const { io } = await import('socket.io-client')
    if (isStopped) return
    const { token } = settings
    const hub: Socket<Told> = io(hubAddress(address, settings.hub), {
      forceNew: true,
      // Asked for each attempt: the last one may have ended.
      auth: (done) => {
        Promise.resolve(null)
          .then(() => token?.())
          .then(
            (held) => done(held ? { token: held } : {}),
            () => done({}),
          )
      },
    })
    socket = hub
    hub.on('connect', () => {
      onState?.('live')
      onConnect?.(hub.recovered)
    })
    hub.on('OnCreated', (record) => onCreated?.(record))
    hub.on('OnUpdated', (record) => onUpdated?.(record))
    hub.on('OnDeleted', (key) => onDeleted?.(key))
    hub.on('disconnect', (reason) => {
      if (isStopped) return
      onState?.('offline')
      // The server's own word, at the end of a token for one: Socket.IO leaves it to us to come back.
      if (reason === 'io server disconnect') again(hub)
    })
    hub.on('connect_error', (error: Error & { data?: { status?: unknown } }) => {
      if (isStopped) return
      const isRefused = !hub.active && REFUSALS.has(error.data?.status)
      onState?.(isRefused ? 'refused' : 'offline')
      if (!hub.active && !isRefused) again(hub)
    })
  }

  function again(hub: Socket<Told>): void {
    clearTimeout(timer)
    timer = setTimeout(() => hub.connect(), AGAIN)
  }

  open().catch((error: unknown) => {
    // Without the library there is no connection, and nothing to retry.
    if (!isStopped) onState?.('refused')
    throwLater(error)
  })
  return () => {
    isStopped = true
    clearTimeout(timer)
    socket?.disconnect()
  }
}

/** Tells the page of an error as of any that nobody has caught. */
function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}

/** The hub's namespace: at the resource's own origin, whatever the page's path is. */
function hubAddress(address: string, hub: string | undefined): string {
  const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/]+/i.exec(address)?.[0] ?? ''
  return `${origin}${hub ?? `${address.slice(origin.length)}/hub`}`
}
