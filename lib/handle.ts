import type { Action } from '../types/action.js'
import type { Call } from '../types/call.js'
import type { IdentityFunction } from '../types/identity.js'
import type { Intent } from '../types/intent.js'
import type { Caller, Plan } from '../types/plan.js'
import type { Reply } from '../types/reply.js'
import type { OperationName, ParsedRequest, Resource } from '../types/resource.js'
import type { ParentLink } from '../types/view.js'
import type { CommitOrder, Finish, Work, WriteResult } from '../types/work.js'
import { announceWrite } from './announce.js'
import { planWork, readNestedProjections, repeatPolicyChecks } from './bodies/index.js'
import { addAppliedPreference } from './common/appliedPreference.js'
import { rewriteBodies } from './common/compositeWrites.js'
import { setResourceHeaders } from './common/headers.js'
import { readsOnly } from './common/listPlan.js'
import { type Problem, problem } from './common/problem.js'
import { isTrue } from './common/promise.js'
import { reportError } from './common/report.js'
import { toOriginForm } from './common/requestTarget.js'
import { type AbortableResponse, shutdownStateOf } from './common/shutdown.js'
import { identifyCaller } from './identity/identity.js'
import { OPERATIONS } from './operations.js'
import { readAction } from './parse/action.js'
import { parse } from './parse/index.js'
import { isPrimaryPreferred, readMaxAffected } from './parse/prefer.js'
import { isQueryMethod } from './parse/queryMethod.js'
import {
  type IdempotentResult,
  performIdempotentWork,
  performInRequest,
  performRead,
  performWrite,
  queueDuplicates,
} from './perform/index.js'
import { addReadTargetHeaders, withReadTarget } from './perform/readTarget.js'
import { hiddenFieldsOf, isFlattenedByCaller } from './plan/index.js'
import {
  type Address,
  addNestedRecords,
  CollectionBuilder,
  clearPerCallerValues,
  createReply,
  hasComputedInReply,
  omitRecords,
  resolveBatches,
  resolveComputed,
  rowsInReply,
} from './shape/index.js'
import { isTraced } from './trace/channels.js'
import { measureStage, type TracedRequest, type TracedTarget, traceRequest } from './trace/request.js'

/**
 * Options of `handle`: `identify` replaces the resource's identity function, and `limitIntent` changes the parsed
 * intent.
 */
export interface ReplyOptions {
  readonly identify?: IdentityFunction
  readonly limitIntent?: (intent: Intent) => Intent
  /** The action to call instead of the operation. */
  readonly action?: Action | undefined
}

/**
 * Identifies the caller, and replies to a call of one operation. The stages admit and parse are in this function.
 * `planAndReply` runs all other stages: authorize and plan (`planFor`), perform, announce and shape.
 */
export async function handle(
  resource: Resource,
  operation: OperationName,
  call: Call,
  { identify, limitIntent, action }: ReplyOptions = {},
): Promise<Reply> {
  const caller = await createCaller(identify ?? resource.identity, call)
  const { admit, ownKey } = resource.behaviours
  if (admit !== null) await admit(resource, operation, caller, action?.name)
  const key = ownKey === null ? undefined : await ownKey(resource, caller)
  const intent = await measureStage('parseTime', () =>
    action === undefined
      ? parse(resource, resource.operationTable[operation], call, hiddenFieldsOf(caller, resource), key)
      : readAction(resource, action, call, key),
  )
  const admitted = { resource, operation, action, caller, call, address: new CallAddress(call) }
  return await replyToIntent(admitted, limitIntent === undefined ? intent : limitIntent(intent))
}

/** Creates the caller with the identity from `identify`; anonymous without a function. */
export async function createCaller(
  identify: IdentityFunction | null,
  { request }: Pick<Call, 'request'>,
): Promise<Caller> {
  const identity = identify === null ? null : await identifyCaller(identify, request)
  return { request, identity, instant: new Date() }
}

/** The destination of the response to a call. */
export interface ResponseWriter extends AbortableResponse {
  readonly status: number
  readonly reply: (reply: Reply) => void | Promise<void>
  /** Sends an error. */
  readonly sendError: (error: unknown) => void
  /** Rejects a call to a closed resource. */
  readonly rejectClosed: (problem: Problem) => void
  /** Tells the client to close the connection after this response. */
  readonly closeConnection: () => void
}

/** The resource and operation of a call, and whether the operation only reads. */
export interface CallTarget extends TracedTarget {
  readonly isRead: boolean
}

