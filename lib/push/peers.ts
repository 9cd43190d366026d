import { randomUUID } from 'node:crypto'
import type { Namespace, Server } from '../../types/push.js'
import { getOrCreate } from '../common/getOrCreate.js'
import type { GapDetector } from './gapDetector.js'

const HEARTBEAT_EVENT = 'sequelize-crud-router:beat'

/** Milliseconds between two heartbeats. */
const HEARTBEAT_INTERVAL = 1000

/** Number of heartbeats without a message from another server, after which that server counts as lost. */
const LOST_AFTER = 3

/** Number of heartbeats without a message from a lost server, after which that server is removed. */
const FORGOTTEN_AFTER = 300

/** A hub of this server. */
export interface LocalHub {
  readonly gapDetector: GapDetector
  /** Whether the adapter allows arriving events to be counted. */
  readonly canCountEvents: () => boolean
  /** Sends `OnMissed` to the clients, now or as soon as possible. */
  readonly noteMissed: () => void
  /** Sends `OnMissed` again if an earlier attempt failed. */
  readonly sendMissed: () => void
  /** Milliseconds since clients last missed events, or null if no missed events are known. */
  readonly missedAgo: () => number | null
  /** Repeats the subscriptions of the clients, for a server that may not know them. */
  readonly announce: () => void
  /** Records that clients of another server missed events this many milliseconds ago. */
  readonly noteMissedElsewhere: (ago: number) => void
}

/** The message that each server sends every second. The message has the counters of the server's hubs by path. */
interface Heartbeat {
  readonly server: string
  /** Number of the heartbeat, counted per server. */
  readonly number: number
  readonly hubs: ReadonlyMap<string, readonly [sent: number, missedAgo: number | null]>
  /** Whether the server has just started and needs the heartbeats of the other servers. */
  readonly isNew: boolean
  readonly isLast: boolean
}

interface Peer {
  /** Number of this server's own heartbeat when the peer's last message arrived. */
  lastHeartbeat: number
  lastMessageAt: number
  number: number
  isLost: boolean
  paths: readonly string[]
}

const peersByServer = new WeakMap<Server, Peers>()

/** The other servers in the cluster of a Socket.IO server. */
export function peersOf(io: Server): Peers {
  return getOrCreate(peersByServer, io, () => new Peers(io))
}

/**
 * Exchanges heartbeats with the other servers of the cluster. Heartbeats have the number of sent events, so that other
 * servers detect missing events. A server without heartbeats counts as lost: it may have committed changes without
 * sending their events.
 */
export class Peers {
  readonly #root: Namespace
  readonly #server = randomUUID()
  readonly #hubs = new Map<string, LocalHub>()
  readonly #peers = new Map<string, Peer>()
  #timer: NodeJS.Timeout | null = null
  #isSending = false
  #number = 0
  /** Number of servers in the cluster, including this one. */
  #count = 1
  /**
   * Number of heartbeats that this server could send. The number does not rise while its connection is interrupted, so
   * that no peer counts as lost.
   */
  #heartbeats = 0

  constructor(io: Server) {
    this.#root = io.of('/')
    this.#root.on(
      HEARTBEAT_EVENT as never,
      ((message: unknown) => this.#receiveHeartbeat(readHeartbeat(message))) as never,
    )
  }

  get server(): string {
    return this.#server
  }

