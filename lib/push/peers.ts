import { randomUUID } from 'node:crypto'
import type { Namespace, Server } from '../../types/push.js'
import type { Continuity } from './continuity.js'

const BEAT = 'sequelize-crud-router:beat'

/** Milliseconds between two beats. */
const INTERVAL = 1000

/** Beats without a message after which another server counts as lost. */
const PATIENCE = 3

/** Beats without a message after which a lost server is removed. */
const MEMORY = 300

/** A hub of this server. */
export interface Member {
  readonly continuity: Continuity
  /** Whether the adapter allows arriving events to be counted. */
  readonly isCounting: () => boolean
  /** Sends `OnMissed` to the clients, now or as soon as possible. */
  readonly missed: () => void
  /** Sends it again if it failed. */
  readonly settle: () => void
  /** Milliseconds since clients missed events, or null for never. */
  readonly missedAgo: () => number | null
  /** Records that clients of another server missed events this many milliseconds ago. */
  readonly missedElsewhere: (ago: number) => void
}

/** A message that each server sends every second, with the counters of its hubs by path. */
interface Beat {
  readonly server: string
  /** Number of the beat, counted per server. */
  readonly number: number
  readonly hubs: ReadonlyMap<string, readonly [sent: number, missedAgo: number | null]>
  /** Whether the server has just started and needs the beats of the other servers. */
  readonly isNew: boolean
  readonly isLast: boolean
}

interface Peer {
  /** Number of this server's own beat at which the peer was last heard. */
  heard: number
  heardAt: number
  number: number
  isLost: boolean
  paths: readonly string[]
}

const known = new WeakMap<Server, Peers>()

/** The other servers in the cluster of a Socket.IO server. */
export function peersOf(io: Server): Peers {
  const peers = known.get(io) ?? new Peers(io)
  known.set(io, peers)
  return peers
}

/**
 * Every server with hubs sends the number of its events each second. The others then know which events they have
 * missed. They also notice a server that died: it may have committed changes without sending them.
 */
export class Peers {
  readonly #root: Namespace
  readonly #server = randomUUID()
  readonly #members = new Map<string, Member>()
  readonly #peers = new Map<string, Peer>()
  #timer: NodeJS.Timeout | null = null
  #isBeating = false
  #number = 0
  /** Number of servers in the cluster, including this one. */
  #count = 1
  /** Number of beats that this server could send. While its own connection is gone, no peer counts as lost. */
  #beats = 0

  constructor(io: Server) {
    this.#root = io.of('/')
    this.#root.on(BEAT as never, ((message: unknown) => this.#hear(readBeat(message))) as never)
  }

  get server(): string {
    return this.#server
  }

  /** Adds a hub. Returns the function that removes it. */
  join(path: string, member: Member): () => void {
    this.#members.set(path, member)
    if (this.#timer === null) {
      this.#timer = setInterval(() => void this.#beat(), INTERVAL).unref()
      setImmediate(() => void this.#beat({ isNew: true }))
    }
    return () => {
      if (this.#members.get(path) !== member) return
      const isLast = this.#members.size === 1
      // Sent without asking for the server count: the adapter may be closed before the answer.
      if (isLast && this.#count > 1) this.#say({ isLast }).catch(() => undefined)
      this.#members.delete(path)
      if (!isLast || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
      this.#peers.clear()
    }
  }

  async #beat(more: Partial<Beat> = {}): Promise<void> {
    for (const member of this.#members.values()) member.settle()
    if (this.#isBeating) return
    this.#isBeating = true
    try {
      // Without an adapter connection this rejects, and no peer is judged. A single server does not send.
      this.#count = await this.#root.adapter.serverCount()
      if (this.#count > 1) await this.#say(more)
      this.#beats += 1
      this.#judge()
    } catch {
      // The hubs' adapters report what they cannot publish.
    } finally {
      this.#isBeating = false
    }
  }

  async #say({ isNew = false, isLast = false }: Partial<Beat>): Promise<void> {
    this.#number += 1
    const hubs = [...this.#members].map(([path, { continuity, missedAgo }]) => [path, continuity.sent, missedAgo()])
    await this.#root.adapter.serverSideEmit([BEAT, { server: this.#server, number: this.#number, hubs, isNew, isLast }])
  }

  #hear(beat: Beat | null): void {
    if (beat === null || beat.server === this.#server || this.#timer === null) return
    const peer = this.#peers.get(beat.server)
    const isWhole = peer === undefined || (!isSilent(peer) && beat.number === peer.number + 1)
    for (const [path, [sent, missedAgo]] of beat.hubs) {
      const member = this.#members.get(path)
      if (missedAgo !== null) member?.missedElsewhere(missedAgo)
      if (member?.isCounting() === true) member.continuity.told(beat.server, sent)
      else if (!isWhole) member?.missed()
    }
    const heard = { heard: this.#beats, heardAt: Date.now(), number: beat.number }
    // A server that has sent its last beat does not count as lost later.
    this.#peers.set(beat.server, { ...heard, isLost: beat.isLast, paths: [...beat.hubs.keys()] })
    if (beat.isNew) void this.#beat()
  }

  #judge(): void {
    for (const [server, peer] of this.#peers) {
      const silent = this.#beats - peer.heard
      if (silent > MEMORY) {
        this.#peers.delete(server)
        for (const { continuity } of this.#members.values()) continuity.forget(server)
      } else if (silent > PATIENCE && !peer.isLost) {
        peer.isLost = true
        for (const path of peer.paths) this.#members.get(path)?.missed()
      }
    }
  }
}

function isSilent({ heardAt }: Peer): boolean {
  return Date.now() - heardAt > 2.5 * INTERVAL
}

/** The beat in another server's message, or null if the message is malformed. */
function readBeat(message: unknown): Beat | null {
  if (typeof message !== 'object' || message === null) return null
  const { server, number, hubs, isNew, isLast }: Readonly<Record<string, unknown>> = { ...message }
  if (typeof server !== 'string' || !Number.isSafeInteger(number) || !Array.isArray(hubs)) return null
  return {
    server,
    number: Number(number),
    hubs: new Map(hubs.flatMap(hubIn)),
    isNew: isNew === true,
    isLast: isLast === true,
  }
}

function hubIn(given: unknown): readonly (readonly [string, readonly [number, number | null]])[] {
  if (!Array.isArray(given)) return []
  const [path, sent, ago]: unknown[] = given
  if (typeof path !== 'string' || !Number.isSafeInteger(sent)) return []
  return [[path, [Number(sent), typeof ago === 'number' ? ago : null]]]
}
