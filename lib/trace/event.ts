import type { Change, PushEvent } from '../../types/push.js'
import type { EventMessage, RequestMessage } from '../../types/trace.js'
import { currentCause, EVENTS, isTraced, type Mutable, traceCause } from './channels.js'

/** The instant of a change's commit, and the request that made the change. */
interface ChangeOrigin {
  readonly at: number
  readonly cause: RequestMessage | null
}

const origins = new WeakMap<Change, ChangeOrigin>()

/** Stores the origin of changes, if any channel has subscribers. */
export function noteOrigin(changes: readonly Change[]): void {
  if (!isTraced()) return
  const now = currentCause()
  const origin = { at: performance.now(), cause: now?.kind === 'request' ? now : null }
  for (const change of changes) origins.set(change, origin)
}

/** The message of a push event while the event is sent. */
export class TracedEvent {
  readonly #message: Mutable<EventMessage>

  constructor(message: Mutable<EventMessage>) {
    this.#message = message
  }

  /**
   * Counts a payload. `rooms` are its rooms, or null for all clients. `recipients` is the number of its sockets in this
   * process.
   */
  addRecipients(rooms: ReadonlySet<string> | null, recipients: number): void {
    this.#message.payloads += 1
    this.#message.rooms += rooms?.size ?? 0
    this.#message.recipients += recipients
  }
}

/** Sends a push event and publishes its message to subscribers. */
export function traceEvent(
  { resource, path, change }: { readonly resource: string; readonly path: string; readonly change: Change },
  send: (watched: TracedEvent) => Promise<void>,
): Promise<void> {
  const origin = origins.get(change)
  const event: PushEvent = change.event
  const message: Mutable<EventMessage> = {
    kind: 'event',
    resource,
    path,
    event,
    cause: origin?.cause ?? null,
    waited: origin === undefined ? 0 : performance.now() - origin.at,
    duration: null,
    payloads: 0,
    rooms: 0,
    recipients: 0,
    statements: 0,
    databaseTime: 0,
    error: null,
  }
  const watched = new TracedEvent(message)
  return traceCause(EVENTS, message, () => send(watched))
}
