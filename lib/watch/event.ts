import type { Change, PushEvent } from '../../types/push.js'
import type { EventMessage, RequestMessage } from '../../types/watch.js'
import { causeNow, EVENTS, type Growing, isWatched, traceCause } from './channels.js'

/** When a change was committed, and by which request. */
interface Origin {
  readonly at: number
  readonly cause: RequestMessage | null
}

const origins = new WeakMap<Change, Origin>()

/** Remembers where changes come from, where somebody listens. */
export function noteOrigin(changes: readonly Change[]): void {
  if (!isWatched()) return
  const now = causeNow()
  const origin = { at: performance.now(), cause: now?.kind === 'request' ? now : null }
  for (const change of changes) origins.set(change, origin)
}

/** What becomes known of an event that is watched. */
export class WatchedEvent {
  readonly #message: Growing<EventMessage>

  constructor(message: Growing<EventMessage>) {
    this.#message = message
  }

  /** One payload was sent to some rooms, or to everybody (null), in which there are so many sockets of this process. */
  sent(rooms: ReadonlySet<string> | null, recipients: number): void {
    this.#message.payloads += 1
    this.#message.rooms += rooms?.size ?? 0
    this.#message.recipients += recipients
  }
}

/** Tells subscribers of a change, of which those are told who listen. */
export function tellWatched(
  { resource, path, change }: { readonly resource: string; readonly path: string; readonly change: Change },
  tell: (watched: WatchedEvent) => Promise<void>,
): Promise<void> {
  const origin = origins.get(change)
  const event: PushEvent = change.event
  const message: Growing<EventMessage> = {
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
  const watched = new WatchedEvent(message)
  return traceCause(EVENTS, message, () => tell(watched))
}
