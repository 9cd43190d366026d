import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { CommitPosition } from '../../types/commitPosition.js'
import type { Request } from '../../types/express.js'
import type { Field, JsonValue } from '../../types/field.js'
import type { KeyValue, Plan } from '../../types/plan.js'
import type { Change, ChangeWithValues, Namespace, Publisher, Server, Socket } from '../../types/push.js'
import type { Resource } from '../../types/resource.js'
import type { RecordBefore, Tracking } from '../../types/rooms.js'
import { CrudConfigError } from '../common/errors.js'
import { keyColumns } from '../common/keys.js'
import { Problem, problem } from '../common/problem.js'
import { isPromise } from '../common/promise.js'
import { visibleVersionOf } from '../common/pushReads.js'
import { reportError } from '../common/report.js'
import { FIRST_VERSION } from '../common/version.js'
import { matchRecord, readRow } from '../read.js'
import { isTraced } from '../trace/channels.js'
import { noteOrigin, type TracedEvent, traceEvent } from '../trace/event.js'
import { canCountEvents, createNumberFlags, observeAdapter } from './adapter.js'
import { type Admission, admitConnection, type ConnectionRequest, toRequest } from './admission.js'
import { BackgroundQueue } from './backgroundQueue.js'
import { CLUSTER_TIMEOUT, ClusterSubscriptions } from './cluster.js'
import { CommitPositions } from './commitPositions.js'
import { ConditionRooms } from './conditionRooms.js'
import { Connections, recoveryDurationOf } from './connections.js'
import { GapDetector } from './gapDetector.js'
import { KeyLock } from './keyLock.js'
import { buildPayload, readChangeValue } from './payload.js'
import { peersOf } from './peers.js'
import {
  type Delivery,
  findRoomsLeft,
  hasRoomsByValue,
  planDeliveriesByCondition,
  planDeliveriesByValue,
  splitByRoom,
} from './recipients.js'
import { EVERY_EVENT_ROOM, roomNameOf, splitIntoSteps } from './room.js'
import { trackConnectionRequests } from './sessionRecovery.js'
import { EVERYBODY, type Subscription, serializeSubscription } from './subscription.js'

/** Paths of the open hubs, by Socket.IO server. */
const takenPaths = new WeakMap<Server, Set<string>>()

/** Type of an event packet in Socket.IO's protocol. */
const EVENT_PACKET = 2

/** Room of all clients of a resource without policies, masks and scope. */
const EVERYBODY_ROOM = roomNameOf(serializeSubscription(EVERYBODY), [])

const hubs = new WeakMap<Resource, Hub>()

/** The hub of a resource, or null if it has none. */
export function hubOf(resource: Resource): Hub | null {
  return hubs.get(resource) ?? null
}

interface OpenHub {
  readonly resource: Resource
  readonly namespace: Namespace
  readonly cluster: ClusterSubscriptions
  readonly conditions: ConditionRooms
}

export interface HubSettings {
  readonly io: Server
  readonly path: string
}

/**
 * A Socket.IO namespace that sends a resource's changes to its subscribers. Each subscriber receives the record as GET
 * would show it. Events that clients send are ignored.
 */
