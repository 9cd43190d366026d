import { QueryTypes, type Sequelize } from 'sequelize'
import { causeNow } from '../watch/channels.js'
import { runWatched } from '../watch/statement.js'

const watched = new WeakSet<Sequelize>()

/**
 * Publishes the statements that a Sequelize instance runs for watched requests and events. It does not use Sequelize's hooks, because they
 * would change how statements are run. It is called when the first listener subscribes.
 */
export function watchQueries(sequelize: Sequelize): void {
  if (watched.has(sequelize)) return
  watched.add(sequelize)
  const own: unknown = Object.hasOwn(sequelize, 'query') ? sequelize.query : undefined
  const query = function (this: Sequelize, ...given: readonly unknown[]): Promise<unknown> {
    // The method of the class may have been replaced.
    const original: unknown = own ?? Reflect.get(Object.getPrototypeOf(sequelize), 'query')
    if (typeof original !== 'function') throw new TypeError('this Sequelize runs no queries')
    const run = (): Promise<unknown> => Reflect.apply(original, this, given)
    const cause = causeNow()
    if (cause === undefined) return run()
    const [text, options] = given
    const sql = typeof text === 'string' ? text : String(Object(text).query ?? '')
    const type: unknown = Object(options).type
    return runWatched(cause, { dialect: sequelize.getDialect(), sql }, run, (outcome) => rowsIn(outcome, type))
  }
  Object.defineProperty(sequelize, 'query', { value: query, writable: true, configurable: true, enumerable: false })
}

/** Number of rows in a query result: from rows or an affected count. Null without either. */
function rowsIn(outcome: unknown, type: unknown): number | null {
  if (typeof outcome === 'number') return outcome
  if (type === QueryTypes.SELECT) return Array.isArray(outcome) ? outcome.length : outcome === null ? 0 : 1
  const last: unknown = Array.isArray(outcome) ? outcome.at(-1) : undefined
  return typeof last === 'number' ? last : null
}
