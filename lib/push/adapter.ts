import type { Namespace } from '../../types/push.js'
import type { Admission, Asking } from './admission.js'
import { restoring } from './recovery.js'

type Adapter = Namespace['adapter']

/** Methods that adapters of several servers publish and receive by. The in-memory adapter has neither. */
interface Publishing {
  doPublish?: (message: unknown) => Promise<unknown>
  onMessage?: (message: unknown, offset?: unknown) => void
}

/** The flag of a broadcast that says which server has sent it, and its number. Adapters hand it on as it is. */
const NUMBERED = 'sequelize-crud-router:numbered'

/** The type of a broadcast among the messages of adapters. */
const BROADCAST = 3

/** Milliseconds after which what waits to be published counts as stuck. */
const PATIENCE = 5000

export interface WatchSettings {
  readonly admit: (asking: Asking) => Promise<Admission>
  readonly report: (error: unknown) => void
  /** Called for each event of another server that has arrived. */
  readonly arrived: (server: string, number: number) => void
  /** Called where an event was not published. */
  readonly failed: () => void
  /** Whether sessions may be gone on with: no client has missed an event of late. */
  readonly isWhole: () => boolean
}

/** The flags of a broadcast with its number, among those of its server. */
export function numbered(server: string, number: number): Readonly<Record<string, unknown>> {
  return { [NUMBERED]: [server, number] }
}

/** Whether events of other servers can be counted as they arrive. */
export function isCounting({ adapter }: Namespace): boolean {
  return 'onMessage' in adapter
}

/**
 * Watches a namespace's adapter, which swallows its failures and tells nobody what arrives, and holds sessions back that may not go
 * on. Hosts may set another adapter at any time.
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

/** The broadcast in a message of an adapter; null where it is of another kind. */
function broadcastIn(message: unknown): Broadcast | null {
  const { type, data }: { readonly type?: unknown; readonly data?: Broadcast } = Object(message)
  return type === BROADCAST && typeof data === 'object' ? data : null
}

function numberOf(message: unknown): readonly unknown[] {
  const given = broadcastIn(message)?.opts?.flags?.[NUMBERED]
  return Array.isArray(given) ? given : []
}

/** Says what an adapter has failed to publish. */
function unpublished(message: unknown, path: string, cause: unknown): Error {
  const event = broadcastIn(message)?.packet?.data?.[0]
  const what = typeof event === 'string' ? `${event} of ${path}` : `a message of ${path} to the other servers`
  return new Error(`push: the Socket.IO adapter could not publish ${what}: ${textOf(cause)}`, { cause })
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Tells once when some things are under way and none of them comes to an end. */
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
