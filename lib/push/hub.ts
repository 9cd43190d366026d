import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { Request } from '../../types/express.js'
import type { Field, JsonValue } from '../../types/field.js'
import type { KeyValue, Plan } from '../../types/plan.js'
import type { Change, Namespace, Publisher, ReadChange, Server, Socket } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import type { RecordBefore, Tracking } from '../../types/rooms.js'
import type { Standing } from '../../types/standing.js'
import { CrudConfigError } from '../common/errors.js'
import { keyColumns } from '../common/keys.js'
import { NO_REQUEST } from '../common/noRequest.js'
import { isPending } from '../common/pending.js'
import { Problem, problem } from '../common/problem.js'
import { report } from '../common/report.js'
import { FIRST_VERSION } from '../common/version.js'
import { recordWith, rowWhere } from '../read.js'
import { isWatched } from '../watch/channels.js'
import { noteOrigin, tellWatched, type WatchedEvent } from '../watch/event.js'
import { isCounting, numbered, watch } from './adapter.js'
import { type Admission, type Asking, admit, requestOf } from './admission.js'
import {
  apart,
  type Delivery,
  deliveriesByCondition,
  deliveriesByValue,
  hasRoomsByValue,
  roomsLeft,
} from './audience.js'
import { Cluster, PATIENCE } from './cluster.js'
import { Conditions } from './conditions.js'
import { Connections, recoveryOf } from './connections.js'
import { Continuity } from './continuity.js'
import { payloadOf, valueIn } from './payload.js'
import { peersOf } from './peers.js'
import { Places } from './places.js'
import { Queue } from './queue.js'
import { noteAsking } from './recovery.js'
import { EVERYWHERE, roomOf, stepsOf } from './room.js'
import { EVERYBODY, type Subscription, textOf } from './subscription.js'
import { Turns } from './turns.js'

/** Paths of the open hubs, by Socket.IO server. */
const taken = new WeakMap<Server, Set<string>>()

/** Type of an event packet in Socket.IO's protocol. */
const EVENT = 2

/** Room of all clients of a resource without policies, masks and scope. */
const OPEN = roomOf(textOf(EVERYBODY), [])

const hubs = new WeakMap<Resource, Hub>()

/** The hub of a resource, or null if it has none. */
export function hubOf(resource: Resource): Hub | null {
  return hubs.get(resource) ?? null
}

interface Open {
  readonly resource: Resource
  readonly namespace: Namespace
  readonly cluster: Cluster
  readonly conditions: Conditions
}

export interface HubSettings {
  readonly io: Server
  readonly path: string
}

/**
 * A Socket.IO namespace that sends a resource's changes to its subscribers. Each subscriber receives what GET would
 * show. The hub listens to no event of clients.
 */
