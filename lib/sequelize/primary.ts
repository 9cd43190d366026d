// Reads that use the primary of a replicated database: all reads of a write request, and reads of requests with `Prefer: read=primary`.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sequelize } from 'sequelize'
import { internals } from './internals.js'

const primary = new AsyncLocalStorage<true>()

/** Whether Sequelize uses read replicas. */
export function isReplicated(sequelize: Sequelize): boolean {
  return Boolean(internals(sequelize).options.replication)
}

/** Runs work whose reads use the primary, in all resources. */
export function onPrimary<T>(sequelize: Sequelize, work: () => T): T {
  return isReplicated(sequelize) ? primary.run(true, work) : work()
}

/** Option by which Sequelize reads from the primary. */
export interface ReadOption {
  readonly useMaster?: true
}

const ANYWHERE: ReadOption = Object.freeze({})
const PRIMARY: ReadOption = Object.freeze({ useMaster: true })

/** Read option for a statement. `isNeeded` forces the primary. */
export function readsFrom(isNeeded = false): ReadOption {
  return isNeeded || primary.getStore() === true ? PRIMARY : ANYWHERE
}