  /** Adds a hub. Returns the function that removes it. */
  join(path: string, member: LocalHub): () => void {
    this.#hubs.set(path, member)
    if (this.#timer === null) {
      this.#timer = setInterval(() => void this.#sendHeartbeat(), HEARTBEAT_INTERVAL).unref()
      setImmediate(() => void this.#sendHeartbeat({ isNew: true }))
    }
    return () => {
      if (this.#hubs.get(path) !== member) return
      const isLast = this.#hubs.size === 1
      // The last heartbeat does not wait for the server count, because the adapter may be closed before the answer
      // arrives.
      if (isLast && this.#count > 1) this.#publishHeartbeat({ isLast }).catch(() => undefined)
      this.#hubs.delete(path)
      if (!isLast || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
      this.#peers.clear()
    }
  }

  async #sendHeartbeat(more: Partial<Heartbeat> = {}): Promise<void> {
    for (const member of this.#hubs.values()) member.sendMissed()
    if (this.#isSending) return
    this.#isSending = true
    try {
      // `serverCount` rejects without a connection, and no peer counts as lost. A single server sends no heartbeats.
      this.#count = await this.#root.adapter.serverCount()
      if (this.#count > 1) await this.#publishHeartbeat(more)
      this.#heartbeats += 1
      this.#findLostPeers()
    } catch {
      // The hubs' adapters report messages that cannot be published.
    } finally {
      this.#isSending = false
    }
  }

  async #publishHeartbeat({ isNew = false, isLast = false }: Partial<Heartbeat>): Promise<void> {
    this.#number += 1
    const hubs = [...this.#hubs].map(([path, { gapDetector, missedAgo }]) => [path, gapDetector.sentCount, missedAgo()])
    await this.#root.adapter.serverSideEmit([
      HEARTBEAT_EVENT,
      { server: this.#server, number: this.#number, hubs, isNew, isLast },
    ])
  }

  #receiveHeartbeat(beat: Heartbeat | null): void {
    if (beat === null || beat.server === this.#server || this.#timer === null) return
    const peer = this.#peers.get(beat.server)
    const isBack = peer === undefined || isSilent(peer)
    const isWhole = peer === undefined || (!isBack && beat.number === peer.number + 1)
    for (const [path, [sent, missedAgo]] of beat.hubs) {
      const member = this.#hubs.get(path)
      // The server may have forgotten subscriptions during the silence, or may not know those that began in it.
      if (isBack) member?.announce()
      if (missedAgo !== null) member?.noteMissedElsewhere(missedAgo)
      if (member?.canCountEvents() === true) member.gapDetector.noteSent(beat.server, sent)
      else if (!isWhole) member?.noteMissed()
    }
    const arrival = { lastHeartbeat: this.#heartbeats, lastMessageAt: Date.now(), number: beat.number }
    // A server that ends sends a last heartbeat. `isLost` is already true then, so that the end of its heartbeats is
    // not reported.
    this.#peers.set(beat.server, { ...arrival, isLost: beat.isLast, paths: [...beat.hubs.keys()] })
    if (beat.isNew) void this.#sendHeartbeat()
  }

  #findLostPeers(): void {
    for (const [server, peer] of this.#peers) {
      const silent = this.#heartbeats - peer.lastHeartbeat
      if (silent > FORGOTTEN_AFTER) {
        this.#peers.delete(server)
        for (const { gapDetector } of this.#hubs.values()) gapDetector.forget(server)
      } else if (silent > LOST_AFTER && !peer.isLost) {
        peer.isLost = true
        for (const path of peer.paths) this.#hubs.get(path)?.noteMissed()
      }
    }
  }
}

function isSilent({ lastMessageAt }: Peer): boolean {
  return Date.now() - lastMessageAt > 2.5 * HEARTBEAT_INTERVAL
}

/** Reads the heartbeat from another server's message. Returns null if the message is malformed. */
function readHeartbeat(message: unknown): Heartbeat | null {
  if (typeof message !== 'object' || message === null) return null
  const { server, number, hubs, isNew, isLast }: Readonly<Record<string, unknown>> = { ...message }
  if (typeof server !== 'string' || !Number.isSafeInteger(number) || !Array.isArray(hubs)) return null
  return {
    server,
    number: Number(number),
    hubs: new Map(hubs.flatMap(readHub)),
    isNew: isNew === true,
    isLast: isLast === true,
  }
}

function readHub(given: unknown): readonly (readonly [string, readonly [number, number | null]])[] {
  if (!Array.isArray(given)) return []
  const [path, sent, ago]: unknown[] = given
  if (typeof path !== 'string' || !Number.isSafeInteger(sent)) return []
  return [[path, [Number(sent), typeof ago === 'number' ? ago : null]]]
}
