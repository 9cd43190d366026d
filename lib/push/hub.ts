import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { Request } from 'express'
import type { Field, JsonValue } from '../../types/field.js'
import type { KeyValue } from '../../types/plan.js'
import type { Change, Namespace, Publisher, ReadChange, Server, Socket } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import type { Standing } from '../../types/standing.js'
import { CrudConfigError } from '../common/errors.js'
import { keyColumns } from '../common/keys.js'
import { isPending } from '../common/pending.js'
import { Problem, problem } from '../common/problem.js'
import { report } from '../common/report.js'
import { recordWith, rowWhere } from '../read.js'
import { isWatched } from '../watch/channels.js'
import { noteOrigin, tellWatched, type WatchedEvent } from '../watch/event.js'
import { watch } from './adapter.js'
import { type Admission, type Asking, admit, requestOf } from './admission.js'
import { audiencesOf } from './audience.js'
import { Cluster, PATIENCE } from './cluster.js'
import { Connections, recoveryOf } from './connections.js'
import { payloadOf } from './payload.js'
import { Places } from './places.js'
import { Queue } from './queue.js'
import { noteAsking } from './recovery.js'
import type { Subscription } from './subscription.js'
import { Turns } from './turns.js'

/** The namespaces that hubs have taken. */
const taken = new WeakMap<Server, Set<string>>()

