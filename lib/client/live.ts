import type { Socket } from 'socket.io-client'
import { keyOf, keyText } from './address.js'
import { markWritten } from './fresh.js'
import { EventOrder, type Verdict, versionIn } from './order.js'
import type { CallOptions, ClientOptions, Key, ListParameters, Live, LiveHandlers, Stop } from './types.js'

interface Surroundings {
  readonly address: string
  readonly settings: ClientOptions
  readonly list: (parameters: ListParameters, options: CallOptions) => Promise<{ readonly items: readonly object[] }>
}

interface Ears extends LiveHandlers {
  readonly onConnect?: () => void
}

/** What the hub tells. */
interface Told {
  readonly OnCreated: (record: object) => void
  readonly OnUpdated: (record: object) => void
  /** Behind the version, or in its place, Socket.IO's recovery has an offset of its own, which is text. */
  readonly OnDeleted: (key: Key, version?: unknown) => void
  readonly OnMissed: () => void
}

/** Milliseconds from one list to the next that events ask for. */
const LISTING = 250
/** Milliseconds over which clients spread what they do when all of them have missed events. */
const SPREAD = 1000
/** Milliseconds until a list that failed, or a connection that the server ended, with its token perhaps, is tried again. */
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
      let pause = AGAIN
      try {
        const { items } = await surroundings.list(parameters, { signal: ended.signal })
        isListed = true
        pause = LISTING
        if (!ended.signal.aborted) onChange(items)
      } catch (error) {
        // A request that was refused would be refused again.
        const { status } = Object(error)
        isDue ||= !status || status > 499
        if (!ended.signal.aborted) complain(error)
      }
      await new Promise((resolve) => setTimeout(resolve, pause))
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
    markWritten(surroundings.address)
    void list()
  }

  // Listed once connected: what happens after that is told, and what happened before is in the list.
  const stop = connect(surroundings, {
    onCreated: changed,
    onUpdated: changed,
    onDeleted: changed,
    onMissed: changed,
    onConnect: () => {
      if (!isListed) changed()
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
  const { onCreated, onUpdated, onDeleted, onMissed, onConnect, onState } = ears
  const keys = [settings.key ?? 'id'].flat()
  const order = new EventOrder()
  let socket: Socket<Told> | null = null
  let isStopped = false
  let wasLive = false
  let missing: ReturnType<typeof setTimeout> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  async function open(): Promise<void> {
    onState?.('connecting')
    const { io } = await import('socket.io-client')
    if (isStopped) return
    const { token } = settings
    const hub: Socket<Told> = io(hubAddress(address, settings.hub), {
      forceNew: true,
      // Long polling needs sticky sessions at a load balancer, and a WebSocket does not. Polling is the fallback.
      transports: ['websocket', 'polling'],
      tryAllTransports: true,
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
    const again = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => hub.connect(), AGAIN)
    }
    hub.on('connect', () => {
      const isWhole = !wasLive || hub.recovered
      wasLive = true
      onState?.('live')
      onConnect?.()
      if (!isWhole) onMissed?.()
    })
    hub.on('OnCreated', (record) => tell(judge(record, true), () => onCreated?.(record)))
    hub.on('OnUpdated', (record) => tell(judge(record, false), () => onUpdated?.(record)))
    hub.on('OnDeleted', (key, given) => {
      const version = typeof given === 'number' ? given : undefined
      tell(order.deleted(keyText(key), versionIn(version)), () => onDeleted?.(key, version))
    })
    hub.on('OnMissed', () => {
      missing ??= setTimeout(() => {
        missing = undefined
        onMissed?.()
      }, Math.random() * SPREAD)
    })
    hub.on('disconnect', (reason) => {
      if (isStopped) return
      onState?.('offline')
      // The server's own word, at the end of a token for one: Socket.IO leaves it to us to come back.
      if (reason === 'io server disconnect') again()
    })
    hub.on('connect_error', (error: Error & { data?: { status?: unknown } }) => {
      if (isStopped) return
      const isRefused = !hub.active && REFUSALS.has(error.data?.status)
      onState?.(isRefused ? 'refused' : 'offline', error)
      if (!hub.active && !isRefused) again()
    })
  }

  /** Judges a created or updated record by its version. */
  function judge(record: object, isCreated: boolean): Verdict {
    const members: Readonly<Record<string, unknown>> = { ...record }
    if (keys.some((name) => members[name] === undefined || members[name] === null)) return 'news'
    const version = versionIn(members[settings.version ?? 'rowVersion'])
    return order.wrote(keyText(keyOf(record, keys)), version, isCreated)
  }

  function tell(verdict: Verdict, news: () => void): void {
    if (verdict === 'news') news()
    else if (verdict === 'unclear') onMissed?.()
  }

  open().catch((error: unknown) => {
    // Without the library there is no connection, and nothing to retry.
    if (!isStopped) onState?.('refused')
    throwLater(error)
  })
  return () => {
    isStopped = true
    clearTimeout(timer)
    clearTimeout(missing)
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
