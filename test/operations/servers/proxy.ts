// A TCP proxy that misbehaves as networks and addresses with several servers behind them do.

import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

export interface Proxy {
  readonly port: number
  /** The ports that new connections lead to, in turn. Those that are open stay where they are. */
  lead(...ports: readonly number[]): void
  /** From here on nothing gets through, on open connections and new ones, and nobody hears of it. */
  silence(): void
  /** Silences the connections that are open. New ones get through. */
  silenceOpen(): void
  /** Milliseconds that everything takes that is sent from here on, in each direction. */
  delay(milliseconds: number): void
  /** Everything gets through again, what was held back first. */
  resume(): void
  /** Ends all open connections at once, without a word of their protocol. */
  cut(): void
  /** Number of connections that are open. */
  readonly open: number
  /** Number of connections so far. */
  readonly count: number
  stop(): Promise<void>
}

class Pair {
  readonly #sockets: readonly Socket[]
  isSilent = false

  constructor(client: Socket, server: Socket, delay: () => number) {
    this.#sockets = [client, server]
    this.#forward(client, server, delay)
    this.#forward(server, client, delay)
  }

  #forward(from: Socket, to: Socket, delay: () => number): void {
    let last = Promise.resolve()
    const next = (work: () => void): void => {
      const late = delay()
      const slept = late === 0 ? Promise.resolve() : wait(late)
      last = Promise.all([last, slept])
        .then(() => this.#sound())
        .then(work)
    }
    from.on('data', (chunk) => next(() => void (this.#isLost || to.write(chunk))))
    from.on('end', () => next(() => to.end()))
    from.on('error', () => undefined)
    from.on('close', (hadError) => {
      // A reset discards what was not delivered. After an end the system delivers it later.
      if (this.isSilent && hadError) this.#isLost = true
      if (!this.isSilent || hadError) next(() => to.destroy())
    })
  }

  #isLost = false
  #waiting: (() => void)[] = []

  #sound(): Promise<void> | void {
    if (this.isSilent) return new Promise((resolve) => this.#waiting.push(resolve))
  }

  resume(): void {
    this.isSilent = false
    for (const go of this.#waiting.splice(0)) go()
  }

  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  get isOpen(): boolean {
    return this.#sockets.some((socket) => !socket.destroyed)
  }
}

/** Starts a proxy before some servers of this machine. */
export async function startProxy(...ports: readonly number[]): Promise<Proxy> {
  let leads = ports
  let turn = 0
  let late = 0
  let isSilent = false
  let count = 0
  const pairs = new Set<Pair>()
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const port = leads[turn++ % leads.length]
    count += 1
    const behind = createConnection({ host: '127.0.0.1', port: port ?? 0, allowHalfOpen: true })
    const pair = new Pair(client, behind, () => late)
    pair.isSilent = isSilent
    pairs.add(pair)
    client.on('close', () => {
      if (!pair.isOpen) pairs.delete(pair)
    })
    behind.on('close', () => {
      if (!pair.isOpen) pairs.delete(pair)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const all = (work: (pair: Pair) => void): void => {
    for (const pair of pairs) work(pair)
  }
  const silenceOpen = (): void =>
    all((pair) => {
      pair.isSilent = true
    })
  return {
    port: (server.address() as AddressInfo).port,
    lead: (...next) => {
      leads = next
      turn = 0
    },
    silence: () => {
      isSilent = true
      silenceOpen()
    },
    silenceOpen,
    delay: (milliseconds) => {
      late = milliseconds
    },
    resume: () => {
      isSilent = false
      late = 0
      all((pair) => pair.resume())
    },
    cut: () => all((pair) => pair.cut()),
    get open() {
      return pairs.size
    },
    get count() {
      return count
    },
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      all((pair) => pair.cut())
      await closed
    },
  }
}
