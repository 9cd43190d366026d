import type { Express } from 'express'
import { Server, type ServerOptions } from 'socket.io'
import { io as client, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client'
import type { Notifier, ResourceInfo } from '../../lib/index.js'
import type { TestDatabase } from './database.js'
import { openStage, type Stage } from './stage.js'
import { bearer } from './tokens.js'

export const TRANSPORTS = ['websocket', 'polling'] as const

export type Transport = (typeof TRANSPORTS)[number]

/** Name and argument of an event that a client's handler received. */
export type ReceivedEvent = readonly [event: string, argument: unknown]

export interface Subscriber {
  readonly socket: Socket
  /** Received events, in their order. */
  readonly received: ReceivedEvent[]
  /** All packets from the server as text. Packets without a handler are included. */
  readonly frames: string[]
  /** Socket.IO's reasons for the ends of the client's connections. */
  readonly ends: string[]
  /** Message and data of the error for a client whose connection was refused. Null for a connected client. */
  readonly refusal: { readonly message: string; readonly data: unknown } | null
}

/** Owner of a push hub: a router, a controller, or the result of `crudHub`. */
export interface HubOwner {
  readonly resource: ResourceInfo
  readonly notify: Notifier | null
}

export interface SubscribeOptions extends Partial<ManagerOptions & SocketOptions> {
  readonly transport?: Transport
  /** Sent as `auth.token`. */
  readonly token?: unknown
  /** The headers of the handshake. */
  readonly headers?: Record<string, string>
}

/** A database and an application with a Socket.IO server. */
export interface PushStage extends Stage {
  readonly io: Server
  /** Connects a client. Resolves when the client is connected or refused. */
  readonly subscribe: (hub: HubOwner | string, how?: SubscribeOptions) => Promise<Subscriber>
  /**
   * Resolves when all connected clients have received the events so far. `marker` creates a record with a unique key,
   * whose deletion `witness` must receive.
   */
  readonly drain: (hub: HubOwner, witness: Subscriber, marker?: (key: number) => Marker) => Promise<void>
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

  async function subscribe(hub: HubOwner | string, how: SubscribeOptions = {}): Promise<Subscriber> {
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
    const received: ReceivedEvent[] = []
    const frames: string[] = []
    const ends: string[] = []
    socket.on('disconnect', (reason) => ends.push(reason))
    socket.io.on('open', () => {
      socket.io.engine.on('packet', ({ data }) => frames.push(String(data)))
    })
    socket.onAny((event: string, argument: unknown) => {
      if (event !== FLUSH && !isMark(argument)) received.push([event, argument])
    })
    const refusal = await new Promise<Subscriber['refusal']>((resolve) => {
      socket.once('connect', () => resolve(null))
      socket.once('connect_error', (error) =>
        resolve({ message: error.message, data: (error as { data?: unknown }).data }),
      )
      socket.connect()
    })
    return { socket, received, frames, ends, refusal }
  }

  function isMark(argument: unknown): boolean {
    const number = Number(typeof argument === 'string' || typeof argument === 'number' ? argument : Number.NaN)
    return number > 1_000_000 && number <= marks
  }

  async function drain(
    hub: HubOwner,
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
      .map((socket) => waitForFlush(socket, mark))
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
      // `closeAllConnections` does not close WebSocket connections of Socket.IO's engine.
      io.engine.close()
      await stage.close()
    },
  }
}

function nameOf(socket: Socket): string {
  return (socket as object as { nsp: string }).nsp
}

/** Resolves when a socket has received the flush event with a number, or is disconnected. */
function waitForFlush(socket: Socket, mark: number): Promise<void> {
  return new Promise((resolve) => {
    socket.once('disconnect', () => resolve())
    socket.on(FLUSH, (given: unknown) => {
      if (given === mark) resolve()
    })
  })
}

/** A signed token without `Bearer`, for `auth.token`. */
export function plainToken(...claims: Parameters<typeof bearer>): string {
  return (bearer(...claims).authorization ?? '').slice('Bearer '.length)
}

/** Packets of push events that the server sent, without type and namespace. */
export function eventPackets({ frames }: Subscriber): string[] {
  return frames
    .flatMap((frame) => /^2[^[]*(\[.*\])$/s.exec(frame)?.[1] ?? [])
    .filter((text) => !/^\["(?:flush"|OnDeleted","?1\d{6}"?\])/.test(text))
}

/** Resolves when a condition is true. The condition is checked after each event of the socket. */
export async function waitUntil(socket: Socket, isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resolve) => socket.onAny(() => resolve()))
}
