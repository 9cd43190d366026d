import type { Express } from 'express'
import { Server, type ServerOptions } from 'socket.io'
import { io as client, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client'
import type { Notifier, ResourceInfo } from '../../lib/index.js'
import type { TestDatabase } from './database.js'
import { openStage, type Stage } from './stage.js'
import { bearer } from './tokens.js'

export const TRANSPORTS = ['websocket', 'polling'] as const

export type Transport = (typeof TRANSPORTS)[number]

/** A name and its argument, as a client's handler gets them. */
export type Heard = readonly [event: string, argument: unknown]

export interface Subscriber {
  readonly socket: Socket
  /** What was pushed, in the order it came. */
  readonly heard: Heard[]
  /** Every packet that the server has sent, as text: what a handler does not get is among it too. */
  readonly frames: string[]
  /** Why connections of it have ended, as Socket.IO says it. */
  readonly ends: string[]
  /** The message and data of the refusal; null for who was let in. */
  readonly refusal: { readonly message: string; readonly data: unknown } | null
}

/** What carries a hub: a router, a controller, or `crudHub`. */
export interface Hubbed {
  readonly resource: ResourceInfo
  readonly notify: Notifier | null
}

export interface Subscribing extends Partial<ManagerOptions & SocketOptions> {
  readonly transport?: Transport
  /** Sent as `auth.token`. */
  readonly token?: unknown
  /** The headers of the handshake. */
  readonly headers?: Record<string, string>
}

/** A stage with a Socket.IO server beside the application. */
export interface PushStage extends Stage {
  readonly io: Server
  /** Resolves when the connection is made or refused. */
  readonly subscribe: (hub: Hubbed | string, how?: Subscribing) => Promise<Subscriber>
  /**
   * Resolves when all who are connected have got what was pushed so far. `witness` hears of every deleted record, and
   * `marker` makes one of a key that no other has.
   */
  readonly drain: (hub: Hubbed, witness: Subscriber, marker?: (key: number) => Marker) => Promise<void>
}

type Marker = number | string | Readonly<Record<string, unknown>>

const FLUSH = 'flush'

export async function openPush(
  set: (database: TestDatabase, app: Express, io: Server) => void,
  options: Partial<ServerOptions> = {},
): Promise<PushStage> {
  const io = new Server(options)
  const stage = await openStage((database, app) => set(database, app, io))
  io.attach(stage.server)
  const sockets = new Set<Socket>()
  let marks = 1_000_000

  async function subscribe(hub: Hubbed | string, how: Subscribing = {}): Promise<Subscriber> {
    const { transport = 'websocket', token, headers, ...rest } = how
    const path = typeof hub === 'string' ? hub : (hub.resource.hub?.name ?? '')
    const socket = client(stage.url + path, {
      forceNew: true,
      transports: [transport],
      reconnection: false,
      autoConnect: false,
      ...(token === undefined ? {} : { auth: { token } }),
      ...(headers === undefined ? {} : { extraHeaders: headers }),
      ...rest,
    })
    sockets.add(socket)
    const heard: Heard[] = []
    const frames: string[] = []
    const ends: string[] = []
    socket.on('disconnect', (reason) => ends.push(reason))
    socket.io.on('open', () => {
      socket.io.engine.on('packet', ({ data }) => frames.push(String(data)))
    })
    socket.onAny((event: string, argument: unknown) => {
      if (event !== FLUSH && !isMark(argument)) heard.push([event, argument])
    })
    const refusal = await new Promise<Subscriber['refusal']>((resolve) => {
      socket.once('connect', () => resolve(null))
      socket.once('connect_error', (error) =>
        resolve({ message: error.message, data: (error as { data?: unknown }).data }),
      )
      socket.connect()
    })
    return { socket, heard, frames, ends, refusal }
  }

  function isMark(argument: unknown): boolean {
    const number = Number(typeof argument === 'string' || typeof argument === 'number' ? argument : Number.NaN)
    return number > 1_000_000 && number <= marks
  }

  async function drain(
    hub: Hubbed,
    witness: Subscriber,
    marker: (key: number) => Marker = (key) => key,
  ): Promise<void> {
    const { resource, notify } = hub
    marks += 1
    const mark = marks
    const seen = new Promise<void>((resolve) => {
      const listen = (key: unknown): void => {
        if (Number(key) !== mark) return
        witness.socket.off('OnDeleted', listen)
        resolve()
      }
      witness.socket.on('OnDeleted', listen)
    })
    notify?.deleted(marker(mark))
    await seen
    const path = resource.hub?.name
    const flushed = [...sockets]
      .filter((socket) => socket.connected && nameOf(socket) === path)
      .map((socket) => gone(socket, mark))
    resource.hub?.emit(FLUSH, mark)
    await Promise.all(flushed)
  }

  return {
    ...stage,
    io,
    subscribe,
    drain,
    close: async () => {
      for (const socket of sockets) socket.disconnect()
      // What the engine holds open is no connection that `closeAllConnections` knows.
      io.engine.close()
      await stage.close()
    },
  }
}

function nameOf(socket: Socket): string {
  return (socket as object as { nsp: string }).nsp
}

/** Resolves when a socket has got this flush, or is disconnected. */
function gone(socket: Socket, mark: number): Promise<void> {
  return new Promise((resolve) => {
    socket.once('disconnect', () => resolve())
    socket.on(FLUSH, (given: unknown) => {
      if (given === mark) resolve()
    })
  })
}

/** A token by itself, for `auth.token`. */
export function tokenOf(...claims: Parameters<typeof bearer>): string {
  return (bearer(...claims).authorization ?? '').slice('Bearer '.length)
}

/** The packets of pushed events as the server sent them: what stands behind the namespace, byte for byte. */
export function sentOf({ frames }: Subscriber): string[] {
  return frames
    .flatMap((frame) => /^2[^[]*(\[.*\])$/s.exec(frame)?.[1] ?? [])
    .filter((text) => !/^\["(?:flush"|OnDeleted","?1\d{6}"?\])/.test(text))
}

/** Resolves when a condition holds that an event of the socket brings about. */
export async function until(socket: Socket, isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resolve) => socket.onAny(() => resolve()))
}
