import type { Model, Transaction } from 'sequelize'
import type { HookNoun, OperationName } from '../lib/operations.js'
import type { Request } from './express.js'
import type { Identity } from './identity.js'

export interface HookContext<M extends Model = Model> {
  /** The record as an instance. Before the write it has the changes; after the write it has the saved values. */
  readonly instance: M
  readonly transaction: Transaction
  readonly request: Request
  readonly identity: Identity | null
  readonly operation: OperationName
}

/** Runs within the transaction. A before-hook may change the instance. A thrown Problem refuses the write. */
export type Hook<M extends Model = Model> = (context: HookContext<M>) => void | Promise<void>

export interface ActionHookContext<M extends Model = Model> extends Omit<HookContext<M>, 'instance' | 'transaction'> {
  /** The name of the action. */
  readonly action: string
  /** The record as found (before) or as saved (after). Null for an action of the collection. */
  readonly instance: M | null
  /** The transaction of the action; null for an action with `transaction: false`. */
  readonly transaction: Transaction | null
  /** The value that the action's `input` returned for the body. */
  readonly input: unknown
}

/**
 * Runs before or after the handler of a POST action. A before-hook may change the record. A thrown Problem refuses the
 * call.
 */
export type ActionHook<M extends Model = Model> = (context: ActionHookContext<M>) => void | Promise<void>

/** Hooks by name: `beforeCreate`, `afterCreate` and so on. */
export type Hooks<M extends Model = Model> = {
  readonly [name in `${'before' | 'after'}${HookNoun}`]?: Hook<M>
} & { readonly [name in 'beforeAction' | 'afterAction']?: ActionHook<M> }
