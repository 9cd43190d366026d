import { QueryTypes, type Sequelize } from 'sequelize'
import { traceStatement } from '../trace/statement.js'

const tracedInstances = new WeakSet<Sequelize>()

/**
 * Publishes the statements that a Sequelize instance runs for traced requests and events. Replaces `query`, because
 * hooks would change how Sequelize runs statements. Called when the first listener subscribes.
 */
export function traceQueries(sequelize: Sequelize): void {
  if (tracedInstances.has(sequelize)) return
  tracedInstances.add(sequelize)
  const own: unknown = Object.hasOwn(sequelize, 'query') ? sequelize.query : undefined
  const tracedQuery = function (this: Sequelize, ...given: readonly unknown[]): Promise<unknown> {
    // The host may have replaced the method of the class.
    const original: unknown = own ?? Reflect.get(Object.getPrototypeOf(sequelize), 'query')
    if (typeof original !== 'function') throw new TypeError('the Sequelize instance has no method "query"')
    const runOriginal = (): Promise<unknown> => Reflect.apply(original, this, given)
    const [text, options] = given
    const sql = typeof text === 'string' ? text : String(Object(text).query ?? '')
    const type: unknown = Object(options).type
    return traceStatement({ dialect: sequelize.getDialect(), sql }, runOriginal, (outcome) => countRows(outcome, type))
  }
  Object.defineProperty(sequelize, 'query', {
    value: tracedQuery,
    writable: true,
    configurable: true,
    enumerable: false,
  })
}

/** Returns the number of rows in a query result: of rows or of an affected count. Returns null for other results. */
function countRows(outcome: unknown, type: unknown): number | null {
  if (typeof outcome === 'number') return outcome
  if (type === QueryTypes.SELECT) return Array.isArray(outcome) ? outcome.length : outcome === null ? 0 : 1
  const last: unknown = Array.isArray(outcome) ? outcome.at(-1) : undefined
  return typeof last === 'number' ? last : null
}
