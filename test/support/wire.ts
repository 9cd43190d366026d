import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'

/** Passes PostgreSQL's messages on. What follows an error in the same chunk comes later, as it may over a network. */
function splitErrors(): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const isError = chunk[0] === 'E'.charCodeAt(0) && chunk.length >= 5
      const end = isError ? 1 + chunk.readUInt32BE(1) : chunk.length
      this.push(chunk.subarray(0, end))
      if (!isError) return done()
      void wait(30).then(() => done(null, chunk.subarray(end)))
    },
  })
}

/** A local port that forwards all connections to another port. Tests can interrupt it. */
export interface TcpProxy {
  readonly port: number
  /** Forwards later connections to another port. */
  readonly lead: (port: number) => void
  /** Ends open connections. New connections are ended as well until `mend` is called. */
  readonly cut: () => void
  /** Resets new connections, as a firewall does, until `mend` is called. Open connections stay. */
  readonly refuse: () => void
  /** Accepts new connections, but forwards nothing of them until `mend` is called. Open connections stay. */
  readonly delay: () => void
  readonly mend: () => void
  /** Holds back data from clients on open connections. `release` forwards all data at once. */
  readonly hold: () => void
  /** Holds back data from servers on open connections. */
  readonly holdReplies: () => void
  readonly release: () => void
  readonly close: () => Promise<void>
}

export async function openTcpProxy(target: number, isSplittingErrors = false): Promise<TcpProxy> {
  /** Open sockets from clients, with their sockets to the server. */
  const open = new Map<Socket, Socket>()
  const answering = new Set<Socket>()
  let to = target
  let isCut = false
  let isRefusing = false
  let delayed: Socket[] | null = null
  const forward = (near: Socket): void => {
    const far = connect({ port: to, host: 'localhost' })
    answering.add(far)
    far.on('close', () => answering.delete(far))
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.set(socket, other)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      if (isSplittingErrors && socket === far) socket.pipe(splitErrors()).pipe(other)
      else socket.pipe(other)
    }
  }
  const server = createServer((near) => {
    if (isRefusing) near.resetAndDestroy()
    else if (isCut) near.destroy()
    else if (delayed === null) forward(near)
    else delayed.push(near)
  })
  const disconnect = (): void => {
    isCut = true
    for (const socket of [...open.keys(), ...(delayed ?? [])]) socket.destroy()
  }
  server.listen(0, 'localhost')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    lead: (port) => {
      to = port
    },
    cut: disconnect,
    refuse: () => {
      isRefusing = true
    },
    delay: () => {
      delayed = []
    },
    mend: () => {
      isCut = false
      isRefusing = false
      for (const socket of delayed ?? []) forward(socket)
      delayed = null
    },
    hold: () => {
      for (const socket of open.keys()) socket.unpipe()
    },
    holdReplies: () => {
      for (const socket of answering) socket.unpipe()
    },
    release: () => {
      for (const [socket, other] of open) socket.unpipe().pipe(other)
    },
    close: async () => {
      disconnect()
      server.close()
      await once(server, 'close')
    },
  }
}
