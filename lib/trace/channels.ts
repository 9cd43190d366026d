import { AsyncLocalStorage } from 'node:async_hooks'
import { type Channel, channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { EventMessage, RequestMessage, StatementMessage, WatchedError } from '../../types/trace.js'

/** A message whose members are still being set. */
export type Mutable<M> = { -readonly [member in keyof M]: M[member] }

/** Message of the request or push event that runs statements. */
export type Cause = Mutable<RequestMessage> | Mutable<EventMessage>

export const REQUESTS: TracingChannel<unknown, RequestMessage> = tracingChannel('sequelize-crud-router.request')
export const STATEMENTS: TracingChannel<unknown, StatementMessage> = tracingChannel('sequelize-crud-router.statement')
export const EVENTS: TracingChannel<unknown, EventMessage> = tracingChannel('sequelize-crud-router.event')

/** Channel of messages about mounted resources. */
export const MOUNTS: Channel = channel('sequelize-crud-router.mount')

/** Message of the current request or push event. Without subscribers, it is never set and costs nothing. */
const causes = new AsyncLocalStorage<Cause | undefined>()

/** Whether the channel of requests, statements or push events has subscribers. */
export function isTraced(): boolean {
  return REQUESTS.hasSubscribers || STATEMENTS.hasSubscribers || EVENTS.hasSubscribers
}

/** Message of the current request or push event. undefined without subscribers. */
export function currentCause(): Cause | undefined {
  return causes.getStore()
}

/** Runs work for the whole process. Statements of the work are not attributed to the current request. */
export function withoutCause<T>(work: () => Promise<T>): Promise<T> {
  return currentCause() === undefined ? work() : causes.run(undefined, work)
}

/** Runs the work of a request or push event, and attributes statements of the work to it. */
export function traceCause<M extends Cause, T>(
  channel: TracingChannel<unknown, M>,
  message: M,
  work: () => Promise<T>,
): Promise<T> {
  return trace(channel, message, () => causes.run(message, work))
}

/**
 * Publishes the messages of an asynchronous tracing channel. Node's `tracePromise` would publish whole errors, whose
 * messages contain values.
 */
export function trace<M extends { duration: number | null; error: WatchedError | null }, T>(
  channel: TracingChannel<unknown, M>,
  message: M,
  work: () => Promise<T>,
  ended: (value: T) => void = () => undefined,
): Promise<T> {
  const { start, end, asyncStart, asyncEnd, error } = channel
  const begun = performance.now()
  const publishEnd = (): void => {
    message.duration = performance.now() - begun
    if (message.error !== null) error.publish(message)
    asyncStart.publish(message)
    asyncEnd.publish(message)
  }
  return start.runStores(message, () => {
    const working = work()
    end.publish(message)
    return working.then(
      (value) => {
        ended(value)
        publishEnd()
        return value
      },
      (thrown: unknown) => {
        message.error ??= toTracedError(thrown)
        publishEnd()
        throw thrown
      },
    )
  })
}

/** An error reduced to its class and code. */
function toTracedError(error: unknown): WatchedError {
  const { original } = Object(error) as { original?: unknown }
  const code = errorCodeOf(original) ?? errorCodeOf(error)
  return { code, name: error instanceof Error ? error.name : typeof error }
}

/** The code of an error from a driver or from Node.js. A text that is long or has blanks is not a code. */
function errorCodeOf(error: unknown): string | null {
  const { code, errno } = Object(error) as { code?: unknown; errno?: unknown }
  const text = String(code ?? errno ?? '')
  return /^\w{1,64}$/.test(text) ? text : null
}
