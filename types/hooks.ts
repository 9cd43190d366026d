import type { Model, Transaction } from 'sequelize'
import type { HookNoun, OperationName } from '../lib/operations.js'
import type { Request } from './express.js'
import type { Identity } from './identity.js'

export interface HookContext<M extends Model = Model> {
  /** The record as an instance: before, with the changes on it; after, as it was saved. */
  readonly instance: M
  readonly transaction: Transaction
  readonly request: Request
  readonly identity: Identity | null
  readonly operation: OperationName
}

/** May change the instance (before), read and write in the transaction, and refuse by throwing a Problem. */
export type Hook<M extends Model = Model> = (context: HookContext<M>) => void | Promise<void>

/** By when they run and what is written: `beforeCreate`, `afterCreate` and so on. */
export type Hooks<M extends Model = Model> = {
  readonly [name in `${'before' | 'after'}${HookNoun}`]?: Hook<M>
}
