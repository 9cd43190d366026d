import type { Request } from 'express'
import type { Field, JsonValue } from '../../types/field.js'
import type { KeyValue } from '../../types/plan.js'
import type { Change, Namespace, Publisher, Server, Socket } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import { CrudConfigError } from '../errors.js'
import { read } from '../perform/index.js'
import { Problem } from '../problem.js'
import { report } from '../respond.js'
import { watch } from './adapter.js'
import { type Admission, admit, refusalOf, requestOf } from './admission.js'
import { Cluster } from './cluster.js'
import { payloadOf, recordWith, valueIn } from './payload.js'
import { Queue } from './queue.js'
import { isRoom, roomOf } from './room.js'
import { EVERYBODY, isOpen, type Subscription } from './subscription.js'
import { Turns } from './turns.js'

/** The namespaces that hubs have taken. */
const taken = new WeakMap<Server, Set<string>>()

/** Where a connection's end is kept, so that it holds for a session that another server goes on with. */
const END = 'sequelize-crud-router:end'

/** What Socket.IO's protocol calls a packet with a name and arguments. */
const EVENT = 2

/** The longest delay that timers take. */
const LONGEST = 2 ** 31 - 1

const hubs = new WeakMap<Resource, Hub>()

/** The hub of a resource; null for none. */
export function hubOf(resource: Resource): Hub | null {
  return hubs.get(resource) ?? null
}

export interface HubSettings {
  readonly io: Server
  readonly path: string
}

/**
 * A Socket.IO namespace that tells its subscribers of a resource's changes, each what a GET would show it. It listens to
 * no event of any client.
 */
export class Hub implements Publisher {
  readonly #settings: HubSettings
  readonly #queue = new Queue<Change>(
    (change) => this.#tell(change),
    (error, { request }) => this.#report(error, request),
  )
  readonly #turns = new Turns<KeyValue>()
  readonly #admissions = new WeakMap<Socket, Admission>()
  #open: { readonly resource: Resource; readonly namespace: Namespace; readonly cluster: Cluster } | null = null
  #fields: readonly Field[] = []
  #watched: { readonly all: readonly Field[]; readonly confining: readonly Field[]; readonly classes: number } | null =
    null
  // Whom adapters fail nobody knows; the latest has most to do with it.
  #latest: Request | null = null

  constructor(settings: HubSettings) {
    this.#settings = settings
  }

  /** Makes the namespace. @throws CrudConfigError where another hub has it */
  namespace(model: string): Namespace {
    const { io, path } = this.#settings
    const paths = taken.get(io) ?? new Set<string>()
    if (paths.has(path)) {
      throw new CrudConfigError('HUB_PATH_TAKEN', `${model}: push: there is a hub at "${path}" already: give a path.`)
    }
    taken.set(io, paths.add(path))
    return io.of(path)
  }

  /** Lets clients connect. */
  serve(resource: Resource, namespace: Namespace): void {
    hubs.set(resource, this)
    const cluster = new Cluster(namespace, (error) => this.#report(error, null))
    this.#open = { resource, namespace, cluster }
    this.#fields = resource.fields.filter(({ targets }) => targets.has('response') || targets.has('list'))
    watch(namespace, isOver, (error) => this.#report(error, null))
    namespace.use((socket, next) => {
      // A session that is not let in again is over.
      socket.data[END] = 0
      this.#admit(resource, socket, cluster).then(
        (admission) => {
          this.#admissions.set(socket, admission)
          next()
        },
        (error: unknown) => next(refusalOf(error)),
      )
    })
    namespace.on('connection', (socket) => {
      const admission = this.#admissions.get(socket)
      if (admission !== undefined) {
        settle(socket, admission)
        return
      }
      // Socket.IO asks no middleware of a connection that it recovers, whose policy or token may be another by now.
      const release = suspend(socket)
      this.#admit(resource, socket, cluster).then(
        (renewed) => {
          release()
          settle(socket, renewed)
        },
        () => socket.disconnect(),
      )
    })
  }

  watched(): readonly Field[] {
    return this.#fieldsNow().all
  }

  confining(): readonly Field[] {
    return this.#fieldsNow().confining
  }

  inTurn<T>(keys: readonly KeyValue[], write: () => Promise<T>): Promise<T> {
    return this.#turns.take(keys, write)
  }

  publish(changes: readonly Change[]): void {
    this.#queue.add(changes)
  }

  async #admit(resource: Resource, socket: Socket, cluster: Cluster): Promise<Admission> {
    this.#latest = socket.request as Request
    try {
      return await admit(resource, socket, cluster)
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) this.#report(error, requestOf(socket))
      throw error
    }
  }

  async #tell(given: Change): Promise<void> {
    if (this.#open === null) return
    const { resource, namespace, cluster } = this.#open
    this.#latest = given.request
    await cluster.ready()
    const change = given.row === null ? await found(resource, given) : given
    if (change === null) return
    for (const [subscription, rooms] of audiencesOf(resource, cluster, change)) {
      const payload = change.event === 'OnDeleted' ? change.key : await payloadOf(resource, subscription, change)
      if (payload === null) continue
      this.#emit(namespace.adapter, rooms, [change.event, payload], change.request)
    }
  }

  /** Not by `namespace.emit`, which drops the promise of an adapter that fails later. */
  #emit(adapter: Namespace['adapter'], rooms: ReadonlySet<string> | null, data: unknown[], request: Request): void {
    const packet = { type: EVENT, data }
    const sent: unknown = adapter.broadcast(packet, { rooms: new Set(rooms), except: new Set(), flags: {} })
    if (sent instanceof Promise) sent.catch((error: unknown) => this.#report(error, request))
  }

  /** Classes only ever come to be, so that their number tells whether there are others by now. */
  #fieldsNow(): { readonly all: readonly Field[]; readonly confining: readonly Field[] } {
    if (this.#open === null) return { all: [], confining: [] }
    const { resource, cluster } = this.#open
    const { subscriptions } = cluster
    if (this.#watched?.classes === subscriptions.size) return this.#watched
    const names = new Set([...subscriptions.values()].flatMap(({ within }) => within))
    const confining = resource.fields.filter(({ name }) => names.has(name))
    const all = [...this.#fields, ...confining.filter((field) => !this.#fields.includes(field))]
    this.#watched = { all, confining, classes: subscriptions.size }
    return this.#watched
  }

  #report(error: unknown, request: Request | null): void {
    const asked = request ?? this.#latest
    if (this.#open !== null && asked !== null) report(error, asked, this.#open.resource.onError)
  }
}

function endOf(data: unknown): number | null {
  const end: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, END) : undefined
  return typeof end === 'number' ? end : null
}

