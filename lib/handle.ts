import type { Action } from '../types/action.js'
import type { Call } from '../types/call.js'
import type { IdentityFunction } from '../types/identity.js'
import type { Intent } from '../types/intent.js'
import type { Caller, Plan } from '../types/plan.js'
import type { Reply } from '../types/reply.js'
import type { OperationName, Resource, Sent } from '../types/resource.js'
import type { OwnerLink } from '../types/view.js'
import type { Done, Finish, Ordering, Work } from '../types/work.js'
import { announced } from './announce.js'
import { askAgain, shownWithin, workFor } from './bodies/index.js'
import { withPreference } from './common/applied.js'
import { acceptEach } from './common/each.js'
import { tellHeaders } from './common/headers.js'
import { readsOnly } from './common/listing.js'
import { type Problem, problem } from './common/problem.js'
import { report } from './common/report.js'
import { type Cuttable, servingOf } from './common/serving.js'
import { originForm } from './common/target.js'
import { callerOf } from './identity/identity.js'
import { OPERATIONS } from './operations.js'
import { readAction } from './parse/action.js'
import { parse } from './parse/index.js'
import { isPrimaryPreferred, mostAffected } from './parse/prefer.js'
import { isQuery } from './parse/queried.js'
import { inLine, inRequest, type Once, performAll, performOnce } from './perform/index.js'
import { answeredFrom, replyFrom } from './perform/primary.js'
import { hiddenFrom } from './plan/index.js'
import {
  type Address,
  forgetPerCaller,
  minimalOf,
  resolveComputed,
  resolvedBatches,
  shape,
  shapeCollections,
  shownRows,
  showsComputedIn,
  withHeld,
} from './shape/index.js'
import { isWatched } from './watch/channels.js'
import { answerWatched, measured, type WatchedPlace, type WatchedRequest } from './watch/request.js'

/**
 * Replies to a call of one operation. The stages are: admit, parse, plan (resolve names, authorize resources), perform, announce, shape.
 * This function and `planFor` contain all of them.
 */
export async function handle(
  resource: Resource,
  operation: OperationName,
  call: Call,
  caller: Caller,
  { within, action }: Pick<Terms, 'within' | 'action'> = {},
): Promise<Reply> {
  await resource.behaviours.admit?.(resource, operation, caller, action?.name)
  const key = await resource.behaviours.ownKey?.(resource, caller)
  const intent = await measured('parseTime', () =>
    action === undefined
      ? parse(resource, resource.table[operation], call, hiddenFrom(caller, resource), key)
      : readAction(resource, action, call, key),
  )
  const admitted = { resource, operation, action, caller, call, address: new CallAddress(call) }
  return answer(admitted, within === undefined ? intent : within(intent))
}

/** Replaces the resource's identity function, and changes the parsed intent. */
export interface Terms {
  readonly identify?: IdentityFunction
  readonly within?: (intent: Intent) => Intent
  /** Action in place of the operation. */
  readonly action?: Action | undefined
}

/** Identifies the caller, then replies to the call. */
export async function replyTo(
  resource: Resource,
  operation: OperationName,
  call: Call,
  { identify, ...terms }: Terms = {},
): Promise<Reply> {
  tellHeaders(resource, call)
  return handle(resource, operation, call, await callerBy(identify ?? resource.identity, call), terms)
}

/** Caller with the identity from `identify`. Without a function, the caller is anonymous. */
export async function callerBy(identify: IdentityFunction | null, { request }: Pick<Call, 'request'>): Promise<Caller> {
  const identity = identify === null ? null : await callerOf(identify, request)
  return { request, identity, instant: new Date() }
}

/** Destination of the response to a call. */
export interface Outlet extends Cuttable {
  readonly status: number
  readonly reply: (reply: Reply) => void | Promise<void>
  /** Sends an error. */
  readonly refuse: (error: unknown) => void
  /** Rejects a call to a closed resource. */
  readonly turnAway: (problem: Problem) => void
  /** Tells the client to close the connection after this response. */
  readonly last: () => void
}