/** Sends the reply of `work`, or 503 if the resource is closed. Publishes the request on the diagnostics channels. */
export function serve(
  target: CallTarget,
  call: Call,
  response: ResponseWriter,
  work: (trace: TracedRequest | null) => Promise<Reply>,
): Promise<void> {
  const { resource } = target
  setResourceHeaders(resource, call)
  const readTarget = { isRead: target.isRead, isPrimaryPreferred: isPrimaryPreferred(call.headers.prefer) }
  const shutdown = shutdownStateOf(resource)
  const { serverTiming } = resource
  const isTimed = typeof serverTiming === 'boolean' ? serverTiming : hasServerTiming(resource, serverTiming, call)
  const serveCall = async (trace: TracedRequest | null): Promise<void> => {
    if (shutdown.isClosed) {
      const closed = closedProblem()
      trace?.noteError(closed)
      response.rejectClosed(closed)
      return
    }
    const requests = shutdown.begin()
    let isTimingDue = isTimed
    const sendTiming = (): void => {
      isTimingDue = false
      if (trace !== null) call.addHeaders({ 'Server-Timing': trace.serverTiming() })
    }
    try {
      const reply = addReadTargetHeaders(resource, readTarget, await work(trace))
      if (isTimingDue) sendTiming()
      if (reply.content.kind === 'export') shutdown.addStream(response)
      if (shutdown.isClosed) response.closeConnection()
      await response.reply(trace === null ? reply : trace.countRecords(reply))
    } catch (error) {
      trace?.noteError(error)
      if (isTimingDue) sendTiming()
      if (shutdown.isClosed) response.closeConnection()
      response.sendError(error)
    } finally {
      requests.end()
    }
  }
  return withReadTarget(resource, call.request, readTarget, () =>
    isTimed || isTraced() ? traceRequest(target, call, response, serveCall) : serveCall(null),
  )
}

/** Whether the host's function requests `Server-Timing`. An error of the function is reported, and omits the header. */
function hasServerTiming(
  { onError }: Resource,
  serverTiming: Exclude<Resource['serverTiming'], boolean>,
  { request }: Call,
): boolean {
  try {
    return isTrue(serverTiming(request))
  } catch (error) {
    reportError(error, request, onError)
    return false
  }
}

/** An authorized call of one operation. */
export interface AuthorizedCall {
  readonly resource: Resource
  readonly operation: OperationName
  /** The action that the request calls. Absent if the request calls no action. */
  readonly action?: Action | undefined
  readonly caller: Caller
  readonly call: Call
  readonly address: Address
  /** Changes the plan before it is performed. Default: no change. */
  readonly amend?: (plan: Plan) => Plan
  /** Other resources whose scopes and masks make the response depend on the caller. */
  readonly dependsOn?: readonly Resource[]
  /** The error that replaces the write. A stored reply of the same request is replayed instead. */
  readonly refusal?: Error
  /** The join rows of the records, for a list below a record of a many-to-many. */
  readonly link?: ParentLink | null
}

/** Replies to an authorized request whose body has been read. */
export function replyToIntent(admitted: AuthorizedCall, parsedIntent: Intent): Promise<Reply> {
  const { format, isTransactional } = admitted.resource
  const reply = isTransactional
    ? runInTransaction(admitted, (planned) => planAndReply(admitted, parsedIntent, planned))
    : planAndReply(admitted, parsedIntent)
  // An idempotency record stores the unformatted reply, so that a replay is formatted again.
  return format === null ? reply : reply.then((made) => ({ ...made, format }))
}

type PlanListener = (plan: Plan) => void

/**
 * Runs a write in one transaction with its policies, if the resource requires it. The policy of the operation is
 * evaluated again within the transaction. The first evaluation only prevents that the body is read for a refused
 * caller.
 */
export async function runInTransaction<T>(
  {
    resource,
    operation,
    action,
    caller,
    call,
  }: Pick<AuthorizedCall, 'resource' | 'operation' | 'action' | 'caller' | 'call'>,
  work: (planned: PlanListener) => Promise<T>,
): Promise<T> {
  const { isTransactional, behaviours } = resource
  if (!isTransactional || isReadOperation(operation) || action?.isTransactional === false) return work(() => undefined)
  return performInRequest(resource, call, async (planned) => {
    await behaviours.admit?.(resource, operation, caller, action?.name)
    return work(planned)
  })
}

/**
 * Runs the stages after parse. If the request runs in one transaction, `planned` receives the plan, so that a failed
 * COMMIT is reported as an error of this plan.
 */
