import type { Socket } from 'socket.io-client'
import { keyOf, keyText } from './address.js'
import { EventOrder, parseVersion, type Verdict } from './eventOrder.js'
import { noteWrite, originOf } from './readYourWrites.js'
import { LONGEST_WAIT, pause, readRetryAfter } from './send.js'
import type { CallOptions, ClientOptions, Key, ListParameters, Live, LiveHandlers, Stop } from './types.js'

interface LiveContext {
  readonly address: string
  readonly settings: ClientOptions
  readonly list: (parameters: ListParameters, options: CallOptions) => Promise<{ readonly items: readonly object[] }>
}

interface ConnectionHandlers extends Omit<LiveHandlers, 'onState'> {
  readonly onState?: LiveHandlers['onState'] | undefined
  readonly onConnect?: () => void
}

type PushedRecord = Readonly<Record<string, unknown>>

/** Push events of the hub, with their arguments. */
interface HubEvents {
  readonly OnCreated: (record: PushedRecord) => void
  readonly OnUpdated: (record: PushedRecord) => void
  /**
   * For its connection state recovery, Socket.IO appends a text to the arguments. Without a version, `version` is this
   * text.
   */
  readonly OnDeleted: (key: Key, version?: unknown) => void
  readonly OnMissed: () => void
}

/** Minimum milliseconds between two list requests that events cause. */
const LIST_INTERVAL = 250
/** Milliseconds over which clients spread their requests after an interruption that affects all clients. */
const RECONNECT_SPREAD = 1000
/** Milliseconds before the client retries a failed list request, or a connection that the server ended. */
const RETRY_DELAY = 1000

/** HTTP statuses that a retry by the same caller does not change. */
const REFUSAL_STATUSES: ReadonlySet<unknown> = new Set([401, 403])

/**
 * Creates `live` for a resource: a function that receives events, with `records`, which keeps an array equal to the
 * list.
 */
export function createLive(surroundings: LiveContext): Live {
  return Object.assign((handlers: LiveHandlers) => connect(surroundings, handlers), {
    records: (...given: Parameters<Live['records']>) => mirrorRecords(surroundings, ...given),
  })
}

function mirrorRecords(
  surroundings: LiveContext,
  ...[parameters, onChange, { onState, onError = console.error } = {}]: Parameters<Live['records']>
): Stop {
  const ended = new AbortController()
  let isDue = false
  let isListing = false
  let isListed = false

  /** Requests the list. Changes during a request cause another request. */
  async function list(): Promise<void> {
    isDue = true
    if (isListing) return
    isListing = true
    while (isDue && !ended.signal.aborted) {
      isDue = false
      let wait = RETRY_DELAY
      try {
        const { items } = await surroundings.list(parameters, { signal: ended.signal })
        isListed = true
        wait = LIST_INTERVAL
        if (!ended.signal.aborted) onChange(items)
      } catch (error) {
        // A request that the server rejected is not retried, unless it was one of too many. After a timeout, the same
        // request would probably exceed the timeout again. An error of `onChange` is not an error of the request.
        const { status, code, response } = Object(error)
        isDue ||= wait === RETRY_DELAY && (!status || status === 429 || (status > 499 && code !== 'timeout'))
        wait = Math.min(Math.max(wait, readRetryAfter(response) || 0), LONGEST_WAIT)
        // An error of `onError` itself is uncaught, and does not end the connection.
        if (!ended.signal.aborted) queueMicrotask(() => onError(error))
      }
      await pause(wait, ended.signal).catch(() => undefined)
    }
    isListing = false
  }

  function scheduleList(): void {
    noteWrite(surroundings.address)
    void list()
  }

  // The list is requested after connecting. The list contains earlier changes, and later changes arrive as events.
  const stop = connect(surroundings, {
    onCreated: scheduleList,
    onUpdated: scheduleList,
    onDeleted: scheduleList,
    onMissed: scheduleList,
    onConnect: () => {
      if (!isListed) scheduleList()
    },
    onState,
  })
  return () => {
    ended.abort()
    stop()
  }
}