export class Hub implements Publisher {
  readonly #settings: HubSettings
  readonly #queue = new Queue<Change>(
    (change) => this.#tell(change),
    (error, change) => {
      this.#report(this.#unsent(change.event, error), change.request)
      this.#untold()
    },
  )
  readonly #turns = new Turns<KeyValue>()
  readonly #places = new Places<JsonValue>()
  #open: Open | null = null
  #closing: Promise<void> | null = null
  #watched: readonly Field[] = []
  #confining: readonly Field[] = []
  #version: Field | null = null
  // The request that errors of adapters are reported with. The adapter does not say which request caused an error.
  #latest: Request | null = null
  readonly #continuity = new Continuity({
    hasListeners: () => this.#open !== null && this.#open.namespace.sockets.size > 0,
    missed: () => this.#missed(),
  })
  #leave: () => void = () => undefined
  /** When clients last missed events, as far as it is known. */
  #missedAt = Number.NEGATIVE_INFINITY
  #owesMissed = false

  constructor(settings: HubSettings) {
    this.#settings = settings
  }

  /** @throws CrudConfigError if another hub has the namespace */
  assertFree(model: string): void {
    const { io, path } = this.#settings
    if (!taken.get(io)?.has(path)) return
    throw new CrudConfigError('HUB_PATH_TAKEN', `${model}: push: another hub uses the path "${path}". Set push.path.`)
  }

  /** Creates the namespace. @throws CrudConfigError if another hub has it */
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
   * Frees the path at once. Resolves after earlier events were sent and the clients are disconnected. `ended` resolves
   * when in-flight requests have ended.
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
    // Every client connects through the root namespace, so it stays.
    if (path !== '/') io._nsps.delete(path)
    await ended
    await this.#queue.ended()
    this.#leave()
    this.#continuity.close()
    this.#open = null
    // Only sockets of this server: other servers may stay open.
    namespace.local.disconnectSockets()
    // The cluster announces the closed subscriptions in this turn of the event loop.
    await nextTurn()
    if (path !== '/') await namespace.adapter.close()
  }

  /** Starts to admit clients. */
  serve(resource: Resource, namespace: Namespace): void {
    hubs.set(resource, this)
    this.#watched = shownFields(resource)
    this.#version = shownVersionOf(resource)
    const names = new Set(resource.fields.map(({ name }) => name))
    const cluster = new Cluster(namespace, {
      isAttribute: (name) => names.has(name),
      learned: (subscriptions) => this.#watch(resource, subscriptions),
      report: (error) => this.#report(error, null),
      missed: () => this.#missed(),
      untold: () => this.#untold(),
      recovery: recoveryOf(namespace),
      mostRooms: resource.limits.pushRooms,
    })
    const conditions = new Conditions(resource, cluster, (error) => this.#report(error, null))
    this.#leave = peersOf(this.#settings.io).join(this.#settings.path, {
      continuity: this.#continuity,
      isCounting: () => isCounting(namespace),
      missed: () => this.#missed(),
      settle: () => this.#settle(),
      missedAgo: () => (Number.isFinite(this.#missedAt) ? Date.now() - this.#missedAt : null),
      missedElsewhere: (ago) => {
        this.#missedAt = Math.max(this.#missedAt, Date.now() - ago)
      },
    })
    this.#open = { resource, namespace, cluster, conditions }
    noteAsking(namespace)
    // Authorizes a caller only once per connection.
    const asked = new WeakMap<object, Promise<Admission>>()
    const ask = (asking: Asking): Promise<Admission> => {
      const admission = admit(resource, asking)
      asked.set(asking.handshake.auth, admission)
      return admission
    }
    watch(namespace, {
      admit: ask,
      report: (error) => this.#report(error, null),
      arrived: (server, number) => this.#continuity.arrived(server, number),
      failed: () => {
        this.#missedAt = Date.now()
      },
      isWhole: () => Date.now() - this.#missedAt > recoveryOf(namespace),
    })
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

  reported(): readonly Field[] {
    const isThere = this.#version === null || this.#confining.includes(this.#version)
    return this.#version === null || isThere ? this.#confining : [...this.#confining, this.#version]
  }

  inTurn<T>(keys: readonly KeyValue[], write: () => Promise<T>): Promise<T> {
    // With a scope, the rooms of other servers should be known before the write. The write does not wait for them.
    if (this.#open !== null && this.#open.resource.behaviours.confine !== null) void this.#open.cluster.ready()
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

  tracked(plan: Plan): Tracking | null {
    if (this.#open === null) return null
    const { cluster, conditions: known } = this.#open
    const fields = mayMove(plan, this.#confining) && hasRoomsByValue(cluster) ? this.#confining : []
    const conditions = known.all()
    return fields.length + conditions.length === 0 ? null : { conditions, fields }
  }

  /** State of a record before the host's own code changes it. */
  async before(key: JsonValue): Promise<RecordBefore> {
    if (this.#open === null) return { asked: new Set(), met: new Set(), values: new Map() }
    const { cluster, conditions } = this.#open
    await cluster.ready()
    const asked = new Set(conditions.all().map(({ name }) => name))
    return { asked, met: await conditions.metBy(key), values: new Map() }
  }

  publish(changes: readonly Change[]): void {
    noteOrigin(changes)
    this.#open?.conditions.gather(changes)
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
    const { resource, namespace, cluster, conditions } = this.#open
    this.#latest = given.request
    await cluster.ready()
    const known = await knownOf(resource, given)
    const deliveries = known === null || given.isMove ? [] : [...deliveriesByValue(resource, cluster, known)]
    const left =
      given.before === null || given.event === 'OnDeleted' ? [] : [...roomsLeft(cluster, given.before, known)]
    if (left.length > 0) deliveries.push({ ...LEFT, rooms: new Set(left) })
    const rooms = conditions.rooms()
    if (rooms.length > 0) {
      const isGone = known !== null && given.event === 'OnDeleted'
      const met = isGone ? NONE : await conditions.metAfter(given)
      const told = deliveriesByCondition(given, rooms, met)
      deliveries.push(...told.deliveries)
      if (told.doubtful.length > 0) this.#emit(namespace.adapter, told.doubtful, ['OnMissed'], given)
    }
    for (const delivery of deliveries) await this.#deliver(delivery, known ?? given, watched)
    this.#settle()
  }

  async #deliver(delivery: Delivery, change: Change, watched: WatchedEvent | null): Promise<void> {
    if (this.#open === null) return
    const { resource, namespace } = this.#open
    const { event, subscription, rooms, conditions } = delivery
    const data =
      event === 'OnDeleted' ? this.#goneIn(change) : [await payloadOf(resource, subscription, change, conditions)]
    if (data[0] === null) {
      if (conditions.length > 1) for (const one of apart(delivery)) await this.#deliver(one, change, watched)
      return
    }
    const all = rooms === null ? [OPEN] : [...rooms]
    const steps = stepsOf(all, sizeOf(namespace.adapter, all))
    for (const [index, step] of steps.entries()) {
      if (index > 0) await nextTurn()
      this.#emit(namespace.adapter, step, [event, ...data], change)
    }
    watched?.sent(rooms, socketsIn(namespace, rooms))
  }

  /** Arguments of `OnDeleted`: the key, and the version if all clients may see versions. */
  #goneIn(change: Change): readonly JsonValue[] {
    const version = this.#version === null ? undefined : valueIn(change, this.#version.name)
    return version === undefined ? [change.key] : [change.key, version ?? FIRST_VERSION]
  }

  /** `namespace.emit` would drop the promise of an adapter that fails later. */
  #emit(adapter: Namespace['adapter'], rooms: readonly string[], data: unknown[], change: Change): void {
    const packet = { type: EVENT, data }
    const flags = numbered(peersOf(this.#settings.io).server, this.#continuity.next())
    const options = { rooms: new Set([...rooms, EVERYWHERE]), except: new Set<string>(), flags }
    const sent: unknown = adapter.broadcast(packet, options)
    if (!isPending(sent)) return
    Promise.resolve(sent).catch((error: unknown) => {
      this.#report(this.#unsent(change.event, error), change.request)
      this.#missed()
    })
  }

  #unsent(event: string, cause: unknown): Error {
    // The message has no details, because database messages quote values. Logging redacts the cause.
    return new Error(`push: ${event} of ${this.#settings.path} could not be sent.`, { cause })
  }

  /** Uses up a number for an event that was not sent. Other servers see a gap. */
  #untold(): void {
    this.#continuity.next()
    this.#missed()
  }

  /** Sends `OnMissed` to the clients of this server, which then list the records again. */
  #missed(): void {
    this.#missedAt = Date.now()
    this.#owesMissed = true
    this.#settle()
  }

  #settle(): void {
    if (!this.#owesMissed || this.#open === null) return
    this.#owesMissed = false
    const again = (): void => {
      this.#owesMissed = true
    }
    try {
      const options = { rooms: new Set<string>(), except: new Set<string>(), flags: { local: true } }
      const sent: unknown = this.#open.namespace.adapter.broadcast({ type: EVENT, data: ['OnMissed'] }, options)
      if (isPending(sent)) Promise.resolve(sent).catch(again)
    } catch {
      again()
    }
  }

  /**
   * Adds the attributes that subscriptions choose rooms by. They are never removed: there are at most as many as the
   * resource has. Resolves when writes that began without them are finished.
   */
  async #watch(resource: Resource, subscriptions: readonly Subscription[]): Promise<void> {
    const names = new Set(subscriptions.flatMap(({ within }) => within))
    const fresh = resource.fields.filter((field) => names.has(field.name) && !this.#confining.includes(field))
    // In-flight writes do not evaluate the new conditions.
    const isByCondition = subscriptions.some(({ condition }) => condition.length > 0)
    if (fresh.length === 0 && !isByCondition) return
    this.#confining = [...this.#confining, ...fresh]
    this.#watched = [...this.#watched, ...fresh.filter((field) => !this.#watched.includes(field))]
    // After this turn, every write that was planned without the attributes has started.
    await nextTurn()
    await Promise.race([this.#turns.ended(), wait(PATIENCE, undefined, { ref: false })])
  }

  #report(error: unknown, request: Request | null): void {
    const asked = request ?? this.#latest
    if (this.#open !== null && asked !== null) report(error, asked, this.#open.resource.onError)
  }
}

const NONE: ReadonlySet<string> = new Set()

/** A delivery to rooms that the record has left. */
const LEFT = { event: 'OnDeleted', subscription: EVERYBODY, conditions: [] } as const

/** Whether a planned write may change values that choose rooms. */
function mayMove(plan: Plan, fields: readonly Field[]): boolean {
  switch (plan.kind) {
    case 'update':
      return fields.some(({ name }) => plan.changes.has(name) || plan.upkeep.values.has(name))
    case 'bulkUpdate':
      return plan.items.some((item) => mayMove(item, fields))
    case 'replace':
      return mayMove(plan.update, fields) || fields.some(({ name }) => plan.update.absent?.has(name) === true)
    case 'upsert':
      return plan.items.some(({ update }) => mayMove(update, fields))
    case 'action':
      return plan.record?.kind === 'update'
    default:
      return false
  }
}

/** Attributes that payloads are built from. */
function shownFields({ fields, computed }: Resource): readonly Field[] {
  const isShown = ({ targets }: Field): boolean => targets.has('response') || targets.has('list')
  const told = computed.filter((field) => isShown(field) && !field.computed.isPerCaller)
  return [...new Set([...fields.filter(isShown), ...told.flatMap((field) => field.computed.needs)])]
}

/** The version field, or null if there is none or if it is hidden from a caller. */
function shownVersionOf({ version, fields, behaviours }: Resource): Field | null {
  const field = fields.find(({ name }) => name === version)
  if (field === undefined || !field.targets.has('response') || !field.targets.has('list')) return null
  const anonymous = { request: NO_REQUEST, identity: null, instant: new Date() }
  return behaviours.readable?.(field, anonymous) === false ? null : field
}

/** Number of this process's sockets in the rooms. A socket in two rooms counts twice. */
function sizeOf({ rooms }: Namespace['adapter'], names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (rooms.get(name)?.size ?? 0), 0)
}

/** Number of this process's sockets in any of the rooms. null: all sockets. */
function socketsIn({ adapter, sockets }: Namespace, rooms: ReadonlySet<string> | null): number {
  if (rooms === null) return sockets.size
  const ids = [...rooms].flatMap((room) => [...(adapter.rooms.get(room) ?? [])])
  return new Set(ids).size
}

function isRead(change: Change): change is ReadChange {
  return change.row !== null
}

/** The change as it can be sent, or null if a later write has replaced it. The later write sends its own event. */
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