async function planAndReply(admitted: AuthorizedCall, parsedIntent: Intent, planned?: PlanListener): Promise<Reply> {
  const { resource, operation, action, caller, call, address, amend, link = null, dependsOn = [], refusal } = admitted
  // The input of an action is not a record.
  const row = action === undefined ? resource.operationTable[operation] : { body: null, status: action.status }
  const { accept } = resource.behaviours
  if (row.body !== null) await resource.canValidate
  const intent =
    accept && row.body !== null
      ? await rewriteBodies(parsedIntent, (one) => accept(resource, one, caller))
      : parsedIntent
  const parsedRequest = { resource, operation, action, intent, caller, call }
  return await wrapReply(parsedRequest, async () => {
    const unamended = await measureStage('planTime', () => planWork(resource, intent, caller, call, link))
    const amended = amend ? { ...unamended, plan: amend(unamended.plan) } : unamended
    const own =
      dependsOn.length === 0 ? amended : { ...amended, dependsOn: [...(amended.dependsOn ?? []), ...dependsOn] }
    const work = refusal === undefined ? own : { ...own, refusal }
    planned?.(work.plan)
    const shapeReply = (done: WriteResult): Reply => {
      let reply = addNestedRecords(createReply(resource, row, work.plan, done.outcome, address), done)
      if (readsOnly(work.plan)) {
        // The entity tag does not cover computed values, masks, nor which record of a singleton the caller has.
        const isVarying =
          resource.behaviours.ownKey !== null ||
          hasComputedInReply(work.plan) ||
          (reply.headers.ETag !== undefined && (isFlattenedByCaller(resource) || isMasked(work.plan, call)))
        reply = { ...reply, responseBytes: resource.limits.responseBytes, isAlwaysSent: isVarying }
      }
      return hasMinimalReturn(intent) ? omitRecords(reply) : reply
    }
    return await performPlan(parsedRequest, work, shapeReply)
  })
}

/**
 * Whether the reply has masked fields, so that a 304 could show them: a browser may send the tag of the response that
 * its former user got. `*` names no response.
 */
function isMasked(plan: Plan, { headers }: Call): boolean {
  const masked = plan.kind === 'get' ? plan.projection.masked : undefined
  return masked !== undefined && masked.length > 0 && headers['if-none-match'] !== '*'
}

/** Runs the behaviours that wrap replies. */
export function wrapReply(call: ParsedRequest, reply: () => Promise<Reply>): Promise<Reply> {
  const { around } = call.resource.behaviours
  return around ? around(call, reply) : reply()
}

/** Performs the work and shapes its reply. */
export async function performPlan(
  request: ParsedRequest,
  work: Work,
  shaped: (done: WriteResult) => Reply,
): Promise<Reply> {
  return isRead(work) ? shaped(await readRecords(request, work)) : performAndReply(request, work, shaped)
}

/** Whether the work only reads. A `get` plan with nested writes reads the parent of these writes. */
function isRead({ plan, nestedWrites, items }: Work): boolean {
  return readsOnly(plan) && nestedWrites === undefined && items === undefined
}

async function readRecords({ caller, call }: ParsedRequest, work: Work): Promise<WriteResult> {
  const done = await performRead(work, call)
  return completeRecords(hasComputedInReply(work.plan) ? await resolveReadComputed(done, caller) : done)
}

/** Builds the collections in the records of a reply. */
async function completeRecords(done: WriteResult): Promise<WriteResult> {
  const { plan } = done.work
  if ('projection' in plan && plan.projection.embeds === undefined) return done
  const builder = new CollectionBuilder()
  for (const [projection, rows] of rowsInReply(done)) await builder.build(projection, rows)
  return done
}

/** Performs a write and shapes its reply, or replays the stored reply of an idempotent write. */
async function performAndReply(
  request: ParsedRequest,
  work: Work,
  shaped: (done: WriteResult) => Reply,
): Promise<Reply> {
  const { caller, resource, call } = request
  // A work that changes links of a record does not write the record itself.
  const isLinking = work.plan.kind === 'get'
  const most = BATCH_OPERATIONS.has(request.operation) || isLinking ? readMaxAffected(call.headers.prefer) : null
  const made = most === null ? shaped : (done: WriteResult) => confirmMaxAffected(shaped(done), most)
  const { resolveIdempotency } = resource.behaviours
  const nestedProjections = () => readNestedProjections(resource, caller)
  const idempotency = resolveIdempotency ? await resolveIdempotency(request, { ...work, nestedProjections }) : null
  const finish = most === null ? createFinish(request, work) : limitAffected(most, createFinish(request, work))
  if (idempotency !== null) {
    // Values that depend on the caller are removed, because several unidentified callers share the stored reply.
    const reshapeShared = (done: WriteResult, reply: Reply): Reply =>
      idempotency.isShared && clearPerCallerValues(rowsInReply(done)) ? made(done) : reply
    const write = (order: CommitOrder | undefined): Promise<IdempotentResult> =>
      performIdempotentWork(work, call, { idempotency, made, toStored: reshapeShared, order, finish })
    return queueDuplicates(resource, idempotency, () => performIdempotent(work, caller, write))
  }
  const done = await performAnnounced(work, request, finish)
  const { plan } = work
  const resolved = isComputedLast(plan) && hasComputedInReply(plan) ? await resolveReadComputed(done, caller) : done
  return made(await completeRecords(resolved))
}

