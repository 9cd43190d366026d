import type { Namespace } from '../../types/push.js'
import type { Admission, Asking } from './admission.js'
import { restoring } from './recovery.js'

type Adapter = Namespace['adapter']

/** Methods by which cluster adapters publish and receive messages. The in-memory adapter has neither. */
interface Publishing {
  doPublish?: (message: unknown) => Promise<unknown>
  onMessage?: (message: unknown, offset?: unknown) => void
}

/** Flag of a broadcast: the sending server and the event's number. Adapters pass flags on unchanged. */
const NUMBERED = 'sequelize-crud-router:numbered'

/** Message type of a broadcast in Socket.IO's cluster adapters. */
const BROADCAST = 3

/** Milliseconds without progress after which publishing is reported as stuck. */
const PATIENCE = 5000

export interface WatchSettings {
  readonly admit: (asking: Asking) => Promise<Admission>
  readonly report: (error: unknown) => void
  /** Called for each event that arrives from another server. */
  readonly arrived: (server: string, number: number) => void
  /** Called when an event could not be published. */
  readonly failed: () => void
  /** Whether sessions may be recovered: no client has missed an event recently. */
  readonly isWhole: () => boolean
}

/** Broadcast flags with the event's number, counted per server. */
export function numbered(server: string, number: number): Readonly<Record<string, unknown>> {
  return { [NUMBERED]: [server, number] }
}

/** Whether events from other servers can be counted on arrival. */
export function isCounting({ adapter }: Namespace): boolean {
  return 'onMessage' in adapter
}

/**
 * Wraps a namespace's adapter. The adapter hides its failures and does not report arrivals. Session recovery is denied
 * when it is not safe. Hosts may replace the adapter at any time.
 */
export function watch(namespace: Namespace, settings: WatchSettings): void {
  let { adapter } = namespace
  watchOne(adapter, settings)
  Object.defineProperty(namespace, 'adapter', {
    configurable: true,
    enumerable: true,
    get: () => adapter,
    set: (next: Adapter) => {
      if (next !== adapter) watchOne(next, settings)
      adapter = next
    },
  })
}

function watchOne(adapter: Adapter, { admit, report, arrived, failed, isWhole }: WatchSettings): void {
  const restore = restoring(adapter.restoreSession.bind(adapter), admit)
  adapter.restoreSession = async (pid, offset) => (isWhole() ? restore(pid, offset) : (null as never))
  const publishing = adapter as Adapter & Publishing
  const { doPublish, onMessage } = publishing
  const { name } = adapter.nsp
  if (onMessage !== undefined) {
    publishing.onMessage = (message, offset) => {
      onMessage.call(adapter, message, offset)
      const [server, number] = numberOf(message)
      if (typeof server === 'string' && typeof number === 'number') arrived(server, number)
    }
  }
  if (doPublish === undefined) return
  const pulse = new Pulse(() => {
    report(
      new Error(`push: the Socket.IO adapter has not published anything of ${name} for ${PATIENCE / 1000} seconds`),
    )
  })
  publishing.doPublish = (message) => {
    const published = doPublish.call(adapter, message)
    pulse.begin()
    const fail = (error: unknown): void => {
      if (broadcastIn(message) !== null) failed()
      report(unpublished(message, name, error))
    }
    published.catch(fail).finally(() => pulse.end())
    return published
  }
}

interface Broadcast {
  readonly packet?: { readonly data?: readonly unknown[] }
  readonly opts?: { readonly flags?: Readonly<Record<string, unknown>> }
}

/** The broadcast in an adapter's message, or null for other kinds of messages. */
function broadcastIn(message: unknown): Broadcast | null {
  const { type, data }: { readonly type?: unknown; readonly data?: Broadcast } = Object(message)
  return type === BROADCAST && typeof data === 'object' ? data : null
}

function numberOf(message: unknown): readonly unknown[] {
  const given = broadcastIn(message)?.opts?.flags?.[NUMBERED]
  return Array.isArray(given) ? given : []
}

/** Builds the error for a message that the adapter could not publish. */
function unpublished(message: unknown, path: string, cause: unknown): Error {
  const event = broadcastIn(message)?.packet?.data?.[0]
  const what = typeof event === 'string' ? `${event} of ${path}` : `a message of ${path} to the other servers`
  return new Error(`push: the Socket.IO adapter could not publish ${what}: ${textOf(cause)}`, { cause })
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Calls `stuck` once when work is in progress and none of it ends within PATIENCE. */
class Pulse {
  readonly #stuck: () => void
  #open = 0
  #ended = 0
  #timer: NodeJS.Timeout | null = null

  constructor(stuck: () => void) {
    this.#stuck = stuck
  }

  begin(): void {
    this.#open += 1
    if (this.#timer === null) this.#listen(false)
  }

  end(): void {
    this.#open -= 1
    this.#ended += 1
  }

  #listen(isTold: boolean): void {
    const before = this.#ended
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (this.#open === 0) return
      const isStuck = this.#ended === before
      if (isStuck && !isTold) this.#stuck()
      this.#listen(isStuck)
    }, PATIENCE).unref()
  }
}
