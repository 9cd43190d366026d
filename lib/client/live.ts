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

/** Events of the hub. */
interface Told {
  readonly OnCreated: (record: object) => void
  readonly OnUpdated: (record: object) => void
  /** Socket.IO's connection state recovery adds a text offset, after the version or in its place. */
  readonly OnDeleted: (key: Key, version?: unknown) => void
  readonly OnMissed: () => void
}

/** Milliseconds between two list requests that events cause. */
const LISTING = 250
/** Milliseconds over which clients spread their requests after a common interruption. */
const SPREAD = 1000
/** Milliseconds before a failed list request, or a connection that the server ended, is retried. */
const AGAIN = 1000

/** Statuses that a retry by the same caller does not change. */
const REFUSALS: ReadonlySet<unknown> = new Set([401, 403])

/** Live connections of a resource: events, and an array that mirrors the list. */
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

  /** Changes during a list request trigger another request. */
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
        // Does not retry a request that was refused.
        const { status } = Object(error)
        isDue ||= !status || status > 499
        if (!ended.signal.aborted) complain(error)
      }
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
    isListing = false
  }

  /** Reports errors of the page's own handlers without ending the connection. */
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

  // Lists after connecting: later changes arrive as events, and earlier changes are in the list.
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

/** Connects to the hub until stopped, or until the server refuses the caller. */
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
      // Long polling is the fallback, because it needs sticky sessions at a load balancer.
      transports: ['websocket', 'polling'],
      tryAllTransports: true,
      // A new token for each attempt, because the last one may have expired.
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
      // The server ended the connection, for example because a token expired. Socket.IO does not reconnect by itself then.
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
    // `socket.io-client` is missing, so a retry is pointless.
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

/** Throws an error asynchronously, so that the page reports it as uncaught. */
function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}

/** URL of the hub's namespace, at the origin of the resource. */
function hubAddress(address: string, hub: string | undefined): string {
  const origin = /^[a-z][a-z\d+.-]*:\/\/[^/]+/i.exec(address)?.[0] ?? ''
  return `${origin}${hub ?? `${address.slice(origin.length)}/hub`}`
}
