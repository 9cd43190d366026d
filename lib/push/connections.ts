import type { Namespace, Socket } from '../../types/push.js'
import { type Admission, refusalOf } from './admission.js'
import type { Cluster, Hold } from './cluster.js'
import { classOf, isRoom, isSliceOf, slicesOf } from './room.js'

/** Where a connection's end is kept, so that it holds for a session that another server goes on with. */
const END = 'sequelize-crud-router:end'

/** The longest delay that timers take. */
const LONGEST = 2 ** 31 - 1

/** Milliseconds in which a connection that was let in is made, or never will be. */
const UNCLAIMED = 5000

/** Milliseconds by which a session that is gone on with at the last moment may be late. */
const LATE = 5000

/** Ends of a connection behind which no session is gone on with. */
const FAREWELLS: ReadonlySet<string> = new Set(['client namespace disconnect', 'server namespace disconnect'])

/** What somebody was let in for, and their class while the connection is being made. */
interface Entry {
  readonly admission: Admission
  readonly pending: Hold
}

/**
 * The connections of a hub: who is let in, where each is put, when it ends. As long as there is a connection of a class, or
 * a session that may still be gone on with, the class is held.
 */
export class Connections {
  readonly #namespace: Namespace
  readonly #cluster: Cluster
  readonly #admit: (socket: Socket) => Promise<Admission>
  readonly #entries = new WeakMap<Socket, Entry>()
  readonly #holds = new WeakMap<Socket, Hold>()
  /** How many connections were put into rooms: they take turns among the slices. */
  #count = 0

  constructor(namespace: Namespace, cluster: Cluster, admit: (socket: Socket) => Promise<Admission>) {
    this.#namespace = namespace
    this.#cluster = cluster
    this.#admit = admit
    namespace.use((socket, next) => {
      // A session that is not let in again is over.
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
      // Where middlewares are asked of recovered connections too, it hears of its old class already.
      kept = this.#oldClass(socket)
      const entry = await this.#entry(socket)
      this.#entries.set(socket, entry)
      // Others may refuse it yet, or it is gone by now, of which nobody is told.
      setTimeout(entry.pending.release, UNCLAIMED).unref()
    } finally {
      kept?.release()
    }
  }

  /** Lets a connection in, once all servers know its class. */
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
    // Socket.IO asks no middleware of a connection that it recovers, whose policy or token may be another by now.
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

  /** The class of a recovered connection, which is in its room already; null for those that are new. */
  #oldClass({ rooms }: Socket): Hold | null {
    for (const room of rooms) {
      const text = classOf(room)
      if (text !== null) return this.#cluster.hold(text)
    }
    return null
  }

  /** Puts a connection where its admission says, and ends it when that ends. */
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

  /** Holds the class of a connection instead of what was held for it before. */
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
      // Until then a client that comes back is given what it has missed, in whatever process.
      if (duration > 0) setTimeout(release, duration).unref()
      else release()
    })
  }
}

/** Milliseconds for which the session of a connection that was cut may be gone on with; 0 for not at all. */
export function recoveryOf({ server }: Namespace): number {
  const { connectionStateRecovery: recovery } = server._opts
  if (!recovery) return 0
  return Math.min((recovery.maxDisconnectionDuration ?? 0) + LATE, LONGEST)
}

function endOf(data: unknown): number | null {
  const end: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, END) : undefined
  return typeof end === 'number' ? end : null
}

/** Whether a session has ended, by the data of its connection. */
export function isOver(data: unknown): boolean {
  const end = endOf(data)
  return end !== null && !(end > Date.now())
}

/**
 * Until it is known whether a recovered connection is let in again, it ends when it would have, and no other goes on with
 * its session. Gives the way to lift that.
 */
function suspend(socket: Socket): () => void {
  const end = endOf(socket.data)
  socket.data[END] = 0
  return end === null ? () => undefined : endAt(socket, end)
}

/** Ends a connection at an instant, which is now where it is no number. Gives the way to leave it be. */
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
