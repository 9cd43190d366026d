import type { Namespace } from '../../types/push.js'
import type { Admission, ConnectionRequest } from './admission.js'
import { createRestoreSession } from './sessionRecovery.js'

type Adapter = Namespace['adapter']

/** Methods with which cluster adapters publish and receive messages. The in-memory adapter has neither method. */
interface AdapterMethods {
  doPublish?: (message: unknown) => Promise<unknown>
  onMessage?: (message: unknown, offset?: unknown) => void
}

/** Flag of a broadcast: the sending server and the event's number. Adapters pass flags on unchanged. */
const NUMBER_FLAG = 'sequelize-crud-router:numbered'

/** Message type of a broadcast in Socket.IO's cluster adapters. */
const BROADCAST = 3

/** Milliseconds without progress after which publishing is reported as stuck. */
const PUBLISH_TIMEOUT = 5000

export interface AdapterSettings {
  readonly admitConnection: (connection: ConnectionRequest) => Promise<Admission>
  readonly report: (error: unknown) => void
  /** Called for each event that arrives from another server. */
  readonly onArrival: (server: string, number: number) => void
  /** Called when an event could not be published. */
  readonly onFailure: () => void
  /** Whether sessions may be recovered, because no client has missed an event recently. */
  readonly canRestoreSessions: () => boolean
}

/** Broadcast flags with the event's number, counted per server. */
export function createNumberFlags(server: string, number: number): Readonly<Record<string, unknown>> {
  return { [NUMBER_FLAG]: [server, number] }
}

/** Whether events from other servers can be counted on arrival. */
export function canCountEvents({ adapter }: Namespace): boolean {
  return 'onMessage' in adapter
}

/**
 * Wraps a namespace's adapter, because adapters report neither failures nor arriving events. Session recovery is denied
 * while clients may have missed events. Hosts may replace the adapter at any time.
 */
export function observeAdapter(namespace: Namespace, settings: AdapterSettings): void {
  let { adapter } = namespace
  patchAdapter(adapter, settings)
  Object.defineProperty(namespace, 'adapter', {
    configurable: true,
    enumerable: true,
    get: () => adapter,
    set: (next: Adapter) => {
      if (next !== adapter) patchAdapter(next, settings)
      adapter = next
    },
  })
}

function patchAdapter(
  adapter: Adapter,
  { admitConnection, report, onArrival, onFailure, canRestoreSessions }: AdapterSettings,
): void {
  const restore = createRestoreSession(adapter.restoreSession.bind(adapter), admitConnection)
  adapter.restoreSession = async (pid, offset) => (canRestoreSessions() ? restore(pid, offset) : (null as never))
  const publishing = adapter as Adapter & AdapterMethods
  const { doPublish, onMessage } = publishing
  const { name } = adapter.nsp
  if (onMessage !== undefined) {
    publishing.onMessage = (message, offset) => {
      onMessage.call(adapter, message, offset)
      const [server, number] = readNumber(message)
      if (typeof server === 'string' && typeof number === 'number') onArrival(server, number)
    }
  }
  if (doPublish === undefined) return
  const pulse = new StuckDetector(() => {
    report(
      new Error(
        `push: the Socket.IO adapter did not publish a message of ${name} within ${PUBLISH_TIMEOUT / 1000} seconds. Check its connection`,
      ),
    )
  })
  publishing.doPublish = (message) => {
    const published = doPublish.call(adapter, message)
    pulse.begin()
    const reportFailure = (error: unknown): void => {
      if (readBroadcast(message) !== null) onFailure()
      report(createPublishError(message, name, error))
    }
    published.catch(reportFailure).finally(() => pulse.end())
    return published
  }
}

interface Broadcast {
  readonly packet?: { readonly data?: readonly unknown[] }
  readonly opts?: { readonly flags?: Readonly<Record<string, unknown>> }
}

/** The broadcast in an adapter's message, or null for other kinds of messages. */
function readBroadcast(message: unknown): Broadcast | null {
  const { type, data }: { readonly type?: unknown; readonly data?: Broadcast } = Object(message)
  return type === BROADCAST && typeof data === 'object' ? data : null
}

function readNumber(message: unknown): readonly unknown[] {
  const given = readBroadcast(message)?.opts?.flags?.[NUMBER_FLAG]
  return Array.isArray(given) ? given : []
}

/** Builds the error for a message that the adapter could not publish. */
function createPublishError(message: unknown, path: string, cause: unknown): Error {
  const event = readBroadcast(message)?.packet?.data?.[0]
  const what = typeof event === 'string' ? `${event} of ${path}` : `a message of ${path} for the other servers`
  return new Error(`push: the Socket.IO adapter could not publish ${what}: ${errorMessage(cause)}`, { cause })
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Calls `stuck` once if work is in progress and no work ends within PUBLISH_TIMEOUT. */
class StuckDetector {
  readonly #onStuck: () => void
  #pending = 0
  #finished = 0
  #timer: NodeJS.Timeout | null = null

  constructor(stuck: () => void) {
    this.#onStuck = stuck
  }

  begin(): void {
    this.#pending += 1
    if (this.#timer === null) this.#scheduleCheck(false)
  }

  end(): void {
    this.#pending -= 1
    this.#finished += 1
  }

  #scheduleCheck(isReported: boolean): void {
    const before = this.#finished
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (this.#pending === 0) return
      const isStuck = this.#finished === before
      if (isStuck && !isReported) this.#onStuck()
      this.#scheduleCheck(isStuck)
    }, PUBLISH_TIMEOUT).unref()
  }
}