function isOver(data: unknown): boolean {
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

/** Puts a connection where its admission says, and ends it when that ends. */
function settle(socket: Socket, { room, end }: Admission): void {
  if (!socket.connected) return
  for (const name of socket.rooms) if (isRoom(name) && name !== room) socket.leave(name)
  socket.join(room)
  delete socket.data[END]
  if (end === null) return
  socket.data[END] = end
  endAt(socket, end)
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

async function found(resource: Resource, change: Change): Promise<Change | null> {
  const { columns, key } = change
  const names = columns.map(({ field }) => field.name).join(',')
  const row = await read(resource, recordWith(resource, key), { key: names, columns, members: [] })
  return row === null ? null : { ...change, row }
}

type Audience = readonly [subscription: Subscription, rooms: ReadonlySet<string> | null]

/** Who hears of a change: those who are told the same together, in the rooms whose scope has the record; null is everybody. */
function audiencesOf(resource: Resource, { subscriptions }: Cluster, change: Change): Iterable<Audience> {
  if (isOpen(resource)) return [[EVERYBODY, null]]
  const audiences = new Map<string, readonly [Subscription, Set<string>]>()
  for (const [text, subscription] of subscriptions) {
    const values = subscription.within.map((attribute) => valueIn(change, attribute))
    if (!isKnown(values)) continue
    // A key looks the same to everybody.
    const view = change.event === 'OnDeleted' ? '' : text
    const [, rooms] = audiences.get(view) ?? [subscription, new Set<string>()]
    audiences.set(view, [subscription, rooms.add(roomOf(text, values))])
  }
  return audiences.values()
}

function isKnown(values: readonly (JsonValue | undefined)[]): values is readonly JsonValue[] {
  return !values.includes(undefined)
}
