// Reads that use the primary of a replicated database: all reads of a write request, and reads of requests with `Prefer: read=primary`.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sequelize } from 'sequelize'
import { internalsOf } from './internals.js'

const primaryContext = new AsyncLocalStorage<true>()

/** Whether Sequelize uses read replicas. */
export function isReplicated(sequelize: Sequelize): boolean {
  return Boolean(internalsOf(sequelize).options.replication)
}

/** Runs work whose reads use the primary, in all resources. */
export function runOnPrimary<T>(sequelize: Sequelize, work: () => T): T {
  return isReplicated(sequelize) ? primaryContext.run(true, work) : work()
}

/** Option by which Sequelize reads from the primary. */
export interface ReadOption {
  readonly useMaster?: true
}

const ANY_SERVER: ReadOption = Object.freeze({})
const PRIMARY: ReadOption = Object.freeze({ useMaster: true })

/** Returns the read option for a statement. `isNeeded` forces the primary. */
export function readOptionOf(isNeeded = false): ReadOption {
  return isNeeded || primaryContext.getStore() === true ? PRIMARY : ANY_SERVER
}
