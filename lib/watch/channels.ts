import { AsyncLocalStorage } from 'node:async_hooks'
import { type Channel, channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { EventMessage, RequestMessage, StatementMessage, WatchedError } from '../../types/watch.js'

/** A message as whoever sends it adds to it. */
export type Growing<M> = { -readonly [member in keyof M]: M[member] }

/** What makes statements run. */
export type Cause = Growing<RequestMessage> | Growing<EventMessage>

export const REQUESTS: TracingChannel<unknown, RequestMessage> = tracingChannel('sequelize-crud-router.request')
export const STATEMENTS: TracingChannel<unknown, StatementMessage> = tracingChannel('sequelize-crud-router.statement')
export const EVENTS: TracingChannel<unknown, EventMessage> = tracingChannel('sequelize-crud-router.event')

/** Resources, when they are mounted. */
export const MOUNTS: Channel = channel('sequelize-crud-router.mount')

/** Empty, and free of charge, as long as nobody has ever listened. */
const causes = new AsyncLocalStorage<Cause | undefined>()

/** Whether anybody listens. */
export function isWatched(): boolean {
  return REQUESTS.hasSubscribers || STATEMENTS.hasSubscribers || EVENTS.hasSubscribers
}

/** What is under way that is watched; undefined where nothing is. */
export function causeNow(): Cause | undefined {
  return causes.getStore()
}

/** Does something that belongs to the process and not to the request that happens to be first. */
export function withoutCause<T>(work: () => Promise<T>): Promise<T> {
  return causeNow() === undefined ? work() : causes.run(undefined, work)
}

/** Does the work of a cause: what runs meanwhile is of it. */
export function traceCause<M extends Cause, T>(
  channel: TracingChannel<unknown, M>,
  message: M,
  work: () => Promise<T>,
): Promise<T> {
  return trace(channel, message, () => causes.run(message, work))
}

/**
 * Tells of something from its beginning to its end, by the events of a tracing channel that does something asynchronous. Those of
 * Node itself would hand errors on as they are, values and all.
 */
export function trace<M extends { duration: number | null; error: WatchedError | null }, T>(
  channel: TracingChannel<unknown, M>,
  message: M,
  work: () => Promise<T>,
  ended: (value: T) => void = () => undefined,
): Promise<T> {
  const { start, end, asyncStart, asyncEnd, error } = channel
  const begun = performance.now()
  const over = (): void => {
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
        over()
        return value
      },
      (thrown: unknown) => {
        message.error ??= errorIn(thrown)
        over()
        throw thrown
      },
    )
  })
}

/** An error by its class and code alone. */
export function errorIn(error: unknown): WatchedError {
  const { original } = Object(error) as { original?: unknown }
  const code = codeOf(original) ?? codeOf(error)
  return { code, name: error instanceof Error ? error.name : typeof error }
}

/** Of a driver or of Node; what is longer, or has a blank, was not made for programs. */
function codeOf(error: unknown): string | null {
  const { code, errno } = Object(error) as { code?: unknown; errno?: unknown }
  const text = String(code ?? errno ?? '')
  return /^\w{1,64}$/.test(text) ? text : null
}