/** What Socket.IO's protocol calls a packet with a name and arguments. */
const EVENT = 2

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
  readonly #places = new Places<JsonValue>()
  #open: { readonly resource: Resource; readonly namespace: Namespace; readonly cluster: Cluster } | null = null
  #closing: Promise<void> | null = null
  #watched: readonly Field[] = []
  #confining: readonly Field[] = []
  // Whom adapters fail nobody knows; the latest has most to do with it.
  #latest: Request | null = null

  constructor(settings: HubSettings) {
    this.#settings = settings
  }

  /** @throws CrudConfigError where another hub has the namespace */
  assertFree(model: string): void {
    const { io, path } = this.#settings
    if (!taken.get(io)?.has(path)) return
    throw new CrudConfigError('HUB_PATH_TAKEN', `${model}: push: there is a hub at "${path}" already: give a path.`)
  }

  /** Makes the namespace. @throws CrudConfigError where another hub has it */
  namespace(model: string): Namespace {
    this.assertFree(model)
    const { io, path } = this.#settings
    try {
      const namespace = io.of(path)
      taken.set(io, (taken.get(io) ?? new Set()).add(path))
      return namespace
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new CrudConfigError('INVALID_OPTION', `${model}: push: Socket.IO does not open "${path}": ${reason}`)
    }
  }

  /**
   * Frees the path at once. Resolves when those who are connected have heard of what was written before, and are
   * disconnected. `ended` is the end of what may still write.
   */
  close(ended: Promise<void>): Promise<void> {
    this.#closing ??= this.#close(ended)
    return this.#closing
  }

  async #close(ended: Promise<void>): Promise<void> {
    if (this.#open === null) return
    const { namespace } = this.#open
    const { io, path } = this.#settings
    taken.get(io)?.delete(path)
    // The namespace at the root is every client's way in.
    if (path !== '/') io._nsps.delete(path)
    await ended
    await this.#queue.ended()
    this.#open = null
    // Those of this server: others may go on.
    namespace.local.disconnectSockets()
    // Their classes are told of to the other servers first.
    await nextTurn()
    if (path !== '/') await namespace.adapter.close()
  }

  /** Lets clients connect. */
  serve(resource: Resource, namespace: Namespace): void {
    hubs.set(resource, this)
    this.#watched = resource.fields.filter(({ targets }) => targets.has('response') || targets.has('list'))
    const names = new Set(resource.fields.map(({ name }) => name))
    const cluster = new Cluster(namespace, {
      isAttribute: (name) => names.has(name),
      learned: (subscriptions) => this.#watch(resource, subscriptions),
      report: (error) => this.#report(error, null),
      recovery: recoveryOf(namespace),
    })
    this.#open = { resource, namespace, cluster }
    noteAsking(namespace)
    // Nobody is asked twice who they are to make one connection.
    const asked = new WeakMap<object, Promise<Admission>>()
    const ask = (asking: Asking): Promise<Admission> => {
      const admission = admit(resource, asking)
      asked.set(asking.handshake.auth, admission)
      return admission
    }
    watch(namespace, ask, (error) => this.#report(error, null))
    new Connections(namespace, cluster, (socket) => {
      return this.#admit(socket, () => asked.get(socket.handshake.auth) ?? admit(resource, socket))
    })
  }

  watched(): readonly Field[] {
    return this.#watched
  }

  confining(): readonly Field[] {
    return this.#confining
  }

  inTurn<T>(keys: readonly KeyValue[], write: () => Promise<T>): Promise<T> {
    return this.#turns.take(keys, write)
  }

  stand(place: Standing, keys: () => readonly JsonValue[]): void {
    this.#places.take(keys, place)
  }

  expect(place: Standing): void {
    this.#places.expect(place)
  }

  isDoubtful(place: Standing, key: JsonValue): boolean {
    return this.#places.isDoubtful(place, key)
  }

  publish(changes: readonly Change[]): void {
    noteOrigin(changes)
    this.#queue.add(changes)
  }

  async #admit(socket: Socket, admitted: () => Promise<Admission>): Promise<Admission> {
    this.#latest = socket.request as Request
    if (this.#open === null) throw problem('not-found')
    try {
      return await admitted()
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) this.#report(error, requestOf(socket))
      throw error
    }
  }

  #tell(change: Change): Promise<void> {
    if (!isWatched() || this.#open === null) return this.#tellAll(change, null)
    const place = { resource: this.#open.resource.name, path: this.#settings.path, change }
    return tellWatched(place, (watched) => this.#tellAll(change, watched))
  }

  async #tellAll(given: Change, watched: WatchedEvent | null): Promise<void> {
    if (this.#open === null) return
    const { resource, namespace, cluster } = this.#open
    this.#latest = given.request
    await cluster.ready()
    const change = await knownOf(resource, given)
    if (change === null) return
    for (const [subscription, rooms] of audiencesOf(resource, cluster, change)) {
      const payload = change.event === 'OnDeleted' ? change.key : await payloadOf(resource, subscription, change)
      if (payload === null) continue
      this.#emit(namespace.adapter, rooms, [change.event, payload], change.request)
      watched?.sent(rooms, socketsIn(namespace, rooms))
    }
  }

  /** Not by `namespace.emit`, which drops the promise of an adapter that fails later. */
  #emit(adapter: Namespace['adapter'], rooms: ReadonlySet<string> | null, data: unknown[], request: Request): void {
    const packet = { type: EVENT, data }
    const sent: unknown = adapter.broadcast(packet, { rooms: new Set(rooms), except: new Set(), flags: {} })
    if (isPending(sent)) Promise.resolve(sent).catch((error: unknown) => this.#report(error, request))
  }

  /**
   * Watches the attributes by which classes are chosen, for good: there are no more than the resource has. Resolves when
   * the writes are done that began before, and do not tell of them.
   */
  async #watch(resource: Resource, subscriptions: readonly Subscription[]): Promise<void> {
    const names = new Set(subscriptions.flatMap(({ within }) => within))
    const fresh = resource.fields.filter((field) => names.has(field.name) && !this.#confining.includes(field))
    if (fresh.length === 0) return
    this.#confining = [...this.#confining, ...fresh]
    this.#watched = [...this.#watched, ...fresh.filter((field) => !this.#watched.includes(field))]
    // What is planned by now is under way then.
    await nextTurn()
    await Promise.race([this.#turns.ended(), wait(PATIENCE, undefined, { ref: false })])
  }

  #report(error: unknown, request: Request | null): void {
    const asked = request ?? this.#latest
    if (this.#open !== null && asked !== null) report(error, asked, this.#open.resource.onError)
  }
}

/** The sockets of this process in any of some rooms; null is everybody's. */
function socketsIn({ adapter, sockets }: Namespace, rooms: ReadonlySet<string> | null): number {
  if (rooms === null) return sockets.size
  const ids = [...rooms].flatMap((room) => [...(adapter.rooms.get(room) ?? [])])
  return new Set(ids).size
}

function isRead(change: Change): change is ReadChange {
  return change.row !== null
}

/** What is to be told of a change; null for nothing, where another one has made it untrue, and tells of itself. */
async function knownOf(resource: Resource, change: Change): Promise<ReadChange | null> {
  if (isRead(change) && !change.isDoubtful) return change
  if (change.event !== 'OnDeleted' || !isRead(change)) return found(resource, change)
  return (await found(resource, { ...change, columns: keyColumns(resource.keys) })) === null ? change : null
}

async function found(resource: Resource, change: Change): Promise<ReadChange | null> {
  const { columns, key } = change
  const row = await rowWhere(resource, recordWith(resource, key), { columns, members: [] })
  return row === null ? null : { ...change, row }
}