/** Whether computed fields are resolved after the work: in reads, and in actions without a transaction. */
function isComputedLast(plan: Plan): boolean {
  return readsOnly(plan) || (plan.kind === 'action' && !plan.action.isTransactional)
}

const BATCH_OPERATIONS: ReadonlySet<OperationName> = new Set(['bulkCreate', 'bulkUpdate', 'bulkDelete', 'upsert'])

/** Rolls back a write that changes more records than `max-affected` allows. @throws Problem 400 */
function limitAffected(most: number, finish: Finish | undefined): Finish {
  return async (done, transaction) => {
    const count = countAffected(done)
    if (count > most) {
      const detail = `The request changes ${count} records, more than max-affected=${most} allows. Nothing was written.`
      throw problem('bad-request', { detail })
    }
    await finish?.(done, transaction)
  }
}

function confirmMaxAffected(reply: Reply, most: number): Reply {
  return { ...reply, headers: addAppliedPreference(reply.headers, `max-affected=${most}`) }
}

/** Returns the number of records or links that a write changed, without nested records. */
function countAffected({ outcome, linkCounts }: WriteResult): number {
  if (linkCounts !== undefined) return linkCounts.linked + linkCounts.unlinked
  if (outcome.kind === 'deleted') return outcome.count
  if (outcome.kind === 'parts') return outcome.parts.length
  return outcome.kind === 'records' ? outcome.rows.length : 1
}

/** Resolves computed fields of read records. */
async function resolveReadComputed(done: WriteResult, { request, identity }: Caller): Promise<WriteResult> {
  const { plan } = done.work
  const { outcome } = done
  const context = { request, identity, transaction: null }
  if (outcome.kind !== 'export' || !('projection' in plan)) {
    await resolveComputed(rowsInReply(done), context)
    return done
  }
  return { ...done, outcome: { ...outcome, batches: await resolveBatches(plan.projection, outcome.batches, context) } }
}

/**
 * Creates the function that resolves computed fields in the reply to a write, within its transaction. Undefined if the
 * reply has no computed fields.
 */
function createFinish({ intent, caller: { request, identity } }: ParsedRequest, work: Work): Finish | undefined {
  const { plan, nestedResources = [] } = work
  if (isComputedLast(plan) || hasMinimalReturn(intent)) return undefined
  // Nested records are known only after they are written.
  const hasComputed = hasComputedInReply(plan) || nestedResources.some(({ computed }) => computed.length > 0)
  if (!hasComputed) return undefined
  return (done, transaction) => resolveComputed(rowsInReply(done), { request, identity, transaction })
}

function hasMinimalReturn(intent: Intent): boolean {
  return 'minimal' in intent && intent.minimal
}

function isReadOperation(operation: OperationName): boolean {
  return OPERATIONS[operation].hook === null
}

/** Performs a write and, if push is enabled, announces it: parents before children. */
function performAnnounced(
  work: Work,
  { caller, call }: ParsedRequest,
  finish: Finish | undefined,
): Promise<WriteResult> {
  const { resource, nestedResources = [] } = work
  if ([resource, ...nestedResources].every(({ behaviours }) => behaviours.announceWrite === null))
    return performWrite(work, call, undefined, finish)
  return announceWrite(
    work,
    caller,
    (order) => performWrite(work, call, order, finish),
    (done) => done,
  )
}

/** Performs a write with an `Idempotency-Key`. A replay sends no push events. */
async function performIdempotent(
  work: Work,
  caller: Caller,
  write: (order: CommitOrder | undefined) => Promise<IdempotentResult>,
): Promise<Reply> {
  const { reply, passedPolicies } = await announceWrite(work, caller, write, ({ done }) => done)
  await repeatPolicyChecks(work, passedPolicies)
  return reply
}

/** The addresses in a reply, computed on demand, because few replies contain links or the path of their collection. */
class CallAddress implements Address {
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  get url(): string | null {
    return isQueryMethod(this.#call) ? null : toOriginForm(this.#call.originalUrl)
  }

  get collection(): string {
    return pathOf(this.#call)
  }
}

/** Returns the path of a call as the client sees it, without trailing slashes. */
export function pathOf({ originalUrl }: Call): string {
  const [path = ''] = toOriginForm(originalUrl).split('?', 1)
  let end = path.length
  // A regular expression would take quadratic time for a path with many slashes.
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

/** Creates the problem for calls after the host has closed the resource. It is not reported to `onError`. */
function closedProblem(): Problem {
  return problem('unavailable', {
    detail: 'The service is shutting down. Try again later.',
    headers: { 'Retry-After': '1' },
  })
}