/** Resource and operation of a call, and whether the operation only reads. */
export interface Place extends WatchedPlace {
  readonly isRead: boolean
}

/** Sends the reply of `work`, or 503 if the resource is closed. Publishes the request on the diagnostics channels. */
export function serve(
  place: Place,
  call: Call,
  outlet: Outlet,
  work: (watched: WatchedRequest | null) => Promise<Reply>,
): Promise<void> {
  const { resource } = place
  const from = { isRead: place.isRead, isPreferred: isPrimaryPreferred(call.headers.prefer) }
  const serving = servingOf(resource)
  const { serverTiming } = resource
  const isTimed = typeof serverTiming === 'boolean' ? serverTiming : isTimedFor(resource, serverTiming, call)
  const served = async (watched: WatchedRequest | null): Promise<void> => {
    if (serving.isClosed) {
      const away = closed()
      watched?.failed(away)
      outlet.turnAway(away)
      return
    }
    const epoch = serving.begin()
    let isUntimed = isTimed
    const tellTiming = (): void => {
      isUntimed = false
      if (watched !== null) call.tell({ 'Server-Timing': watched.timing() })
    }
    try {
      const reply = replyFrom(resource, from, await work(watched))
      if (isUntimed) tellTiming()
      if (reply.content.kind === 'export') serving.streams(outlet)
      if (serving.isClosed) outlet.last()
      await outlet.reply(watched === null ? reply : watched.replied(reply))
    } catch (error) {
      watched?.failed(error)
      if (isUntimed) tellTiming()
      if (serving.isClosed) outlet.last()
      outlet.refuse(error)
    } finally {
      epoch.end()
    }
  }
  return answeredFrom(resource, call.request, from, () =>
    isTimed || isWatched() ? answerWatched(place, call, outlet, served) : served(null),
  )
}

/** Whether the host's function wants `Server-Timing`. Its error is reported and only omits the header. */
function isTimedFor(
  { onError }: Resource,
  serverTiming: Exclude<Resource['serverTiming'], boolean>,
  { request }: Call,
): boolean {
  try {
    return serverTiming(request) === true
  } catch (error) {
    report(error, request, onError)
    return false
  }
}

/** An authorized call of one operation. */
export interface Admitted {
  readonly resource: Resource
  readonly operation: OperationName
  /** Action in place of the operation. Absent for the operation itself. */
  readonly action?: Action | undefined
  readonly caller: Caller
  readonly call: Call
  readonly address: Address
  /** Changes the plan before it is performed. Default: no change. */
  readonly amend?: (plan: Plan) => Plan
  /** Additional resources whose scopes and masks make the response depend on the caller. */
  readonly sees?: readonly Resource[]
  /** For a list below a record of a many-to-many: the join rows of its records. */
  readonly link?: OwnerLink | null
}

/** Replies to an authorized request whose body has been read. */
export function answer(admitted: Admitted, sent: Intent): Promise<Reply> {
  const { format, isTransactional } = admitted.resource
  const reply = isTransactional
    ? inOne(admitted, (planned) => answerWithin(admitted, sent, planned))
    : answerWithin(admitted, sent)
  // An idempotency record stores the unformatted reply, so that a replay is formatted again.
  return format === null ? reply : reply.then((made) => ({ ...made, format }))
}

type Planned = (plan: Plan) => void

/**
 * Runs a write in one transaction with its policies, if the resource requires it. The operation's policy is evaluated again within the
 * transaction. The first evaluation only protects the body from being read.
 */
export async function inOne<T>(
  {
    resource,
    operation,
    action,
    caller,
    call,
  }: Pick<Admitted, 'resource' | 'operation' | 'action' | 'caller' | 'call'>,
  work: (planned: Planned) => Promise<T>,
): Promise<T> {
  const { isTransactional, behaviours } = resource
  if (!isTransactional || isRead(operation) || action?.isTransactional === false) return work(() => undefined)
  return inRequest(resource, call, async (planned) => {
    await behaviours.admit?.(resource, operation, caller, action?.name)
    return work(planned)
  })
}