export class Hub implements Publisher {
  readonly #settings: HubSettings
  readonly #queue = new BackgroundQueue<Change>(
    (change) => this.#sendChange(change),
    (error, change) => {
      this.#report(this.#createSendError(change.event, error), change.request)
      this.#noteUnsent()
    },
  )
  readonly #keyLock = new KeyLock<KeyValue>()
  readonly #commitPositions = new CommitPositions<JsonValue>()
  #open: OpenHub | null = null
  #closing: Promise<void> | null = null
  #payloadFields: readonly Field[] = []
  #roomFields: readonly Field[] = []
  #version: Field | null = null
  // The request that is reported with errors of the adapter. The adapter does not name the request that caused an
  // error.
  #latestRequest: Request | null = null
  readonly #gapDetector = new GapDetector({
    hasListeners: () => this.#open !== null && this.#open.namespace.sockets.size > 0,
    onMissed: () => this.#noteMissed(),
  })
  #leavePeers: () => void = () => undefined
  /**
   * Instant at which clients last missed events, in milliseconds since the epoch. -Infinity if no missed events are
   * known.
   */
  #missedAt = Number.NEGATIVE_INFINITY
  #isMissedPending = false

  constructor(settings: HubSettings) {
    this.#settings = settings
  }

  /** Checks that no other hub uses the path. @throws CrudConfigError if another hub has the namespace */
  assertFree(model: string): void {
    const { io, path } = this.#settings
    if (!takenPaths.get(io)?.has(path)) return
    throw new CrudConfigError(
      'HUB_PATH_TAKEN',
      `${model}: push: another resource uses the path "${path}". Set a different push.path.`,
    )
  }

  /** Creates the namespace. @throws CrudConfigError if another hub has the namespace */
  openNamespace(model: string): Namespace {
    this.assertFree(model)
    const { io, path } = this.#settings
    try {
      const namespace = io.of(path)
      takenPaths.set(io, (takenPaths.get(io) ?? new Set()).add(path))
      return namespace
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new CrudConfigError(
        'INVALID_OPTION',
        `${model}: push: Socket.IO cannot open the namespace "${path}": ${reason}`,
      )
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
    takenPaths.get(io)?.delete(path)
    // The root namespace stays open, because every client connects through it.
    if (path !== '/') io._nsps.delete(path)
    await ended
    await this.#queue.whenIdle()
    this.#leavePeers()
    this.#gapDetector.close()
    this.#open = null
    // Only sockets of this server are disconnected, because other servers may stay open.
    namespace.local.disconnectSockets()
    // The cluster announces the closed subscriptions in this turn of the event loop.
    await nextTurn()
    if (path !== '/') await namespace.adapter.close()
  }

  /** Starts to admit clients. */
  acceptClients(resource: Resource, namespace: Namespace): void {
    hubs.set(resource, this)
    this.#payloadFields = findPayloadFields(resource)
    this.#version = visibleVersionOf(resource)
    const names = new Set(resource.fields.map(({ name }) => name))
    const cluster = new ClusterSubscriptions(namespace, {
      isAttribute: (name) => names.has(name),
      onSubscriptionsAdded: (subscriptions) => this.#addRoomFields(resource, subscriptions),
      report: (error) => this.#report(error, null),
      onMissed: () => this.#noteMissed(),
      onUnsent: () => this.#noteUnsent(),
      recoveryDuration: recoveryDurationOf(namespace),
      maxConditionRooms: resource.limits.pushRooms,
    })
    const conditions = new ConditionRooms(resource, cluster, (error) => this.#report(error, null))
    this.#leavePeers = peersOf(this.#settings.io).join(this.#settings.path, {
      gapDetector: this.#gapDetector,
      canCountEvents: () => canCountEvents(namespace),
      noteMissed: () => this.#noteMissed(),
      sendMissed: () => this.#sendMissed(),
      announce: () => cluster.announce(),
      missedAgo: () => (Number.isFinite(this.#missedAt) ? Date.now() - this.#missedAt : null),
      noteMissedElsewhere: (ago) => {
        this.#missedAt = Math.max(this.#missedAt, Date.now() - ago)
      },
    })
    this.#open = { resource, namespace, cluster, conditions }
    trackConnectionRequests(namespace)
    // Authorizes a caller only once per connection.
    const admissions = new WeakMap<object, Promise<Admission>>()
    const admit = (connection: ConnectionRequest): Promise<Admission> => {
      const admission = admitConnection(resource, connection)
      admissions.set(connection.handshake.auth, admission)
      return admission
    }
    observeAdapter(namespace, {
      admitConnection: admit,
      report: (error) => this.#report(error, null),
      onArrival: (server, number) => this.#gapDetector.noteArrival(server, number),
      onFailure: () => {
        this.#missedAt = Date.now()
      },
      canRestoreSessions: () => Date.now() - this.#missedAt > recoveryDurationOf(namespace),
    })
    new Connections(namespace, cluster, (socket) => {
      return this.#admit(socket, () => admissions.get(socket.handshake.auth) ?? admitConnection(resource, socket))
    })
  }

  pushedFields(): readonly Field[] {
    return this.#payloadFields
  }

  scopeFields(): readonly Field[] {
    return this.#roomFields
  }

  deletionFields(): readonly Field[] {
    const isThere = this.#version === null || this.#roomFields.includes(this.#version)
    return this.#version === null || isThere ? this.#roomFields : [...this.#roomFields, this.#version]
  }

  serializeWrites<T>(keys: readonly KeyValue[], write: () => Promise<T>): Promise<T> {
    // If the resource has a scope, the subscriptions of other servers are requested before the write. The write does
    // not wait for the answers.
    if (this.#open !== null && this.#open.resource.behaviours.resolveScope !== null)
      void this.#open.cluster.synchronize()
    return this.#keyLock.runLocked(keys, write)
  }

  noteCommitOrder(position: CommitPosition, keys: () => readonly JsonValue[]): void {
    this.#commitPositions.addPosition(keys, position)
  }

  expectWrite(position: CommitPosition): void {
    this.#commitPositions.expect(position)
  }

  isOrderUnknown(position: CommitPosition, key: JsonValue): boolean {
    return this.#commitPositions.isDoubtful(position, key)
  }

  selectTracking(plan: Plan, hasModelHooks: boolean): Tracking | null {
    if (this.#open === null) return null
    const { cluster, conditions: known } = this.#open
    const isMoving = canChangeRooms(plan, this.#roomFields, hasModelHooks)
    const fields = isMoving && hasRoomsByValue(cluster) ? this.#roomFields : []
    const conditions = known.distinctConditions()
    return fields.length + conditions.length === 0 ? null : { conditions, fields }
  }

  /** Reads which conditions a record meets before the host's own code changes it. */
  async readBefore(key: JsonValue): Promise<RecordBefore> {
    if (this.#open === null) return { evaluated: new Set(), met: new Set(), values: new Map() }
    const { cluster, conditions } = this.#open
    await cluster.synchronize()
    const evaluated = new Set(conditions.distinctConditions().map(({ name }) => name))
    return { evaluated, met: await conditions.findMet(key), values: new Map() }
  }

  publish(changes: readonly Change[], after: Promise<void> | null): Promise<void> {
    noteOrigin(changes)
    this.#open?.conditions.evaluateTogether(changes)
    return this.#queue.add(changes, after)
  }

  async #admit(socket: Socket, admitted: () => Promise<Admission>): Promise<Admission> {
    this.#latestRequest = socket.request as Request
    if (this.#open === null) throw problem('not-found')
    try {
      return await admitted()
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) this.#report(error, toRequest(socket))
      throw error
    }
  }

  #sendChange(change: Change): Promise<void> {
    if (!isTraced() || this.#open === null) return this.#sendDeliveries(change, null)
    const position = { resource: this.#open.resource.name, path: this.#settings.path, change }
    return traceEvent(position, (watched) => this.#sendDeliveries(change, watched))
  }

  async #sendDeliveries(given: Change, watched: TracedEvent | null): Promise<void> {
    if (this.#open === null) return
    const { resource, namespace, cluster, conditions } = this.#open
    this.#latestRequest = given.request
    await cluster.synchronize()
    const known = await resolveChange(resource, given)
    const deliveries = known === null || given.isMove ? [] : [...planDeliveriesByValue(resource, cluster, known)]
    const roomsLeft =
      given.before === null || given.event === 'OnDeleted' ? [] : [...findRoomsLeft(cluster, given.before, known)]
    if (roomsLeft.length > 0) deliveries.push({ ...DEPARTURE, rooms: new Set(roomsLeft) })
    const rooms = conditions.rooms()
    if (rooms.length > 0) {
      const isGone = known !== null && given.event === 'OnDeleted'
      const met = isGone ? NO_NAMES : await conditions.findMetAfter(given)
      const planned = planDeliveriesByCondition(given, rooms, met)
      deliveries.push(...planned.deliveries)
      if (planned.uncertainRooms.length > 0) this.#emit(namespace.adapter, planned.uncertainRooms, ['OnMissed'], given)
    }
    for (const delivery of deliveries) await this.#deliver(delivery, known ?? given, watched)
    this.#sendMissed()
  }

  async #deliver(delivery: Delivery, change: Change, watched: TracedEvent | null): Promise<void> {
    if (this.#open === null) return
    const { resource, namespace } = this.#open
    const { event, subscription, rooms, conditions } = delivery
    const data =
      event === 'OnDeleted'
        ? this.#deletionData(change)
        : [await buildPayload(resource, subscription, change, conditions)]
    if (data[0] === null) {
      if (conditions.length > 1) for (const one of splitByRoom(delivery)) await this.#deliver(one, change, watched)
      return
    }
    const all = rooms === null ? [EVERYBODY_ROOM] : [...rooms]
    const steps = splitIntoSteps(all, countSockets(namespace.adapter, all))
    for (const [index, step] of steps.entries()) {
      if (index > 0) await nextTurn()
      this.#emit(namespace.adapter, step, [event, ...data], change)
    }
    watched?.addRecipients(rooms, countDistinctSockets(namespace, rooms))
  }

  /** Arguments of `OnDeleted`: the key, and the version if all clients may see versions. */
  #deletionData(change: Change): readonly JsonValue[] {
    const version = this.#version === null ? undefined : readChangeValue(change, this.#version.name)
    return version === undefined ? [change.key] : [change.key, version ?? FIRST_VERSION]
  }

  /**
   * Broadcasts an event through the adapter. `namespace.emit` would drop the promise of an adapter, and with it later
   * errors.
   */
  #emit(adapter: Namespace['adapter'], rooms: readonly string[], data: unknown[], change: Change): void {
    const packet = { type: EVENT_PACKET, data }
    const flags = createNumberFlags(peersOf(this.#settings.io).server, this.#gapDetector.nextNumber())
    const options = { rooms: new Set([...rooms, EVERY_EVENT_ROOM]), except: new Set<string>(), flags }
    const broadcast: unknown = adapter.broadcast(packet, options)
    if (!isPromise(broadcast)) return
    Promise.resolve(broadcast).catch((error: unknown) => {
      this.#report(this.#createSendError(change.event, error), change.request)
      this.#noteMissed()
    })
  }

  #createSendError(event: string, cause: unknown): Error {
    // The message has no details, because database messages quote values. Logging redacts the cause.
    return new Error(`push: ${event} of ${this.#settings.path} could not be sent.`, { cause })
  }

  /** Skips an event number for an event that was not sent, so that other servers detect a gap. */
  #noteUnsent(): void {
    this.#gapDetector.nextNumber()
    this.#noteMissed()
  }

  /** Sends `OnMissed` to the clients of this server, so that they list the records again. */
  #noteMissed(): void {
    this.#missedAt = Date.now()
    this.#isMissedPending = true
    this.#sendMissed()
  }

  #sendMissed(): void {
    if (!this.#isMissedPending || this.#open === null) return
    this.#isMissedPending = false
    const again = (): void => {
      this.#isMissedPending = true
    }
    try {
      const options = { rooms: new Set<string>(), except: new Set<string>(), flags: { local: true } }
      const broadcast: unknown = this.#open.namespace.adapter.broadcast(
        { type: EVENT_PACKET, data: ['OnMissed'] },
        options,
      )
      if (isPromise(broadcast)) Promise.resolve(broadcast).catch(again)
    } catch {
      again()
    }
  }

  /**
   * Adds the attributes whose values choose rooms. Attributes are never removed. Resolves when writes that were planned
   * without the attributes have ended.
   */
  async #addRoomFields(resource: Resource, subscriptions: readonly Subscription[]): Promise<void> {
    const names = new Set(subscriptions.flatMap(({ fixedAttributes }) => fixedAttributes))
    const added = resource.fields.filter((field) => names.has(field.name) && !this.#roomFields.includes(field))
    // In-flight writes do not evaluate the new conditions.
    const isByCondition = subscriptions.some(({ condition }) => condition.length > 0)
    if (added.length === 0 && !isByCondition) return
    this.#roomFields = [...this.#roomFields, ...added]
    this.#payloadFields = [...this.#payloadFields, ...added.filter((field) => !this.#payloadFields.includes(field))]
    // After this turn, every write that was planned without the attributes has started.
    await nextTurn()
    await Promise.race([this.#keyLock.whenIdle(), wait(CLUSTER_TIMEOUT, undefined, { ref: false })])
  }

  #report(error: unknown, request: Request | null): void {
    const origin = request ?? this.#latestRequest
    if (this.#open !== null && origin !== null) reportError(error, origin, this.#open.resource.onError)
  }
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** A delivery to rooms that the record has left. */
const DEPARTURE = { event: 'OnDeleted', subscription: EVERYBODY, conditions: [] } as const

/** Whether a planned write may change values that choose rooms. Hooks may change any value. */
function canChangeRooms(plan: Plan, fields: readonly Field[], hasModelHooks: boolean): boolean {
  switch (plan.kind) {
    case 'update':
      return (
        hasModelHooks ||
        plan.before !== null ||
        plan.after !== null ||
        fields.some(({ name }) => plan.changes.has(name) || plan.serverValues.values.has(name))
      )
    case 'bulkUpdate':
      return plan.items.some((item) => canChangeRooms(item, fields, hasModelHooks))
    case 'replace':
      return (
        canChangeRooms(plan.update, fields, hasModelHooks) ||
        fields.some(({ name }) => plan.update.missingAttributes?.has(name) === true)
      )
    case 'upsert':
      return plan.items.some(({ update }) => canChangeRooms(update, fields, hasModelHooks))
    case 'action':
      return plan.record?.kind === 'update'
    default:
      return false
  }
}

/** Fields that the hub reads to build payloads. */
function findPayloadFields({ fields, computed }: Resource): readonly Field[] {
  const isShown = ({ targets }: Field): boolean => targets.has('response') || targets.has('list')
  const shown = computed.filter((field) => isShown(field) && !field.computed.isPerCaller)
  return [...new Set([...fields.filter(isShown), ...shown.flatMap((field) => field.computed.needs)])]
}

/** Number of this process's sockets in the rooms. A socket in two rooms counts twice. */
function countSockets({ rooms }: Namespace['adapter'], names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (rooms.get(name)?.size ?? 0), 0)
}

/** Number of this process's sockets in any of the rooms. null: all sockets. */
function countDistinctSockets({ adapter, sockets }: Namespace, rooms: ReadonlySet<string> | null): number {
  if (rooms === null) return sockets.size
  const ids = [...rooms].flatMap((room) => [...(adapter.rooms.get(room) ?? [])])
  return new Set(ids).size
}

function isChangeWithValues(change: Change): change is ChangeWithValues {
  return change.row !== null
}

/**
 * Returns the change with the record's row, or null if a later write has replaced it. The later write sends its own
 * event.
 */
async function resolveChange(resource: Resource, change: Change): Promise<ChangeWithValues | null> {
  if (isChangeWithValues(change) && !change.isUncertain) return change
  if (change.event !== 'OnDeleted' || !isChangeWithValues(change)) return readChange(resource, change)
  return (await readChange(resource, { ...change, columns: keyColumns(resource.keys) })) === null ? change : null
}

async function readChange(resource: Resource, change: Change): Promise<ChangeWithValues | null> {
  const { columns, key } = change
  const row = await readRow(resource, matchRecord(resource, key), { columns, members: [] })
  return row === null ? null : { ...change, row }
}
