import type { Namespace, Socket } from '../../types/push.js'
import { type Admission, toConnectionError } from './admission.js'
import type { ClusterSubscriptions, SubscriptionReference } from './cluster.js'
import { isRoom, isSliceOf, readSubscriptionText, slicesOf } from './room.js'

/**
 * Member of `socket.data` with the instant at which the connection ends. Another server that recovers the session
 * receives this member.
 */
const END_KEY = 'sequelize-crud-router:end'

/** Longest delay of a Node.js timer. */
const MAX_TIMEOUT = 2 ** 31 - 1

/** Milliseconds within which Socket.IO completes an admitted connection, or drops it. */
const CONNECT_TIMEOUT = 5000

/** Milliseconds that are added to the recovery time, for clients that reconnect at the last moment. */
const RECOVERY_GRACE = 5000

/** Reasons for a disconnect after which Socket.IO does not recover the session. */
const FINAL_REASONS: ReadonlySet<string> = new Set(['client namespace disconnect', 'server namespace disconnect'])

/** An admitted connection, with its reference to the subscription. */
interface AdmittedConnection {
  readonly admission: Admission
  readonly reference: SubscriptionReference
}

/**
 * Admits the clients of a hub, puts them into rooms and disconnects them. A subscription keeps a reference as long as
 * it has a connection or a recoverable session.
 */
export class Connections {
  readonly #namespace: Namespace
  readonly #cluster: ClusterSubscriptions
  readonly #admit: (socket: Socket) => Promise<Admission>
  readonly #admitted = new WeakMap<Socket, AdmittedConnection>()
  readonly #references = new WeakMap<Socket, SubscriptionReference>()
  /** Number of connections that were put into rooms so far. The number chooses the slice of the next connection. */
  #count = 0

  constructor(namespace: Namespace, cluster: ClusterSubscriptions, admit: (socket: Socket) => Promise<Admission>) {
    this.#namespace = namespace
    this.#cluster = cluster
    this.#admit = admit
    namespace.use((socket, next) => {
      // An end in the past blocks recovery of the session until the connection is admitted.
      socket.data[END_KEY] = 0
      this.#admitNew(socket).then(
        () => next(),
        (error: unknown) => next(toConnectionError(error)),
      )
    })
    namespace.on('connection', (socket) => this.#handleConnection(socket))
  }

  async #admitNew(socket: Socket): Promise<void> {
    let recovered: SubscriptionReference | null = null
    try {
      // If middlewares also run for recovered connections, the socket is still in its old room and receives events.
      recovered = this.#acquireRecovered(socket)
      const admitted = await this.#acquireAdmission(socket)
      this.#admitted.set(socket, admitted)
      // A later middleware may refuse the connection, or the client may be gone. Socket.IO reports neither.
      setTimeout(admitted.reference.release, CONNECT_TIMEOUT).unref()
    } finally {
      recovered?.release()
    }
  }

  /** Admits a connection. Resolves after all servers know its subscription. */
  async #acquireAdmission(socket: Socket): Promise<AdmittedConnection> {
    const admission = await this.#admit(socket)
    const pending = this.#cluster.acquire(admission.subscriptionText)
    await pending.published
    return { admission, reference: pending }
  }

  #handleConnection(socket: Socket): void {
    const admitted = this.#admitted.get(socket)
    if (admitted !== undefined) {
      this.#joinRooms(socket, admitted)
      return
    }
    // Socket.IO skips middlewares for recovered connections, but the policy or the token may have changed meanwhile.
    const lift = suspendSession(socket)
    this.#readmit(socket).then(
      (renewed) => {
        lift()
        this.#joinRooms(socket, renewed)
      },
      () => socket.disconnect(),
    )
  }

  async #readmit(socket: Socket): Promise<AdmittedConnection> {
    const recovered = this.#acquireRecovered(socket)
    if (recovered !== null) this.#replaceReference(socket, recovered)
    return this.#acquireAdmission(socket)
  }

  /**
   * Adds a reference to the subscription of a recovered connection, which is already in its room. Returns null for a
   * new connection.
   */
  #acquireRecovered({ rooms }: Socket): SubscriptionReference | null {
    for (const room of rooms) {
      const text = readSubscriptionText(room)
      if (text !== null) return this.#cluster.acquire(text)
    }
    return null
  }

  /** Puts a connection into the rooms of its admission, and schedules its end. */
  #joinRooms(socket: Socket, { admission, reference }: AdmittedConnection): void {
    if (socket.connected) {
      const { subscriptionText, room, endsAt } = admission
      const slice = [...socket.rooms].find((name) => isSliceOf(room, name)) ?? this.#nextSlice(room)
      for (const name of socket.rooms) if (name !== room && name !== slice && isRoom(name)) socket.leave(name)
      socket.join([room, slice])
      this.#replaceReference(socket, this.#cluster.acquire(subscriptionText))
      delete socket.data[END_KEY]
      if (endsAt !== null) {
        socket.data[END_KEY] = endsAt
        disconnectAt(socket, endsAt)
      }
    }
    reference.release()
  }

  #nextSlice(room: string): string {
    const slices = slicesOf(room)
    this.#count += 1
    return slices[this.#count % slices.length] ?? room
  }

  /**
   * Replaces the connection's reference to a subscription. The last reference is released after the client has
   * disconnected.
   */
  #replaceReference(socket: Socket, reference: SubscriptionReference): void {
    const before = this.#references.get(socket)
    this.#references.set(socket, reference)
    if (before !== undefined) {
      before.release()
      return
    }
    socket.once('disconnect', (reason) => {
      const { release } = this.#references.get(socket) ?? reference
      const duration = FINAL_REASONS.has(reason) ? 0 : recoveryDurationOf(this.#namespace)
      // A client that reconnects within this time receives its missed events, on any server.
      if (duration > 0) setTimeout(release, duration).unref()
      else release()
    })
  }
}

/** Milliseconds during which a disconnected client may recover its session, or 0 if recovery is off. */
export function recoveryDurationOf({ server }: Namespace): number {
  const { connectionStateRecovery: recovery } = server._opts
  if (!recovery) return 0
  return Math.min((recovery.maxDisconnectionDuration ?? 0) + RECOVERY_GRACE, MAX_TIMEOUT)
}

function readEnd(data: unknown): number | null {
  const end: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, END_KEY) : undefined
  return typeof end === 'number' ? end : null
}

/** Whether a session has ended, according to its `socket.data`. */
export function hasSessionEnded(data: unknown): boolean {
  const end = readEnd(data)
  return end !== null && !(end > Date.now())
}

/**
 * Blocks recovery of a session while its recovered connection is authorized again. The connection still ends at its
 * previous end. Returns a function that cancels the scheduled end.
 */
function suspendSession(socket: Socket): () => void {
  const end = readEnd(socket.data)
  socket.data[END_KEY] = 0
  return end === null ? () => undefined : disconnectAt(socket, end)
}

/**
 * Disconnects a socket at an instant in milliseconds since the epoch, or at once if `end` is NaN. Returns a function
 * that cancels the scheduled disconnect.
 */
function disconnectAt(socket: Socket, end: number): () => void {
  let timer: NodeJS.Timeout | undefined
  const cancel = (): void => clearTimeout(timer)
  const check = (): void => {
    const remaining = end - Date.now()
    if (remaining > 0) timer = setTimeout(check, Math.min(remaining, MAX_TIMEOUT)).unref()
    else socket.disconnect()
  }
  socket.once('disconnect', cancel)
  check()
  return cancel
}
