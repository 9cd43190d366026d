// Which reads go to the primary of a database that Sequelize replicates: those of a write request, wherever they are made, and those of a
// request that asks for it.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Sequelize } from 'sequelize'
import { internals } from './internals.js'

const primary = new AsyncLocalStorage<true>()

/** Whether Sequelize sends reads to replicas. */
export function isReplicated(sequelize: Sequelize): boolean {
  return Boolean(internals(sequelize).options.replication)
}

/** Does something whose reads go to the primary, in this and all other resources. */
export function onPrimary<T>(sequelize: Sequelize, work: () => T): T {
  return isReplicated(sequelize) ? primary.run(true, work) : work()
}

/** The option by which Sequelize reads from the primary. */
export interface ReadOption {
  readonly useMaster?: true
}

const ANYWHERE: ReadOption = Object.freeze({})
const PRIMARY: ReadOption = Object.freeze({ useMaster: true })

/** Where a statement reads. `isNeeded`: from the primary, whatever the request is. */
export function readsFrom(isNeeded = false): ReadOption {
  return isNeeded || primary.getStore() === true ? PRIMARY : ANYWHERE
}
