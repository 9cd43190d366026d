import type { Namespace, Socket } from '../../types/push.js'
import { type Admission, refusalOf } from './admission.js'
import type { Cluster, Hold } from './cluster.js'
import { classOf, isRoom, isSliceOf, slicesOf } from './room.js'

/**
 * Member of `socket.data` with the connection's end. It is there so that it applies to a session that another server
 * recovers.
 */
const END = 'sequelize-crud-router:end'

/** Longest delay of a Node.js timer. */
const LONGEST = 2 ** 31 - 1

/** Milliseconds within which Socket.IO completes an admitted connection, or drops it. */
const UNCLAIMED = 5000

/** Milliseconds that are added to the recovery time, for clients that reconnect at the last moment. */
const LATE = 5000

/** Reasons for a disconnect after which Socket.IO does not recover the session. */
const FAREWELLS: ReadonlySet<string> = new Set(['client namespace disconnect', 'server namespace disconnect'])

/** An admission, and the hold on its subscription while the connection is being made. */
interface Entry {
  readonly admission: Admission
  readonly pending: Hold
}

/**
 * The connections of a hub: admits clients, puts them into rooms and ends them. A subscription is held as long as it
 * has a connection or a recoverable session.
 */
export class Connections {
  readonly #namespace: Namespace
  readonly #cluster: Cluster
  readonly #admit: (socket: Socket) => Promise<Admission>
  readonly #entries = new WeakMap<Socket, Entry>()
  readonly #holds = new WeakMap<Socket, Hold>()
  /** Number of connections that were put into rooms. It distributes them over the slices. */
  #count = 0

  constructor(namespace: Namespace, cluster: Cluster, admit: (socket: Socket) => Promise<Admission>) {
    this.#namespace = namespace
    this.#cluster = cluster
    this.#admit = admit
    namespace.use((socket, next) => {
      // A session cannot be recovered before it is admitted again.
      socket.data[END] = 0
      this.#enter(socket).then(
        () => next(),
        (error: unknown) => next(refusalOf(error)),
      )
    })
    namespace.on('connection', (socket) => this.#connected(socket))
  }

  async #enter(socket: Socket): Promise<void> {
    let kept: Hold | null = null
    try {
      // If middlewares also run for recovered connections, the socket is in its old room and already receives events.
      kept = this.#oldClass(socket)
      const entry = await this.#entry(socket)
      this.#entries.set(socket, entry)
      // A later middleware may refuse the connection, or the client may be gone. Socket.IO reports neither.
      setTimeout(entry.pending.release, UNCLAIMED).unref()
    } finally {
      kept?.release()
    }
  }

  /** Admits a connection. Resolves after all servers know its subscription. */
  async #entry(socket: Socket): Promise<Entry> {
    const admission = await this.#admit(socket)
    const pending = this.#cluster.hold(admission.text)
    await pending.told
    return { admission, pending }
  }

  #connected(socket: Socket): void {
    const entry = this.#entries.get(socket)
    if (entry !== undefined) {
      this.#settle(socket, entry)
      return
    }
    // Socket.IO skips middlewares for recovered connections, but the policy or the token may have changed meanwhile.
    const lift = suspend(socket)
    this.#renewed(socket).then(
      (renewed) => {
        lift()
        this.#settle(socket, renewed)
      },
      () => socket.disconnect(),
    )
  }

  async #renewed(socket: Socket): Promise<Entry> {
    const kept = this.#oldClass(socket)
    if (kept !== null) this.#keep(socket, kept)
    return this.#entry(socket)
  }

  /**
   * Holds the subscription of a recovered connection, which is already in its room. Returns null for a new connection.
   */
  #oldClass({ rooms }: Socket): Hold | null {
    for (const room of rooms) {
      const text = classOf(room)
      if (text !== null) return this.#cluster.hold(text)
    }
    return null
  }

  /** Puts a connection into the rooms of its admission, and schedules its end. */
  #settle(socket: Socket, { admission, pending }: Entry): void {
    if (socket.connected) {
      const { text, room, end } = admission
      const slice = [...socket.rooms].find((name) => isSliceOf(room, name)) ?? this.#sliceOf(room)
      for (const name of socket.rooms) if (name !== room && name !== slice && isRoom(name)) socket.leave(name)
      socket.join([room, slice])
      this.#keep(socket, this.#cluster.hold(text))
      delete socket.data[END]
      if (end !== null) {
        socket.data[END] = end
        endAt(socket, end)
      }
    }
    pending.release()
  }

  #sliceOf(room: string): string {
    const slices = slicesOf(room)
    this.#count += 1
    return slices[this.#count % slices.length] ?? room
  }

  /** Replaces the connection's previous hold. */
  #keep(socket: Socket, hold: Hold): void {
    const before = this.#holds.get(socket)
    this.#holds.set(socket, hold)
    if (before !== undefined) {
      before.release()
      return
    }
    socket.once('disconnect', (reason) => {
      const { release } = this.#holds.get(socket) ?? hold
      const duration = FAREWELLS.has(reason) ? 0 : recoveryOf(this.#namespace)
      // A client that reconnects within this time receives the events that it missed, on any server.
      if (duration > 0) setTimeout(release, duration).unref()
      else release()
    })
  }
}

/** Milliseconds during which a disconnected client may recover its session, or 0 if recovery is off. */
export function recoveryOf({ server }: Namespace): number {
  const { connectionStateRecovery: recovery } = server._opts
  if (!recovery) return 0
  return Math.min((recovery.maxDisconnectionDuration ?? 0) + LATE, LONGEST)
}

function endOf(data: unknown): number | null {
  const end: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, END) : undefined
  return typeof end === 'number' ? end : null
}

/** Whether a session has ended, by `socket.data`. */
export function isOver(data: unknown): boolean {
  const end = endOf(data)
  return end !== null && !(end > Date.now())
}

/**
 * Blocks recovery of the session while a recovered connection is authorized again. The connection still ends at its
 * previous end. Returns the function that cancels the scheduled end.
 */
function suspend(socket: Socket): () => void {
  const end = endOf(socket.data)
  socket.data[END] = 0
  return end === null ? () => undefined : endAt(socket, end)
}

/** Disconnects a socket at an instant, or now if `end` is NaN. Returns the function that cancels it. */
function endAt(socket: Socket, end: number): () => void {
  let timer: NodeJS.Timeout | undefined
  const release = (): void => clearTimeout(timer)
  const look = (): void => {
    const left = end - Date.now()
    if (left > 0) timer = setTimeout(look, Math.min(left, LONGEST)).unref()
    else socket.disconnect()
  }
  socket.once('disconnect', release)
  look()
  return release
}
