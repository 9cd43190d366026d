import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A port of this machine that passes everything on to another one, as long as it is whole. */
export interface Wire {
  readonly port: number
  /** Passes on to another port from now on. */
  readonly lead: (port: number) => void
  /** Ends what is under way, and whatever comes until it is mended. */
  readonly cut: () => void
  /** Resets whatever comes until it is mended, as a firewall does. What is open stays. */
  readonly refuse: () => void
  readonly mend: () => void
  /** Keeps back what is said on the connections that are open, until it is all passed on at once. */
  readonly hold: () => void
  /** The same of what is answered on them. */
  readonly holdAnswers: () => void
  readonly release: () => void
  readonly close: () => Promise<void>
}

export async function openWire(target: number): Promise<Wire> {
  /** Each open socket, and where what it says goes. */
  const open = new Map<Socket, Socket>()
  const answering = new Set<Socket>()
  let to = target
  let isCut = false
  let isRefusing = false
  const server = createServer((near) => {
    if (isCut || isRefusing) {
      if (isRefusing) near.resetAndDestroy()
      else near.destroy()
      return
    }
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
      socket.pipe(other)
    }
  })
  const cut = (): void => {
    isCut = true
    for (const socket of open.keys()) socket.destroy()
  }
  server.listen(0, 'localhost')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    lead: (port) => {
      to = port
    },
    cut,
    refuse: () => {
      isRefusing = true
    },
    mend: () => {
      isCut = false
      isRefusing = false
    },
    hold: () => {
      for (const socket of open.keys()) socket.unpipe()
    },
    holdAnswers: () => {
      for (const socket of answering) socket.unpipe()
    },
    release: () => {
      for (const [socket, other] of open) socket.unpipe().pipe(other)
    },
    close: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