async function answerWithin(admitted: Admitted, sent: Intent, planned?: Planned): Promise<Reply> {
  const { resource, operation, action, caller, call, address, amend, link = null, sees = [] } = admitted
  // The input of an action is not a record.
  const row = action === undefined ? resource.table[operation] : { body: null, status: action.status }
  const { accept } = resource.behaviours
  if (row.body !== null) await resource.canValidate
  const intent = accept && row.body !== null ? await acceptEach(sent, (one) => accept(resource, one, caller)) : sent
  const sentBy = { resource, operation, action, intent, caller, call }
  return around(sentBy, async () => {
    const meant = await measured('planTime', () =>
      workFor(resource, intent, caller, (headers) => call.tell(headers), link),
    )
    const amended = amend ? { ...meant, plan: amend(meant.plan) } : meant
    const work = sees.length === 0 ? amended : { ...amended, sees: [...(amended.sees ?? []), ...sees] }
    planned?.(work.plan)
    const made = (done: Done): Reply => {
      let reply = withHeld(shape(resource, row, work.plan, done.outcome, address), done)
      if (readsOnly(work.plan)) {
        // Computed values change without the record's entity tag, and the record of a singleton depends on the caller.
        const isVarying = resource.behaviours.ownKey !== null || showsComputedIn(work.plan)
        reply = { ...reply, responseBytes: resource.limits.responseBytes, isAlwaysSent: isVarying }
      }
      return isMinimal(intent) ? minimalOf(reply) : reply
    }
    return carriedOut(sentBy, work, made)
  })
}

/** Runs the behaviours that wrap replies. */
export function around(sent: Sent, reply: () => Promise<Reply>): Promise<Reply> {
  const { around } = sent.resource.behaviours
  return around ? around(sent, reply) : reply()
}

/** Performs the work and shapes its reply, or replays the stored reply of an idempotent write. */
export async function carriedOut(sent: Sent, work: Work, shaped: (done: Done) => Reply): Promise<Reply> {
  const { caller, resource, call } = sent
  // A work that changes links of a record leaves the record itself unchanged.
  const isLinking = work.plan.kind === 'get' && work.branches !== undefined
  const most = SEVERAL.has(sent.operation) || isLinking ? mostAffected(call.headers.prefer) : null
  const made = most === null ? shaped : (done: Done) => boundedReply(shaped(done), most)
  const { once } = resource.behaviours
  const held = () => shownWithin(resource, caller)
  const ticket = once ? await once(sent, { ...work, held }) : null
  const finish = most === null ? finishOf(sent, work) : boundedTo(most, finishOf(sent, work))
  if (ticket !== null) {
    // Values for the first of the unknown callers are not for the others.
    const kept = (done: Done, reply: Reply): Reply =>
      ticket.isShared && forgetPerCaller(shownRows(done)) ? made(done) : reply
    const write = (order: Ordering | undefined): Promise<Once> =>
      performOnce(work, call, { ticket, made, kept, order, finish })
    return inLine(ticket, () => performedOnce(work, caller, write))
  }
  const done = await performed(work, sent, finish)
  return made(await withRecords(work, isResolvedLast(work.plan) ? await resolvedRead(done, caller) : done))
}

/** Whether computed fields are resolved last: for reads, and for actions without a transaction. */
function isResolvedLast(plan: Plan): boolean {
  return readsOnly(plan) || (plan.kind === 'action' && !plan.action.isTransactional)
}

/** Operations on batches. */
const SEVERAL: ReadonlySet<OperationName> = new Set(['bulkCreate', 'bulkUpdate', 'bulkDelete', 'upsert'])

/** Rolls back a write that changes more records than `max-affected` allows. @throws Problem 400 */
function boundedTo(most: number, finish: Finish | undefined): Finish {
  return async (done, transaction) => {
    const count = affectedBy(done)
    if (count > most) {
      const detail = `The request changes ${count} records, more than max-affected=${most} allows. Nothing was written.`
      throw problem('bad-request', { detail })
    }
    await finish?.(done, transaction)
  }
}