/** Connects to the hub. The connection ends when it is stopped, or when the server refuses the caller. */
function connect({ address, settings }: LiveContext, ears: ConnectionHandlers): Stop {
  const origin = originOf(address)
  const hubAddress = origin + (settings.hub ?? `${address.slice(origin.length)}/hub`)
  let logged: string | undefined
  const logState: LiveHandlers['onState'] = (_, error) => {
    if (!error || error.message === logged) return
    logged = error.message
    console.error(hubAddress, logged)
  }
  const { onCreated, onUpdated, onDeleted, onMissed, onConnect, onState = logState } = ears
  const keys = [settings.key ?? 'id'].flat()
  const order = new EventOrder()
  let socket: Socket<HubEvents> | null = null
  let isStopped = false
  let wasLive = false
  let missing: ReturnType<typeof setTimeout> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined

  async function open(): Promise<void> {
    onState('connecting')
    const { io } = await import('socket.io-client')
    if (isStopped) return
    const { token } = settings
    const hub: Socket<HubEvents> = io(hubAddress, {
      forceNew: true,
      // Long polling is only the fallback, because it needs sticky sessions at a load balancer.
      transports: ['websocket', 'polling'],
      tryAllTransports: true,
      // Each attempt requests a new token, because the last token may have expired.
      auth: (done) => {
        Promise.resolve()
          .then(token)
          .then(
            (bearerToken) => done(bearerToken ? { token: bearerToken } : {}),
            () => done({}),
          )
      },
    })
    socket = hub
    const reconnect = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => hub.connect(), RETRY_DELAY + Math.random() * RECONNECT_SPREAD)
    }
    hub.on('connect', () => {
      const isWhole = !wasLive || hub.recovered
      wasLive = true
      onState('live')
      onConnect?.()
      if (!isWhole) {
        order.doubt()
        onMissed?.()
      }
    })
    hub.on('OnCreated', (record) =>
      handleEvent(
        () => judgeRecord(record, 'created'),
        () => onCreated?.(record),
      ),
    )
    hub.on('OnUpdated', (record) =>
      handleEvent(
        () => judgeRecord(record, 'updated'),
        () => onUpdated?.(record),
      ),
    )
    hub.on('OnDeleted', (key, given) => {
      const version = typeof given === 'number' ? given : undefined
      handleEvent(
        () => order.judge(keyText(key), parseVersion(version), 'deleted'),
        () => onDeleted?.(key, version),
      )
    })
    hub.on('OnMissed', () => {
      order.doubt()
      missing ??= setTimeout(() => {
        missing = undefined
        onMissed?.()
      }, Math.random() * RECONNECT_SPREAD)
    })
    hub.on('disconnect', (reason) => {
      if (isStopped) return
      onState('offline')
      // Socket.IO does not reconnect if the server ended the connection, for example because a token expired.
      if (reason === 'io server disconnect') reconnect()
    })
    hub.on('connect_error', (error: Error & { data?: { status?: unknown } }) => {
      if (isStopped) return
      const isRefused = !hub.active && REFUSAL_STATUSES.has(error.data?.status)
      onState(isRefused ? 'refused' : 'offline', error)
      if (!hub.active && !isRefused) reconnect()
    })
  }

  /** Compares the version of a created or updated record with the known version. */
  function judgeRecord(record: PushedRecord, event: 'created' | 'updated'): Verdict {
    if (keys.some((name) => (record[name] ?? null) === null)) return 'newer'
    const version = parseVersion(record[settings.version ?? 'rowVersion'])
    return order.judge(keyText(keyOf(record, keys)), version, event)
  }

  function handleEvent(judge: () => Verdict, deliver: () => void): void {
    let verdict: Verdict = 'unknown'
    try {
      verdict = judge()
    } catch {
      // The event has no record and no key, so the change is unknown.
    }
    if (verdict === 'newer') deliver()
    else if (verdict === 'unknown') onMissed?.()
  }

  open().catch((error: Error) => {
    // A retry cannot succeed, because `socket.io-client` is not installed.
    if (!isStopped) onState('refused', error)
    // An error in a microtask is uncaught, so that the browser reports it.
    queueMicrotask(() => {
      throw error
    })
  })
  return () => {
    isStopped = true
    clearTimeout(timer)
    clearTimeout(missing)
    socket?.disconnect()
  }
}
