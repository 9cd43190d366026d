// The host's `logging` receives every statement. Errors of `logging` are reported and do not change the result of the
// statement.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sequelize } from 'sequelize'
import { logError } from '../common/log.js'
import { isPromise } from '../common/promise.js'
import { internalsOf } from './internals.js'

export type ReportError = (error: unknown) => void

const reporters = new AsyncLocalStorage<ReportError>()

/** Reports errors of the host's `logging` to `report` while `work` runs. */
export function runWithLoggingReport<T>(sequelize: Sequelize, report: ReportError, work: () => T): T {
  return hostLoggingOf(sequelize) === null ? work() : reporters.run(report, work)
}

/** Option `logging` of a statement that Sequelize runs. */
export interface StatementLogging {
  readonly logging?: (sql: string, timing?: number) => void
}

/**
 * Returns a `logging` option that reports errors of the host's function. The option is absent for Sequelize's default
 * `console.log`, which cannot fail. Sequelize recognizes `console.log` by identity.
 */
export function statementLoggingOf(sequelize: Sequelize): StatementLogging {
  const logging = hostLoggingOf(sequelize)
  if (logging === null) return {}
  // With `benchmark`, Sequelize logs in a driver callback, where Node 24 has no async store.
  const report = reporters.getStore() ?? logError
  return {
    logging(this: unknown, ...given: readonly unknown[]) {
      try {
        const pending: unknown = Reflect.apply(logging, this, given)
        if (isPromise(pending)) Promise.resolve(pending).catch(report)
      } catch (error) {
        report(error)
      }
    },
  }
}

type HostLogging = (...given: readonly unknown[]) => unknown

function hostLoggingOf(sequelize: Sequelize): HostLogging | null {
  const { logging } = internalsOf(sequelize).options
  return typeof logging === 'function' && logging !== console.log ? (logging as HostLogging) : null
}