function boundedReply(reply: Reply, most: number): Reply {
  return { ...reply, headers: withPreference(reply.headers, `max-affected=${most}`) }
}

/** Number of records or links that a write changed, without nested records. */
function affectedBy({ outcome, links }: Done): number {
  if (links !== undefined) return links.linked + links.unlinked
  if (outcome.kind === 'deleted') return outcome.count
  if (outcome.kind === 'parts') return outcome.parts.length
  return outcome.kind === 'records' ? outcome.rows.length : 1
}

/** Resolves computed fields of read records. */
async function resolvedRead(done: Done, { request, identity }: Caller): Promise<Done> {
  const { plan } = done.work
  const { outcome } = done
  if (!showsComputedIn(plan)) return done
  const context = { request, identity, transaction: null }
  if (outcome.kind !== 'export' || !('projection' in plan)) {
    await resolveComputed(shownRows(done), context)
    return done
  }
  return { ...done, outcome: { ...outcome, batches: await resolvedBatches(plan.projection, outcome.batches, context) } }
}

/** Resolves computed fields in the reply to a write, within its transaction. Undefined if the reply has none. */
function finishOf({ intent, caller: { request, identity } }: Sent, work: Work): Finish | undefined {
  const { plan, branches = [], items = [] } = work
  // The nested records are known only after they are written.
  const isTree = branches.length + items.length > 0
  if (isResolvedLast(plan) || isMinimal(intent) || !(isTree || showsComputedIn(plan))) return undefined
  return (done, transaction) => resolveComputed(shownRows(done), { request, identity, transaction })
}

function isMinimal(intent: Intent): boolean {
  return 'minimal' in intent && intent.minimal
}

/** Whether an operation is read-only. */
function isRead(operation: OperationName): boolean {
  return OPERATIONS[operation].hook === null
}

/** Adds the embedded collections to the records of an outcome. */
async function withRecords({ plan }: Work, done: Done): Promise<Done> {
  const { outcome } = done
  if (outcome.kind === 'acted' && outcome.shown !== null) {
    await shapeCollections(outcome.shown.plan.projection, outcome.shown.rows)
  }
  if (!('projection' in plan) || plan.projection.embeds === undefined) return done
  if (outcome.kind === 'record') await shapeCollections(plan.projection, [outcome.row])
  else if ('rows' in outcome && outcome.kind !== 'deleted') await shapeCollections(plan.projection, outcome.rows)
  return done
}

/** Performs a plan and announces it, if push is enabled: parents before children. */
function performed(work: Work, { caller, call }: Sent, finish: Finish | undefined): Promise<Done> {
  const { resource, branches, items } = work
  if (resource.behaviours.announce === null && branches === undefined && items === undefined)
    return performAll(work, call, undefined, finish)
  return announced(
    work,
    caller,
    (order) => performAll(work, call, order, finish),
    (done) => done,
  )
}

/** Performs a write with an `Idempotency-Key`. A replay sends no push events. */
async function performedOnce(
  work: Work,
  caller: Caller,
  write: (order: Ordering | undefined) => Promise<Once>,
): Promise<Reply> {
  const { reply, asked } = await announced(work, caller, write, ({ done }) => done)
  await askAgain(work, asked)
  return reply
}

/** Computed on demand, because few replies contain links or the path of their collection. */
class CallAddress implements Address {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  get url(): string | null {
    return isQuery(this.#call) ? null : originForm(this.#call.originalUrl)
  }

  get collection(): string {
    return pathOf(this.#call)
  }
}

/** Path of a call as the client sees it, without a trailing slash. */
export function pathOf({ path }: Call): string {
  let end = path.length
  // A regular expression would take quadratic time for a path with many slashes.
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

/** Problem for calls after the host has closed the resource. It is not reported to `onError`. */
function closed(): Problem {
  return problem('unavailable', {
    detail: 'The service is shutting down. Try again later.',
    headers: { 'Retry-After': '1' },
  })
}
