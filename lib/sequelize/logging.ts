// The host's `logging` receives every statement. Its errors are reported and do not change the result of the statement.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sequelize } from 'sequelize'
import { logError } from '../common/log.js'
import { isPending } from '../common/pending.js'
import { internals } from './internals.js'

export type Report = (error: unknown) => void

const reports = new AsyncLocalStorage<Report>()

/** Reports errors of the host's `logging` to a function during the work. */
export function reportLogging<T>(sequelize: Sequelize, report: Report, work: () => T): T {
  return ownLogging(sequelize) === null ? work() : reports.run(report, work)
}

/** Option `logging` of a statement that Sequelize runs. */
export interface StatementLogging {
  readonly logging?: (sql: string, timing?: number) => void
}

/** Undefined for Sequelize's default logging, which cannot fail. Sequelize recognizes `console.log` by identity. */
export function statementLogging(sequelize: Sequelize): StatementLogging {
  const logging = ownLogging(sequelize)
  if (logging === null) return {}
  // With `benchmark`, Sequelize logs in a driver callback, where Node 24 has no async store.
  const report = reports.getStore() ?? logError
  return {
    logging(this: unknown, ...given: readonly unknown[]) {
      try {
        const pending: unknown = Reflect.apply(logging, this, given)
        if (isPending(pending)) Promise.resolve(pending).catch(report)
      } catch (error) {
        report(error)
      }
    },
  }
}

type Logging = (...given: readonly unknown[]) => unknown

function ownLogging(sequelize: Sequelize): Logging | null {
  const { logging } = internals(sequelize).options
  return typeof logging === 'function' && logging !== console.log ? (logging as Logging) : null
}
