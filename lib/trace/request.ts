import type { Call } from '../../types/call.js'
import type { Row } from '../../types/outcome.js'
import type { Content, Reply } from '../../types/reply.js'
import type { OperationName, Resource } from '../../types/resource.js'
import type { RequestMessage } from '../../types/trace.js'
import { Problem } from '../common/problem.js'
import { currentCause, type Mutable, REQUESTS, traceCause } from './channels.js'

/** The message of a request while the request is answered. */
export class TracedRequest {
  readonly #message: Mutable<RequestMessage>
  readonly #call: Call
  readonly #startedAt = performance.now()

  constructor(message: Mutable<RequestMessage>, call: Call) {
    this.#message = message
    this.#call = call
  }

  /** Sets the operation, which may be unknown before the request is parsed. */
  setOperation(operation: OperationName): void {
    this.#message.operation = operation
  }

  /** Counts the records of a reply. The records of an export are counted while they are sent. */
  countRecords(reply: Reply): Reply {
    this.#noteDisconnect()
    const { content } = reply
    this.#message.rows = countRows(content)
    if (content.kind !== 'export') return reply
    return {
      ...reply,
      content: { ...content, value: { ...content.value, batches: this.#countBatches(content.value.batches) } },
    }
  }

  noteError(error: unknown): void {
    this.#noteDisconnect()
    const cause: unknown = error instanceof Problem ? (error.cause ?? error) : error
    const name = cause instanceof Error ? cause.name : typeof cause
    this.#message.error = { code: error instanceof Problem ? error.code : 'internal', name }
  }

  /** Value of the header `Server-Timing`: the durations so far, in milliseconds. */
  serverTiming(): string {
    const { parseTime, planTime, databaseTime, statements } = this.#message
    const metrics: readonly (readonly [name: string, time: number])[] = [
      ['parse', parseTime],
      ['plan', planTime],
      [`database;desc="statements: ${statements}"`, databaseTime],
      ['total', performance.now() - this.#startedAt],
    ]
    return metrics.map(([name, time]) => `${name};dur=${time.toFixed(1)}`).join(', ')
  }

  /** Completes the message after the response. */
  finish(status: number): void {
    this.#message.status = status
    this.#noteDisconnect()
  }

  #noteDisconnect(): void {
    if (this.#call.isDisconnected) this.#message.aborted = true
  }

  async *#countBatches(batches: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[], void, undefined> {
    for await (const rows of batches) {
      this.#message.rows = (this.#message.rows ?? 0) + rows.length
      yield rows
    }
  }
}

export interface TracedTarget {
  readonly resource: Resource
  readonly relation: string | null
  readonly operation: OperationName | null
  /** Name of the called action. Absent for an operation. */
  readonly action?: string
}

/** Answers a request and publishes its message to subscribers. */
export function traceRequest(
  { resource, relation, operation, action }: TracedTarget,
  call: Call,
  response: { readonly status: number },
  answer: (trace: TracedRequest) => Promise<void>,
): Promise<void> {
  const message: Mutable<RequestMessage> = {
    kind: 'request',
    resource: resource.name,
    route: resource.route,
    relation,
    operation,
    ...(action === undefined ? {} : { action }),
    method: call.method,
    status: null,
    duration: null,
    aborted: false,
    rows: null,
    parseTime: 0,
    planTime: 0,
    statements: 0,
    databaseTime: 0,
    error: null,
  }
  const trace = new TracedRequest(message, call)
  return traceCause(REQUESTS, message, () => answer(trace).then(() => trace.finish(response.status)))
}

/** Adds the duration of a stage to the message of the current request. */
export function measureStage<T>(stage: 'parseTime' | 'planTime', work: () => T | Promise<T>): T | Promise<T> {
  const cause = currentCause()
  return cause?.kind === 'request' ? measure(cause, stage, work) : work()
}

async function measure<T>(
  cause: Mutable<RequestMessage>,
  stage: 'parseTime' | 'planTime',
  work: () => T | Promise<T>,
): Promise<T> {
  const begun = performance.now()
  try {
    return await work()
  } finally {
    cause[stage] += performance.now() - begun
  }
}

const ROW_COUNTERS: {
  readonly [kind in Content['kind']]: (content: Extract<Content, { kind: kind }>) => number | null
} = {
  nothing: () => null,
  record: () => 1,
  records: ({ value }) => value.length,
  page: ({ value }) => value.items.length,
  cursorPage: ({ value }) => value.items.length,
  keysetPage: ({ value }) => value.items.length,
  count: () => null,
  deleted: ({ value }) => value.deleted,
  upserted: ({ value }) => value.created + value.updated,
  linked: ({ value }) => value.linked,
  items: ({ value }) => value.items.length,
  export: () => 0,
  document: () => null,
}

function countRows<K extends Content['kind']>(content: Extract<Content, { kind: K }>): number | null {
  return ROW_COUNTERS[content.kind](content)
}
